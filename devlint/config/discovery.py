"""Reads `[tool.devlint]` of the nearest pyproject.toml, or devlint.toml, walking up from each file."""

from __future__ import annotations

import os.path
import sys
from typing import TYPE_CHECKING, Any

from ..errors import DevlintError
from ..source.plain import read, read_named
from .settings import Selection, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .settings import Fixing

_KEYS = "--config"
"""What messages call the keys that the command line sets."""
_NAMES = (".devlint.toml", "devlint.toml", "pyproject.toml")


class Configs:
    """The settings of each file; a configuration file is read once."""

    def __init__(
        self,
        flags: Selection,
        config: str | None = None,
        isolated: bool = False,
        overrides: Mapping[str, Any] | None = None,
        keys: str = "",
        fixing: Callable[[Fixing | None], Fixing | None] = lambda said: said,
        warn: Callable[[str], None] = lambda message: None,
    ) -> None:
        """Take the selectors of the command line and where configuration may come from.

        `config` is one file for everything; `isolated` means that none is read. `overrides` are settings that
        hold whatever a file says; `extend_exclude` adds to what it says. `keys` is TOML in place of what a
        file has under the same keys; `fixing` adds the flags to what a file says of fixes. `warn` is told of
        selectors that have no effect, once each.
        """
        self._flags = flags
        self._overrides = overrides or {}
        self._fixing = fixing
        self._warn = warn
        self._inert: set[str] = set()
        self._folders: dict[str, Settings] = {}
        self._files: dict[str, Settings | None] = {}
        self._fixed: Settings | None = None
        self._keys = _keys(keys) if keys else {}
        if isolated:
            self._fixed = self._layered(self._default())
        elif config is not None:
            self._fixed = self._layered(_read(config, self._keys, required=True) or self._default())

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
            settings = _of_folder(folder, self._keys)
            if settings is None and parent == folder:
                settings = self._default()
            if settings is not None:
                self._folders[folder] = self._layered(settings)
            else:
                folder = parent
        found = self._folders[folder]
        self._folders |= dict.fromkeys(below, found)
        return found

    def _default(self) -> Settings:
        """Return the settings where no file says any."""
        if not self._keys:
            return Settings(root=os.getcwd())
        from .schema import to_settings

        return to_settings(self._keys, os.path.join(os.getcwd(), _KEYS), "")._replace(source=None)

    def _layered(self, settings: Settings) -> Settings:
        overrides = dict(self._overrides)
        overrides["selections"] = (*settings.selections, self._flags)
        overrides["fixing"] = self._fixing(settings.fixing)
        overrides["extend_per_file_ignores"] = (
            *settings.extend_per_file_ignores,
            *overrides.get("extend_per_file_ignores", ()),
        )
        overrides["extend_exclude"] = (*settings.extend_exclude, *overrides.get("extend_exclude", ()))
        found = settings._replace(**overrides)
        if not found.preview and any(layer.select or layer.extend_select for layer in found.selections):
            self._tell_inert(found)
        return found

    def _tell_inert(self, settings: Settings) -> None:
        from ..match.registry import inert

        for selector in inert(settings.selections):
            if selector not in self._inert:
                self._inert.add(selector)
                self._warn(f"selection `{selector}` has no effect because preview is not enabled")


def _of_folder(folder: str, keys: Mapping[str, Any]) -> Settings | None:
    for name in _NAMES:
        settings = _read(os.path.join(folder, name), keys)
        if settings is not None:
            return settings
    return None


def _keys(text: str) -> Mapping[str, Any]:
    """Return what the command line says about keys; raises DevlintError where that is wrong."""
    keys = _parsed(text.encode(), _KEYS)
    if "extend" in keys:
        raise DevlintError(f"{_KEYS}: extend: it is for files; --config FILE reads another one")
    from .schema import to_settings

    to_settings(keys, _KEYS, "")
    return keys


def _read(
    path: str, keys: Mapping[str, Any], *, required: bool = False, below: tuple[str, ...] = ()
) -> Settings | None:
    """Return the settings in a file, or `None` where it has no table for devlint.

    `keys` replace what it says; `below` are the files that extend it.
    """
    try:
        raw = read_named(path) if required else read(path)
    except OSError as error:
        if required or not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise DevlintError(f"cannot read {path}: {error.strerror}") from error
        return None
    bare = os.path.basename(path) != "pyproject.toml"
    if not bare and b"devlint" not in raw:  # spares most projects the import of a TOML parser
        return None
    data = _parsed(raw, path)
    table = data if bare else _tool(data)
    if table is None:
        return None
    from .schema import to_settings

    prefix = "" if bare else "tool.devlint."
    base = None
    if not isinstance(table, dict):
        return to_settings(table, path, prefix)  # it says what is wrong
    extended = table.get("extend")
    if isinstance(extended, str):
        base = _extended(path, extended, f"{path}: {prefix}extend", (*below, os.path.realpath(path)))
    return to_settings({**table, **keys}, path, prefix, base)


def _extended(path: str, name: str, where: str, below: tuple[str, ...]) -> Settings:
    """Return the settings that a file builds upon."""
    other = os.path.join(os.path.dirname(path), os.path.expanduser(name))
    if os.path.realpath(other) in below:
        raise DevlintError(f"{where}: {name} and this file extend each other")
    try:
        found = _read(other, {}, required=True, below=below)
    except DevlintError as error:
        raise DevlintError(f"{where}: {error}") from error
    if found is None:
        raise DevlintError(f"{where}: {name} has no table `tool.devlint`")
    return found


def _parsed(raw: bytes, path: str) -> Mapping[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data: Mapping[str, Any] = tomllib.loads(raw.decode())
    except RecursionError as error:
        raise DevlintError(f"{path}: not valid TOML: it nests too deeply") from error
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError, and a number with too many digits
        raise DevlintError(f"{path}: not valid TOML: {error}") from error
    return data


def _tool(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    tools = data.get("tool")
    table: Mapping[str, Any] | None = tools.get("devlint") if isinstance(tools, dict) else None
    return table
