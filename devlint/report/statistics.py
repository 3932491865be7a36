"""The `--statistics` report: how often each rule was broken."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from ..console import escaped
from .style import applies

if TYPE_CHECKING:
    from . import Outcome


def render(outcome: Outcome) -> str:
    """Return a line for each code, the most frequent first; `[*]` where all of them can be fixed.

    As JSON it is a list of objects in ruff's shape.
    """
    counts = Counter((finding.code, finding.name) for finding in outcome.findings)
    fixable = Counter(finding.code for finding in outcome.findings if applies(finding, outcome))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    if outcome.as_json:
        rows = [
            {
                "code": code,
                "name": name,
                "count": number,
                "fixable": fixable[code] == number,
                "fixable_count": fixable[code],
            }
            for (code, name), number in ordered
        ]
        return escaped(json.dumps(rows, indent=2)) + "\n"
    width = len(str(max(counts.values(), default=0)))
    return "".join(
        f"{number:>{width}}  {code}  {'[*]' if fixable[code] == number else '[ ]'} {name}\n"
        for (code, name), number in ordered
    )
