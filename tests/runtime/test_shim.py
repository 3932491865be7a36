"""What torch before 2.10 lacks for the simulation is compiled once, kept safely, and works."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it is not compiled on Windows")

LIKE_OLDER = "import sys, torch; del torch._C._acc"
"""Makes a torch that has what is compiled for others one that has not."""
WORKER = "sys.argv = ['worker', 'sim']; from devlint.runtime.worker import main; main()"
PROGRAM = """
import gc, io, torch
from torch import nn

model = nn.Linear(4, 2).to("cuda")
loss = model(torch.ones(3, 4, device="cuda")).sum()
loss.backward()
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
loaded = torch.load(file, map_location="cuda")
same = all(torch.equal(value, loaded[name]) for name, value in model.state_dict().items())
grown = torch.ones(2, device="cuda")
view = grown[:1]
grown.resize_(1000).fill_(3)
second = torch.ones(2, device="cuda:1")
try:
    second + grown[:2]
except RuntimeError as error:
    apart = "same device" in str(error)

kept = torch.full((1000,), 5.0, device="cuda")
cycle = [kept.untyped_storage()]
cycle.append(cycle)
del cycle
gc.collect()
others = [torch.zeros(1000) for _ in range(50)]
"""
VALUES = {
    "loss.device.type": "'cuda'",
    "same": "True",
    "view.tolist()": "[3.0]",
    "str(second.device), apart": "('cuda:1', True)",
    "kept.sum().item()": "5000.0",
}


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that writes what stands in `output`, and a line to `runs`; nothing is kept so far."""
    folder = tmp_path / "compiler"
    folder.mkdir()
    (folder / "output").write_text("a library")
    command = folder / "compile"
    command.write_text(
        f'#!/bin/sh\necho run >> "{folder}/runs"\n'
        f'while [ "$1" != -o ]; do shift; done\ncat "{folder}/output" > "$2"\n'
    )
    command.chmod(0o755)
    monkeypatch.setenv("CXX", f"{command} -pipe")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    return folder


@pytest.fixture
def load(
    torch_installed: None, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], tuple[str, list[Path], list[str]]]:
    """Prepare as a process would that has not: what is wrong, what was loaded, and what was told."""
    import torch

    from devlint.runtime import shim

    def prepare() -> tuple[str, list[Path], list[str]]:
        files: list[Path] = []
        told: list[str] = []
        monkeypatch.setattr(shim, "loaded", False)
        monkeypatch.setattr(torch.ops, "load_library", lambda path: _read(Path(path), files), raising=False)
        return shim.prepare(told.append), files, told

    return prepare


def _read(path: Path, files: list[Path]) -> None:
    if path.read_text() != "a library":
        raise OSError("no library")
    files.append(path)


def runs(compiler: Path) -> int:
    return len((compiler / "runs").read_text().splitlines())


def test_it_is_compiled_once_and_works(torch_installed: None, tmp_path: Path) -> None:
    job = {"path": "p.py", "source": PROGRAM, "setup": "", "expressions": list(VALUES), "devices": 2}
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for told in (["compiling what torch"], []):
        done = subprocess.run(
            [sys.executable, "-c", f"{LIKE_OLDER}; {WORKER}"],
            capture_output=True,
            text=True,
            input=json.dumps([job]),
            env=environment,
            check=True,
        )
        *doing, about, outcome = map(json.loads, done.stdout.splitlines())
        assert [line["doing"][:20] for line in doing] == told
        assert about["name"] == "sim", about
        assert outcome == {"status": "ran", "values": VALUES}
    (folder,) = (tmp_path / "devlint").iterdir()
    assert {path.name for path in folder.iterdir()} == {"shim.so", "shim.so.sha256"}


def test_what_is_kept_is_used_again(compiler: Path, load: Callable[[], Any]) -> None:
    problem, (first,), told = load()
    assert (problem, len(told)) == ("", 1)
    assert load() == ("", [first], [])
    assert runs(compiler) == 1


@pytest.mark.parametrize("harm", ["cut", "gone", "a file", "others write"])
def test_what_is_broken_is_compiled_anew(compiler: Path, load: Callable[[], Any], harm: str) -> None:
    _, (library,), _ = load()
    if harm == "cut":
        library.write_text("a lib")
    elif harm == "gone":
        library.unlink()
    elif harm == "others write":
        library.chmod(0o777)
    else:
        library.parent.rename(library.parent.with_name("aside"))
        library.parent.write_text("")
    problem, files, told = load()
    assert (problem, files, len(told)) == ("", [library], 1)
    assert load() == ("", [library], [])


