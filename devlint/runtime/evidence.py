"""Whether torch does what a row of knowledge says, tried on the simulated device and on a build without any.

`python -m devlint.runtime.evidence PART FROM EVERY` prints a line of JSON for each row that it tries, one in
EVERY from number FROM on: its name, a verdict, and why; or, as a text, what its user is to know. PART is
`bare`, where there is no accelerator, or `device`, where the simulated one is shown as CUDA.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_leaves

from ..knowledge import THIRD_PARTY
from ..knowledge.find import rows
from ..match import registry
from .apis import Api, belongs_here, locate, tells_signature, wrong_signature
from .samples import Sample, samples

if TYPE_CHECKING:
    from ..knowledge.row import Row

DEVICE = "cuda"
PROVEN, SIGNATURE, FALSE, OPEN = "proven", "signature", "false", "open"
Verdict = tuple[str, str]
_UNTRIED: Verdict = (OPEN, "")
_NUMBERS = (bool, int, float, complex, tuple)
_CALLS = 6
"""How often an operation is called with everything on the device."""
_ARGUMENTS: dict[str, Any] = {
    "device": 0,
    "peer_device": 0,
    "device_index": 0,
    "fraction": 0.5,
    "seed": 0,
    "size": 16,
    "mem_ptr": 0,
    "debug_mode": 0,
    "data_ptr": 0,
    "stream_ptr": 0,
    "new_state": torch.zeros(16, dtype=torch.uint8),
    "new_states": [],
    "minor": 0,
    "major": 13,
    "s": None,
}
_FACTORIES: dict[str, tuple[Any, ...]] = {
    "torch.arange": (3,),
    "torch.range": (0, 3),
    "torch.empty_permuted": ((2, 3), (0, 1)),
    "torch.empty_strided": ((2, 3), (3, 1)),
    "torch.eye": (3,),
    "torch.full": ((2,), 1.0),
    "torch.linspace": (0, 1, 3),
    "torch.logspace": (0, 1, 3),
    "torch.randint": (3, (2,)),
    "torch.randperm": (3,),
    "torch.tril_indices": (3, 3),
    "torch.triu_indices": (3, 3),
    "torch.scalar_tensor": (1.0,),
    "torch.normal": (0.0, 1.0, (2,)),
    "torch.tensor": ([1.0],),
    "torch.as_tensor": ([1.0],),
    "torch.asarray": ([1.0],),
}
_DANGEROUS = frozenset(
    {"exit", "quit", "os._exit", "os.abort", "sys.exit", "input", "exec", "eval", "breakpoint"}
)
_SHAPES: tuple[tuple[Any, ...], ...] = (
    (),
    (2,),
    (2, 2),
    (2, 2, 1),
    (2, 2, 2),
    (4, 2, 8),
    (2, 10, [2]),
    ((2, 2),),
)
"""What modules are made with: numbers of features."""


# Without an accelerator


def bare(name: str, row: Row, api: Api) -> Verdict:
    """What a row says of a function's parameters, and of a machine without an accelerator."""
    if wrong := wrong_signature(api, row):
        return FALSE, wrong
    told = SIGNATURE if tells_signature(api) else OPEN
    if torch.cuda.is_available():
        return told, ""
    needs = "needs-accelerator" in row.topics
    asks = "asks-accelerator" in row.topics
    if not (needs or asks) or isinstance(api.owner, type):
        return told, ""
    try:
        args = [_ARGUMENTS[p] for p in _required(row, api)]
    except KeyError as unknown:
        return told, f"no sample of {unknown.args[0]}"
    try:
        result = api.value(*args)
    except Exception as error:
        if asks and not needs:
            return FALSE, f"raises {_message(error)}"
        return PROVEN, f"raises {_message(error)}"
    if needs and not asks:
        return FALSE, f"returns {result!r:.60} where there is no accelerator"
    return (
        (FALSE, f"says {result!r} where there is no accelerator") if result else (PROVEN, f"says {result!r}")
    )


def _required(row: Row, api: Api) -> list[str]:
    import inspect

    try:
        parameters = inspect.signature(api.value).parameters.values()
    except (TypeError, ValueError):
        return []
    wanted = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return [name for name in wanted if name in row.parameters]


