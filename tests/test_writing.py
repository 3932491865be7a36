"""How files are written: with their owner, mode, attributes and names, and whole whatever happens."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from devlint.commands.cli import main

if TYPE_CHECKING:
    from pathlib import Path

BAD = "import torch\nx.to(d)\n"
FIXED = "import torch\nx = x.to(d)\n"
REAL = "import torch\nx = torch.ones(2)\nx.cuda()\nprint(x)\n"
KILLED = """
import os, signal, sys
import devlint.run.output
from devlint.commands.cli import main
from devlint.match import registry
registry.entries()  # so that it is a.py that is written, not what is known of the rules
function, number = sys.argv[1], int(sys.argv[2])
real = getattr(os, function)
def killed(*arguments, **named):
    os.kill(os.getpid(), number)
    return real(*arguments, **named)
setattr(os, function, killed)
sys.exit(main(["--isolated", "--fix", "a.py"]))
"""


@pytest.fixture(autouse=True)
def here(toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(BAD)
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def unnamed_files_work(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except (AttributeError, OSError):
        return False
    return os.path.exists("/proc/self/fd")


@pytest.mark.parametrize("named", [False, True])
def test_a_file_is_replaced_whole(here: Path, monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    if named:  # as on a system without unnamed files
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    (here / "a.py").chmod(0o640)
    before = (here / "a.py").stat()
    with (here / "a.py").open() as old:
        assert main(["--fix", "-q"]) == 0
        assert old.read() == BAD  # whoever reads it meanwhile has the old text
    after = (here / "a.py").stat()
    assert (here / "a.py").read_text() == FIXED
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert names(here) == {"a.py"}


def test_the_other_names_of_a_file_show_the_same(here: Path) -> None:
    os.link("a.py", "other.txt")
    (here / "link.py").symlink_to("a.py")
    assert main(["--fix", "-q", "link.py"]) == 0
    assert (here / "other.txt").read_text() == FIXED
    assert (here / "link.py").is_symlink()
    assert os.path.samefile("a.py", "other.txt")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(here: Path) -> None:
    os.chown("a.py", 65534, 65533)
    (here / "a.py").chmod(0o4751)
    assert main(["--fix", "-q"]) == 0
    status = (here / "a.py").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (65534, 65533, 0o4751)
    assert (here / "a.py").read_text() == FIXED


def test_a_file_whose_owner_cannot_be_given_is_written_in_place(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = os.fstat

    def fstat(handle: int) -> object:  # a new file belongs to somebody else
        status = list(whole(handle))
        status[stat.ST_UID] += 1
        return os.stat_result(status)

    def chown(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "fstat", fstat)
    monkeypatch.setattr(os, "chown", chown)
    inode = (here / "a.py").stat().st_ino
    assert main(["--fix", "-q"]) == 0
    assert (here / "a.py").read_text() == FIXED
    assert (here / "a.py").stat().st_ino == inode
    assert names(here) == {"a.py"}


def test_attributes_stay(here: Path) -> None:
    try:
        os.setxattr("a.py", "user.note", b"kept")
    except (AttributeError, OSError):
        pytest.skip("there are no extended attributes")
    assert main(["--fix", "-q"]) == 0
    assert (here / "a.py").read_text() == FIXED
    assert os.getxattr("a.py", "user.note") == b"kept"


@pytest.mark.parametrize("longer", [False, True])
def test_a_folder_that_takes_no_new_files(here: Path, monkeypatch: pytest.MonkeyPatch, longer: bool) -> None:
    whole = os.open

    def guarded(path: object, flags: int, *more: int) -> int:
        if flags & (os.O_CREAT | getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY):
            raise PermissionError(errno.EACCES, "Permission denied")
        return whole(path, flags, *more)  # type: ignore[arg-type]

    text = BAD if longer else "import torch\nx.to(d)  # noqa: TST101\n" * 9 + "x.to(d)\n"
    (here / "a.py").write_text(text)
    monkeypatch.setattr(os, "open", guarded)
    assert main(["--fix", "-q"]) == 0
    assert (here / "a.py").read_text() == text[:-8] + "x = x.to(d)\n"


def test_in_place_a_full_disk_keeps_the_old_text(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    os.link("a.py", "other.txt")
    whole = os.write
    full = True

    def write(handle: int, data: bytes) -> int:
        nonlocal full
        if full:
            full = False
            whole(handle, data[:9])
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(handle, data)

    monkeypatch.setattr(os, "write", write)
    assert main(["--fix", "-q", "a.py"]) == 2
    assert capsys.readouterr().err == "devlint: cannot fix a.py: No space left on device\n"
    assert (here / "a.py").read_text() == BAD


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("function", "linked"), [("fsync", False), ("replace", False), ("write", True)])
def test_a_signal_waits_until_the_file_is_whole(
    here: Path, function: str, linked: bool, number: signal.Signals
) -> None:
    (here / "a.py").write_text(REAL)
    if linked:  # so that it is written in place
        os.link("a.py", "b.txt")
    command = [sys.executable, "-c", KILLED, function, str(int(number))]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == -number
    assert (here / "a.py").read_text() == REAL.replace("x.cuda", "x = x.cuda")
    assert names(here) <= {"a.py", "b.txt"}


def test_a_kill_leaves_nothing_behind(here: Path) -> None:
    if not unnamed_files_work(here):
        pytest.skip("the file system has no unnamed files")
    (here / "a.py").write_text(REAL)
    command = [sys.executable, "-c", KILLED, "fsync", str(int(signal.SIGKILL))]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert (here / "a.py").read_text() == REAL
    assert names(here) == {"a.py"}
