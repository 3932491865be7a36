"""`devlint run`: programs are run to their end, and what a GPU would have stopped is found at its line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from devlint.commands.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SERVER = """
import json, os, sys, torch, torch._dynamo
from devlint.commands.cli import main
for line in sys.stdin:
    folder, arguments = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.environ["NO_COLOR"] = "1"
        for name, number in (("out", 1), ("err", 2)):
            os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), number)
        status = 70
        try:
            status = main(arguments)
        finally:
            sys.stdout.flush()
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Torch is imported once, and each program has a process of its own."""


class Ran(NamedTuple):
    """What the command did."""

    status: int
    out: str
    err: str
    folder: Path = Path()


@pytest.fixture(scope="module")
def run(torch_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Ran]]:
    pipe = subprocess.PIPE
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=pipe, stdout=pipe, text=True)
    assert server.stdin is not None
    assert server.stdout is not None
    stdin, stdout = server.stdin, server.stdout

    def call(source: str, *arguments: str, files: dict[str, str] | None = None, command: str = "run") -> Ran:
        folder = tmp_path_factory.mktemp("program")
        (folder / "program.py").write_text(source)
        for name, text in (files or {}).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        stdin.write(json.dumps([str(folder), [command, *arguments]]) + "\n")
        stdin.flush()
        status = int(stdout.readline())
        return Ran(status, (folder / "out").read_text(), (folder / "err").read_text(), folder)

    yield call
    server.kill()
    server.wait()


BUGS = """\
import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Double(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * torch.full((4,), 2.0)  # created-on-cpu


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(4)
        self.first = nn.Linear(4, 4)
        self.rest = [nn.Linear(4, 4)]

    def forward(self, x):
        x = self.first(x)  # batch-not-moved
        x = x * self.scale  # unregistered-tensor
        noise = torch.randn(x.shape)
        for layer in self.rest:
            x = layer(x)  # unregistered-module
        return Double.apply(x) + noise  # created-on-cpu


model = Net()
model.to(device)
loader = DataLoader(TensorDataset(torch.rand(8, 4)), batch_size=4)
optimizer = torch.optim.Adam(model.parameters())
weights = torch.rand(4, 4)
weights.to(device)  # discarded-move
steps = 0
for (x,) in loader:
    x.to(device)  # discarded-move
    optimizer.zero_grad()
    loss = (model(x) * weights).pow(2).mean()  # created-on-cpu
    loss.backward()
    optimizer.step()
    steps += 1
late = nn.Linear(4, 1)
adam = torch.optim.Adam(late.parameters())
late(torch.ones(2, 4)).sum().backward()
adam.step()
late(torch.ones(2, 4, device=device))  # module-not-moved
late.cuda()
adam.step()  # optimizer-before-move
numbers = torch.Generator()
drawn = torch.rand(2, generator=numbers, device=device)  # generator-device
total = torch.zeros(4)
total += model.first.weight[0].detach()  # created-on-cpu
array = loss.detach().numpy()  # numpy-on-device
weights.double()  # discarded-cast
host = drawn.cpu()
host * drawn  # mixed-devices
torch.zeros(1).cuda()
print("steps", steps, total.device, type(array).__name__)
"""


def marked(source: str) -> list[tuple[int, str]]:
    rows = enumerate(source.splitlines(), 1)
    return [(row, text.partition("  # ")[2]) for row, text in rows if "  # " in text]


@pytest.fixture(scope="module")
def bugs(run: Callable[..., Ran]) -> Ran:
    return run(BUGS, "--output-format", "json", "program.py")


def test_each_bug_is_found_at_its_line_and_nothing_else(bugs: Ran) -> None:
    found = [(each["location"]["row"], each["name"]) for each in json.loads(bugs.out)]
    assert sorted(found) == marked(BUGS)
    assert bugs.status == 1


def test_the_program_goes_on_with_mended_values(bugs: Ran) -> None:
    """What it prints is on stderr, where stdout is for a machine."""
    assert bugs.err == "steps 2 cpu ndarray\n"


def at(bugs: Ran, row: int) -> dict[str, Any]:
    found = [each for each in json.loads(bugs.out) if each["location"]["row"] == row]
    assert len(found) == 1
    one: dict[str, Any] = found[0]
    return one


def row_of(text: str) -> int:
    return next(row for row, line in enumerate(BUGS.splitlines(), 1) if text in line)


COMES_FROM = {
    "+ noise": [("noise = torch", "it is made on the cpu by `randn`")],
    "* weights": [
        ("weights = torch", "it is made on the cpu by `rand`"),
        ("weights.to", "its moved copy is thrown away"),
    ],
    "x = self.first(x)": [
        ("for (x,) in", "`x` comes from the loader"),
        ("x.to(", "its moved copy is thrown away"),
    ],
    "* self.scale": [("self.scale =", "it is made on the cpu by `ones`")],
    "x = layer(x)": [("self.rest =", "`Linear` is made here")],
    "host * drawn": [("host = drawn", "it is brought to the cpu by `cpu`")],
}


@pytest.mark.parametrize("line", COMES_FROM)
def test_where_a_value_comes_from(bugs: Ran, line: str) -> None:
    told = [(each["location"]["row"], each["message"]) for each in at(bugs, row_of(line))["related"]]
    expected = [(row_of(text), message) for text, message in COMES_FROM[line]]
    assert told[: len(expected)] == expected


def test_what_is_found_again_is_counted(bugs: Ran) -> None:
    found = at(bugs, row_of("* self.scale"))
    assert found["message"] == "`self.scale` is on the cpu, where `mul` cannot take it (2 times)"
    assert found["code"].startswith("DEV")
    assert (found["location"]["column"], found["end_location"]["column"]) == (13, 27)


def test_stop_ends_at_the_first(run: Callable[..., Ran]) -> None:
    ran = run(BUGS, "--stop", "--output-format", "concise", "program.py")
    assert ran.status == 1
    rows = [row_of("x = self.first(x)"), row_of("weights.to"), row_of("x.to(")]
    found = [line.split(":")[1] for line in ran.out.splitlines() if line.startswith("program.py")]
    assert found == [str(row) for row in rows]  # a copy that is thrown away stops no GPU
    assert "steps" not in ran.out


RIGHT = """\
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from .device import device

model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1)).to(device)
loader = DataLoader(TensorDataset(torch.rand(40, 4)), batch_size=4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(2):
    steps = 0
    for (x,) in loader:
        optimizer.zero_grad()
        model(x.to(device)).sum().backward()
        optimizer.step()
        steps += 1
    print("steps", steps, len(loader), sys.argv[1:], __name__, device)
"""


def test_a_module_with_arguments_and_few_steps(run: Callable[..., Ran]) -> None:
    files = {
        "pack/__init__.py": "",
        "pack/train.py": RIGHT,
        "pack/device.py": "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n",
    }
    ran = run("", "--limit-steps", "3", "-m", "pack.train", "--stop", "1", files=files)
    assert ran[:3] == (0, "steps 3 10 ['--stop', '1'] __main__ cuda\n" * 2 + "All checks passed.\n", "")


def test_two_devices(run: Callable[..., Ran]) -> None:
    source = (
        "import torch\na = torch.ones(2, device='cuda:1')\nb = torch.ones(2).cuda()\nprint((b + a).device)\n"
    )
    ran = run(source, "--devices", "2", "--output-format", "concise", "program.py")
    assert ran.status == 1
    assert ran.out.startswith("cuda:0\nprogram.py:4:8: ")
    assert "`a` is on cuda:1, where `add` cannot take it" in ran.out


PADDED = """\
import torch
from torch import nn

layer = nn.TransformerEncoderLayer(4, 2, batch_first=True)
encoder = nn.TransformerEncoder(layer, 1).cuda().eval()
padding = torch.tensor([[False, True]]){}
with torch.no_grad():
    out = encoder(torch.ones(1, 2, 4).cuda(), src_key_padding_mask=padding)
print(out[0, 1].abs().sum().item() == 0)
"""


def test_following_changes_no_value(run: Callable[..., Ran]) -> None:
    """A mode would keep the encoder from leaving zeros where there is padding."""
    assert run(PADDED.format(".cuda()"), "program.py")[:2] == (0, "True\nAll checks passed.\n")
    ran = run(PADDED.format(""), "--output-format", "concise", "program.py")
    assert "program.py:8:11: " in ran.out
    assert ran.status == 1


TRACED = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def prepare(t: torch.Tensor):
    t.to(device)
    return t


def copied(t: torch.Tensor):
    t.double()
    return t


def unused(t: torch.Tensor):
    t.to(device)
    return t


weights = prepare(torch.ones(2, 4))
again = copied(torch.ones(2, 4, device=device).double())
for step in range(2):
    x = torch.rand(2, 4).to(device)
    print((x * 2 + x).sum().item() > 0)
"""


def test_trace_tells_what_tensors_do(run: Callable[..., Ran]) -> None:
    ran = run(TRACED, "program.py", command="trace")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["8", "moved", "cpu", "→", "cuda:0", "to", "32", "B"] in lines
    assert ["25", "moved", "cpu", "→", "cuda:0", "to", "2", "x", "64", "B"] in lines
    assert ["25", "made", "cpu", "rand", "2", "x", "64", "B"] in lines
    assert ["26", "met", "cuda:0", "add", "2", "x"] in lines
    assert ["26", "read", "cuda:0", "→", "cpu", "item", "2", "x", "8", "B"] in lines
    assert lines[-1] == ["moved:", "96", "B", "cpu", "→", "cuda:0"]
    assert ran.status == 1


def test_findings_are_set_beside_a_run(
    run: Callable[..., Ran], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run(TRACED, "--output-format", "json", "-o", "trace.json", "program.py", command="trace")
    monkeypatch.chdir(ran.folder)
    assert main(["--with-trace", "trace.json", "--output-format", "json", "program.py"]) == 1
    found = {each["location"]["row"]: each["message"] for each in json.loads(capsys.readouterr().out)}
    assert found[8].endswith("stays put (observed)")
    assert found[13].endswith("(contradicted: the line was run)")
    assert found[18].endswith("stays put")  # the run does not come past it
    assert main(["--with-trace", "program.py", "program.py"]) == 2
    assert "program.py is not what `devlint trace` writes" in capsys.readouterr().err


PARTS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters())
for step, _ in enumerate(DataLoader(range(12), 4)):
    x = torch.empty(8, 4, device=device).normal_()
    if device == "cuda":
        torch.cuda.synchronize()
    loss = model(x).pow(2).mean() * {}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_values_are_those_of_the_cpu(run: Callable[..., Ran]) -> None:
    """Without seeds, and though optimizers do it otherwise on a GPU."""
    ran = run(PARTS.format("1"), "--cpu-compare", "--limit-steps", "2", "program.py")
    assert (ran.status, ran.out) == (0, "All checks passed.\n")
    assert re.fullmatch(r"devlint: \d\d values at \d+ places are (exactly )?those of the cpu.*\n", ran.err)


def test_where_values_part(run: Callable[..., Ran]) -> None:
    ran = run(PARTS.format("(1 if step < 2 or device == 'cpu' else 2)"), "--cpu-compare", "program.py")
    assert ran.status == 1
    assert re.match(r"devlint: program.py:12:12: `mul` gives [\d.]+ on the cpu and [\d.]+ on", ran.err)
    assert "when it is called for the 3rd time" in ran.err


def test_what_does_not_run_on_the_cpu_is_not_compared(run: Callable[..., Ran]) -> None:
    ran = run("import torch\nprint(torch.ones(1).cuda().item())", "--cpu-compare", "program.py")
    assert (ran.status, ran.out.startswith("1.0\n")) == (2, True)
    assert ran.err.startswith(
        "devlint: the program does not run on the cpu, so nothing is compared: Assertion"
    )


ELSEWHERE = """\
import threading
import torch
import torch.multiprocessing as mp


def work(queue):
    here = torch.ones(3)
    queue.put((torch.ones(3, device="cuda") + here).sum().item())  # created-on-cpu


def threaded():
    torch.ones(3, device="cuda") * torch.ones(3)  # created-on-cpu


if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        context = mp.get_context(method)
        queue = context.Queue()
        process = context.Process(target=work, args=(queue,))
        process.start()
        print(method, queue.get())
        process.join()
    thread = threading.Thread(target=threaded)
    thread.start()
    thread.join()
"""


def test_threads_and_processes_are_followed(run: Callable[..., Ran]) -> None:
    ran = run(ELSEWHERE, "--output-format", "json", "program.py")
    found = {(each["location"]["row"], each["name"]): each["message"] for each in json.loads(ran.out)}
    assert sorted(found) == marked(ELSEWHERE)
    assert found[8, "created-on-cpu"] == "`here` is on the cpu, where `add` cannot take it (3 times)"
    assert ran.status == 1
    assert ran.err.startswith(
        "fork 6.0\nspawn 6.0\nforkserver 6.0\n"
    )  # what the server's exit leaves is told


WORKERS = """\
import torch
from torch.utils.data import DataLoader, Dataset

scale = torch.ones(3, device="cuda")


class Data(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        sample = torch.ones(3) * index
        return (sample * scale).cpu()  # the line


print(sum(batch.sum().item() for batch in DataLoader(Data(), 2, num_workers=2)))
"""


def test_what_goes_wrong_in_a_worker_is_told(run: Callable[..., Ran]) -> None:
    ran = run(WORKERS, "--output-format", "json", "program.py")
    row = next(row for row, line in enumerate(WORKERS.splitlines(), 1) if "# the line" in line)
    found = {(each["location"]["row"], each["name"], each["message"]) for each in json.loads(ran.out)}
    fork = "`mul` uses the device in a process that was forked from one that has used it (2 times)"
    assert found == {
        (row, "cuda-in-worker", fork),
        (row, "created-on-cpu", "`sample` is on the cpu, where `mul` cannot take it (4 times)"),
    }
    assert (ran.status, ran.err) == (1, "18.0\n")


def test_the_first_finding_in_a_worker_stops_the_program(run: Callable[..., Ran]) -> None:
    ran = run(WORKERS, "--stop", "--output-format", "concise", "program.py")
    assert ran.status == 1
    assert "DEV501" in ran.out
    assert "DEV403" not in ran.out
    assert "18.0" not in ran.out


SENT = """\
import torch
import torch.multiprocessing as mp


def work(queue):
    queue.put(torch.ones(3, device="cuda"))


if __name__ == "__main__":
    queue = mp.get_context("fork").Queue()
    mp.get_context("fork").Process(target=work, args=(queue,)).start()
    queue.get()
"""


def test_nobody_waits_for_what_cannot_be_sent(run: Callable[..., Ran]) -> None:
    ran = run(SENT, "program.py")
    assert ran.status == 3
    assert ran.err == "devlint: not simulated: a tensor of the device in two processes; send `.cpu()` of it\n"


def test_another_interpreter_is_a_limit(run: Callable[..., Ran]) -> None:
    source = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'pass'])\n"
    ran = run(source, "program.py")
    assert ran.status == 3
    said = "another process of Python, which has no simulated device (program.py:2)"
    assert ran.err.startswith(f"devlint: not simulated: {said}")
    assert run("import subprocess\nsubprocess.run(['true'])\n", "program.py").status == 0


