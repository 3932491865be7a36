"""Runs random programs on the cpu and on the simulated device, before and after devlint's safe fixes.

    python benchmarks/differential.py --programs 2000 --seed 1

No safe fix may make a program fail that ran, on either device, or change what it computes on the cpu, and
no program is an error that runs on both and throws nothing away; the exit code is 1 if there is one. A table
compares what devlint says with what the programs do, by what stops them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from devlint.config.settings import Selection, Settings
from devlint.finding import Severity
from devlint.run.fix import fix
from devlint.run.lint import lint

_PRELUDE = """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
out = []

"""
_HELPERS = {
    "keep": """
def keep(t, where):
    t = t.to(where)
    return t

""",
    "drop": """
def drop(t: torch.Tensor, where):
    t.to(where)
    return t

""",
    "total": """
def total(a, b):
    return (a + b).sum()

""",
    "Shift": """
class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        nn.init.ones_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)

    def forward(self, x):
        return self.layer(x)

""",
    "Store": """
class Store:
    def __init__(self, value):
        self.value = value

    def to(self, where):
        self.value = self.value.to(where)

""",
}


_ALL = Settings(selections=(Selection(select=("ALL",)),), lint_tests=True)
"""Fixes of notes count too."""


_STOPS = (
    ("same device", "devices mix"),
    ("to numpy", "numpy reads it"),
    ("as parameter", "a copy is no Parameter"),
    ("non-leaf", "a copy is no leaf"),
)
"""By what the device's messages say, what stops a program."""


class Program(NamedTuple):
    """A program, and what is known of it that no run fails of."""

    text: str
    discards: bool
    """Whether it throws the result of some call away."""
    loses: bool = False
    """Whether it takes the copy of a leaf for the leaf: for its gradient, or as a module's parameter."""


class Result(NamedTuple):
    """What devlint says of a program, and what becomes of it."""

    program: Program
    fixed: str
    says: str
    """`error`, `warning` or `nothing`."""
    before: dict[str, dict[str, Any]]
    """Outcomes by device."""
    after: dict[str, dict[str, Any]]
    otherwise: bool = False
    """Whether it fails on the device where one of its conditions comes out otherwise."""

    @property
    def truth(self) -> str:
        """What the program does."""
        cpu, sim = (self.before[device]["status"] == "ran" for device in ("cpu", "sim"))
        if not cpu:
            return "needs a GPU" if sim else "fails anywhere"
        if not sim:
            return "fails on the device"
        if self.program.loses:
            return "runs, a leaf is lost"
        if self.program.discards:
            return "runs, a result is thrown away"
        return "runs, fails on another path" if self.otherwise else "runs, nothing is thrown away"

    @property
    def bug(self) -> str:
        """What the program does, and by what it fails on the device alone."""
        if self.truth != "fails on the device":
            return self.truth
        message = self.before["sim"].get("message", "")
        return next((f"{self.truth}: {told}" for said, told in _STOPS if said in message), self.truth)

    @property
    def accused(self) -> bool:
        """Whether it is an error though nothing is wrong with it."""
        return self.truth == "runs, nothing is thrown away" and self.says == "error"

    @property
    def harm(self) -> str:
        """What the safe fixes broke, if anything."""
        for device in ("cpu", "sim"):
            if self.before[device]["status"] == "ran" != self.after[device]["status"]:
                return f"fails on {device}: {self.after[device].get('message', '')}"
        if self.before["cpu"].get("values") != self.after["cpu"].get("values"):
            return "computes something else on the cpu"
        return ""


