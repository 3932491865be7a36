"""A file of old findings: what it lists is not reported, and what it lists without need is."""

from __future__ import annotations

import json
import os.path
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..errors import DevlintError
from ..run import output
from ..source.plain import read_named
from .fingerprint import Anchor, anchors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..finding import Finding

_VERSION = 1
_KEY = "devlint-baseline"


class Baseline:
    """The findings that a file lists, by what stays the same about them while code around them changes."""

    def __init__(self, path: str, entries: Iterable[Anchor]) -> None:
        """Take the file and what it lists; paths are relative to its folder."""
        self.path = path
        self._entries = Counter(entries)
        self._base = os.path.dirname(os.path.abspath(path))

    def split(
        self, findings: Sequence[Finding], sources: Mapping[str, str]
    ) -> tuple[list[Finding], Counter[Anchor]]:
        """Return the findings that are not listed, and the entries that were not found."""
        left = self._entries.copy()
        new = []
        for finding, anchor in zip(findings, anchors(findings, sources, self._base), strict=True):
            if left[anchor] > 0:
                left[anchor] -= 1
            else:
                new.append(finding)
        return new, +left

    def file_of(self, anchor: Anchor) -> str:
        """Return the path of the file that an entry is about."""
        return os.path.join(self._base, anchor.path)

    def write(
        self, findings: Sequence[Finding], sources: Mapping[str, str], seen: Callable[[Anchor], bool]
    ) -> tuple[int, int]:
        """List these findings, and keep the entries about what was not `seen` this time.

        Returns how many entries are new and how many are gone.
        """
        kept = Counter({entry: n for entry, n in self._entries.items() if not seen(entry)})
        kept |= Counter(anchors(findings, sources, self._base))
        new, gone = (kept - self._entries).total(), (self._entries - kept).total()
        self._list(kept)
        return new, gone

    def prune(self, gone: Counter[Anchor]) -> None:
        """Take entries out, and leave the file alone where there are none."""
        if gone:
            self._list(self._entries - gone)

    def _list(self, kept: Counter[Anchor]) -> None:
        entries = [_entry(anchor) for anchor in sorted(kept.elements())]
        lines = ",\n    ".join(json.dumps(entry, ensure_ascii=True) for entry in entries)
        listed = f"[\n    {lines}\n  ]" if lines else "[]"
        text = f'{{\n  "{_KEY}": {_VERSION},\n  "findings": {listed}\n}}\n'
        output.write(self.path, text.encode())
        self._entries = kept


def read(path: str, *, required: bool) -> Baseline:
    """Return the baseline in a file; one that is not `required` may be absent.

    Raises DevlintError where the file is none.
    """
    try:
        data = json.loads(read_named(path))
    except FileNotFoundError:
        if required:
            raise DevlintError(f"no such baseline: {path} (--write-baseline makes it)") from None
        return Baseline(path, ())
    except OSError as error:
        raise DevlintError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DevlintError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(data, dict) or _KEY not in data:
        raise DevlintError(f"{path}: not a baseline of devlint")
    if data[_KEY] != _VERSION:
        raise DevlintError(
            f"{path}: a baseline of version {data[_KEY]}, and this devlint reads version {_VERSION}: "
            "write it anew with --write-baseline, after removing it"
        )
    entries = data.get("findings")
    try:
        if not isinstance(entries, list):
            raise TypeError
        return Baseline(path, [_anchor(entry) for entry in entries])
    except (TypeError, KeyError):
        raise DevlintError(f"{path}: damaged: `findings` is not a list of findings") from None


def described(anchor: Anchor) -> str:
    """Return an entry as a line for people."""
    where = f" in {anchor.scope}" if anchor.scope else ""
    return f"{anchor.path}: {anchor.code}{where}: {anchor.line}"


def _entry(anchor: Anchor) -> dict[str, str]:
    return {"path": anchor.path, "code": anchor.code, "in": anchor.scope, "line": anchor.line}


def _anchor(entry: Any) -> Anchor:
    anchor = Anchor(entry["path"], entry["code"], entry["in"], entry["line"])
    if not all(isinstance(part, str) for part in anchor):
        raise TypeError
    return anchor
