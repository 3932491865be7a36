"""Decides from a file's bytes alone whether the rules could have anything to say about it."""

from __future__ import annotations

import re

# Every fact that a rule listens to starts from a move, a cast, or the name of an accelerator. A pattern on
# bytes costs a thousandth of inferring, and half of the lines of most packages stop here. A new rule adds
# the words it needs.
TRIGGER = re.compile(
    rb"\.(?:to|cuda|cpu|xpu|mtia|ipu|type|to_empty)\s*\("  # moves
    rb"|['\"](?:cuda|mps|xpu|hpu|npu|mtia|xla|musa|ipu)\b"  # device strings
    rb"|FullyShardedDataParallel"  # replaces parameters
)

# A cast matters only when its result is thrown away: on a line that neither assigns nor returns. A line
# inside a longer expression may match as well, which costs a look and no more. The indentation must match
# whole: given back a space at a time, it defeats the rest and takes quadratic time on a long blank line.
DISCARDED_CAST = re.compile(
    rb"^[ \t]*(?![ \t])(?!(?:return|if|elif|while|for|assert|yield|raise|with|del)\b)"
    rb"(?![\w.\[\]]+[ ]*=[^=])[^\n#]*"
    rb"\.(?:float|double|half|bfloat16|long|int|short|byte|char|bool|cfloat|cdouble|chalf)\s*\(",
    re.MULTILINE,
)


def matters(raw: bytes) -> bool:
    """Whether the file mentions torch and anything that a rule looks at."""
    if b"torch" not in raw:
        return False
    return TRIGGER.search(raw) is not None or DISCARDED_CAST.search(raw) is not None


# `noqa` counts where it names one of devlint's codes: `DEV`, `DEV1`, `DEV101`, but no `DEVICE`.
_SUPPRESSION = re.compile(rb"#\s*devlint\s*:|[nN][oO][qQ][aA]\b[^\r\n]*\bDEV(?:[0-9]|\b)")


def suppresses(raw: bytes) -> bool:
    """Whether there may be a comment that is meant for devlint alone."""
    return (b"devlint" in raw or b"DEV" in raw) and _SUPPRESSION.search(raw) is not None
