"""`%%devlint_run`: cells are run in a shell of IPython, and what is found stands at the cells' own lines."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any, NamedTuple

import pytest

SHELL = """
import contextlib, io, json, os, sys
os.environ["NO_COLOR"] = "1"
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="nocolor")
told = []
for cell in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        ran = shell.run_cell(cell, store_history=True)
    told.append([ran.success, out.getvalue(), err.getvalue(), repr(ran.result)])
print(json.dumps([told, "torch" in sys.modules]))
"""


class Ran(NamedTuple):
    """What a cell did."""

    success: bool
    out: str
    err: str
    result: str


CELLS = {
    "load": "%load_ext devlint",
    "model": """\
%%devlint_run

import torch
from torch.utils.data import DataLoader, TensorDataset

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(4, 4).to(device)


def forward(x):
    return model(x)
""",
    "unfollowed": "later = torch.ones(4)",
    "bugs": """\
%%time
%%devlint_run --output-format concise
x = torch.rand(2, 4)
x.to(device)
y = forward(x)
(y + later).device
""",
    "full": "%%devlint_run\n  x = torch.ones(4)\n  y = model(x)\n",
    "clean": "%%devlint_run\ny.sum().item() > 0;",
    "raises": "forward(torch.ones(4))",
    "stop": "%%devlint_run --stop\nforward(x)\ndone = True",
    "limit": "%%devlint_run\nx.cuda().to_sparse()",
    "worker": """\
%%devlint_run --limit-steps 2 --output-format concise
steps = 0
for (x,) in DataLoader(TensorDataset(torch.rand(8, 4)), batch_size=2, num_workers=1):
    forward(x)
    steps += 1
steps
""",
    "thread": """\
%%devlint_run --output-format concise
import threading
thread = threading.Thread(target=forward, args=(torch.ones(4),))
thread.start()
thread.join()
""",
    "devices": "%%devlint_run --devices 2\ntorch.ones(1, device='cuda:1').device",
    "error": "%%devlint_run\n1 / 0",
    "nested": "%%devlint_run\nget_ipython().run_cell_magic('devlint_run', '', 'x')",
    "unknown": "%%devlint_run --nonsense\nx",
    "all": "len(list(DataLoader(torch.ones(4))))",
    "unload": "%unload_ext devlint",
    "unloaded": "%%devlint_run\nx",
}


@pytest.fixture(scope="module")
def cells(torch_installed: None) -> dict[str, Ran]:
    if importlib.util.find_spec("IPython") is None:
        pytest.skip("IPython is not installed")
    told, _ = shell(list(CELLS.values()))
    return dict(zip(CELLS, (Ran(*each) for each in told), strict=True))


def shell(given: list[str]) -> Any:
    ran = subprocess.run(
        [sys.executable, "-c", SHELL], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout.splitlines()[-1])


def number(name: str) -> int:
    return list(CELLS).index(name) + 1


def test_a_device_is_there_from_the_first_cell_on(cells: dict[str, Ran]) -> None:
    assert cells["load"] == (True, "", "", "None")
    assert cells["model"].out == "All checks passed.\n"
    assert cells["model"].err.startswith("devlint: torch.cuda is a simulated device from here on")
    assert cells["unfollowed"] == (True, "", "", "None")


def test_what_is_found_stands_at_the_lines_of_cells(cells: dict[str, Ran]) -> None:
    """Those of the cell as it is shown, magics and blank rows included; in earlier cells, too."""
    found = [line.partition(" `")[0] for line in cells["bugs"].out.splitlines() if line.startswith("In[")]
    model, here = f"In[{number('model')}]", f"In[{number('bugs')}]"
    assert found == [
        f"{model}:11:12: DEV403",
        f"{here}:4:1: DEV101 the moved copy that",
        f"{here}:6:2: DEV408",
    ]


def test_the_cell_goes_on_and_has_a_result(cells: dict[str, Ran]) -> None:
    assert cells["bugs"].success
    assert "device(type='cuda', index=0)" in cells["bugs"].out + cells["bugs"].result


FULL = """\
DEV403 `x` is on the cpu, where `linear` cannot take it
 --> In[{0}]:3:5
  |
2 | x = torch.ones(4)
3 | y = model(x)
  |     ^^^^^^^^
  |
 ::: In[{0}]:2:5
  |
2 | x = torch.ones(4)
  |     ------------- it is made on the cpu by `ones`
"""


def test_the_report_is_that_of_devlint_run(cells: dict[str, Ran]) -> None:
    assert cells["full"].out.startswith(FULL.format(number("full")))
    assert cells["full"].out.endswith("Found 1 error.\n")


def test_a_semicolon_hides_the_result_and_nothing_else(cells: dict[str, Ran]) -> None:
    assert cells["clean"].out == "All checks passed.\n"


def test_other_cells_raise_what_a_gpu_raises(cells: dict[str, Ran]) -> None:
    assert not cells["raises"].success
    assert "different from other tensors on cuda:0" in cells["raises"].out
    assert "Found" not in cells["raises"].out
    assert "tracer.py" not in cells["raises"].out
    assert cells["all"].result == "4"  # `--limit-steps` was for one cell


def test_stop_fails_the_cell(cells: dict[str, Ran]) -> None:
    assert not cells["stop"].success
    assert "Found 1 error.\n" in cells["stop"].out
    assert cells["stop"].out.endswith("devlint: stopped at the first finding\n")


def test_what_cannot_be_simulated_is_said(cells: dict[str, Ran]) -> None:
    assert not cells["limit"].success
    place = f"(In[{number('limit')}]:2)"
    assert cells["limit"].err == f"devlint: not simulated: a tensor of layout torch.sparse_coo {place}\n"
    assert "storage.py" not in cells["limit"].out


def test_loaders_are_followed_and_end_early(cells: dict[str, Ran]) -> None:
    assert cells["worker"].result == "2"
    assert f"In[{number('model')}]:11:12: DEV401" in cells["worker"].out
    assert "(2 times)" in cells["worker"].out


def test_threads_are_followed(cells: dict[str, Ran]) -> None:
    assert f"In[{number('model')}]:11:12: DEV403" in cells["thread"].out


def test_devices(cells: dict[str, Ran]) -> None:
    assert cells["devices"].result == "device(type='cuda', index=1)"


def test_an_error_of_the_cells_own_stops_it(cells: dict[str, Ran]) -> None:
    assert not cells["error"].success
    assert f"Cell In[{number('error')}], line 2" in cells["error"].out
    assert "ZeroDivisionError: division by zero" in cells["error"].out
    assert cells["error"].err == "devlint: the program was stopped by ZeroDivisionError\n"


def test_misuse_is_a_usage_error(cells: dict[str, Ran]) -> None:
    assert "UsageError: unrecognized arguments: --nonsense" in cells["unknown"].err
    assert "UsageError: the cell is being followed already" in cells["nested"].out + cells["nested"].err
    assert "UsageError: Cell magic `%%devlint_run` not found" in cells["unloaded"].err


def test_loading_simulates_nothing() -> None:
    if importlib.util.find_spec("IPython") is None:
        pytest.skip("IPython is not installed")
    told, torch_is_there = shell(["%load_ext devlint", "1 + 1"])
    assert told[1][3] == "2"
    assert not torch_is_there
