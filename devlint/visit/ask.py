"""What a rule may ask about the file at hand, beyond its event."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import libcst

from .. import knowledge
from ..bind.names import last_name
from ..bind.text import Text
from ..bind.walk import descendants
from ..core.events import At, Call, Given, Literal_, Move, Spot
from ..core.kinds import TENSORS
from ..core.places import ON_DEVICE, Form
from ..core.summary import within
from ..core.watches import EVENTS
from ..errors import DevlintError
from ..rule import Imported, Loop
from ..span import Span
from .around import Around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from libcst.metadata import CodeRange

    from ..core.events import Event, Seen
    from ..core.summary import Calling, Loading, Passed
    from ..infer.file import File as Analysed
    from ..infer.record import Record
    from ..rule import Ask
    from .slices import Slice


T = TypeVar("T")

_MAX_CALLS = 3
"""How many calls a value is followed back through."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BRANCHES = (ast.If, ast.IfExp, ast.BoolOp, ast.ExceptHandler, ast.match_case)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_TIGHT = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Attribute, ast.comprehension)


class _Differences(NamedTuple):
    """What a function subtracts from each other."""

    early: dict[ast.expr | str, list[str]]
    """By what they are subtracted from, itself or the variable that it is in: variables, in the order of
    `ast.walk`."""
    latest: dict[str, ast.Call]
    """By variable, the last call whose result it is."""


