"""Tests rules by programs that are marked with what must be found in them; for packages that bring rules.

A rule's programs are in a folder named after its code. `bug*.py` have a mark on each line that must
be reported, `fixed*.py` is what becomes of `bug*.py`, `near_*.py` only looks like it.

    FOLDER = Path(__file__).parent / "fixtures"  # holds ACM101/bug.py, ACM101/fixed.py, ...

    @pytest.mark.parametrize("program", programs(FOLDER), ids=str)
    def test_program(program: Path) -> None:
        check(program)

    def test_claims() -> None:  # runs the programs with torch: pip install torch numpy
        prove(FOLDER, "ACM101")
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .config.settings import Selection, Settings
from .run.fix import fix
from .run.lint import lint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .runtime.proof import Proof

_MARK = re.compile(r"  # (?P<marks>[A-Z]{1,3}\d{3}\b[^\n]*)$", re.MULTILINE)
_ITEM = re.compile(
    r"(?P<code>[A-Z]{1,3}\d{3})(?: (?P<severity>error|warning|note))?(?P<fix> unfixed| unsafe)?"
)


class Mark(NamedTuple):
    """What must be reported on one line: `# ACM101`, `# ACM101 warning`, `# ACM101 unfixed, ACM102`."""

    row: int
    code: str
    severity: str | None
    unfixed: bool
    """Whether there must be no fix, though the rule has some."""
    unsafe: bool = False
    """Whether its fix must be unsafe: `# ACM101 unsafe`."""


def programs(folder: Path) -> list[Path]:
    """Return the programs of all rules, `folder/CODE/*.py`, in the order of their names."""
    return sorted(
        path for path in folder.glob("*/*.py") if re.fullmatch(r"[A-Z]{1,3}\d{3}", path.parent.name)
    )


def marks(program: Path) -> list[Mark]:
    """Return the marks of a program, in order."""
    found = []
    for row, line in enumerate(program.read_text(encoding="utf-8").split("\n"), 1):
        mark = _MARK.search(line)
        for text in mark["marks"].split(", ") if mark else ():
            item = _ITEM.fullmatch(text)
            if item is None:
                raise AssertionError(f"{program}:{row}: `{text}` is no mark")
            found.append(
                Mark(row, item["code"], item["severity"], item["fix"] == " unfixed", item["fix"] == " unsafe")
            )
    return found


def unmarked(text: str) -> str:
    """Return a program's text without its marks."""
    return _MARK.sub("", text)


def check(program: Path) -> None:
    """Raise AssertionError unless a program is what its name and its marks say.

    The rule that its folder is named after must find what is marked and nothing else, and where it has a fix
    for everything in `bug*.py`, all fixes together must make `fixed*.py` of it, byte for byte.
    """
    code = program.parent.name
    settings = Settings(selections=(Selection(select=(code,)),), preview=True)
    wanted = [mark for mark in marks(program) if mark.code == code]
    found = lint(program.read_bytes(), str(program), settings)
    _agree(program, "what is marked", [mark.row for mark in wanted], [item.start.row for item in found])
    for mark, item in zip(wanted, found, strict=True):
        place = f"{program}:{mark.row}"
        if mark.severity:
            _agree(place, "the severity", mark.severity, item.severity.value)
        if mark.unsafe:
            _agree(place, "an unsafe fix", False, item.fix.safe if item.fix else None)
        if mark.unfixed:
            _agree(place, "that there is no fix", None, item.fix)
    kind, _, rest = program.stem.partition("_")
    if kind != "bug":
        _agree(program, "that there is nothing to find", [], wanted)
        return
    pair = program.with_name(f"fixed_{rest}.py" if rest else "fixed.py")
    if not (wanted and pair.is_file()):
        raise AssertionError(f"{program}: a bug needs a mark, and {pair.name} beside it")
    if all(item.fix for item in found):
        before = unmarked(program.read_bytes().decode()).encode()
        fixed = fix(before, str(program), settings, unsafe=True).raw
        _agree(program, f"that the fixes make {pair.name} of it", pair.read_bytes().decode(), fixed.decode())


def prove(folder: Path, *codes: str, devices: Sequence[str] = ("cpu", "sim")) -> None:
    """Run the programs of these rules with torch; raise AssertionError where a claim is false or is not run.

    `codes` may be prefixes and names too; `devices` are those of `devlint verify`. Raises DevlintError where
    a rule is not installed.
    """
    from .runtime.catalogue import cases
    from .runtime.devices import run_all
    from .runtime.proof import Verdict
    from .runtime.verify import prove as judged

    found, unproven = cases(codes, folder)
    runs = run_all(devices, found, lambda device, case: None)
    unavailable = [f"{run.device}: {run.about['unavailable']}" for run in runs if "unavailable" in run.about]
    proofs = judged(runs, unproven)
    false = [_denial(proof) for proof in proofs if proof.verdict in (Verdict.FALSE, Verdict.NOT_RUN)]
    if unavailable or false:
        raise AssertionError("\n".join([*unavailable, *false]))


def _denial(proof: Proof) -> str:
    """What is wrong with a claim; a program that could not be looked at has neither a device nor a claim."""
    program = f"{proof.code} {proof.program}".rstrip()
    if not proof.device:
        return f"{program}: {proof.evidence}"
    return f"{program} on {proof.device}: claimed `{proof.claim}`, but {proof.evidence}"


def _agree(place: object, what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise AssertionError(f"{place}: not {what}\n  wanted: {wanted!r}\n  found:  {found!r}")
