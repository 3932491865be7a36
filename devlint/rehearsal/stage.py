"""The statements of a program, gone through in the order in which they run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from ..bind.walk import descendants
from ..core.met import Met
from ..infer.conditions import counted_in, is_without_elements
from .shells import body
from .trail import MAX_STEPS, Change, Exhausted, Trail
from .values import (
    CPU,
    NONE,
    Bound,
    Class,
    Const,
    Function,
    Later,
    Lib,
    Obj,
    Partial,
    Scope,
    Seq,
    Spot,
    Tensor,
    Unit,
    Unknown,
    Unrun,
    Value,
    truth,
)

MAX_DEPTH = 40
"""Calls within calls."""
MAX_AGAIN = 2
"""How often a function calls itself before nobody knows what it gives."""
_UNROLLED = 12
"""A sequence of which each item is known is gone through item by item up to here."""
_MAIN = "__main__"
Flow = str
"""How a block ends: empty, `return`, `break`, `continue` or `raise`."""


class Load(Protocol):
    """Finds files of the program."""

    def __call__(self, dotted: str, importer: str, having: str = "") -> tuple[Unit, str] | None:
        """The file that a dotted name means to a path, and what of the name lies in it.

        None where there is none, or where it can have no such name as is asked for, as its text tells.
        """


class Suspended(Exception):
    """A context manager has come to the block that it manages."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame


class Frame:
    """A call of a function of the program."""

    __slots__ = ("given", "left", "node", "owner", "receiver", "returns", "scope", "stops", "yields")

    def __init__(self, scope: Scope, node: ast.AST) -> None:
        self.scope = scope
        self.given: list[tuple[ast.expr, Value]] = []
        """The arguments, as they stand in the caller."""
        self.node = node
        self.returns: list[Value] = []
        self.yields: list[Value] = []
        self.left: list[dict[tuple[int, Hashable], Change]] = []
        """What was changed by branches that may have returned before."""
        self.stops = False
        """Whether it goes no further than to what it yields."""
        self.owner: Class | None = None
        self.receiver: Value | None = None


class Running(NamedTuple):
    """A module that is being run, and where."""

    obj: Obj
    spot: Spot
    label: str
    depth: int
    """How many calls are around it."""


class Managing(NamedTuple):
    """A block that a context manager is made for."""

    depth: int
    """How many calls are around the block."""
    tried: int
    unsure: int
    inside: Callable[[Value], None]
    """Goes through the block, given what the manager yields."""


