"""The command `config [KEY]`: which keys a configuration has, and what each is for."""

from __future__ import annotations

import argparse
import json
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..config.describe import keys, schema
from ..errors import DevlintError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..config.describe import Key


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    top = argparse.ArgumentParser(
        prog="devlint config", description="List the keys of a configuration, or describe one."
    )
    top.add_argument("key", nargs="?", metavar="KEY", help="the key to describe")
    top.add_argument(
        "--output-format",
        choices=("text", "json", "json-schema"),
        default="text",
        help="json-schema is for editors that check TOML (default: text)",
    )
    return top


def main(arguments: Sequence[str]) -> int:
    """Run the command and return the exit status."""
    options = parser().parse_args(arguments)
    if options.output_format == "json-schema":
        text = json.dumps(schema(), indent=2)
    elif options.key is not None:
        key = _known(options.key)
        text = _described(key) if options.output_format == "text" else json.dumps(key._asdict(), indent=2)
    elif options.output_format == "json":
        text = json.dumps({key.name: key._asdict() for key in keys()}, indent=2)
    else:
        text = "\n".join(key.name for key in keys())
    sys.stdout.write(f"{text}\n")
    return 0


def _known(name: str) -> Key:
    found = {key.name: key for key in keys()}
    plain = name.removeprefix("tool.devlint.")
    if plain in found:
        return found[plain]
    close = get_close_matches(plain, found, n=1)
    hint = f"did you mean `{close[0]}`?" if close else "`devlint config` lists all"
    raise DevlintError(f"no key is called {name!r} ({hint})")


def _described(key: Key) -> str:
    default = "none" if key.default is None else key.default
    example = f"\nExample usage:\n```toml\n[tool.devlint]\n{key.example}\n```" if key.example else ""
    return f"{key.description}\n\nDefault value: {default}\nType: {key.type}{example}"
