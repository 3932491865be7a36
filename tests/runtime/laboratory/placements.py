"""Runs torch's own samples of operators and modules with one tensor on another device at a time.

`python placements.py sim FILE` writes what each mixture comes to, a line of JSON for each; so does
`python placements.py cuda FILE` on a machine with a GPU; `python placements.py compare SIM CUDA` prints how
often they are the same, and what is not. A process is begun anew behind a mixture that it, or CUDA in it,
does not survive.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SAMPLES = 10
"""Of each operator: one for each combination of numbers of dimensions, up to so many."""
TENSORS = 6
"""Of one sample that are left behind in turn, at most."""
PATIENCE = 120
"""Seconds that one operator has."""


class Mixture(NamedTuple):
    """A call whose tensors are on two devices."""

    name: str
    """Of the operator or module, the variant, the dtype, the sample, and which tensors are on the device."""
    run: Callable[[], Any]


def _moved(value: Any, there: bool) -> Any:
    return value.detach().clone().to("cuda" if there else "cpu") if isinstance(value, torch.Tensor) else value


def _placements(count: int) -> Iterator[tuple[bool, ...]]:
    """All on the device; then each left behind alone, and each alone on the device."""
    yield (True,) * count
    if count < 2:
        return
    seen = set()
    for alone in range(min(count, TENSORS)):
        for there in (False, True):
            places = tuple((i == alone) == there for i in range(count))
            if places not in seen:
                seen.add(places)
                yield places


def _letters(places: tuple[bool, ...]) -> str:
    return "".join("d" if there else "c" for there in places)


def _placed(tree: Any, places: tuple[bool, ...]) -> Any:
    """The same arguments with each tensor where it is to be, none of them shared."""
    leaves, shape = tree_flatten(tree)
    of_tensors = iter(places)
    moved = []
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor):
            moved.append(_moved(leaf, next(of_tensors)))
        else:
            moved.append("cuda" if leaf in ("cpu", torch.device("cpu")) else leaf)
    return tree_unflatten(moved, shape)


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def of_operator(operator: Any) -> Iterator[Mixture]:
    """All mixtures of an operator's samples, in a dtype of numbers with a point if it has any."""
    dtypes = (torch.float32, torch.int64, torch.bool, torch.complex64)
    dtype = next((d for d in dtypes if operator.supports_dtype(d, "cpu")), None)
    if dtype is None:
        return
    torch.manual_seed(0)
    seen: set[tuple[Any, ...]] = set()
    for number, sample in enumerate(operator.sample_inputs("cpu", dtype, requires_grad=False)):
        tree = (sample.input, sample.args, sample.kwargs)
        tensors = _tensors(tree)
        key = (*(tensor.dim() for tensor in tensors), *sorted(sample.kwargs))
        if key in seen or len(seen) >= SAMPLES:
            continue
        seen.add(key)
        label = f"{operator.name}{'.' * bool(operator.variant_test_name)}{operator.variant_test_name}"
        variants = {"": operator, "_": operator.inplace_variant}
        for places in _placements(len(tensors)):
            for variant, call in variants.items():
                if call is not None:
                    name = f"{label}{variant} {number} {_letters(places)}"
                    yield Mixture(name, _calls(call, tree, places))
        if operator.supports_out and tensors:
            for there in (True, False):
                name = f"{label} {number} {_letters((there,) * len(tensors))} out={_letters((not there,))}"
                yield Mixture(name, _calls_out(operator, tree, there, len(tensors)))


def _calls(call: Any, tree: Any, places: tuple[bool, ...]) -> Callable[[], Any]:
    def run() -> Any:
        first, args, kwargs = _placed(tree, places)
        return call(first, *args, **kwargs)

    return run


def _calls_out(call: Any, tree: Any, there: bool, count: int) -> Callable[[], Any]:
    def run() -> Any:
        first, args, kwargs = _placed(tree, (False,) * count)
        shape = call(first, *args, **kwargs)
        out = _placed(shape, (not there,) * len(_tensors(shape)))
        first, args, kwargs = _placed(tree, (there,) * count)
        return call(first, *args, **kwargs, out=out)

    return run


def of_module(info: Any) -> Iterator[Mixture]:
    """All mixtures of a module and what its `forward` is given; the first letter is the module's."""
    torch.manual_seed(0)
    made = info.module_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=True
    )
    seen: set[tuple[Any, ...]] = set()
    for number, given in enumerate(made):
        if given.forward_input is None:
            continue
        tree = (given.forward_input.args, given.forward_input.kwargs)
        tensors = _tensors(tree)
        key = (*(tensor.dim() for tensor in tensors), *sorted(given.constructor_input.kwargs))
        if key in seen or len(seen) >= SAMPLES:
            continue
        seen.add(key)
        own = info.module_cls(*given.constructor_input.args, **given.constructor_input.kwargs)
        if not [*own.parameters(), *own.buffers()]:
            continue
        for places in _placements(1 + len(tensors)):
            name = f"nn.{info.module_cls.__name__} {number} {_letters(places)}"
            yield Mixture(name, _calls_module(info.module_cls, given.constructor_input, tree, places))


