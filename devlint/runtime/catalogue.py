"""Which programs have to be run: those in `fixtures/` of every installed rule, with what the rule claims."""

from __future__ import annotations

import contextlib
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..claim import Claim, Observes, Raises
from ..errors import DevlintError
from ..match.registry import installed, meant
from .pairs import apart, foreign, marked_rows, taken_back

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..match.registry import Installed


class Case(NamedTuple):
    """One program to run and the claim about it."""

    code: str
    program: str
    """How it is called in the report."""
    path: str
    source: str
    claim: Claim
    cured: bool
    undone: bool = False
    """Whether it is a cured program in which one cure was taken back."""
    marked: Sequence[int] = ()
    """The lines of the program that its rule must report."""
    foreign: Sequence[int] = ()
    """The lines that are none of the cured program's: an error that is raised there proves nothing."""
    devices: int = 1
    """How many devices it is run on, where they can be simulated."""


class Unproven(NamedTuple):
    """Why a rule, or one of its programs, cannot be put to the proof."""

    code: str
    program: str
    reason: str


def find_fixtures() -> Path:
    """Where the programs of devlint's own rules are: an installed package's archive, a checkout's folder."""
    package, checkout = Path(__file__).parents[1:3]
    archive, folder = package / "fixtures.zip", checkout / "fixtures"
    found = archive if archive.is_file() else folder
    if not (found is archive or folder.is_dir()):
        raise DevlintError(
            f"the programs that prove the rules are missing: neither {archive} nor {folder} is there"
        )
    return found


@contextlib.contextmanager
def unpacked(place: Path) -> Iterator[Path]:
    """Give the folder of the programs: the place itself, or for a while what is in the archive."""
    if place.is_dir():
        yield place
        return
    with tempfile.TemporaryDirectory(prefix="devlint-") as folder:
        with zipfile.ZipFile(place) as archive:
            archive.extractall(folder)
        yield Path(folder)


def chosen(names: Sequence[str]) -> list[Installed]:
    """The rules that these codes, prefixes or names mean, or all; what devlint itself reports included."""
    return sorted(meant(names) if names else installed().values(), key=lambda rule: rule.code)


def cases(names: Sequence[str], fixtures: Path) -> tuple[list[Case], list[Unproven]]:
    """The programs of the rules that are meant, or of all, in the order of codes."""
    found: list[Case] = []
    unproven: list[Unproven] = []
    fixtures = fixtures.absolute()  # programs run in folders of their own
    for code, _, _, _, rule in chosen(names):
        if rule is None:
            continue
        claim = getattr(rule, "claim", None)
        if not isinstance(claim, Claim):
            unproven.append(Unproven(code, "", "the rule declares no claim"))
            continue
        for item in programs(code, claim, fixtures / code):
            (found if isinstance(item, Case) else unproven).append(item)  # type: ignore[arg-type]
    return found, unproven


def programs(code: str, claim: Claim, folder: Path) -> Iterator[Case | Unproven]:
    """The programs in the folder of a rule: `bug.py` with `fixed.py`, `bug_x.py` with `fixed_x.py`."""
    names = [path.stem.removeprefix("bug").removeprefix("_") for path in sorted(folder.glob("bug*.py"))]
    if "" not in names:
        yield Unproven(code, "bug.py", f"there is no {folder.name}/bug.py")
    for name in claim.programs:
        if name not in names:
            yield Unproven(code, f"bug_{name}.py", "the rule claims something about it, but there is none")
    for name in names:
        ending = f"_{name}.py" if name else ".py"
        bug, fixed = folder / f"bug{ending}", folder / f"fixed{ending}"
        if not fixed.is_file():
            yield Unproven(code, bug.name, f"there is no {fixed.name}")
            continue
        yield from pair(code, claim.of(name), bug, fixed)


def pair(code: str, claim: Claim, bug: Path, fixed: Path) -> Iterator[Case | Unproven]:
    """A program with the bug, the cured one, and the cured one with each single cure taken back."""
    wrong, right = bug.read_text(encoding="utf-8"), fixed.read_text(encoding="utf-8")
    if reason := apart(wrong, right, code):
        yield Unproven(code, bug.name, reason)
        return
    devices = int(claim.needs.partition(" x")[2]) if claim.simulable else 1

    def case(name: str, path: Path, source: str, *, cured: bool = False, undone: bool = False) -> Case:
        marked = marked_rows(source, code)
        strange = [] if cured else foreign(source, right, code)
        return Case(code, name, str(path), source, claim, cured, undone, marked, strange, devices)

    yield case(bug.name, bug, wrong)
    yield case(fixed.name, fixed, right, cured=True)
    here = not claim.needs or claim.simulable
    if here:
        for line, source in taken_back(wrong, right, code):
            yield case(f"{bug.name}:{line}", fixed, source, undone=True)


def expressions(case: Case) -> list[str]:
    """What has to be evaluated after the program ran."""
    outcomes = (case.claim.bug, case.claim.cpu)
    return sorted({o.expression for o in outcomes if isinstance(o, Observes)})


def concerns(case: Case, device: str) -> bool:
    """Whether there is anything to learn from the case on this device."""
    outcome = case.claim.outcome(cured=case.cured, accelerator=device != "cpu")
    return not case.undone or isinstance(outcome, (Raises, Observes))