# On the simulated device


def on_device(name: str, row: Row, api: Api) -> Verdict:
    """What a row says of calls with tensors on a device."""
    if THIRD_PARTY in row.topics:
        return _probed(row, api) if row.probe else _UNTRIED
    if "asks-accelerator" in row.topics and not isinstance(api.owner, type):
        return _answers(name, api)
    if row.by.startswith("factories.") or (row.gives == "tensor" and name in _FACTORIES):
        return _factory(name, row, api)
    if row.by == "modules.make" and isinstance(api.value, type):
        return _module(row, api)
    if row.by == "optimizers.make":
        return _optimizer(row, api)
    if name.startswith(("torch.cuda.", "torch.distributed.", "Loader.", "Module.", "Optimizer.")):
        return _UNTRIED
    if row.by in ("tensors.retype", "sequences.pack") or name.startswith("torch.nn.utils."):
        return _UNTRIED
    if "legacy-type" in row.topics:
        return _UNTRIED  # given a tensor of a device CUDA raises, and the simulated device does not
    if row.place in ("operands", "first", "receiver-device", "cpu") or name.startswith("Tensor."):
        return _operation(name, row, api)
    return _UNTRIED


def _probed(row: Row, api: Api) -> Verdict:
    """Call what another package's row describes, as the row says; nothing else is known to be harmless."""
    given = _given(row.probe)
    result = api.value(*given.args, **given.kwargs)
    if row.gives == "module" and not isinstance(result, torch.nn.Module):
        return FALSE, f"gives {type(result).__name__}, not a module"
    where = row._replace(place="cpu") if row.place == "device" else row
    if wrong := _misgiven(row, result, given) or _misplaced(where, _tensors_of(result), given):
        return FALSE, f"{wrong}: {row.probe}"
    if row.place == "device" and not given.kwargs.keys() & {*row.devices}:
        with torch.device(DEVICE):
            there = _tensors_of(api.value(*given.args, **given.kwargs))
        if any(leaf.device.type != DEVICE for leaf in there):
            return FALSE, f"with a default device its result is not there: {row.probe}"
    return PROVEN, row.probe


def _given(probe: str) -> Sample:
    """The arguments that a probe names."""
    x, m = torch.ones(2, 2).to(DEVICE), torch.nn.Linear(2, 2).to(DEVICE)
    made: Sample = eval(
        f"_sample{probe}", {"_sample": lambda *args, **kwargs: Sample(args, kwargs), "x": x, "m": m}
    )
    return made


def _tensors_of(result: Any) -> list[torch.Tensor]:
    if isinstance(result, torch.nn.Module):
        return [*result.parameters(), *result.buffers()]
    return [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]


def _answers(name: str, api: Api) -> Verdict:
    if not name.startswith(("torch.cuda.", "torch.accelerator.")):
        return OPEN, "there is no such device"
    result = api.value()
    return (PROVEN, f"says {result!r}") if result else (FALSE, f"says {result!r} with a device")


def _factory(name: str, row: Row, api: Api) -> Verdict:
    given = _FACTORIES.get(name, (3,))
    try:
        plain, there = api.value(*given), None
    except Exception as error:
        return OPEN, f"no sample: {_message(error)}"
    if not isinstance(plain, torch.Tensor) or plain.device.type != "cpu":
        return FALSE, f"without a device it is on {plain.device}"
    if row.devices:
        there = api.value(*given, **{row.devices[0]: DEVICE})
        if there.device.type != DEVICE:
            return FALSE, f"with a device it is on {there.device}"
    with torch.device(DEVICE):
        default = api.value(*given)
    wanted = "cpu" if "ignores-default" in row.topics else DEVICE
    if default.device.type != wanted:
        return FALSE, f"with a default device it is on {default.device}"
    return PROVEN, ""


def _module(row: Row, api: Api) -> Verdict:
    for args in _SHAPES:
        try:
            made = api.value(*args)
        except Exception:
            continue
        if not isinstance(made, torch.nn.Module):
            return FALSE, "makes no module"
        tensors = [*made.parameters(), *made.buffers()]
        if any(tensor.device.type != "cpu" for tensor in tensors if not _is_lazy(tensor)):
            return FALSE, "is not made on the cpu"
        if row.devices:
            there = api.value(*args, **{row.devices[0]: DEVICE})
            tensors = [*there.parameters(), *there.buffers()]
            if any(tensor.device.type != DEVICE for tensor in tensors if not _is_lazy(tensor)):
                return FALSE, "is not made on the device"
        return PROVEN, ""
    return OPEN, "no sample"


