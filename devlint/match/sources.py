"""The files that rules and knowledge come from, and what tells them from any others."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..source.digest import digest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

_OWN = "devlint"
_LIBRARIES = ("libcst", "msgspec", "pathspec")
"""What has a say in what devlint's own rules report."""


def of(points: Iterable[EntryPoint]) -> tuple[set[str], str]:
    """Return the files and folders behind entry points that have been imported, and a text about them all.

    The text is the same wherever the same is installed, and empty where some of it cannot be read.
    Other packages' rules may use anything: with those, every installed version is in it.
    """
    packages = {point.value.partition(".")[0] for point in points}
    others = packages - {_OWN}
    loaded = {name: module for name, module in tuple(sys.modules.items()) if module is not None}
    mine = [module for name, module in loaded.items() if name.partition(".")[0] in packages]
    roots = _outermost(folder for module in mine for folder in _own(module, "__path__") or ())
    files: set[str] = set()
    contents: set[tuple[str, bytes]] = set()
    whole = all(_own(module, "__file__") or _own(module, "__path__") for module in mine)
    for root in roots:
        for below, _, names in os.walk(root):
            if os.path.basename(below) != "__pycache__":
                files.add(below)  # its change is that a module comes or goes
                for path in (os.path.join(below, name) for name in names):
                    files.add(path)
                    whole &= _add(path, os.path.relpath(path, os.path.dirname(root)), contents)
    used = [module for name, module in loaded.items() if others and not _is_library(name)]
    for source in (_own(module, "__file__") for module in (*mine, *used)):
        path = source or ""
        if path and not any(path.startswith(os.path.join(root, "")) for root in roots):
            files |= {path, os.path.dirname(path)}
            whole &= _add(path, os.path.basename(path), contents)
    return files, _said(contents, bool(others)) if whole else ""


def _own(module: object, name: str) -> Any:
    """Return what a module has by itself: one that is asked for more may import much to have it."""
    return getattr(module, "__dict__", {}).get(name)


def _outermost(folders: Iterable[str]) -> list[str]:
    """Return folders without those that lie in another one."""
    found: list[str] = []
    for folder in sorted(set(folders)):
        if not any(folder.startswith(os.path.join(other, "")) for other in found):
            found.append(folder)
    return found


def _is_library(module: str) -> bool:
    top = module.partition(".")[0]
    return top in sys.stdlib_module_names or top in _LIBRARIES or top == "__main__"


def _add(path: str, name: str, contents: set[tuple[str, bytes]]) -> bool:
    try:
        with open(path, "rb") as file:
            contents.add((name, digest(file.read())))
    except OSError:
        return False
    return True


def _said(contents: set[tuple[str, bytes]], all_installed: bool) -> str:
    from importlib.metadata import distributions

    installed = {(each.metadata["Name"] or "", each.version) for each in distributions()}
    if not all_installed:
        installed = {each for each in installed if each[0].lower() in _LIBRARIES}
    told = repr((__version__, sys.version, sorted(installed), sorted(contents)))
    return f"{__version__}-{digest(told.encode('utf-8', 'backslashreplace')).hex()}"
