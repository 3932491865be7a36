"""Runs a script or a module in this process as `python SCRIPT` and `python -m MODULE` do."""

from __future__ import annotations

import io
import os
import runpy
import sys
import types
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DevlintError
from . import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Target(NamedTuple):
    """What is to be run."""

    name: str
    is_module: bool
    arguments: Sequence[str]

    def prepare(self) -> Callable[[], None]:
        """Set the process up for it, and return what runs it; raises DevlintError if it is not there."""
        sys.argv = [self.name, *self.arguments]
        return self._module() if self.is_module else self._script()

    def _script(self) -> Callable[[], None]:
        path = os.path.join(self.name, "__main__.py") if os.path.isdir(self.name) else self.name
        try:
            with io.open_code(os.path.abspath(path)) as file:
                source = file.read()
        except OSError as error:
            raise DevlintError(f"{self.name}: {error.strerror or error}") from None
        try:
            code = compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise DevlintError(f"{path}: {error}") from None
        folder = os.path.dirname(os.path.abspath(path))
        frames.own(folder)
        sys.path[:1] = [folder]
        main = types.ModuleType("__main__")
        main.__dict__.update(__file__=os.path.abspath(path), __builtins__=__builtins__)

        def run() -> None:
            sys.modules["__main__"] = main
            exec(code, main.__dict__)

        return run

    def _module(self) -> Callable[[], None]:
        sys.path[:1] = [os.getcwd()]
        try:
            spec = find_spec(self.name)
        except (ImportError, ValueError):
            spec = None
        if spec is None:
            raise DevlintError(f"there is no module {self.name}")
        top = find_spec(self.name.partition(".")[0])
        if top is not None and top.submodule_search_locations:
            frames.own(next(iter(top.submodule_search_locations)))
        elif spec.origin:
            frames.own(os.path.dirname(spec.origin))

        def run() -> None:
            runpy.run_module(self.name, run_name="__main__", alter_sys=True)

        return run
