"""How long a message may get: a long expression that it quotes is cut in its middle."""

from __future__ import annotations

import re

MAX_MESSAGE = 120
"""Characters of a message that lists, editors and CI show whole."""
_SHORTEST = 24
"""Less of an expression says nothing."""
_CUT = "..."
_QUOTED = re.compile(r"`[^`]+`")


def brief(message: str) -> str:
    """Cut the longest expression in a message until that is short enough, or says too little."""
    for quoted in sorted(_QUOTED.findall(message), key=len, reverse=True):
        over = len(message) - MAX_MESSAGE
        if over <= 0:
            break
        left = max(len(quoted) - 2 - over, _SHORTEST) - len(_CUT)
        if left + len(_CUT) < len(quoted) - 2:
            end = left // 2
            cut = f"`{quoted[1 : 1 + left - end]}{_CUT}{quoted[-1 - end : -1]}`"
            message = message.replace(quoted, cut)
    return message
