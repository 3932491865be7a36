"""Tries out what a file defines, as who imports it would: functions and classes, given what nobody knows."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial

from .. import knowledge
from ..bind.names import last_name
from ..bind.walk import descendants
from .moves import ACCELERATOR, MOVES
from .shells import body
from .stage import Frame, Load
from .torchlike import Rehearsal
from .trail import MAX_STEPS, Exhausted
from .values import CPU, Argument, Class, Const, Device, Function, Lib, Obj, Tensor, Unit, Unknown, Value

_STEPS = 3_000
"""Of one function or class."""
_ALL = 9_000
"""Of all functions and classes of a file."""
_FORWARD = "forward"
_CALLED = ("__call__",)
_DEVICES = (CPU, *knowledge.ACCELERATORS)
_OPTIONAL = ("Optional", "Union")
_OWN_MOVES = ("_apply", *MOVES)
"""With one of these a class moves more than what it registers."""


class Trial(Rehearsal):
    """Calls each function, and each method of an object of each class, by itself.

    Of modules it runs `forward` alone: other methods may prepare them before they are moved.
    """

    def __init__(self, load: Load, *, lazy: bool) -> None:
        """See `Stage`."""
        super().__init__(load, lazy=lazy)
        self._placed = False
        """Whether the module at hand is where an accelerator is, as nothing says otherwise."""
        self._is_told = False
        """Whether who makes it has to say where it is to be, and said an accelerator."""
        self._weightless = False
        """Whether it has nothing to be there with: it may as well prepare data on the cpu."""
        self._places_itself = False
        """Whether the module at hand keeps a device, or moves parts: whoever makes it may move it as well."""
        self._taken = 0
        """How many steps have been taken."""

    def try_out(self, unit: Unit, wanted: Collection[str]) -> None:
        """Go through a file as it is imported, and try those of the functions and classes that it defines."""
        self.registers = False
        with suppress(Exhausted):
            self.perform(unit, unit.name)
        self.frames = [Frame(unit.scope, unit.tree)]
        named = [(name, value) for name, value in unit.scope.names.items() if name in wanted]
        values = [self.kept_promise(value, unit.scope.names, name) for name, value in named]
        own = [value for value in values if self._is_own(value, unit)]
        with suppress(Exhausted):  # there is an end for all of them together
            for value in own:
                self._try_one(value)
        self.frames.clear()

    def may_be_moved(self) -> bool:
        """See `Meetings`."""
        return self._places_itself

    def is_placed_by_guess(self) -> bool:
        """See `Meetings`."""
        return self._placed and not self._is_told

    def _try_one(self, value: Value) -> None:
        self._placed = self._weightless = self._places_itself = False
        if isinstance(value, Function):
            self._apart(lambda: self._run(value, None))
        elif isinstance(value, Class) and not self._may_be_moved_whole(value):
            self._try_class(value)

    def _may_be_moved_whole(self, cls: Class) -> bool:
        """Whether a class derives from what nobody knows: then it may be moved."""
        bases = [base for each in self.lineage(cls) for base in each.bases if not isinstance(base, Class)]
        known = any(
            isinstance(base, Lib) and "module" in knowledge.topics_of_base(base.dotted) for base in bases
        )
        plain = all(isinstance(base, Lib) and _is_plain(base.dotted) for base in bases)
        return not (known or plain)

    def _is_own(self, value: Value, unit: Unit) -> bool:
        """Whether a file defines what others may use."""
        if isinstance(value, Function) and isinstance(value.node, ast.FunctionDef):
            return value.scope is unit.scope and _is_public(value.node.name)
        return isinstance(value, Class) and value.unit is unit and not _is_abstract(value.node)

    def _apart(self, work: Callable[[], object]) -> None:
        """Do something of which nothing lasts."""
        mark = len(self._trail)
        self._bounded(work)
        self.undo(mark)

    def _bounded(self, work: Callable[[], object]) -> None:
        """Do something as long as it takes no more than a few steps."""
        if self._taken > _ALL:
            raise Exhausted
        default, unsure = self.default, self.unsure
        self.steps = begin = MAX_STEPS - _STEPS
        with suppress(Exhausted):
            work()
        self._taken += self.steps - begin
        del self.frames[1:]
        self.running, self.tried, self.default, self.unsure = [], 0, default, unsure

    def _try_class(self, cls: Class) -> None:
        mark, made = len(self._trail), list[Obj]()
        self._bounded(lambda: made.append(self._made(cls)))
        for obj in made:
            self._try_methods(cls, obj)
        self.undo(mark)

    def _try_methods(self, cls: Class, obj: Obj) -> None:
        methods: dict[str, Function] = {}
        moved: dict[str, set[str]] = {}
        for each in reversed(self.lineage(cls)):
            for name, found in each.names.items():
                if isinstance(found, Function) and not found.binding:
                    moved.setdefault(name, set()).update(_moved_parts(found))
                    if each.unit is cls.unit:
                        methods[name] = found
        begun = _called_by(methods.get("__init__"))
        wanted = {_FORWARD} if self.is_module(obj) else set(methods) - begun
        begun.add("__init__")
        replaced = {name: _set_parts(method) for name, method in methods.items() if name not in begun}
        for name, method in methods.items():
            if name in wanted and (_is_public(name) or name in _CALLED):
                others = set[str]().union(*(moved[each] for each in moved if each != name))
                anew = set[str]().union(*(replaced[each] for each in replaced if each != name))
                self._apart(partial(self._run_after, others, anew, method, obj))

    def _run_after(
        self, moved: Collection[str], replaced: Collection[str], function: Function, receiver: Obj
    ) -> None:
        """Call a method, when others may have moved or replaced some of what the object has, or may not."""
        parts = [receiver.attrs[each] for each in sorted(moved) if each in receiver.attrs]
        self.hand_over([each for each in parts if not isinstance(each, Tensor)])
        for name in sorted(replaced):
            if isinstance(receiver.attrs.get(name), Tensor):
                self.put(receiver.attrs, name, Unknown())
        self._run(function, receiver)

    def _made(self, cls: Class) -> Obj:
        """An object of a class, where an accelerator is if it is a module."""
        found = self.find_in(cls, "__init__")
        given = self._arguments(found, bound=True) if isinstance(found, Function) else {}
        made = self.instance(cls, [], given, cls.node)
        assert isinstance(made, Obj)
        # One that keeps a device brings what it makes there, and is there itself.
        keeps = any(_names_device(value) for value in made.attrs.values())
        self._is_told = any(_names_device(value) for _, value in given.values())
        moves = any(isinstance(self.find_in(cls, name), Function) for name in _OWN_MOVES)
        self._placed = self.is_module(made) and not moves and (self._is_told or not (made.moved or keeps))
        self._weightless = self._placed and not any(self.weights(made))
        self._places_itself = self.is_module(made) and not self._placed
        if self._placed:
            self.move(made, ACCELERATOR)
            self.alter(made, "moved", True)
        return made

    def _read_by_numpy(self, at: ast.expr, value: Tensor, reader: str) -> None:
        if not self._weightless:
            super()._read_by_numpy(at, value, reader)

    def _run(self, function: Function, receiver: Obj | None) -> None:
        """Call a function of the file; the inputs of a module are where it is."""
        given = self._arguments(function, bound=receiver is not None)
        node = function.node
        if receiver is None or not self.is_module(receiver) or node.name != _FORWARD:  # type: ignore[union-attr]
            self.enter(function, receiver, [], given, node)
            return
        inputs = [arg for arg in node.args.args[1:2] if arg.arg not in function.defaults]
        for arg in inputs if self._placed else ():
            if arg.arg not in given and _may_be_tensor(arg.annotation) and not _is_counted(node, arg.arg):
                given[arg.arg] = (ast.Name(arg.arg), Tensor(ACCELERATOR, 1))
        self.run_object(receiver, [], given, node)

    def _arguments(self, function: Function, *, bound: bool) -> dict[str, Argument]:
        """What is passed for the parameters whose classes are known and that have no default.

        What is on the cpu unless its caller says otherwise is told an accelerator, as it is made for.
        """
        args = function.node.args
        named = [*args.posonlyargs, *args.args][bound:]
        given: dict[str, Argument] = {}
        for arg in (*named, *args.kwonlyargs):
            default = function.defaults.get(arg.arg)
            if isinstance(default, Device) and default.place == CPU:
                given[arg.arg] = (ast.Name(arg.arg), Device(ACCELERATOR))
            elif isinstance(default, Const) and default.value == CPU:
                given[arg.arg] = (ast.Name(arg.arg), Const(ACCELERATOR))
            cls = self._annotated(arg.annotation) if default is None else None
            if cls is not None:
                made = self.instance(cls, [], {}, cls.node)
                self.hand_over([made])  # its caller may have it anywhere
                given[arg.arg] = (ast.Name(arg.arg), made)
        return given

    def _annotated(self, annotation: ast.expr | None) -> Class | None:
        """The class of the project that an annotation names."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            with suppress(SyntaxError, ValueError):
                return self._annotated(ast.parse(annotation.value, mode="eval").body)
            return None
        if isinstance(annotation, ast.BinOp):
            return self._annotated(annotation.left)
        if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, (ast.Name, ast.Attribute)):
            name = ast.unparse(annotation.value).rpartition(".")[2]
            inner = annotation.slice
            first = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
            return self._annotated(first) if name in _OPTIONAL else None
        if not isinstance(annotation, (ast.Name, ast.Attribute)):
            return None
        found = self.eval(annotation)
        return found if isinstance(found, Class) and not _is_abstract(found.node) else None


