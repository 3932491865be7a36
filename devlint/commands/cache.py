"""Where results are kept for the next run, and the command `clean`, which deletes them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..config.discovery import Configs
from ..config.settings import Selection
from ..console import say
from ..errors import DevlintError
from ..match import manifest
from ..project.store import Shelf, is_ours, secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..config.settings import Settings

NAME = ".devlint_cache"
FOLDER, NONE = "DEVLINT_CACHE_DIR", "DEVLINT_NO_CACHE"


def shelf(named: str | None, settings: Settings) -> Shelf | None:
    """Return where results of this run are kept; None where nothing can be kept safely.

    `named` is the folder that the command line names.
    """
    if os.environ.get(NONE):
        return None
    key, versions = secret(manifest.folder()), _versions()
    if key is None or not versions:
        return None
    folder, follow = _folder(named, settings)
    return Shelf(folder, key, versions, follow)


def _versions() -> str:
    """Return what has a say in results; empty where nobody can say."""
    found = manifest.versions()
    if not found:
        from ..match import registry

        found = registry.versions()
    return found


def _folder(named: str | None, settings: Settings) -> tuple[str, bool]:
    """Return the folder, and whether it is the user's own choice."""
    own = named or os.environ.get(FOLDER)
    if own:
        return os.path.abspath(os.path.expanduser(own)), True
    return settings.cache_dir or os.path.join(settings.root or os.getcwd(), NAME), False


def main(arguments: Sequence[str]) -> int:
    """Run `clean` and return the exit status."""
    import argparse
    import shutil

    parser = argparse.ArgumentParser(prog="devlint clean", description="Delete the results that are kept.")
    parser.add_argument("--cache-dir", metavar="DIR", help="delete those that are kept there")
    options = parser.parse_args(arguments)
    folder, follow = _folder(options.cache_dir, Configs(Selection()).for_folder(os.getcwd()))
    if not os.path.lexists(folder):
        say(f"nothing is kept in {folder}")
        return 0
    if (os.path.islink(folder) and not follow) or not is_ours(folder):
        raise DevlintError(f"{folder} was not made by devlint: it is left alone")
    folder = os.path.realpath(folder)
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise DevlintError(f"cannot delete {error.filename or folder}: {error.strerror}") from error
    say(f"deleted {folder}")
    return 0
