"""An optimizer built before `Module.to`: the measured table that the severities of DEV301 rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIMIZERS = (
    *("SGD", "SGD+momentum", "Adam", "Adam fused", "Adam foreach=False", "Adam capturable", "AdamW"),
    *("RMSprop", "Adagrad", "Adadelta", "LBFGS", "Rprop", "Adamax", "NAdam", "RAdam", "ASGD"),
    *("Adafactor", "Muon"),
)
SCENARIOS = ("fresh", "after_step", "after_step+reload", "load_sd_before", "to_empty")
STEPPED = ("after_step", "after_step+reload", "load_sd_before")


def expected(flag: str, scenario: str, optimizer: str) -> str:
    """The table, in the words that explain it."""
    if scenario in STEPPED and optimizer == "Adam capturable":
        return "no setup"  # it refuses to step on the cpu
    if flag == "overwrite" or (scenario == "to_empty" and flag != "swap"):
        # The optimizer holds parameters that the model has thrown away. LBFGS notices when they are meta.
        return "raises" if (scenario, optimizer) == ("to_empty", "LBFGS") else "silent"
    if scenario in ("after_step", "load_sd_before"):
        return "same" if optimizer == "SGD" else "raises"  # state stays on the cpu
    if scenario == "after_step+reload":
        return "same"  # loading casts the state to where the parameters are
    return "raises" if optimizer == "Adagrad" else "same"  # only Adagrad makes state when it is built


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("flag", ["default", "overwrite", "swap"])
def test_optimizer_before_move(laboratory: Callable[..., Any], flag: str, optimizer: str) -> None:
    found = {s: laboratory("optimizers.outcome", flag, s, optimizer) for s in SCENARIOS}
    assert found == {scenario: expected(flag, scenario, optimizer) for scenario in SCENARIOS}
