"""What the calls of a function say together of what one of its parameters is given."""

from __future__ import annotations

from collections.abc import Iterable

from .events import Given
from .places import Form

_ELSEWHERE = frozenset({Form.LITERAL, Form.SAME, Form.EITHER, Form.ANYWHERE})


def on_device(given: Iterable[Given]) -> Given | None:
    """The first call that passes what is on a device, or wherever a module runs."""
    return next((each for each in given if each.place.form in _ELSEWHERE), None)


def all_on_cpu(given: Iterable[Given]) -> bool:
    """Whether there are calls, and all pass what is on the cpu; those of tests say nothing."""
    places = [each.place.form for each in given if not each.test]
    return bool(places) and all(form is Form.CPU for form in places)
