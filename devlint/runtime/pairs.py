"""What tells a program with a bug from the cured one: the marked statements, their cure, and nothing else."""

from __future__ import annotations

import ast
import difflib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .reached import statement

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ALIKE = 0.5
"""How much of two lines must be the same for one to be the other, cured."""
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")


class Piece(NamedTuple):
    """A statement; of one with a body, its head."""

    depth: int
    text: str
    """As `ast.unparse` writes it, so that layout and comments are no difference."""
    rows: range
    inside: range
    """Its rows, those of its body included."""
    names: frozenset[str]
    """The variables, attributes of `self`, functions and classes that it reads or binds."""
    binds: frozenset[str]
    imports: bool


def mark(code: str) -> re.Pattern[str]:
    """What marks a line that a rule must report."""
    return re.compile(rf"\s*# (?!noqa).*\b{code}\b.*")


def marked_rows(source: str, code: str) -> list[int]:
    """The lines of a program that are marked with a code."""
    marks = mark(code)
    return [row for row, line in enumerate(source.splitlines(), 1) if marks.search(line)]


def apart(bug: str, fixed: str, code: str) -> str:
    """Why a pair is no bug and its cure: nothing is marked, nothing is cured, or more than that differs."""
    marked = {line for row in marked_rows(bug, code) for line in statement(bug, row)}
    if not marked:
        return f"no line of it is marked: `# {code}`"
    try:
        before, after = pieces(bug), pieces(fixed)
    except SyntaxError as error:
        return f"it is no Python: {error}"
    if [each.text for each in before] == [each.text for each in after]:
        return "the cured program is the same"
    for each in _unrelated(before, after, frozenset(marked)):
        return f"the cured program differs by more than the cure: `{each.text}`"
    return ""


def _unrelated(before: Sequence[Piece], after: Sequence[Piece], marked: frozenset[int]) -> Iterator[Piece]:
    """The statements that only one program has, and that have nothing to do with what is marked.

    A cure changes what has a name in common with a marked statement, or with what stands in its place; it may
    put a statement elsewhere, one beside a marked one, a condition around one, and import what it needs.
    """
    changes = _changes(before, after)
    at_marks = [each for each in before if marked.intersection(each.rows)]
    cures = [each for old, new in changes if _touches(before[old], marked) for each in after[new]]
    imported = {name for each in (*before, *after) if each.imports for name in each.names}
    around = {name for each in before if marked.intersection(each.inside) for name in _defined(each)}
    names = {name for each in (*at_marks, *cures) for name in each.names} - imported | around
    lost = {each.text for old, _ in changes for each in before[old]}
    added = {each.text for _, new in changes for each in after[new]}
    cured = {row for each in cures for row in each.rows}

    def is_related(each: Piece) -> bool:
        return each.imports or not each.names.isdisjoint(names - _COMMON)

    for old, new in changes:
        here, there = before[old], after[new]
        paired = len(here) == len(there)
        for at, each in enumerate(here):
            if is_related(each) or each.text in added or (paired and is_related(there[at])):
                continue
            if not marked.intersection(each.inside):
                yield each
        if _touches(before[max(old.start - 1, 0) : old.stop + 1], marked):
            continue
        for at, each in enumerate(there):
            if is_related(each) or each.text in lost or (paired and is_related(here[at])):
                continue
            if not (cured.intersection(each.inside) or each.binds & names):
                yield each


_COMMON = frozenset({"self", "cls", "device"})
"""Names that say nothing of what belongs together."""


def _touches(some: Sequence[Piece], marked: frozenset[int]) -> bool:
    return any(marked.intersection(each.rows) for each in some)


def _changes(before: Sequence[Piece], after: Sequence[Piece]) -> list[tuple[slice, slice]]:
    one, other = ([(each.depth, each.text) for each in some] for some in (before, after))
    opcodes = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [(slice(i, j), slice(k, m)) for kind, i, j, k, m in opcodes if kind != "equal"]


def _defined(piece: Piece) -> frozenset[str]:
    return piece.binds if piece.text.startswith(("def ", "async def ", "class ")) else frozenset()


