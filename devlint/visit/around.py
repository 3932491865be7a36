"""What the inference is told of a file beside its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..bind.sections import Section
    from ..core.events import Event
    from ..core.summary import Calling, Loading
    from ..infer.file import File, Index
    from ..match.watch import Matcher
    from ..project.unused import Part
    from ..span import Span

    class Project(Index, Protocol):
        """The files around one."""

        def locate(self, node: tuple[str, int]) -> tuple[str, Span] | None:
            """The file and the place of a node that a summary named."""

        def callers(self, function: str) -> tuple[Calling, ...]:
            """The calls of a function of this file, wherever the project has them."""

        def loaders(self, function: str) -> tuple[Loading, ...]:
            """The loaders, wherever the project has them, that run a function of this file."""

        def needs_accelerator(self, function: str) -> bool:
            """Whether an accelerator is there whoever runs a function of this file."""

        def throughout(self) -> bool:
            """Whether all that runs this file runs on CUDA alone."""

        def default_gpu(self) -> str:
            """Whether the default GPU is the only one (`gpus`) that the programs use which import this file,
            or, where it is there, the only device (`devices`); else empty."""

        def initialises(self, module: str) -> bool:
            """Whether this file initialises CUDA as it imports a module of the project."""

        def unused(self, parts: tuple[Part, ...], quiet: bool) -> bool:
            """Whether nothing in the program uses one of the parts of this file, or the whole file, which may
            do nothing when it is run."""

        def stays_on_cpu(self, name: str) -> bool:
            """Whether nothing that may use a class of this file brings anything to a device, nor it."""

        def moves_attribute(self, name: str) -> bool:
            """Whether another file of the program moves what objects have as an attribute."""

        def mentioned_beside(self, name: str) -> bool:
            """Whether another file of a program that runs this one has a name."""

        def saved_on_cpu(self, file: str) -> bool:
            """Whether other files of the project save what is called so, in programs without accelerators."""

        def calls_are_known(self, function: str) -> bool:
            """Whether nothing but the project calls a function of this file, and all by its name."""

        def default_device(self) -> str:
            """Who sets the default device to an accelerator for this file: `above` what runs it, or only
            `beside` it another file of the project; else empty."""

        def events(self, text: str, rules: Matcher) -> tuple[tuple[Event, ...], File | None] | None:
            """What rules watch of the events in this file, if an analysis for others tells; and that, to be
            released, if it is at hand."""

        def keep(self, text: str, rules: Matcher, file: File) -> None:
            """Keep the analysis of this file, if somebody edits it."""


class Around(NamedTuple):
    """The project around a file, what the file is called there, and its cells."""

    project: Project | None = None
    name: str = ""
    sections: Sequence[Section] = ()
