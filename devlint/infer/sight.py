"""Where something happens, and what a value is, in the terms of events."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from .. import knowledge
from ..bind.names import last_name, names_in, statements_in
from ..bind.sections import Section
from ..bind.text import NODE_TYPES, Text
from ..bind.uses import Uses
from ..core import events as event
from ..core.events import At, Seen, Why
from ..core.evidence import NO_NUMBER
from ..core.kinds import Kind
from ..core.paths import Attr, Element, Ref, Root
from ..core.places import CPU, Form, Place
from ..core.values import Value
from ..span import Span
from .asserted import asserted_on_cpu
from .behind import Behind, Meetings
from .demo import Demo, demo_of
from .file import File
from .log import Log, RawCall
from .presumed import Presumed
from .reread import Reread
from .settle import Settled
from .testcode import is_test_code
from .touched import Touched
from .trace import Tracer
from .workers import Workers

_NO_SPAN = Span(0, 0, 0, 0)


Lines = tuple[tuple[int, int], ...]
"""The first and last lines of statements."""


class Sight:
    """Tells where something happens and what a value is, as events have it."""

    def __init__(self, settled: Settled, text: Text, sections: Sequence[Section] = ()) -> None:
        self.settled = settled
        self.sections = sections
        self.file: File = settled.file
        self.text = text
        self.tracer = Tracer(settled, text)
        self._nature = tuple(self.file.nature)
        self._contexts: dict[str, frozenset[str]] = {}
        self._uses: dict[str, Uses] = {}
        self._in_tests = is_test_code(settled)
        self.touched = Touched(settled)
        self.workers = Workers(settled)
        self._reread = Reread(settled)

    # Where

    def at(self, node: ast.expr | ast.stmt, function: str, why: Why, loops: int) -> At:
        """Where something happens, and under what."""
        return self._placed(self._around(function, why, loops), node)

    def _around(self, function: str, why: Why, loops: int) -> At:
        """Under what something happens; where is left open."""
        nature = self._nature or self.file.natures.get(function, ())
        guard = why._replace(hints=(*why.hints, *nature)) if nature else why
        return At(_NO_SPAN, "", function, guard, loops, self.context(function))

    def _placed(self, at: At, node: ast.expr | ast.stmt) -> At:
        said = set[str]()
        if self.demo.lines and self.demo.covers(at.function, node.lineno):
            said.add("demo")
        if self.is_probed(node):
            said.add("probe")
        if _is_in(self._current, node):
            said.add("current")
        span, kind = self.text.span(node), NODE_TYPES.get(type(node), "")
        return At(span, kind, at.function, at.guard, at.loops, at.context | said if said else at.context)

    def is_probed(self, node: ast.AST) -> bool:
        """Whether something is, or stands in, a statement that is expected to fail, or is asserted not to."""
        return _is_in(self._probed, node)

    @cached_property
    def _probed(self) -> Lines:
        """The lines of what is expected to fail, or may, or is asserted to be on the cpu."""
        probed = [stmt for log in self.settled.logs.values() for stmt in log.probed]
        functions = (each.node for each in self.file.functions.values() if self.text.has("assert"))
        return _lines(chain(probed, *map(asserted_on_cpu, functions)))

    @cached_property
    def _current(self) -> Lines:
        """The lines for which the program says which GPU is the current one."""
        return _lines(stmt for log in self.settled.logs.values() for stmt in log.current)

    def context(self, function: str) -> frozenset[str]:
        """Where the code of a function runs."""
        found = self._contexts.get(function)
        if found is None:
            found = self._contexts[function] = frozenset(self._find_context(function))
        return found

    def _find_context(self, name: str) -> Iterator[str]:
        if self._in_tests:
            yield "test"
        yield from self.workers.contexts.get(name, ())
        log = self.settled.logs.get(name)
        if name and log is not None and knowledge.COLLECTIVE in log.reaches:
            yield "processes"
        function = self.file.functions.get(name)
        cls = self.file.view(function.owner) if function is not None and function.owner is not None else None
        if function is None or cls is None:
            return
        if cls.is_module:
            forward = function.own_name == "forward"
            yield "forward" if forward else "method"
            if knowledge.runs_like_forward(function.own_name, cls.topics):
                yield "hook"
            if cls.name in self._move_themselves and not (forward or self._runs_module(name)):
                yield "moved"
        if function.own_name == knowledge.CALLED and not cls.is_module:
            yield "called"
        if "dataset" in cls.topics:
            yield "dataset"
        if "test-case" in cls.topics or cls.is_test_case():
            yield "test"

    def _runs_module(self, name: str) -> bool:
        """Whether a function, or what it calls, runs a module: what that gives is where its input was."""
        logs, todo, seen = self.settled.logs, [name], {name}
        while todo:
            log = logs[todo.pop()]
            if log.runs:
                return True
            new = {site.callee for site in log.sites} & logs.keys() - seen
            seen |= new
            todo += new
        return False

    @cached_property
    def _move_themselves(self) -> frozenset[str]:
        """The classes with a method that brings its object to a device, and none that brings it back."""
        away, back = set[str](), set[str]()
        for function, log in self.settled.logs.items():
            home = self.file.functions.get(function)
            if home is None or home.owner is None or home.own_name in knowledge.KEEPS_ITS_OWN:
                continue
            itself = self.settled.objects.self_of(home.owner)
            for raw in log.moves.values():
                if raw.receiver.who == itself and raw.target is not None:
                    (back if raw.target.form is Form.CPU else away).add(home.owner)
        return frozenset(away - back)

    @cached_property
    def demo(self) -> Demo:
        """Whether the end of the file only tries out what it defines."""
        return demo_of(self.settled)

    def _touched(self, function: str, own: tuple[str, int] | None) -> event.Touched | None:
        """Where CUDA had been initialised, in the function or before it runs."""
        where = own or self.touched.before(function)
        node = self.node(*where) if where is not None else None
        if where is None or not isinstance(node, ast.expr):
            return None
        return event.Touched(self.text.span(node), where[0])

    @cached_property
    def _save_on_cpu(self) -> frozenset[str]:
        """The classes that save what they bring to the cpu as they do.

        And an empty name, where all that functions of no class save is brought there.
        """
        found: dict[str, list[bool]] = {}
        for function, log in self.settled.logs.items():
            for node, raw in log.calls.items():
                if "saves" in knowledge.topics_of_call(raw.callee) and function in self.file.functions:
                    names = names_in(node)
                    body = [*statements_in(self.file.functions[function].node)]
                    filled = (
                        part.value
                        for part in body
                        if isinstance(part, ast.Assign) and not names.isdisjoint(map(_base, part.targets))
                    )
                    before = (
                        part.value
                        for part in body
                        if isinstance(part, ast.Expr) and part.lineno < node.lineno and _moved(part) in names
                    )
                    brought = any(_brings(log, part) for part in (node, *filled, *before))
                    found.setdefault(self._owner(function), []).append(brought)
        return frozenset(owner for owner, each in found.items() if (any(each) if owner else all(each)))

    def _is_reread(self, function: str, raw: RawCall) -> bool:
        """Whether the file saves at the path that is loaded from."""
        paths = (at for name, at, _ in raw.args.named() if name == knowledge.SAVED_AT)
        return any(self._reread.is_own(function, path) for path in paths)

    def _is_handed(self, function: str) -> bool:
        """Whether a function loads, in another case, to where a parameter says: one that may say nothing."""
        known = self.file.functions.get(function)
        if known is None or known.args is None:
            return False
        args = known.args
        parameters = _named(args)
        tests = [each.test for each in ast.walk(known.node) if isinstance(each, (ast.If, ast.IfExp))]
        return any(
            name == knowledge.MAPPED
            and isinstance(at, ast.Name)
            and at.id in parameters
            and (known.default(at.id) is not None or any(_asks_about(test, at.id) for test in tests))
            for raw in self.settled.logs[function].calls.values()
            if "loads" in knowledge.topics_of_call(raw.callee)
            for name, at, _ in raw.args.named()
        )

    def _is_ignored(self, function: str) -> bool:
        """Whether a function has a parameter that says where to load, and reads it nowhere."""
        known = self.file.functions.get(function)
        args = known.args if known is not None else None
        if known is None or args is None:
            return False
        parameters = _named(args)
        reads = (knowledge.MAPPED, *knowledge.NAMESPACES)
        return knowledge.MAPPED in parameters and not any(
            isinstance(each, ast.Name) and each.id in reads for each in ast.walk(known.node)
        )

    def _owner(self, function: str) -> str:
        known = self.file.functions.get(function)
        return known.owner or "" if known is not None else ""

    def node(self, function: str, number: int) -> ast.AST | None:
        """The node of a number, if the function is of this file."""
        home = self.file.functions.get(function) if function else self.file.module
        return home.nodes[number] if home is not None and 0 <= number < len(home.nodes) else None

    # What

    def _as_told(self, place: Place) -> Place:
        """Where something is that is on the device of what methods keep: all of those may be told the cpu."""
        objects = self.settled.objects
        if (
            place.form is not Form.SAME
            or type(place.of) is not int
            or objects.ways[place.of] != Attr("device")
        ):
            return place
        stored = self.settled.stored(objects.parents[place.of])
        told = all(value.who in self.settled.logs[method].hosts for method, value in stored)
        return CPU if stored and told else place

    def seen(self, value: Value, place: Place, node: ast.AST | None, function: str) -> Seen:
        """A value as rules see it."""
        settled = self._kind(value, function)
        origin, place = value.origin, self._as_told(place)
        made_here = (
            origin is not None
            and origin.how == "factory"
            and node is not None
            and self.node(origin.function, origin.at) is node
            and (row := knowledge.find(origin.api)) is not None
            and row.by == "factories.factory"
        )
        return Seen(
            settled,
            self.named(place),
            value.who if type(value.who) is int else None,
            self.text.receiver(node) if node is not None else "",
            origin,
            self._is_certain(value, settled),
            self.text.span(node) if isinstance(node, ast.expr) else None,
            "",
            made_here,
            given=self._given(value, place, function),
            whole=self._is_whole(value, place, function),
            presumed=self._presumed.is_kind(value, settled) or self._presumed.is_place(value, place),
        )

    def _given(self, value: Value, place: Place, function: str) -> tuple[str, str]:
        """The function and the parameter of which callers know where a value is."""
        if place.form is Form.UNKNOWN and value.origin is not None and value.origin.how == "moved":
            return "", ""  # on one path, at least: `if torch.is_tensor(x): x = x.cpu()`
        ref = place.of if place.form is Form.AT else value.who if place.form is Form.UNKNOWN else None
        if type(ref) is int and self._was_brought(ref, function):
            return "", ""
        found = self._judged.given_as(ref) if type(ref) is int else ()
        return min(found, default=("", ""))

    def handed(self, value: Value, place: Place, function: str, draws: bool) -> tuple[str, str]:
        """The function and the parameter that a device or generator is, perhaps kept in an attribute.

        Not where the function gives the name of a generator to another, or asks where it is.
        """
        ref = place.of if place.form in (Form.AT, Form.SAME) else value.who
        if type(ref) is not int:
            return "", ""
        kept = self.settled.stored(ref)
        found = {_whose(stored) for _, stored in kept} if kept else {ref}
        (who,) = found if len(found) == 1 else (None,)
        roots = self._judged.roots(who) if type(who) is int else []
        objects, itself = self.settled.objects, self.file.functions.get(function)
        if len(roots) != 1:
            return "", ""
        if (
            itself is not None
            and itself.is_method
            and objects.ways[roots[0]] == Root("self", itself.owner or "")
        ):
            return function, itself.positional[0]
        if not objects.is_parameter(roots[0]):
            return "", ""
        function, name = objects.functions[roots[0]], objects.labels[roots[0]]
        home = self.file.functions.get(function)
        if draws and (home is None or _asks_where(home.node, name)):
            return "", ""
        return function, name

    def _was_brought(self, ref: Ref, function: str) -> bool:
        """Whether it is part of what the function moves to the cpu: in place, if it has parts."""
        objects = self.settled.objects
        brought = self._brought_to_cpu.get(function, ())
        return any(each != ref and objects.is_part(ref, each) for each in brought)

    def _is_whole(self, value: Value, place: Place, function: str) -> bool:
        """Whether a value is, or lies with, a parameter as such, or what iterating that yields.

        Not so where the function brings that to the cpu on some path, or may be given another library's.
        """
        ref = place.of if place.form is Form.AT else value.who
        objects = self.settled.objects
        while type(ref) is int and isinstance(objects.ways[ref], Element):
            ref = objects.parents[ref]
        if type(ref) is not int or not objects.is_parameter(ref) or self.settled.has_others:
            return False
        return not any(objects.is_part(each, ref) for each in self._brought_to_cpu.get(function, ()))

    @cached_property
    def _brought_to_cpu(self) -> dict[str, list[Ref]]:
        """By function, the objects that it moves to the cpu."""
        return {
            function: [
                raw.receiver.who
                for raw in log.moves.values()
                if raw.target is not None and raw.target.form is Form.CPU and type(raw.receiver.who) is int
            ]
            for function, log in self.settled.logs.items()
        }

    def _kind(self, value: Value, function: str) -> Kind:
        kind = self.settled.kind_of_moved(value, function)
        return kind if kind is not None else self.settled.in_use(value).kind

    def traced(self, value: Value, place: Place, node: ast.AST | None, function: str) -> Seen:
        """A value as rules see it, with where it was made and moved."""
        spots = self.tracer.of(value, place, function, node)
        return self.seen(value, place, node, function)._replace(spots=spots)

    def _is_certain(self, value: Value, settled: Kind) -> bool:
        if value.kind is Kind.DEVICE:
            return value.known is not None or self.settled.is_device_of_tensor(value)
        return value.kind is settled and settled is not Kind.UNKNOWN

    def is_shown(self, value: Value) -> bool:
        """Whether what is done with a value itself shows that it is a tensor, and no number."""
        shown = type(value.who) is int and self.settled.notes.get(value.who, 0) & NO_NUMBER
        return bool(shown) and self.settled.is_certain(value)

    def named(self, place: Place) -> Place:
        """A place with the name that the program has for it."""
        if type(place.of) is not int:
            return place
        if place.form is Form.AT:
            return place._replace(name=self.settled.module_name(place.of))
        if place.form is Form.SAME and not place.name and self.settled.follows_a_tensor(place.of):
            return Place(Form.AT, "", self.settled.objects.parents[place.of])
        name = self.settled.device_name(place)
        if place.form is Form.SAME and not name:
            return Place(Form.AT, "", place.of)  # what this file has no name for, nobody chose here
        return place._replace(name=name)

    @cached_property
    def _found_behind(self) -> tuple[Behind, ...]:
        return tuple(self._judged.found())

    @cached_property
    def _judged(self) -> Meetings:
        return Meetings(self.settled, self.text)

    @property
    def _presumed(self) -> Presumed:
        return self._judged.presumed


def _whose(value: Value) -> object:
    """The object that a device or generator is, or is that of."""
    return value.place.of if value.place.form in (Form.AT, Form.SAME) else value.who


def _asks_where(function: ast.AST, name: str) -> bool:
    """Whether a function asks where a parameter is, or gives its name to something else."""
    return any(
        isinstance(node.ctx, ast.Store)
        if isinstance(node, ast.Name)
        else node.attr in knowledge.PLACEMENT_ATTRIBUTES
        for node in ast.walk(function)
        if isinstance(node, (ast.Name, ast.Attribute))
        and name == (node.id if isinstance(node, ast.Name) else ast.unparse(node.value))
    )


def _base(target: ast.expr) -> str:
    """The variable that an assignment binds, or of which it binds an item."""
    return last_name(target.value if isinstance(target, ast.Subscript) else target)


def _moved(statement: ast.Expr) -> str:
    """The variable of which a statement calls a method, `model` in `model.cpu()`; empty if it does not."""
    func = statement.value.func if isinstance(statement.value, ast.Call) else None
    return func.value.id if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) else ""


def _brings(log: Log, node: ast.AST) -> bool:
    """Whether anything in an expression brings something to the cpu."""
    return any(
        isinstance(part, ast.Call)
        and (moved := log.moves.get(part)) is not None
        and moved.target is not None
        and moved.target.form is Form.CPU
        for part in ast.walk(node)
    )


def _lines(statements: Iterable[ast.stmt]) -> Lines:
    return tuple((each.lineno, each.end_lineno or each.lineno) for each in set(statements))


def _is_in(lines: Lines, node: ast.AST) -> bool:
    line = getattr(node, "lineno", 0)
    return any(first <= line <= last for first, last in lines)


def _named(args: ast.arguments) -> set[str]:
    """The parameters that a call can name or count."""
    return {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)}


def _asks_about(test: ast.expr, name: str) -> bool:
    """Whether a condition asks for a name itself, not for a part of it: whether it is None, say."""
    parts = {id(each.value) for each in ast.walk(test) if isinstance(each, ast.Attribute)}
    return any(
        isinstance(each, ast.Name) and each.id == name and id(each) not in parts for each in ast.walk(test)
    )
