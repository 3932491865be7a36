"""Writes the tables of rules in README.md and docs/comparison.md.

    python benchmarks/tables.py

The rules say the first two themselves; the third is read off what is found in their programs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.match.registry import installed
from devlint.run.lint import lint

if TYPE_CHECKING:
    from devlint.match.registry import Installed

ROOT = Path(__file__).parents[1]
HEAD = "| code | name | severity | fix |\n|---|---|---|---|\n"
BOTH = "safe where nothing that works can break"
OFF = ", off by default"
COUNT = re.compile(r"^(\| rules about devices \| )\d+ ", re.MULTILINE)


def own() -> list[Installed]:
    """Return devlint's own rules, in the order of codes."""
    return [rule for code, rule in installed().items() if code.startswith("DEV")]


def row(rule: Installed) -> str:
    """Return a rule's row of the table."""
    settings = Settings(selections=(Selection(select=(rule.code,)),), preview=True)
    programs = sorted((ROOT / "fixtures" / rule.code).glob("bug*.py"))
    found = [item for path in programs for item in lint(path.read_bytes(), str(path), settings)]
    severities = [rule.severity, *sorted({item.severity for item in found} - {rule.severity})]
    fixes = {"safe" if item.fix.safe else "unsafe" for item in found if item.fix is not None}
    fix = BOTH if len(fixes) > 1 else "".join(fixes)
    severity = " or ".join(each.value for each in severities)
    if rule.severity is Severity.NOTE:
        severity += OFF
    if rule.preview:
        severity += ", in preview"
    first = rule.summary.partition(" ")[0]
    start = first.lower() if first.istitle() else first  # `CUDA` and `DataParallel` stay as they are
    summary = (start + rule.summary[len(first) :]).replace("|", r"\|")
    return f"| {rule.code} | {rule.name}: {summary} | {severity} | {fix} |\n".replace("|  |", "| |")


def pages() -> dict[Path, str]:
    """Return the pages that have tables, as they should be."""
    readme, comparison = ROOT / "README.md", ROOT / "docs" / "comparison.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(HEAD)
    after = re.sub(r"\A(?:\|.*\n)*", "", rest)
    about = sum(rule.rule is not None for rule in own())
    return {
        readme: f"{before}{HEAD}{''.join(map(row, own()))}{after}",
        comparison: COUNT.sub(rf"\g<1>{about} ", comparison.read_text(encoding="utf-8")),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
