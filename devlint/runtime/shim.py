"""Compiles, keeps and loads what torch before 2.10 lacks for a backend that is written in Python: `shim.cpp`.

It is compiled when it is first needed, and not shipped as wheels: that would take one for every release,
build and platform of torch, while a compiler needs five seconds of one core. What was compiled is kept in the
user's own cache folder. Nobody else may write there, since what it holds is run; nothing is locked: a whole
folder is renamed into place, and if two processes compile at once the first has done it for both.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ..match.manifest import folder, is_private

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(__file__).with_name("shim.cpp")
_LIBRARY, _DIGEST = "shim.so", "shim.so.sha256"
_COMPILERS = ("c++", "g++", "clang++")
_PATIENCE = 600.0
"""Seconds that the compiler has."""
_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
"""Operators are called with it, past modes and transformations: what they see is the program's."""
NEEDED = not hasattr(torch._C, "_acc")
"""Whether torch has no allocator, guard and hooks for a backend written in Python, as before 2.10."""
loaded = False
"""Whether this process has it."""


class _Unable(Exception):
    """Why there is no library."""


def prepare(tell: Callable[[str], object]) -> str:
    """Load the library into this process, and compile it before if need be; why it cannot be, or nothing."""
    global loaded
    if loaded:
        return ""
    try:
        _load(tell)
    except _Unable as error:
        return str(error)
    loaded = True
    return ""


def setup(name: str, module: Any) -> None:
    """Make the backend known to torch under a name, once the library is loaded.

    This is what `_setup_privateuseone_for_python_backend` does, which `torch.utils` has from 2.10 on.
    """
    torch.utils.rename_privateuse1_backend(name)
    torch.utils.generate_methods_for_privateuse1_backend()
    torch._register_device_module(name, module)
    torch.ops.devlint_sim.install()


def blank(dtype: torch.dtype, index: int) -> torch.Tensor:
    """A tensor of a device of the backend, without elements."""
    return torch.ops.devlint_sim.blank.default.redispatch(_CPU, dtype, index)


def put(storage: torch.UntypedStorage, host: torch.UntypedStorage) -> None:
    """Let a storage of the backend have, and own, the bytes of one of the cpu."""
    torch.ops.devlint_sim.put.default.redispatch(_CPU, storage, host)


def host_of(storage: torch.UntypedStorage) -> torch.UntypedStorage | None:
    """The storage of the cpu whose bytes one of the backend was given, if it was."""
    found = torch.ops.devlint_sim.host.default.redispatch(_CPU, storage)
    found = getattr(found, "_untyped_storage", found)  # a storage without a Python object comes with a type
    return None if found._cdata == storage._cdata else found


def _load(tell: Callable[[str], object]) -> None:
    if sys.platform == "win32":
        raise _Unable("on Windows that takes torch 2.10 or newer")
    kept = _kept()
    if kept is not None and _is_sound(kept):
        try:
            torch.ops.load_library(kept / _LIBRARY)
        except OSError:  # it fits no longer
            shutil.rmtree(kept, ignore_errors=True)
        else:
            return
    compiler = _compiler()
    tell(
        f"compiling what torch {torch.__version__} lacks to simulate a device: it takes some seconds, "
        + ("once" if kept is not None else "and cannot be kept: there is no cache folder that is yours alone")
    )
    try:
        torch.ops.load_library(_compiled(compiler, kept) / _LIBRARY)
    except OSError as error:
        raise _Unable(f"what was compiled for it cannot be loaded: {error}") from None


def _kept() -> Path | None:
    """Where the library is kept, or will be; None where nothing can be kept safely."""
    base = folder(below=True)  # programs of the current folder are going to be run anyway
    if base is None:
        return None
    try:
        os.makedirs(base, mode=0o700, exist_ok=True)
        if not is_private(os.stat(base), stat.S_ISDIR) or not os.access(base, os.W_OK | os.X_OK):
            return None
    except OSError:
        return None
    built = (
        *(torch.__version__, torch.__config__.show(), _flags(), sys.platform, platform.machine()),
        *(platform.libc_ver(), sys.implementation.cache_tag, SOURCE.read_bytes()),
    )
    return Path(base, f"sim-{torch.__version__}-{hashlib.sha256(repr(built).encode()).hexdigest()[:16]}")


def _is_sound(kept: Path) -> bool:
    """Whether a folder has the library as it was compiled, by this user."""
    library = kept / _LIBRARY
    try:
        if not is_private(os.lstat(kept), stat.S_ISDIR) or not is_private(os.lstat(library), stat.S_ISREG):
            return False
        return _digest(library) == (kept / _DIGEST).read_text(encoding="ascii")
    except (OSError, ValueError):
        return False


def _digest(library: Path) -> str:
    return hashlib.sha256(library.read_bytes()).hexdigest()


def _compiler() -> list[str]:
    """The command of a C++ compiler."""
    named = os.environ.get("CXX")
    command = shlex.split(named) if named else []
    found = next(filter(shutil.which, command[:1] or _COMPILERS), None)
    if found is None:
        lacks = f"CXX={named} is not there" if named else "there is none"
        raise _Unable(
            f"what it lacks takes a C++ compiler, and {lacks} "
            "(apt-get install g++, dnf install gcc-c++ or xcode-select --install)"
        )
    return [found, *command[1:]]


def _flags() -> list[str]:
    inside = Path(torch.__file__).parent
    followed = torch._C._dispatch_has_backend_fallback(torch._C.DispatchKey.AutogradPrivateUse1)
    plain = ["-dynamiclib", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    return [
        *("-std=c++17", "-O1", "-fPIC", "-w", *plain),
        f"-DLACKS_AUTOGRAD_FALLBACK={int(not followed)}",
        f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}",
        *(f"-I{inside / 'include'}", f"-L{inside / 'lib'}"),
    ]


def _compiled(compiler: list[str], kept: Path | None) -> Path:
    """Compile the library; the folder that has it."""
    try:
        beside = Path(tempfile.mkdtemp(prefix="devlint-", dir=None if kept is None else kept.parent))
        try:
            _compile(compiler, beside)
            if kept is not None:
                return _moved(beside, kept)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
    except OSError as error:
        raise _Unable(f"what it lacks cannot be compiled: {error}") from None
    atexit.register(shutil.rmtree, beside, ignore_errors=True)
    return beside


def _compile(compiler: list[str], target: Path) -> None:
    library = target / _LIBRARY
    command = [*compiler, str(SOURCE), *_flags(), "-lc10", "-ltorch_cpu", "-o", str(library)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise _Unable(f"{compiler[0]} did not compile what it lacks in {_PATIENCE:.0f} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        said = next((line for line in lines if "error" in line), lines[-1])
        raise _Unable(f"{compiler[0]} cannot compile what it lacks: {said}")
    library.chmod(0o700)  # not what some umask lets a group do
    (target / _DIGEST).write_text(_digest(library), encoding="ascii")


def _moved(beside: Path, kept: Path) -> Path:
    """Rename a folder into its place, unless another process was faster; the folder that counts."""
    for _ in range(2):
        try:
            os.rename(beside, kept)
        except OSError:
            if _is_sound(kept):
                shutil.rmtree(beside, ignore_errors=True)
                return kept
            aside = tempfile.TemporaryDirectory(prefix="devlint-", dir=kept.parent)
            with aside, contextlib.suppress(OSError):
                os.rename(kept, Path(aside.name, "broken"))
        else:
            return kept
    raise _Unable(f"{kept} cannot be replaced")
