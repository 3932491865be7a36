"""One file: its functions and classes, the order in which they are analysed, and what was seen on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from ..knowledge import api
from . import guards
from .annotations import annotated
from .evaluate import DEVICE_NAME
from .flow import Answer, Flow
from .scope import (
    NO_SUMMARY,
    Class,
    Feed,
    Function,
    FunctionNode,
    Holding,
    Meeting,
    Met,
    Site,
    State,
    Summary,
    join_states,
)
from .summaries import use_summary
from .values import (
    NONE,
    TENSORS,
    UNKNOWN,
    UNKNOWN_DEVICE,
    Cell,
    Device,
    Form,
    Kept,
    Kind,
    Origin,
    Truth,
    Value,
    join,
    join_devices,
)

if TYPE_CHECKING:
    from .evaluate import Evaluator

_MAX_DEPTH = 12
_MAX_ROUNDS = 3
_MAX_MEETINGS = 64
_NOTHING: tuple[Any, ...] = ((), False, (), ())
_CONSTRUCTORS = ("__init__", "setUpClass", "setUp", "setup_class", "setup_method", "setup")
"""Methods that run before the others: what they leave behind, or skip, holds in those."""


class Seen(NamedTuple):
    """A discarded move or cast, before it is known whether it matters."""

    function: Function | None
    receiver: Value
    method: str
    casts: bool
    loop: ast.expr | None
    rebound: bool
    statement: bool
    """Whether the call is a statement of its own, so that an assignment can keep its result."""
    owner: Value | None = None
    """What the receiver is an attribute or an item of."""


class Stale(NamedTuple):
    """A move of a module that an optimizer already holds."""

    function: Function | None
    module: Cell
    holding: Holding
    method: str


class MaybeLoss(NamedTuple):
    """A call of something unknown, whose arguments must agree if its result turns out to be a loss."""

    function: Function | None
    result: Cell | None
    parties: list[tuple[ast.expr, Device, Cell | None]]


class Module:
    """Analyses one file and gathers observations; `resolve.facts` turns them into facts."""

    def __init__(self, tree: ast.Module, lookup: Callable[[str], Value | None] | None = None) -> None:
        self.tree = tree
        self.state = State()
        self.lookup = lookup
        """What another file of the project defines under a dotted name."""
        self.cells: dict[tuple[object, str], Cell] = {}
        self.functions: dict[FunctionNode, Function] = {}
        self.classes: list[Class] = []
        self.chains: dict[ast.If, ast.If] = {}
        """The first `if` that each `elif` belongs to."""
        self.cuda_by_nature = False
        self.accelerated = False
        """Whether the module as a whole is skipped where there is no accelerator."""
        self.depth = 0
        self.nesting = 0
        """How deep in expressions the evaluation is, those of callers included."""
        self.only_typed: set[str] = set()
        """Names that the module imports for type checkers alone."""
        self._stand_ins: dict[ast.AST, Any] = {}

        self.keeping: Mapping[ast.Call, Kept] = {}
        """Moves whose results are discarded in the text, and are kept in this analysis."""
        self.likened: set[ast.Call] = set()
        """Moves to where a tensor is, which take its dtype as well."""
        self.discards: dict[ast.Call, Seen] = {}
        self.calls: dict[ast.Call, tuple[Function | None, ast.expr, str, str | None]] = {}
        self.literals: dict[ast.expr, tuple[Function | None, str]] = {}
        self.stale: dict[ast.AST, Stale] = {}
        self.meetings: list[Met] = []
        self.losses: list[MaybeLoss] = []
        self.feeds: list[Feed] = []
        self.links: list[tuple[Cell, Cell]] = []
        self.reveals: dict[int, tuple[Value, Device]] = {}
        self._parameters_of: dict[Function, tuple[Any, ...]] = {}
        self.moves = 0
        """How many moves were seen: a branch without any need not be compared with another."""
        self._missed: dict[Function, set[tuple[Class, str]]] = {}
        self._loads: dict[ast.AST, dict[str, list[tuple[int, int]]]] = {}

    def analyse(self) -> None:
        """Run the module's statements, then every function, until arguments and attributes have settled."""
        flow = Flow(self, None, self.state)
        flow.run(self.tree.body)
        self.state = flow.state
        self.state.alive = True
        for function in list(self.functions.values()):
            if function.autouse and self.summary(function).accelerated:
                around = function.owner if function.owner is not None else self
                around.accelerated = True
        self._analyse_all()
        for _ in range(_MAX_ROUNDS):
            if not self._rerun_general() | self._rerun_informed():
                break
            self._analyse_all()

    def _rerun_general(self) -> bool:
        """Run again what read attributes that nothing had assigned yet."""
        stale = {
            function
            for function, missed in self._missed.items()
            if any(cls.attribute(name) is not None for cls, name in missed)
        }
        for function in list(stale):
            # Who called it saw a summary that knew less.
            stale.update(site.caller for site in function.sites if site.caller is not None)
        self._forget(stale)
        for function in stale:
            function.summary = None
        for function in [function for function in self.functions.values() if function in stale]:
            self.summary(function)
        return bool(stale)

    def _rerun_informed(self) -> bool:
        """Run again what callers agree to pass something to; summaries stay those of any call."""
        informed = {}
        for function in self.functions.values():
            known = self._informed(function)
            if known != self._parameters_of.get(function, _NOTHING):
                informed[function] = known
        self._forget(informed.keys())
        for function, known in informed.items():
            function.running = True
            self._run(function, known)
            self._parameters_of[function] = known
            function.running = False
        return bool(informed)

    def _analyse_all(self) -> None:
        for cls in self.classes:
            for name in _CONSTRUCTORS:
                if name in cls.methods:
                    self.summary(cls.methods[name])
        done = 0
        while done < len(self.functions):
            for function in list(self.functions.values())[done:]:
                self.summary(function)
                done += 1

    def _forget(self, functions: Set[Function]) -> None:
        """Drop what an earlier analysis of some functions observed."""
        if not functions:
            return
        tables: tuple[dict[Any, Any], ...] = (self.discards, self.calls, self.literals, self.stale)
        for table in tables:
            for node in [node for node, seen in table.items() if seen[0] in functions]:
                del table[node]
        self.meetings = [met for met in self.meetings if met.function not in functions]
        self.feeds = [feed for feed in self.feeds if feed.function not in functions]
        self.losses = [loss for loss in self.losses if loss.function not in functions]
        for function in functions:
            self._missed.pop(function, None)
        for other in self.functions.values():
            other.sites = [site for site in other.sites if site.caller not in functions]

    # Syntax that means the same as other syntax: made once, as nodes have identity

    def as_operation(self, node: ast.AugAssign) -> ast.BinOp:
        """The operation of `x += y`."""
        made: ast.BinOp | None = self._stand_ins.get(node)
        if made is None:
            target = node.target
            load: ast.expr = target
            if isinstance(target, ast.Name):
                load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            made = self._stand_ins[node] = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        return made

    def as_statement(self, node: ast.IfExp) -> ast.If:
        """The `if` that a conditional expression is as a statement of its own."""
        made: ast.If | None = self._stand_ins.get(node)
        if made is None:
            branches: list[list[ast.stmt]] = [[ast.Expr(node.body)], [ast.Expr(node.orelse)]]
            made = self._stand_ins[node] = ast.copy_location(ast.If(node.test, *branches), node)
        return made

    # Definitions

    def cell(self, node: object, role: str = "", label: str = "") -> Cell:
        """The cell that belongs to a node, or a name, in one role."""
        key = (node, role)
        cell = self.cells.get(key)
        if cell is None:
            cell = self.cells[key] = Cell(label, node)
        return cell

    def function(self, node: FunctionNode, flow: Evaluator) -> Function:
        """The function that a definition makes."""
        env = flow.state.env if flow.function is not None or isinstance(node, ast.Lambda) else None
        function = self.functions.get(node)
        if function is None:
            function = self.functions[node] = Function(node, env, None, flow.function)
        elif env is not None:
            function.enclosing = env
        function.accelerated = flow.state.accelerated
        return function

    def define_class(self, flow: Flow, node: ast.ClassDef) -> Class:
        """The class that a definition makes; runs its body."""
        for known in self.classes:
            if known.node is node:
                return known
        cls = Class(node)
        self.classes.append(cls)
        for base in node.bases:
            value = flow.eval(base)
            if value.kind is Kind.CLASS:
                cls.bases.append(value.data)
            elif value.kind is Kind.LIBRARY:
                cls.base_names.append(value.data)
            elif isinstance(base, (ast.Name, ast.Attribute)):
                cls.base_names.append(base.attr if isinstance(base, ast.Attribute) else base.id)
        lineage = cls.lineage()
        names = [name for each in lineage for name in each.base_names]
        cls.is_module = any(_is_module_base(name) for name in names)
        cls.framework = any(name.startswith(api.FRAMEWORK_BASES) or "Lightning" in name for name in names)
        body = Flow(self, flow.function, State())
        body.owner = cls
        scope = body.state.env = _ClassScope(flow.state.env)
        body.state.accelerated = flow.state.accelerated or self._required(flow, node)
        body.state.accelerated |= guards.mentions_accelerator(node.name)
        body.state.accelerated |= any(name.startswith("torch.cuda.") for name in names)
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.method(body, cls, statement)  # also below a statement that may end the class body
            else:
                body.run([statement])
        if isinstance(body.state.env, _ClassScope):
            scope = body.state.env
        cls.body = {
            name: value
            for name, value in scope.own.items()
            if isinstance(name, str) and value.kind is not Kind.FUNCTION
        }
        if any(name.rpartition(".")[2] in ("Enum", "StrEnum", "Flag") for name in names):
            cls.body = {name: value._replace(origin=None) for name, value in cls.body.items()}
        cls.accelerated = body.state.accelerated
        return cls

    def method(self, flow: Flow, cls: Class, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
        """The method that a definition in a class body makes."""
        method = self.functions.get(node)
        if method is None:
            around = flow.state.env
            outer = around.outer if isinstance(around, _ClassScope) else around
            env = outer if flow.function is not None else None
            method = self.functions[node] = Function(node, env, cls, flow.function)
        method.accelerated |= flow.state.accelerated
        cls.methods[node.name] = method
        flow.state.env[node.name] = Value(Kind.FUNCTION, data=method)
        return method

    def library_base(self, cls: Class) -> str | None:
        """The dotted name of the library class it derives from, if it derives from one."""
        return next((name for each in cls.lineage() for name in each.base_names), None)

    def resolve(self, dotted: str) -> Value | None:
        """What another file of the project defines under a dotted name, if that is known."""
        return self.lookup(dotted) if self.lookup is not None else None

    def imported(self, name: str, guarded: bool) -> None:
        """A module is imported; some run on an accelerator alone."""
        parts = name.split(".")
        known = parts[0] in api.CUDA_BY_NATURE or name in api.CUDA_BY_NATURE
        if not guarded and (known or "triton" in parts or parts[-1].endswith("_cuda")):
            self.cuda_by_nature = True

    # Observations

    def bound(self, flow: Evaluator, name: str, value: Value) -> None:
        """A variable is assigned; `global` ones are the module's."""
        if isinstance(flow, Flow) and name in flow.globals:
            known = self.state.env.get(name)
            self.state.env[name] = value if known is None else join(known, value)
        elif flow.function is None and name == "pytestmark":
            marks = value.items or (value,)
            self.accelerated |= any(mark.kind is Kind.FLAG and mark.data.if_true for mark in marks)

    def attribute_assigned(self, flow: Evaluator, cls: Class, name: str) -> None:
        """A method assigns an attribute of `self`."""
        if isinstance(flow, Flow):
            flow.assigned.add((cls, name))

    def attribute_missed(self, function: Function | None, cls: Class, name: str) -> None:
        """A method reads an attribute that nothing has assigned so far."""
        if function is not None:
            self._missed.setdefault(function, set()).add((cls, name))

    def hardcoded(self, function: Function | None, origin: Origin, role: str) -> None:
        """A device literal reaches a place where a device goes."""
        self.literals[origin.node] = (function, role)

    def as_default(self, default: ast.expr) -> None:
        """A device literal in the default of a parameter, such as `torch.device("cuda")`."""
        for part in default.args if isinstance(default, ast.Call) else ():
            if part in self.literals:
                self.literals[part] = (self.literals[part][0], "default")

    def harmless(self, expressions: Iterable[ast.expr]) -> None:
        """The device literals in these place nothing by themselves: one of a choice, or only kept."""
        inside = {node for expression in expressions for node in ast.walk(expression)}
        for literal in [literal for literal in self.literals if literal in inside]:
            del self.literals[literal]

    def reveal(self, line: int, value: Value, ev: Evaluator) -> None:
        """`reveal_device(x)`."""
        self.reveals[line] = (value, ev.location(value))

    def mentions_device(self, node: ast.AST) -> bool:
        """Whether code names a device or moves anything at all."""
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and (each.attr in api.MOVE_METHODS or each.attr == "device"):
                return True
            if isinstance(each, ast.keyword) and each.arg == "device":
                return True
            if isinstance(each, ast.Name) and each.id == "device":
                return True
        return False

    def read_later(
        self,
        function: Function | None,
        name: str,
        statement: ast.stmt | ast.expr,
        loop: ast.For | ast.AsyncFor,
    ) -> bool:
        """Whether a variable is read after a statement, or by code that a nested loop may run after it."""
        scope: ast.AST = function.node if function is not None else self.tree
        loads = self._loads.get(scope)
        if loads is None:
            loads = self._loads[scope] = {}
            for node in ast.walk(scope):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    loads.setdefault(node.id, []).append((node.lineno, node.col_offset))
                elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                    loads.setdefault(node.target.id, []).append((node.lineno, node.col_offset))
        first = (statement.end_lineno or statement.lineno, statement.end_col_offset or 0)
        for inner in ast.walk(loop):
            if isinstance(inner, (ast.For, ast.AsyncFor, ast.While)) and inner is not loop:
                end = inner.end_lineno or inner.lineno
                if inner.lineno <= statement.lineno <= end:
                    body = inner.body[0]
                    own = (statement.lineno, statement.col_offset), first
                    if any(
                        (body.lineno, 0) <= at <= (end, 1 << 30) and not own[0] <= at < own[1]
                        for at in loads.get(name, ())
                    ):
                        return True
        later = [at for at in loads.get(name, ()) if at >= first]
        return bool(later) and min(later) < self._bound_again(scope, name, loop)

    def _bound_again(self, scope: ast.AST, name: str, loop: ast.For | ast.AsyncFor) -> tuple[int, int]:
        """Where a loop after this one binds the same name anew."""
        end = loop.end_lineno or loop.lineno
        starts = [
            (node.body[0].lineno, 0)
            for node in ast.walk(scope)
            if isinstance(node, (ast.For, ast.AsyncFor))
            and node.lineno > end
            and any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node.target))
        ]
        return min(starts, default=(1 << 30, 0))

    def discarded(self, flow: Evaluator, node: ast.Call, receiver: Value, method: str, casts: bool) -> None:
        """The result of a move or cast is thrown away."""
        assert isinstance(node.func, ast.Attribute)
        loop = flow.loop_of(node.func.value, node) if isinstance(flow, Flow) else None
        statement = isinstance(flow, Flow) and flow.statement is node
        owner = None
        if statement and isinstance(node.func.value, (ast.Attribute, ast.Subscript)):
            owner = flow.eval(node.func.value.value)
        self.discards[node] = Seen(flow.function, receiver, method, casts, loop, False, statement, owner)

    def spill(self, value: Value, from_device: bool = False) -> None:
        """A value goes where nobody knows what is done with it, or where nothing of a device may go."""
        todo = [value] if self.keeping else []
        while todo:
            each = todo.pop()
            kept = each.device.key
            if isinstance(kept, Kept):
                kept.spilled |= not (from_device and kept.target.form is Form.CPU)
            todo.extend(each.items or ())
            if each.element is not None:
                todo.append(each.element)

    def looped(self, node: ast.Call, iterable: ast.expr) -> None:
        """A discarded call turns out to be the body of a comprehension."""
        seen = self.discards.get(node)
        if seen is not None:
            self.discards[node] = seen._replace(loop=iterable)

    def rebound(
        self,
        function: Function | None,
        node: ast.Call,
        receiver: Value,
        method: str,
        casts: bool,
        loop: ast.expr,
    ) -> None:
        """A loop variable is bound to its moved copy, which nothing reads."""
        self.discards[node] = Seen(function, receiver, method, casts, loop, True, False)

    def moved_late(
        self, function: Function | None, node: ast.AST, module: Cell, holding: Holding, method: str
    ) -> None:
        """A module is moved although an optimizer holds its parameters."""
        self.stale[node] = Stale(function, module, holding, method)

    def rebuilt(self, function: Function | None, modules: frozenset[Cell]) -> None:
        """Another optimizer takes over modules: the one before it no longer matters."""
        for node in [
            n for n, s in self.stale.items() if s.function is function and s.holding.modules <= modules
        ]:
            del self.stale[node]

    def met(self, meeting: Met) -> None:
        """Values on two devices come together."""
        self.meetings.append(meeting)

    def maybe_loss(
        self,
        function: Function | None,
        result: Cell | None,
        parties: list[tuple[ast.expr, Device, Cell | None]],
    ) -> None:
        """Something unknown is called with several values."""
        self.losses.append(MaybeLoss(function, result, parties))

    # Functions

    def summary(self, function: Function) -> Summary:
        """What a call of a function does; analyses it the first time."""
        if function.summary is not None:
            return function.summary
        if function.running or self.depth >= _MAX_DEPTH:
            return NO_SUMMARY
        function.running = True
        self.depth += 1
        try:
            function.summary = self._run(function, _NOTHING)
            self._parameters_of[function] = _NOTHING
        finally:
            function.running = False
            self.depth -= 1
        return function.summary

    def property_value(self, ev: Evaluator, method: Function, base: Value) -> Value:
        """The value of a property."""
        summary = self.summary(method)
        given = {method.positional[0]: (None, base)} if method.positional else {}
        return use_summary(ev, method.node, method, summary, given)  # type: ignore[arg-type]

    def _run(self, function: Function, informed: tuple[Any, ...]) -> Summary:
        """Run a function's body; `informed` is what is known of its arguments."""
        state = State()
        flow = Flow(self, function, state)
        self._enter(flow, function, dict(informed[0]))
        for name, value in informed[0]:
            if value.cell is not None and name in function.cells:
                flow.aliases[function.cells[name]] = value.cell
        state.accelerated |= informed[1]
        for cell, place in informed[2]:
            state.places[cell] = place
        for cell, holding in informed[3]:
            state.held[cell] = holding
        passed = {value.cell for _, value in informed[0]}
        for cell, place in self.state.places.items():
            if cell not in passed:  # where an argument was at the call, not where the module leaves it
                state.places.setdefault(cell, place)
        for cell, holding in self.state.held.items():
            state.held.setdefault(cell, holding)
        before = dict(state.places)
        accelerated = state.accelerated
        first_meeting = len(self.meetings)
        if isinstance(function.node, ast.Lambda):
            flow.returned = flow.eval(function.node.body)
        else:
            flow.run(function.node.body)
        end = flow.state
        for other in flow.exits:
            end = join_states(end, other)
        self._leave(flow, function, end)
        moves = tuple((cell, place) for cell, place in end.places.items() if before.get(cell) != place)
        required = end.accelerated and end.alive and not accelerated
        known = {cell for cell, _ in informed[3]} | self.state.held.keys()
        held = tuple((cell, holding) for cell, holding in end.held.items() if cell not in known)
        return Summary(
            self._result(flow, function), moves, self._needs(function, first_meeting), held, required
        )

    def _result(self, flow: Flow, function: Function) -> Value:
        """What the function returns; its annotation decides where the code does not."""
        result = flow.returned
        if flow.yields:
            return UNKNOWN
        if _chooses_device(flow.answers):
            self.harmless(answer.node for answer in flow.answers if answer.node is not None)
        if _answers_for_accelerator(flow.answers):
            return Value(Kind.FLAG, data=Truth(True, False))
        if result is None:
            return NONE
        if result.kind is Kind.UNKNOWN:
            promised = annotated(flow, getattr(function.node, "returns", None), result.cell)
            if promised is not None:
                return promised._replace(device=result.device)
        return result

    def _needs(self, function: Function, first: int) -> tuple[Meeting, ...]:
        """Meetings in which a parameter takes part."""
        found: dict[Meeting, None] = {}
        for met in self.meetings[first:]:
            if met.function is function and (
                _of_parameter(met.here, function) or _of_parameter(met.there, function)
            ):
                found[Meeting(met.here, met.there)] = None
                if len(found) >= _MAX_MEETINGS:
                    break
        return tuple(found)

    def _enter(self, flow: Flow, function: Function, given: dict[str, Value]) -> None:
        """Bind the parameters and what is known of `self`."""
        args, state = function.node.args, flow.state
        owner = function.owner
        state.accelerated = self._required(flow, function.node)
        state.accelerated |= (
            self.accelerated
            or function.accelerated
            or (owner is not None and any(cls.accelerated for cls in owner.lineage()))
        )
        if owner is not None:
            self._enter_method(state, owner, function)
        defaults = dict(zip(reversed([*args.posonlyargs, *args.args]), reversed(args.defaults), strict=False))
        keywords = zip(args.kwonlyargs, args.kw_defaults, strict=True)
        defaults.update({arg: default for arg, default in keywords if default is not None})
        for index, arg in enumerate((*args.posonlyargs, *args.args, *args.kwonlyargs)):
            cell = function.cells.get(arg.arg)
            if cell is None:
                cell = function.cells[arg.arg] = Cell(arg.arg, function.node, via="parameter")
                cell.placed = owner is not None and owner.framework
            if index == 0 and owner is not None and function.is_method:
                kind = Kind.CLASS if function.of_class else Kind.INSTANCE
                state.env[arg.arg] = Value(kind, cell=owner.cell, data=owner)
                continue
            default = defaults.get(arg)
            literal = isinstance(default, ast.Constant) and isinstance(default.value, str)
            if literal and _is_accelerator(default.value):  # type: ignore[union-attr]
                device = Device(Form.SAME, "", cell)
                origin = None if flow.state.accelerated else Origin("default", default)
                state.env[arg.arg] = Value(Kind.STRING, device, cell, origin=origin)
                continue
            value = given.get(arg.arg) or annotated(flow, arg.annotation, cell) or Value(cell=cell)
            if value.kind is Kind.DEVICE and value.device.form is Form.UNKNOWN:
                value = value._replace(device=Device(Form.SAME, "", cell))
            elif value.kind in TENSORS and value.device.form is Form.UNKNOWN and value.cell is cell:
                value = value._replace(device=Device(Form.AT, "", cell))
            state.env[arg.arg] = value
        for rest in (args.vararg, args.kwarg):
            if rest is not None:
                state.env[rest.arg] = Value(cell=self.cell(rest, "rest", rest.arg))

    def _enter_method(self, state: State, cls: Class, function: Function) -> None:
        for each in reversed(cls.lineage()):
            if function.name == "__init__" and each is cls:
                continue
            state.places.update(each.places)
            state.held.update(each.held)
            for name, value in each.attributes.items():
                place = each.places.get(value.cell) if value.cell is not None else None
                if cls.is_module and place is not None:
                    state.places[cls.cell.child(name, f"self.{name}", "attribute")] = place

    def _leave(self, flow: Flow, function: Function, end: State) -> None:
        """Remember what a method assigns to attributes, and where a constructor leaves its objects."""
        for cls, name in flow.assigned:
            value = end.env.get((cls.cell, name))
            if value is not None:
                cls.assign(name, function, value)
        if function.owner is not None and function.name in _CONSTRUCTORS:
            if function.name == "__init__":
                outside, held = self.state.places, self.state.held
                function.owner.places = {c: p for c, p in end.places.items() if outside.get(c) != p}
                function.owner.held = {c: h for c, h in end.held.items() if held.get(c) != h}
            # There is no instance, or no test is run, where a constructor raises or skips.
            function.owner.accelerated |= end.accelerated and end.alive

    def _required(self, flow: Flow, node: ast.AST) -> bool:
        """Whether a decorator makes sure that an accelerator is there, or that the code is skipped."""
        for decorator in getattr(node, "decorator_list", ()):
            name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
            value = flow.eval(decorator)
            if value.kind is Kind.FLAG and value.data.if_true:
                return True
            if name.endswith("parametrize"):
                continue
            if guards.mentions_accelerator(name):
                return True
        return False

    # What callers pass

    def _informed(self, function: Function) -> tuple[Any, ...]:
        """What all callers in this file agree to pass: values, a guard, and where the objects are."""
        sites = function.sites
        if not sites:
            return _NOTHING
        values: dict[str, Value] = {}
        for name in sites[0].arguments:
            if name == "self" or not all(name in site.arguments for site in sites):
                continue
            value = sites[0].arguments[name]
            for site in sites[1:]:
                value = _agree(value, site.arguments[name])
            if _informs(value, sites):
                values[name] = value
        places: dict[Cell, Device] = {}
        held: dict[Cell, Holding] = {}
        for value in values.values():
            if value.cell is None:
                continue
            found = [site.places.get(value.cell) for site in sites]
            if found[0] is not None and all(place is not None for place in found):
                place = found[0]
                for other in found[1:]:
                    place = join_devices(place, other or UNKNOWN_DEVICE)
                places[value.cell] = place
            if value.kind is Kind.OPTIMIZER and all(value.cell in site.held for site in sites):
                held[value.cell] = sites[0].held[value.cell]
        accelerated = all(site.accelerated for site in sites)
        return (tuple(values.items()), accelerated, tuple(places.items()), tuple(held.items()))

    def site(
        self, caller: Function | None, function: Function, arguments: dict[str, Value], state: State
    ) -> None:
        """Remember a call of a function of this file."""
        cells = {value.cell for value in arguments.values() if value.cell is not None}
        places = {cell: state.places[cell] for cell in cells if cell in state.places}
        held = {cell: state.held[cell] for cell in cells if cell in state.held}
        function.sites.append(Site(caller, arguments, places, held, state.accelerated))


