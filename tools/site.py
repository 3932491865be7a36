"""Writes the pages of the documentation site, and builds it.

    python tools/site.py            # the pages alone, as Markdown in .cache/site/docs
    python tools/site.py --build    # and the site, in .cache/site/html: pip install -e '.[docs]'

The guides are those in docs/; a page about a rule is its docstring, its programs, what devlint says of them,
and what `devlint verify` has proven, which is in docs/proofs.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.match.registry import installed
from devlint.run.lint import lint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from devlint.finding import Finding
    from devlint.match.registry import Installed

ROOT = Path(__file__).parents[1]
SITE = ROOT / ".cache" / "site"
NAVIGATION: dict[str, str | tuple[str, ...]] = {
    "Start": "index.md",
    "Use it": (
        "configuration.md", "adoption.md", "torch-cuda.md", "ci.md", "pre-commit.md", "editors.md",
        "explain.md", "simulated.md",
    ),
    "Trust it": (
        "field-report.md", "runtime.md", "proofs.md", "proofs-cuda.md", "cuda-reports.md", "security.md",
        "comparison.md", "benchmarks.md",
    ),
    "Take part": ("contributing.md", "changelog.md"),
}  # fmt: skip
GUIDES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    **{f"docs/{path.name}": path.name for path in sorted((ROOT / "docs").glob("*.md"))},
}
"""Where each page of the repository is in the site."""
PICTURES = {f"docs/{path.name}": path.name for path in sorted((ROOT / "docs").glob("*.svg"))}
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]+)\]\((?P<to>[^)\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(?<![\w/`#])(?P<code>DEV\d{3})(?![\w/`])")
_MARK = re.compile(r"  # DEV\d{3}.*$", re.MULTILINE)
_PROOF = re.compile(r"^\| (?P<code>DEV\d{3}) \| (?P<rest>.*)$", re.MULTILINE)
_MEANS = {
    Severity.ERROR: "wrong on every accelerator",
    Severity.WARNING: "not portable, or risky",
    Severity.NOTE: "slower than needed, or right by convention alone",
}


def rules() -> list[Installed]:
    """Return devlint's own rules, in the order of codes."""
    return [rule for code, rule in installed().items() if code.startswith("DEV")]


def pages() -> dict[str, str]:
    """Return every page of the site, by its path in it."""
    addresses = {rule.code: f"rules/{rule.name}.md" for rule in rules()}
    proofs = _proofs()
    found = {}
    for source, target in GUIDES.items():
        found[target] = _guide(source, target, addresses)
    for rule in rules():
        found[addresses[rule.code]] = _rule(rule, proofs.get(rule.code, []), addresses)
    found["rules/index.md"] = _index()
    return found


def _guide(source: str, target: str, addresses: dict[str, str]) -> str:
    """Return a page of the repository with the site's links, and codes linked to their pages."""
    text = (ROOT / source).read_text(encoding="utf-8")

    def moved(match: re.Match[str]) -> str:
        to, hash_, anchor = match["to"].partition("#")
        if not to or re.match(r"[a-z]+:", to):
            return match[0]
        path = os.path.normpath(os.path.join(os.path.dirname(source), to))
        if path not in GUIDES:
            return match["text"]
        return f"[{match['text']}]({_relative(GUIDES[path], target)}{hash_}{anchor})"

    def linked(match: re.Match[str]) -> str:
        code = match["code"]
        return f"[{code}]({_relative(addresses[code], target)})" if code in addresses else code

    parts = _FENCE.split(text)
    for number in range(0, len(parts), 2):  # what is between the fenced blocks
        plain = _LINK.sub(moved, parts[number])
        if target not in ("changelog.md", "proofs.md", "proofs-cuda.md"):
            plain = "\n".join(
                line if line.startswith("#") else _in_prose(line, linked) for line in plain.split("\n")
            )
        parts[number] = plain
    wide = "---\nhide:\n  - navigation\n---\n\n" if target == "index.md" else ""
    return wide + "".join(parts)


