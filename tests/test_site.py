"""The documentation site: every rule has its page, with programs and proofs, and no link leads nowhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\((?![a-z]+:|#)(?P<page>[^)#\s]*)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def site() -> Any:
    specification = importlib.util.spec_from_file_location("site_tool", ROOT / "tools" / "site.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(site: Any) -> dict[str, str]:
    found: dict[str, str] = site.pages()
    return found


def test_every_rule_has_a_page_with_its_programs_and_proofs(site: Any, pages: dict[str, str]) -> None:
    for rule in site.rules():
        page = pages[f"rules/{rule.name}.md"]
        assert f"# {rule.name} <small>{rule.code}</small>" in page
        assert rule.summary in page
        assert f"({rule.name}.md)" in pages["rules/index.md"]
        if rule.rule is None:
            continue
        program = (ROOT / "fixtures" / rule.code / "bug.py").read_text()
        assert program.strip() in page
        assert re.search(rf"^bug\.py:\d+:\d+: (error|warning|note) {rule.code} ", page, re.MULTILINE), (
            rule.code
        )
        assert "## What it leaves alone" in page, rule.code
        assert re.search(r"^    \| `bug\.py` \| ", page, re.MULTILINE), f"{rule.code} has no proof"


def test_what_is_left_alone_is_shown_whole(site: Any, pages: dict[str, str]) -> None:
    for rule in site.rules():
        page = pages[f"rules/{rule.name}.md"]
        for path in (ROOT / "fixtures" / rule.code).glob("near_*.py"):
            assert f'title="{path.name}"' in page


def test_links_lead_to_pages(site: Any, pages: dict[str, str]) -> None:
    targets = {*pages, *site.PICTURES.values()}
    for name, text in pages.items():
        prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
        for match in LINK.finditer(prose):
            target = os.path.normpath(os.path.join(os.path.dirname(name), match["page"]))
            assert target in targets, f"{name} links to {match['page']}"


def test_every_page_is_in_the_navigation_once(site: Any, pages: dict[str, str]) -> None:
    listed = re.findall(r"\S+\.md$", site.navigation(pages), re.MULTILINE)
    assert sorted(listed) == sorted(pages)


def test_a_codes_first_mention_leads_to_its_rule(pages: dict[str, str]) -> None:
    assert "[DEV401](rules/batch-not-moved.md)" in pages["index.md"]
    assert "`# noqa: DEV101`" in pages["index.md"]  # code stays code


def test_the_site_builds_without_a_warning(site: Any, tmp_path: Path) -> None:
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    site.write(tmp_path / "site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=tmp_path / "site", env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "site/html/rules/discarded-move/index.html").read_text()
    assert "language-python" in page
