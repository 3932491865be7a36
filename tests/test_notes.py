"""What is no more than a note is told where its rule was asked for."""

from __future__ import annotations

import pytest

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.run.lint import lint

FRESH = """
import torch
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.{}(model.parameters())
model.to(torch.accelerator.current_accelerator())
optimizer.step()
"""


def severities(optimizer: str, *selections: Selection) -> list[Severity]:
    return [
        found.severity for found in lint(FRESH.format(optimizer), "a.py", Settings(selections=selections))
    ]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), []),
        (Selection(("ALL",)), [Severity.NOTE]),
        (Selection(extend_select=("DEV3",)), [Severity.NOTE]),
        (Selection(extend_select=("DEV4",)), []),
        (Selection(("DEV301",), ignore=("DEV301",)), []),
    ],
)
def test_a_rule_that_is_on_keeps_its_notes_until_it_is_selected(
    selection: Selection, expected: list[Severity]
) -> None:
    assert severities("Adam", selection) == expected


def test_what_a_rule_finds_worse_than_a_note_is_told_always() -> None:
    assert severities("Adagrad") == severities("Adagrad", Selection(("ALL",))) == [Severity.ERROR]


def test_what_is_published_is_a_note() -> None:
    text = """
import torch
from torch.utils import model_zoo
model = torch.nn.Linear(2, 2)
model.load_state_dict(torch.hub.load_state_dict_from_url("a"))
model.load_state_dict(model_zoo.load_url("a"))
model.load_state_dict(model_zoo.load_url("a", map_location="cpu"))
"""
    found = lint(text, "a.py", Settings(selections=(Selection(("DEV205",)),)))
    assert [(each.start.row, each.severity) for each in found] == [(5, Severity.NOTE), (6, Severity.NOTE)]


MOVES_ITSELF = """
import torch
from torch import nn


class Labels(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.device = device
        self.mu = nn.Parameter(torch.rand(3))
        self.score = nn.Linear(3, 2)

    def forward(self, x):
        return self.score(x)

    def fit(self):
        self.to(self.device)
{}
    def weights(self):
        return self.mu.detach().numpy()

    def scores(self, x):
        return self.score(x).detach().numpy()

    def all_scores(self, x):
        return self(x).detach().numpy()
"""


@pytest.mark.parametrize(
    ("more", "weights"), [("", Severity.WARNING), ("        self.to('cpu')\n", Severity.NOTE)]
)
def test_what_a_module_gives_is_where_its_input_was_whether_or_not_it_moves_itself(
    more: str, weights: Severity
) -> None:
    found = lint(MOVES_ITSELF.format(more), "a.py", Settings(selections=(Selection(("DEV407",)),)))
    assert [each.severity for each in found] == [weights, Severity.NOTE, Severity.NOTE]