def _calls_module(cls: Any, given: Any, tree: Any, places: tuple[bool, ...]) -> Callable[[], Any]:
    def run() -> Any:
        torch.manual_seed(0)
        module = cls(*given.args, **given.kwargs).to("cuda" if places[0] else "cpu")
        args, kwargs = _placed(tree, places[1:])
        return module(*args, **kwargs)

    return run


def outcome(mixture: Mixture) -> str:
    """Where the result is, or what is raised."""
    torch.manual_seed(0)
    try:
        result = mixture.run()
        return "on " + ",".join(tensor.device.type for tensor in _tensors(result))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _share(device: str, first: int, every: int, skip: int, seen: int) -> None:
    """Try every so many of the operators, from one on and of that behind a mixture; say what is tried."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if device == "sim":
        from devlint.runtime import worker

        worker.install("sim")

    def say(*what: Any) -> None:
        print(json.dumps(what), file=out, flush=True)

    makers = _makers()
    for turn in range(first + skip * every, len(makers), every):
        signal.alarm(PATIENCE)
        number = -1
        try:
            for number, mixture in enumerate(makers[turn]()):
                if number < seen:
                    continue
                say(skip, number, mixture.name)
                found = outcome(mixture)
                if device == "cuda":
                    torch.cuda.synchronize()
                say(skip, number, mixture.name, found)
        except Exception as error:
            if "CUDA error" in str(error):
                os._exit(1)  # whatever this process tries from now on raises the same
            say(skip, number + 1, f"{turn} - ", f"no sample: {error}"[:200])
        skip, seen = skip + 1, 0
    say("done")
    out.flush()
    os._exit(0)


def of(name: str) -> dict[str, str]:
    """What the mixtures of one operator come to in this process."""
    from torch.testing._internal.common_methods_invocations import op_db

    operators = [each for each in op_db if each.name == name]
    return {mixture.name: outcome(mixture) for each in operators for mixture in of_operator(each)}


def _makers() -> list[Callable[[], Iterator[Mixture]]]:
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db

    return [
        *(functools.partial(of_operator, each) for each in op_db),
        *(functools.partial(of_module, each) for each in module_db),
    ]


def _tried(device: str, first: int, every: int) -> list[tuple[str, str]]:
    """What the mixtures of a share come to, begun anew behind those that no process survives."""
    found: list[tuple[str, str]] = []
    skip = seen = 0
    while True:
        command = [sys.executable, __file__, "share", device, *map(str, (first, every, skip, seen))]
        lost: tuple[int, int, str] | None = None
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                said = json.loads(line)
                if said == ["done"]:
                    return found
                operator, number, name, *result = said
                lost = None if result else (operator, number, name)
                if result:
                    found.append((name, result[0]))
        if lost is None:
            found.append((f"share {first} - ", "its process was lost"))
            return found
        skip, seen, name = lost[0], lost[1] + 1, lost[2]
        found.append((name, "the process does not survive it"))


def main() -> None:
    """Write a file, or compare two."""
    what, *args = sys.argv[1:]
    if what == "compare":
        print("\n".join(compared(*map(read, args))))
    elif what == "share":
        _share(args[0], *map(int, args[1:]))
    else:
        if what == "sim":
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        count = os.cpu_count() or 1
        with ThreadPoolExecutor(count) as pool, open(args[0], "w", encoding="utf-8") as file:
            for rows in pool.map(functools.partial(_tried, what, every=count), range(count)):
                file.writelines(json.dumps(row) + "\n" for row in rows)


def read(path: str) -> dict[str, str]:
    """What a file says."""
    return dict(json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines())


def compared(sim: dict[str, str], cuda: dict[str, str]) -> list[str]:
    """How many are the same, then each that is not."""
    counts: Counter[str] = Counter()
    lines = []
    for name, there in cuda.items():
        here = sim.get(name)
        if here is None:
            counts["not tried on sim"] += 1
            continue
        mixed = len(set(name.split(" ")[2])) > 1 or "out=" in name
        kind = "mixed" if mixed else "all on the device"
        runs = here.startswith("on "), there.startswith("on ")
        if here.startswith("NotSimulated"):
            verdict = "not simulated"
        elif runs == (True, True):
            verdict = "same" if here == there else "run, but placed differently"
        elif runs == (False, False):
            verdict = "same"
        else:
            verdict = "raises on sim alone" if runs[1] else "raises on CUDA alone"
        counts[f"{kind}: {verdict}"] += 1
        if verdict not in ("same", "not simulated"):
            lines.append(f"{verdict}: {name}\n    sim:  {here}\n    cuda: {there}")
    return [*(f"{count:6} {what}" for what, count in sorted(counts.items())), *lines]


if __name__ == "__main__":
    main()