class File:
    """A file's text and tree, and what the inference tells of it besides events, once somebody asks."""

    def __init__(
        self,
        text: str,
        tree: ast.Module,
        target_torch: tuple[int, int] | None = None,
        around: Around | None = None,
        analysed: Analysed | None = None,
    ) -> None:
        self.text = text
        self.tree = tree
        self.target_torch = target_torch
        self.around = around or Around()
        self._analysed = analysed

    @cached_property
    def record(self) -> Record:
        """The values of all expressions."""
        from ..infer.record import Record

        return Record(self.text, self.tree, *self.around, analysed=self._analysed)

    @cached_property
    def _source(self) -> Text:
        """Where nodes stand in the text, which is split into lines once, however often somebody asks."""
        return Text(self.text)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        """All nodes of the tree, but for the contexts of names."""
        return descendants(self.tree)

    def release(self) -> None:
        """Let go of what refers to itself in a circle; nothing can be asked any more."""
        record = self.__dict__.pop("record", None)
        if record is not None:
            record.release()

    @cached_property
    def mentions_devices(self) -> bool:
        """Whether the file moves anything, or names a device."""
        return any(
            isinstance(each, Literal_) or (isinstance(each, Move) and each.target is not None)
            for each in self.record.events
        )

    @cached_property
    def events(self) -> dict[str, tuple[Event, ...]]:
        """The events by their type."""
        found: dict[str, list[Event]] = {kind: [] for kind in EVENTS}
        names = {cls: kind for kind, cls in EVENTS.items()}
        for each in self.record.events:
            found[names[type(each)]].append(each)
        return {kind: tuple(several) for kind, several in found.items()}

    @cached_property
    def calls_of(self) -> dict[str, list[Call]]:
        """The calls of each name that they may be of."""
        found: dict[str, list[Call]] = {}
        for each in self.events["call"]:
            if isinstance(each, Call):
                found.setdefault(each.callee, []).append(each)
        return found

    def is_unused(self, line: int) -> bool:
        """Whether nothing in the program uses the function or class around a line, or the whole file."""
        from ..project.unused import is_quiet, parts_around

        project, _, cells = self.around
        if project is None or cells:
            return False
        return project.unused(parts_around(self.tree, line), is_quiet(self.tree))

    def stays_on_cpu(self, line: int) -> bool:
        """Whether a line is in a class of which nothing in the program that may use it speaks of devices."""
        project = self.around.project
        around = (each for each in self.tree.body if isinstance(each, ast.ClassDef))
        cls = next((each for each in around if each.lineno <= line <= (each.end_lineno or 0)), None)
        return cls is not None and project is not None and project.stays_on_cpu(cls.name)

    def is_never_reached(self, span: Span) -> bool:
        """Whether only a call brings a function to a place that nothing in the program makes."""
        from . import reached

        project, _, cells = self.around
        if project is None or cells:
            return False
        node = self.calls.get(span) or self._calls_on.get(span[0])
        function, found = reached.flags(node, self.parents) if node is not None else (None, ())
        name = self._names.get(function) if function is not None and found else None
        if name is None or not project.calls_are_known(name):
            return False
        return any(reached.is_down(each, project.callers(name)) for each in found)

    @cached_property
    def _names(self) -> dict[ast.AST, str]:
        """The dotted names of the file's functions."""
        return {function.node: name for name, function in self.record.functions.items()}

    @cached_property
    def worked_out(self) -> dict[object, Any]:
        """What functions of rules said of the file, by the function."""
        return {}

    @cached_property
    def imports(self) -> tuple[Imported, ...]:
        """The names that one statement at the top of the file imports."""
        source = self._source
        found: list[Imported] = []
        rows = self.text.splitlines()
        for statement in self.tree.body:
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                continue
            line = statement.lineno
            rest = rows[line - 1].encode()[statement.end_col_offset :].strip()
            if statement.end_lineno != line or statement.col_offset or rest[:1] not in (b"", b"#"):
                continue
            module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
            for alias in statement.names:
                local = alias.asname or alias.name.partition(".")[0]
                if self.bound[local] == 1 and not getattr(statement, "level", 0):
                    others = tuple(ast.unparse(each) for each in statement.names if each is not alias)
                    plain = all(map(self._is_called, self._read.get(local, ())))
                    span = source.span(statement)
                    found.append(Imported(span, module, others, alias.name, local, plain))
        return tuple(found)

    @cached_property
    def bound(self) -> Counter[str]:
        """How often each name is bound, anywhere in the file."""
        found: Counter[str] = Counter()
        for node in self._nodes:
            if isinstance(node, ast.alias):
                found[node.asname or node.name.partition(".")[0]] += 1
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found[node.id] += 1
            elif isinstance(node, ast.arg):
                found[node.arg] += 1
            else:
                found[str(getattr(node, "name", ""))] += 1
        return found

    @cached_property
    def _read(self) -> dict[str, list[ast.Name]]:
        found: dict[str, list[ast.Name]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Name):
                found.setdefault(node.id, []).append(node)
        return found

    def _is_called(self, name: ast.Name) -> bool:
        """Whether a name is called with no more than one argument, by its position, which is no literal."""
        call = self.parents.get(name)
        return (
            isinstance(call, ast.Call)
            and call.func is name
            and not call.keywords
            and len(call.args) < 2
            and not any(isinstance(given, ast.Starred) for given in call.args)
        )

    @cached_property
    def statements(self) -> frozenset[Span]:
        """Where the expressions stand that are statements of their own."""
        source = self._source
        return frozenset(source.span(node.value) for node in self._nodes if isinstance(node, ast.Expr))

    @cached_property
    def operands(self) -> frozenset[Span]:
        """Where the expressions stand that are parts of what binds at least as tightly as a condition."""
        source = self._source
        return frozenset(
            source.span(part)
            for node in self._nodes
            if isinstance(node, _TIGHT)
            for part in ast.iter_child_nodes(node)
            if isinstance(part, ast.expr)
        )

    @cached_property
    def defaults(self) -> frozenset[Span]:
        """Where the defaults of parameters stand, and of the fields of which constructors are made."""
        source = self._source
        return frozenset(
            source.span(default)
            for node in self._nodes
            if isinstance(node, ast.arguments)
            for default in (*node.defaults, *node.kw_defaults)
            if default is not None
        ) | frozenset(
            source.span(field.value)
            for node in self._nodes
            if isinstance(node, ast.ClassDef) and any(map(_makes_constructor, node.decorator_list))
            for field in node.body
            if isinstance(field, ast.AnnAssign) and field.value is not None
        )

    @cached_property
    def offered(self) -> frozenset[Span]:
        """Where the devices stand that are variables of the module which nothing in the file reads."""
        source = self._source
        read = {name for name, found in self._read.items() if any(isinstance(x.ctx, ast.Load) for x in found)}
        return frozenset(
            source.span(part.value)
            for part in self.tree.body
            if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None
            for target in (part.targets if isinstance(part, ast.Assign) else [part.target])
            if isinstance(target, ast.Name)
            and target.id not in read
            # What makes anything else on a device needs it there and then.
            and (isinstance(part.value, ast.Constant) or last_name(part.value) == knowledge.MAKES_DEVICE)
        )

    def parameter_of(self, span: Span) -> tuple[str, str] | None:
        """Of a default: the function, by its dotted name, and the parameter."""
        source = self._source
        for name, function in self.record.functions.items():
            args = function.args
            if args is None:
                continue
            plain = [*args.posonlyargs, *args.args]
            pairs = [*zip(reversed(plain), reversed(args.defaults), strict=False)]
            for arg, default in (*pairs, *zip(args.kwonlyargs, args.kw_defaults, strict=True)):
                if default is not None and _within(span, source.span(default)):
                    return name, arg.arg
        return None

    @cached_property
    def arguments(self) -> dict[Span, ast.Call]:
        """By where the arguments of calls stand, the calls."""
        source = self._source
        return {
            source.span(argument): node
            for node in self._nodes
            if isinstance(node, ast.Call)
            for argument in (*node.args, *(keyword.value for keyword in node.keywords))
        }

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """What each node stands in."""
        found: dict[ast.AST, ast.AST] = {}
        for node in self._nodes:
            found.update(dict.fromkeys(ast.iter_child_nodes(node), node))
        return found

    @cached_property
    def sets_device(self) -> bool:
        """Whether the current device is set to what is no number that is written there."""
        events = (each for name in knowledge.SETS_CURRENT for each in self.calls_of.get(name, ()))
        calls = (self.calls.get(each.at.span) for each in events)
        return any(
            each is not None and each.args and not isinstance(each.args[0], ast.Constant) for each in calls
        )

    def picks_process(self, span: Span) -> bool:
        """Whether a condition around the literal at some place is about ranks, as far as names say."""
        literals = (node for node in self._nodes if isinstance(node, ast.Constant))
        at: ast.AST | None = next((node for node in literals if self._source.span(node) == span), None)
        while at is not None:
            if isinstance(at, (ast.If, ast.IfExp)) and knowledge.speaks_of_ranks(ast.unparse(at.test)):
                return True
            at = self.parents.get(at)
        return False

    @cached_property
    def calls(self) -> dict[Span, ast.Call]:
        """The calls by where they stand."""
        source = self._source
        return {source.span(node): node for node in self._nodes if isinstance(node, ast.Call)}

    @cached_property
    def _calls_on(self) -> dict[int, ast.Call]:
        """The first call of each line that one starts on."""
        return {span[0]: node for span, node in sorted(self.calls.items(), reverse=True, key=_start)}

    def loop_around(self, span: Span) -> Loop | None:
        """The innermost loop around a call."""
        if span not in self._loops:
            self._loops[span] = self._loop_around(span)
        return self._loops[span]

    @cached_property
    def _loops(self) -> dict[Span, Loop | None]:
        """The loops around calls: a rule asks for those of all calls, for each that it suspects."""
        return {}

    def _loop_around(self, span: Span) -> Loop | None:
        node: ast.AST | None = self.calls.get(span)
        always = True
        while node is not None:
            parent = self.parents.get(node)
            if isinstance(parent, _LOOPS) and node in parent.body:
                return Loop(self._source.span(parent), always)
            always &= not isinstance(parent, _BRANCHES) or node is getattr(parent, "test", None)
            node = None if isinstance(parent, _FUNCTIONS) else parent
        return None

    def subtracted_from(self, span: Span) -> Span | None:
        """The call whose result is subtracted from that of another, directly or by way of variables."""
        call = self.calls.get(span)
        home: ast.AST | None = call
        while home is not None and not isinstance(home, (*_FUNCTIONS, ast.Module)):
            home = self.parents.get(home)
        if call is None or home is None:
            return None
        found = self._differences.get(home)
        if found is None:
            found = self._differences[home] = self._differences_in(home)
        for early in found.early.get(self._kept_in(call) or call, ()):
            start = found.latest.get(early)
            if start is not None and _place(start) < _place(call):  # or a loop may bring a later one
                return self._source.span(start)
        return None

    @cached_property
    def _differences(self) -> dict[ast.AST, _Differences]:
        """What functions that somebody asked about subtract: those with many durations are walked once."""
        return {}

    def _differences_in(self, home: ast.AST) -> _Differences:
        early: dict[ast.expr | str, list[str]] = {}
        latest: dict[str, ast.Call] = {}
        for each in ast.walk(home):
            if (
                isinstance(each, ast.BinOp)
                and isinstance(each.op, ast.Sub)
                and isinstance(each.right, ast.Name)
            ):
                late = each.left.id if isinstance(each.left, ast.Name) else each.left
                early.setdefault(late, []).append(each.right.id)
            elif isinstance(each, ast.Call) and (kept := self._kept_in(each)):
                known = latest.get(kept)
                latest[kept] = each if known is None else max(known, each, key=_place)
        return _Differences(early, latest)

    def calls_between(self, start: Span, end: Span) -> frozenset[Span]:
        """The calls that begin after one place, and are done before another: of those around it, none is."""
        first, last = bisect_right(self._in_order, start), bisect_left(self._in_order, end)
        return frozenset(span for span in self._in_order[first:last] if span[2:] <= end[:2])

    @cached_property
    def _in_order(self) -> list[Span]:
        """Where calls stand, as they follow each other."""
        return sorted(self.calls)

    def _kept_in(self, call: ast.Call) -> str:
        """The variable that a call's result is assigned to."""
        parent = self.parents.get(call)
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            return parent.targets[0].id
        return ""