def _in_prose(line: str, linked: object) -> str:
    """Link codes where they are in no heading, code or link."""
    if line.startswith(("    ", "#")):
        return line
    pieces = re.split(r"(`[^`]*`|\[[^\]]*\]\([^)]*\))", line)
    pieces[::2] = [_CODE.sub(linked, piece) for piece in pieces[::2]]  # type: ignore[arg-type]
    return "".join(pieces)


def _relative(target: str, page: str) -> str:
    return os.path.relpath(target, os.path.dirname(page) or ".")


def _index() -> str:
    """Return the page that lists the rules."""
    lines = [
        "# Rules\n",
        "An **error** is wrong on every accelerator, a **warning** is not portable or risky, a **note** is",
        "slower than needed or right by convention alone, and off unless its rule is selected.\n",
    ]
    groups = {"0": "Files and comments", "1": "Moves that are lost", "2": "Names of devices"}
    groups |= {
        "3": "Optimizers and wrappers",
        "4": "Things that meet on two devices",
        "5": "Workers and waiting",
    }
    for digit, title in groups.items():
        lines += [f"\n## {title}\n", "| rule | what is wrong | |", "|---|---|---|"]
        for rule in rules():
            if rule.code[3] == digit:
                summary = rule.summary.replace("|", r"\|")
                name = f'[{rule.code}]({rule.name}.md)<br><span class="name">{rule.name}</span>'
                severity = f"{rule.severity.value}{', in preview' * rule.preview}"
                lines.append(f"| {name} | {summary} | {severity} |")
    return "\n".join(lines) + "\n"


def _rule(rule: Installed, proofs: list[str], addresses: dict[str, str]) -> str:
    """Return the page about a rule."""
    title, _, page = rule.page.partition("\n")
    folder = ROOT / "fixtures" / rule.code
    found = {path.name: _found(path, rule) for path in sorted(folder.glob("bug*.py"))}
    kind = f"{rule.severity.value.capitalize()} ({_MEANS[rule.severity]})"
    parts = [
        f"---\ntitle: {rule.name}\ndescription: {json.dumps(title)}\n---\n",
        f"# {rule.name} <small>{rule.code}</small>\n",
        f"**{title}.**{{ .lead }}\n",
        f"{kind} · {rule.state} · {_fixes(found.values())}\n",
        _highlighted(page.strip()),
    ]
    if "bug.py" in found:
        parts += ["## A program that has it\n", _program(folder / "bug.py"), "```text"]
        parts += [*map(_line, found["bug.py"]), "```\n"]
    if (folder / "fixed.py").exists():
        parts += ["## The same program, cured\n", _program(folder / "fixed.py")]
    near = sorted(folder.glob("near_*.py"))
    if near:
        parts.append("## What it leaves alone\n")
        parts.append(
            "Each of these programs looks like the bug and is right; this rule says nothing about it.\n"
        )
        for path in near:
            parts.append(_folded(_title(path), _program(path)))
    others = sorted(folder.glob("bug_*.py"))
    if others:
        parts.append("## More programs that have it\n")
        for path in others:
            said = "\n".join(_line(finding) for finding in found[path.name])
            parts.append(_folded(_title(path), f"{_program(path)}\n```text\n{said}\n```\n"))
    if rule.rule is None:
        return "\n".join(parts)  # torch has no part in it
    parts.append("## Proof\n")
    if proofs:
        head = "| program | cpu | sim |\n|---|---|---|\n"
        parts.append(
            "What `devlint verify` saw when it ran these programs with torch, on the cpu and on "
            "[a simulated accelerator](../runtime.md). `bug.py:12` is the cured program with only the cure "
            "of that line taken back.\n"
        )
        parts.append(_folded(f"{len(proofs)} programs", head + "\n".join(proofs) + "\n"))
    parts.append(f"On your machine: `devlint verify {rule.code}`.\n")
    return "\n".join(parts)


