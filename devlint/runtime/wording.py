"""Says `cuda:0` in torch's messages, where torch itself says the name of the simulated device."""

from __future__ import annotations

import re

_NAMES = (
    (re.compile(r"\bsim:(\d+)"), r"cuda:\1"),
    (re.compile(r"(['\"`])sim\1"), r"\1cuda\1"),
    (re.compile(r"\btorch\.sim\."), "torch.cuda."),
    (re.compile(r"\bsim device\b"), "cuda device"),
)


def as_cuda(text: str) -> str:
    """Return a message of torch as it is on a GPU."""
    for name, shown in _NAMES:
        text = name.sub(shown, text)
    return text


def present(error: BaseException | None) -> None:
    """Let an error, and those that it was raised for, say what they say on a GPU."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if any(isinstance(part, str) and "sim" in part for part in error.args):
            error.args = tuple(as_cuda(part) if isinstance(part, str) else part for part in error.args)
        error = error.__cause__ or error.__context__
