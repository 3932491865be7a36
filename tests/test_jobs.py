"""Several processes: they find what one finds, and what goes wrong in one costs nothing of the others."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from devlint.commands.cli import main
from devlint.config.settings import Settings
from devlint.project.store import Shelf
from devlint.run import cached, pool

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAMS = Path(__file__).parents[1] / "fixtures"
FIX = ("--select", "DEV101,DEV403", "--fix", "--unsafe-fixes", "--output-format", "concise")
BROKEN = {"b_text.py": "def f(:\n", "b_book.ipynb": "{", "b_cookie.py": "# coding: nonsense\n"}


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the program in a folder of its own, and return its exit status and what it prints."""
    monkeypatch.setattr(pool, "SMALL", 0)
    monkeypatch.setattr(pool, "_LEAST", 1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main([*arguments, "."])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have processes forked, with what a test has replaced, though its own process has threads by now."""
    monkeypatch.setattr(threading, "active_count", lambda: 1)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Some of the rules' programs, projects of several files, and files that cannot be read."""
    shutil.copytree(PROGRAMS / "projects" / "circles", tmp_path / "circles")
    shutil.copy(PROGRAMS / "DEV101" / "bug.py", tmp_path / "bug.py")
    for name, text in BROKEN.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "a_link.py").symlink_to("nowhere.py")
    (tmp_path / "a_loop.py").symlink_to("a_loop.py")
    return tmp_path


@pytest.mark.parametrize("output", ["full", "sarif"])
def test_many_processes_say_what_one_says(
    programs: Path, run: Callable[..., tuple[int, str, str]], output: str
) -> None:
    said = {jobs: run("--select", "ALL", "--output-format", output, "--jobs", jobs) for jobs in ("1", "3")}
    assert said["1"] == said["3"]
    assert "DEV101" in said["1"][1]
    assert "DEV000" in said["1"][1]


