"""CUDA_VISIBLE_DEVICES is set after CUDA has been initialised

CUDA reads the variable once, when it is initialised. `import torch` does not do that, but the first use
of a device does, and so does `torch.cuda.is_available()` (unless PYTORCH_NVML_BASED_CUDA_CHECK is set).
What is assigned afterwards changes nothing: the program runs on the GPUs that it was meant to leave to
others.

    device = "cuda" if torch.cuda.is_available() else "cpu"
    os.environ["CUDA_VISIBLE_DEVICES"] = "2"  # DEV206

Set it first, best before torch is imported, or in the environment of the process:

    os.environ["CUDA_VISIBLE_DEVICES"] = "2"
    device = "cuda" if torch.cuda.is_available() else "cpu"

An error where the same function has initialised CUDA; a warning where all its callers have, or the
import of its file, or of a file of the project that it imports. What happens on some paths only is left
alone, and so are tests, and a function that starts processes, which the value may be for, or is started
as one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import RUNS, Ask, Bind, Call, Claim, Report, Rule, Severity, Span, bind, call, cst, outside

_VARIABLE = "CUDA_VISIBLE_DEVICES"
_IMPORTED = "what is imported here initialises CUDA"
_STARTS = frozenset({"forks", "spawns"})


class VisibleDevicesTooLate(Rule[Bind | Call]):
    """The variable, set when nobody reads it any more."""

    code = "DEV206"
    name = "visible-devices-too-late"
    watches = (bind(_VARIABLE, outside("test")), call("@sets-environment", outside("test")))
    claim = Claim(
        RUNS,
        needs="cuda x2",
        documentation="https://docs.pytorch.org/docs/stable/generated/torch.cuda.is_available.html",
    )

    def suspects(self, event: Bind | Call) -> bool:
        """Whether it sets the variable."""
        if isinstance(event, Bind):
            return event.owner is not None and event.owner.label.endswith("environ")
        return any(_VARIABLE in seen.label for seen in event.given.values())

    def visit(self, node: cst.CSTNode, event: Bind | Call, ask: Ask) -> Iterator[Report]:
        """Report the assignment, unless the function starts processes that it is for."""
        imported = ask.imported_touch(event.at) if event.touched is None else None
        where = event.touched.span if event.touched is not None else imported
        if where is None or (imported is not None and self._is_set_before(imported, ask)):
            return
        here = [other for other in ask.events("call") if other.at.function == event.at.function]
        if any(isinstance(other, Call) and other.topics & _STARTS for other in here):
            return
        yield Report(
            f"CUDA has been initialised before `{_VARIABLE}` is set",
            "CUDA reads it once: set it before the first call that asks for a GPU or uses one",
            None if event.touched and event.touched.function == event.at.function else Severity.WARNING,
            because=((where, "CUDA is initialised here" if imported is None else _IMPORTED),),
        )

    def _is_set_before(self, where: Span, ask: Ask) -> bool:
        """Whether the file sets the variable before it imports what initialises CUDA, and then again."""
        setting = (*ask.events("bind"), *ask.events("call"))
        return any(
            isinstance(each, (Bind, Call)) and each.at.span.line < where.line and self.suspects(each)
            for each in setting
        )