def _moved_parts(method: Function) -> set[str]:
    """The attributes that a method moves, where they are if they are modules: `self.net.to(device)`."""
    done = body(method.node) if isinstance(method.node, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()
    return {
        call.func.value.attr
        for statement in done
        for call in descendants(statement)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in MOVES
        and isinstance(call.func.value, ast.Attribute)
    }


def _set_parts(method: Function) -> set[str]:
    """The attributes of its own object that a method assigns: `self.points = points`."""
    node = method.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not node.args.args:
        return set()
    return {
        each.attr
        for statement in body(node)
        for each in descendants(statement)
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Store)
        and isinstance(each.value, ast.Name)
        and each.value.id == node.args.args[0].arg
    }


def _is_public(name: str) -> bool:
    return not name.startswith(("_", "test")) and name not in knowledge.MOVES


def _is_plain(base: str) -> bool:
    """Whether what derives from a class of a library is moved by nothing that it has from there."""
    return (
        base.rpartition(".")[2] in knowledge.PLAIN_BASES or base.partition(".")[0] in sys.stdlib_module_names
    )


def _is_abstract(node: ast.ClassDef) -> bool:
    """Whether a class is only there for others to derive from, or for tests."""
    if node.name.startswith("Test"):
        return True
    return any(
        isinstance(each, ast.FunctionDef)
        and any("abstract" in ast.unparse(decorator) for decorator in each.decorator_list)
        for each in node.body
    )


def _called_by(constructor: Function | None) -> set[str]:
    """The methods that a constructor calls, when nothing has been moved yet."""
    node = constructor.node if constructor is not None else None
    done = body(node) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else ()
    calls = (each.func for part in done for each in descendants(part) if isinstance(each, ast.Call))
    return {call.attr for call in calls if isinstance(call, ast.Attribute)}


def _names_device(value: Value) -> bool:
    named = value.value if isinstance(value, Const) else None
    return isinstance(value, Device) or (isinstance(named, str) and named.split(":")[0] in _DEVICES)


def _may_be_tensor(annotation: ast.expr | None) -> bool:
    return annotation is None or "Tensor" in ast.unparse(annotation)


def _is_counted(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str) -> bool:
    """Whether a parameter is how many of something there are: `torch.arange(height)`."""
    done = [function.body] if isinstance(function, ast.Lambda) else body(function)
    calls = (each for part in done for each in descendants(part) if isinstance(each, ast.Call))
    counts = (part for call in calls if last_name(call) in knowledge.TAKE_COUNTS for part in call.args)
    return any(isinstance(part, ast.Name) and part.id == name for part in counts)