def test_a_library_that_does_not_load_is_compiled_anew_once(compiler: Path, load: Callable[[], Any]) -> None:
    (compiler / "output").write_text("another machine's")
    assert "cannot be loaded: no library" in load()[0]
    (compiler / "output").write_text("a library")
    assert load()[0] == ""
    assert load()[2] == []


def test_a_folder_that_others_can_write_is_not_used(
    compiler: Path, load: Callable[[], Any], tmp_path: Path
) -> None:
    folder = tmp_path / "cache" / "devlint"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    problem, (library,), (said,) = load()
    assert problem == ""
    assert "cannot be kept" in said
    assert not library.is_relative_to(folder)
    assert not list(folder.iterdir())


def test_two_at_once(
    compiler: Path, load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from devlint.runtime import shim

    both, found, compile_ = threading.Barrier(2), [], shim._compile

    def compile_together(*args: Any) -> None:
        compile_(*args)
        both.wait(60)

    monkeypatch.setattr(shim, "_compile", compile_together)
    threads = [threading.Thread(target=lambda: found.append(load())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (folder,) = (tmp_path / "cache" / "devlint").iterdir()
    assert [problem for problem, _, _ in found] == ["", ""]
    assert shim._is_sound(folder)


@pytest.mark.parametrize("harm", ["no compiler", "not this one", "an error", "no room"])
def test_why_it_cannot_be_compiled(
    compiler: Path, load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, harm: str
) -> None:
    if harm == "no compiler":
        monkeypatch.delenv("CXX")
        monkeypatch.setenv("PATH", str(tmp_path))
    elif harm == "not this one":
        monkeypatch.setenv("CXX", "acme-c++ -O2")
    elif harm == "an error":
        (compiler / "compile").write_text(
            "#!/bin/sh\necho 'In file x:\nx.h:1: fatal error: no y.h\n1 error' >&2; exit 1\n"
        )
    else:
        (compiler / "compile").write_text("#!/bin/sh\nexit 0\n")
    problem, files, _ = load()
    wanted = {
        "no compiler": "takes a C++ compiler, and there is none (apt-get install g++",
        "not this one": "takes a C++ compiler, and CXX=acme-c++ -O2 is not there",
        "an error": "cannot compile what it lacks: x.h:1: fatal error: no y.h",
        "no room": "cannot be compiled",
    }
    assert wanted[harm] in problem
    assert "\n" not in problem
    assert files == []
    assert not list((tmp_path / "cache" / "devlint").iterdir())


DOORS = {
    "run": ("from devlint.commands.cli import main; sys.exit(main(['run', 'a.py']))", 2),
    "pytest": ("import pytest; sys.exit(pytest.main(['--devlint-sim', 'a.py']))", 4),
    "verify": (WORKER, 0),
    "notebook": ("from devlint.runtime import following; following.install(1, None, False)", 1),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_tells_that_there_is_no_compiler(torch_installed: None, tmp_path: Path, door: str) -> None:
    (tmp_path / "a.py").write_text("raise SystemExit('it was run')\n")
    code, status = DOORS[door]
    environment = {key: value for key, value in os.environ.items() if key != "CXX"}
    environment |= {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", f"{LIKE_OLDER}; {code}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        input="[]",
    )
    said = done.stdout + done.stderr
    assert "cannot simulate a device: what it lacks takes a C++ compiler, and there is none" in said
    assert "it was run" not in said
    assert done.returncode == status
    if door != "notebook":  # which catches it
        assert "Traceback" not in said


def test_pytest_shows_that_something_is_compiled(
    torch_installed: None, tmp_path: Path, compiler: Path
) -> None:
    """Otherwise it would wait for half a minute, and keep what it says for itself."""
    (tmp_path / "a.py").write_text("def test_(): pass\n")
    done = subprocess.run(
        [sys.executable, "-c", f"{LIKE_OLDER}; {DOORS['pytest'][0]}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "devlint: compiling what torch" in done.stderr
    assert done.returncode == 4  # this compiler makes no library


def test_proofs_of_knowledge_tell_that_there_is_no_compiler(
    torch_installed: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """They come from a process whose stderr nobody sees."""
    from devlint.runtime import knowledge

    start = "from devlint.runtime.evidence import main; sys.exit(main())"
    older = [sys.executable, "-c", f"{LIKE_OLDER}; {start}"]
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **given: popen([*older, *command[3:]], **given))
    monkeypatch.setenv("CXX", "acme-c++")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert knowledge.judge(("device",)) == []
    assert "not called on sim: torch" in capsys.readouterr().err
