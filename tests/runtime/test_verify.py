"""The prover itself: true claims are confirmed, false ones are not, and nothing takes it down."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from devlint.claim import MIXED_DEVICES, NO_ACCELERATOR, RUNS, Claim, Observes, Raises, everywhere
from devlint.match import registry
from devlint.runtime import verify
from devlint.runtime.catalogue import Case, Unproven, programs
from devlint.runtime.devices import run, run_all
from devlint.runtime.pairs import apart, foreign, marked_rows, taken_back
from devlint.runtime.proof import Proof, Verdict, holds, judge
from devlint.runtime.worker import HARDWARE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from devlint.runtime.program import Outcome

BUG = """\
import torch
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(3, device=device)
y = torch.ones(3)
y.to(device)  # T
total = (x + y).sum()
"""
FIXED = BUG.replace("y.to(device)  # T", "y = y.to(device)")
KEPT = BUG.replace("y.to(device)  # T", "y = y.to(device)  # T")
MIXTURE = """\
import torch
torch.zeros(3, device="cuda" if torch.cuda.is_available() else "cpu").sub(torch.zeros(3))
"""
HARMLESS = "    # nothing wrong here  # T\n"
TWO = "import torch\nx = torch.ones(2).cuda()  # T\nif x.is_cpu:\n    pass  # T\n"
SPARSE = """\
import torch
if torch.cuda.is_available():
    torch.eye(2).cuda().to_sparse()
