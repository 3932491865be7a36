"""Messages stay short enough for lists, whatever they quote."""

from __future__ import annotations

import pytest

from devlint.run.lint import lint
from devlint.visit.wording import MAX_MESSAGE, brief

LONG = "torch.from_numpy(frames).float().transpose(2, 4).transpose(3, 4).repeat(1, 1, 3, 1, 1).contiguous()"


def test_a_long_expression_is_cut_in_its_middle() -> None:
    text = f"import torch\n\nframes = load()\nx = {LONG}.cuda()\n"
    (finding,) = [each for each in lint(text.encode(), "train.py") if each.code == "DEV201"]
    assert len(finding.message) == MAX_MESSAGE
    assert finding.message.startswith("`torch.from_numpy(frames).float()")
    assert finding.message.endswith(".contiguous().cuda()` fails on a machine without a CUDA device")


def test_what_is_short_enough_is_left_alone() -> None:
    for message in ("`x.to()` is thrown away", f"`{'x' * (MAX_MESSAGE - 2)}`", "no quotes " * 20):
        assert brief(message) == message


@pytest.mark.parametrize("longest", [60, 120, 1000])
def test_the_longest_expression_is_cut_first_and_each_keeps_something(longest: int) -> None:
    first, second = "a" * longest, "b" * 50
    said = brief(f"`{first}` meets `{second}`, and this is said of it in some more words")
    assert len(said) <= MAX_MESSAGE
    assert "aaaaaaaaaa...aaaaaaaaaa" in said
    assert "bbbbbbbbbb" in said
