"""The keys of `[tool.devlint]` and their types; imported only where a file has such a table."""

from __future__ import annotations

import os.path
import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from ..errors import DevlintError
from ..match.registry import check
from ..report import FORMATS
from ..source.globs import expanded
from .settings import DEFAULT_EXCLUDE, Selection, Settings, release

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>[^`]*)`(?: - at `\$\.?(?P<at>.*)`)?")
_TYPES = re.compile(r"expected `(?P<wanted>[^`]*)`, got `(?P<got>[^`]*)`")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a number",
    "object": "a table",
    "str": "a string",
}
_WRONG = re.compile(r"(?P<what>.*) - at `\$\.?(?P<at>.*)`")


class Table(msgspec.Struct, forbid_unknown_fields=True, rename="kebab", kw_only=True):
    """What a table may say; a key that is left out keeps its default."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    respect_gitignore: bool = True
    lint_tests: bool = False
    unsafe_fixes: bool = False
    output_format: (
        Literal[
            "full", "concise", "json", "json-lines", "github", "gitlab", "sarif", "junit", "pylint", "rdjson",
            "azure",
        ]
        | None
    ) = None  # fmt: skip
    target_torch: str | None = None
    jobs: Annotated[int, msgspec.Meta(ge=1)] | None = None


def to_settings(data: Mapping[str, Any], path: str, prefix: str) -> Settings:
    """Return the settings of a table; `prefix` is the path of its keys in the TOML document."""
    try:
        table = msgspec.convert(data, Table)
    except msgspec.ValidationError as error:
        raise DevlintError(f"{path}: {_explain(str(error), prefix, data)}") from error
    per_file = tuple(table.per_file_ignores.items())
    lists = {"select": table.select or (), "extend-select": table.extend_select, "ignore": table.ignore}
    lists |= {f'per-file-ignores."{pattern}"': selectors for pattern, selectors in per_file}
    for key, selectors in lists.items():
        if selectors:
            check(selectors, f"{path}: {prefix}{key}")
    globs = {"exclude": table.exclude, "extend-exclude": table.extend_exclude}
    globs |= {f'per-file-ignores."{pattern}"': (pattern,) for pattern, _ in per_file}
    for key, patterns in globs.items():
        _check_globs(patterns, f"{path}: {prefix}{key}", negatable=key not in ("exclude", "extend-exclude"))
    return Settings(
        root=os.path.dirname(os.path.abspath(path)),
        selections=(Selection(table.select, table.extend_select, table.ignore),),
        per_file_ignores=per_file,
        exclude=table.exclude,
        extend_exclude=table.extend_exclude,
        force_exclude=table.force_exclude,
        respect_gitignore=table.respect_gitignore,
        lint_tests=table.lint_tests,
        unsafe_fixes=table.unsafe_fixes,
        output_format=table.output_format,
        target_torch=_release(table.target_torch, f"{path}: {prefix}target-torch"),
        jobs=table.jobs,
        source=path,
    )


def _check_globs(patterns: tuple[str, ...], where: str, *, negatable: bool) -> None:
    for pattern in patterns:
        if pattern.startswith("!") and not negatable:
            raise DevlintError(f"{where}: {pattern!r}: `!` is for per-file-ignores; write `[!]` for a name")
        try:
            expanded(pattern)
        except DevlintError as error:
            raise DevlintError(f"{where}: {error}") from None


def _release(text: str | None, where: str) -> tuple[int, int] | None:
    if text is None:
        return None
    try:
        return release(text)
    except ValueError as error:
        raise DevlintError(f"{where}: {error}") from None


def _explain(message: str, prefix: str, data: Mapping[str, Any]) -> str:
    """Say it with the key's path in the document, and name the key that was probably meant."""
    if match := _UNKNOWN.fullmatch(message):
        names = [field.encode_name for field in msgspec.structs.fields(Table)]
        close = get_close_matches(match["key"], names, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"known are {', '.join(names)}"
        return f"{prefix}{match['key']}: unknown key; {hint}"
    if match := _WRONG.fullmatch(message):
        return f"{prefix}{_named(match['at'], data)}: {_plain(match['what'])}"
    return f"{prefix.rstrip('.')}: {_plain(message)}".lstrip(": ")


def _named(at: str, data: Mapping[str, Any]) -> str:
    """Return the path of a key, with the name of a pattern where msgspec has an ellipsis."""
    key, dots, rest = at.partition("[...]")
    if not dots:
        return at
    for pattern, value in data[key].items():
        try:
            msgspec.convert(value, tuple[str, ...])
        except msgspec.ValidationError:
            return f'{key}."{pattern}"{rest}'
    return at


def _plain(message: str) -> str:
    """Return msgspec's message in the words of TOML."""
    message = message[:1].lower() + message[1:]
    if match := _TYPES.fullmatch(message):
        kinds = [_WORDS.get(kind, kind) for kind in match["wanted"].split(" | ") if kind != "null"]
        return f"expected {' or '.join(kinds)}, got {_WORDS.get(match['got'], match['got'])}"
    if message.startswith("invalid enum value "):  # there is one key of that kind
        return f"{message}; known are {', '.join(FORMATS)}"
    return message