raise ValueError
"""
MIXED = Claim(MIXED_DEVICES)
ABSENT = ("no_such_package",)
NO_NUMPY = "RuntimeError('Numpy is not available')"
"""What torch raises (torch/csrc/utils/tensor_numpy.cpp)."""
TRAINS = Claim(Observes("total", bug=0, fixed=1))

PROGRAMS: dict[str, tuple[Claim, str, str]] = {
    "true": (MIXED, BUG, FIXED),
    "claims nothing": (Claim(RUNS), BUG, FIXED),
    "wrong error": (Claim(Raises("TypeError")), BUG, FIXED),
    "wrong words": (Claim(Raises("RuntimeError", "out of memory")), BUG, FIXED),
    "base class": (Claim(Raises("Exception", "^Expected")), BUG, FIXED),
    "not cured": (MIXED, BUG, BUG),
    "needs cuda": (Claim(NO_ACCELERATOR), "import torch\ntorch.ones(1).cuda()\n", FIXED),
    "reverse": (Claim(RUNS, cpu=NO_ACCELERATOR), "import torch\ntorch.ones(1).cuda()\n", FIXED),
    "silent": (TRAINS, "total = 0", "total = 1"),
    "silent, but not cured": (TRAINS, "total = 0", "total = 0"),
    "not silent": (TRAINS, "total = 1", "total = 1"),
    "not observable": (TRAINS, "", "total = 1"),
    "aborts": (MIXED, "import os\nos.abort()", FIXED),
    "leaves": (everywhere(Raises("SystemExit", "no GPU")), "import sys\nsys.exit('no GPU')", "exit(0)"),
    "lacks a package": (MIXED._replace(packages=ABSENT), "import no_such_package.part", FIXED),
    "lacks a package too late": (MIXED._replace(packages=ABSENT), f"{BUG}import no_such_package", FIXED),
    "lacks numpy": (MIXED._replace(packages=("numpy",)), f"raise {NO_NUMPY}", FIXED),
    "lacks numpy unsaid": (everywhere(Raises("RuntimeError")), f"raise {NO_NUMPY}", FIXED),
    "misspelt import": (MIXED._replace(packages=ABSENT), "import no_such_pakcage", FIXED),
    "misspelt import, any error": (everywhere(Raises("Exception")), "import no_such_pakcage", FIXED),
    "misspelt name": (MIXED._replace(packages=("torch",)), "from torch import no_such_name", FIXED),
    "claimed import": (everywhere(Raises("ImportError")), "import no_such_package", FIXED),
    "beyond the simulation": (everywhere(Raises("Exception")), SPARSE, FIXED),
    "prints": (Claim(RUNS), "print('{}')", "import sys\nsys.stdout.write('{')"),
    "spoils torch": (Claim(RUNS), "import torch\ndel torch.ones", FIXED),
    "set up": (
        everywhere(Observes("torch.seen", 1, 1), setup="torch.seen = 1"),
        "import torch",
        "import torch",
    ),
    "real hardware": (Claim(RUNS, needs="cuda", documentation="https://example.org"), FIXED, FIXED),
    "a mixture appended": (MIXED, f"{KEPT}torch.zeros(3, device=device).sub(torch.zeros(3))\n", FIXED),
    "a mixture before": (MIXED, f"{MIXTURE}{BUG}", f"{MIXTURE.strip()}.cpu()\n{FIXED}"),
    "half a bug": (
        Claim(RUNS, cpu=NO_ACCELERATOR),
        TWO,
        "import torch\nx = torch.ones(2)\nif x.is_cpu:\n    0\n",
    ),
}
"""Claim, bug and fixed program of made-up rules."""

BOTH = {("bug.py", "sim"), ("bug.py", "cpu")}
FALSE = {
    "a mixture appended": {("bug.py", "sim")},
    "a mixture before": {("bug.py", "sim"), ("fixed.py", "sim")},
    "claims nothing": {("bug.py", "sim")},
    "wrong error": {("bug.py", "sim")},
    "wrong words": {("bug.py", "sim")},
    "not cured": {("fixed.py", "sim")},
    "needs cuda": {("bug.py", "sim"), ("bug.py", "cpu")},
    "silent, but not cured": {("fixed.py", "sim")},
    "not silent": {("bug.py", "sim")},
    "not observable": {("bug.py", "sim")},
    "aborts": {("bug.py", "sim"), ("bug.py", "cpu")},
    "half a bug": {("bug.py:4", "cpu")},
    "lacks numpy unsaid": BOTH,
    "misspelt import": BOTH,
    "misspelt import, any error": BOTH,
    "misspelt name": BOTH,
}
"""The proofs that must fail; every other one must not."""


@pytest.fixture(scope="module")
def proofs(torch_installed: None, tmp_path_factory: pytest.TempPathFactory) -> list[Proof]:
    cases: list[Case] = []
    for name, (claim, bug, fixed) in PROGRAMS.items():
        folder = tmp_path_factory.mktemp("T")
        (folder / "bug.py").write_text(bug)
        (folder / "fixed.py").write_text(fixed)
        if not apart(bug, fixed, "T"):
            found = list(programs("T", claim, folder))
        else:  # what is refused unseen is not confirmed by its run, either
            rows = marked_rows(bug, "T") or range(1, bug.count("\n") + 2)
            strange = foreign(bug, fixed, "T") if "# T" in bug else ()
            path = str(folder / "bug.py")
            found = [
                Case("T", "bug.py", path, bug, claim, cured=False, marked=rows, foreign=strange),
                Case("T", "fixed.py", str(folder / "fixed.py"), fixed, claim, cured=True),
            ]
        assert all(isinstance(case, Case) for case in found)
        cases += [case._replace(code=name) for case in found if isinstance(case, Case)]
    return verify.prove(run_all(("cpu", "sim"), cases, lambda device, case: None), [])


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_false_claims_are_false(proofs: list[Proof], name: str) -> None:
    mine = [proof for proof in proofs if proof.code == name]
    assert {p.device for p in mine} == {"cpu", "sim"}
    false = {(p.program, p.device) for p in mine if p.verdict is Verdict.FALSE}
    assert false == FALSE.get(name, set())


MIXED_MESSAGES = (
    "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same",
    "Expected all tensors to be on the same device, but found at least two devices, xpu:0 and cpu!",
    "slow_conv2d_forward_mps: input(device='cpu') and weight(device=mps:0')  must be on the same device",
    "Tensor for argument weight is on cpu but expected on mps",
    "Tensor for argument #2 'mat2' is on CPU, but expected it to be on GPU (while checking arguments for mm)",
    "Placeholder storage has not been allocated on MPS device!",
    "Passed CPU tensor to MPS op",
)
"""How torch's devices say the same; facts about other hardware, from torch's source."""


@pytest.mark.parametrize("message", MIXED_MESSAGES)
def test_mixed_devices_in_the_words_of_every_device(message: str) -> None:
    assert holds(
        MIXED_DEVICES, {"status": "raised", "error": ["RuntimeError"], "message": message}, cured=False
    )


OTHER_MESSAGES = (
    "MPS backend out of memory",
    "mat1 and mat2 must have the same dtype, but got Double and Float",
    "Input type (double) and bias type (float) should be the same",
    "Input type (torch.cuda.DoubleTensor) and weight type (torch.cuda.FloatTensor) should be the same",
    "Input type (torch.DoubleTensor) and weight type (torch.FloatTensor) should be the same",
)


@pytest.mark.parametrize("message", OTHER_MESSAGES)
def test_other_errors_are_no_mixtures(message: str) -> None:
    unlike: Outcome = {"status": "raised", "error": ["RuntimeError"], "message": message}
    assert not holds(MIXED_DEVICES, unlike, cured=False)


NO_ACCELERATOR_MESSAGES = {
    "Torch not compiled with CUDA enabled": True,
    "type torch.cuda.FloatTensor not available. Torch not compiled with CUDA enabled.": True,
    "Found no NVIDIA driver on your system.": True,
    "No CUDA GPUs are available": True,
    "Cannot initialize CUDA without ATen_cuda library.": True,
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.": True,
    "CUDA error: invalid device ordinal": False,
    "CUDA out of memory.": False,
}


@pytest.mark.parametrize("message", NO_ACCELERATOR_MESSAGES)
def test_only_the_lack_of_cuda_is_no_accelerator(message: str) -> None:
    ran: Outcome = {"status": "raised", "error": ["AssertionError", "RuntimeError"], "message": message}
    assert holds(NO_ACCELERATOR, ran, cured=False) is NO_ACCELERATOR_MESSAGES[message]


APART = {
    "": "the cured program differs by more than the cure",
    "pass\n": "the cured program differs by more than the cure",
    BUG.replace("  # T", ""): "the cured program is the same",
}


@pytest.mark.parametrize("fixed", APART)
def test_a_cure_is_of_the_program_with_the_bug(tmp_path: Path, fixed: str) -> None:
    (tmp_path / "bug.py").write_text(BUG)
    (tmp_path / "fixed.py").write_text(fixed)
    (found,) = programs("T", MIXED, tmp_path)
    assert isinstance(found, Unproven)
    assert found.reason.startswith(APART[fixed])


def test_a_bug_is_marked(tmp_path: Path) -> None:
    (tmp_path / "bug.py").write_text(BUG.replace("# T", "# U"))
    (tmp_path / "fixed.py").write_text(FIXED)
    (found,) = programs("T", MIXED, tmp_path)
    assert isinstance(found, Unproven)
    assert found.reason == "no line of it is marked: `# T`"


def find(proofs: list[Proof], code: str, program: str, device: str) -> Proof:
    return next(p for p in proofs if (p.code, p.program, p.device) == (code, program, device))


def test_evidence_names_place_and_error(proofs: list[Proof]) -> None:
    evidence = find(proofs, "true", "bug.py", "sim").evidence
    assert evidence.startswith("raises RuntimeError at line 6: Expected all tensors to be on the same device")


def test_crash_is_evidence(proofs: list[Proof]) -> None:
    assert find(proofs, "aborts", "bug.py", "sim").evidence == "died: SIGABRT"


@pytest.mark.parametrize("name", ["lacks a package", "lacks numpy"])
def test_missing_package_proves_nothing(proofs: list[Proof], name: str) -> None:
    proof = find(proofs, name, "bug.py", "sim")
    package = "numpy" if "numpy" in name else "no_such_package"
    assert (proof.verdict, proof.evidence) == (Verdict.NOT_RUN, f"needs {package}")
    assert find(proofs, name, "fixed.py", "sim").verdict is Verdict.CONFIRMED


def test_a_package_that_is_not_reached_is_not_needed(proofs: list[Proof]) -> None:
    assert find(proofs, "lacks a package too late", "bug.py", "sim").verdict is Verdict.CONFIRMED
    assert find(proofs, "lacks a package too late", "bug.py", "cpu").verdict is Verdict.NOT_RUN


def test_what_is_not_simulated_proves_nothing(proofs: list[Proof]) -> None:
    proof = find(proofs, "beyond the simulation", "bug.py", "sim")
    assert proof.verdict is Verdict.UNPROVABLE
    assert "not simulated: a tensor of layout torch.sparse_coo" in proof.evidence
    assert find(proofs, "beyond the simulation", "bug.py", "cpu").verdict is Verdict.CONFIRMED


def test_needed_hardware_is_named(proofs: list[Proof]) -> None:
    proof = find(proofs, "real hardware", "bug.py", "sim")
    assert proof.verdict is Verdict.UNPROVABLE
    assert "https://example.org" in proof.claim


@pytest.mark.parametrize(
    ("device", "count", "verdict"),
    [("cuda", 1, Verdict.UNPROVABLE), ("sim", 2, Verdict.FALSE), ("cuda", 2, Verdict.CONFIRMED)],
)
def test_hardware_that_is_too_little_refutes_nothing(device: str, count: int, verdict: Verdict) -> None:
    claim = Claim(RUNS, cpu=RUNS, needs="cuda x2", documentation="https://example.org")
    raised: Outcome = {
        "status": "raised",
        "error": ["AssertionError"],
        "message": "Invalid device id",
        "line": 1,
    }
    case = Case("TST101", "bug.py", "", "", claim, cured=False)
    ran: Outcome = {"status": "ran", "values": {}}
    outcome = ran if verdict is Verdict.CONFIRMED else raised
    assert judge(case, device, {"count": count}, outcome).verdict is verdict


def test_missing_programs_are_reported(tmp_path: Path) -> None:
    (tmp_path / "bug_more.py").write_text(BUG)
    reasons = [str(item) for item in programs("T", Claim(RUNS, programs={"gone": MIXED}), tmp_path)]
    assert len(reasons) == 3
    assert "bug.py" in reasons[0]
    assert "bug_gone.py" in reasons[1]
    assert "fixed_more.py" in reasons[2]


def test_a_claim_can_be_about_one_program() -> None:
    claim = Claim(RUNS, programs={"loop": MIXED})
    assert claim.of("loop") is MIXED
    assert claim.of("") is claim
    assert claim.of("other") is claim


def test_taking_back_one_cure_at_a_time() -> None:
    bug = "a = 1  # T\nb = 2\nwith c:\n    d = 3  # T\n"
    fixed = "a = 10\nb = 2\nwith e:\n    d = 30\n"
    assert dict(taken_back(bug, fixed, "T")) == {
        1: "a = 1  # T\nb = 2\nwith e:\n    d = 30\n",
        4: "a = 10\nb = 2\nwith c:\n    d = 3  # T\n",
    }


TAKEN_BACK = {
    "lines side by side": (
        "a.to(d)  # T\nb.to(d)  # T\n",
        "a = a.to(d)\nb = b.to(d)\n",
        {1: "a.to(d)  # T\nb = b.to(d)\n", 2: "a = a.to(d)\nb.to(d)  # T\n"},
    ),
    "what is moved": (
        "o = f(m)\np = f(n)\nm.to(d)  # T\nn.to(d)  # T\n",
        "m.to(d)\nn.to(d)\no = f(m)\np = f(n)\n",
        {3: "n.to(d)\no = f(m)\np = f(n)\nm.to(d)  # T\n", 4: "m.to(d)\no = f(m)\np = f(n)\nn.to(d)  # T\n"},
    ),
    "a name that the cure needs": (
        "m.cuda()  # T\nn.cuda()  # T\n",
        "d = best()\nm.to(d)\nn.to(d)\n",
        {1: "d = best()\nm.cuda()  # T\nn.to(d)\n", 2: "d = best()\nm.to(d)\nn.cuda()  # T\n"},
    ),
    "imports of both": (
        "import a\nm.to(a)  # T\nn.to(a)  # T\n",
        "import b\nm.to(b)\nn.to(b)\n",
        {
            2: "import b\nimport a\nm.to(a)  # T\nn.to(b)\n",
            3: "import b\nimport a\nm.to(b)\nn.to(a)  # T\n",
        },
    ),
    "one cure of several lines": (
        "y = f(x)\ng(y, t)  # T\nh(y, w)  # T\n",
        "y = f(x)\nt, w = t.to(d), w.to(d)\ng(y, t)\nh(y, w)\n",
        {2: "y = f(x)\ng(y, t)  # T\nh(y, w)\n", 3: "y = f(x)\npass\nh(y, w)  # T\n"},
    ),
    "a condition around it": (
        "f(x)  # T\nh(y)  # T\n",
        "if c:\n    f(x)\nh(z)\n",
        {1: "f(x)  # T\nh(z)\n", 2: "if c:\n    f(x)\nh(y)  # T\n"},
    ),
    "one that is silenced": ("a(x)  # T\nb(x)  # noqa: T\n", "a(y)\nb(x)  # noqa: T\n", {}),
}


@pytest.mark.parametrize("what", TAKEN_BACK)
def test_each_mark_is_taken_back_by_itself(what: str) -> None:
    bug, fixed, expected = TAKEN_BACK[what]
    assert dict(taken_back(bug, fixed, "T")) == expected


ALLOWED = (
    ("x = f()\nx.to(d)  # T\nprint(x)\n", "x = f()\nx = x.to(d)\nprint(x)\n"),
    ("o = f(m)\nm.to(d)  # T\nprint(z)\n", "m.to(d)\no = f(m)\nprint(z)\n"),
    ("m.cuda()  # T\n", "from a import b\nd = b()\nm.to(d)\n"),
    ("f(x)  # T\nprint(z)\n", "if c():\n    f(x)\nprint(z)\n"),
    ("z()\nstop = t()  # T\n", "z()\nif c():\n    sync()\nstop = t()\n"),
    ("def f(n):\n    return t(n)  # T\nf(1)\n", "def f(n, d):\n    return t(n, d)\nf(1, 2)\n"),
    ("x.to(d)  # T\nprint( z )\n", "x = x.to(d)\nprint(z)  # the same\n"),
)
MORE = (
    ("x.to(d)  # T\nprint(x)\n", "x = x.to(d)\nprint(x)\nprint(z)\n", "print(z)"),
    ("x.to(d)  # T\nprint(x)\nprint(z)\n", "x = x.to(d)\nprint(x)\n", "print(z)"),
    ("x.to(d)  # T\nprint(z)\n", "x = x.to(d)\n", "print(z)"),
    ("x.to(d)  # T\ny()\nprint(z)\n", "x = x.to(d)\ny()\nif c():\n    print(z)\n", "if c()"),
    ("import a\nx.to(d)  # T\nprint(x)\na.f()\n", "import a\nx = x.to(d)\nprint(x)\na.g()\n", "a.f()"),
    ("x.to(device)  # T\nprint(x)\ny.cpu()\n", "x = x.to(device)\nprint(x)\ny = y.cpu()\n", "y.cpu()"),
)


@pytest.mark.parametrize(("bug", "fixed"), ALLOWED)
def test_a_cure_may_touch_what_belongs_to_it(bug: str, fixed: str) -> None:
    assert apart(bug, fixed, "T") == ""


@pytest.mark.parametrize(("bug", "fixed", "which"), MORE)
def test_a_cured_program_differs_by_the_cure_alone(bug: str, fixed: str, which: str) -> None:
    assert apart(bug, fixed, "T") == f"the cured program differs by more than the cure: `{which}`"


RULE = '''
"""A rule of the tests.

