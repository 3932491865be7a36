"""What can be reached from a file, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def reached(path: str, further: Callable[[str], Iterable[str]]) -> set[str]:
    """A file, and all that can be reached from it; `further` gives what is one step away."""
    found, todo = {path}, [path]
    while todo:
        new = set(further(todo.pop())) - found
        found |= new
        todo.extend(new)
    return found
