"""Lint whole packages with devlint, count what it says, and lay every finding out for reading.

usage: python benchmarks/field.py FOLDER... [--json FILE] [--sheet FILE] [--verdicts FILE]

The Markdown tables go to standard output: findings per package and thousand lines, and per rule. The
sheet shows each finding with the lines around it under a key made of package, path, code and source
line, so that a judgement survives edits elsewhere in the file. A verdicts file has one finding a line,
`KEY true|false REASON`; what it judges is counted in the tables and left out of the sheet.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corpus import count_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTEXT = 4
"""Lines shown before and after a finding."""
SEVERITIES = ("error", "warning", "note")


class Found(NamedTuple):
    """A finding, its place in its package, and the key that a verdict names it by."""

    package: str
    path: str
    row: int
    end_row: int
    code: str
    name: str
    severity: str
    message: str
    key: str


class Package(NamedTuple):
    """A linted folder; where devlint failed on one of its files, the others count all the same."""

    name: str
    lines: int
    findings: list[Found]
    failed: bool


def read(file: Path) -> list[str]:
    """Return the lines of a source file as Python counts them, whatever its encoding."""
    text = file.read_bytes().decode("utf-8", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def lint(folder: Path, python: str, arguments: list[str]) -> Package:
    """Run devlint over one folder, as a project of its own."""
    command = [python, "-m", "devlint", "check", "--isolated", "--no-cache", "--output-format", "json"]
    done = subprocess.run([*command, *arguments, str(folder)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        print(f"devlint: exit code {done.returncode} on {folder}:\n{done.stderr}", file=sys.stderr)
    findings = []
    seen: Counter[str] = Counter()
    for item in json.loads(done.stdout or "[]"):
        file, row = Path(item["filename"]), item["location"]["row"]
        path = file.relative_to(folder).as_posix()
        lines = read(file)
        text = lines[row - 1].strip() if row <= len(lines) else ""
        place = "\n".join((folder.name, path, item["code"], text))
        seen[place] += 1
        key = sha256(f"{place}\n{seen[place]}".encode()).hexdigest()[:10]
        said = (item["code"], item["name"], item["severity"], item["message"])
        findings.append(Found(folder.name, path, row, item["end_location"]["row"], *said, key))
    return Package(folder.name, count_lines(folder), findings, done.returncode not in (0, 1))


def verdicts(file: Path | None) -> dict[str, bool]:
    """Read which findings were judged true or false."""
    judged = {}
    for line in file.read_text().splitlines() if file else ():
        if line and not line.startswith("#"):
            key, verdict, *_ = line.split(maxsplit=2)
            if verdict not in ("true", "false"):
                sys.exit(f"{file}: neither true nor false: {line}")
            judged[key] = verdict == "true"
    return judged


def table(head: list[str], rows: list[list[object]]) -> str:
    """Return a Markdown table."""
    parts: list[Sequence[object]] = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, part))} |" for part in parts)


def summary(packages: list[Package], judged: dict[str, bool]) -> str:
    """Return the tables: a row per package, then a row per rule."""

    def counts(name: str, lines: int, findings: list[Found]) -> list[object]:
        by = Counter(found.severity for found in findings)
        density = f"{1000 * len(findings) / lines:.2f}" if lines else ""
        return [name, f"{lines:,}", *(by[severity] for severity in SEVERITIES), density]

    everything = [found for package in packages for found in package.findings]
    total = sum(package.lines for package in packages)
    by_package = [counts(*package[:3]) for package in packages]
    by_package.append(counts("**all**", total, everything))
    by_rule: list[list[object]] = []
    for code, name, severity in sorted({(found.code, found.name, found.severity) for found in everything}):
        mine = [found for found in everything if (found.code, found.severity) == (code, severity)]
        where = Counter(found.package for found in mine)
        true = sum(judged.get(found.key) is True for found in mine)
        false = sum(judged.get(found.key) is False for found in mine)
        each = [where[package.name] or "" for package in packages]
        density = f"{1000 * len(mine) / total:.3f}" if total else ""
        by_rule.append([f"{code} {name}", severity, *each, len(mine), density, true, false])
    names = [package.name for package in packages]
    return "\n\n".join(
        (
            table(
                ["package", "lines", *(f"{severity}s" for severity in SEVERITIES), "per 1,000"], by_package
            ),
            table(["rule", "severity", *names, "all", "per 1,000", "judged true", "judged false"], by_rule),
        )
    )


def sheet(folders: list[Path], packages: list[Package], judged: dict[str, bool]) -> str:
    """Return every finding not judged yet, with the source around it."""
    parts = []
    for folder, package in zip(folders, packages, strict=True):
        for found in package.findings:
            if found.key in judged:
                continue
            lines = read(folder / found.path)
            first = max(found.row - CONTEXT, 1)
            last = min(found.end_row + CONTEXT, len(lines))
            code = "\n".join(
                f"{'>' if found.row <= row <= found.end_row else ' '} {row:5} {lines[row - 1]}"
                for row in range(first, last + 1)
            )
            title = f"{found.key} {found.code} {found.name} ({found.severity})"
            parts.append(f"== {title}\n{found.package}/{found.path}:{found.row}\n{found.message}\n\n{code}\n")
    return "\n".join(parts)


def main() -> int:
    """Read the command line, lint, and write what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="each is linted by itself")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write packages, counts and findings")
    parser.add_argument(
        "--sheet", type=Path, metavar="FILE", help="write the findings not judged yet, to read"
    )
    parser.add_argument("--verdicts", type=Path, metavar="FILE", help="read judgements, one a line")
    parser.add_argument("--severity", choices=SEVERITIES, action="append", help="keep only these")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has devlint")
    parser.add_argument("--args", default="", help="more arguments for devlint, such as '--select ALL'")
    options = parser.parse_args()
    if missing := [str(folder) for folder in options.folders if not folder.is_dir()]:
        parser.error(f"no such folder: {', '.join(missing)}")
    folders = [folder.resolve() for folder in options.folders]
    packages = [lint(folder, options.python, shlex.split(options.args)) for folder in folders]
    if options.severity:
        packages = [
            package._replace(
                findings=[found for found in package.findings if found.severity in options.severity]
            )
            for package in packages
        ]
    judged = verdicts(options.verdicts)
    print(summary(packages, judged))
    if options.json:
        data = [
            {
                "package": package.name,
                "lines": package.lines,
                "counts": Counter(
                    f"{found.code} {found.name} {found.severity}" for found in package.findings
                ),
                "findings": [
                    found._asdict() | {"verdict": judged.get(found.key)} for found in package.findings
                ],
            }
            for package in packages
        ]
        options.json.write_text(json.dumps(data, indent=1) + "\n")
    if options.sheet:
        options.sheet.write_text(sheet(folders, packages, judged))
    return 2 if any(package.failed for package in packages) else 0


if __name__ == "__main__":
    sys.exit(main())
