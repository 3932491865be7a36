"""Plants placement bugs in random training scripts, and counts at which lines `devlint run` finds them.

    python benchmarks/planted.py --programs 400 --seed 1

A program is made of some of twenty pieces, each right or with a bug; every third program has none. Each is
run to its end by `devlint run`. The table says how many of the planted lines were found, by piece, and what
was found besides. The exit status is 1 if fewer than 98 of 100 were found, or anything else was.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

_PRELUDE = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
h = torch.rand(4, 4, device=device)
"""

# Of each piece: lines that are right, lines with a bug. `#!` ends the lines where a GPU would have stopped.
_PIECES: dict[str, tuple[str, str]] = {
    "batch": (
        """
net{n} = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
opt{n} = torch.optim.SGD(net{n}.parameters(), 0.1)
for x, y in DataLoader(TensorDataset(torch.rand(8, 4), torch.randint(0, 2, (8,))), 4):
    x, y = x.to(device), y.to(device)
    loss = F.cross_entropy(net{n}(x), y)
    opt{n}.zero_grad()
    loss.backward()
    opt{n}.step()
""",
        """
net{n} = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(device)
opt{n} = torch.optim.SGD(net{n}.parameters(), 0.1)
for x, y in DataLoader(TensorDataset(torch.rand(8, 4), torch.randint(0, 2, (8,))), 4):
    y = y.to(device)
    out = net{n}(x)  #!
    loss = F.cross_entropy(out, y)
    opt{n}.zero_grad()
    loss.backward()
    opt{n}.step()
""",
    ),
    "target": (
        """
head{n} = nn.Linear(4, 3).to(device)
for x, y in DataLoader(TensorDataset(torch.rand(8, 4), torch.randint(0, 3, (8,))), 4):
    F.cross_entropy(head{n}(x.to(device)), y.to(device)).backward()
""",
        """
head{n} = nn.Linear(4, 3).to(device)
for x, y in DataLoader(TensorDataset(torch.rand(8, 4), torch.randint(0, 3, (8,))), 4):
    F.cross_entropy(head{n}(x.to(device)), y).backward()  #!
""",
    ),
    "mask": (
        """
mask{n} = torch.ones(4, 4, dtype=torch.bool, device=h.device).tril()
kept{n} = h.masked_fill(mask{n}, 0.0)
""",
        """
mask{n} = torch.ones(4, 4, dtype=torch.bool).tril()
kept{n} = h.masked_fill(mask{n}, 0.0)  #!
""",
    ),
    "discarded": (
        """
t{n} = torch.rand(4)
t{n} = t{n}.to(device)
s{n} = (h * t{n}).sum()
""",
        """
t{n} = torch.rand(4)
t{n}.to(device)  #!
s{n} = (h * t{n}).sum()  #!
""",
    ),
    "attribute": (
        """
class Scaled{n}(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.register_buffer("scale", torch.rand(4))

    def forward(self, x):
        return self.inner(x) * self.scale


Scaled{n}().to(device)(h).sum().backward()
""",
        """
class Scaled{n}(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.scale = torch.rand(4)

    def forward(self, x):
        return self.inner(x) * self.scale  #!


Scaled{n}().to(device)(h).sum().backward()
""",
    ),
    "container": (
        """
class Stack{n}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


Stack{n}().to(device)(h).sum().backward()
""",
        """
class Stack{n}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4), nn.Linear(4, 4)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()  #!
        return x


Stack{n}().to(device)(h).sum().backward()
""",
    ),
    "module": (
        "\ncritic{n} = nn.Linear(4, 1).to(device)\nvalue{n} = critic{n}(h)\n",
        "\ncritic{n} = nn.Linear(4, 1)\nvalue{n} = critic{n}(h)  #!\n",
    ),
    "optimizer": (
        """
late{n} = nn.Linear(4, 1)
late{n}.to(device)
adam{n} = torch.optim.Adam(late{n}.parameters())
late{n}(h).sum().backward()
adam{n}.step()
""",
        """
late{n} = nn.Linear(4, 1)
adam{n} = torch.optim.Adam(late{n}.parameters())
late{n}(torch.rand(2, 4)).sum().backward()
adam{n}.step()
late{n}.to(device)
late{n}(h).sum().backward()
adam{n}.step()  #!
""",
    ),
    "numpy": (
        "\narray{n} = h.detach().cpu().numpy()\n",
        "\narray{n} = h.detach().numpy()  #!\n",
    ),
    "generator": (
        "\ndrawn{n} = torch.rand(4, generator=torch.Generator(device).manual_seed(1), device=device)\n",
        "\ndrawn{n} = torch.rand(4, generator=torch.Generator().manual_seed(1), device=device)  #!\n",
    ),
    "in place": (
        "\ntotal{n} = torch.zeros(4, device=device)\nfor _ in range(2):\n    total{n} += h.sum(0)\n",
        "\ntotal{n} = torch.zeros(4)\nfor _ in range(2):\n    total{n} += h.sum(0)  #!\n",
    ),
    "index": (
        "\ntable{n} = torch.rand(6, 4).to(device)\npicked{n} = table{n}[h.argmax(1)]\n",
        "\ntable{n} = torch.rand(6, 4)\npicked{n} = table{n}[h.argmax(1)]  #!\n",
    ),
    "cat": (
        "\njoined{n} = torch.cat([h, torch.zeros(1, 4, device=h.device)])\n",
        "\njoined{n} = torch.cat([h, torch.zeros(1, 4)])  #!\n",
    ),
    "helper": (
        """
def mix{n}(a, b):
    return a @ b


mixed{n} = mix{n}(h, torch.eye(4).to(h))
""",
        """
def mix{n}(a, b):
    return a @ b  #!


mixed{n} = mix{n}(h, torch.eye(4))
""",
    ),
    "dict": (
        """
batch{n} = {{"ids": torch.randint(0, 9, (2, 5)), "mask": torch.ones(2, 5)}}
batch{n} = {{key: value.to(device) for key, value in batch{n}.items()}}
words{n} = nn.Embedding(9, 4).to(device)
pooled{n} = (words{n}(batch{n}["ids"]) * batch{n}["mask"][..., None]).sum(1)
""",
        """
batch{n} = {{"ids": torch.randint(0, 9, (2, 5)), "mask": torch.ones(2, 5)}}
batch{n}["ids"] = batch{n}["ids"].to(device)
words{n} = nn.Embedding(9, 4).to(device)
pooled{n} = (words{n}(batch{n}["ids"]) * batch{n}["mask"][..., None]).sum(1)  #!
""",
    ),
    "recurrent": (
        """
lstm{n} = nn.LSTM(4, 3, batch_first=True).to(device)
state{n} = (torch.zeros(1, 4, 3, device=device), torch.zeros(1, 4, 3, device=device))
out{n}, state{n} = lstm{n}(h[:, None], state{n})
""",
        """
lstm{n} = nn.LSTM(4, 3, batch_first=True).to(device)
state{n} = (torch.zeros(1, 4, 3), torch.zeros(1, 4, 3))
out{n}, state{n} = lstm{n}(h[:, None], state{n})  #!
""",
    ),
    "criterion": (
        """
criterion{n} = nn.CrossEntropyLoss(weight=torch.rand(4)).to(device)
error{n} = criterion{n}(h, torch.arange(4, device=device))
""",
        """
criterion{n} = nn.CrossEntropyLoss(weight=torch.rand(4))
error{n} = criterion{n}(h, torch.arange(4, device=device))  #!
""",
    ),
    "attention": (
        """
q{n} = h.reshape(1, 2, 2, 4)
seen{n} = F.scaled_dot_product_attention(q{n}, q{n}, q{n}, attn_mask=torch.zeros(2, 2).to(q{n}))
""",
        """
q{n} = h.reshape(1, 2, 2, 4)
seen{n} = F.scaled_dot_product_attention(q{n}, q{n}, q{n}, attn_mask=torch.zeros(2, 2))  #!
""",
    ),
    "places": (
        """
places{n} = nn.Embedding(8, 4).to(device)
with torch.no_grad():
    placed{n} = h + places{n}(torch.arange(4, device=h.device))
""",
        """
places{n} = nn.Embedding(8, 4).to(device)
with torch.no_grad():
    placed{n} = h + places{n}(torch.arange(4))  #!
""",
    ),
    "backward": (
        """
class Twice{n}(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * torch.full((4,), 2.0, device=gradient.device)


Twice{n}.apply(h.clone().requires_grad_()).sum().backward()
""",
        """
class Twice{n}(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * torch.full((4,), 2.0)  #!


Twice{n}.apply(h.clone().requires_grad_()).sum().backward()
""",
    ),
}
_SERVER = """
import json, os, sys, torch, torch._dynamo
from devlint.commands.cli import main
for line in sys.stdin:
    path, report = json.loads(line)
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        status = 70
        try:
            status = main(["run", "--output-format", "json", "-o", report, path])
        finally:
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Torch is imported once, and each program has a process of its own."""


