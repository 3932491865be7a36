"""Times training steps on the cpu and on the simulated device, with and without what `devlint run` follows.

    python benchmarks/slowdown.py

One thread; the best of some repetitions, in CPU time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

_PROGRAM = """
import json, time
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.set_num_threads(1)
torch.manual_seed(0)
images = [nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU()]
images += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
models = {
    "transformer block, 16 x 64 x 256": (
        nn.TransformerEncoderLayer(256, 4, 1024, 0.0, batch_first=True), torch.rand(16, 64, 256)
    ),
    "LSTM, 32 x 50 x 128": (nn.LSTM(128, 128, batch_first=True), torch.rand(32, 50, 128)),
    "LSTM, 8 x 20 x 32": (nn.LSTM(32, 32, batch_first=True), torch.rand(8, 20, 32)),
    "GRU, 32 x 50 x 128": (nn.GRU(128, 128, batch_first=True), torch.rand(32, 50, 128)),
    "convolutions, 16 x 3 x 64 x 64": (nn.Sequential(*images), torch.rand(16, 3, 64, 64)),
    "linear layers, 64 x 32": (
        nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32)), torch.rand(64, 32)
    ),
}
times = {}
for name, (model, x) in models.items():
    model, x = model.to(device), x.to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    times[name] = float("inf")
    for _ in range(6):
        start = time.process_time()
        for _ in range(3):
            y = model(x)
            loss = (y[0] if isinstance(y, tuple) else y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        times[name] = min(times[name], (time.process_time() - start) / 3)
print(json.dumps(times))
"""
_SIMULATED = f'from devlint.runtime import worker\nworker.install("sim")\nexec({_PROGRAM!r})'
_FOLLOWED = """
import os, sys, tempfile
from devlint.commands.cli import main

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "program.py")
    open(path, "w").write(sys.argv[1])
    main(["run", path])
"""


def main() -> int:
    """Print the table."""
    cpu, simulated = _times([_PROGRAM]), _times([_SIMULATED])
    followed = _times([_FOLLOWED, _PROGRAM])
    print("| a training step | cpu, ms | simulated | `devlint run` |\n| --- | --- | --- | --- |")
    for name, time in cpu.items():
        print(f"| {name} | {time * 1e3:.1f} | {simulated[name] / time:.1f} | {followed[name] / time:.1f} |")
    return 0


def _times(arguments: list[str]) -> dict[str, float]:
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found: dict[str, float] = json.loads(
        next(line for line in done.stdout.splitlines() if line.startswith("{"))
    )
    return found


if __name__ == "__main__":
    sys.exit(main())
