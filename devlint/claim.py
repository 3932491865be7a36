"""What a rule claims torch does with its programs: plain data that `devlint verify` puts to the proof."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Cause(Enum):
    """Why a value is where an operation cannot take it, as far as `devlint run` can tell."""

    BATCH = "it comes from a loader"
    MADE = "it was made on the cpu"
    ATTRIBUTE = "it is a plain attribute of a module"
    CONTAINER = "its module is in a plain container"
    MODULE = "its module was not moved"
    OPTIMIZER = "it is the state of an optimizer"
    MIXED = "nothing else is known"
    NUMPY = "numpy cannot read a device"
    GENERATOR = "a generator is of another device"
    WORKER = "a process that was forked uses a device"
    LOST_MOVE = "a moved copy is thrown away"
    LOST_CAST = "a cast copy is thrown away"


class Runs(NamedTuple):
    """The program runs to its end."""


class Raises(NamedTuple):
    """The program stops with this exception."""

    error: str
    """The class, or several as `A|B`; a subclass counts."""
    message: str = ""
    """A regular expression found in the first line of the message."""


class Observes(NamedTuple):
    """The program runs to its end, and what it got is silently wrong."""

    expression: str
    """Evaluated in the program's globals after it ran."""
    bug: object
    """Its value, compared by `repr`, in the program with the bug."""
    fixed: object
    """Its value in the cured program."""


Outcome = Runs | Raises | Observes


class Claim(NamedTuple):
    """What the programs of a rule do; a cured program always runs, on every device."""

    bug: Outcome
    """What the bug does on an accelerator."""
    cpu: Outcome = Runs()
    """What the bug does where there is no accelerator: mostly nothing, which is why it gets so far."""
    needs: str = ""
    """The hardware without which the bug does not show, `cuda` or `cuda x2`; elsewhere the claim rests on
    `documentation`, and only that both programs run is checked."""
    documentation: str = ""
    """The page of torch's documentation that backs what `needs` leaves unproven."""
    setup: str = ""
    """Python run before the program: the setting of torch without which the bug does not show."""
    packages: tuple[str, ...] = ()
    """What programs import besides torch and what comes with it. A program that stops because one of these is
    not installed is not judged; any other import that fails makes the claim false."""
    programs: Mapping[str, Claim] = MappingProxyType({})
    """Claims of other programs: `{"loop": …}` is about `bug_loop.py` and `fixed_loop.py`."""

    @property
    def simulable(self) -> bool:
        """Whether what is needed is no more than that there are several devices, which can be simulated."""
        return self.needs.startswith("cuda x") and isinstance(self.bug, Raises)

    def of(self, program: str) -> Claim:
        """Return the claim about a pair of programs; `program` is what follows `bug_`, empty for `bug.py`."""
        return self.programs.get(program, self)

    def outcome(self, *, cured: bool, accelerator: bool) -> Outcome:
        """Return what one program of a pair is claimed to do on one kind of device."""
        bug = self.bug if accelerator else self.cpu
        if not cured:
            return bug
        return bug if isinstance(bug, Observes) else Runs()


def everywhere(
    outcome: Outcome, *, setup: str = "", programs: Mapping[str, Claim] = MappingProxyType({})
) -> Claim:
    """Return the claim that the bug shows on the cpu as well as on an accelerator."""
    return Claim(outcome, outcome, setup=setup, programs=programs)


RUNS = Runs()
MIXED_DEVICES = Raises(
    "RuntimeError",
    "same device"
    r"|type \((torch\.(?:\w+\.)?)(\w+Tensor)\) and \w+ type \((?!\1\2)torch\.(?:\w+\.)?\2\) should be"
    "|but expected (on mps|it to be on GPU)|allocated on MPS device|CPU tensor to MPS",
)
"""What most operators raise when they are given tensors of several devices.

The words are those of TensorIterator, the generated checks and convolutions; MPS has its own (torch 2.13:
`native/mps/operations/Linear.mm`, `core/TensorUtils.cpp`, `native/mps/OperationUtils.mm` and `.h`).
"""
NO_ACCELERATOR = Raises(
    "AssertionError|RuntimeError",
    "compiled with CUDA|without ATen_cuda|NVIDIA|CUDA GPUs are available|CUDA driver version is insufficient"
    r"|CUDA device but torch\.cuda\.is_available\(\) is False|must be cuda device|when none is available",
)
"""What code that insists on CUDA meets without it; the words depend on the call and on torch's build."""
