"""Decides from a file's bytes alone whether the rules could have anything to say about it."""

from __future__ import annotations

import re

# Every rule needs a value that torch made and a place where its device or dtype is decided or matters.
# A pattern on bytes costs a thousandth of a parse, and most files of most trees stop here.
TRIGGER = re.compile(
    rb"\.(?:to|cuda|cpu|xpu|mps|npu|hpu|ipu|to_empty|type)\s*\("  # moves
    rb"|\.(?:half|float|double|bfloat16|int|long|short|bool)\s*\("  # casts
    rb"|cuda|device"  # device strings, torch.cuda, device=
    rb"|optim|DataLoader|Dataset"  # what is built before a move, what yields unmoved batches
    rb"|nn\.(?:Module|Parameter)|torch\.load|\.numpy\b|requires_grad"
)


def matters(raw: bytes) -> bool:
    """Whether the file mentions torch and anything that a rule looks at."""
    return b"torch" in raw and TRIGGER.search(raw) is not None