def _found(path: Path, rule: Installed) -> list[Finding]:
    settings = Settings(selections=(Selection(select=(rule.code,)),), preview=True)
    return lint(path.read_bytes(), path.name, settings)


def _line(finding: Finding) -> str:
    mark = "" if finding.fix is None else "[*] " if finding.fix.safe else "[unsafe fix] "
    row, column = finding.start
    return f"{finding.path}:{row}:{column}: {finding.severity.value} {finding.code} {mark}{finding.message}"


def _fixes(found: Iterable[list[Finding]]) -> str:
    safe = {item.fix.safe for items in found for item in items if item.fix is not None}
    if not safe:
        return "no fix"
    return "fix, sometimes unsafe" if len(safe) > 1 else "safe fix" if True in safe else "unsafe fix"


def _title(path: Path) -> str:
    """Return what a program is about: the first line of its docstring."""
    match = re.match(r'"""(.+?)(?:"""|\n)', path.read_text(encoding="utf-8"))
    return (match[1] if match else path.stem.replace("_", " ")).replace('"', "'")


def _program(path: Path) -> str:
    return f'```python title="{path.name}"\n{path.read_text(encoding="utf-8").strip()}\n```\n'


def _folded(title: str, text: str) -> str:
    body = "".join(f"    {line}\n" if line else "\n" for line in text.rstrip("\n").split("\n"))
    return f'??? example "{title}"\n\n{body}'


def _highlighted(page: str) -> str:
    """Return a docstring with its indented blocks as Python."""
    lines: list[str] = []
    block: list[str] = []

    def close() -> None:
        if block:
            text = "\n".join(line[4:] for line in block).strip("\n")
            lines.extend(["```python", text, "```", ""])
            block.clear()

    for line in page.split("\n"):
        if (line.startswith("    ") and (block or not lines or not lines[-1])) or (block and not line):
            block.append(line)
        else:
            close()
            lines.append(line)
    close()
    return "\n".join(lines) + "\n"


def _proofs() -> dict[str, list[str]]:
    """Return the rows of docs/proofs.md by rule, without the rule."""
    found: dict[str, list[str]] = {}
    for match in _PROOF.finditer((ROOT / "docs/proofs.md").read_text(encoding="utf-8")):
        found.setdefault(match["code"], []).append(f"| {match['rest']}")
    return found


def navigation(names: Iterable[str]) -> str:
    """Return the site's navigation, as mkdocs reads it; pages that it does not name come last."""
    left = set(names)
    lines = ["nav:"]

    def add(title: str, below: Iterable[str]) -> None:
        lines.append(f"  - {title}:")
        for name in below:
            lines.append(f"      - {name}")
            left.discard(name)

    for title, below in NAVIGATION.items():
        if isinstance(below, str):
            lines.append(f"  - {title}: {below}")
            left.discard(below)
            add("Rules", ["rules/index.md", *(f"rules/{rule.name}.md" for rule in rules())])
        else:
            add(title, [name for name in below if name in left])
    if left:
        add("More", sorted(left))
    return "\n".join(lines) + "\n"


def write(folder: Path = SITE) -> None:
    """Write the pages and the configuration of mkdocs, in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    found = pages()
    for name, text in found.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for source, target in PICTURES.items():
        shutil.copy(ROOT / source, folder / "docs" / target)
    shutil.copytree(ROOT / "tools" / "theme", folder / "docs" / "theme")
    configuration = (ROOT / "tools" / "mkdocs.yml").read_text(encoding="utf-8")
    (folder / "mkdocs.yml").write_text(f"{configuration}\n{navigation(found)}", encoding="utf-8")


def main() -> int:
    """Write the pages, and build the site if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--build", action="store_true", help="build the site too, with mkdocs")
    build = parser.parse_args().build
    write()
    if not build:
        return 0
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    return subprocess.run(command, cwd=SITE, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