def test_the_processes_did_the_work(
    forks: None, programs: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lint(*_: object) -> None:
        raise AssertionError("linted in the first process")

    first = os.getpid()
    linted = vars(cached)["lint"]
    monkeypatch.setattr(cached, "lint", lambda *given: lint() if os.getpid() == first else linted(*given))
    status, out, err = run("--jobs", "2", "-q", "--output-format", "concise")
    assert (status, err) == (1, "")
    assert "DEV101" in out


def test_fixes_are_those_of_one_process(tmp_path: Path, run: Callable[..., tuple[int, str, str]]) -> None:
    """The file that is fixed first changes what the others ask it for, and they are linted again."""
    helper = "import torch\n\n\ndef place(x: torch.Tensor):\n    x.to('cuda')\n    return x\n"
    asks = (
        "import torch\nfrom {0} import place\n\nx = place(torch.ones(4))\ny = torch.ones(4) + x\nprint(y)\n"
    )
    found = []
    for jobs in ("1", "2"):
        for name, text in {
            "m_helper.py": helper,
            "a_first.py": asks.format("m_helper"),
            "z_last.py": asks.format("m_helper"),
            "pyproject.toml": "",
        }.items():
            (tmp_path / name).write_text(text)
        said = run(*FIX, "--jobs", jobs)
        found.append((said, {path.name: path.read_text() for path in sorted(tmp_path.glob("*.py"))}))
    assert found[0] == found[1]
    assert "x = x.to" in found[0][1]["m_helper.py"]
    assert "z_last.py:5:5: DEV403" in found[0][0][1]
    assert "a_first.py" not in found[0][0][1]


def test_a_rule_that_breaks_in_another_process_is_told_of(
    forks: None, toy: None, tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text("import torch\nx.explode()\nx.to(d)\n")
    one, many = run("--jobs", "1", "-v"), run("--jobs", "3", "-v")
    assert one[:2] == many[:2]
    assert many[0] == 2
    told = "devlint: a.py:2: rule TST901 is broken: ZeroDivisionError: it exploded (and in 2 more files)"
    assert one[2].splitlines()[-1] == many[2].splitlines()[-1] == told
    assert many[2].count("Traceback") == one[2].count("Traceback") == 1


def test_what_goes_wrong_inside_costs_one_file(
    forks: None, tmp_path: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lint = vars(cached)["lint"]

    def failing(raw: bytes, path: str, *others: object) -> object:
        if path == "b.py":
            raise ZeroDivisionError("nobody thought of it")
        return lint(raw, path, *others)

    monkeypatch.setattr(cached, "lint", failing)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text("import torch\ntorch.ones(3).cuda()\n")
    status, out, err = run("--jobs", "2", "-q", "--select", "DEV201", "--output-format", "concise")
    assert status == 2
    assert err == "devlint: b.py: internal error: ZeroDivisionError: nobody thought of it (-v shows where)\n"
    assert [line.partition(":")[0] for line in out.splitlines()] == ["a.py", "c.py"]


def test_a_process_that_dies_costs_the_file_it_died_of(
    forks: None, tmp_path: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lint = vars(cached)["lint"]

    def deadly(raw: bytes, path: str, *others: object) -> object:
        if path.startswith("deadly"):
            os.kill(os.getpid(), signal.SIGKILL)
        return lint(raw, path, *others)

    monkeypatch.setattr(cached, "lint", deadly)
    names = [*(f"{letter}.py" for letter in "abcxyz"), "deadly_one.py", "deadly_two.py"]
    for name in names:
        (tmp_path / name).write_text("import torch\nx = torch.ones(3)\nx.cuda()\n")
    status, out, err = run("--jobs", "2", "-q", "--select", "DEV101", "--output-format", "concise")
    assert status == 2
    assert [line.partition(":")[0] for line in out.splitlines()] == [f"{letter}.py" for letter in "abcxyz"]
    assert err.splitlines() == [
        f"devlint: {name}: not checked: the process that linted it died" for name in sorted(names)[3:5]
    ]


def test_without_the_means_for_processes_one_does_it_all(
    programs: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> object:
        raise OSError("no semaphores here")

    expected = run("--jobs", "1")
    monkeypatch.setattr(pool, "processes", none)
    assert run("--jobs", "4") == expected


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no process is started anew")
def test_processes_that_are_started_anew(
    programs: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They import nothing of the folder that is linted, and change nothing for what is started later."""
    for name in ("multiprocessing", "concurrent", "msgspec", "threading", "sitecustomize"):
        (programs / f"{name}.py").write_text("open('imported', 'a').write(__name__)\n")
    expected = run("--jobs", "1")
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    assert run("--jobs", "2") == expected
    assert "PYTHONSAFEPATH" not in os.environ
    assert not (programs / "imported").exists()


def test_portions_hold_every_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_LEAST", 1)
    paths = []
    for number in range(40):
        path = tmp_path / f"{number:02}.py"
        path.write_text("x = 1\n" * (number * 7 % 11))
        paths.append(str(path))
    nowhere = Shelf(str(tmp_path / "nowhere"), b"", "")
    found = pool.portions(paths, lambda _: Settings(), 3, nowhere, nowhere)
    assert [path for portion in found for path in portion.paths] == paths
    assert len(found) > 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jobs = 0", "tool.devlint.jobs: expected `int` >= 1"),
        ("jobs = 'many'", "tool.devlint.jobs: expected a number, got a string"),
    ],
)
def test_a_wrong_number_in_the_configuration_is_refused(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]], text: str, message: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.devlint]\n{text}\n")
    status, _, err = run()
    assert (status, err) == (2, f"devlint: {tmp_path / 'pyproject.toml'}: {message}\n")


@pytest.mark.parametrize("number", ["0", "-1", "two", ""])
def test_a_wrong_number_on_the_command_line_is_refused(
    run: Callable[..., tuple[int, str, str]], number: str
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(f"--jobs={number}")
    assert stopped.value.code == 2


ENDLESS = """
import sys, time
from devlint.run import cached, pool
from devlint.commands.cli import main
pool.SMALL, pool._LEAST = 0, 1

def endless(raw, path, *others):
    open(f"{path}.started", "w").close()
    time.sleep(600)

cached.lint = endless
sys.exit(main(["--isolated", "--jobs", "2", "."]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize(
    ("how", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGKILL, -9)]
)
def test_no_process_is_left_behind(tmp_path: Path, how: signal.Signals, status: int) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("import torch\n")
    program = subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        cwd=tmp_path,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: len(list(tmp_path.glob("*.started"))) == 2)
    children = set(Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split())
    assert len(children) == 2
    if how is signal.SIGINT:
        os.killpg(program.pid, how)  # as a terminal does
    else:
        program.send_signal(how)
    _, err = program.communicate(timeout=30)
    assert (program.returncode, err) == (status, "")
    wait_until(lambda: not any(is_alive(child) for child in children))


def is_alive(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(300):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


@pytest.mark.parametrize("add", [False, True])
def test_the_shards_are_the_whole(
    tmp_path: Path, run: Callable[..., tuple[int, str, str]], add: bool
) -> None:
    for number in range(30):
        (tmp_path / f"m{number}.py").write_text("import torch\nx = torch.ones(3)\nx.cuda()\n")
    flags = ("--select", "DEV101", "--output-format", "concise", "-q")
    before = [run(*flags, "--shard", f"{part}/4")[1].splitlines() for part in range(1, 5)]
    assert sorted(line for part in before for line in part) == sorted(run(*flags)[1].splitlines())
    assert all(3 <= len(part) <= 13 for part in before)
    if add:
        (tmp_path / "another.py").write_text("import torch\nx = torch.ones(3)\nx.cuda()\n")
        after = [run(*flags, "--shard", f"{part}/4")[1].splitlines() for part in range(1, 5)]
        assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


def test_a_shard_of_nothing_is_clean(tmp_path: Path, run: Callable[..., tuple[int, str, str]]) -> None:
    (tmp_path / "a.py").write_text("import torch\n")
    assert {run("--shard", f"{part}/3")[::2] for part in (1, 2, 3)} == {(0, "")}


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/", "a/b", "-1/4"])
def test_a_wrong_shard_is_refused(run: Callable[..., tuple[int, str, str]], text: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(f"--shard={text}")
    assert stopped.value.code == 2


def test_a_cluster_finds_what_one_process_finds_though_a_worker_dies(
    programs: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    distributed = pytest.importorskip("distributed")
    flags = ("--select", "ALL", "--output-format", "json")
    one = run(*flags, "--jobs", "1")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        assert run(*flags, "--dask", cluster.scheduler_address) == one
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Timer(0.05, os.kill, (victim, signal.SIGKILL))
        killer.start()
        assert run(*flags, "--dask", cluster.scheduler_address) == one
        killer.join()


def test_without_a_cluster_there_is_one_message(
    run: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("import torch\n")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run("--dask", "tcp://127.0.0.1:1") == (
        2,
        "",
        "devlint: --dask needs distributed: pip install 'devlint[dask]'\n",
    )