class _ClassScope(dict[Any, Value]):
    """The variables of a class body, over those of the scope around it."""

    def __init__(self, outer: dict[Any, Value], known: dict[Any, Value] | None = None) -> None:
        super().__init__(outer if known is None else known)
        self.outer = outer

    def copy(self) -> _ClassScope:
        """The scope of another path through the same class body."""
        return _ClassScope(self.outer, self)

    @property
    def own(self) -> dict[Any, Value]:
        """What the class body itself binds."""
        return {name: value for name, value in self.items() if self.outer.get(name) is not value}


def _is_module_base(name: str) -> bool:
    if name.startswith("torch.nn.") and name.rsplit(".", 1)[-1][:1].isupper():
        return not name.endswith(("Parameter", "Buffer"))
    last = name.rsplit(".", 1)[-1]
    return last in ("LightningModule", "PreTrainedModel", "ModelMixin", "BaseModule") or name.startswith(
        ("torchvision.models.", "timm.models.")
    )


def _is_accelerator(name: str) -> bool:
    return DEVICE_NAME.match(name) is not None and not name.startswith("cpu")


def _of_parameter(device: Device, function: Function) -> bool:
    cell = device.key
    while isinstance(cell, Cell):
        if cell.via == "parameter" and cell.key is function.node:
            return True
        if function.owner is not None and cell is function.owner.cell:
            return True
        cell = cell.parent
    return False


