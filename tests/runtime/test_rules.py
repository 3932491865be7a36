"""Every rule that is installed proves what it claims: the same proofs as `devlint verify` makes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from devlint.claim import RUNS, Claim, Observes, Outcome, Raises
from devlint.match.registry import installed
from devlint.runtime import report, verify
from devlint.runtime.catalogue import Case, cases, find_fixtures
from devlint.runtime.devices import Run, run_all
from devlint.runtime.pairs import apart, foreign
from devlint.runtime.proof import Verdict, holds

if TYPE_CHECKING:
    from devlint.runtime.program import Outcome as Ran

RULES = {code: item.rule for code, item in installed().items() if item.rule is not None}
CASES, UNPROVEN = cases([], find_fixtures())
PAIRS = sorted({(case.code, case.path) for case in CASES if case.cured})
PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


class Pair(NamedTuple):
    """What both programs of a pair are claimed to do, and did, on one device."""

    claim: Claim
    accelerator: bool
    bug: Ran
    fixed: Ran

    def refutes(self, claim: Claim, *, bug: Ran | None = None, fixed: Ran | None = None) -> bool:
        """Whether the claim is false about these programs, or about others in their place."""
        for ran, cured in ((bug or self.bug, False), (fixed or self.fixed, True)):
            if not holds(claim.outcome(cured=cured, accelerator=self.accelerator), ran, cured=cured):
                return True
        return False


def pair_name(pair: tuple[str, str]) -> str:
    return f"{pair[0]}/{Path(pair[1]).stem}"


@pytest.mark.parametrize("code", RULES)
def test_every_rule_claims_something(code: str) -> None:
    claim = getattr(RULES[code], "claim", None)
    assert isinstance(claim, Claim), "declare `claim` in the rule"
    for each in (claim, *claim.programs.values()):
        assert not each.programs or each is claim
        assert each.bug != RUNS or each.cpu != RUNS or each.documentation, "it claims that nothing happens"
        assert bool(each.needs) == bool(each.documentation)


def test_every_claim_has_its_programs() -> None:
    assert UNPROVEN == []


def test_each_marked_line_is_proven_by_itself() -> None:
    """Of several in a program, each has a program of its own, in which it alone is not cured."""
    alone = {(case.path, line) for case in CASES if case.undone for line in case.program.split(":")[1:]}
    for case in CASES:
        here = not case.claim.needs or case.claim.simulable
        if case.cured or case.undone or not here or len(case.marked) < 2:
            continue
        fixed = case.path.replace(f"{os.sep}bug", f"{os.sep}fixed")
        assert {line for path, line in alone if path == fixed} == set(map(str, case.marked)), case.path


@pytest.fixture(scope="module")
def runs(torch_installed: None) -> list[Run]:
    devices = list(dict.fromkeys(("cpu", "sim", os.environ.get("DEVLINT_TEST_DEVICE", "sim"))))
    done = run_all(devices, CASES, lambda device, case: None)
    assert [run.about.get("unavailable") for run in done] == [None] * len(devices)
    return done


@pytest.mark.parametrize("code", RULES)
def test_claims_hold(runs: list[Run], code: str) -> None:
    proofs = [proof for proof in verify.prove(runs, UNPROVEN) if proof.code == code]
    assert [proof for proof in proofs if proof.verdict is Verdict.FALSE] == []
    confirmed = {proof.device for proof in proofs if proof.verdict is Verdict.CONFIRMED}
    devices = {run.device for run in runs}
    # What documentation backs where the hardware is not at hand must at least run, and be true on the cpu.
    claim = getattr(RULES[code], "claim", None)
    alone = claim is not None and claim.needs and confirmed == {"cpu"}
    assert confirmed == ({"cpu"} if alone else devices)


def pairs(runs: list[Run], path: str) -> list[Pair]:
    """The pair whose cured program is at this path, on every device where it can be run."""
    found = []
    for run in runs:
        outcomes = {case.path: (case, ran) for case, ran in run.outcomes if not case.undone}
        case, fixed = outcomes[path]
        _, bug = outcomes[path.replace(f"{os.sep}fixed", f"{os.sep}bug")]
        if not case.claim.needs and fixed.get("lacks") not in case.claim.packages:
            found.append(Pair(case.claim, run.device != "cpu", bug, fixed))
    return found


@pytest.mark.parametrize("pair", PAIRS, ids=pair_name)
def test_removing_the_cure_is_noticed(runs: list[Run], pair: tuple[str, str]) -> None:
    found = pairs(runs, pair[1])
    assert not any(each.refutes(each.claim) for each in found)
    assert not found or any(each.refutes(each.claim, fixed=each.bug) for each in found)


MIXTURE = "torch.zeros(3).cuda().sub(torch.zeros(3))"
OF_ANOTHER = ("", "pass\n", "import torch\n", '"""Nothing."""\n')


def test_no_pair_is_confirmed_by_a_program_that_does_something_else() -> None:
    """Mutants of all pairs: the bug cured and an unrelated mixture appended, and a cure that does nothing."""
    for code, path in PAIRS:
        right = Path(path).read_text(encoding="utf-8")
        wrong = Path(path.replace(f"{os.sep}fixed", f"{os.sep}bug")).read_text(encoding="utf-8")
        for text in (wrong, right):
            mutant = f"{text}\n{MIXTURE}\n"
            assert foreign(mutant, right, code)[-1:] == [len(mutant.splitlines())], path
        assert all(apart(wrong, other, code) for other in OF_ANOTHER), path


@pytest.mark.parametrize("pair", PAIRS, ids=pair_name)
def test_flipping_the_claim_is_noticed(runs: list[Run], pair: tuple[str, str]) -> None:
    for each in pairs(runs, pair[1]):
        assert each.refutes(each.claim._replace(bug=opposite(each.claim.bug), cpu=opposite(each.claim.cpu)))


def opposite(outcome: Outcome) -> Outcome:
    """Claim the contrary."""
    if isinstance(outcome, Observes):
        return outcome._replace(bug=outcome.fixed, fixed=outcome.bug)
    return RUNS if isinstance(outcome, Raises) else Raises("Exception")


@pytest.fixture(scope="module")
def near_misses(torch_installed: None) -> list[tuple[Case, Ran]]:
    """What happened on an accelerator to the programs that the rules leave alone."""
    near = [
        Case(code, path.name, str(path), path.read_text(encoding="utf-8"), vars(rule)["claim"], cured=False)
        for code, rule in RULES.items()
        for path in sorted((find_fixtures() / code).glob("near*.py"))
    ]
    return run_all(["sim"], near, lambda device, case: None)[0].outcomes


def test_near_misses_are_not_bugs(near_misses: list[tuple[Case, Ran]]) -> None:
    """None raises what its rule is about; what else stops them, such as a missing package, is no matter."""
    claims = [(case.path, case.claim.bug, ran) for case, ran in near_misses]
    assert [p for p, bug, ran in claims if isinstance(bug, Raises) and holds(bug, ran, cured=False)] == []
    assert sum(ran["status"] == "ran" for _, ran in near_misses) > len(near_misses) / 2


def test_documented_proofs_are_current(runs: list[Run]) -> None:
    """`devlint verify --markdown > docs/proofs.md` writes the page."""
    without_gpu = [run for run in runs if run.device in ("cpu", "sim")]
    proofs = verify.prove(without_gpu, UNPROVEN)
    devices = {run.device: run.about for run in without_gpu}
    page = PAGE.read_text(encoding="utf-8")
    if f"torch {devices['cpu']['torch']})" not in page:
        pytest.skip("the page was written with another release of torch")
    assert report.as_markdown(proofs, devices) == page


def test_one_program_at_a_time() -> None:
    """No two cases of a rule share a name in the report."""
    names = [(case.code, case.program) for case in CASES]
    assert len(names) == len(set(names))
    assert all(isinstance(case, Case) for case in CASES)
