"""The engine names no rule, and the inference hardly any name of a library: both are data elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import devlint
from devlint import knowledge
from devlint.core.state import PHASES
from devlint.knowledge.find import rows
from devlint.knowledge.words import HINTS
from devlint.match.registry import installed

ROOT = Path(devlint.__file__).parent
ENGINE = sorted(path for path in ROOT.rglob("*.py") if path.parent.name != "rules")
INFERENCE = sorted((ROOT / "infer").rglob("*.py"))
OWN = {"DEV000", "DEV001"}
"""Findings of the engine itself, which no rule makes."""
MOST_NAMES = 40


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def strings(tree: ast.Module) -> Iterator[str]:
    """The texts in a module's code; what documents it stands by itself."""
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said:
            yield node.value


def test_no_rule_is_named_outside_of_its_own_file() -> None:
    rules = [rule for code, rule in installed().items() if code not in OWN]
    assert len(rules) >= 8
    modules = {path.stem for path in (ROOT.parent / "rules").glob("*.py")} - {"__init__"}
    classes = {type_.__name__ for rule in rules if (type_ := rule.rule) is not None}
    texts = {text for rule in rules for text in (rule.code, rule.name)} | modules | classes
    for path in ENGINE:
        tree = parsed(path)
        assert not texts.intersection(strings(tree)), path
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        imported = {
            part
            for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
            for part in f"{getattr(node, 'module', '') or ''}.{alias.name}".split(".")
        }
        assert not (modules | classes) & (names | imported), path


def compared(tree: ast.Module) -> Iterator[str]:
    """The texts that code compares something with."""
    for node in ast.walk(tree):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            sides = node.args if node.func.attr in ("startswith", "endswith") else []
        for side in sides:
            each = side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else [side]
            values = (part.value for part in each if isinstance(part, ast.Constant))
            yield from (value for value in values if isinstance(value, str) and value)


def vocabulary() -> set[str]:
    """What devlint's own types and tables are made of: mypy, or a test of the tables, checks those."""
    found: set[str] = set()
    for path in [*(ROOT / "core").glob("*.py"), ROOT / "infer" / "log.py"]:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
                found.update(
                    str(each.value) for each in ast.walk(node.slice) if isinstance(each, ast.Constant)
                )
    for _, row in rows():
        found |= {*row.topics, row.gives, row.place, row.by}
    found |= {hint.says for hint in HINTS}
    found |= {*knowledge.PLACEMENT_ATTRIBUTES.values(), *knowledge.GENERICS.values(), *PHASES}
    found |= {topic for name in base_classes() for topic in knowledge.topics_of_base(name)}
    return found


def base_classes() -> tuple[str, ...]:
    """A class of each topic that no row has."""
    return ("enum.Enum", "torch.utils.data.Dataset", "unittest.TestCase")


def test_the_inference_compares_hardly_any_names() -> None:
    own = vocabulary()
    names = [(path.name, text) for path in INFERENCE for text in compared(parsed(path)) if text not in own]
    assert len(names) <= MOST_NAMES, names


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("if a == 'b': pass", ["b"]),
        ("a in ('b', 'c')", ["b", "c"]),
        ("a.startswith('b')", ["b"]),
        ("match a:\n    case 'b': pass", ["b"]),
        ("a = 'b'; f('c')", []),
    ],
)
def test_what_counts_as_compared(code: str, texts: list[str]) -> None:
    assert list(compared(ast.parse(code))) == texts