class Program(NamedTuple):
    """A program, and the lines with bugs, by the piece that they are in."""

    text: str
    planted: dict[int, str]


def program(number: random.Random, right: bool) -> Program:
    """Write one of two to six pieces."""
    lines = _PRELUDE.splitlines()
    planted: dict[int, str] = {}
    names = number.sample(sorted(_PIECES), number.randint(2, 6))
    for n, name in enumerate(names):
        wrong = not right and (n == 0 or number.random() < 0.5)
        nested = number.random() < 0.3
        if nested:
            lines.append(f"def part{n}():")
        for line in _PIECES[name][wrong].format(n=n).splitlines():
            text, bug, _ = line.partition("  #!")
            lines.append("    " * nested * bool(text) + text)
            if bug:
                planted[len(lines)] = name
        if nested:
            lines += ["", f"part{n}()"]
    return Program("\n".join(lines) + "\n", planted)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--programs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the programs that were judged wrongly")
    given = parser.parse_args()
    planted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    besides: list[str] = []
    silent = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdin=pipe, stdout=pipe, text=True, cwd=folder
        )
        assert server.stdin is not None
        assert server.stdout is not None
        for index in range(given.programs):
            made = program(random.Random(f"{given.seed}:{index}"), index % 3 == 0)
            path, report = Path(folder, f"p{index}.py"), Path(folder, f"p{index}.json")
            path.write_text(made.text, encoding="utf-8")
            server.stdin.write(json.dumps([str(path), str(report)]) + "\n")
            server.stdin.flush()
            status = int(server.stdout.readline())
            rows = {each["location"]["row"] for each in json.loads(report.read_text() or "[]")}
            planted.update(made.planted.values())
            found.update(name for row, name in made.planted.items() if row in rows)
            silent += not made.planted and status == 0
            wrong = [f"{path.name}:{row}: nothing is planted there" for row in rows - made.planted.keys()]
            if status != bool(made.planted):
                wrong.append(f"{path.name}: exit status {status}")
            missed = made.planted.keys() - rows
            if given.keep and (wrong or missed):
                given.keep.mkdir(parents=True, exist_ok=True)
                given.keep.joinpath(path.name).write_text(f"# missed: {sorted(missed)} {wrong}\n{made.text}")
            besides += wrong
        server.stdin.close()
        server.wait()
    print("| piece | planted lines | found |\n| --- | --- | --- |")
    for name in sorted(planted):
        print(f"| {name} | {planted[name]} | {found[name]} |")
    print(f"| all | {planted.total()} | {found.total()} |")
    rights = len(range(0, given.programs, 3))
    print(
        f"\n{silent} of {rights} right programs without a finding; elsewhere: {len(besides)} findings besides"
    )
    print("\n".join(besides))
    return int(bool(besides) or found.total() < 0.98 * planted.total())


if __name__ == "__main__":
    sys.exit(main())
