"""Which lines have changed since a git revision, by git's own word."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

from ..errors import DevlintError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..finding import Finding

_HUNK = re.compile(rb"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
# A repository's own configuration names programs for git to run, and may be as little trusted as its code.
_HARMLESS = (
    *("--no-pager", "--no-optional-locks"),  # without locks, the index is not written, which runs a hook
    *("-c", "core.fsmonitor=", "-c", f"core.hooksPath={os.devnull}", "-c", "safe.bareRepository=explicit"),
)
_NO_PROTOCOL = {"GIT_ALLOW_PROTOCOL": "none"}
"""What a partial clone lacks is not fetched: that starts programs too."""
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


class Changes:
    """What the working tree has that the common ancestor of HEAD and a revision has not."""

    def __init__(self, revision: str, path: str = os.curdir) -> None:
        """Ask git in the current folder, or, where that is in no repository, in that of a path.

        Raises DevlintError where it has no answer.
        """
        self._variables = {**os.environ, **_NO_PROTOCOL}
        where = ("rev-parse", "--show-toplevel")
        asked = self._run(*where)
        if asked.returncode != 0:
            folder = path if os.path.isdir(path) else os.path.dirname(path)
            asked = self._run(*where, folder=folder)
        self._root = os.fsdecode(self._said(asked, where).rstrip(b"\n"))
        self._switch_filters_off()
        commit = f"{revision}^{{commit}}"
        self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", commit, about=revision)
        base = self._ask("merge-base", revision, "HEAD", about=revision).split()[0].decode()
        self._tracked = {self._path(name) for name in self._ask("ls-files", "-z").split(b"\0") if name}
        self._rows = self._parsed(
            self._ask(
                *(
                    "diff",
                    "--unified=0",
                    "--inter-hunk-context=0",
                    "--find-renames",
                    "--ignore-submodules",
                    "--no-color",
                    "--no-ext-diff",
                ),
                *("--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", base, "--"),
            )
        )

    def include(self, path: str) -> bool:
        """Whether any line of the file is new; all of a file that git does not know is."""
        key = _real(path)
        return key not in self._tracked or key in self._rows

    def touch(self, finding: Finding) -> bool:
        """Whether a line of the finding, or of the statement that holds it, is new."""
        key = _real(finding.path)
        if key not in self._tracked:
            return True
        rows = self._rows.get(key, ())
        if finding.cell is not None:  # its rows are not those of the file
            return bool(rows)
        last = max(finding.end.row, finding.noqa_row)
        return any(row.start <= last and finding.start.row < row.stop for row in rows)

    def _parsed(self, diff: bytes) -> dict[str, list[range]]:
        found: dict[str, list[range]] = {}
        rows: list[range] = []
        for line in diff.split(b"\n"):
            if line.startswith(b"diff --git "):
                rows = []
            elif line.startswith(b"+++ ") and line != b"+++ /dev/null" and not rows:
                found[self._path(_unquoted(line[4:])[2:])] = rows
            elif match := _HUNK.match(line):
                first, count = int(match[1]), int(match[2] or 1)
                first += (
                    not count
                )  # rows went from below this one: what holds both sides of the gap has changed
                rows.append(range(first, first + count))
        return found

    def _switch_filters_off(self) -> None:
        """Have git compare files as they are: a `filter` in .gitattributes is a configured program."""
        listing = (
            "config",
            "--null",
            "--name-only",
            "--get-regexp",
            r"^filter\..*\.(clean|process|required)$",
        )
        found = self._run(*listing, folder=self._root)
        if found.returncode == 1:  # there is none
            return
        variables = self._variables
        count = int(variables.get("GIT_CONFIG_COUNT") or 0)
        for key in sorted(set(filter(None, os.fsdecode(self._said(found, listing)).split("\0")))):
            variables[f"GIT_CONFIG_KEY_{count}"] = key
            variables[f"GIT_CONFIG_VALUE_{count}"] = "false" if key.endswith(".required") else ""
            count += 1
        variables["GIT_CONFIG_COUNT"] = str(count)

    def _ask(self, *arguments: str, about: str = "") -> bytes:
        return self._said(self._run(*arguments, folder=self._root), arguments, about)

    def _run(self, *arguments: str, folder: str = "") -> subprocess.CompletedProcess[bytes]:
        command = ["git", *_HARMLESS, *(("-C", folder) if folder else ()), *arguments]
        try:
            return subprocess.run(command, env=self._variables, capture_output=True, check=False)
        except OSError as error:
            raise DevlintError(f"--diff-base: cannot run git: {error.strerror}") from error

    def _said(
        self, run: subprocess.CompletedProcess[bytes], arguments: Sequence[str], about: str = ""
    ) -> bytes:
        """Return what git printed, or raise with what it complained of."""
        if run.returncode == 0:
            return run.stdout
        said = run.stderr.decode(errors="replace").strip().splitlines()
        if about and arguments[0] == "merge-base" and not said:
            why = f"{about!r} and HEAD have no common ancestor (a shallow clone? fetch all of the history)"
        elif about and not said:
            why = f"git knows no revision {about!r}"
        else:
            why = said[-1].removeprefix("fatal: ") if said else f"git {arguments[0]} failed"
        raise DevlintError(f"--diff-base: {why}")

    def _path(self, name: bytes) -> str:
        return _real(os.path.join(self._root, os.fsdecode(name)))


def _real(path: str) -> str:
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _unquoted(name: bytes) -> bytes:
    """Return a path as it is: git quotes odd ones, and ends one that has a space in it with a tab."""
    if not name.startswith(b'"'):
        return name.removesuffix(b"\t")
    return _ESCAPE.sub(
        lambda match: bytes([int(match[1], 8)]) if len(match[1]) == 3 else _ESCAPES.get(match[1], match[1]),
        name.rstrip(b"\t")[1:-1],
    )
