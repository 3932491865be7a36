"""Reads `[tool.devlint]` of the nearest pyproject.toml, or devlint.toml, walking up from each file."""

from __future__ import annotations

import os.path
import sys
from typing import TYPE_CHECKING, Any

from ..errors import DevlintError
from ..source.plain import read
from .settings import Selection, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = ("devlint.toml", "pyproject.toml")


class Configs:
    """The settings of each file; a configuration file is read once."""

    def __init__(
        self,
        flags: Selection,
        config: str | None = None,
        isolated: bool = False,
        overrides: Mapping[str, Any] | None = None,
    ) -> None:
        """Take the selectors of the command line and where configuration may come from.

        `config` is one file for everything; `isolated` means that none is read. `overrides` are settings that
        hold whatever a file says; `extend_exclude` adds to what it says.
        """
        self._flags = flags
        self._overrides = overrides or {}
        self._folders: dict[str, Settings] = {}
        self._files: dict[str, Settings | None] = {}
        self._fixed: Settings | None = None
        if isolated:
            self._fixed = self._layered(Settings(root=os.getcwd()))
        elif config is not None:
            self._fixed = self._layered(_read(config, required=True) or Settings(root=os.getcwd()))

    def for_file(self, path: str) -> Settings:
        """Return the settings of a file."""
        return self.for_folder(os.path.dirname(os.path.abspath(path)))

    def for_folder(self, folder: str) -> Settings:
        """Return the settings of what lies in a folder."""
        if self._fixed is not None:
            return self._fixed
        folder = os.path.abspath(folder)
        below: list[str] = []
        while folder not in self._folders:
            below.append(folder)
            parent = os.path.dirname(folder)
            settings = _of_folder(folder)
            if settings is None and parent == folder:
                settings = Settings(root=os.getcwd())
            if settings is not None:
                self._folders[folder] = self._layered(settings)
            else:
                folder = parent
        found = self._folders[folder]
        self._folders |= dict.fromkeys(below, found)
        return found

    def _layered(self, settings: Settings) -> Settings:
        overrides = dict(self._overrides)
        overrides["selections"] = (*settings.selections, self._flags)
        overrides["extend_exclude"] = (*settings.extend_exclude, *overrides.get("extend_exclude", ()))
        return settings._replace(**overrides)


def _of_folder(folder: str) -> Settings | None:
    for name in _NAMES:
        settings = _read(os.path.join(folder, name))
        if settings is not None:
            return settings
    return None


def _read(path: str, required: bool = False) -> Settings | None:
    """Return the settings in a file, or `None` where it has no table for devlint."""
    try:
        raw = _named(path) if required else read(path)
    except OSError as error:
        if required or not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise DevlintError(f"cannot read {path}: {error.strerror}") from error
        return None
    bare = os.path.basename(path) != "pyproject.toml"
    if not bare and b"devlint" not in raw:  # spares most projects the import of a TOML parser
        return None
    table = _table(path, raw, bare)
    if table is None:
        return None
    from .schema import to_settings

    return to_settings(table, path, "" if bare else "tool.devlint.")


def _named(path: str) -> bytes:
    """Return what is in a file that the user names, which may be a pipe."""
    with open(path, "rb") as file:
        return file.read()


def _table(path: str, raw: bytes, bare: bool) -> Mapping[str, Any] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = tomllib.loads(raw.decode())
    except RecursionError as error:
        raise DevlintError(f"{path}: not valid TOML: it nests too deeply") from error
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError, and a number with too many digits
        raise DevlintError(f"{path}: not valid TOML: {error}") from error
    if bare:
        return data
    tools = data.get("tool")
    table: Mapping[str, Any] | None = tools.get("devlint") if isinstance(tools, dict) else None
    return table
