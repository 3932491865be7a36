"""Follows a program on the simulated device, notes where a GPU would have stopped it, and lets it go on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.overrides
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.weak import WeakIdKeyDictionary

from ..claim import Cause
from . import frames, origins, process, wording
from .blame import Blame, blame
from .generator import Generator
from .storage import device_of, is_simulated

if TYPE_CHECKING:
    from collections.abc import Callable

    from .compare import Values
    from .frames import Place
    from .record import Record

_MISMATCH = re.compile(
    r"same device|should be the same|indices should be either|type tensor to numpy|CPU int64 tensor"
    r"|device type for generator|expected a CUDA device|are on the same|same device type|must be on"
    r"|expected device \S+ but got|assign a gradient with device type|device_ids|CUDA in forked subprocess"
)
"""What torch says of tensors, or of a generator, that are not where they should be."""
_TRIES = 4
"""How many things may be wrong with one call."""
_MOVES = frozenset({"to", "cuda", "cpu", "type"})
_CASTS = frozenset({"float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool"})
_THROUGH = frozenset({torch.overrides.__file__})
_SKIPPED = frozenset({"__get__", "__set__", "size", "dim", "stride", "numel", "__len__", "is_floating_point"})


class Stop(BaseException):
    """The program is stopped at its first finding; no handler of its own is to catch it."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback."""
        return ["devlint: stopped at the first finding"]


def _stop() -> None:
    raise Stop


def is_about_devices(error: BaseException) -> bool:
    """Whether torch says that something is not where it should be."""
    said = (str(error).splitlines() or [""])[0]
    return isinstance(error, (RuntimeError, TypeError, ValueError)) and bool(_MISMATCH.search(said))


class Event(NamedTuple):
    """Something found at a place of the program."""

    cause: Cause
    """What is to blame."""
    place: Place
    message: str
    reason: str
    notes: tuple[tuple[Place, str], ...]


