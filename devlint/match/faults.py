"""What keeps installed rules and knowledge from being used, as far as any have been loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..errors import DevlintError

RULES: list[DevlintError] = []
"""What is wrong with rules."""
KNOWLEDGE: list[DevlintError] = []
"""What is wrong with the knowledge that packages bring."""


def unusable() -> tuple[DevlintError, ...]:
    """Return what keeps rules from being used, as far as rules have been loaded; loads none."""
    return (*RULES, *KNOWLEDGE)
