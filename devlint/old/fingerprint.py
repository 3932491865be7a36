"""Names findings so that they are known again when lines have moved: by file, rule, function and text."""

from __future__ import annotations

import ast
import os.path
import warnings
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ..finding import place
from ..source.text import split_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..finding import Finding


class Anchor(NamedTuple):
    """What stays the same about a finding while code around it changes."""

    path: str
    """Relative, with forward slashes."""
    code: str
    scope: str
    """The function or class that holds it, such as `Net.forward`; empty at the top of a module."""
    line: str
    """The row it starts on, with its white space normalised."""


class _Scope(NamedTuple):
    first: int
    last: int
    name: str


def anchors(findings: Iterable[Finding], sources: Mapping[str, str], base: str) -> list[Anchor]:
    """Return the anchor of each finding; `sources` are the texts of files and cells, as a report has them."""
    texts: dict[str, tuple[Sequence[str], Sequence[_Scope]]] = {}
    found = []
    for finding in findings:
        where = place(finding)
        if where not in texts:
            text = sources.get(where, "")
            texts[where] = split_rows(text), _scopes(text)
        rows, scopes = texts[where]
        row = finding.start.row
        line = " ".join(rows[row - 1].split()) if row <= len(rows) else ""
        scope = next((scope.name for scope in reversed(scopes) if scope.first <= row <= scope.last), "")
        found.append(Anchor(relative(finding.path, base), finding.code, scope, line))
    return found


def digests(found: Iterable[Anchor]) -> list[str]:
    """Return a short hash for each anchor; of several that are the same, each has its own."""
    from hashlib import sha256

    seen: Counter[Anchor] = Counter()
    hashes = []
    for anchor in found:
        text = "\0".join((*anchor, str(seen[anchor])))
        hashes.append(sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32])
        seen[anchor] += 1
    return hashes


def relative(path: str, base: str) -> str:
    """Return a path relative to a folder, with forward slashes; as it is where it lies elsewhere."""
    if path.startswith("<"):
        return path
    below = os.path.relpath(path, base or os.curdir)
    outside = below == os.pardir or below.startswith(os.pardir + os.sep)
    return (os.path.abspath(path) if outside else below).replace(os.sep, "/")


def _scopes(text: str) -> list[_Scope]:
    """Return the functions and classes of a program, outer ones before those in them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return list(_below(ast.parse(text), ""))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return []


def _below(node: ast.AST, prefix: str) -> Iterator[_Scope]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            first = min((child.lineno, *(decorator.lineno for decorator in child.decorator_list)))
            yield _Scope(first, child.end_lineno or child.lineno, name)
            yield from _below(child, f"{name}.")
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _below(child, prefix)