class Stage(Trail):
    """Goes through statements; subclasses know what expressions mean."""

    def __init__(self, load: Load, *, lazy: bool) -> None:
        """`lazy` is whether a file is run when something of it is used, and not as it is imported."""
        super().__init__()
        self.lazy = lazy
        self.load = load
        self.met: dict[Hashable, Met] = {}
        self.frames: list[Frame] = []
        self.running: list[Running] = []
        self.default = CPU
        """Where factories make what they are told no device for."""
        self.tried = 0
        """How many statements are around that catch what goes wrong."""
        self.unsure = 0
        """How many branches are around that may not be taken."""
        self.assigned: ast.expr | None = None
        """What the assignment at hand assigns."""
        self.managing: Managing | None = None
        """The block for which a context manager is made."""
        self._spent = 0
        """How many steps what is imported has taken."""
        self._ran: set[str] = set()
        self.registers = True
        """Whether what decorators note, as a file is imported, may be asked for."""
        self.methods = _METHODS.get(type(self)) or _METHODS.setdefault(type(self), _methods_of(type(self)))
        """What goes through each kind of statement and expression."""

    def either(self, one: Callable[[], Flow], other: Callable[[], Flow]) -> Flow:
        """Go through one branch or the other: what both leave is what is known afterwards."""
        mark = len(self._trail)
        self.unsure += 1
        first = one()
        done = self.undo(mark)
        second = other()
        self.unsure -= 1
        if first:
            if first == "return" and not second:
                self.frames[-1].left.append(done)
            return second if not second or first == second or first == "raise" else first
        if second:
            left = self.undo(mark)
            if second == "return":
                self.frames[-1].left.append(left)
            self.redo(done.values(), joined=False)
            return ""
        self.merge(done, self.undo(mark))
        return ""

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> Flow:
        """Go through statements."""
        for statement in body:
            flow = self.statement(statement)
            if flow:
                return flow
        return ""

    def statement(self, node: ast.stmt) -> Flow:
        """Go through a statement."""
        self.step()
        method = self.methods.get(type(node))
        return method(self, node) or "" if method is not None else ""

    @property
    def scope(self) -> Scope:
        """The variables at hand."""
        return self.frames[-1].scope

    def spot(self, node: ast.AST) -> Spot:
        """Where a node of the code at hand stands."""
        return Spot(self.scope.unit.path, node)

    def _expr(self, node: ast.Expr) -> None:
        self.dropped(self.eval(node.value), node.value)

    def dropped(self, value: Value, node: ast.expr) -> None:
        """Nobody keeps what an expression gives."""

    def turned(self, node: ast.For | ast.AsyncFor) -> None:
        """A turn of a loop has ended."""

    def _assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        self.assigned = node.value
        for target in node.targets:
            self.bind(target, value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            value = self.eval(node.value)
            self.assigned = node.value
            self.bind(node.target, value)

    def _augassign(self, node: ast.AugAssign) -> None:
        old = self.eval(node.target)
        value = self.operator(node, node.op, (node.target, old), (node.value, self.eval(node.value)))
        if isinstance(old, Tensor) and isinstance(value, Tensor) and value.place == old.place:
            value = old  # in place: a parameter is one afterwards
        self.assigned = node.value
        self.bind(node.target, value)

    def _return(self, node: ast.Return) -> Flow:
        self.frames[-1].returns.append(NONE if node.value is None else self.eval(node.value))
        return "return"

    def _raise(self, node: ast.Raise) -> Flow:
        return "raise"

    def _break(self, node: ast.Break) -> Flow:
        return "break"

    def _continue(self, node: ast.Continue) -> Flow:
        return "continue"

    def _delete(self, node: ast.Delete) -> None:
        pass

    def _assert(self, node: ast.Assert) -> None:
        self.eval(node.test)

    def _global(self, node: ast.Global) -> None:
        for name in node.names:
            self.scope.shared[name] = self.scope.unit.scope

    def _nonlocal(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            outer = self.scope.outer
            while outer is not None and name not in outer.names:
                outer = outer.outer
            if outer is not None:
                self.scope.shared[name] = outer

    def _if(self, node: ast.If) -> Flow:
        said = self.said(node.test)
        if said is not None:
            return self.block(node.body if said else node.orelse)
        return self.either(lambda: self.block(node.body), lambda: self.block(node.orelse))

    def said(self, test: ast.expr) -> bool | None:
        """How a condition comes out, if that is known."""
        said = truth(self.eval(test))
        if said is not None:
            return said
        for outcome in (True, False):
            counted = counted_in(test, outcome)
            if isinstance(counted, ast.Name) and _is_empty(self.eval(counted)):
                return not outcome
        return None

    def _while(self, node: ast.While) -> Flow:
        for _ in range(2):
            said = truth(self.eval(node.test))
            if said is False:
                return self.block(node.orelse)
            flow = self.block(node.body)
            if flow in ("return", "raise"):
                return flow
            if flow == "break":
                return ""
        return ""

    def _for(self, node: ast.For | ast.AsyncFor) -> Flow:
        for value in self.turns(self.eval(node.iter), node.iter):
            self.bind(node.target, value)
            flow = self.block(node.body)
            self.turned(node)
            if flow in ("return", "raise"):
                return flow
            if flow == "break":
                return ""
        return self.block(node.orelse)

    _asyncfor = _for

    def turns(self, value: Value, node: ast.expr) -> Iterable[Value]:
        """What a loop goes through: each item, or one of those that nobody can tell apart, twice."""
        seq = self.iterated(value, node)
        if not seq.open and len(seq.items) <= _UNROLLED:
            return seq.items
        if not seq.items:
            return (Unknown(), Unknown())
        if not seq.open:
            return (*seq.items[:2], self.element(seq))
        return (*seq.items, *(seq.items * 2)[: max(0, 2 - len(seq.items))])[:_UNROLLED]

    def _try(self, node: ast.Try) -> Flow:
        caught = bool(node.handlers)
        self.tried += caught
        flow = self.block(node.body)
        self.tried -= caught
        if flow == "raise" and node.handlers:
            flow = self.block(node.handlers[0].body)
        elif not flow:
            flow = self.block(node.orelse)
        return self.block(node.finalbody) or flow

    _trystar = _try

    def _with(self, node: ast.With) -> Flow:
        default = self.default
        flow = self._managed_by(node.items, node.body)
        self.default = default
        return flow

    _asyncwith = _with

    def _managed_by(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> Flow:
        """Go through a block, and what functions that manage it do before and after."""
        if not items:
            return self.block(body)
        flows: list[Flow] = []

        def inside(entered: Value) -> None:
            if items[0].optional_vars is not None:
                self.bind(items[0].optional_vars, entered)
            flows.append(self._managed_by(items[1:], body))

        around = self.managing
        self.managing = Managing(len(self.frames), self.tried, self.unsure, inside)
        try:
            manager = self.eval(items[0].context_expr)
        finally:
            self.managing = around
        if not flows:
            inside(self.entered(manager))
        return flows[0]

    def manage(self, entered: Value) -> bool:
        """Go through the block that the function at hand manages, once; whether there was one."""
        managing = self.managing
        if managing is None or len(self.frames) != managing.depth + 1:
            return False
        self.managing, frames = None, self.frames[managing.depth :]
        del self.frames[managing.depth :]
        tried, unsure = self.tried, self.unsure
        self.tried, self.unsure = managing.tried, managing.unsure
        try:
            managing.inside(entered)
        finally:
            self.frames[managing.depth :] = frames
            self.tried, self.unsure = tried, unsure
        return True

    def _match(self, node: ast.Match) -> Flow:
        subject = self.eval(node.subject)
        return self._cases(node.cases, subject)

    def _cases(self, cases: Sequence[ast.match_case], subject: Value) -> Flow:
        if not cases:
            return ""
        case = cases[0]
        said = self._matches(case.pattern, subject) if case.guard is None else None
        if said is True:
            return self.block(case.body)
        if said is False:
            return self._cases(cases[1:], subject)
        return self.either(lambda: self.block(case.body), lambda: self._cases(cases[1:], subject))

    def _matches(self, pattern: ast.pattern, subject: Value) -> bool | None:
        if isinstance(pattern, ast.MatchValue):
            wanted = self.eval(pattern.value)
            both = isinstance(wanted, Const) and isinstance(subject, Const)
            return wanted.value == subject.value if both else None  # type: ignore[union-attr]
        if isinstance(pattern, ast.MatchOr):
            said = [self._matches(each, subject) for each in pattern.patterns]
            return True if True in said else None if None in said else False
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
            if pattern.name is not None:
                self.assign(pattern.name, subject)
            return True
        return None

    # Names

    def assign(self, name: str, value: Value) -> None:
        """Bind a variable."""
        scope = self.scope.shared.get(name, self.scope)
        self.put(scope.names, name, value)

    def bind(self, target: ast.expr, value: Value) -> None:
        """Bind what stands at the left of an assignment."""
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for each, part in zip(target.elts, self.unpacked(value, target), strict=False):
                self.bind(each.value if isinstance(each, ast.Starred) else each, part)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(self.eval(target.value), target.attr, value, target)
        elif isinstance(target, ast.Subscript):
            self.set_item(target, self.eval(target.value), self.eval(target.slice), value)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            found = self.load(alias.name, self.scope.unit.path)
            first = alias.name.partition(".")[0]
            if alias.asname is not None:
                self.assign(alias.asname, self.imported(found, alias.name))
            else:
                self.imported(found, alias.name)
                self.assign(first, self.imported(self.load(first, self.scope.unit.path), first))

    def imported(self, found: tuple[Unit, str] | None, dotted: str) -> Value:
        """A module of the program, or something in one; a promise of it, where it is run when it is used."""
        return Later(found, dotted) if self.lazy and found is not None else self.module(found, dotted)

    def kept_promise(self, value: Value, table: dict[str, Value], name: str) -> Value:
        """What a name stands for in a table, by now."""
        if isinstance(value, Later):
            found = table[name] = self.module(value.found, value.dotted)
            return found
        if isinstance(value, Unrun):
            found = table[name] = self._by_now(value)
            return found
        return value

    def _by_now(self, value: Unrun) -> Value:
        names, name = value.unit.scope.names, defined_by(value.node)
        found: Value = names[name]
        if isinstance(found, Unrun):
            names[name] = Unknown()  # what it is while it is made
            self._at_the_margin(lambda: self._define(value))
            found = names[name]
        return found

    def _define(self, value: Unrun) -> None:
        self.frames.append(Frame(value.unit.scope, value.unit.tree))
        self.statement(value.node)

    def module(self, found: tuple[Unit, str] | None, dotted: str) -> Value:
        """A module of the program, run by now, or one of a library."""
        if found is None:
            return Unknown() if dotted.startswith(".") else Lib(dotted)
        unit, rest = found
        self.run(unit)
        value: Value = unit
        for name in rest.split(".") if rest else ():
            value = self.attribute(value, name, None)
        return value

    def _importfrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self._star(module)
                continue
            dotted = f"{module}{alias.name}" if module.endswith(".") else f"{module}.{alias.name}"
            found = self.load(dotted, self.scope.unit.path)
            self.assign(alias.asname or alias.name, self.imported(found, dotted))

    def _star(self, module: str) -> None:
        if self.lazy and not self.registers:
            self.scope.unit.stars.append(module)
            return
        found = self.load(module, self.scope.unit.path)
        if found is None or found[1]:
            return
        self.run(found[0])
        for name, value in list(found[0].scope.names.items()):
            if not name.startswith("_"):
                self.assign(name, value)

    def starred(self, unit: Unit, name: str) -> Value | None:
        """What a file has of the modules of which it imports all names; the last that has it counts."""
        if name.startswith("_") or name in unit.absent:
            return None
        unit.absent.add(name)  # files may import each other's names
        for module in reversed(unit.stars):
            found = self.load(module, unit.path, name)
            if found is None or found[1]:
                continue
            self.run(found[0])
            value = self.of_unit(found[0], name)
            if value is not None:
                unit.absent.remove(name)
                unit.scope.names[name] = value
                return value
        return None

    def of_unit(self, unit: Unit, name: str) -> Value | None:
        """What a file has by a name; None where it has none."""
        found = unit.scope.names.get(name)
        if found is not None:
            return self.kept_promise(found, unit.scope.names, name)
        return self.starred(unit, name) if unit.stars else None

    def run(self, unit: Unit) -> None:
        """Run a file as it is imported, the first time that it is asked for; what it does stays done."""
        if unit.path not in self._ran and self._spent <= MAX_STEPS:
            self._ran.add(unit.path)
            self._at_the_margin(lambda: self.perform(unit, unit.name))

    def _at_the_margin(self, work: Callable[[], object]) -> None:
        """Do what a file does where it is imported; it stays done, whoever asked for it."""
        mark, steps, depth = len(self._trail), self.steps, len(self.frames)
        default, tried, running, unsure = self.default, self.tried, self.running, self.unsure
        self.steps, self.tried, self.default, self.running, self.unsure = 0, 0, CPU, [], 0
        try:
            work()
        except Exhausted:
            pass
        finally:
            del self.frames[depth:]
            self._spent += self.steps
            self.steps, self.tried, self.default = steps, tried, default
            self.running, self.unsure = running, unsure
            del self._trail[mark:]

    def perform(self, unit: Unit, name: str) -> None:
        """Go through the statements of a file that goes by a name.

        What defines a name, and does nothing else, waits until somebody asks for the name: most of what is
        imported nobody does.
        """
        names = unit.scope.names
        names["__name__"] = Const(name)
        tree = unit.tree
        self.frames.append(Frame(unit.scope, tree))
        waits = postponed(tree, calls=name != _MAIN, decorated=not self.registers)
        for statement in tree.body:
            defined = defined_by(statement) if statement in waits else ""
            if defined and defined not in names:
                names[defined] = Unrun(unit, statement)
            elif self.statement(statement):
                break
        self.frames.pop()

    def rehearse(self, unit: Unit) -> None:
        """Go through a program."""
        with suppress(Exhausted):  # what was seen until then stands
            self.perform(unit, _MAIN)
        self.frames.clear()

    # Definitions

    def _functiondef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.assign(node.name, self.decorated(node, self.function(node)))

    _asyncfunctiondef = _functiondef

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Function:
        """What a definition makes."""
        made = Function(node, self.scope)
        args = node.args
        named = [*args.posonlyargs, *args.args]
        for arg, default in zip(reversed(named), reversed(args.defaults), strict=False):
            made.defaults[arg.arg] = self.eval(default)
        for arg, each in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if each is not None:
                made.defaults[arg.arg] = self.eval(each)
        return made

    def decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef, made: Function) -> Value:
        """What its decorators make of a function."""
        value: Value = made
        for decorator in reversed(node.decorator_list):
            if isinstance(decorator, ast.Attribute) and decorator.attr in ("setter", "deleter"):
                return self.lookup(node.name)
            value = self.wrapped(value, made, self.eval(decorator))
        return value

    def wrapped(self, value: Value, made: Function, by: Value) -> Value:
        """What one decorator makes of a function: what is known of none leaves it as it is."""
        if isinstance(by, Lib):
            made.binding = _BINDINGS.get(by.dotted, made.binding)
            return Unknown() if by.dotted in _DISPATCHERS else value
        if isinstance(by, (Function, Class, Bound)):
            given = self.call(by, [(made.node, value)], {}, made.node)  # type: ignore[list-item]
            return value if isinstance(given, (Unknown, Const)) else given
        return value

    def _classdef(self, node: ast.ClassDef) -> None:
        cls = self.hold(Class(node.name, node, self.scope.unit))
        cls.bases = [self.eval(base) for base in node.bases]
        by = [self.eval(each) for each in node.decorator_list]
        called = (
            each.function if isinstance(each, Partial) else each for each in by
        )  # `dataclass(frozen=True)`
        wrappers = {each.dotted for each in called if isinstance(each, Lib)}
        bases = {each.dotted.rpartition(".")[2] for each in cls.bases if isinstance(each, Lib)}
        inherited = [base for base in cls.bases if isinstance(base, Class)]
        cls.record = any(name.endswith("dataclass") or name == "attr.s" for name in wrappers)
        cls.record |= bool({"NamedTuple", "BaseModel"} & bases) or any(base.record for base in inherited)
        scope = self.hold(Scope(self.scope.unit, self.scope))
        scope.names = cls.names
        self.frames.append(Frame(scope, node))
        for base in inherited:
            cls.fields += base.fields
        for statement in node.body:
            self.statement(statement)
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                cls.fields.append(statement.target.id)
        self.frames.pop()
        for made in cls.names.values():
            if isinstance(made, Function) and made.scope is scope:
                made.owner = cls
                made.scope = self.scope  # methods do not see the class's variables
        value: Value = cls
        for each in by:
            if isinstance(each, Function):
                given = self.call(each, [(node, value)], {}, node)  # type: ignore[list-item]
                value = given if isinstance(given, Class) else value
        self.assign(node.name, value)

    # What subclasses know

    def eval(self, node: ast.expr) -> Value:
        """The value of an expression."""
        raise NotImplementedError

    def lookup(self, name: str) -> Value:
        """What a variable is."""
        own = self.frames[-1].scope
        scope: Scope | None = own.shared.get(name, own) if own.shared else own
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                waits = type(found) is Later or type(found) is Unrun
                return self.kept_promise(found, scope.names, name) if waits else found
            scope = scope.outer
        return self.unit_name(name)

    def unit_name(self, name: str) -> Value:
        """A variable of the file, or what is built in."""
        found = self.of_unit(self.scope.unit, name)
        return found if found is not None else Lib(f"builtins.{name}")

    def operator(
        self, node: ast.AST, op: ast.operator, left: tuple[ast.expr, Value], right: tuple[ast.expr, Value]
    ) -> Value:
        """What an operator gives."""
        raise NotImplementedError

    def call(
        self,
        callee: Value,
        positional: Sequence[tuple[ast.expr, Value]],
        keywords: dict[str, tuple[ast.expr, Value]],
        node: ast.AST,
    ) -> Value:
        """What a call gives."""
        raise NotImplementedError

    def attribute(self, value: Value, name: str, node: ast.expr | None) -> Value:
        """What an attribute is."""
        raise NotImplementedError

    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.expr) -> None:
        """Assign an attribute."""
        raise NotImplementedError

    def set_item(self, node: ast.Subscript, owner: Value, key: Value, value: Value) -> None:
        """Assign an item."""
        raise NotImplementedError

    def iterated(self, value: Value, node: ast.expr) -> Seq:
        """What iterating something yields."""
        raise NotImplementedError

    def unpacked(self, value: Value, target: ast.Tuple | ast.List) -> Sequence[Value]:
        """The parts of a value that is bound to several targets."""
        raise NotImplementedError

    def entered(self, manager: Value) -> Value:
        """What `with` binds."""
        raise NotImplementedError


_DISPATCHERS = frozenset({"functools.singledispatch", "functools.singledispatchmethod"})
"""What calls one of several functions."""
_BINDINGS = {
    "builtins.staticmethod": "static",
    "builtins.classmethod": "class",
    "builtins.property": "property",
    "functools.cached_property": "property",
    "contextlib.contextmanager": "context",
}


_METHODS: dict[type[Stage], dict[type[ast.AST], Callable[..., Any]]] = {}
"""What each class goes through the syntax with: to find it by its name each time takes longer."""


def _methods_of(cls: type[Stage]) -> dict[type[ast.AST], Callable[..., Any]]:
    names = {
        each: f"_{each.__name__.lower()}" for base in (ast.stmt, ast.expr) for each in base.__subclasses__()
    }
    return {each: getattr(cls, name) for each, name in names.items() if hasattr(cls, name)}


def defined_by(statement: ast.stmt) -> str:
    """The name that a statement defines, if it does nothing else."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return statement.name
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target = statement.target
    else:
        return ""
    return target.id if isinstance(target, ast.Name) else ""


def postponed(tree: ast.Module, *, calls: bool, decorated: bool) -> set[ast.stmt]:
    """The statements that may as well be run later: they rest on nothing that is bound again.

    `calls` is whether what an assignment calls may be called later, `decorated` the same of decorators.
    """
    found: set[ast.stmt] = set()
    bound: dict[str, int] = {}
    for statement in tree.body:
        name = defined_by(statement)
        if name:
            bound[name] = bound.get(name, 0) + 1
            if not decorated and _is_decorated(statement):
                continue
            if calls or not isinstance(statement, (ast.Assign, ast.AnnAssign)):
                found.add(statement)
        elif not isinstance(statement, (ast.Import, ast.ImportFrom, ast.Expr)):
            for each in descendants(statement):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    bound[each.id] = 2
    again = {name for name, times in bound.items() if times > 1}
    return {each for each in found if not _rests_on(each, again)} if again else found


def _is_decorated(statement: ast.stmt) -> bool:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return isinstance(statement, definitions) and bool(statement.decorator_list)


def _rests_on(statement: ast.stmt, names: set[str]) -> bool:
    """Whether what a statement evaluates as it is run may mention one of some names."""
    parts: list[ast.AST | None]
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts = [*statement.decorator_list, *statement.args.defaults, *statement.args.kw_defaults]
    else:
        parts = [statement]
    return any(
        isinstance(each, ast.Name) and each.id in names
        for part in parts
        if part is not None
        for each in descendants(part)
    )


def is_generator(function: Function) -> bool:
    """Whether a function is a generator: asked where it is called, as most that are defined never are."""
    if function.yields is None:
        function.yields = not isinstance(function.node, ast.Lambda) and _yields(body(function.node))
    return function.yields


def _yields(body: Sequence[ast.AST]) -> bool:
    todo: list[object] = list(body)
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is ast.Yield or kind is ast.YieldFrom:
            return True
        if kind is list:
            todo += node  # type: ignore[arg-type]
        elif kind not in _WITHOUT_YIELD and isinstance(node, ast.AST):
            todo += node.__dict__.values()
    return False


_WITHOUT_YIELD = frozenset(
    {
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.Lambda,
        ast.ClassDef,
        ast.Name,
        ast.Constant,
        ast.Load,
        str,
        int,
    }
)


def _is_empty(value: Value) -> bool:
    """Whether a tensor is as it was made, and was made of no elements."""
    made = value.made.spot.node if isinstance(value, Tensor) and value.made is not None else None
    return isinstance(made, ast.Call) and is_without_elements(made)
