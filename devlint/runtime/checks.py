"""What torch generates for CUDA: which operators check that their tensors share a device, which do not exist.

Most of these checks are not written by hand: torchgen emits them into `RegisterCUDA.cpp`, and every
torch wheel carries the yaml file it reads. An operator gets the check unless it has no kernel for CUDA
or says `device_check: NoCheck`, which TensorIterator's operators do because TensorIterator checks for
itself. Reading the file takes a hundredth of the time that importing torch takes, so nothing is cached.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import NamedTuple

YAML = "packaged/ATen/native/native_functions.yaml"
_CUDA, _CPU = re.compile(r"\bCUDA\b"), re.compile(r"\bCPU\b")


class _Function(NamedTuple):
    """One entry of the yaml: what decides whether its CUDA kernel checks devices."""

    name: str
    has_kernel: bool
    unchecked: bool
    delegate: str
    for_cpu_alone: bool


class Generated(NamedTuple):
    """Operators, as `name.overload`."""

    checked: frozenset[str]
    """Those whose generated CUDA wrapper checks that tensors share a device."""
    beside: frozenset[str]
    """Those of them that run by an `out` variant, which does not: a backend would never see them."""
    absent: frozenset[str]
    """Those that have a kernel for the CPU and none that CUDA could use."""


def yaml_path() -> Path | None:
    """Where the installed torch keeps its operator list; `None` if it carries none."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0], YAML)
    return path if path.is_file() else None


def parse(text: str) -> Generated:
    """What the yaml file says of CUDA."""
    functions = {f.name: f for f in map(_function, re.split(r"^- func: ", text, flags=re.M)[1:])}
    checked = frozenset(f.name for f in functions.values() if not f.unchecked and _has_kernel(f, functions))
    beside = frozenset(n for n in checked if functions[n].delegate and functions[n].delegate not in checked)
    absent = frozenset(f.name for f in functions.values() if f.for_cpu_alone and not f.delegate)
    return Generated(checked, beside, absent)


def _has_kernel(function: _Function, functions: dict[str, _Function]) -> bool:
    """A structured operator's kernel is that of its `out` variant."""
    if function.has_kernel or not function.delegate:
        return function.has_kernel
    return functions[function.delegate].has_kernel


def _function(entry: str) -> _Function:
    """Read one entry; a whole yaml parser would be a dependency torch itself does not install."""
    name = entry.partition("(")[0]
    has_kernel = unchecked = in_dispatch = False
    delegate, keys = "", ""
    for line in entry.splitlines()[1:]:
        if line.startswith("    "):
            has_kernel |= in_dispatch and bool(_CUDA.search(line.partition(":")[0]))
            keys += line.partition(":")[0] * in_dispatch
            continue
        key, _, value = (part.strip() for part in line.partition(":"))
        in_dispatch = key in ("dispatch", "ufunc_inner_loop")
        # A ufunc's kernels are generated for the CPU and CUDA from one inner loop.
        has_kernel |= key == "ufunc_inner_loop"
        unchecked |= key == "device_check" and value.startswith("NoCheck")
        delegate = value.split(" ")[0] if key == "structured_delegate" else delegate
    alone = bool(_CPU.search(keys)) and "CUDA" not in keys and "Composite" not in keys
    return _Function(name, has_kernel, unchecked, delegate, alone)
