"""Which rules are on: codes, prefixes and `ALL`, in layers, the most specific selector winning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..finding import Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..config.settings import Selection


def choose(
    rules: Mapping[str, Severity], layers: Sequence[Selection], explicit: Collection[str] = ()
) -> frozenset[str]:
    """Return the codes that are on, of all that exist; notes are off unless a selector names them.

    Those in `explicit` are off unless a selector is the whole code: no prefix means them, nor does `ALL`.
    """
    on = {code for code, severity in rules.items() if severity is not Severity.NOTE and code not in explicit}
    for layer in layers:
        if layer.select is not None:
            on = set()
        for code in rules:
            selectors = (*(layer.select or ()), *layer.extend_select)
            if code in explicit:
                selectors = tuple(selector for selector in selectors if selector.upper() == code)
            wanted = _specificity(code, selectors)
            unwanted = _specificity(code, layer.ignore)
            if unwanted and unwanted >= wanted:
                on.discard(code)
            elif wanted:
                on.add(code)
    return frozenset(on)


def named(codes: Iterable[str], layers: Sequence[Selection]) -> frozenset[str]:
    """Return the codes that a selector turns on, of some that would be off: notes of theirs are wanted."""
    return choose(dict.fromkeys(codes, Severity.NOTE), layers)


def covers(selector: str, code: str) -> bool:
    """Whether a selector (a code, a prefix of one, or `ALL`; in any case) means this code."""
    selector = selector.upper()
    return selector == "ALL" or code.startswith(selector)


def _specificity(code: str, selectors: Iterable[str]) -> int:
    """Return how precisely the best of the selectors means `code`; 0 where none does, 1 for `ALL`."""
    matching = [name for name in selectors if covers(name, code)]
    return max((1 if name.upper() == "ALL" else 1 + len(name) for name in matching), default=0)
