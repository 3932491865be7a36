"""The interface between the engine and a rule: what a rule declares, is given and yields."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from .finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .span import Span
    from .visit import cst


class Fact(Protocol):
    """Something the inference observed; the concrete types are in `devlint.infer.facts`."""

    @property
    def span(self) -> Span:
        """Where the node stands."""

    @property
    def node_type(self) -> str:
        """The LibCST class of the node at `span`, such as `Call`: spans alone can be ambiguous."""


F = TypeVar("F", bound=Fact)


class Change(NamedTuple):
    """A cure: nodes of the visited tree and what replaces each; `None` deletes.

    A replacement is rendered to text in place of the old node, so it may be of any node class that
    makes sense there: an `Assign` may replace the `Call` of an expression statement.
    """

    message: str
    replacements: tuple[tuple[cst.CSTNode, cst.CSTNode | None], ...]
    safe: bool


class Report(NamedTuple):
    """What a rule says about one node."""

    message: str
    """One lower-case sentence about this code, without a final period."""
    reason: str = ""
    """One line on why it matters."""
    severity: Severity | None = None
    """Where it differs from the rule's own."""
    change: Change | None = None


class Rule(Generic[F]):
    """A kind of bug. One subclass a file; the module's docstring is its documentation page."""

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.ERROR
    fact: ClassVar[type]
    """The type of fact this rule listens to."""

    def suspects(self, fact: F) -> bool:
        """Whether this fact alone could be a finding; must not touch LibCST."""
        return True

    def visit(self, node: cst.CSTNode, fact: F) -> Iterator[Report]:
        """Look at the concrete syntax of a suspect and report what is wrong with it."""
        raise NotImplementedError
