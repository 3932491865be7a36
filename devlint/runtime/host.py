"""Runs a program on the cpu, in a process of its own, and keeps what it computes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .compare import Values, seed, watch_modules
from .execute import Target
from .isolate import python
from .tracer import Tracer, watch_loaders


class _Recorder(TorchFunctionMode):
    """Sees every call of torch that the program makes on the cpu."""

    def __init__(self, values: Values) -> None:
        super().__init__()
        self._values = values

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if isinstance(result, (torch.Tensor, float)):
            with torch._C.DisableTorchFunction():
                self._values.note(getattr(function, "__name__", ""), result)
        return result


def on_the_cpu(target: Target, limit: int | None) -> Values | str:
    """Run a program on the cpu, in a process of its own: what it computes, or why it came to no end there."""
    with tempfile.TemporaryDirectory(prefix="devlint-") as folder:
        out = os.path.join(folder, "values.json")
        given = [out, str(limit or 0), str(int(target.is_module)), target.name, *target.arguments]
        done = subprocess.run(
            [*python("devlint.runtime.host"), *given],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        if done.returncode or not os.path.exists(out):
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            return f"the program does not run on the cpu, so nothing is compared: {last}"
        return Values.load(out)


def main() -> None:
    """Run a program on the cpu, and save what it computes; the arguments are those of `on_the_cpu`."""
    out, limit, is_module, name, *arguments = sys.argv[1:]
    run = Target(name, bool(int(is_module)), arguments).prepare()
    watch_loaders(Tracer(limit=int(limit) or None))
    values = Values()
    watch_modules(values)
    seed()
    try:
        with _Recorder(values):
            run()
    except SystemExit as error:
        if error.code not in (None, 0):
            raise
    values.save(out)


if __name__ == "__main__":
    main()
