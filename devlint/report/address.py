"""Where the pages of rules are published: what pyproject.toml says, and nowhere until it says so."""

from __future__ import annotations

from functools import lru_cache

_LABEL = "documentation"


def page(code: str, name: str) -> str | None:
    """Return the address of the page of one of devlint's own rules."""
    root = _root() if code.startswith("DEV") else None
    return f"{root}/rules/{name}/" if root else None


@lru_cache(maxsize=1)
def _root() -> str | None:
    """Return the address that the distribution has under `project.urls`, as Documentation."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls = metadata("devlint").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    for label, _, url in (each.partition(",") for each in urls):
        if label.strip().lower() == _LABEL:
            return str(url).strip().rstrip("/")
    return None
