"""Knowledge that other packages bring: what their rows make of a program, and what is wrong with rows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devlint import knowledge
from devlint.core.events import Call, Literal_, Meeting
from devlint.infer import infer
from devlint.knowledge import Row, Table

ROWS = """
    load(path, size, *, target)
    read(path): place=cpu
    mix(one, other, where): place=operands host=where
    Net(size, *, target): gives=module
    feed(path): gives=loader
    press.*(image): gives=None place= topics=sends
    """
TABLE = Table("acme.", Row("tensor", "device", devices=("target",)), ROWS)


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    knowledge.provide((TABLE,))
    yield
    knowledge.provide(())


def test_what_rows_give() -> None:
    text = (
        "import acme\n"
        "reveal_device(acme.load('a', target='cuda'))\n"
        "reveal_device(acme.load('a'))\n"
        "net = acme.Net(3, target='cuda:1')\n"
        "reveal_device(net)\n"
        "for batch in acme.feed('a'):\n"
        "    reveal_device(batch)\n"
    )
    assert infer(text).reveals == (
        (2, "tensor on cuda"),
        (3, "tensor on cpu"),
        (5, "module on cuda:1"),
        (7, "batch on cpu"),
    )


def test_what_rows_leave_on_the_host_meets_nothing() -> None:
    text = (
        "import acme\n"
        "x = acme.load('a', target='cuda')\n"
        "acme.mix(x, x, acme.read('b'))\n"
        "acme.mix(x, acme.read('b'), x)\n"
    )
    assert [event.at.span.line for event in infer(text).events if isinstance(event, Meeting)] == [4]


def test_what_rows_name_is_told() -> None:
    events = infer("import acme\nacme.press.ink(acme.load('a', target='cuda'))\n").events
    assert [event.text for event in events if isinstance(event, Literal_)] == ["cuda"]
    (sent,) = [event for event in events if isinstance(event, Call) and "sends" in event.topics]
    assert sent.callee == "acme.press.ink"
    assert list(sent.given) == ["image"]


def test_a_file_without_torch_is_read() -> None:
    from devlint.core.watches import literal, meeting, move
    from devlint.match.watch import words
    from devlint.source import sift

    for watch, text in ((literal(), b"acme.load(target='cuda')"), (move("to"), b"acme.load('a').to(d)")):
        assert sift.matters(text, frozenset({words(watch)}))
    assert not sift.matters(b"other.load(target='cuda')", frozenset({words(meeting())}))


def test_what_devlint_knows_itself_stays() -> None:
    mine = Table("", Row("None"), "numpy.packbits(a) transformers.pipeline(task) tqdm.tqdm(iterable)")
    before = {name: knowledge.find(name) for name in ("transformers.pipeline", "tqdm.tqdm", "numpy.ones")}
    knowledge.provide((mine,))
    assert {name: knowledge.find(name) for name in before} == before
    packed = knowledge.find("numpy.packbits")  # of which devlint knows only that it is one of `numpy.*`
    assert packed is not None
    assert packed.gives == "None"
    knowledge.provide(())
    assert knowledge.find("numpy.packbits") != packed


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (None, "`TABLES` must be a tuple of tables"),
        ((), "`TABLES` must be a tuple of tables"),
        (("acme.load",), "a table is `Table(prefix, Row(…), text)`, not 'acme.load'"),
        ((Table("acme.", Row(gives=3), "load(path)"),), "a table is"),  # type: ignore[arg-type]
        ((Table("acme.", Row(topics=("a",)), "load(path)"),), "a table is"),  # type: ignore[arg-type]
        (
            (Table("acme.", Row(), "load"),),
            "the table of 'acme.' has no rows, or something that is none: 'load'",
        ),
        ((Table("acme.", Row(), "load(path) )"),), "something that is none: ')'"),
        ((Table("acme.", Row(), ""),), "the table of 'acme.' has no rows"),
        ((Table("", Row(), "load(path)"),), "the row of `load`: a name is dotted"),
        ((Table("*.", Row(), "load(path)"),), "the row of `*.load`: a name is dotted"),
        ((Table("torch.", Row(), "zeros(size)"),), "the row of `torch.zeros`: what torch and its objects do"),
        ((Table("Tensor.", Row(), "press()"),), "the row of `Tensor.press`: what torch and its objects do"),
        ((Table("acme.", Row(), "load(path): colour=red"),), "a row has no column 'colour'"),
        (
            (Table("acme.", Row("tensors"), "load(path)"),),
            "it cannot give 'tensors': there are 0-dim tensor, ",
        ),
        ((Table("acme.", Row("tensor", "gpu"), "load(path)"),), "there is no place 'gpu': there are cpu, "),
        ((Table("acme.", Row(by="os.system"), "load(path)"),), "`by` names code of devlint's own"),
        ((Table("acme.", Row(), "load(path): devices=device"),), "its signature has no parameter device"),
        ((TABLE,), ""),
    ],
)
def test_what_is_wrong_with_rows(tables: object, said: str) -> None:
    complaint = knowledge.complaint(tables)
    assert said in complaint
    assert bool(said) == bool(complaint)


# As it is installed

PACKAGE = """
from devlint.knowledge import Row, Table