class Tracer(TorchFunctionMode):
    """Sees every call of torch that the program makes."""

    def __init__(self, *, stop: bool = False, limit: int | None = None, values: Values | None = None) -> None:
        """Take whether the first finding stops the program, after how many batches each loader ends, and what
        is to remember what calls give.
        """
        super().__init__()
        self.events: dict[tuple[Cause, str, int], tuple[Event, int]] = {}
        self.stop = stop
        self.limit = limit
        self.paused = False
        """Whether nothing is followed for a while: between the cells of a notebook."""
        self.tell: Callable[[Event], None] | None = None
        """Who is to know what is found, in a process that another one speaks for."""
        self.record: Record | None = None
        """What is to remember all that the program does with tensors."""
        self.leave: Callable[[], None] = _stop
        """Called at what a GPU would have stopped, where the first finding stops the program."""
        self._values = values
        self._mended: Any = WeakIdKeyDictionary()
        self._generators: dict[torch.Generator, torch.Generator] = {}

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Make the call; if it fails for a device, mend what it is given and make it again."""
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if name in _SKIPPED or self.paused:
            return function(*args, **kwargs)
        try:
            result = function(*args, **kwargs)
        except (RuntimeError, TypeError, ValueError) as error:
            result = self._failed(error, function, name, args, kwargs)
            self._valued(name, result)
            return result
        if self._values is not None:
            self._valued(name, result)
        if self.record is not None:
            with torch._C.DisableTorchFunction():
                self.record.heard(name, args, kwargs, result)
        if isinstance(result, torch.Tensor):
            self._made(result, name, args, kwargs)
        return result

    def _valued(self, name: str, result: Any) -> None:
        if self._values is not None and isinstance(result, (torch.Tensor, float)):
            with torch._C.DisableTorchFunction():
                self._values.note(name, result)

    def _made(self, result: torch.Tensor, name: str, args: Any, kwargs: Any) -> None:
        with torch._C.DisableTorchFunction():
            if name in _MOVES or name in _CASTS:
                self._moved(result, name, args)
            if result.dim() and not is_simulated(result):
                origins.made(result, name, (args, kwargs))

    def _moved(self, result: torch.Tensor, name: str, args: Any) -> None:
        """Note a copy that is thrown away, of a tensor that somebody else holds."""
        given = args[0] if args else None
        if not isinstance(given, torch.Tensor) or result is given:
            return
        frame = frames.innermost()
        if frame is None or not frames.drops(frame) or not frames.calls_directly(frame, _THROUGH):
            return
        place = frames.place_of(frame)
        if not frames.is_of_something_held(frame, place):
            return
        moved = device_of(result) != device_of(given)
        if moved:
            origins.lose(given, place)
        cause, kind = (Cause.LOST_MOVE, "moved") if moved else (Cause.LOST_CAST, "cast")
        self.note(Event(cause, place, f"the {kind} copy that `{name}` returns is thrown away", "", ()))

    def _failed(self, error: Exception, function: Any, name: str, args: Any, kwargs: Any) -> Any:
        """Mend what the call is given and make it again, as often as something else is wrong with it."""
        for _ in range(_TRIES):
            # What is wrong besides would be known only to a process that can use the device.
            about = process.FORKED if process.is_lost() else str(error)
            said = wording.as_cuda((about.splitlines() or [""])[0])
            frame = frames.innermost() if is_about_devices(error) else None
            if frame is None:
                raise error
            with torch._C.DisableTorchFunction():
                mended = self._mend(said, name, args, kwargs)
                if mended is None:
                    raise error
                place = frames.place_of(frame)
                wrong, args, kwargs = mended
                self.note(self._event(place, said, name, wrong))
                self._mended.update(dict.fromkeys(wrong, place))
            if self.stop:
                self.leave()
            try:
                return function(*args, **kwargs)
            except (RuntimeError, TypeError, ValueError) as again:
                error = again
        raise error

    def end(self, error: BaseException) -> bool:
        """Note where an error about devices that could not be mended has ended the program, if it was one."""
        if not is_about_devices(error):
            return False
        place = frames.last_place(error)
        if place is not None:
            said = wording.as_cuda((str(error).splitlines() or [""])[0])
            cause = Cause.WORKER if "in forked" in said else Cause.MIXED
            self.note(Event(cause, place, "the program ends here", said, ()))
        return place is not None

    def _event(self, place: Place, said: str, name: str, wrong: list[torch.Tensor]) -> Event:
        outer = [frames.place_of(frame) for frame in frames.own_frames()[1:3]]
        callers = tuple((caller, "called from here") for caller in outer if caller.start.row)
        if "in forked" in said:
            message = f"`{name}` uses the device in a process that was forked from one that has used it"
            return Event(Cause.WORKER, place, message, said, callers)
        if "generator" in said:
            return Event(
                Cause.GENERATOR, place, f"`{name}` is given a generator of another device", said, callers
            )
        blamed = [blame(tensor) for tensor in wrong]
        if "to numpy" in said:
            label = blamed[0].label
            message = f"{label} is on a device, which numpy cannot read"
            return Event(Cause.NUMPY, place, message, said, (*blamed[0].notes, *callers))
        first = _worst(blamed)
        labels = list(dict.fromkeys(each.label for each in blamed))
        where = wording.as_cuda(" and ".join(sorted({str(device_of(tensor)) for tensor in wrong})))
        one = len(labels) == 1
        told = f"{' and '.join(labels)} {'is' if one else 'are'} on {where.replace('cpu', 'the cpu')}"
        message = f"{told}, where `{name}` cannot take {'it' if one else 'them'}"
        notes = tuple(dict.fromkeys(note for each in blamed for note in each.notes))
        before = {self._mended[tensor] for tensor in wrong if tensor in self._mended} - {place}
        callers += tuple((each, "it was in the wrong place here, too") for each in sorted(before))
        return Event(first.cause, place, message, said, (*notes, *callers))

    def note(self, event: Event) -> None:
        """Keep what was found; the same at the same line is counted."""
        if self.tell is not None:
            self.tell(event)
            return
        key = event.cause, event.place.path, event.place.start.row
        known, times = self.events.get(key, (event, 0))
        self.events[key] = known, times + 1

    def _mend(self, said: str, name: str, args: Any, kwargs: Any) -> _Mended | None:
        """What the call should have been given, and which tensors of it were wrong; None if nobody knows."""
        if "device type for generator" in said:
            return self._with_generator(said, args, kwargs)
        if "in forked" in said:
            process.regain()
            return [], args, kwargs
        tensors = [value for value in tree_leaves((args, kwargs)) if isinstance(value, torch.Tensor)]
        there = [tensor for tensor in tensors if is_simulated(tensor)]
        if not there:
            return None
        if "to numpy" in said:
            return _changed(there[:1], torch.device("cpu"), args, kwargs)
        if "CPU int64 tensor" in said:
            lengths = [each for each in there if each.dim() == 1 and each.dtype is torch.int64]
            return _changed(lengths, torch.device("cpu"), args, kwargs)
        target = args[0] if args and isinstance(args[0], torch.Tensor) else None
        in_place = name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))
        if target is not None and not is_simulated(target) and in_place:
            changed = _changed(there, torch.device("cpu"), args, kwargs)
            return changed and ([target], *changed[1:])
        device = device_of(target if target is not None and is_simulated(target) else there[0])
        wrong = [each for each in tensors if device_of(each) != device and (each.dim() or is_simulated(each))]
        return _changed(wrong or [t for t in tensors if device_of(t) != device], device, args, kwargs)

    def _with_generator(self, said: str, args: Any, kwargs: Any) -> _Mended | None:
        """The same numbers, from a generator of the other device."""
        given = kwargs.get("generator")
        if given is None:
            return None
        wanted = "cuda" if "a 'cuda'" in said else "cpu"
        twin = self._generators.get(given)
        if twin is None:
            twin = self._generators[given] = Generator(wanted)
            twin.set_state(given.get_state())
        return [], args, {**kwargs, "generator": twin}


_IN_PLACE = frozenset(
    {
        *("__setitem__", "__getitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__"),
        *("__imod__", "__ipow__", "__iand__", "__ior__", "__ixor__"),
    }
)
"""What works where its first operand is, besides methods whose names end in `_`."""
_Mended = tuple[list[torch.Tensor], Any, Any]
"""Which tensors were in the wrong place, and what the call should have been given."""


def _changed(wrong: list[torch.Tensor], device: torch.device, args: Any, kwargs: Any) -> _Mended | None:
    if not wrong:
        return None
    ids = {id(tensor) for tensor in wrong}

    def moved(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(device) if id(tensor) in ids else tensor

    args, kwargs = tree_map_only(torch.Tensor, moved, (args, kwargs))
    return wrong, args, kwargs


_ORDER = (
    *(Cause.CONTAINER, Cause.ATTRIBUTE, Cause.OPTIMIZER, Cause.BATCH),
    *(Cause.MODULE, Cause.MADE, Cause.MIXED),
)
"""Which cause says most of why several tensors are in the wrong place."""


def _worst(blamed: list[Blame]) -> Blame:
    return min(blamed, key=lambda each: _ORDER.index(each.cause))


def watch_backward(tracer: Tracer) -> None:
    """Follow the program into the `backward` of its own functions, to which autograd shows no mode."""
    function = torch.autograd.function.BackwardCFunction
    backward = function.apply

    def apply(self: Any, *gradients: Any) -> Any:
        if tracer.paused or torch._C._len_torch_function_stack():
            return backward(self, *gradients)
        with tracer:
            return backward(self, *gradients)

    function.apply = apply


def keep_fast_path(tracer: Tracer) -> None:
    """Let encoders do what they do unless they are followed: a mode keeps them from making nested tensors.

    Those leave zeros where there was padding.
    """
    encoder = torch.nn.TransformerEncoder
    encode = encoder.forward

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        modes = torch._C._len_torch_function_stack()
        if self.training or modes != 1 or torch._C._get_function_stack_at(0) is not tracer:
            return encode(self, *args, **kwargs)
        try:
            with torch._C.DisableTorchFunction():
                return encode(self, *args, **kwargs)
        except RuntimeError:  # to be followed to what is wrong
            return encode(self, *args, **kwargs)

    encoder.forward = forward


def watch_loaders(tracer: Tracer) -> None:
    """Remember what loaders yield, and end each after as many batches as the tracer says."""
    from torch.utils.data import dataloader

    iterator = dataloader._BaseDataLoaderIter
    advance, reset = iterator.__next__, iterator._reset

    def __next__(self: Any) -> Any:
        if tracer.limit is not None and getattr(self, "_devlint_batches", 0) >= tracer.limit:
            raise StopIteration
        batch = advance(self)
        self._devlint_batches = getattr(self, "_devlint_batches", 0) + 1
        with torch._C.DisableTorchFunction():
            origins.yielded(batch)
        return batch

    def _reset(self: Any, loader: Any, first_iter: bool = False) -> None:
        self._devlint_batches = 0
        reset(self, loader, first_iter)

    iterator.__next__, iterator._reset = __next__, _reset