def _is_lazy(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin)


def _optimizer(row: Row, api: Api) -> Verdict:
    for shape in ((2, 2), (2,)):
        parameter = torch.nn.Parameter(torch.rand(*shape).to(DEVICE))
        try:
            made = api.value([parameter], lr=0.1)
        except Exception:
            continue
        stateful = any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(dict(made.state)))
        if stateful != ("stateful" in row.topics):
            return FALSE, f"has {'' if stateful else 'no '}state when built"
        return PROVEN, ""
    return OPEN, "no sample"


# Operations


def _operation(name: str, row: Row, api: Api) -> Verdict:
    """Call with everything on the device, then with one argument left behind at a time."""
    call = _caller(name, api)
    names = ("self", *row.parameters) if name.startswith("Tensor.") else row.parameters
    done = 0
    problem = "no sample"
    apart: dict[str, set[bool]] = {}
    for sample in samples(name):
        try:
            call(sample.on("cpu"))
            given = sample.on(DEVICE)
            result = call(given)
        except Exception as error:
            if done == 0 and not isinstance(error, TypeError):
                problem = f"no sample: {_message(error)}"
            continue
        if _gives_otherwise(name, row, sample):
            continue
        if wrong := _misgiven(row, result, given) or _misplaced(row, result, given):
            return FALSE, f"{wrong}: {_shown(sample)}"
        if row.place == "operands":
            for label, stays in _left_behind(names, call, sample):
                apart.setdefault(label, set()).add(stays)
        done += 1
        if done >= _CALLS:
            break
    if len(apart.keys() - set(row.host)) < 2:
        apart = {label: accepted for label, accepted in apart.items() if label in row.host}
    for label, accepted in apart.items():
        if label in row.host and True not in accepted:
            return FALSE, f"{label} cannot stay on the cpu"
        if label not in row.host and False not in accepted:
            return FALSE, f"{label} may stay on the cpu"
    return (PROVEN, f"{done} calls") if done else (OPEN, problem)


def _caller(name: str, api: Api) -> Callable[[Sample], Any]:
    method = name.startswith("Tensor.")

    def call(sample: Sample) -> Any:
        if method:
            receiver, *rest = sample.args
            return getattr(receiver, api.name)(*rest, **sample.kwargs)
        return api.value(*sample.args, **sample.kwargs)

    return call


def _misgiven(row: Row, result: Any, given: Sample) -> str:
    first = given.args[0] if given.args else None
    alone = len(given.args) == 1 and not given.kwargs
    if "several" in row.topics:
        good = isinstance(result, (tuple, list)) and any(isinstance(x, torch.Tensor) for x in result)
        return "" if good else f"gives {type(result).__name__}, not several tensors"
    if row.gives == "tensor":
        return (
            ""
            if isinstance(result, torch.Tensor) and result is not None
            else f"gives {type(result).__name__}"
        )
    if row.gives == "0-dim tensor" or (row.gives == "reduced" and alone):
        return "" if isinstance(result, torch.Tensor) and result.dim() == 0 else "gives no 0-dim tensor"
    if row.gives == "first":
        return "" if result is first else "does not give its first argument"
    if row.gives == "number":
        return "" if isinstance(result, _NUMBERS) else f"gives {type(result).__name__}"
    if row.gives == "None":
        return "" if result is None else f"gives {type(result).__name__}"
    if row.gives == "string":
        return "" if isinstance(result, str) else f"gives {type(result).__name__}"
    return ""


def _misplaced(row: Row, result: Any, given: Sample) -> str:
    wanted = {"cpu": "cpu", "operands": DEVICE, "first": DEVICE, "receiver-device": DEVICE}.get(row.place)
    if any(name in given.kwargs for name in row.devices):
        wanted = torch.device(given.kwargs[row.devices[0]]).type
    places = {leaf.device.type for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)}
    if wanted is None or places <= {wanted}:
        return ""
    return f"its result is on {', '.join(sorted(places))}"


