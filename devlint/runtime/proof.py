"""Compares what a program did with what its rule claims."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from ..claim import Observes, Raises

if TYPE_CHECKING:
    from ..claim import Claim
    from ..claim import Outcome as Claimed
    from .catalogue import Case
    from .program import Outcome
    from .worker import Device


class Verdict(str, Enum):
    """What a run says about a claim."""

    CONFIRMED = "confirmed"
    FALSE = "false"
    UNPROVABLE = "not provable here"
    """It takes hardware that this device is not, or the simulation ends before it."""
    NOT_RUN = "not run"
    """The program needs a package, among those that the claim names, that is not installed."""


class Proof(NamedTuple):
    """One row of the report."""

    code: str
    program: str
    device: str
    verdict: Verdict
    claim: str
    """What the rule claims, in words."""
    evidence: str
    """What happened, in words."""


def judge(case: Case, device: str, about: Device, outcome: Outcome) -> Proof:
    """Compare the run of a case on a device with its claim."""
    claimed = case.claim.outcome(cured=case.cured, accelerator=device != "cpu")
    evidence = describe(outcome)
    if isinstance(claimed, Observes) and outcome["status"] == "ran":
        evidence = f"`{claimed.expression}` is {outcome['values'][claimed.expression]}"
    words = claim_words(claimed, cured=case.cured)
    if outcome.get("lacks") in case.claim.packages:
        verdict, evidence = Verdict.NOT_RUN, f"needs {outcome['lacks']}"
    elif _is_beyond(outcome):
        verdict = Verdict.UNPROVABLE
    elif case.claim.needs and device != "cpu" and not _satisfies(device, about, case.claim):
        can_tell = device == "sim" and outcome["status"] != "ran"  # hardware that is too little says nothing
        verdict = Verdict.FALSE if can_tell else Verdict.UNPROVABLE
        words = f"{words} (needs {case.claim.needs}; {case.claim.documentation})"
    elif not (_shows(claimed, outcome) if case.undone else holds(claimed, outcome, cured=case.cured)):
        verdict = Verdict.FALSE
    elif reason := _elsewhere(case, claimed, outcome):
        verdict, evidence = Verdict.FALSE, f"{evidence} ({reason})"
    else:
        verdict = Verdict.CONFIRMED
    return Proof(case.code, case.program, device, verdict, words, evidence)


def holds(claimed: Claimed, outcome: Outcome, *, cured: bool) -> bool:
    """Whether a program did what was claimed."""
    if isinstance(claimed, Raises):
        named = set(claimed.error.split("|")) & set(outcome.get("error", ()))
        if "lacks" in outcome:  # a claim that any exception fulfils is not about a misspelt import
            named &= {"ImportError", "ModuleNotFoundError"}
        return bool(named) and bool(re.search(claimed.message, outcome["message"]))
    if outcome["status"] != "ran":
        return False
    if isinstance(claimed, Observes):
        return outcome["values"][claimed.expression] == repr(claimed.fixed if cured else claimed.bug)
    return True


def _shows(claimed: Claimed, outcome: Outcome) -> bool:
    """Whether a program with one of several bugs shows it: what is observed is not what the cured one has."""
    if isinstance(claimed, Observes):
        return outcome["status"] == "ran" and outcome["values"][claimed.expression] != repr(claimed.fixed)
    return holds(claimed, outcome, cured=False)


def _elsewhere(case: Case, claimed: Claimed, outcome: Outcome) -> str:
    """Why what happened has nothing to do with the marked lines."""
    if case.cured or not isinstance(claimed, Raises):
        return ""
    if not outcome.get("reached"):
        rows = ", ".join(map(str, case.marked))
        return f"before line {rows}, which is marked" if outcome["status"] == "raised" else ""
    if outcome.get("line", 0) in case.foreign:
        return f"line {outcome['line']} is neither marked nor in the cured program"
    return ""


def claim_words(claimed: Claimed, *, cured: bool) -> str:
    """A claim as a phrase."""
    if isinstance(claimed, Raises):
        return f"raises {claimed.error.replace('|', ' or ')}: {claimed.message}".removesuffix(": ")
    if isinstance(claimed, Observes):
        return f"`{claimed.expression}` is {claimed.fixed if cured else claimed.bug!r}"
    return "runs"


def describe(outcome: Outcome) -> str:
    """What happened as a phrase."""
    if outcome["status"] == "ran":
        return "runs"
    if outcome["status"] == "raised":
        place = f" at line {outcome['line']}" if outcome["line"] else ""
        return f"raises {outcome['error'][0]}{place}: {outcome['message']}".removesuffix(": ")
    return f"{outcome['status']}: {outcome['message']}"


def _is_beyond(outcome: Outcome) -> bool:
    """Whether the program came upon what the simulated device cannot answer."""
    return outcome.get("error", [""])[0] == "NotSimulated"


def _satisfies(device: str, about: Device, claim: Claim) -> bool:
    if device == "sim":
        return claim.simulable
    name, _, count = claim.needs.partition(" x")
    return device == name and about["count"] >= int(count or 1)
