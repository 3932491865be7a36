"""Which programs have to be run: those in `fixtures/` of every installed rule, with what the rule claims."""

from __future__ import annotations

import contextlib
import difflib
import re
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..claim import Claim, Observes, Raises
from ..errors import DevlintError
from ..match.registry import installed, meant
from .reached import statement

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
    if here and not isinstance(claim.bug, Observes) and not isinstance(claim.cpu, Observes):
        for line, source in taken_back(wrong, right, code):
            yield case(f"{bug.name}:{line}", fixed, source, undone=True)


def apart(bug: str, fixed: str, code: str) -> str:
    """Why a pair is no bug and its cure: nothing is marked, nothing is cured, or most of it is gone."""
    mark = _mark(code)
    wrong, right = [mark.sub("", line) for line in bug.splitlines()], fixed.splitlines()
    marked = {line for row in marked_rows(bug, code) for line in statement(bug, row)}
    if not marked:
        return f"no line of it is marked: `# {code}`"
    if wrong == right:
        return "the cured program is the same"
    rest = Counter(line.strip() for row, line in enumerate(wrong, 1) if row not in marked and _does(line))
    kept = rest & Counter(map(str.strip, right))
    if kept.total() * 2 < rest.total():
        return "the cured program is another: most of what is not marked is missing"
    return ""


def foreign(bug: str, fixed: str, code: str) -> list[int]:
    """The lines of a program with a bug that are neither marked nor in the cured one: no bug shows there."""
    mark = _mark(code)
    marked = {line for row in marked_rows(bug, code) for line in statement(bug, row)}
    have = [line.strip() for line in fixed.splitlines()]
    wrong = [mark.sub("", line).strip() for line in bug.splitlines()]
    rows = [row for row, line in enumerate(wrong, 1) if row not in marked and _does(line)]
    # A cure may change a line that is not marked, such as a call: it still looks like it then.
    new = [line for line in have if line not in wrong]
    lost = [row for row in rows if wrong[row - 1] not in have]
    return [row for row in lost if not difflib.get_close_matches(wrong[row - 1], new, n=1)]


def _does(line: str) -> bool:
    """Whether a line is part of what a program does."""
    return bool(line.strip()) and not line.strip().startswith(("#", "import ", "from ", '"""'))


def _mark(code: str) -> re.Pattern[str]:
    return re.compile(rf"\s*# .*\b{code}\b.*")


def marked_rows(source: str, code: str) -> list[int]:
    """The lines of a program that are marked with a code."""
    mark = _mark(code)
    return [row for row, line in enumerate(source.splitlines(), 1) if mark.search(line)]


def taken_back(bug: str, fixed: str, code: str) -> Iterator[tuple[int, str]]:
    """The cured program with one marked bug restored, and that bug's line.

    A program with several bugs stops at the first; only this shows that every one of them is a bug.
    """
    wrong, right = bug.splitlines(keepends=True), fixed.splitlines(keepends=True)
    opcodes = difflib.SequenceMatcher(None, wrong, right, autojunk=False).get_opcodes()
    changes = [change for change in opcodes if change[0] != "equal"]
    marked = [change for change in changes if any(map(_mark(code).search, wrong[change[1] : change[2]]))]
    if len(marked) < 2:
        return  # that is the bug itself
    # A cure may take more than the marked line: what else changed belongs to the nearest one.
    owners = [min(marked, key=lambda m: abs(m[1] - change[1])) for change in changes]
    for cure in marked:
        lines = right.copy()
        for change, owner in reversed(list(zip(changes, owners, strict=True))):
            if owner is cure:
                lines[change[3] : change[4]] = wrong[change[1] : change[2]]
        yield cure[1] + 1, "".join(lines)


def expressions(case: Case) -> list[str]:
    """What has to be evaluated after the program ran."""
    outcomes = (case.claim.bug, case.claim.cpu)
    return sorted({o.expression for o in outcomes if isinstance(o, Observes)})


def concerns(case: Case, device: str) -> bool:
    """Whether there is anything to learn from the case on this device."""
    outcome = case.claim.outcome(cured=case.cured, accelerator=device != "cpu")
    return not case.undone or isinstance(outcome, Raises)