TABLES = (Table("press.", Row("tensor", "device", devices=("on",)), "render(scene, *, on) blend(a, b)"),)
"""
BUG = "import press\n\nprint(press.render('a', on='cuda:0'))\n"


class Site:
    """A folder with an installed package that brings knowledge, and something to lint."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache, self.work = folder / "site", folder / "cache", folder / "work"
        self.work.mkdir(parents=True)
        (self.work / "a.py").write_text(BUG)
        info = self.folder / "press_devlint-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: press-devlint\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[devlint.knowledge]\npress = press_devlint.rows\n")
        (self.folder / "press_devlint").mkdir()
        (self.folder / "press_devlint" / "__init__.py").write_text("")
        self.rows(PACKAGE)

    def rows(self, text: str) -> None:
        (self.folder / "press_devlint" / "rows.py").write_text(text)

    def run(self, *arguments: str) -> tuple[int, list[str], str]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "XDG_CACHE_HOME": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "devlint", *(arguments or ("--isolated", "-q", "a.py"))]
        if not arguments:
            command += ["--output-format", "concise"]
        done = subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


FOUND = ["a.py:3:28: DEV202 `cuda:0` is fixed here, whatever the machine has"]


def test_it_is_found_and_kept_in_the_manifest(site: Site) -> None:
    assert site.run() == (1, FOUND, "")
    (site.folder / "press_devlint" / "rows.py").touch()
    assert site.run() == (1, FOUND, "")


def test_the_manifest_notices_that_it_changes(site: Site) -> None:
    assert site.run()[1] == FOUND
    assert site.run()[1] == FOUND  # from the manifest
    site.rows(PACKAGE.replace("press.", "pulp."))
    assert site.run() == (0, [], "")
    site.rows(PACKAGE)
    assert site.run()[1] == FOUND


def test_what_is_broken_costs_only_itself(site: Site) -> None:
    (site.work / "b.py").write_text("import torch\n\nprint(torch.ones(2).to('cuda:0'))\n")
    for rows, said in (
        ("import nonsense\n", "ModuleNotFoundError: No module named 'nonsense'"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("", "`TABLES` must be a tuple of tables, such as "),
        (PACKAGE.replace('"device", ', '"moon", '), "the row of `press.render`: there is no place 'moon'"),
    ):
        site.rows(rows)
        for _ in range(2):  # it is told each time, not only when the manifest is made
            status, out, err = site.run("--isolated", "-q", ".", "--output-format", "concise")
            assert status == 2
            assert [line.partition(":")[0] for line in out] == ["b.py"]
            assert len(err.splitlines()) == 1
            assert err.startswith(
                f"devlint: cannot use the knowledge in press_devlint.rows (from press-devlint): {said}"
            )


def test_rows_are_proven_where_the_package_is_installed(site: Site) -> None:
    pytest.importorskip("torch")
    (site.folder / "press.py").write_text(
        "import torch\n\n\ndef render(scene, *, on='cpu'):\n    return torch.ones(2, device=on)\n\n\n"
        "def blend(a, b):\n    return a.cpu()\n"
    )
    site.rows(
        PACKAGE.replace("render(scene, *, on)", "render(scene, *, on): probe=('a',on='cuda')").replace(
            "blend(a, b)",
            "blend(a, b): place=first probe=(x,x) lost(a)",
        )
    )
    command = "from devlint.runtime import evidence; import sys; sys.argv[1:] = ['device', '0', '1']\n"
    command += "from devlint.runtime.evidence import rows as every\n"
    command += "evidence.rows = lambda: [r for r in every() if r[0].startswith('press.')]\nevidence.main()"
    environment = {**os.environ, "PYTHONPATH": str(site.folder), "XDG_CACHE_HOME": str(site.cache)}
    done = subprocess.run(
        [sys.executable, "-c", command], env=environment, capture_output=True, text=True, check=True
    )
    verdicts = [line for line in done.stdout.splitlines() if line.count(",") > 1]
    assert "proven" in verdicts[0], done.stdout
    assert "its result is on cpu" in verdicts[1]
    assert "there is no such thing" in verdicts[2]