def _gives_otherwise(name: str, row: Row, sample: Sample) -> bool:
    """Whether a call is one of those that a row does not speak of."""
    options = {key for key, value in sample.kwargs.items() if value is True}
    bound = dict(zip(row.parameters, sample.args, strict=False))
    options |= {key for key, value in bound.items() if type(value) in (bool, int) and value}
    tensors = sum(isinstance(value, torch.Tensor) for value in sample.args)
    return (
        sample.kwargs.get("reduction") in ("none", 0)
        or bool(options & {"return_indices", "as_tuple", "return_inverse", "return_counts"})
        or any(value is True for value in sample.args)
        or (name == "torch.where" and tensors < 2)  # of a condition alone it is `nonzero`
        or ("atleast_" in name and tensors != 1)  # of several, it gives several
    )


def _left_behind(
    names: tuple[str, ...], call: Callable[[Sample], Any], sample: Sample
) -> Iterator[tuple[str, bool]]:
    """Each of several tensors, and whether it may be on the cpu while the others are on the device."""
    for key, label, tensor in _tensors(names, sample):
        try:
            call(_put(sample.on(DEVICE), key, tensor))
        except (RuntimeError, ValueError, TypeError, NotImplementedError):
            yield label, False
        else:
            yield label, True


def _tensors(names: tuple[str, ...], sample: Sample) -> Iterator[tuple[Any, str, torch.Tensor]]:
    """The tensors among the arguments, if there are several, with the parameters that they bind.

    One of no dimensions is taken for a number, and one of no elements is not looked at.
    """
    given = [(i, names[i] if i < len(names) else "rest", value) for i, value in enumerate(sample.args)]
    given += [(key, key, value) for key, value in sample.kwargs.items()]  # type: ignore[misc]
    found = [(k, n, v) for k, n, v in given if isinstance(v, torch.Tensor) and v.dim() and v.numel()]
    if len(found) > 1:
        yield from found


def _put(sample: Sample, key: Any, tensor: torch.Tensor) -> Sample:
    if isinstance(key, int):
        return sample._replace(args=(*sample.args[:key], tensor, *sample.args[key + 1 :]))
    return sample._replace(kwargs={**sample.kwargs, key: tensor})


def _shown(sample: Sample) -> str:
    def short(value: Any) -> str:
        return f"tensor{tuple(value.shape)}" if isinstance(value, torch.Tensor) else f"{value!r:.30}"

    given = [*map(short, sample.args), *(f"{name}={short(value)}" for name, value in sample.kwargs.items())]
    return f"({', '.join(given)})"


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]:.80}"


def _why_not(name: str, row: Row) -> str:
    """Why a row cannot be tried here, if it cannot."""
    if "*" in name:
        return "a group of names"
    if THIRD_PARTY in row.topics and find_spec(name.partition(".")[0]) is None:
        return "another library's, which is not installed"
    return "" if belongs_here(name, row) else "another library's"


def main() -> int:
    """Judge the rows from a number on, or one in so many of them."""
    part, first, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    judge = bare
    if part == "device":
        from . import worker
        from .releases import missing

        if lacking := missing(lambda text: print(json.dumps(text), file=out, flush=True)):
            said = f"not called on sim: torch {torch.__version__} cannot simulate a device: {lacking}"
            print(json.dumps(said), file=out, flush=True)
            return 1
        torch.set_num_threads(1)
        worker.install("sim")
        judge = on_device
    registry.entries()  # which knows what other packages bring
    for number, (name, row) in enumerate(rows()):
        if number < first or number % every:
            continue
        verdict = OPEN, _why_not(name, row)
        api = None if verdict[1] else locate(name)
        if api is None and not verdict[1]:
            verdict = FALSE, "there is no such thing"
        if api is not None and name not in _DANGEROUS:
            print(json.dumps([number, name]), file=out, flush=True)  # if the process dies, of this
            torch.manual_seed(0)
            try:
                verdict = judge(name, row, api)
            except Exception as error:
                verdict = OPEN, _message(error)
            with contextlib.suppress(Exception):
                torch.set_default_device(None)
        print(json.dumps([number, name, *verdict]), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