def _omit(calls: Sequence[Calling], parameter: str) -> bool:
    """Whether there are calls, none of which gives a parameter, or may give it."""
    given = (each.open or any(one.name == parameter for one in each.passed) for each in calls)
    return bool(calls) and not any(given)


def _put(passed: Passed, call: Calling) -> Spot:
    """Where a call puts what it passes."""
    return Spot("put", None, "", passed.place.name, call.at)


def _makes_constructor(decorator: ast.expr) -> bool:
    """Whether the annotated variables of a class are what its constructor takes: `@dataclass`."""
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    return last_name(func) in ("dataclass", "define", "frozen", "attrs")


def _start(found: tuple[Span, ast.Call]) -> tuple[int, int]:
    return found[0][:2]


def _within(inner: Span, outer: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]


def _place(node: ast.Call) -> tuple[int, int]:
    return node.lineno, node.col_offset


class Questions:
    """Answers what rules ask about the nodes of one slice of a file; see `rule.Ask`."""

    def __init__(self, file: File, part: Slice, positions: Mapping[libcst.CSTNode, CodeRange]) -> None:
        self.target_torch = file.target_torch
        self._file = file
        self._part = part
        self._positions = positions

    def portable(self, name: str) -> tuple[str, str] | None:
        """What `torch.accelerator` has for a name of one kind of device, and since which release of torch."""
        from ..knowledge.releases import portable

        found = portable(name)
        if found is None or (self.target_torch is not None and self.target_torch < found.since):
            return None
        return found.name, ".".join(map(str, found.since))

    def value_of(self, node: libcst.CSTNode) -> Seen:
        """What is known of the value of an expression."""
        return self._file.record.value_at(self.span(node))

    def device_at_hand(self, node: libcst.CSTNode) -> str | None:
        """What names the device to use: one chosen at run time, or where a tensor at hand is."""
        return self._file.record.device_at_hand(self.span(node))

    def device_given(self, node: libcst.CSTNode) -> str | None:
        """What names a device that somebody else chooses, where the file does not make that current."""
        if any(map(self.calls_of, knowledge.SETS_CURRENT)):
            return None
        return self._file.record.device_given(self.span(node))

    def asks_machine(self, node: libcst.CSTNode) -> bool:
        """Whether the function around a node asks if CUDA is available."""
        function = self._file.record.function_at(self.span(node))
        return any(
            isinstance(each, Call) and each.at.function == function and "asks-accelerator" in each.topics
            for each in self.events("call")
        )

    def in_each_process(self, node: libcst.CSTNode) -> bool:
        """Whether a node is reached by processes that set devices of their own, by no number written there.

        A condition that may be about the rank of a process picks one of them.
        """
        return self._file.sets_device and not self._file.picks_process(self.span(node))

    def bound_to(self, name: str, node: libcst.CSTNode) -> str | None:
        """The dotted name of the library's module or function that `name` means where `node` stands."""
        return self._file.record.bound_to(name, self.span(node))

    def binds(self, name: str) -> bool:
        """Whether anything in the file binds a variable of that name, in whatever scope."""
        return self._file.bound[name] > 0

    def imports(self) -> tuple[Imported, ...]:
        """The names that statements at the top of the file import, each on a line of its own."""
        return self._file.imports

    def once(self, work: Callable[[Ask], T]) -> T:
        """What a function says of the file, whichever node it is asked about: worked out one time."""
        known = self._file.worked_out
        if work not in known:
            known[work] = work(self)
        found: T = known[work]
        return found

    def assignment(self, node: libcst.CSTNode) -> libcst.Assign | libcst.AnnAssign | None:
        """The statement that assigns to this very target, and to no other."""
        for each in self._positions:
            if isinstance(each, libcst.AnnAssign) and each.target is node:
                return each
            if isinstance(each, libcst.Assign) and len(each.targets) == 1 and each.targets[0].target is node:
                return each
        return None

    def is_statement(self, node: libcst.CSTNode) -> bool:
        """Whether an expression is a statement of its own."""
        return self.span(node) in self._file.statements

    def is_operand(self, node: libcst.CSTNode) -> bool:
        """Whether an expression is part of one that binds at least as tightly as a conditional expression."""
        return self.span(node) in self._file.operands

    def is_given_to(self, node: libcst.CSTNode, *callees: str) -> bool:
        """Whether an expression is in a call of one of these."""
        span = self.span(node)
        return any(
            each.at.span[:2] <= span[:2] and span[2:] <= each.at.span[2:]
            for callee in callees
            for each in self._file.calls_of.get(callee, ())
        )

    def in_default(self, node: libcst.CSTNode) -> bool:
        """Whether an expression is, or is part of, the default of a parameter."""
        span = self.span(node)
        return any(_within(span, each) for each in self._file.defaults)

    def is_offered(self, node: libcst.CSTNode) -> bool:
        """Whether an expression is, or is in, a device kept for others: nothing in the file reads it."""
        span = self.span(node)
        return any(_within(span, each) for each in self._file.offered)

    def default_is_used(self, node: libcst.CSTNode) -> bool | None:
        """Whether a call leaves the parameter to the default that an expression is, or is part of."""
        found = self._file.parameter_of(self.span(node))
        if found is None:
            return None
        function, name = found
        project = self._file.around.project
        calls = [*self._file.record.calls_of(function)]
        if project is not None:
            calls += project.callers(function)
        calls = [each for each in calls if not each.test]
        if not calls:
            return None
        return any(not (each.open or any(given.name == name for given in each.passed)) for each in calls)

    def is_argument(self, node: libcst.CSTNode) -> bool:
        """Whether an expression is an argument of a call by itself."""
        return self.span(node) in self._file.arguments

    def loop_around(self, at: libcst.CSTNode | Span) -> Loop | None:
        """The innermost loop around a call, by its node or place."""
        return self._file.loop_around(at if isinstance(at, Span) else self.span(at))

    def subtracted_from(self, node: libcst.CSTNode) -> Span | None:
        """The call whose result is subtracted from that of this call."""
        return self._file.subtracted_from(self.span(node))

    def calls_between(self, start: Span, end: Span) -> frozenset[Span]:
        """The calls that begin after one place, and are done before another."""
        return self._file.calls_between(start, end)

    def kept_safely(self, node: libcst.CSTNode) -> bool | None:
        """Whether a result that a statement throws away could be kept without harm; None if not at all."""
        return self._file.record.kept_safely(self.span(node))

    def callers(self, function: str) -> tuple[Calling, ...]:
        """The calls of a function of the file, here and in other files of the project."""
        project, _, cells = self._file.around
        if project is not None and not cells:
            return project.callers(function)
        return tuple(call for call in self._file.record.calls if call.callee == function)

    def loaders(self, function: str) -> tuple[Loading, ...]:
        """The loaders, in the whole project, in whose workers a function of the file runs."""
        project, _, cells = self._file.around
        whole = self._file.record if project is None or cells else project
        names = self._file.record.begun_by(function) or (function,)
        return tuple(each for name in names for each in whole.loaders(name))

    def later(self, event: Event) -> bool:
        """Whether an accelerator is needed anyway: before on the same path, or all over the program."""
        at = event.at
        told = at.guard.needed or not at.context.isdisjoint(("demo", "processes"))
        return told or self.needed_before(at.function) or self.throughout

    def moves_attribute(self, name: str) -> bool:
        """Whether another file of the program moves what objects have as an attribute."""
        project = self._file.around.project
        return project is not None and project.moves_attribute(name)

    def mentioned_beside(self, name: str) -> bool:
        """Whether another file of a program that runs this one has a name."""
        project = self._file.around.project
        return project is not None and project.mentioned_beside(name)

    def saved_on_cpu(self, file: str) -> bool:
        """Whether other files of the project save what is called so, in programs without accelerators."""
        project = self._file.around.project
        return project is not None and project.saved_on_cpu(file)

    @property
    def throughout(self) -> bool:
        """Whether all that runs the file runs on CUDA alone: see `project.choices`."""
        project = self._file.around.project
        return project is not None and project.throughout()

    @property
    def default_gpu(self) -> str:
        """What is alone in the programs that import the file: the default GPU among `gpus`, or `devices`."""
        project = self._file.around.project
        return project.default_gpu() if project is not None else ""

    def imported_touch(self, at: At) -> Span | None:
        """The import of a module of the project by which CUDA is initialised before something runs."""
        project, _, cells = self._file.around
        if project is None or cells:
            return None
        for each in self._file.tree.body:
            if (each.end_lineno or 0) >= at.span.line:
                return None  # that is where it is, or what runs it
            names: list[str] = []
            if isinstance(each, ast.Import):
                names = [alias.name for alias in each.names]
            elif isinstance(each, ast.ImportFrom):
                source = "." * each.level + (each.module or "")
                names = [source, *(within(source, alias.name) for alias in each.names)]
            if any(map(project.initialises, names)):
                return Text(self._file.text).span(each)
        return None

    def copies_given(self, node: libcst.CSTNode) -> bool:
        """Whether a call makes a copy of what all callers give as a tensor: `torch.tensor(x)`."""
        if not (isinstance(node, libcst.Call) and node.args):
            return False
        func = node.func.attr if isinstance(node.func, libcst.Attribute) else node.func
        if not isinstance(func, libcst.Name) or func.value not in knowledge.COPIES_DATA:
            return False
        origin = self.value_of(node).origin
        if origin is None or not origin.api.startswith(knowledge.OF_TORCH):
            return False
        given = self.given(self.value_of(node.args[0].value))
        return bool(given) and all(each.kind in TENSORS for each in given)

    @property
    def default_device_here(self) -> str:
        """The accelerator that the file makes the default device, as it calls it; empty where it makes none.

        So does the default type: https://docs.pytorch.org/docs/stable/generated/torch.set_default_tensor_type.html
        """
        names = (name for name in knowledge.SETS_DEFAULT if self.calls_of(name))
        calls = [each for name in names for each in self._file.calls_of[name]]
        given = [next(iter(each.given.values())) for each in calls if each.given]
        found = [each for each in given if each.place.form in ON_DEVICE or knowledge.CUDA in each.label]
        return found[0].label if found and len(found) == len(calls) else ""

    @property
    def sets_default_device(self) -> bool:
        """Whether the file sets the default device, or what runs it does."""
        project = self._file.around.project
        said = bool(self.calls_of("torch.set_default_device"))
        return said or (project is not None and project.default_device() == "above")

    def on_default_device(self, function: str) -> bool:
        """Whether all calls of a function are made where another device than the cpu is the default."""
        calls = [each for each in self.callers(function) if not each.test]
        return bool(calls) and all(each.default for each in calls)

    def only_constructs(self, function: str) -> bool:
        """Whether constructors call a function, and nothing else does but tests."""
        calls = [each.caller for each in self.callers(function) if not each.test]
        return bool(calls) and all(each.rpartition(".")[2] in knowledge.CONSTRUCTS for each in calls)

    def needed_before(self, function: str) -> bool:
        """Whether an accelerator was needed before each call of a function, those of tests apart."""
        return self._needed(function, frozenset())

    def _needed(self, function: str, above: frozenset[str]) -> bool:
        if not function or function in above or len(above) > _MAX_CALLS:
            return False
        calls = [each for each in self.callers(function) if not each.test]
        above |= {function}
        later = [each for each in calls if each.needed or each.guarded or self._needed(each.caller, above)]
        if not later:
            return False
        tries_out = self._file.record.tries_out
        first = [each for each in calls if each not in later]
        return all(map(tries_out, first)) and not all(map(tries_out, later))

    def runs_anywhere(self, function: str) -> bool:
        """Whether all calls that lead to a function are made where there may be no accelerator.

        A method that nothing is seen to call runs where objects of its class are made. What a condition
        decides upon may be for an accelerator alone, whatever that asks, if its function asks for none.
        """
        return self._anywhere(function, frozenset()) is True

    def _anywhere(self, function: str, above: frozenset[str]) -> bool | None:
        """None where nobody is known to call it, or nothing speaks for one or the other."""
        if not function or function in above or len(above) > _MAX_CALLS:
            return None
        owner = function.rpartition(".")[0]
        called, made = (
            [each for each in self.callers(name) if not each.test]
            for name in (function, f"{owner}.{knowledge.INITS}")
        )
        if any(each.guarded or (each.conditional and not above) for each in made):
            return False
        found, calls = None, called or made
        first = [each for each in calls if not each.needed]  # the others may need what this one needed
        if calls and not first:
            return False
        for each in first:
            if each.guarded or (each.conditional and not above and not each.anywhere):
                return False
            further = self._anywhere(each.caller, above | {function})
            if further is False:
                return False
            found = found or each.anywhere or further
        return found or None

    def needed_after(self, function: str) -> bool:
        """Whether an accelerator is needed after each call of a function that loads, those of tests apart."""
        return self._needing(function, frozenset())

    def _needing(self, function: str, above: frozenset[str]) -> bool:
        if not function or function in above or len(above) > _MAX_CALLS:
            return False
        calls = [each for each in self.callers(function) if not each.test]
        above |= {function}
        return bool(calls) and all(
            each.needing or each.needed or self._needing(each.caller, above) for each in calls
        )

    def given(self, seen: Seen) -> tuple[Given, ...]:
        """What each call passes for the parameter that a value is, is part of, or is beside."""
        if not seen.given[1]:
            return ()
        return tuple(self._given(*seen.given, frozenset()))

    def _given(self, function: str, parameter: str, above: frozenset[tuple[str, str]]) -> Iterator[Given]:
        key = function, parameter
        if key in above or len(above) > _MAX_CALLS:
            return
        for call in self.callers(function):
            for passed in call.passed:
                if passed.name != parameter:
                    continue
                of_caller = passed.own and passed.place.form is not Form.ANYWHERE
                unsaid = passed.place.form is Form.UNKNOWN or passed.own == parameter
                if call.caller == function and unsaid:
                    continue  # a call of itself hands on what others gave, or says nothing
                further = tuple(self._given(call.caller, passed.own, above | {key})) if of_caller else ()
                if further:
                    yield from further
                else:
                    yield Given(passed.kind, passed.place, _put(passed, call), call.test)

    def devices_given(self, call: libcst.CSTNode) -> tuple[Given, ...]:
        """What calls give for the devices that a call is told, which attributes may keep meanwhile."""
        args = call.args if isinstance(call, libcst.Call) else ()
        handed = [self._file.record.handed_at(self.span(arg)) for arg in args]
        return tuple(given for each in handed if each[1] for given in self._given(*each, frozenset()))

    def devices_given_within(self, node: libcst.CSTNode) -> tuple[Given, ...]:
        """What calls give for the device of the last move in a chain: `x.to(device).detach().numpy()`."""
        while isinstance(node, (libcst.Call, libcst.Attribute)):
            given = self.devices_given(node)
            if given:
                return given
            node = node.func if isinstance(node, libcst.Call) else node.value
        return ()

    def tells_given(self, call: libcst.CSTNode) -> bool:
        """Whether a call is told a device that is a parameter, or an attribute that keeps one."""
        args = call.args if isinstance(call, libcst.Call) else ()
        return any(self._file.record.handed_at(self.span(arg))[1] for arg in args)

    def left_on_cpu(self, call: libcst.CSTNode) -> bool:
        """Whether what runs in workers leaves the device that a call is told to a default that is the cpu."""
        args = call.args if isinstance(call, libcst.Call) else ()
        named = [arg for arg in args if arg.keyword is not None and arg.keyword.value == "device"]
        told = [self._file.record.handed_at(self.span(arg)) for arg in named or args[:1]]
        return bool(told) and all(name and self._is_left_on_cpu(function, name) for function, name in told)

    def _is_left_on_cpu(self, function: str, parameter: str) -> bool:
        record = self._file.record
        calls = [each for each in self.callers(function) if record.begun_by(each.caller)]
        return _omit(calls, parameter) and record.is_on_cpu_by_default(function, parameter)

    def left_out(self, seen: Seen) -> bool:
        """Whether a value is a parameter that no caller gives, and as which None is handed on then."""
        function, parameter = seen.given
        if not parameter or seen.label != parameter:
            return False
        calls = [each for each in self.callers(function) if not each.test]
        return self._file.record.hands_on_none(function, parameter) and _omit(calls, parameter)

    def given_together(self, one: Seen, other: Seen) -> tuple[tuple[Given, Given | None], ...]:
        """What each call passes for two parameters of one function; None for one that it is not given."""
        function, name = one.given
        if not name:
            return ()
        names = name, other.given[1] if other.given[0] == function else ""
        found = self._together(function, names, frozenset())
        return tuple((mine, theirs) for mine, theirs in found if mine is not None)

    def _together(
        self, function: str, names: tuple[str, str], above: frozenset[str]
    ) -> Iterator[tuple[Given | None, Given | None]]:
        if function in above or len(above) > _MAX_CALLS:
            return
        for call in self.callers(function):
            passed = [next((each for each in call.passed if each.name == name), None) for name in names]
            one, other = (
                None if each is None else Given(each.kind, each.place, _put(each, call), call.test)
                for each in passed
            )
            own = [each.own if each is not None else "" for each in passed]
            further = self._together(call.caller, (own[0], own[1]), above | {function}) if any(own) else ()
            pairs = tuple((mine or one, theirs or other) for mine, theirs in further)
            yield from pairs or ((one, other),)

    def events(self, kind: str) -> tuple[Event, ...]:
        """All events of one type in the file, in source order."""
        if kind not in EVENTS:
            raise DevlintError(f"there is no event {kind!r}: there are {', '.join(EVENTS)}")
        return self._file.events[kind]

    def mentions_devices(self) -> bool:
        """Whether the file moves anything, or names a device."""
        return self._file.mentions_devices

    def calls_of(self, name: str) -> bool:
        """Whether anything in the file calls what has this name."""
        kind, _, last = name.rpartition(".")
        if last not in self._file.text:
            return False  # and no second run of the inference is needed to know
        if kind[:1].isupper() and not re.search(rf"[.'\"][\s\\]*{re.escape(last)}\b", self._file.text):
            return False  # methods of that name are defined, and none is called
        return name in self._file.calls_of

    def span(self, node: libcst.CSTNode) -> Span:
        """Where a node stands in the file; of an argument, its value."""
        if isinstance(node, libcst.Arg):
            node = node.value
        place = self._positions.get(node)
        if place is None:
            raise ValueError("questions are about nodes of the visited tree, not about new ones")
        start = self._part.to_file(place.start.line, place.start.column)
        return Span(*start, *self._part.to_file(place.end.line, place.end.column))
