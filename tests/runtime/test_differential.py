"""Random programs before and after safe fixes; `benchmarks/differential.py` runs more of them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "differential.py"


def test_safe_fixes_break_nothing_that_ran() -> None:
    spec = importlib.util.spec_from_file_location("differential", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    differential = importlib.util.module_from_spec(spec)
    sys.modules["differential"] = differential
    spec.loader.exec_module(differential)
    results = differential.compare(differential.programs(20, seed=7))
    changed = [result for result in results if result.fixed != result.program.text]
    assert len(changed) > 5
    assert [result.program.text for result in changed if result.harm] == []
    assert any(result.truth == "runs, nothing is thrown away" for result in results)
    assert [result.program.text for result in results if result.accused] == []
    lost = [result for result in results if result.truth == "runs, a leaf is lost"]
    assert lost
    assert [result.program.text for result in lost if result.says != "error"] == []
