"""What rules declare is remembered outside of them: they are imported when needed, and one by one."""

from __future__ import annotations

import marshal
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from devlint.errors import DevlintError
from devlint.match import manifest, registry
from devlint.match.watch import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHOW = """
import sys
from devlint.commands.cli import main
status = main(sys.argv[1:])
print(*sys.modules, file=sys.stderr)
sys.exit(status)
"""
BUG = "import torch\nx = torch.ones(2)\nx.to('cpu:0')\nprint(x)\n"
CLEAN = "import torch\nx = torch.ones(2).to('cpu')\nprint(x)\n"


class Home:
    """A user's folders, and a place with code to lint."""

    def __init__(self, tmp_path: Path) -> None:
        self.cache = tmp_path / "cache"
        self.work = tmp_path / "work"
        self.work.mkdir()

    def run(self, source: str = CLEAN, *, path: str = "", status: int = 0) -> set[str]:
        """Lint a file in a process of its own; return the modules that it loaded."""
        (self.work / "a.py").write_text(source)
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        if path:
            environment["PYTHONPATH"] = path
        command = [sys.executable, "-c", SHOW, "--isolated", "a.py"]
        done = subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        return set(done.stderr.split())

    def rules(self, modules: set[str]) -> set[str]:
        return {name for name in modules if name.startswith("devlint.rules.")}

    @property
    def file(self) -> Path:
        (found,) = self.cache.glob("devlint/rules-*")
        return found


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Use a cache of this test's own; return its folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    registry.forget()
    yield tmp_path / "cache" / "devlint"
    registry.forget()


def test_a_clean_file_imports_no_rule_and_a_finding_imports_one(home: Home) -> None:
    assert home.rules(home.run())  # the first run after an installation looks at all of them
    again = home.run()
    assert not home.rules(again)
    assert "importlib.metadata" not in again
    assert home.rules(home.run(BUG, status=1)) == {"devlint.rules.discarded_move"}


def test_the_file_is_the_users_alone(home: Home) -> None:
    home.run()
    assert stat.S_IMODE(home.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.file.parent.stat().st_mode) == 0o700


def spoiled_marshal(path: Path) -> None:
    path.write_bytes(marshal.dumps(("something", "else")))


def spoiled_rules(path: Path) -> None:
    environment, files, _, *rest = marshal.loads(path.read_bytes())
    path.write_bytes(marshal.dumps((environment, files, [(1, 2, 3)], *rest)))


def spoiled_watch(path: Path) -> None:
    environment, files, rules, *rest = marshal.loads(path.read_bytes())
    bad = (*rules[-1][:5], (("fact", (), ()),), ())
    path.write_bytes(marshal.dumps((environment, files, (*rules[:-1], bad), *rest)))


def spoiled_tables(path: Path) -> None:
    environment, files, rules, _, versions = marshal.loads(path.read_bytes())
    path.write_bytes(marshal.dumps((environment, files, rules, [("acme.", "load()", 3)], versions)))


def spoiled_versions(path: Path) -> None:
    *rest, _ = marshal.loads(path.read_bytes())
    path.write_bytes(marshal.dumps((*rest, 7)))


def writable(path: Path) -> None:
    path.chmod(0o666)


def writable_folder(path: Path) -> None:
    path.parent.chmod(0o777)


def linked(path: Path) -> None:
    other = path.with_name("other")
    path.rename(other)
    path.symlink_to(other)


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\xff" * 100),
        lambda path: path.write_bytes(path.read_bytes()[:-10]),
        *(spoiled_marshal, spoiled_rules, spoiled_watch, spoiled_tables, spoiled_versions),
        *(writable, writable_folder, linked),
    ],
)
def test_what_cannot_be_trusted_is_not_used(here: Path, spoil: Callable[[Path], object]) -> None:
    expected = registry.entries()
    (path,) = here.glob("rules-*")
    manifest.forget()
    assert manifest.versions() == registry.versions()
    assert manifest._decoded(manifest._read(str(path))) is not None
    spoil(path)
    assert manifest._decoded(manifest._read(str(path))) is None
    registry.forget()
    assert registry.entries() == expected


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_no_obstacle(home: Home) -> None:
    home.cache.mkdir(mode=0o500)
    home.run(BUG, status=1)


def test_a_file_in_the_way_of_the_folder_is_no_obstacle(home: Home) -> None:
    home.cache.write_text("")
    home.run(BUG, status=1)


def test_a_folder_in_the_linted_code_is_not_used(home: Home) -> None:
    home.cache = home.work / "cache"
    home.run()
    assert not home.cache.exists()


def test_a_relative_folder_is_not_used(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", "/home/nobody-has-this")
    assert manifest.folder() != os.path.realpath("cache/devlint")


ACME = '''"""Page."""
from devlint.rule import Call, Report, Rule, call
class Acme(Rule[Call]):
    code = "ACM101"
    name = "acme-rule"
    watches = (call("acme.launch"),)
    def visit(self, node, event, ask):
        yield Report("here")
'''


def test_what_is_installed_changed_or_removed_is_noticed(home: Home, tmp_path: Path) -> None:
    site = tmp_path / "site"
    information = site / "acme-1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    source = "import acme\nacme.launch()\n"
    home.run(source, path=str(site))
    (site / "acme_rules.py").write_text(ACME)
    (information / "entry_points.txt").write_text("[devlint.rules]\nacme = acme_rules\n")
    assert "acme_rules" in home.run(source, path=str(site), status=1)
    assert "acme_rules" in home.run(source, path=str(site), status=1)
    assert "acme_rules" not in home.run(source.replace("launch", "land"), path=str(site))
    (site / "acme_rules.py").write_text(ACME.replace("launch", "land"))
    assert "acme_rules" in home.run(source.replace("launch", "land"), path=str(site), status=1)
    (information / "entry_points.txt").unlink()
    (site / "acme_rules.py").unlink()
    home.run(source, path=str(site))


def test_a_change_of_what_a_rule_shares_with_others_is_noticed(home: Home, tmp_path: Path) -> None:
    site = tmp_path / "site"
    package, information = site / "acme", site / "acme-1.dist-info"
    for folder in (package, information):
        folder.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[devlint.rules]\nacme = acme.rules\n")
    (package / "__init__.py").write_text("")
    rule = ACME.replace('"acme.launch"', "NAME").replace(
        "from devlint", "from .names import NAME\nfrom devlint"
    )
    (package / "rules.py").write_text(rule)
    for name in ("launch", "landing"):
        (package / "names.py").write_text(f'NAME = "acme.{name}"\n')
        assert "acme.rules" in home.run(f"import acme\nacme.{name}()\n", path=str(site), status=1)


def test_no_module_is_imported_that_no_entry_point_is_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    (known,) = (entry for entry in registry.entries().values() if entry.code == "DEV101")
    assert type(registry.load(known._replace(module="evil"))).__module__ == known.module
    assert registry.load(known._replace(rule="cst")).code == "DEV101"
    stranger = Entry("XYZ101", "name", "error", "evil", "Rule", (), frozenset())
    with pytest.raises(DevlintError, match="XYZ101 is not installed any more"):
        registry.load(stranger)
    assert "evil" not in sys.modules