class _Writer:
    """Writes one random program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.tensors: list[str] = []
        self.depth = 0
        self.made = 0
        self.discards = False
        self.loses = False

    def program(self) -> Program:
        """Write a program of six to sixteen steps."""
        for _ in range(3):
            self._make()
        steps: list[Callable[[], None]] = [
            *(self._make, self._make, self._move, self._move, self._discard, self._discard, self._combine),
            *(self._combine, self._combine, self._alias, self._contain, self._help, self._loop, self._branch),
            *(self._module, self._load, self._store, self._cast, self._read, self._grow),
            *(self._fresh, self._parameter, self._leaf, self._follow, self._array),
        ]
        for _ in range(self.random.randint(3, 13)):
            self.random.choice(steps)()
        for name in self.tensors[:3]:
            self._line(f"out.append({name}.sum().item())")
        body = "\n".join(self.lines)
        helpers = "".join(text for name, text in _HELPERS.items() if f"{name}(" in body)
        return Program(f"{_PRELUDE}{helpers}\n{body}\n", self.discards, self.loses)

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _any(self) -> str:
        return self.random.choice(self.tensors)

    def _where(self) -> str:
        choices = ["device", "device", "device", '"cpu"', f"{self._any()}.device", "out_place"]
        where = self.random.choice(choices)
        return "device" if where == "out_place" else where

    def _new(self, prefix: str = "t") -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def _make(self) -> None:
        value = self.random.choice(
            [
                "torch.ones(3)",
                "torch.arange(3.0)",
                "torch.tensor([1.0, 2.0, 3.0])",
                "torch.zeros(3, device=device)",
                "torch.full((3,), 2.0, device=device)",
                "torch.ones(3).to(device)",
                "torch.tensor(2.0)",
                "torch.ones(3, dtype=torch.float64)",
                "torch.ones(3, requires_grad=True)",
            ]
        )
        name = self._new()
        self._line(f"{name} = {value}")
        if self.depth == 0:
            self.tensors.append(name)

    def _call(self) -> str:
        return self.random.choice(
            [".cpu()", f".to({self._where()})", f".to(device={self._where()})", ".to(device)", ".to(device)"]
        )

    def _move(self) -> None:
        source = self._any()
        target = source if self.random.random() < 0.7 else self._any()
        self._line(f"{target} = {source}{self._call()}")

    def _discard(self) -> None:
        self.discards = True
        self._line(f"{self._any()}{self._call()}")

    def _cast(self) -> None:
        name = self._any()
        cast = self.random.choice(
            [".double()", ".float()", ".to(torch.float32)", ".to(device, torch.float32)"]
        )
        if self.random.random() < 0.5:
            self.discards = True
            self._line(f"{name}{cast}")
        else:
            self._line(f"{name} = {name}{cast}")

    def _combine(self) -> None:
        left, right = self._any(), self._any()
        made = self.random.choice(
            [
                f"{left} + {right}",
                f"{left} * {right}",
                f"torch.maximum({left}, {right})",
                f"torch.where({left} > 1, {left}, {right})",
                f"torch.cat([{left}.reshape(-1), {right}.reshape(-1)]).sum()",
                f"{left}.detach().clone()",
                f"{left}.add({right})",
            ]
        )
        if self.random.random() < 0.3:
            self._line(f"out.append(({made}).sum().item())")
        else:
            self._line(f"{left} = {made}")

    def _grow(self) -> None:
        left, right = self._any(), self._any()
        self._line(f"{left} = {left}.detach() + 1")
        self._line(f"{left} += {right}.detach()")

    def _alias(self) -> None:
        name = self._new()
        self._line(f"{name} = {self._any()}")
        if self.depth == 0:
            self.tensors.append(name)

    def _contain(self) -> None:
        name, left, right = self._new("c"), self._any(), self._any()
        shape = self.random.choice(["list", "tuple", "dict"])
        display = {"list": "[{}, {}]", "tuple": "({}, {})", "dict": '{{"a": {}, "b": {}}}'}[shape]
        first, second = ('["a"]', '["b"]') if shape == "dict" else ("[0]", "[1]")
        self._line(f"{name} = {display.format(left, right)}")
        if self.random.random() < 0.6:
            self.discards = True
            self._line(f"{name}{self.random.choice([first, second])}{self._call()}")
        elif shape != "tuple":
            self._line(f"{name}{first} = {name}{first}{self._call()}")
        self._line(f"out.append(({name}{first} + {name}{second}).sum().item())")

    def _help(self) -> None:
        name, where = self._any(), self._where()
        helper = self.random.choice(["keep", "drop", "keep_lost", "total"])
        if helper == "total":
            self._line(f"out.append(total({name}, {self._any()}).item())")
        elif helper == "keep_lost":
            self.discards = True
            self._line(f"keep({name}, {where})")
        else:
            self.discards |= helper == "drop"
            self._line(f"{name} = {helper}({name}, {where})")

    def _loop(self) -> None:
        names = ", ".join(self.random.sample(self.tensors, 2))
        part = self._new("p")
        self._line(f"for {part} in {self.random.choice(['[{}]', '({})']).format(names)}:")
        shape = self.random.choice(["kept", "lost", "discarded", "used"])
        if shape in ("kept", "lost"):
            self._line(f"    {part} = {part}{self._call()}")
        else:
            self._line(f"    {part}{self._call()}")
        if shape in ("kept", "used"):
            self._line(f"    out.append(({part} + {self._any()}).sum().item())")
        self.discards |= shape != "kept"

    def _branch(self) -> None:
        test = self.random.choice(["torch.cuda.is_available()", 'device.type == "cuda"', "len(out) % 2 == 0"])
        self._line(f"if {test}:")
        self.depth += 1
        self.random.choice([self._move, self._discard, self._combine])()
        self.depth -= 1
        if self.random.random() < 0.4:
            self._line("else:")
            self.depth += 1
            self.random.choice([self._move, self._discard, self._combine])()
            self.depth -= 1

    def _module(self) -> None:
        name, source = self._new("m"), self._any()
        self._line(f"{name} = Shift()")
        if self.random.random() < 0.8:
            self._line(f"{name}.to({self._where()})")
        if self.random.random() < 0.3:
            self.discards = True
            self._line(f"{source}{self._call()}")
        self._line(f"out.append({name}({source}.detach().reshape(-1)[:3]).sum().item())")

    def _load(self) -> None:
        name = self._new("b")
        self._line(
            f"for {name}, {name}y in DataLoader(TensorDataset(torch.ones(4, 3), torch.ones(4, 3)), 2):"
        )
        move = self.random.choice(["kept", "discarded", "neither"])
        if move == "kept":
            self._line(f"    {name} = {name}{self._call()}")
        elif move == "discarded":
            self.discards = True
            self._line(f"    {name}{self._call()}")
        self._line(f"    out.append(({name} + {self.random.choice([f'{name}y', self._any()])}).sum().item())")

    def _store(self) -> None:
        name = self._new("s")
        self._line(f"{name} = Store({self._any()})")
        self._line(f"{name}.to({self._where()})")
        if self.random.random() < 0.4:
            self.discards = True
            self._line(f"{name}.value{self._call()}")
        self._line(f"out.append(({name}.value + {self._any()}).sum().item())")

    def _read(self) -> None:
        name = self._any()
        self._line(
            self.random.choice(
                [
                    f"out.append({name}.detach().numpy().sum().item())",
                    f"out.append(torch.equal({name}, {self._any()}))",
                    f"out.append({name}.reshape(-1)[torch.tensor([0])].sum().item())",
                    f"out.append({name}.tolist())",
                    f"out.append(sorted([{name}.sum().item(), 1.0]))",
                ]
            )
        )

    def _fresh(self) -> None:
        name = self._new()
        made = [
            "zeros(3)",
            "arange(3.0)",
            "arange(0, 3, 1)",
            "full((3,), 2.0)",
            "eye(3)[0]",
            "tensor([1.0, 2.0, 3.0])",
        ]
        self._line(f"{name} = torch.{self.random.choice(made)}.to(device)")
        if self.depth == 0:
            self.tensors.append(name)

    def _parameter(self) -> None:
        name, source = self._new("w"), self._any()
        moved = self.random.choice([".to(where)", ".to(where, torch.float64)", ".double()", ""])
        then = self.random.choice(
            ["pass", "self.w = x", "self.w.mul_(2)", "self.w[0] = 2.0", "self.w.data.mul_(2)", "self.w += x"]
        )
        self.loses |= bool(moved)
        self._line(f"class {name}(nn.Module):")
        self._line("    def __init__(self, where):")
        self._line("        super().__init__()")
        self._line(f"        self.w = nn.Parameter(torch.ones(3)){moved}")
        self._line("    def forward(self, x):")
        self._line("        return x * self.w")
        self._line("    def update(self, x):")
        self._line(f"        {then}")
        self._line(f"{name} = {name}(device)")
        self._line(f"{name}.update({source}.detach().to(device).reshape(-1)[:1] + 1)")
        self._line(f"out.append({name}({source}.detach().to(device)).sum().item())")

    def _leaf(self) -> None:
        name = self._new("l")
        made = self.random.choice(
            [
                "torch.ones(3, requires_grad=True)",
                "torch.randn(3, generator=torch.Generator(), requires_grad=True)",
                "torch.ones(3).requires_grad_()",
                f"{name}x.requires_grad_()",
                "nn.Parameter(torch.ones(3))",
            ]
        )
        self._line(f"{name}x = torch.ones(3)")
        self._line(f"{name} = {made}.to(device)")
        self._line(f"({name} * 2).sum().backward()")
        self._line(f"out.append({name}x.grad is None)")
        use = self.random.choice([f"torch.optim.SGD([{name}], lr=0.1)", f"{name}.grad", f"{name}.sum()"])
        self.loses |= use == f"{name}.grad"
        self._line(f"out.append({use} is None)")

    def _follow(self) -> None:
        one, other = self._any(), self._any()
        self._line(f"if {one}.is_cuda:")
        if self.random.random() < 0.4:
            self._line(f"    {one} = {one}{self._call()}")
        self._line(f"    {other} = {other}.cuda()")

    def _array(self) -> None:
        name, source = self._new("a"), self._any()
        self._line(f"{name} = {source}.detach()")
        if self.random.random() < 0.5:
            self._line("if len(out) % 2:")
            self._line(f"    {name} = {self.random.choice(['None', '1.0', f'{source}.detach().cpu()'])}")
        read = self.random.choice(
            [f"np.asarray({name})", f"np.sum({name})", f"np.asarray({name}.reshape(-1))"]
        )
        self._line(f"out.append(str({read}))")


def programs(number: int, seed: int) -> list[Program]:
    """Random programs, the same for the same seed."""
    return [_Writer(seed * 1_000_003 + index).program() for index in range(number)]


def compare(made: Sequence[Program]) -> list[Result]:
    """Lint and fix the programs, and run them before and after on both devices."""
    fixed = [fix(program.text.encode(), "p.py", _ALL).raw.decode() for program in made]
    says = [_says(program.text) for program in made]
    sources = list(dict.fromkeys([*(program.text for program in made), *fixed]))
    outcomes = {device: dict(zip(sources, _run(device, sources), strict=True)) for device in ("cpu", "sim")}
    found = [
        Result(
            program,
            after,
            said,
            *({d: outcomes[d][text] for d in outcomes} for text in (program.text, after)),
        )
        for program, after, said in zip(made, fixed, says, strict=True)
    ]
    return [
        each._replace(otherwise=_fails_otherwise(each.program.text)) if each.accused else each
        for each in found
    ]


def _fails_otherwise(text: str) -> bool:
    """Whether a program fails on the device alone where conditions on its own numbers come out otherwise."""
    places = [match.start() for match in re.finditer(r"len\(out\) % 2", text)]
    chosen = [some for size in (1, 2) for some in itertools.combinations(reversed(places), size)]
    variants = [_turned(text, some) for some in chosen]
    if not variants:
        return False
    cpu, sim = (_run(device, variants) for device in ("cpu", "sim"))
    return any(one["status"] == "ran" != other["status"] for one, other in zip(cpu, sim, strict=True))


def _turned(text: str, places: Sequence[int]) -> str:
    for place in places:  # the last first
        text = f"{text[:place]}1 - {text[place:]}"
    return text


def _of(outcomes: dict[str, dict[str, dict[str, Any]]], text: str) -> dict[str, dict[str, Any]]:
    return {device: by_text[text] for device, by_text in outcomes.items()}


def _says(text: str) -> str:
    found = {finding.severity for finding in lint(text.encode(), "p.py", Settings())}
    return "error" if Severity.ERROR in found else "warning" if found else "nothing"


def _run(device: str, sources: Sequence[str]) -> list[dict[str, Any]]:
    """Run programs in one worker, which forks for each."""
    jobs = [{"path": "p.py", "source": text, "setup": "", "expressions": ["out"]} for text in sources]
    command = [sys.executable, "-m", "devlint.runtime.worker", device]
    done = subprocess.run(command, input=json.dumps(jobs), capture_output=True, text=True, check=True)
    about, *outcomes = (json.loads(line) for line in done.stdout.splitlines())
    if "unavailable" in about:
        raise SystemExit(f"{device}: {about['unavailable']}")
    return outcomes


def main() -> int:
    """Print the table and what fixes broke."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--write", type=Path, help="a folder for programs that a fix broke, or that are wrongly errors"
    )
    given = parser.parse_args()
    results = compare(programs(given.programs, given.seed))
    table = Counter((result.bug, result.says) for result in results)
    print(f"{'':44}{'error':>9}{'warning':>9}{'nothing':>9}")
    for bug in sorted({bug for bug, _ in table}):
        print(f"{bug:44}" + "".join(f"{table[bug, says]:9}" for says in ("error", "warning", "nothing")))
    changed = [result for result in results if result.fixed != result.program.text]
    cured = sum(r.before["sim"]["status"] != "ran" == r.after["sim"]["status"] for r in changed)
    harmed = [result for result in changed if result.harm]
    print(f"{len(changed)} programs changed by safe fixes, {cured} cured by them, {len(harmed)} harmed")
    for number, result in enumerate(harmed):
        print(f"  {result.harm}")
        if given.write:
            given.write.mkdir(parents=True, exist_ok=True)
            given.write.joinpath(f"{number}_before.py").write_text(result.program.text)
            given.write.joinpath(f"{number}_after.py").write_text(result.fixed)
    accused = [result for result in results if result.accused]
    print(f"{len(accused)} programs are errors with which nothing is wrong")
    for number, result in enumerate(accused if given.write else ()):
        given.write.mkdir(parents=True, exist_ok=True)
        given.write.joinpath(f"{number}_accused.py").write_text(result.program.text)
    return 1 if harmed or accused else 0


if __name__ == "__main__":
    sys.exit(main())