Its page.
"""
from devlint.rule import MIXED_DEVICES, Call, Claim, Rule, call


class Some(Rule[Call]):
    code = "TST{number}"
    name = "some-rule"
    watches = (call("acme.launch"),)
    {claim}
'''


@pytest.fixture
def fixtures(tmp_path: Path, provide: Callable[[str, str], None], torch_installed: None) -> Path:
    """One true rule, one whose claim is false, one without a claim."""
    claim = "claim = Claim(MIXED_DEVICES)"
    for number, declared, bug in ((101, claim, BUG), (102, claim, FIXED), (103, "", BUG)):
        provide(f"rule_{number}", RULE.format(number=number, claim=declared))
        folder = tmp_path / f"TST{number}"
        folder.mkdir()
        (folder / "bug.py").write_text(bug.replace("# T", f"# TST{number}"))
        (folder / "fixed.py").write_text(FIXED)
    return tmp_path


def test_command_confirms(fixtures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main(["TST101", "--fixtures", str(fixtures)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in lines[:4]] == [
        ["TST101", "bug.py", "cpu", "confirmed"],
        ["TST101", "bug.py", "sim", "confirmed"],
        ["TST101", "fixed.py", "cpu", "confirmed"],
        ["TST101", "fixed.py", "sim", "confirmed"],
    ]
    assert lines[4:] == ["4 confirmed"]


def test_command_refutes(fixtures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main(["--device", "sim", "--json", "--fixtures", str(fixtures)]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert list(printed["devices"]) == ["sim"]
    verdicts = {(p["code"], p["program"]): p["verdict"] for p in printed["proofs"]}
    assert verdicts["TST101", "bug.py"] == "confirmed"
    assert verdicts["TST102", "bug.py"] == "false"
    assert verdicts["TST103", ""] == "false"


def test_command_needs_a_rule(fixtures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify.main(["TST999", "--fixtures", str(fixtures)]) == 2
    assert capsys.readouterr().err.startswith("devlint: no rule has the code, prefix or name 'TST999'")


@pytest.mark.parametrize("name", ["tst10", "some-rule", "ALL"])
def test_command_takes_prefixes_and_names(
    fixtures: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert verify.main([name, "--device", "cpu", "--json", "--fixtures", str(fixtures)]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert {proof["code"] for proof in printed["proofs"]} == {"TST101", "TST102", "TST103"}


@pytest.mark.parametrize("form", ["--json", "--markdown", "-v"])
def test_command_has_nothing_to_run_for_what_claims_nothing(
    capsys: pytest.CaptureFixture[str], form: str
) -> None:
    assert verify.main(["DEV000", "unused-suppression", form]) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [
        "devlint: DEV000 (unreadable) claims nothing about torch",
        "devlint: DEV001 (unused-suppression) claims nothing about torch",
    ]
    assert form != "--json" or json.loads(printed.out) == {"devices": {}, "proofs": []}


def test_command_needs_a_folder_with_programs(fixtures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fixtures / "empty").mkdir()
    assert verify.main(["--fixtures", str(fixtures / "absent")]) == 2
    assert verify.main(["--fixtures", str(fixtures / "TST101" / "bug.py")]) == 2
    assert verify.main(["--fixtures", str(fixtures / "empty")]) == 2
    assert verify.main(["TST101", "--fixtures", str(fixtures / "empty")]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"devlint: --fixtures: no such folder: {fixtures / 'absent'}",
        f"devlint: --fixtures: no such folder: {fixtures / 'TST101' / 'bug.py'}",
        f"devlint: --fixtures: {fixtures / 'empty'} holds no programs of TST101 or any other of these rules",
        f"devlint: --fixtures: {fixtures / 'empty'} holds no programs of TST101",
    ]


def test_command_says_what_it_could_not_run(
    fixtures: Path, provide: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing package leaves it undecided, unless something else is false."""
    claim = "claim = Claim(MIXED_DEVICES, packages=('no_such_package',))"
    provide("rule_104", RULE.format(number=104, claim=claim))
    registry.installed.cache_clear()
    (fixtures / "TST104").mkdir()
    (fixtures / "TST104" / "bug.py").write_text("import no_such_package  # TST104\n")
    (fixtures / "TST104" / "fixed.py").write_text(FIXED)
    arguments = ["--device", "cpu", "--fixtures", str(fixtures)]
    assert verify.main(["TST101", "TST104", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.err == "devlint: some programs need no_such_package, which is not installed\n"
    assert printed.out.endswith("\n3 confirmed, 1 not run\n")
    assert verify.main(["TST103", "TST104", *arguments]) == 1


def test_a_program_finds_what_lies_beside_it(
    fixtures: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (fixtures / "TST101" / "beside.py").write_text("")
    (fixtures / "TST101" / "bug.py").write_text("import beside\nx = 1  # TST101\n")
    (fixtures / "TST101" / "fixed.py").write_text("import beside\n")
    monkeypatch.chdir(fixtures)
    assert verify.main(["TST101", "--device", "cpu", "--fixtures", "."]) == 0
    assert capsys.readouterr().err == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_told_on_a_terminal(fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert verify.main(["TST101", "--device", "cpu", "--fixtures", str(fixtures)]) == 0
    shown = terminal.getvalue().split("\r\x1b[K")
    assert shown[1:3] == ["devlint: starting torch", "devlint: 1 of 2 programs, TST101 on cpu"]
    assert shown[-1] == ""  # nothing is left


STUBBORN = """
import fcntl, pathlib, time
lock = open({lock!r}, "w")
fcntl.flock(lock, fcntl.LOCK_EX)
pathlib.Path({started!r}).touch()
for _ in range(90):
    try:
        time.sleep(1)
    except BaseException:
        pass
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
def test_an_interrupt_ends_everything(torch_installed: None, tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of the terminal; programs may swallow it."""
    import fcntl

    started, lock, scratch = tmp_path / "started", tmp_path / "lock", tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "DEV102").mkdir()
    text = STUBBORN.format(lock=str(lock), started=str(started))
    (tmp_path / "DEV102" / "bug.py").write_text(f"{text}x = 1  # DEV102\n")
    (tmp_path / "DEV102" / "fixed.py").write_text(text)
    command = [sys.executable, "-m", "devlint", "verify", "DEV102", "--device", "cpu"]
    command += ["--fixtures", str(tmp_path)]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, start_new_session=True, env=environment) as process:
        while not started.exists() and process.poll() is None:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 130
    with lock.open("w") as mine:  # nobody holds it: the program has ended, or is about to
        for left in reversed(range(100)):
            try:
                fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                assert left, "the program outlived the interrupt"
                time.sleep(0.05)
    assert list(scratch.iterdir()) == []


NO_CUDA = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize("device", HARDWARE)
def test_command_needs_its_device(torch_installed: None, device: str) -> None:
    command = [sys.executable, "-m", "devlint", "verify", "DEV101", "--device", device]
    done = subprocess.run(command, capture_output=True, text=True, env=NO_CUDA)
    assert done.returncode == 2
    assert done.stderr.startswith(f"devlint: not run on {device}: ")
    assert done.stderr.endswith(f"sees no {device.upper()} device\n")
    assert done.stdout == "nothing run\n"


FAKE_XPU = """
import sys, torch
from types import SimpleNamespace
from devlint.runtime import worker
module, install = torch.get_device_module, worker.install
fake = SimpleNamespace(is_available=lambda: True, device_count=lambda: 2, get_device_name=lambda: "Arc")
torch.get_device_module = lambda device=None: fake if device == "xpu" else module(device)
worker.install = lambda device: install({device!r})
sys.argv = ["worker", "xpu"]
worker.main()
"""
"""A worker on a machine that seems to have an XPU."""


def with_fake_xpu(device: str) -> list[Any]:
    """What the worker says if that XPU is in truth another device."""
    job = {
        "path": "p.py",
        "source": "import torch\nx = torch.ones(2).cuda()",
        "setup": "",
        "expressions": ["x.device"],
    }
    command = [sys.executable, "-c", FAKE_XPU.format(device=device)]
    done = subprocess.run(command, capture_output=True, text=True, input=json.dumps([job]), check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_programs_for_cuda_run_on_another_device(torch_installed: None) -> None:
    about, outcome = with_fake_xpu("sim")
    assert (about["name"], about["count"]) == ("Arc", 2)
    assert outcome == {"status": "ran", "values": {"x.device": "device(type='cuda', index=0)"}}


def test_what_cannot_stand_in_is_told(torch_installed: None) -> None:
    """The programs do reach the device they were sent to: torch says that it lacks just that."""
    (about,) = with_fake_xpu("xpu")
    assert "cannot run programs for CUDA on xpu: the trial run raised" in about["unavailable"]
    assert about["unavailable"].endswith("AssertionError: Torch not compiled with XPU enabled")


def test_command_needs_torch(
    provide: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert verify.main([]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_command_needs_a_working_torch(
    fixtures: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = fixtures / "broken"
    broken.mkdir()
    (broken / "torch.py").write_text("raise ImportError('libtorch is gone')")
    monkeypatch.syspath_prepend(broken)
    assert verify.main(["TST101", "--fixtures", str(fixtures)]) == 2
    assert "libtorch is gone" in capsys.readouterr().err


def test_modules_in_the_current_folder_and_beside_a_program_are_not_imported(
    fixtures: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    marker = fixtures / "marker"
    names = {*sys.stdlib_module_names, "torch", "numpy", "sympy", "devlint", "usercustomize"}
    for folder in (fixtures, fixtures / "TST101"):
        for name in names:
            (folder / f"{name}.py").write_text(f"open({str(marker)!r}, 'a').write(__name__ + '\\n')\n")
    monkeypatch.chdir(fixtures)
    assert verify.main(["TST101", "--device", "cpu", "--fixtures", "."]) == 0
    assert not marker.exists(), marker.read_text()
    assert "confirmed" in capsys.readouterr().out


TOO_OLD = "import sys; torch.__version__ = '2.5.1+cu124'; sys.modules['devlint.runtime.backend'] = None"
"""A release with which much of the simulation cannot even be imported."""
UNSUPPORTED = {
    "the setup function is gone": (
        "from torch.utils import backend_registration as r; del r._setup_privateuseone_for_python_backend",
        "cannot set up a backend written in Python",
    ),
    "it is too old": (
        TOO_OLD,
        "torch 2.5.1+cu124 cannot simulate a device: that takes torch 2.6 or newer",
    ),
    "the trial aborts": (
        "import os; from devlint.runtime import trial; trial.run_trial = os.abort",
        "the trial run died (SIGABRT)",
    ),
    "the trial fails": (
        "from devlint.runtime import trial; trial.run_trial = lambda: 'parameters are replaced'",
        "parameters are replaced",
    ),
}


@pytest.mark.parametrize("change", UNSUPPORTED)
def test_unsupported_torch_is_told(torch_installed: None, change: str) -> None:
    code, reason = UNSUPPORTED[change]
    worker = "import sys; sys.argv = ['worker', 'sim']; from devlint.runtime.worker import main; main()"
    command = [sys.executable, "-c", f"import torch; {code}; {worker}"]
    done = subprocess.run(command, capture_output=True, text=True, input="[]", check=True)
    assert reason in json.loads(done.stdout)["unavailable"]


DOORS = {
    "run": "from devlint.commands.cli import main; sys.exit(main(['run', 'a.py']))",
    "pytest": "import pytest; sys.exit(pytest.main(['--devlint-sim', 'a.py']))",
}


@pytest.mark.parametrize("door", DOORS)
def test_an_old_torch_is_told_at_other_doors(torch_installed: None, tmp_path: Path, door: str) -> None:
    (tmp_path / "a.py").write_text("raise SystemExit('it was run')\n")
    command = [sys.executable, "-c", f"import torch; {TOO_OLD}; {DOORS[door]}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "torch 2.5.1+cu124 cannot simulate a device: that takes torch 2.6 or newer" in done.stderr
    assert "Traceback" not in done.stderr
    assert "it was run" not in done.stderr
    assert done.returncode in (2, 4)  # pytest's own for mistakes in usage


def test_without_forking(torch_installed: None) -> None:
    job = {"path": "p.py", "source": "x = 1", "setup": "", "expressions": ["x"]}
    worker = (
        "import sys; sys.argv = ['worker', 'sim']; from devlint.runtime import worker; worker.FORKS = False; "
        "worker.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", worker], capture_output=True, text=True, input=json.dumps([job]), check=True
    )
    assert json.loads(done.stdout.splitlines()[1]) == {"status": "ran", "values": {"x": "1"}}


def test_torch_stays_outside(torch_installed: None) -> None:
    code = "import sys; from devlint.runtime import verify; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_lost_worker_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    assert "its worker died" in run("cpu", [], lambda device, case: None).about["unavailable"]
