"""Fixes: minimal edits, several rounds, nothing else touched, files replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from devlint.config.settings import Settings
from devlint.errors import DevlintError
from devlint.finding import Edit, Finding, Fix, Position, Severity
from devlint.run import fix as fix_module
from devlint.run.fix import diff, fix, write

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("toy")


def fixed(source: bytes, unsafe: bool = False) -> bytes:
    result = fix(source, "a.py", Settings(), unsafe).raw
    assert fix(result, "a.py", Settings(), unsafe).raw == result, "fixing twice changes something"
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x.to(d)\n", b"x = x.to(d)\n"),
        (b"x.to(d)", b"x = x.to(d)"),
        (b"if a:\r\n\tx.to( d )  # kept\r\n\tb = 1\r\n", b"if a:\r\n\tx = x.to( d )  # kept\r\n\tb = 1\r\n"),
        (b"a ;  x.to(d);y.to (d)\n", b"a ;  x = x.to(d);y = y.to (d)\n"),
        (b"for x in y: x.to(d)\n", b"for x in y: x = x.to(d)\n"),
        (b"x.y[ 0 ].to(\n  d, # why\n)\n", b"x.y[ 0 ] = x.y[ 0 ].to(\n  d, # why\n)\n"),
        (b"\x0cx.to(d)\n\x0cif a:\n  x.to(d)\n", b"\x0cx = x.to(d)\n\x0cif a:\n  x = x.to(d)\n"),
        (b"s = '''\n\x0c\r\n'''\nx.to(d)\n", b"s = '''\n\x0c\r\n'''\nx = x.to(d)\n"),
        (b"if a:\n  pass\nelif b: x.to(d)\n", b"if a:\n  pass\nelif b: x = x.to(d)\n"),
        (b"x.to(d)\rx.to(e)\r", b"x.to(d)\rx.to(e)\r"),  # LibCST does not give this text back
    ],
)
@pytest.mark.parametrize(
    "head", [b"import torch\n", b"\xef\xbb\xbfimport torch\n", b"# coding: latin-1\nimport torch # \xe9\n"]
)
def test_only_the_edit_changes(before: bytes, after: bytes, head: bytes) -> None:
    assert fixed(head + before) == head + after


def test_unsafe_fixes_only_on_request() -> None:
    source = b"import torch\nx.cuda()\n"
    assert fixed(source) == source
    assert fixed(source, unsafe=True) == b"import torch\nx = x.cuda()\n"


def finding(fix: Fix) -> Finding:
    return Finding("a.py", Position(1, 1), Position(1, 2), "X", "x", Severity.ERROR, "", "", fix, 1)


def edit(start: int, end: int, content: str) -> Edit:
    return Edit(Position(1, start), Position(1, end), content)


def test_overlapping_fixes_take_several_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def lint(raw: bytes, *_: object) -> list[Finding]:
        if b"a" not in raw:
            return []
        place = raw.index(b"a") + 1
        return [finding(Fix("", (edit(place, place + 1, "b"),), True))] * 2

    monkeypatch.setattr(fix_module, "lint", lint)
    result = fix(b"aaa", "a.py", Settings())
    assert (result.raw, len(result.applied), result.remaining) == (b"bbb", 3, [])


def test_fixes_that_fight_end(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {b"a": "b", b"b": "a"}
    monkeypatch.setattr(
        fix_module, "lint", lambda raw, *_: [finding(Fix("", (edit(1, 2, other[raw]),), True))]
    )
    assert fix(b"a", "a.py", Settings()).raw in (b"a", b"b")


def test_a_fix_that_spoils_the_file_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = finding(Fix("", (edit(1, 2, "("),), True)), finding(Fix("", (edit(3, 4, "c"),), True))
    monkeypatch.setattr(fix_module, "lint", lambda raw, *_: [bad, good] if raw == b"a;b" else [bad])
    result = fix(b"a;b", "a.py", Settings())
    assert (result.raw, result.applied, result.remaining) == (b"a;c", (good,), [bad])


def test_a_cure_that_the_encoding_lacks_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fix_module, "lint", lambda *_: [finding(Fix("", (edit(1, 2, "\u03b1"),), True))])
    source = b"a # coding: latin-1\n"
    assert fix(b"# coding: latin-1\n" + source, "a.py", Settings()).applied == ()


def test_writing_keeps_mode_and_links(tmp_path: Path) -> None:
    file, link = tmp_path / "a.py", tmp_path / "link.py"
    file.write_bytes(b"old")
    file.chmod(0o750)
    link.symlink_to(file)
    write(str(link), b"old", b"new")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode), link.is_symlink()) == (b"new", 0o750, True)
    assert sorted(os.listdir(tmp_path)) == ["a.py", "link.py"]


def test_a_read_only_file_is_an_error_and_no_loss(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    file.chmod(0o444)
    with pytest.raises(DevlintError, match="read-only"):
        write(str(file), b"old", b"new")
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a.py"])


def test_a_failing_disk_is_an_error_and_no_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "a.py"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(DevlintError, match="No space left"):
        write(str(file), b"old", b"new")
    assert (file.read_bytes(), os.listdir(tmp_path)) == (b"old", ["a.py"])


def test_a_file_that_changed_meanwhile_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"newer")
    with pytest.raises(DevlintError, match="meanwhile"):
        write(str(file), b"old", b"new")
    assert file.read_bytes() == b"newer"


def test_a_diff_is_one_that_patch_reads() -> None:
    assert diff("a.py", b"a\r\nb", b"a\r\nc") == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n a\r\n"
        "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )
