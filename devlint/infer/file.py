"""One file: its functions and classes, and the order in which they are analysed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Protocol

from .. import knowledge
from ..bind.names import last_name, statements_in
from ..bind.walk import descendants
from ..core.events import Why
from ..core.kinds import TENSORS, Kind
from ..core.met import Met
from ..core.objects import Objects
from ..core.paths import Ref
from ..core.places import CPU, UNKNOWN_PLACE, Form, Place, join_places
from ..core.state import NEVER, Key, Mark, State, changed
from ..core.summary import NOTHING, Answers, Case, ClassSummary, FunctionSummary, ModuleSummary, within
from ..core.values import (
    NUMBER,
    UNKNOWN,
    Api,
    Const,
    Defined,
    Value,
    container,
    element_of,
    is_made,
    join,
    one_of,
)
from . import cases
from .abroad import abroad, class_abroad, function_abroad
from .classes import Class, acts_as_module, from_summary
from .definitions import Function, FunctionNode, moved_for_another
from .extract import Extraction
from .function import CONSTRUCTORS, UNINFORMED, Informed, Outcome, required
from .function import run as run_function
from .loaders import loaders_in
from .log import Log, Site
from .machine import Machine, Program
from .sites import calls_in
from .statements import Statements
from .substitute import Substitution

_THERE = (Form.LITERAL, Form.SAME)
_WORD = re.compile(r"\w+")
_ROUNDS = 3
"""How often what was read of attributes, and what callers pass, is brought up to date."""
_ROUNDS_IN_CIRCLE = 4
_MAX_IMPLEMENTED = 4
"""Of the classes that implement a method, so many are asked what it gives."""
_MAX_NESTED = 8
"""Functions deeper in a chain of calls are analysed first, from the top."""


class Index(Protocol):
    """What other files of the project define."""

    def find(self, dotted: str) -> Value | FunctionSummary | ClassSummary | None:
        """What is defined under a dotted name; a value's objects are global paths."""

    def has(self, module: str) -> bool:
        """Whether a name that this file imports means a file of the project."""

    def rehearsed(self, tree: ast.Module) -> tuple[Met, ...]:
        """What goes wrong in the programs that run this file, where it is this file that is to be changed."""


class _First(Exception):
    """A function at the end of a long chain of calls has to be analysed before those that call it."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Frame:
    """A function that is being analysed."""

    __slots__ = ("circle", "index", "low", "name")

    def __init__(self, name: str, index: int) -> None:
        self.name = name
        self.index = index
        self.low = index
        """The lowest function on the stack that it calls, by whatever way."""
        self.circle: set[str] = set()
        """Functions that call back into one of those below."""


class File:
    """Analyses one file: the `Program` of its runs."""

    def __init__(
        self,
        tree: ast.Module,
        name: str = "",
        index: Index | None = None,
        machine: Callable[[Program, Objects, Function, State], Statements] = Statements,
    ) -> None:
        self.name = name
        self.index = index
        self.objects = Objects()
        self.module = Function("", tree)
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}
        self.logs: dict[str, Log] = {}
        self.outside = State()
        self.why: Why = NEVER
        """What makes that the module's tests run at all."""
        self.nature: dict[str, None] = {}
        """What says that the whole module runs on an accelerator alone."""
        self.natures: dict[str, tuple[str, ...]] = {}
        """What says so of one function, by its name."""
        self._by_node: dict[ast.AST, Function] = {}
        self._inner: dict[str, list[Function]] = {}
        """By function, those that are defined in it."""
        self._names: dict[ast.AST, str] = {}
        self._summaries: dict[str, FunctionSummary] = {}
        self._frames: list[_Frame] = []
        self._waiting: dict[str, tuple[FunctionSummary, int]] = {}
        """What is known so far of functions whose circle is not closed yet, with the lowest function on the
        stack that they call: each is analysed once, however many of the circle call it."""
        self._informed: dict[str, Informed] = {}
        self._views: dict[str, Class | None] = {}
        self._akin: dict[str, frozenset[str]] = {}
        self._resolved: dict[str, Value | None] = {}
        self._outer_env: dict[str, dict[Key, Value] | None] = {}
        self.only_typed: set[str] = set()
        """Names that the module imports for type checkers alone."""
        self._putting: dict[str, set[str]] = {}
        """By function, the classes of objects into whose containers it put something in any run."""
        self._in_module = False
        """Whether the module's own statements are being run."""
        self._again: set[str] = set()
        """The classes whose statements are to be run once more."""
        self._uses: dict[str, set[str]] = {}
        """By function, those of this file that it was told of."""
        self._circular: set[str] = set()
        """Functions that call each other, or themselves."""
        self.lasting = False
        """Whether somebody keeps it, whoever else lets go of it."""
        self.followed = 0
        """How many edits this analysis has followed."""
        self.is_run_again = False
        """Whether the module's statements have been run again, and did what they had done."""
        self.is_spoiled = False
        """Whether it could not follow one to the end, so that it is of no use any more."""
        self._stars: list[str] = []
        """Modules of which all names are imported."""
        self._machine = machine
        self._top = machine(self, self.objects, self.module, self.outside)

    @property
    def tree(self) -> ast.Module:
        """The module's syntax tree."""
        tree = self.module.node
        assert isinstance(tree, ast.Module)
        return tree

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, those nearer to the module first."""
        return descendants(self.module.node)

    # The order

    def analyse(self) -> None:
        """Run the module's statements, then every function, until arguments and attributes have settled."""
        self._run_module()
        self._analyse_all()
        for _ in range(_ROUNDS):
            if not self._rerun_general() | self._rerun_informed():
                break
            self._analyse_all()

    def _run_module(self) -> None:
        self._in_module = True
        self._top.run(self.tree.body)
        self._in_module = False
        self.outside = self._top.state
        if self.outside.alive:
            self._top.log.lasting = self.outside.loads
        self.outside.alive = True
        self.logs[""] = self._top.log
        self._use_fixtures()

    def _use_fixtures(self) -> None:
        for function in list(self.functions.values()):
            if function.autouse:
                self._use_everywhere(function)

    def _use_everywhere(self, function: Function) -> None:
        """A fixture that every test around it uses."""
        requires = self._ensure(function.name).requires
        if requires.guarded:
            state = State()
            cls = self.classes.get(function.owner) if function.owner is not None else None
            state.why = cls.why if cls is not None else self.why
            state.certain("" if requires.certain else requires.hints[0])
            if cls is not None:
                cls.why = state.why
            else:
                self.why = state.why

    def _analyse_all(self) -> None:
        for cls in list(self.classes.values()):
            for name in CONSTRUCTORS:
                if name in cls.methods:
                    self._ensure(cls.methods[name])
        for name in [name for name, each in self.functions.items() if each.assigned_attributes]:
            self._ensure(name)  # before those that read them
        done = 0
        while done < len(self.functions):
            for name in list(self.functions)[done:]:
                self._ensure(name)
                done += 1

    def _ensure(self, name: str) -> FunctionSummary:
        """The summary of a function of this file, from outside of any run."""
        waiting, cut = [name], []
        while waiting:
            try:
                self._summary(waiting[-1])
                waiting.pop()
            except _First as first:
                self._unwind()
                if first.name in waiting and first.name not in self._summaries:
                    # A circle too long to be analysed in one go is cut here.
                    self._summaries[first.name] = NOTHING
                    cut.append(first.name)
                waiting.append(first.name)
        for each in cut:
            while each not in self.logs:
                try:
                    self._settle_circle(each, {each})
                except _First as first:
                    self._unwind()
                    self._ensure(first.name)
        return self._summaries[name]

    def _rerun_general(self) -> bool:
        """Run again what read attributes that are known better now."""
        stale = {
            name
            for name, log in self.logs.items()
            if name and any(self._attribute(cls, attr) != term for (cls, attr), term in log.missed.items())
        }
        if not stale:
            return False
        # Who called it saw a summary that knew less.
        stale |= {
            name
            for name, log in self.logs.items()
            if name and any(site.callee in stale for site in log.sites)
        }
        for name in stale:
            self._summaries.pop(name, None)
            self._informed.pop(name, None)
        for name in self.functions:
            if name in stale:
                self._ensure(name)
        return True

    def _attribute(self, cls: str, attr: str) -> Value | None:
        view = self.view(cls)
        return view.attribute(attr) if view is not None else None

    def _rerun_informed(self) -> bool:
        """Run again what callers agree to pass something to; summaries stay those of any call."""
        informed = self._newly_agreed(self.functions)
        for name, known in informed.items():
            self._informed[name] = known
            self._frames.append(_Frame(name, len(self._frames)))
            try:
                self._learn(name, self._run(self.functions[name], known), general=False)
            except _First as first:
                self._unwind()
                self._ensure(first.name)
                self._informed.pop(name)
            else:
                self._frames.pop()
        return bool(informed)

    def _newly_agreed(self, names: Iterable[str]) -> dict[str, Informed]:
        """What callers agree to pass to functions, where that is not what these were run with."""
        sites: dict[str, list[Site]] = {}
        own: dict[str, list[Site]] = {}
        for caller, log in self.logs.items():
            for site in log.sites:
                sites.setdefault(site.callee, []).append(site)
                if self.are_of_one_class(caller, site.callee):
                    own.setdefault(site.callee, []).append(site)
        for method, above in self.overrides():
            if method not in sites and above in own:
                sites[method] = own[above]
        informed = {}
        for name in names:
            known = UNINFORMED
            if name in sites:
                function, summary = self.functions[name], self._summaries.get(name)
                keeps = self._keeps_tensors(function)
                known = _agreed(function, sites[name], summary if function.is_private else None, keeps)
            if known != self._informed.get(name, UNINFORMED):
                informed[name] = known
        return informed

    def overrides(self) -> Iterator[tuple[str, str]]:
        """Methods, with those of base classes that they replace: `self.prepare(x)` in the base runs them."""
        for cls in self.classes.values():
            for name, method in cls.methods.items():
                above = cls.inherited(name)
                if above is not None and name not in CONSTRUCTORS:
                    yield method, above

    def are_of_one_class(self, caller: str, callee: str) -> bool:
        """Whether a function is a method of the class that defines another."""
        function, called = self.functions.get(caller), self.functions.get(callee)
        return function is not None and called is not None and function.owner == called.owner is not None

    def akin(self, name: str) -> frozenset[str]:
        """The classes that an object of one may be of too: its bases, what derives from it, their bases."""
        known = self._akin.get(name)
        if known is None:
            bases = (each.name for cls in self._below.get(name, ()) for each in cls.lineage())
            known = self._akin[name] = frozenset((name, *bases))
        return known

    @cached_property
    def _below(self) -> dict[str, list[Class]]:
        """The classes of this file that derive from each class, and the class itself."""
        found: dict[str, list[Class]] = {}
        for cls in self.classes.values():
            for each in cls.lineage():
                found.setdefault(each.name, []).append(cls)
        return found

    def _keeps_tensors(self, function: Function) -> bool:
        """Whether a method keeps what it is given in an object that does not move that: what is no module,
        or has it as a plain attribute.
        """
        view = self.classes.get(function.owner) if function.owner is not None else None
        if view is None or view.moves():
            return False
        if view.is_module:
            fits = function.own_name not in (*CONSTRUCTORS, *knowledge.RUNS_FORWARD)
            return fits and bool(function.assigned_attributes) and not function.calls_own
        return not view.topics

    # Functions

    def summary(self, name: str) -> FunctionSummary | None:
        """What a function of the project does; analyses one of this file the first time."""
        if not self._frames and name in self.functions:
            if self._in_module:
                self._uses.setdefault("", set()).add(name)
            return self._ensure(name)
        return self._summary(name)

    def implemented(self, name: str) -> str:
        """The method that runs where one is left to derived classes, if most of this file's compute alike.

        What makes an object is another matter: who derives from the class elsewhere makes others.
        """
        function = self.functions.get(name)
        if function is None or function.owner is None or not function.is_left_open or self._in_module:
            return name
        methods = [cls.methods.get(function.own_name, name) for cls in self._below.get(function.owner, ())]
        found = [each for each in dict.fromkeys(methods) if each != name][:_MAX_IMPLEMENTED]
        given: dict[Place, list[str]] = {}
        for each in found:
            summary = self.summary(each)
            if summary is not None and summary.returns.kind in TENSORS:
                alike = given.setdefault(summary.returns.place, [])
                # Of one without dimensions less is said.
                alike.insert(0 if summary.returns.kind is Kind.SCALAR else len(alike), each)
        most = max(given.values(), key=len, default=[])
        return most[0] if 2 * len(most) > len(found) else name

    def _summary(self, name: str) -> FunctionSummary | None:
        if self._frames:
            self._uses.setdefault(self._frames[-1].name, set()).add(name)
        known = self._summaries.get(name)
        if known is not None:
            return known
        if name not in self.functions:
            found = self.index.find(name) if self.index is not None else None
            return found if isinstance(found, FunctionSummary) else None
        for frame in self._frames:
            if frame.name == name:
                self._depends(frame.index)
                return NOTHING
        waiting = self._waiting.get(name)
        if waiting is not None:
            self._depends(waiting[1])
            return waiting[0]
        if len(self._frames) >= _MAX_NESTED:
            raise _First(name)
        return self._analyse(name)

    def _depends(self, index: int) -> None:
        """What is being analysed calls, in the end, a function that is itself being analysed."""
        for above in self._frames[index:]:
            above.low = min(above.low, index)

    def _unwind(self) -> None:
        self._frames.clear()
        self._waiting.clear()

    def _analyse(self, name: str) -> FunctionSummary:
        frame = _Frame(name, len(self._frames))
        self._frames.append(frame)
        outcome = self._run(self.functions[name], UNINFORMED)
        self._frames.pop()
        frame.circle.add(name)
        if frame.low < frame.index:
            # It calls back into a function below: what it does is known when that is.
            below = self._frames[-1]
            below.low = min(below.low, frame.low)
            below.circle |= frame.circle
            self._waiting[name] = outcome.summary, frame.low
            return outcome.summary
        if len(frame.circle) > 1 or outcome.log.calls_itself(name):
            return self._settle_circle(name, frame.circle)
        if outcome.log.deciding:
            outcome = outcome._replace(summary=self._with_cases(self.functions[name], outcome))
        self._learn(name, outcome)
        return outcome.summary

    def _with_cases(self, function: Function, outcome: Outcome) -> FunctionSummary:
        """What a function does, also where a call settles what it decides by."""
        summary = outcome.summary
        if (
            function.own_name in CONSTRUCTORS
            or summary.yields
            or not (outcome.log.follows_devices or cases.places_anything(outcome.log.reaches, summary))
        ):
            return summary
        within = self._inner.get(function.name, ())
        inner = [(each, each.enclosing, each.around, each.why) for each in within]
        deciding, parameters = outcome.log.deciding, summary.parameters
        found = self._cases(function, cases.assumptions(deciding, parameters))
        pairs = cases.of_two(deciding, parameters, cases.telling(summary, found))
        found += self._cases(function, pairs)
        for each, enclosing, places, why in inner:
            each.enclosing, each.around, each.why = enclosing, places, why
        return summary._replace(cases=cases.telling(summary, found))

    def _cases(self, function: Function, assumptions: Iterable[dict[str, Answers]]) -> list[Case]:
        found = []
        for assumed in assumptions:
            self._frames.append(_Frame(function.name, len(self._frames)))
            then = self._run(function, UNINFORMED._replace(settled=assumed))
            self._frames.pop()
            if then.returns:
                found.append(cases.case(assumed, then.summary))
        return found

    def _settle_circle(self, name: str, circle: set[str]) -> FunctionSummary:
        """Functions that call each other: from nothing known, until nothing changes."""
        names = sorted(circle)
        self._circular |= circle
        for each in names:
            self._summaries[each] = NOTHING
            self._waiting.pop(each, None)
        for _ in range(_ROUNDS_IN_CIRCLE):
            changed = False
            for each in names:
                outcome = self._run(self.functions[each], UNINFORMED)
                changed |= outcome.summary != self._summaries[each]
                self._learn(each, outcome)
            if not changed:
                break
        return self._summaries[name]

    def _run(self, function: Function, informed: Informed) -> Outcome:
        owner = self.view(function.owner) if function.owner is not None else None
        machine = self._machine(self, self.objects, function, State())
        return run_function(machine, owner, informed, self._top.state, self.why)

    def function_of(self, node: ast.AST) -> Function | None:
        """The function that a definition made; None where control never got to it."""
        return self._by_node.get(node)

    def run_again(
        self, function: Function, machine: Callable[[Program, Objects, Function, State], Statements]
    ) -> None:
        """Run a function as it was run last, on a machine that looks on; nothing is learned of it."""
        owner = self.view(function.owner) if function.owner is not None else None
        informed = self._informed.get(function.name, UNINFORMED)
        run_function(
            machine(self, self.objects, function, State()), owner, informed, self._top.state, self.why
        )

    def _learn(self, name: str, outcome: Outcome, general: bool = True) -> None:
        """Keep what a run found out; what an earlier one recorded no longer counts."""
        function = self.functions[name]
        self.logs[name] = outcome.log
        if general:
            self._summaries[name] = outcome.summary
        for (cls, attribute), term in outcome.attributes.items():
            if cls in self.classes:
                self.classes[cls].assign(attribute, name, term, general)
        for each in {cls for cls, _ in outcome.added} | self._putting.get(name, set()):
            if each in self.classes:
                put = {key[1]: term for key, term in outcome.added.items() if key[0] == each}
                self._putting.setdefault(name, set()).add(each)
                self.classes[each].add(name, put, general)
        own = self.classes.get(function.owner) if function.owner is not None else None
        if own is not None:
            own.reaches |= outcome.summary.reaches
            own.registered |= outcome.log.registered
            own.sized |= outcome.log.sized
            if function.own_name in CONSTRUCTORS:
                if function.own_name == CONSTRUCTORS[0]:
                    own.begins |= self.begins(function, outcome.log)
                    own.effects = outcome.after_init
                    if general:
                        own.general_effects = outcome.after_init
                # There is no instance, or no test is run, where a constructor raises or skips.
                own.why = _more(own.why, outcome.requires)

    # Edits

    def run_module_again(self) -> None:
        """Run the module's statements, and those of its classes, as they were run first; no functions."""
        self._top = self._machine(self, self.objects, self.module, State())
        self.why, self.nature, self._stars, self.only_typed = NEVER, {}, [], set()
        self._uses.pop("", None)
        whys = {name: cls.why for name, cls in self.classes.items()}
        self._again = set(self.classes)
        self._run_module()
        self._again.clear()
        for name, cls in self.classes.items():
            cls.why = whys.get(name, cls.why)

    def face(self) -> tuple[object, ...]:
        """What functions depend on of what the module's own statements do, but for its variables."""
        end = self.outside
        return (
            (end.places.copy(), end.marks.copy(), end.default),
            (self.why, tuple(self.nature), self.natures.copy(), tuple(self._stars), self.only_typed.copy()),
            {name: each.why for name, each in self.functions.items()},
            {name: cls.told() for name, cls in self.classes.items()},
        )

    def is_in_circle(self, name: str) -> bool:
        """Whether a function calls itself, by whatever way."""
        return name in self._circular

    def outcomes(self, function: Function) -> list[Outcome]:
        """What runs of a function find out, for any caller and then for those of this file, if they agree.

        Nothing is learned of it. None where that cannot be told without a look at others.
        """
        self._uses.pop(function.name, None)
        self._frames.append(_Frame(function.name, 0))
        try:
            outcome = self._run(function, UNINFORMED)
            if outcome.log.deciding:
                outcome = outcome._replace(summary=self._with_cases(function, outcome))
            found, informed = [outcome], self._informed.get(function.name, UNINFORMED)
            if informed != UNINFORMED:
                found.append(self._run(function, informed))
        except _First:
            return []
        finally:
            self._unwind()
        return found

    def is_summary(self, summary: FunctionSummary) -> bool:
        """Whether this is what is known of a function."""
        return self._summaries.get(summary.name) == summary

    def users(self, names: set[str]) -> list[Function] | None:
        """The functions that were told what some do; None where the module itself was, or a circle."""
        found = [each for each, asked in self._uses.items() if not names.isdisjoint(asked)]
        if not self._circular.isdisjoint(found) or not self.functions.keys() >= set(found):
            return None
        return [self.functions[each] for each in found]

    def reached_beside(self, function: Function) -> frozenset[str]:
        """What the class of a function reaches without it; of one that has no class, all."""
        own = self.classes.get(function.owner) if function.owner is not None else None
        if own is None:
            return knowledge.REACHED
        others = (self._summaries.get(each) for each in own.methods.values() if each != function.name)
        return frozenset[str]().union(*(each.reaches for each in others if each is not None))

    def tell(self, summary: FunctionSummary) -> None:
        """Have callers told that a function does something else."""
        self._summaries[summary.name] = summary

    def takes(self, logs: dict[str, Log], before: Iterable[Log] = ()) -> bool:
        """Have other logs of functions; whether all that is passed by those that call others stays the same.

        Nor may any of them call itself by now. `before` are those that have been taken already.
        """
        changed = [*logs.values(), *(self.logs[name] for name in logs), *before]
        self.logs.update(logs)
        called = {site.callee for log in changed for site in log.sites} | logs.keys()
        if self._newly_agreed([each for each in self.functions if each in called]):
            return False
        return not any(name in self._used_by(name) for name in logs)

    def _used_by(self, name: str) -> set[str]:
        """The functions that a function is told of, and those that they are told of."""
        found: set[str] = set()
        todo = [*self._uses.get(name, ())]
        while todo:
            each = todo.pop()
            if each not in found:
                found.add(each)
                todo += self._uses.get(each, ())
        return found

    def begins(self, function: Function, log: Log) -> set[str]:
        """The names of the methods that a constructor runs."""
        own = self.classes.get(function.owner) if function.owner is not None else None
        if own is None or function.own_name != CONSTRUCTORS[0]:
            return set()
        return set(_runs(log, own, self.objects.self_of(own.name)))

    def forget_nodes(self, function: ast.AST | None) -> None:
        """Look at the syntax tree again, in which at most a function has changed."""
        for name in ("nodes", "names", "_read_of_names", "_moved_from_outside", "_imported", "_aliases"):
            self.__dict__.pop(name, None)
        for cls in self.classes.values():
            cls.forget_syntax(function)

    # Definitions

    def import_for_types(self, name: str, typing: bool) -> None:
        """The module imports a name, for type checkers alone or not."""
        (self.only_typed.add if typing else self.only_typed.discard)(name)

    def define(self, machine: Machine, node: FunctionNode, owner: str | None = None) -> Function:
        """The function that a definition makes; a method of `owner` in the body of that class."""
        here = machine.here
        if owner is not None:
            return self._method(machine, node, self.classes[owner])
        nested = bool(here.name) or isinstance(node, ast.Lambda)
        env = machine.state.env if nested else None
        function = self._by_node.get(node)
        if function is None:
            name = getattr(node, "name", f"<lambda {here.number(node)}>")
            name = f"{here.name}.{name}" if here.name else self._dotted(name)
            function = self._add(node, name, None, here, env)
        elif env is not None:
            function.enclosing = env
        function.why = machine.state.why
        if nested:
            function.around = machine.state.places
        return function

    def _method(self, machine: Machine, node: FunctionNode, cls: Class) -> Function:
        method = self._by_node.get(node)
        own = getattr(node, "name", "<lambda>")
        if method is None:
            env = self._outer_env.get(cls.name)
            method = self._add(node, f"{cls.name}.{own}", cls.name, machine.here, env)
        method.why = _more(method.why, machine.state.why)
        cls.methods[own] = method.name
        return method

    def _dotted(self, name: str) -> str:
        return f"{self.name}.{name}" if self.name else name

    def _add(
        self, node: FunctionNode, name: str, owner: str | None, outer: Function, env: dict[Key, Value] | None
    ) -> Function:
        function = Function(self._unused(name), node, owner, outer, env)
        self._by_node[node] = self.functions[function.name] = function
        self._inner.setdefault(outer.name, []).append(function)
        return function

    def _unused(self, name: str) -> str:
        taken, again = name, 2
        while taken in self.functions or taken in self.classes:
            taken, again = f"{name}@{again}", again + 1
        return taken

    def define_class(self, machine: Machine, node: ast.ClassDef) -> str:
        """The class that a definition makes; runs its body."""
        known = self._names.get(node)
        if known is not None and known not in self._again:
            return known
        here = machine.here
        if known is not None:
            name, cls = known, self.classes[known]
            self._again.discard(name)
            cls.begin_anew()
        else:
            name = self._unused(f"{here.name}.{node.name}" if here.name else self._dotted(node.name))
            self._names[node] = name
            cls = self.classes[name] = Class(name, self.view)
            cls.node = node
            cls.acts_as_module = bool(node.bases) and acts_as_module(node)
        for base in node.bases:
            value = machine.eval(base)
            if value.kind is Kind.CLASS and isinstance(value.known, Defined):
                cls.bases.append(value.known.dotted)
            elif isinstance(value.known, Api):
                cls.library_bases.append(value.known.dotted)
            elif isinstance(base, (ast.Name, ast.Attribute)):
                cls.library_bases.append(base.attr if isinstance(base, ast.Attribute) else base.id)
        self._class_body(machine, node, cls)
        return name

    def _class_body(self, machine: Machine, node: ast.ClassDef, cls: Class) -> None:
        here = machine.here
        body = self._machine(self, self.objects, here, State())
        body.log = machine.log
        body.state.env = dict(machine.state.env)
        outer = dict(body.state.env)
        why = body.state
        why.why = machine.state.why
        decorated = required(body, node)
        why.why = _more(why.why, decorated)
        for base in cls.lineage():
            for library in base.library_bases:
                if library.startswith(knowledge.CUDA_MODULE):
                    why.certain()
        if "accelerator" in knowledge.hints("class", node.name):
            why.certain(f"class:{node.name}")
        body.class_body = cls.name
        self._outer_env[cls.name] = machine.state.env if here.name else None
        for statement in node.body:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body.defaults(statement.args)
                method = self._method(body, statement, cls)  # also below what may end the class body
                body.state.env[statement.name] = Value(Kind.FUNCTION, known=Defined(method.name))
            else:
                body.run([statement])
        extraction = Extraction(self.objects, cls.name)
        enum = "enum" in cls.topics
        declared = {
            each.target.id
            for each in node.body
            if isinstance(each, ast.AnnAssign) and each.value is None and isinstance(each.target, ast.Name)
        }
        for key, value in changed(outer, body.state.env):
            if isinstance(key, str) and value.kind is not Kind.FUNCTION:
                if key in declared and value.kind is Kind.TENSOR and not cls.is_module:
                    # A field of a record: it is wherever that is.
                    value = value._replace(place=Place(Form.AT, "", self.objects.self_of(cls.name)))
                cls.body[key] = extraction.term(value._replace(origin=None) if enum else value)
        cls.why = cls.around = body.state.why

    # What runs ask

    def function(self, dotted: str) -> Function | None:
        """A function of this very file."""
        return self.functions.get(dotted)

    def view(self, dotted: str) -> Class | None:
        """A class of the project."""
        found = self.classes.get(dotted)
        if found is not None or self.index is None:
            return found
        if dotted not in self._views:
            summary = self.index.find(dotted)
            self._views[dotted] = (
                from_summary(summary, self.view) if isinstance(summary, ClassSummary) else None
            )
        return self._views[dotted]

    def resolve(self, dotted: str) -> Value | None:
        """What the project defines under a dotted name, if it does."""
        if dotted in self._resolved:
            return self._resolved[dotted]
        found = None
        if self.index is not None and not knowledge.is_brought(dotted):
            # Who brings a row of what the project defines wants that to count.
            found = self._resolve(self.index.find(dotted))
        self._resolved[dotted] = found
        return found

    def _resolve(self, found: Value | FunctionSummary | ClassSummary | None) -> Value | None:
        if found is None:
            return None
        if isinstance(found, FunctionSummary):
            return Value(Kind.FUNCTION, known=Defined(found.name))
        if isinstance(found, ClassSummary):
            return Value(Kind.CLASS, known=Defined(found.name))
        return Substitution(self._top, None, {}, None).value(found)

    def top(self, name: str) -> Value | None:
        """A variable of the module."""
        found = self._top.state.env.get(name)
        if found is not None and found.kind in TENSORS and name in self._imported:
            return UNKNOWN  # `import torch.nn.functional as F`, and far below `F = fisher.to("cpu")`
        if found is None and self._stars:
            for module in () if knowledge.is_every_modules(name) else reversed(self._stars):
                known = self.resolve(within(module, name))
                if known is not None and self._brings(module, name):
                    return known
            return self._starred(name)
        return found

    @cached_property
    def _imported(self) -> frozenset[str]:
        """The names that imports bind."""
        aliases = (
            alias
            for node in statements_in(self.tree)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        )
        return frozenset(alias.asname or alias.name.partition(".")[0] for alias in aliases)

    def _brings(self, module: str, name: str) -> bool:
        """Whether a star brings a name of a file: one that is in its `__all__`, or is public."""
        told = self.resolve(within(module, "__all__"))
        names = None if told is None or told.items is None else [item.known for item in told.items]
        if names is None or not all(isinstance(each, Const) for each in names):
            return knowledge.is_public(name)
        return Const(name) in names

    def _starred(self, name: str) -> Value | None:
        """What a name means that a star brings from a library, or from a file that cannot be read.

        A library's own name means nothing else; an alias of `torch.nn` shows by what is read of it.
        """
        if name in knowledge.LIBRARIES:
            return Value(Kind.LIBRARY, known=Api(name))
        for star in reversed(self._stars):
            if knowledge.offers(star, name):
                return Value(Kind.LIBRARY, known=Api(within(star, name)))
        if knowledge.is_torch_nn(self._read_of_names.get(name, frozenset())):
            return Value(Kind.LIBRARY, known=Api("torch.nn"))
        return None

    @cached_property
    def _read_of_names(self) -> Mapping[str, frozenset[str]]:
        """By variable, the attributes that are read of it anywhere in the file."""
        found: dict[str, set[str]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.setdefault(node.value.id, set()).add(node.attr)
        return {name: frozenset(read) for name, read in found.items()}

    def import_all(self, module: str) -> None:
        """`from module import *`."""
        if module not in self._stars:
            self._stars.append(module)

    def variables(self) -> Mapping[Key, Value]:
        """All variables of the module."""
        return self._top.state.env

    def set_top(self, machine: Machine, name: str, value: Value) -> None:
        """A function assigns a variable of the module."""
        env = self._top.state.env
        known = env.get(name)
        env[name] = value if known is None else machine.join(known, value)

    def is_set_later(self, name: str) -> bool:
        """Whether a function assigns a variable of the module."""
        return name in self._set_later

    @cached_property
    def _set_later(self) -> frozenset[str]:
        return frozenset(name for node in self.nodes if isinstance(node, ast.Global) for name in node.names)

    @property
    def is_changed_from_inside(self) -> bool:
        """Whether functions may assign variables of the module, or names come of which nobody knows all."""
        return bool(self._set_later or self._stars)

    def mark_module(self, value: Value) -> None:
        """`pytestmark`: what skips all tests of the module."""
        marks = value.items or (value,)
        for mark in marks:
            said = mark.known
            if mark.kind is Kind.FLAG and getattr(said, "if_true", False):
                state = State()
                state.why = self.why
                state.certain(getattr(said, "hint", ""))
                self.why = state.why

    @cached_property
    def names(self) -> frozenset[str]:
        """Names that the file mentions, of variables and attributes."""
        named = {each.id for each in self.nodes if isinstance(each, ast.Name)}
        return frozenset(named | {each.attr for each in self.nodes if isinstance(each, ast.Attribute)})

    def alias(self, name: str) -> ast.Subscript | None:
        """The type that a name of the module stands for: `Batch = dict[str, torch.Tensor]`."""
        return self._aliases.get(name)

    @cached_property
    def _aliases(self) -> dict[str, ast.Subscript]:
        """By name; what speaks of itself, or of what comes later, would have no end."""
        assigned = (each for each in getattr(self.module.node, "body", ()) if isinstance(each, ast.Assign))
        found = {
            each.targets[0].id: each.value
            for each in assigned
            if isinstance(each.targets[0], ast.Name)
            and isinstance(each.value, ast.Subscript)
            and last_name(each.value.value) in knowledge.GENERICS
        }
        at = {name: index for index, name in enumerate(found)}
        return {
            name: value
            for name, value in found.items()
            if all(at.get(word, -1) < at[name] for word in _WORD.findall(ast.unparse(value)))
        }

    def defines_method(self, name: str) -> bool:
        """Whether a class of this file has a method of that name."""
        return any(name in cls.methods for cls in self.classes.values())

    def is_moved_from_outside(self, name: str) -> bool:
        """Whether what objects have as an attribute is moved where it is no attribute of `self`."""
        return name in self._moved_from_outside

    @cached_property
    def _moved_from_outside(self) -> frozenset[str]:
        return frozenset(name for node in self.nodes if (name := moved_for_another(node)))

    def needs_accelerator(self, hint: str, function: str | None = None) -> None:
        """The whole module runs on an accelerator alone, or one of its functions."""
        if function is None:
            self.nature[hint] = None
        else:
            self.natures[function] = (hint,)

    def names_cpu(self) -> bool:
        """Whether the file names the cpu: it means to run there, too."""
        return any(isinstance(node, ast.Constant) and node.value == CPU.name for node in self.nodes)

    def release(self) -> None:
        """Let go of what refers to itself in a circle, rather than leave it to the garbage collector."""
        if self.lasting:
            return
        for cls in (*self.classes.values(), *self._views.values()):
            if cls is not None:
                cls.release()
        self._top.release()
        self.module.release()
        for held in (
            self.functions,
            self.classes,
            self.logs,
            self._by_node,
            self._inner,
            self._names,
            self._views,
        ):
            held.clear()
        if hasattr(self, "__dict__"):  # nothing has one that is compiled
            self.__dict__.clear()

    # For other files

    def module_summary(self) -> ModuleSummary:
        """What the file defines, as plain data."""
        extraction, lost = Extraction(self.objects, "<outside>"), self._lost()
        values = {
            key: abroad(extraction.term(value), self.name)
            for key, value in sorted(
                ((key, value) for key, value in self.outside.env.items() if isinstance(key, str))
            )
        }
        return ModuleSummary(
            self.name,
            values,
            {name: function_abroad(each, self.name) for name, each in sorted(self._summaries.items())},
            {
                name: class_abroad(_without(cls.summary(), lost.get(name, set())), self.name)
                for name, cls in sorted(self.classes.items())
            },
            self.outside.why,
            tuple(self._stars),
            calls_in(self),
            loaders_in(self),
        )

    def _lost(self) -> dict[str, set[str]]:
        """By class, the attributes that its methods mean to move, and do not: that is told there."""
        found: dict[str, set[str]] = {}
        for method, log in self.logs.items():
            owner = self.functions[method].owner if method in self.functions else None
            if owner is None:
                continue
            for node, raw in log.moves.items():
                if raw.target is not None and raw.fate != "kept" and raw.receiver.kind in TENSORS:
                    for moved in (raw.iterates, node.func):
                        found.setdefault(owner, set()).update(_attributes_in(moved))
        return found


def _attributes_in(node: ast.AST | None) -> Iterator[str]:
    """The attributes of variables that an expression reads."""
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            yield part.attr


def _without(summary: ClassSummary, names: set[str]) -> ClassSummary:
    """A class of which nobody knows where some attributes are."""
    attributes = {name: UNKNOWN if name in names else term for name, term in summary.attributes.items()}
    return summary._replace(attributes=attributes) if names else summary


def _runs(log: Log, cls: Class, itself: Ref) -> Iterator[str]:
    """The names of the methods of its own object that a constructor calls."""
    own = {dotted: name for each in cls.lineage() for name, dotted in each.methods.items()}
    for site in (*log.sites, *log.abroad):
        if site.callee in own:
            yield own[site.callee]
    yield from (raw.method for raw in log.asks.values() if raw.of == itself and raw.method)


def _more(why: Why, other: Why) -> Why:
    state = State()
    state.why = why
    state.more(other)
    return state.why


# What callers pass


def _agreed(function: Function, sites: list[Site], private: FunctionSummary | None, keeps: bool) -> Informed:
    """What all callers in this file agree to pass: values, a guard, and where the objects are.

    What decides a condition of a `private` function is what its default is, if none passes anything for it.
    """
    values: dict[str, Value] = {}
    on_cpu: dict[str, Value] = {}
    for name in sites[0].arguments:
        if name == "self" or not all(name in site.arguments for site in sites):
            continue
        value = sites[0].arguments[name]
        for site in sites[1:]:
            value = _agree(value, site.arguments[name])
        numbers = _numbers(value) if function.own_name == CONSTRUCTORS[0] else None
        if numbers is not None:
            values[name] = numbers
        elif _informs(value, sites):
            values[name] = value
        elif value.place == CPU and is_made(value) and name not in function.moves:
            on_cpu[name] = value
    places: dict[Ref, Place] = {}
    marks: dict[tuple[str, Ref], Mark] = {}
    for name, value in values.items():
        ref = value.who
        if type(ref) is not int:
            continue
        each = [site.arguments[name] for site in sites]
        one = value.kind is not Kind.MODULE or all(given.who == ref for given in each)
        found = [
            site.places.get(ref) if one else _placed(site, given)
            for site, given in zip(sites, each, strict=True)
        ]
        if all(place is not None for place in found):
            places[ref] = _together(place for place in found if place is not None)
        if value.kind is Kind.OPTIMIZER:
            marks |= {
                key: mark
                for key, mark in sites[0].marks.items()
                if key[1] == ref and all(key in site.marks for site in sites)
            }
    why = sites[0].why if all(site.why.guarded for site in sites) else NEVER
    if why.guarded and not all(site.why.certain for site in sites):
        why = Why(False, why.hints or ("callers",))
    if keeps or any(place.form in _THERE for place in (*places.values(), *map(_place, values.values()))):
        values |= on_cpu
    entries = frozenset(name for name in values if any(name in site.entries for site in sites))
    # Other files may call what is public.
    needed = function.is_private and all(site.why.needed for site in sites)
    why = why._replace(needed=needed)
    settled: dict[str, Answers] = {}
    if private is not None and private.cases and not any(site.open for site in sites):
        names = {name for case in private.cases for name, _ in case.given}
        settled = {
            each.name: each.means
            for each in private.parameters
            if each.means and each.name in names and not any(each.name in site.arguments for site in sites)
        }
    default = any(site.default for site in sites)
    return Informed(
        tuple(values.items()), tuple(places.items()), tuple(marks.items()), why, settled, entries, default
    )


def _place(value: Value) -> Place:
    """Where a tensor is."""
    return value.place if value.kind is Kind.TENSOR else UNKNOWN_PLACE


def _placed(site: Site, module: Value) -> Place:
    """Where a caller had a module when it passed it."""
    place = site.places.get(module.who) if type(module.who) is int else None
    if place is not None:
        return place
    return CPU if module.origin is not None and module.origin.how == "made" else UNKNOWN_PLACE


def _together(places: Iterable[Place]) -> Place:
    found: Place | None = None
    for place in places:
        found = place if found is None else join_places(found, place)
    return found or UNKNOWN_PLACE


def _agree(a: Value, b: Value) -> Value:
    """What two callers both pass; the identity of an object survives only if it is the same one."""
    if a == b:
        return a
    if a.kind is Kind.LOADER and b.kind is Kind.LOADER and a.element is not None and b.element is not None:
        same = a.element.place.form is b.element.place.form
        return a if same else UNKNOWN
    if a.kind is b.kind is Kind.MODULE:
        return a._replace(known=a.known if a.known == b.known else one_of(a.known, b.known))
    return join(a, b)


def _numbers(value: Value, depth: int = 3) -> Value | None:
    """A container of numbers, or of containers of those, whichever they are; None for anything else."""
    element = element_of(value) if value.kind is Kind.CONTAINER and value.known is None else None
    if element is None or value.holds or not depth:
        return None
    if element.kind is not Kind.NUMBER:
        element = _numbers(element, depth - 1)
    elif any(part.measures is not None for part in (element, *(value.items or ()))):
        return None  # sizes are those of something
    else:
        element = NUMBER
    return None if element is None else container(value.who, element=element)


def _informs(value: Value, sites: list[Site]) -> bool:
    if value.kind in (Kind.LOADER, Kind.MODULE, Kind.OPTIMIZER, Kind.INSTANCE, Kind.FUNCTION):
        return True
    if value.kind in (Kind.DEVICE, Kind.STRING):
        return value.place.form not in (Form.UNKNOWN, Form.AT)
    if value.kind is Kind.TENSOR:
        return value.place.form in _THERE
    if value.kind is Kind.CONTAINER:
        if any(_place(item).form in _THERE for item in value.items or ()):
            return True
        element = element_of(value)
        return element is not None and element.kind in (Kind.LOADER, Kind.INSTANCE)
    return value.kind is Kind.UNKNOWN and value.who is not None and all(value.who in s.places for s in sites)
