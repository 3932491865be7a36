"""What the inference observes: one type a kind of observation, plain data, in terms of values and devices.

A fact is an observation worth a second look, not a verdict: rules subscribe to a type and decide. Ordinary
code emits none, so that a clean file never loads a rule.
"""

from __future__ import annotations

from typing import NamedTuple

from ..span import Span
from .sections import Line
from .values import Kind


class Discarded(NamedTuple):
    """A move or cast of a tensor whose result nobody reads."""

    span: Span
    node_type: str
    method: str
    """`to`, `cuda`, `cpu`, `float`, …"""
    casts: bool
    """Whether it changes the dtype alone."""
    kind: Kind
    receiver: str
    """The receiver's source."""
    assignable: bool
    """Whether the receiver can stand on the left of an assignment and be read twice with the same meaning."""
    loop: str | None
    """What is iterated, when the receiver is an element that a loop yields."""
    safe: bool
    """Whether keeping the result breaks nothing: it is a tensor for sure, its dtype stays, and what it meets
    afterwards is where it would be, or cannot meet it as the program stands."""
    rebound: bool
    """`x = x.to(d)`, where nothing reads `x` any more: the result is kept, but by nobody."""


class HardcodedCall(NamedTuple):
    """`.cuda()` where no condition makes sure that there is a CUDA device."""

    span: Span
    node_type: str
    receiver: str
    given: str
    """What the call is given as its device: nothing, a `device` chosen at run time, or an `index`."""
    device: str | None
    """A variable in scope that holds a device chosen at run time."""


class HardcodedDevice(NamedTuple):
    """The literal name of an accelerator that reaches a place where a device goes, unguarded."""

    span: Span
    node_type: str
    literal: str
    role: str
    """`argument`; `default` of a parameter; `autocast` device type."""
    has_torch: bool
    """Whether the name `torch` is at hand for a cure."""
    operand: bool
    """Whether it is part of an expression that binds tighter than a conditional expression."""


class StaleOptimizer(NamedTuple):
    """A module is moved after an optimizer was built from its parameters."""

    span: Span
    node_type: str
    module: str
    optimizer: str
    """The optimizer's class."""
    line: Line
    """Where it was built."""
    stage: str
    """`fresh`; `stateful`: allocates state when built; `stepped`; `loaded`; `replaced`: by new parameters."""


class BatchMeeting(NamedTuple):
    """An element of a batch, still where the loader left it, meets a value that lives on a device."""

    span: Span
    node_type: str
    element: str
    loader: str
    other: str
    """The source of the value, module or function that it meets."""
    device: str
    """The device as the program names it."""
    partly: bool
    """Whether another element of the same batch is moved."""
    certain: bool
    """Whether it fails whatever the caller does."""
    conditional: bool
    """Whether both are moved, but under conditions that can differ."""


AnyFact = Discarded | HardcodedCall | HardcodedDevice | StaleOptimizer | BatchMeeting
