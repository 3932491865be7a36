"""`%%devlint_run` in a notebook: runs a cell as `devlint run` runs a program, and tells what it found."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from IPython.core import magic
from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from ..commands import printing
from ..console import say
from ..errors import DevlintError
from . import frames, running, wording

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from ..claim import Cause
    from ..match.registry import Installed
    from .children import Followed
    from .tracer import Tracer

NAME = "devlint_run"
_ABOUT = """Run the cell on a simulated accelerator, and report where a GPU would have stopped it.

The kernel has the simulated device from the first such cell on, until it is restarted."""


def load(shell: Any) -> None:
    """Give a shell of IPython the magic; nothing is simulated before it is used."""
    cells = _Cells(shell)
    shell.register_magic_function(_magic(cells), "cell", NAME)
    shell.showtraceback = functools.partial(_shown, shell.showtraceback)


def unload(shell: Any) -> None:
    """Take the magic away."""
    shell.magics_manager.magics["cell"].pop(NAME, None)
    shell.__dict__.pop("showtraceback", None)


def _shown(show: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Let an error of any cell say what it says on a GPU, and end where the program's own code does."""
    error = sys.exc_info()[1]
    wording.present(error)
    frames.cut(error)
    return show(*args, **kwargs)


def _magic(cells: _Cells) -> Callable[[str, str], Any]:
    parser = MagicArgumentParser(f"%{NAME}", description=_ABOUT)
    parser.add_argument("--stop", action="store_true", help="stop at the first finding, as a GPU would")
    running.add_bounds(parser)
    parser.set_defaults(devices=None)
    forms = sorted(printing.FOR_PEOPLE)
    parser.add_argument("--output-format", choices=forms, default="full", help="default: full")

    def devlint_run(line: str, cell: str) -> Any:
        __tracebackhide__ = True
        return cells.run(parser.parse_argstring(line), cell)

    devlint_run.__doc__ = parser.format_help()
    silenced: Callable[[str, str], Any] = magic.output_can_be_silenced(devlint_run)
    return silenced


class _Session(NamedTuple):
    """What a process has once a device is simulated in it, for good."""

    seen: Tracer
    followed: Followed
    rules: Mapping[Cause, Installed]


@functools.cache
def _session() -> _Session:
    """Simulate a device in this process; raises DevlintError where that cannot be."""
    if importlib.util.find_spec("torch") is None:
        raise DevlintError("it needs torch, which is not installed: pip install torch numpy")
    import torch

    from . import children, following

    following.require()
    if torch.cuda.is_initialized():
        raise DevlintError("this kernel has used CUDA already: restart it, and begin with this cell")
    rules = running.by_cause()
    given: dict[str, Any] = {"devices": 1, "limit": None, "stop": False}
    seen = following.install(**given)
    seen.paused = True
    say("torch.cuda is a simulated device from here on, until the kernel is restarted")
    return _Session(seen, children.Followed(seen, given), rules)


class _Code(NamedTuple):
    """A cell that can be run."""

    tree: ast.Module
    file: str
    """What the code is called in tracebacks."""


class _Cells:
    """The cells of a shell."""

    def __init__(self, shell: Any) -> None:
        """Take the shell; its cells are the program."""
        self._shell = shell
        self._files: dict[str, str] = {}
        """The names of cells' code, by what they are called in reports."""
        self._texts: dict[str, str] = {}
        """What stands in cells that were followed."""
        frames.own_cells(self._name_of, __file__)

    def run(self, options: argparse.Namespace, cell: str) -> Any:
        """Run a cell in the variables of the notebook, and return what its last expression gives."""
        __tracebackhide__ = True
        try:
            session = _session()
            if not session.seen.paused:
                raise DevlintError("the cell is being followed already")
        except DevlintError as problem:
            raise UsageError(str(problem)) from None
        code = self._code(cell)
        _begin(session, options)
        error: BaseException | None = None
        try:
            with session.seen:
                return self._run(code)
        except BaseException as raised:
            error = raised
            raise
        finally:
            session.seen.paused = True
            self._report(session, options, error)

    def _code(self, cell: str) -> _Code:
        """Parse a cell, so that its rows are those that the notebook shows."""
        raw = f"%%{NAME}\n{cell}"
        history = self._shell.history_manager
        last = history.input_hist_raw[-1] if history is not None and history.input_hist_raw else ""
        if last.rstrip().endswith(raw_end := cell.rstrip()):
            raw = f"{last.rstrip().removesuffix(raw_end)}{cell}"
        above = raw.removesuffix(cell).count("\n")
        rows = cell.splitlines(keepends=True)
        blank = next(
            (number for number, row in enumerate(rows) if row.strip()), 0
        )  # which IPython leaves out
        lead = raw.splitlines(keepends=True)[: above + blank]
        python = self._shell.transform_cell(cell)
        text = "".join(f"# {row}" for row in lead) + python
        compiler = self._shell.compile
        file = self._outer() or compiler.cache(text, self._shell.execution_count, raw_code=raw)
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        self._texts[file] = "".join(lead) + python
        tree = compiler.ast_parse(text, filename=file)
        return _Code(self._shell.transform_ast(tree), file)

    def _outer(self) -> str | None:
        """The code that calls the magic: a cell has one name, under which its text is that of the cell."""
        names = (frame.f_code.co_filename for frame in frames.stack())
        return next((name for name in names if self._name_of(name) is not None), None)

    def _run(self, code: _Code) -> Any:
        __tracebackhide__ = True
        compiler, names = self._shell.compile, (self._shell.user_global_ns, self._shell.user_ns)
        *_, last = [None, *code.tree.body]
        if isinstance(last, ast.Expr):
            code.tree.body.pop()
        exec(compiler(code.tree, code.file, "exec"), *names)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compiler(ast.Expression(last.value), code.file, "eval"), *names)

    def _report(self, session: _Session, options: argparse.Namespace, error: BaseException | None) -> None:
        end = running.ended(error, session.seen, abandoned=session.followed.take())
        findings = running.findings_of(session.seen, session.rules)
        session.seen.events.clear()
        paths = {each.path for each in findings} | {at.path for each in findings for at in each.related}
        color = printing.wants_color("auto", sys.stdout)
        sources = {path: self._text_of(path) for path in paths}
        sys.stdout.write(running.told(options.output_format, findings, end, sources, color=color))

    def _name_of(self, file: str) -> str | None:
        """What a cell is called, by the name of its code."""
        found = self._shell.compile.format_code_name(file)
        if found is None:
            return None
        name: str = found[1]
        self._files[name] = file
        return name

    def _text_of(self, path: str) -> str:
        file = self._files.get(path, path)
        return self._texts.get(file) or "".join(linecache.getlines(file))


def _begin(session: _Session, options: argparse.Namespace) -> None:
    from . import stand_in
    from .limit import NotSimulated

    seen = session.seen
    seen.stop, seen.limit, seen.paused = options.stop, options.limit_steps, False
    stand_in.count = options.devices or stand_in.count
    NotSimulated.met = ""
    session.followed.give({"devices": stand_in.count, "limit": seen.limit, "stop": seen.stop})
