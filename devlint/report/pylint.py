"""The `pylint` format: `path:row: [CODE] message`, which many servers and editors parse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..console import printable
from .place import headline, in_file

if TYPE_CHECKING:
    from . import Outcome


def render(outcome: Outcome) -> str:
    """Return a line for each finding."""
    return "".join(
        f"{printable(finding.path)}:{in_file(finding).start.row}: [{finding.code}] "
        f"{printable(headline(finding))}\n"
        for finding in outcome.findings
    )
