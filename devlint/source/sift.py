"""Decides from a file's bytes alone whether the rules that are on could have anything to say about it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

Words = frozenset[tuple[str, str]]
"""Pairs of a kind of word and the word."""

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


@lru_cache(maxsize=64)
def _sieves(wanted: frozenset[Words]) -> tuple[_Sieve, ...]:
    """Compile what rules watch for, those of the same libraries as one."""
    by_heads: dict[Words, Words] = {}
    for words in wanted:
        heads = frozenset(each for each in words if each[0] == "head")
        by_heads[heads] = by_heads.get(heads, frozenset()) | words
    return tuple(map(_sieve, by_heads.values()))


def _sieve(words: Words) -> _Sieve:
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


def matters(raw: bytes, wanted: frozenset[Words]) -> bool:
    """Whether the file mentions what a rule is about, and anything that the same rule watches for.

    `wanted` has the words of each rule: one that is about numpy has no say in what another wants of torch.
    """
    return any(
        sieve.heads.search(raw) is not None and any(trigger.search(raw) for trigger in sieve.triggers)
        for sieve in _sieves(wanted)
    )


# `noqa` counts where it names one of devlint's codes: `DEV`, `DEV1`, `DEV101`, but no `DEVICE`.
_SUPPRESSION = re.compile(rb"#\s*devlint\s*:|[nN][oO][qQ][aA]\b[^\r\n]*\bDEV(?:[0-9]|\b)")


def suppresses(raw: bytes) -> bool:
    """Whether there may be a comment that is meant for devlint alone."""
    return (b"devlint" in raw or b"DEV" in raw) and _SUPPRESSION.search(raw) is not None