@lru_cache(maxsize=4)
def pieces(source: str) -> tuple[Piece, ...]:
    """The statements of a program, from the first to the last; raises SyntaxError."""
    return tuple(_pieces(ast.parse(source).body, 0))


def _pieces(body: Sequence[ast.AST], depth: int) -> Iterator[Piece]:
    for node in body:
        inner = [part for field in _BODIES for part in getattr(node, field, None) or ()]
        inner = [part for part in inner if isinstance(part, ast.AST)]
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0
        stop = min((part.lineno for part in inner if hasattr(part, "lineno")), default=last + 1)
        head = [part for part in ast.iter_child_nodes(node) if part not in inner] if inner else [node]
        parts = [part for each in head for part in ast.walk(each)]
        binds = {name for part in parts for name in _bound(part)} | set(_bound(node))
        text = ast.unparse(node)
        if inner:
            text = text.partition(":\n")[0]
        names = frozenset(binds | {name for part in parts for name in _read(part)})
        rows = range(first, max(stop, first + 1))
        imports = isinstance(node, (ast.Import, ast.ImportFrom))
        yield Piece(depth, text, rows, range(first, last + 1), names, frozenset(binds), imports)
        yield from _pieces(inner, depth + 1)


def _bound(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        return _read(node)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    return []


def _read(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    of_self = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return [node.attr] if of_self else []  # type: ignore[attr-defined]


def foreign(bug: str, fixed: str, code: str) -> list[int]:
    """The lines of a program with a bug that are neither marked nor in the cured one: no bug shows there."""
    marks = mark(code)
    marked = {line for row in marked_rows(bug, code) for line in statement(bug, row)}
    have = [line.strip() for line in fixed.splitlines()]
    wrong = [marks.sub("", line).strip() for line in bug.splitlines()]
    rows = [row for row, line in enumerate(wrong, 1) if row not in marked and _does(line)]
    # A cure may change a line that is not marked, such as a call: it still looks like it then.
    new = [line for line in have if line not in wrong]
    lost = [row for row in rows if wrong[row - 1] not in have]
    return [row for row in lost if not difflib.get_close_matches(wrong[row - 1], new, n=1)]


def _does(line: str) -> bool:
    """Whether a line is part of what a program does."""
    return bool(line.strip()) and not line.strip().startswith(("#", "import ", "from ", '"""'))


class _Change(NamedTuple):
    """Lines of the program with the bug, and what the cured one has in their place; either may be none."""

    start: int
    stop: int
    begin: int
    end: int


def taken_back(bug: str, fixed: str, code: str) -> Iterator[tuple[int, str]]:
    """The cured program with one marked bug restored, and that bug's line.

    A program with several bugs stops at the first; only this shows that every one of them is a bug.
    """
    wrong, right = bug.splitlines(keepends=True), fixed.splitlines(keepends=True)
    rows = marked_rows(bug, code)
    if len(rows) < 2:
        return  # that is the bug itself
    marks = mark(code)
    bare = [marks.sub("", line) for line in wrong]
    names = frozenset(name for each in pieces(bug) for name in each.names)
    changes = [each for each in _lines(bare, right, wrong) if not _only_defines(each, names, right)]
    cures = _Cures(rows, bare, right, changes)
    for row in rows:
        lines = right.copy()
        taken, left_out = cures.of(row)
        for each in reversed(changes):
            if each in taken:
                lines[each.begin : each.end] = wrong[each.start : each.stop]
            elif each in left_out:
                text = lines[each.begin]
                lines[each.begin : each.end] = [f"{text[: len(text) - len(text.lstrip())]}pass\n"]
            elif _imports(wrong[each.start : each.stop]):
                lines[each.end : each.end] = wrong[each.start : each.stop]
        yield row, "".join(lines)


class _Cures:
    """Which changes cure which marked line."""

    def __init__(
        self, rows: Sequence[int], bare: Sequence[str], right: Sequence[str], changes: Sequence[_Change]
    ) -> None:
        """Give each change to a mark: its own line, what has only moved, and what else belongs to it."""
        self._own = {row: each for row in rows for each in changes if each.start < row <= each.stop}
        same = [row for row, each in self._own.items() if bare[row - 1 : row] == right[each.begin : each.end]]
        self._cured: dict[int, set[_Change]] = {row: set() for row in rows}
        self._elsewhere = frozenset(same)
        """The marks whose line stays as it is: they are cured by something else."""
        for each in changes:
            if each in self._own.values() or _imports([*bare[each.start : each.stop]]):
                continue
            moved = [
                row for row in rows if bare[row - 1].strip() in map(str.strip, right[each.begin : each.end])
            ]
            owners = [row for row in moved if row not in same] or rows
            owner = min(owners, key=lambda row: abs(row - 1 - each.start))
            self._cured[owner].add(each)

    def of(self, row: int) -> tuple[set[_Change], set[_Change]]:
        """What to take back for one mark, and which lines to leave out: others that the same change cures."""
        own = {self._own[row]} if row in self._own else set()
        taken = self._cured[row]
        if taken or row not in self._elsewhere:
            return taken | own, set()
        nearest = min((other for other, cures in self._cured.items() if cures), key=lambda at: abs(at - row))
        others = {self._own[other] for other in self._elsewhere if other != row}
        return self._cured[nearest] | own, others


def _imports(lines: Sequence[str]) -> bool:
    """Whether lines are imports alone."""
    return bool(lines) and all(line.startswith(("import ", "from ")) for line in lines)


def _lines(bare: Sequence[str], right: Sequence[str], wrong: Sequence[str]) -> list[_Change]:
    """What differs, line by line where lines are alike; a mark is no difference."""
    found: list[_Change] = []
    for kind, *places in difflib.SequenceMatcher(None, wrong, right, autojunk=False).get_opcodes():
        if kind != "equal":
            found.extend(_aligned(bare, right, _Change(*places)))
    return found


def _aligned(bare: Sequence[str], right: Sequence[str], change: _Change) -> Iterator[_Change]:
    """Split a change where a line has become another; what lies between stays as it is."""
    start, begin = change.start, change.begin
    for one, other in _pairs(bare[start : change.stop], right[begin : change.end]):
        at, to = start + one, begin + other
        yield from _between(change.start, at, change.begin, to)
        yield _Change(at, at + 1, to, to + 1)
        change = change._replace(start=at + 1, begin=to + 1)
    yield from _between(change.start, change.stop, change.begin, change.end)


def _between(start: int, stop: int, begin: int, end: int) -> Iterator[_Change]:
    if begin == end:  # what is left out, or added, is so line by line
        yield from (_Change(at, at + 1, begin, end) for at in range(start, stop))
    elif start == stop:
        yield from (_Change(start, stop, at, at + 1) for at in range(begin, end))
    else:
        yield _Change(start, stop, begin, end)


def _pairs(some: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Which lines are each other's, in order, so that they are as alike as can be."""
    best: dict[tuple[int, int], tuple[float, list[tuple[int, int]]]] = {}
    for one in range(len(some), -1, -1):
        for other in range(len(others), -1, -1):
            choices: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])]
            if one < len(some):
                choices.append(best[one + 1, other])
            if other < len(others):
                choices.append(best[one, other + 1])
            if one < len(some) and other < len(others):
                alike = difflib.SequenceMatcher(None, some[one], others[other]).ratio()
                if alike >= _ALIKE:
                    total, pairs = best[one + 1, other + 1]
                    choices.append((total + alike, [(one, other), *pairs]))
            best[one, other] = max(choices, key=lambda choice: choice[0])
    return best[0, 0][1]


def _only_defines(change: _Change, known: frozenset[str], right: Sequence[str]) -> bool:
    """Whether lines that only the cured program has do no more than name what the other has no name for."""
    if change.start != change.stop:
        return False
    text = "".join(right[change.begin : change.end])
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return False
    names = [name for node in body for part in ast.walk(node) for name in _bound(part)]
    plain = all(isinstance(node, (ast.Assign, ast.Import, ast.ImportFrom)) for node in body)
    return plain and known.isdisjoint(names)