LIMIT = "not simulated: a tensor of layout torch.sparse_coo"
ENDS = {
    "nothing": ("x = 1", 0, ""),
    "limit": ("import torch\ntorch.eye(2).cuda().to_sparse()", 3, f"{LIMIT} (program.py:2)"),
    "handled": (
        "import torch\ntry:\n    torch.eye(2).cuda().to_sparse()\nexcept Exception:\n    pass",
        3,
        f"{LIMIT}; the program has handled that and gone on",
    ),
    "error": ("def f():\n    raise KeyError(1)\nf()", 2, "the program was stopped by KeyError"),
    "exit": ("raise SystemExit(3)", 2, "the program exited with status 3"),
    "left": ("raise SystemExit", 0, ""),
    "beyond mending": (
        "import torch\np = torch.ones(2).cuda()\np.grad = torch.ones(2)",
        1,
        "the program ended at an error about devices that could not be mended",
    ),
    "syntax": ("x = (", 2, "program.py: '(' was never closed (program.py, line 1)"),
}


@pytest.mark.parametrize("end", ENDS)
def test_how_it_ends(run: Callable[..., Ran], end: str) -> None:
    source, status, said = ENDS[end]
    ran = run(source, "program.py")
    assert ran.status == status
    assert ran.err.endswith(f"devlint: {said}\n" if said else ""), ran.err
    assert said or ran.err == ""


def test_an_error_of_the_program_has_its_traceback_and_no_other(run: Callable[..., Ran]) -> None:
    err = run(ENDS["error"][0], "program.py").err
    assert err.startswith('Traceback (most recent call last):\n  File "program.py", line 3, in <module>\n')
    assert "devlint/" not in err


ABSENT = {
    "gone.py": "gone.py: No such file or directory",
    "-m": "run: name a script, or a module after -m",
}


@pytest.mark.parametrize("argument", ABSENT)
def test_what_is_not_there(run: Callable[..., Ran], argument: str) -> None:
    assert run("", argument)[:3] == (2, "", f"devlint: {ABSENT[argument]}\n")


def test_a_module_that_is_not_there(run: Callable[..., Ran]) -> None:
    assert run("", "-m", "no.such")[:3] == (2, "", "devlint: there is no module no.such\n")
