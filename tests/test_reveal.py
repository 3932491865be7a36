"""What the inference knows of the values in `fixtures/infer`, by itself and whatever the rules make of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from devlint.infer import infer

FOLDER = Path(__file__).parents[1] / "fixtures" / "infer"
FILES = sorted(FOLDER.glob("*.py"))
REVEALED = re.compile(r"  # revealed: (?P<text>.+)$")


def test_there_are_files() -> None:
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_values_are_revealed(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    expected = {}
    for row, line in enumerate(source.splitlines(), start=1):
        mark = REVEALED.search(line)
        assert ("reveal_device(" in line) == bool(mark), f"{path.name}:{row}"
        if mark:
            expected[row] = mark["text"]
    assert expected
    assert dict(infer(source).reveals) == expected