def _agree(a: Value, b: Value) -> Value:
    """What two callers both pass; the identity of an object survives only if it is the same one."""
    if a == b:
        return a
    if a.kind is Kind.LOADER and b.kind is Kind.LOADER and a.element is not None and b.element is not None:
        same = a.element.device.form is b.element.device.form
        return a if same else UNKNOWN
    if a.kind is b.kind and a.kind is Kind.MODULE:
        return a._replace(data=a.data if a.data == b.data else None)
    return join(a, b)


def _informs(value: Value, sites: list[Site]) -> bool:
    if value.kind in (Kind.LOADER, Kind.MODULE, Kind.OPTIMIZER, Kind.INSTANCE):
        return True
    if value.kind in (Kind.DEVICE, Kind.STRING):
        return value.device.form is not Form.UNKNOWN
    if value.kind is Kind.CONTAINER:
        return value.element is not None and value.element.kind is Kind.LOADER
    return (
        value.kind is Kind.UNKNOWN and value.cell is not None and all(value.cell in s.places for s in sites)
    )


def _answers_for_accelerator(answers: list[Answer]) -> bool:
    """Whether a function says False without an accelerator, and anything else with one only."""
    others = [answer for answer in answers if answer.value != Value(Kind.NUMBER, data=False)]
    return 0 < len(others) < len(answers) and all(
        answer.accelerated and answer.value.kind in (Kind.NUMBER, Kind.UNKNOWN, Kind.FLAG)
        for answer in others
    )


def _chooses_device(answers: list[Answer]) -> bool:
    """Whether a function returns the cpu on one path and an accelerator on another, whatever it asks."""
    forms = {answer.value.device.form for answer in answers if answer.value.kind is Kind.DEVICE}
    return {Form.CPU, Form.ACCELERATOR} <= forms
