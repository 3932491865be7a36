"""All that a package with rules has to write to test them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from devlint.testing import check, programs, prove

FOLDER = Path(__file__).parents[1] / "fixtures"


@pytest.mark.parametrize("program", programs(FOLDER), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_program(program: Path) -> None:
    check(program)


@pytest.mark.skipif(find_spec("torch") is None, reason="proofs need torch")
def test_claims() -> None:
    prove(FOLDER, "ACM101", "ACM102", "ACM103", "ACM104")
