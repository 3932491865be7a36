"""LibCST, imported on first use: its import costs more than linting a file that has no suspects.

Rules write `from .. import cst` and then `cst.Call`; type checkers see LibCST itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from libcst import *
else:

    def __getattr__(name: str) -> object:
        import libcst

        return getattr(libcst, name)
