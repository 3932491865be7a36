"""The `--statistics` report: how often each rule was broken."""

from __future__ import annotations

import json
import os.path
from collections import Counter
from typing import TYPE_CHECKING

from ..console import escaped, printable
from .style import applies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from . import Outcome


def render(outcome: Outcome) -> str:
    """Return a line for each code, the most frequent first; `[*]` where all of them can be fixed.

    As JSON it is a list of objects in ruff's shape. Of several trees, each has its count.
    """
    trees = {os.path.abspath(tree): tree for tree in outcome.trees}
    apart = Counter((finding.code, _tree(finding.path, trees)) for finding in outcome.findings)
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
                **({"paths": {tree: apart[code, tree] for tree in trees.values()}} if trees else {}),
            }
            for (code, name), number in ordered
        ]
        return escaped(json.dumps(rows, indent=2)) + "\n"
    width = len(str(max(counts.values(), default=0)))
    lines = []
    for (code, name), number in ordered:
        mark = "[*]" if fixable[code] == number else "[ ]"
        counted = [f"{printable(tree)} {apart[code, tree]}" for tree in trees.values() if apart[code, tree]]
        where = f" ({', '.join(counted)})" if counted else ""
        lines.append(f"{number:>{width}}  {code}  {mark} {name}{where}\n")
    return "".join(lines)


def _tree(path: str, trees: Mapping[str, str]) -> str:
    """Return the innermost of the trees that a file is in."""
    above = os.path.abspath(path)
    while above not in trees and above != os.path.dirname(above):
        above = os.path.dirname(above)
    return trees.get(above, "")
