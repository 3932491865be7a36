"""Decides from a file's bytes alone whether the rules that are on could have anything to say about it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

# What is thrown away stands on a line that neither assigns nor returns. A line inside a longer expression may
# match as well, which costs a look and no more. The indentation must match whole: given back a space at a
# time, it defeats the rest and takes quadratic time on a long blank line.
_STATEMENT = (
    rb"^[ \t]*(?![ \t])(?!(?:return|if|elif|while|for|assert|yield|raise|with|del)\b)"
    rb"(?![\w.\[\]]+[ ]*=[^=])[^\n#]*\.(?:%b)\s*\("
)


class _Sieve(NamedTuple):
    """Patterns on bytes: a thousandth of what inferring costs; half the lines of most packages stop here."""

    heads: re.Pattern[bytes]
    triggers: tuple[re.Pattern[bytes], ...]


@lru_cache(maxsize=256)
def _sieve(words: frozenset[tuple[str, str]]) -> _Sieve:
    """Compile the words that rules watch for; `match.watch.words` says what kinds there are."""

    def of(kind: str) -> bytes:
        return b"|".join(re.escape(word).encode() for found, word in sorted(words) if found == kind)

    patterns = []
    if methods := of("method"):
        patterns.append(rb"\.(?:%b)\s*\(" % methods)
    if texts := of("text"):
        patterns.append(rb"['\"](?:%b)\b" % texts)
    if names := of("name"):
        patterns.append(rb"\b(?:%b)\b" % names)
    if starts := of("start"):
        patterns.append(rb"\b(?:%b)" % starts)
    triggers = [re.compile(b"|".join(patterns))] if patterns else []
    if statements := of("statement"):
        triggers.append(re.compile(_STATEMENT % statements, re.MULTILINE))
    if ("any", "") in words:
        triggers = [re.compile(b"")]
    return _Sieve(re.compile(of("head")), tuple(triggers))


def matters(raw: bytes, words: frozenset[tuple[str, str]]) -> bool:
    """Whether the file mentions what rules are about, and anything that they watch for."""
    if not words:
        return False
    sieve = _sieve(words)
    return sieve.heads.search(raw) is not None and any(trigger.search(raw) for trigger in sieve.triggers)


# `noqa` counts where it names one of devlint's codes: `DEV`, `DEV1`, `DEV101`, but no `DEVICE`.
_SUPPRESSION = re.compile(rb"#\s*devlint\s*:|[nN][oO][qQ][aA]\b[^\r\n]*\bDEV(?:[0-9]|\b)")


def suppresses(raw: bytes) -> bool:
    """Whether there may be a comment that is meant for devlint alone."""
    return (b"devlint" in raw or b"DEV" in raw) and _SUPPRESSION.search(raw) is not None
