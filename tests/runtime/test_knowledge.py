"""Rows of knowledge are true, and a false one is noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from devlint.runtime import knowledge

if TYPE_CHECKING:
    from collections.abc import Callable


SHARE = 8
"""One row in so many is called on the device: `devlint verify --knowledge` tries all, which takes minutes."""


def test_no_row_is_false_of_a_machine_without_a_device(torch_installed: None) -> None:
    judged = {row.name: row for row in knowledge.judge(("bare",))}
    assert [row for row in judged.values() if row.verdict == "false"] == []
    told = {name for name, row in judged.items() if row.verdict in ("signature", "proven")}
    assert len(told) > 2000
    # By its signature, by its failing without a device, and by saying no there.
    assert {"torch.add", "torch.cuda.synchronize", "torch.cuda.is_available"} <= told


def test_no_row_of_a_share_is_false_on_a_device(torch_installed: None) -> None:
    pytest.importorskip("expecttest", reason="torch's samples are imported with its test utilities")
    judged = knowledge.judge(("device",), every=SHARE)
    assert [row for row in judged if row.verdict == "false"] == []
    proven = {row.name for row in judged if row.verdict == "proven"}
    assert len(proven) > len(judged) / 2


@pytest.mark.parametrize(
    "name", ["Tensor.sum", "torch.zeros", "torch.nn.Linear", "torch.cuda.is_available", "torch.matmul"]
)
def test_a_true_row_is_proven(laboratory: Callable[..., Any], name: str) -> None:
    verdict, said = laboratory("evidence.judge", name, {})
    assert verdict == "proven", said


@pytest.mark.parametrize("name", ["adaptive_max_pool1d", "max_pool2d", "cross_entropy"])
def test_a_guess_asks_for_nothing_that_the_row_does_not_speak_of(
    laboratory: Callable[..., Any], name: str
) -> None:
    verdict, said = laboratory("evidence.judge_by_guesses", f"torch.nn.functional.{name}")
    assert verdict != "false", said


FALSE = [
    ("torch.add", {"gives": "number"}, "gives Tensor"),
    ("torch.add", {"gives": "first"}, "does not give its first argument"),
    ("torch.add", {"host": ("other",)}, "other cannot stay on the cpu"),
    ("torch.add", {"place": "cpu"}, "its result is on cuda"),
    ("torch.slice_scatter", {"place": "operands"}, "input may stay on the cpu"),
    ("torch.sort", {"topics": frozenset()}, "gives sort"),
    ("torch.std", {"gives": "0-dim tensor"}, "gives no 0-dim tensor"),
    ("torch.nn.functional.ctc_loss", {"host": ("input_lengths",)}, "may stay on the cpu"),
    ("Tensor.view", {"gives": "first"}, "does not give its first argument"),
    ("Tensor.add_", {"gives": "number"}, "gives Tensor"),
    ("torch.normal", {"topics": frozenset()}, "with a default device it is on cpu"),
    ("torch.optim.Adagrad", {"topics": frozenset()}, "has state when built"),
    ("torch.optim.Adam", {"topics": frozenset({"stateful"})}, "has no state when built"),
]


@pytest.mark.parametrize(("name", "change", "why"), FALSE)
def test_a_false_row_is_noticed(
    laboratory: Callable[..., Any], name: str, change: dict[str, Any], why: str
) -> None:
    plain = {k: sorted(v) if isinstance(v, frozenset) else v for k, v in change.items()}
    verdict, said = laboratory("evidence.judge", name, {})
    assert verdict == "proven", said
    verdict, said = laboratory("evidence.judge", name, plain)
    assert verdict == "false"
    assert why in said


def test_a_row_that_needs_what_is_not_there_is_noticed() -> None:
    evidence = pytest.importorskip("devlint.runtime.evidence", reason="torch is not installed")
    from devlint.knowledge import Row
    from devlint.runtime.apis import locate

    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is an accelerator")
    needs, asks = frozenset({"needs-accelerator"}), frozenset({"asks-accelerator"})
    for name, topics, verdict in (
        ("torch.cuda.synchronize", needs, "proven"),
        ("torch.cuda.empty_cache", needs, "false"),
        ("torch.cuda.is_available", asks, "proven"),
        ("torch.cuda.get_device_capability", asks, "false"),
        ("torch.is_grad_enabled", asks, "false"),
    ):
        api = locate(name)
        signature = "device" if name.endswith(("synchronize", "capability")) else ""
        assert evidence.bare(name, Row(signature=signature, topics=topics), api)[0] == verdict, name


def test_counts_are_shown() -> None:
    rows = [
        knowledge.Judged("torch.add", "proven", ""),
        knowledge.Judged("torch.cuda.synchronize", "false", "returns None"),
        knowledge.Judged("numpy.*", "open", "a group of names"),
        knowledge.Judged("len", "signature", ""),
    ]
    table = knowledge.table(rows)
    assert table[-1] == (
        "4 rows: 1 proven by calls, 1 by their signature alone, 1 not provable (a group of names 1), 1 false"
    )
    assert "torch.cuda.synchronize is false: returns None" in table
    assert [line.split()[:2] for line in table if line.startswith("torch ")] == [["torch", "1"]]


@pytest.mark.parametrize(("verdicts", "status"), [(["proven"], 0), (["proven", "false"], 1), (["open"], 2)])
def test_status(monkeypatch: pytest.MonkeyPatch, verdicts: list[str], status: int) -> None:
    rows = [knowledge.Judged(f"torch.f{i}", verdict, "") for i, verdict in enumerate(verdicts)]
    monkeypatch.setattr(knowledge, "judge", lambda: rows)
    assert knowledge.main() == status
