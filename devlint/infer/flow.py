"""Statements: how values flow through assignments, branches, loops and exits of one function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..knowledge import api
from . import guards, sections
from .annotations import annotated
from .evaluate import Evaluator
from .scope import Class, Function, State, join_states
from .values import (
    AS_TENSOR,
    NONE,
    TENSORS,
    UNKNOWN,
    Device,
    Form,
    Kept,
    Kind,
    Value,
    join,
    symbol_name,
)

if TYPE_CHECKING:
    from .module import Module

_MAX_NESTING = 5
"""Loops nested deeper are run once: each level doubles the work."""
_EXITS = frozenset({"exit", "quit", "_exit", "abort", "skip", "skipTest", "fail", "SkipTest", "xfail"})
_CATCHES_CUDA = frozenset({"RuntimeError", "AssertionError", "Exception", "BaseException"})

Handler = TypeVar("Handler", bound=Callable[..., None])
_STATEMENTS: dict[type, Callable[[Any, Any], None]] = {}


def _on(*types: type) -> Callable[[Handler], Handler]:
    def register(method: Handler) -> Handler:
        for node_type in types:
            _STATEMENTS[node_type] = method
        return method

    return register


class Path(NamedTuple):
    """A branch of an `if` in which something is moved."""

    chain: ast.If
    """The first `if` of its `if … elif … else`."""
    node: ast.If
    outcome: bool
    asks: str
    """`machine` when the condition asks the machine alone, `option` when it asks for a setting."""
    origin: Any
    """The move."""


def _paths(value: Value, path: Path) -> frozenset[Path] | None:
    """The paths on which a value is on an accelerator; None where that is not known."""
    device = value.device
    if device.form is Form.CPU or (
        device.form in (Form.AT, Form.UNKNOWN) and value.origin is None and value.cell
    ):
        return frozenset()
    if device.form in (Form.ACCELERATOR, Form.SAME):
        return frozenset({path})
    return device.key if isinstance(device.key, frozenset) else None


def _from_loader(value: Value, loop: Loop) -> bool:
    """Whether the loop is over a loader, which makes new batches every round and keeps none."""
    if value.kind is not Kind.BATCH or value.device.form is not Form.CPU or value.cell is None:
        return False
    whole = value.cell.batch or value.cell
    made_at = whole.key[1] if isinstance(whole.key, tuple) else None
    return any(node is made_at for node in ast.walk(loop.node.iter))


def _is_element(value: Value) -> bool:
    """Whether a value is one of several that came together, from a loop or a caller."""
    return value.cell is not None and value.cell.batch is not None


class Loop(NamedTuple):
    """A loop being run: what it iterates, and the variables it binds."""

    node: ast.For | ast.AsyncFor
    bound: dict[str, Value]


class Answer(NamedTuple):
    """One `return`."""

    node: ast.expr | None
    value: Value
    accelerated: bool
    """Whether an accelerator is certain there."""


class Flow(Evaluator):
    """Runs the statements of one function, or of the module, over abstract values."""

    def __init__(self, module: Module, function: Function | None, state: State) -> None:
        super().__init__(module, function, state)
        self.loops: list[Loop] = []
        self.breaks: list[State] = []
        self.continues: list[State] = []
        self.exits: list[State] = []
        self.returned: Value | None = None
        self.answers: list[Answer] = []
        self.assigned: set[tuple[Class, str]] = set()
        """Attributes of `self` that this function assigns."""
        self.globals: set[str] = set()
        self.trying = 0
        """How many `try` bodies enclose the statement at hand."""
        self.statement: ast.Call | None = None
        """The call that is the statement at hand."""
        self.in_expression = False
        self.depth = 0
        """How many loops enclose the statement at hand."""
        self.probing = 0
        """How many contexts enclose it that expect it to fail."""
        self.measured: sections.Measured | None = None
        """What it is part of that is run for its duration."""
        self.typing = False
        """Inside `if TYPE_CHECKING:`."""
        self.owner: Class | None = None
        """The class whose body this is."""

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Run statements until control leaves."""
        for statement in body:
            if not self.state.alive:
                return
            handler = _STATEMENTS.get(type(statement))
            if handler is not None:
                context = self._context()
                try:
                    handler(self, statement)
                except RecursionError:
                    self._restore(context)

    def _context(self) -> tuple[Any, ...]:
        return (
            (self.trying, self.probing, self.depth, self.module.nesting, self.in_expression, self.typing),
            (self.breaks, self.continues, len(self.loops)),
            self.measured,
        )

    def _restore(self, context: tuple[Any, ...]) -> None:
        """Forget the statement that was too deep, and where in it the evaluation was."""
        self.trying, self.probing, self.depth, self.module.nesting = context[0][:4]
        self.in_expression, self.typing = context[0][4:]
        self.breaks, self.continues, loops = context[1]
        self.measured = context[2]
        del self.loops[loops:]
        self.comparing = False
        self.discarding = self.lost = self.statement = None

    # Simple statements

    @_on(ast.Expr)
    def _expr(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant):
            return
        if isinstance(value, ast.ListComp) and isinstance(value.elt, ast.Call):
            self.discarding = self._in_vain(value.elt)
            self.eval(value)
            self.discarding = None
            self.module.looped(value.elt, value.generators[-1].iter)
            return
        if isinstance(value, ast.Call):
            self.discarding = self._in_vain(value)
            self.statement = None if self.in_expression else value
            result = self.eval(value)
            self.discarding = None
            if value in self.module.keeping and isinstance(value.func, ast.Attribute):
                self.bind(value.func.value, result)
        elif isinstance(value, ast.Tuple):
            for item in value.elts:  # `x, y.to(device)`
                self.discarding = self._in_vain(item)
                self.statement = None
                self.eval(item)
            self.discarding = None
            return
        elif isinstance(value, ast.IfExp):
            self.in_expression = True
            self._if(self.module.as_statement(value))
            self.in_expression = False
            return
        if isinstance(value, ast.Call):
            func = value.func
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if name in _EXITS:
                self.state.alive = False
        else:
            self.eval(value)

    def _in_vain(self, node: ast.expr) -> ast.expr | None:
        """What a statement evaluates and throws away, unless that is what it is there for."""
        if self.probing:
            return None
        if self.measured is not None and isinstance(node, ast.Call) and self.measured.on_purpose(node):
            self.lost = node
            return None
        return node

    @_on(sections.Ran)
    def _ran(self, node: sections.Ran) -> None:
        names = {name: value for name, value in self.state.env.items() if isinstance(name, str)}
        self.run(node.body)
        if node.apart:
            parts = {part: value for part, value in self.state.env.items() if not isinstance(part, str)}
            self.state.env = {**names, **parts}
        self.state.alive = True

    @_on(sections.Shown)
    def _shown(self, node: sections.Shown) -> None:
        self.lost = node.value
        self.eval(node.value)

    @_on(sections.Measured)
    def _measure(self, node: sections.Measured) -> None:
        around, self.measured = self.measured, node
        self.run(node.body)
        self.measured = around

    @_on(ast.Assign)
    def _assign(self, node: ast.Assign) -> None:
        if self.loops and len(node.targets) == 1 and self.measured is None:
            self._rebinding(node)
        value = self.eval(node.value)
        for target in node.targets:
            self.bind(target, value)

    def _rebinding(self, node: ast.Assign) -> None:
        """`for x in xs: x = x.to(d)`, where nothing reads `x` afterwards: the container keeps its tensors."""
        target, call = node.targets[0], node.value
        if not (
            isinstance(target, ast.Name)
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
        ):
            return
        receiver, name = call.func.value, call.func.attr
        if not isinstance(receiver, ast.Name) or receiver.id != target.id:
            return
        if name not in api.MOVE_METHODS and name not in api.CAST_METHODS:
            return
        loop = self._loop_binding(target.id)
        if loop is None or _from_loader(loop.bound[target.id], loop):
            return
        if self.module.read_later(self.function, target.id, node, loop.node):
            return
        casts = name in api.CAST_METHODS
        self.lost = call
        self.module.rebound(self.function, call, loop.bound[target.id], name, casts, loop.node.iter)

    def _loop_binding(self, name: str) -> Loop | None:
        """The innermost loop that binds a name, if nothing has bound it anew since."""
        for loop in reversed(self.loops):
            if name in loop.bound:
                return loop if self.state.env.get(name) == loop.bound[name] else None
        return None

    def loop_of(self, receiver: ast.expr, statement: ast.expr) -> ast.expr | None:
        """What is iterated, when an expression is a loop variable that nothing reads after the statement."""
        if not isinstance(receiver, ast.Name):
            return None
        loop = self._loop_binding(receiver.id)
        if loop is None or _from_loader(loop.bound[receiver.id], loop):
            return None
        if self.module.read_later(self.function, receiver.id, statement, loop.node):
            return None
        return loop.node.iter

    @_on(ast.AnnAssign)
    def _annassign(self, node: ast.AnnAssign) -> None:
        cell = self.module.cell(node, "annotated")
        promised = annotated(self, node.annotation, cell)
        if node.value is None:
            if promised is not None and self.function is None and isinstance(node.target, ast.Name):
                self.bind(node.target, promised)
            return
        value = self.eval(node.value)
        if value.kind is Kind.UNKNOWN and promised is not None:
            value = promised._replace(cell=value.cell or cell)
        self.bind(node.target, value)

    @_on(ast.AugAssign)
    def _augassign(self, node: ast.AugAssign) -> None:
        self.bind(node.target, self.eval(self.module.as_operation(node)))

    @_on(ast.Return)
    def _return(self, node: ast.Return) -> None:
        value = NONE if node.value is None else self.eval(node.value)
        if self.function is not None:
            returns = getattr(self.function.node, "returns", None)
            if returns is not None:
                self._evidence_of_annotation(returns, value)
        self.returned = value if self.returned is None else join(self.returned, value)
        self.answers.append(Answer(node.value, value, self.state.accelerated))
        self.exits.append(self.state)
        self.state = self.state.copy()
        self.state.alive = False

    def _evidence_of_annotation(self, annotation: ast.expr, value: Value) -> None:
        promised = annotated(self, annotation, None)
        if promised is None or value.cell is None or value.kind is not Kind.UNKNOWN:
            return
        if promised.kind in TENSORS:
            value.cell.note(AS_TENSOR)
        elif promised.element is not None and promised.element.kind in TENSORS:
            value.cell.elements_are |= AS_TENSOR

    @_on(ast.Raise)
    def _raise(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self.eval(node.exc)
        self.state.alive = False

    @_on(ast.Break)
    def _break(self, node: ast.Break) -> None:
        self.breaks.append(self.state.copy())
        self.state.alive = False

    @_on(ast.Continue)
    def _continue(self, node: ast.Continue) -> None:
        self.continues.append(self.state.copy())
        self.state.alive = False

    @_on(ast.Assert)
    def _assert(self, node: ast.Assert) -> None:
        guards.assume(self, node.test, self.eval(node.test), True)

    @_on(ast.Delete)
    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.state.env.pop(target.id, None)

    @_on(ast.Global, ast.Nonlocal)
    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.globals.update(node.names)

    @_on(ast.Import)
    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.module.imported(alias.name, self.state.accelerated or bool(self.trying))
            name = alias.asname or alias.name.split(".")[0]
            self._for_types(name)
            self.state.env[name] = Value(Kind.LIBRARY, data=alias.name if alias.asname else name)

    def _for_types(self, name: str) -> None:
        if self.function is None:
            (self.module.only_typed.add if self.typing else self.module.only_typed.discard)(name)

    @_on(ast.ImportFrom)
    def _importfrom(self, node: ast.ImportFrom) -> None:
        source = "." * node.level + (node.module or "")
        self.module.imported(source, self.state.accelerated or bool(self.trying))
        for alias in node.names:
            dotted = f"{source}.{alias.name}"
            found = self.module.resolve(dotted)
            if found is None and source == "torch" and alias.name in api.DTYPES:
                found = Value(Kind.DTYPE)
            self.state.env[alias.asname or alias.name] = found or Value(Kind.LIBRARY, data=dotted)

    # Branches

    @_on(ast.If)
    def _if(self, node: ast.If) -> None:
        test = self.eval(node.test)
        guards.prepare(self, node.test)
        moves = self.module.moves
        otherwise = self.state.copy()
        guards.assume(self, node.test, test, True)
        typing, self.typing = self.typing, self.typing or _is_type_checking(node.test)
        self.run(node.body)
        self.typing = typing
        then, self.state = self.state, otherwise
        guards.assume(self, node.test, test, False)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            self.module.chains[node.orelse[0]] = self.module.chains.get(node, node)
        self.run(node.orelse)
        conditional: dict[str, Device] = {}
        if self.module.moves > moves:
            conditional = self._moved_on_one_path(node, test, then, self.state)
        self.state = join_states(then, self.state)
        for name, device in conditional.items():
            self.state.env[name] = self.state.env[name]._replace(device=device)

    def _moved_on_one_path(self, node: ast.If, test: Value, then: State, orelse: State) -> dict[str, Device]:
        """Variables that one branch moves, with the paths on which they are moved."""
        found: dict[str, Device] = {}
        if not (then.alive and orelse.alive):
            return found
        asks = guards.asks(node.test, test)
        chain = self.module.chains.get(node, node)
        for name, value in then.env.items():
            other = orelse.env.get(name)
            if other is None or other is value or not isinstance(name, str) or other.cell is not value.cell:
                continue
            if value.kind in (Kind.DEVICE, Kind.STRING):
                continue
            if isinstance(value.device.key, Kept) or isinstance(other.device.key, Kept):
                continue
            mine, theirs = (
                _paths(v, Path(chain, node, side, asks, v.origin))
                for v, side in ((value, True), (other, False))
            )
            if (not mine and not theirs) or mine is None or theirs is None:
                continue
            places = {value.device.form, other.device.form}
            if _is_element(value) or Form.CPU in places or Form.EITHER in places:
                device = value.device if mine else other.device
                found[name] = Device(Form.EITHER, symbol_name(device), mine | theirs)
        return found

    @_on(ast.Match)
    def _match(self, node: ast.Match) -> None:
        self.eval(node.subject)
        result: State | None = self.state.copy()
        for case in node.cases:
            before = self.state.copy()
            for name in ast.walk(case.pattern):
                bound = getattr(name, "name", None)
                if isinstance(bound, str):
                    self.state.env[bound] = UNKNOWN
            self.state.accelerated |= guards.names_accelerator(case.pattern)
            if case.guard is not None:
                self.eval(case.guard)
            self.run(case.body)
            result = join_states(result, self.state) if result is not None else self.state
            self.state = before
        if result is not None:
            self.state = result

    @_on(ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
    def _try(self, node: ast.Try) -> None:
        before = self.state.copy()
        accelerated = self.state.accelerated
        if any(_catches_cuda_errors(handler) for handler in node.handlers):
            self.state.accelerated = True
        probe = len(node.body) == 1 and isinstance(node.body[0], ast.Expr)
        self.trying += 1
        self.probing += probe
        self.run(node.body)
        self.probing -= probe
        self.trying -= 1
        self.run(node.orelse)
        after = self.state
        after.accelerated = accelerated if after.alive else after.accelerated
        result = after
        for handler in node.handlers:
            self.state = join_states(before.copy(), after.copy())
            self.state.accelerated = accelerated
            if handler.name:
                self.state.env[handler.name] = UNKNOWN
            self.run(handler.body)
            result = join_states(result, self.state)
        self.state = result
        if node.finalbody:
            alive = self.state.alive
            self.state.alive = True
            self.run(node.finalbody)
            self.state.alive = self.state.alive and alive

    @_on(ast.With, ast.AsyncWith)
    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        accelerated, default = self.state.accelerated, self.state.default
        for item in node.items:
            value = self.eval(item.context_expr)
            if value.kind is Kind.DEVICE:
                self.state.default = value.device
            if isinstance(item.context_expr, ast.Call) and isinstance(item.context_expr.func, ast.Attribute):
                callee = self.eval(item.context_expr.func)
                if callee.kind is Kind.LIBRARY and callee.data in ("torch.cuda.device", "torch.cuda.stream"):
                    self.state.accelerated = True
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        expects = any(_expects_failure(item.context_expr) for item in node.items)
        self.probing += expects
        self.state.accelerated |= expects
        self.run(node.body)
        self.probing -= expects
        if self.state.alive:
            self.state.accelerated, self.state.default = accelerated, default

    # Loops

    @_on(ast.For, ast.AsyncFor)
    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        iterable = self.eval(node.iter)
        element = self.element_of(iterable, node.iter)

        def enter() -> None:
            self.bind(node.target, element)
            bound = {
                name.id: self.state.env.get(name.id, UNKNOWN)
                for name in ast.walk(node.target)
                if isinstance(name, ast.Name)
            }
            self.loops.append(Loop(node, bound))
            self.state.accelerated |= guards.counts_accelerators(self, node.iter)

        self._loop(node, enter, self.loops.pop)

    @_on(ast.While)
    def _while(self, node: ast.While) -> None:
        def enter() -> None:
            guards.assume(self, node.test, self.eval(node.test), True)

        self._loop(node, enter, lambda: None)

    def _loop(
        self, node: ast.For | ast.AsyncFor | ast.While, enter: Callable[[], None], leave: Callable[[], object]
    ) -> None:
        """Run a body until what holds at its start no longer changes: twice is enough for nearly all code."""
        outer_breaks, outer_continues = self.breaks, self.continues
        self.breaks = []
        start = self.state
        self.depth += 1
        for _ in range(2 if self.depth <= _MAX_NESTING else 1):
            before = start.copy()
            self.state = start.copy()
            self.continues = []
            enter()
            self.run(node.body)
            leave()
            for state in self.continues:
                self.state = join_states(self.state, state)
            start = join_states(start, self.state)
            if start.same(before):
                break
        self.depth -= 1
        for state in self.breaks:
            start = join_states(start, state)
        self.state = start
        self.breaks, self.continues = outer_breaks, outer_continues
        self.run(node.orelse)

    # Definitions

    @_on(ast.FunctionDef, ast.AsyncFunctionDef)
    def _def(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            # What a plain constant means, the function itself will see.
            if default is not None and not isinstance(default, ast.Constant):
                self.eval(default)
                self.module.as_default(default)
        if self.owner is not None:
            self.module.method(self, self.owner, node)
            return
        function = self.module.function(node, self)
        self.state.env[node.name] = Value(Kind.FUNCTION, data=function)

    @_on(ast.ClassDef)
    def _class(self, node: ast.ClassDef) -> None:
        self.state.env[node.name] = Value(Kind.CLASS, data=self.module.define_class(self, node))


def _is_type_checking(test: ast.expr) -> bool:
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"


def _expects_failure(node: ast.expr) -> bool:
    """`pytest.raises(…)`, `self.assertRaises(…)`, `contextlib.suppress(…)`."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("raises", "suppress", "assertRaises", "assertRaisesRegex")


def _catches_cuda_errors(handler: ast.ExceptHandler) -> bool:
    if any(isinstance(node, ast.Raise) for statement in handler.body for node in ast.walk(statement)):
        return False
    if handler.type is None:
        return True
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(getattr(name, "id", getattr(name, "attr", "")) in _CATCHES_CUDA for name in names)
