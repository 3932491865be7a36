"""The `json-lines` format: what `json` has, one object a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..console import escaped
from .json import as_object

if TYPE_CHECKING:
    from . import Outcome


def render(outcome: Outcome) -> str:
    """Return a line for each finding."""
    return "".join(escaped(json.dumps(as_object(finding))) + "\n" for finding in outcome.findings)
