"""A syntax tree that follows an edit of its text: what was not edited stays the same nodes."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .walk import descendants

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "orelse", "handlers", "finalbody")
_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Pass)
_STAY = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.ExceptHandler)
"""What stays the same node where only something in its blocks has changed."""


class Edit(NamedTuple):
    """Lines that others have taken the place of; lines count from 0."""

    first: int
    end: int
    """After the last line that is gone."""
    more: int
    """How many lines there are more."""

    @classmethod
    def between(cls, before: Sequence[str], after: Sequence[str]) -> Edit:
        """The fewest lines that tell one text from another."""
        first, most = 0, min(len(before), len(after))
        while first < most and before[first] == after[first]:
            first += 1
        last = 0
        while last < most - first and before[-1 - last] == after[-1 - last]:
            last += 1
        return cls(first, len(before) - last, len(after) - len(before))


class Plain(NamedTuple):
    """Statements of the module, none of which defines anything, and those that take their place."""

    body: list[ast.stmt]
    """All statements of the module."""
    at: int
    """Where the first of them stands."""
    gone: Sequence[ast.stmt]
    now: Sequence[ast.stmt]
    first: int
    """The first of the lines in which they stand, from 0, and with comments around them."""
    end: int
    """After the last line in which those stand that are there now."""


class Change(NamedTuple):
    """What an edit changes of a tree."""

    edit: Edit
    function: Definition | None = None
    """The function in whose body all that has changed is; None where that is comments and empty lines."""
    now: Definition | None = None
    """The function as it has become."""
    around: ast.ClassDef | None = None
    """The class that ends where the function does."""
    plain: Plain | None = None
    """The statements of the module that have changed, where no function has."""

    def make(self, nodes: Iterable[ast.AST]) -> None:
        """Bring the tree up to date; `nodes` are all that it has."""
        kept: list[tuple[ast.AST, ast.AST]] = []
        if self.function is not None and self.now is not None:
            kept += ((each, self.now) for each in (self.function, self.around) if each is not None)
            _graft(self.function, self.now, self.edit, kept)
        if self.plain is not None:
            body, at, gone, come = self.plain[:4]
            body[at : at + len(gone)] = come
        edit = self.edit
        for node in nodes if edit.more else ():
            line = getattr(node, "lineno", 0)
            if line > edit.end:
                node.lineno = line + edit.more  # type: ignore[attr-defined]
            line = getattr(node, "end_lineno", 0)
            if line > edit.end:
                node.end_lineno = line + edit.more  # type: ignore[attr-defined]
        for old, new in kept:
            for name in ("end_lineno", "end_col_offset"):
                setattr(old, name, getattr(new, name))


def change(tree: ast.Module, before: Sequence[str], after: Sequence[str]) -> Change | None:
    """What an edit changes of a module, whose lines are given; None for more than the body of one function,
    or plain statements that stand together.

    Nothing is parsed but the function that was edited, or the statements of the module: what stands on lines
    of its own is the same wherever they are.
    """
    edit = Edit.between(before, after)
    return _in_one(tree.body, edit, before, after) or _plainly(tree.body, edit, len(before), after)


def _in_one(
    body: Sequence[ast.stmt], edit: Edit, before: Sequence[str], after: Sequence[str]
) -> Change | None:
    """What an edit changes of one statement of a module."""
    index, first, end = _around(body, edit, len(before))
    if index >= 0 and isinstance(cls := body[index], ast.ClassDef) and edit.first >= _start(cls.body[0]):
        inner, start, stop = _around(cls.body, edit, end)
        if edit.end > stop:
            return None
        head = [""] * (start - 1) + ["class _:"]
        found = _parsed([*head, *after[start : stop + edit.more]])
        if found is None or len(found) != 1 or not isinstance(found[0], ast.ClassDef):
            return None
        last = cls if inner == len(cls.body) - 1 else None
        return _of(cls.body[inner], found[0].body, edit, last)
    if edit.end > end:
        return None
    found = _parsed([*[""] * first, *after[first : end + edit.more]])
    if found is None:
        return None
    if index < 0:
        return None if found else Change(edit)
    return _of(body[index], found, edit, None)


def _plainly(body: list[ast.stmt], edit: Edit, rows: int, after: Sequence[str]) -> Change | None:
    """What an edit changes of a module that is plain statements, before and after."""
    at = sum(_end(each) <= edit.first for each in body)
    behind = sum(_start(each) >= edit.end for each in body[at:])
    gone = body[at : len(body) - behind]
    first = _start(gone[0]) if gone else edit.first
    end = _start(body[-behind]) if behind else rows
    if first < (_end(body[at - 1]) if at else 0) or end < (_end(gone[-1]) if gone else edit.end):
        return None  # a line has several of them
    first = min(first, edit.first)
    if first and after[first - 1].endswith("\\"):
        return None  # the line goes on
    now = _parsed([*[""] * first, *after[first : end + edit.more]])
    if now is None or not all(map(_is_plain, (*gone, *now))):
        return None
    return Change(edit, plain=Plain(body, at, gone, now, first, end + edit.more))


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement assigns variables, imports, or is run for what it does, and defines nothing."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return all(each.name != "*" for each in statement.names)
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return (
        isinstance(statement, _PLAIN)
        and not any(isinstance(each, (ast.Lambda, ast.NamedExpr)) for each in descendants(statement))
        and all(each is None or isinstance(each, ast.Name) for each in targets)
    )


def _around(body: Sequence[ast.stmt], edit: Edit, end: int) -> tuple[int, int, int]:
    """Which statement of a block an edit begins in or after, and from where to where that has the lines.

    A line that has several statements ends before it begins.
    """
    starts = [_start(each) for each in body]
    index = bisect_right(starts, edit.first) - 1
    stop = starts[index + 1] if index + 1 < len(starts) else end
    shared = starts.count(starts[index]) > 1 if index >= 0 else False
    return index, starts[index] if index >= 0 else 0, -1 if shared else stop


def _parsed(rows: Sequence[str]) -> list[ast.stmt] | None:
    try:
        return ast.parse("\n".join(rows)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of(old: ast.stmt, new: Sequence[ast.stmt], edit: Edit, last: ast.ClassDef | None) -> Change | None:
    """What an edit changes of one statement, which becomes others; `last` is the class that ends with it."""
    gone = _gone([old], new, edit)
    if gone is None or len(new) != 1 or old.col_offset != new[0].col_offset:
        return None
    if gone[0].start == gone[0].stop:
        return Change(edit)
    if (
        isinstance(old, _DEFINITIONS)
        and isinstance(new[0], _DEFINITIONS)
        and _has_same_head(old, new[0], edit)
    ):
        return Change(edit, old, new[0], last)
    return None


def _gone(old: Sequence[ast.AST], new: Sequence[ast.AST], edit: Edit) -> tuple[slice, slice] | None:
    """Which statements of a block an edit replaces, and by which; None where others come to it or go."""
    end = edit.end + edit.more
    ahead = sum(_end(each) <= edit.first for each in old)
    behind = sum(_start(each) >= edit.end for each in old)
    same = sum(_end(each) <= edit.first for each in new) == ahead
    if not same or sum(_start(each) >= end for each in new) != behind:
        return None
    return slice(ahead, len(old) - behind), slice(ahead, len(new) - behind)


def _graft(old: ast.AST, new: ast.AST, edit: Edit, kept: list[tuple[ast.AST, ast.AST]]) -> None:
    for name in _BLOCKS:
        block, now = getattr(old, name, None), getattr(new, name, None)
        if block is not None and now is not None:
            _graft_block(block, now, edit, kept)


def _graft_block(
    block: list[ast.AST], now: Sequence[ast.AST], edit: Edit, kept: list[tuple[ast.AST, ast.AST]]
) -> None:
    gone = _gone(block, now, edit)
    if gone is None:
        block[:] = now
        return
    one, other = block[gone[0]], now[gone[1]]
    if len(one) == len(other) == 1 and isinstance(one[0], _STAY) and _has_same_head(one[0], other[0], edit):
        kept.append((one[0], other[0]))
        _graft(one[0], other[0], edit, kept)
    else:
        block[gone[0]] = other


def _has_same_head(old: ast.AST, new: ast.AST, edit: Edit) -> bool:
    """Whether two statements differ in their blocks alone, below all else."""
    if type(old) is not type(new):
        return False
    last = getattr(old, "lineno", 0)
    for name in old._fields:
        if name not in _BLOCKS:
            one, other = getattr(old, name, None), getattr(new, name, None)
            if not _is_alike(one, other):
                return False
            for part in one if isinstance(one, list) else [one]:
                for each in descendants(part) if isinstance(part, ast.AST) else ():
                    last = max(last, getattr(each, "end_lineno", 0))
    return bool(last <= edit.first)


def _is_alike(one: object, other: object) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_alike, one, other))
    if isinstance(one, ast.AST) and isinstance(other, ast.AST):
        return ast.dump(one) == ast.dump(other)
    return type(one) is type(other) and one == other


def _start(node: ast.AST) -> int:
    """The first line of a statement, with its decorators."""
    decorators = getattr(node, "decorator_list", None) or ()
    line = getattr(node, "lineno", 0)
    return int(min([line, *(each.lineno for each in decorators)])) - 1


def _end(node: ast.AST) -> int:
    return int(getattr(node, "end_lineno", 0))
