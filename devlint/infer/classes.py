"""Classes of the project: what is known of their instances as one."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from .. import knowledge
from ..bind.names import last_name, names_in, opened, statements_in
from ..bind.walk import descendants
from ..core.events import Why
from ..core.kinds import TENSORS, Kind
from ..core.paths import Ref
from ..core.places import CPU, UNKNOWN_PLACE, Form, Place
from ..core.state import NEVER, Key, Mark
from ..core.summary import ClassSummary, Effect, Moved, Term
from ..core.values import Value, container, element_of, join
from ..knowledge.vocabulary import ASSIGNS_ANY, NAMES_DEVICES, WEIGHTLESS
from . import weightless


class Entered(NamedTuple):
    """What methods find where constructors left it, as long as those say the same."""

    said: list[tuple[Effect, ...]]
    """What the constructors leave behind."""
    known: int
    """How many objects other functions of the file had a name for."""
    places: dict[Ref, Place]
    marks: dict[tuple[str, Ref], Mark]
    env: dict[Key, Value]


class Class:
    """A class, of this file or of another: `ClassView` for those who ask."""

    def __init__(self, name: str, view: Callable[[str], Class | None]) -> None:
        self.name = name
        self._view = view
        self.node: ast.ClassDef | None = None
        self.bases: list[str] = []
        """Classes of the project, by dotted name."""
        self.library_bases: list[str] = []
        self.methods: dict[str, str] = {}
        self.body: dict[str, Term] = {}
        """Class variables."""
        self._assigned: dict[str, dict[str, Term]] = {}
        """By attribute, what each method leaves in it."""
        self._general: dict[str, dict[str, Term]] = {}
        """The same, whatever callers pass."""
        self._added: dict[str, dict[str, Term]] = {}
        """By attribute, what each method puts into the container that it is."""
        self._general_added: dict[str, dict[str, Term]] = {}
        """The same, whatever callers pass."""
        self._joined: dict[str, Term] = {}
        self.why: Why = NEVER
        """What a decorator, a condition or a constructor makes sure of."""
        self.around: Why = NEVER
        """The same, without what constructors do: it holds in those, too."""
        self.effects: tuple[Effect, ...] = ()
        """Where the constructor leaves the objects that it makes."""
        self.general_effects: tuple[Effect, ...] = ()
        """The same, whatever callers pass."""
        self.reaches: frozenset[str] = frozenset()
        self.registered: set[str] = set()
        """The names under which buffers and parameters are registered."""
        self.sized: set[str] = set()
        """The names of the buffers that have dimensions."""
        self.begins: set[str] = set()
        """The names of the methods that its constructor runs."""
        self.acts_as_module = False
        """Whether its own code shows that a base of which nothing is known is an `nn.Module`."""
        self._names_of: dict[ast.AST, frozenset[str]] = {}
        """By the statements of its body, and what is above that, the names in each."""
        self._lineage: list[Class] | None = None
        self.entered: dict[int, Entered] = {}
        """What methods start from, by how many constructors have run."""

    # What the file learns

    def assign(self, name: str, method: str, term: Term, general: bool) -> None:
        """Record what a method leaves in an attribute; an earlier run of it no longer counts.

        What holds for any caller is what other files are told.
        """
        if general:
            self._general.setdefault(name, {})[method] = term
        by_method = self._assigned.setdefault(name, {})
        if by_method.get(method) != term:
            by_method[method] = term
            self._joined.pop(name, None)

    def add(self, method: str, terms: Mapping[str, Term], general: bool) -> None:
        """Record what a method puts into the containers that attributes are, in the same way."""
        for by_name in (self._general_added, self._added) if general else (self._added,):
            for name in {*terms, *by_name}:
                by_method = by_name.setdefault(name, {}) if name in terms else by_name[name]
                if by_method.get(method) != terms.get(name):
                    by_method.pop(method, None)
                    by_method.update({method: terms[name]} if name in terms else {})
                    self._joined.pop(name, None)

    def own_attribute(self, name: str) -> Term | None:
        """What is assigned to an attribute in this very class, with what is put into it."""
        found = self._joined.get(name)
        if found is None:
            by_method, added = self._assigned.get(name), self._added.get(name)
            if not (by_method or added):
                return self.body.get(name)
            found = self._perhaps_moved(_joined(by_method)) if by_method else self.body.get(name)
            found = self._joined[name] = _filled(found, added or {})
        return found

    def _perhaps_moved(self, term: Term) -> Term:
        """What is known of a tensor that a method may replace: `setattr(self, name, …)` for all names."""
        if term.kind in TENSORS and term.place.form is Form.CPU and self._may_replace_any():
            return term._replace(place=UNKNOWN_PLACE, origin=None)
        return term

    def _may_replace_any(self) -> bool:
        """The same of its bases: what they assign to all attributes, they assign to those of this one."""
        return any(cls.assigns_any or ASSIGNS_ANY in cls.reaches for cls in self.lineage())

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of variables and attributes in the definition; none of a class of another file.

        What is asked of each attribute of a class is looked up here: to walk the class each time takes time
        that grows with the square of its size.
        """
        if self.node is None:
            return frozenset()
        parts = [*self.node.bases, *self.node.keywords, *self.node.decorator_list, *self.node.body]
        for each in parts:
            if each not in self._names_of:
                self._names_of[each] = names_in(each)
        return frozenset[str]().union(*map(self._names_of.__getitem__, parts))

    @cached_property
    def assigns_any(self) -> bool:
        """Whether a method that is no constructor assigns attributes under names that are not told."""
        if self.names.isdisjoint(knowledge.ASSIGNS_BY_NAME):
            return False
        methods = (each for each in getattr(self.node, "body", ()) if isinstance(each, ast.FunctionDef))
        return any(
            _assigns_by_name(node, method.args.args[0].arg)
            for method in methods
            if method.name not in knowledge.CONSTRUCTS and method.args.args
            for node in descendants(method)
        )

    @cached_property
    def moved_later(self) -> frozenset[str]:
        """The attributes that methods move where they are, and no constructor: `self.net.to(device)`.

        So may another method of the object that is given one, and gives nothing: `self.place(self.net)`.
        """
        return frozenset(
            moved.attr
            for method in getattr(self.node, "body", ())
            if isinstance(method, ast.FunctionDef) and method.name not in knowledge.CONSTRUCTS
            for statement in statements_in(method)
            if isinstance(statement, ast.Expr)
            and isinstance(call := statement.value, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(moved := _moved_by(call, call.func), ast.Attribute)
        )

    @cached_property
    def assigned_around(self) -> Mapping[str, frozenset[str]]:
        """By the methods that its constructor runs, the attributes that it assigns before, and again after.

        What such a method finds in these is not what the constructor leaves there.
        """
        called: dict[str, int] = {}
        stored: dict[str, tuple[int, int]] = {}
        for method in getattr(self.node, "body", ()):
            if not isinstance(method, ast.FunctionDef) or method.name not in knowledge.CONSTRUCTS:
                continue
            own = method.args.args[0].arg if method.args.args else ""
            for node in descendants(method):
                func = node.func if isinstance(node, ast.Call) else node
                if not (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)):
                    continue
                if func.value.id == own and func is not node:
                    called[func.attr] = max(func.lineno, called.get(func.attr, 0))
                elif func.value.id == own and isinstance(func.ctx, ast.Store):
                    first, last = stored.get(func.attr, (func.lineno, func.lineno))
                    stored[func.attr] = min(first, func.lineno), max(last, func.lineno)
        again = [(name, first, last) for name, (first, last) in stored.items() if first < last]
        return {
            method: frozenset(name for name, first, last in again if first < line < last)
            for method, line in called.items()
        }

    def moves_part(self, name: str) -> bool:
        """Whether a method that is no constructor moves what an attribute holds."""
        return any(name in cls.moved_later for cls in self.lineage())

    def assigned(self) -> Collection[str]:
        """The attributes that methods of this very class assign."""
        return self._assigned

    def assigning(self, name: str) -> Collection[str]:
        """The methods of this very class that assign an attribute."""
        return self._assigned.get(name, {})

    def general_attributes(self) -> Mapping[str, Term]:
        """All that is assigned in this very class, whatever callers pass."""
        found = dict(self.body)
        for name, by_method in self._general.items():
            found[name] = self._perhaps_moved(_joined(by_method))
        for name, added in self._general_added.items():
            found[name] = _filled(found.get(name), added)
        return found

    # What others ask

    def lineage(self) -> list[Class]:
        """This class and its bases in the project, nearest first."""
        if self._lineage is None:
            self._lineage = [self]  # until it is known, should a base derive from this class in turn
            self._lineage = self._find_lineage()
        return self._lineage

    def _find_lineage(self) -> list[Class]:
        if len(self.bases) < 2:
            base = self._view(self.bases[0]) if self.bases else None
            above = base.lineage() if base is not None else []
            return [self, *above] if self not in above else above
        found: dict[str, Class] = {}
        todo: list[Class] = [self]
        while todo:
            cls = todo.pop(0)
            if cls.name not in found:
                found[cls.name] = cls
                todo.extend(base for name in cls.bases if (base := self._view(name)) is not None)
        return list(found.values())

    @cached_property
    def topics(self) -> frozenset[str]:
        """What knowledge says of the library classes that it derives from."""
        names = [name for cls in self.lineage() for name in cls.library_bases]
        if not names:
            return frozenset()
        found = frozenset[str]().union(*map(knowledge.topics_of_base, names))
        shown = (
            not found and any(cls.acts_as_module for cls in self.lineage()) and any(map(_is_opaque, names))
        )
        return found | {"module"} if shown else found

    @cached_property
    def is_module(self) -> bool:
        """Whether it is an `nn.Module`."""
        return "module" in self.topics

    @cached_property
    def is_guessed(self) -> bool:
        """Whether nothing but its own code shows that it is a module: nobody knows what it derives from."""
        names = [name for cls in self.lineage() for name in cls.library_bases]
        return self.is_module and not any("module" in knowledge.topics_of_base(name) for name in names)

    @cached_property
    def framework(self) -> bool:
        """Whether a framework moves what this class is given."""
        return any(topic.startswith("framework") for topic in self.topics)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names that its body annotates, in their order, if it is of this file and derives from nothing
        that annotates more."""
        if len(self.lineage()) > 1 or self.is_module:
            return ()
        body = self.node.body if self.node is not None else []
        return tuple(
            each.target.id
            for each in body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        )

    def attribute(self, name: str) -> Term | None:
        """What is assigned to an attribute, here or in a base class, in terms of `self`."""
        found: Term | None = None
        for cls in self.lineage():
            own = cls.own_attribute(name)
            if own is not None:
                found = own if found is None else join(found, own)
                if name in cls._assigned or name in cls.body:
                    return found  # and does not only put something into what a base class assigns
        return found

    def is_variable(self, name: str) -> bool:
        """Whether an attribute is a variable of the class, which no method assigns."""
        if any(name in cls._assigned for cls in self.lineage()):
            return False
        return any(cls.node is not None and name in cls.body for cls in self.lineage())

    def varies(self, name: str) -> bool:
        """Whether several methods assign an attribute, here and in base classes."""
        return sum(len(cls.assigning(name)) for cls in self.lineage()) > 1

    def attributes(self) -> Iterator[Term]:
        """All that is assigned to attributes, here and in base classes."""
        for cls in self.lineage():
            for name in (*cls.body, *cls._assigned):
                found = cls.own_attribute(name)
                if found is not None:
                    yield found

    def nearest(self) -> Mapping[str, Term]:
        """By attribute, what is assigned to it in the nearest class that does so."""
        names = dict.fromkeys(name for cls in self.lineage() for name in (*cls.body, *cls._assigned))
        return {name: term for name in names if (term := self.attribute(name)) is not None}

    def registers(self, name: str, *, certain: bool = False) -> bool:
        """Whether a buffer or parameter is registered under a name, or may be, here or in a base class."""
        return any(
            name in cls.registered
            or (not certain and "*" in cls.registered)
            or any(name in knowledge.buffers_of_class(base) for base in cls.library_bases)
            for cls in self.lineage()
        )

    def is_sized(self, name: str | None) -> bool:
        """Whether a buffer has dimensions, or all do that it may be, here or in a base class."""
        names = {each for cls in self.lineage() for each in cls.registered} if name is None else {name}
        return names <= {each for cls in self.lineage() for each in cls.sized}

    def has_buffers(self) -> bool:
        """Whether it registers tensors with dimensions, and moves nothing where it uses them."""
        return any(cls.sized for cls in self.lineage()) and not self.moves()

    def is_weightless(self, known: dict[str, bool] | None = None) -> bool:
        """Whether it is a module without weights: a move has nothing to bring anywhere.

        `known` is what has been answered by now of classes of which an instance is a part of another.
        """
        known = {} if known is None else known
        if self.name not in known:
            known[self.name] = False  # of one that has one of its own kind
            known[self.name] = (
                self.is_module
                and not self.is_guessed
                and all(cls._registers_nothing(known) for cls in self.lineage())
            )
        return known[self.name]

    def _registers_nothing(self, known: dict[str, bool]) -> bool:
        def of_project(name: str) -> bool:
            part = self._view(name)
            return part is not None and part.is_weightless(known)

        if not all(map(weightless.is_base, self.library_bases)):
            return False
        if self._shape is None:
            return WEIGHTLESS in self.reaches
        held = {name: self.own_attribute(name) for name in self._assigned}
        return weightless.registers_nothing(self._shape, held, of_project)

    @cached_property
    def _shape(self) -> weightless.Shape | None:
        return weightless.shape_of(self.node) if self.node is not None else None

    def method(self, name: str) -> str | None:
        """The dotted name of a method, here or in a base class of the project."""
        for cls in self.lineage():
            if name in cls.methods:
                return cls.methods[name]
        return None

    def inherited(self, name: str) -> str | None:
        """The dotted name of a method of a base class of the project."""
        above = (cls for cls in self.lineage() if cls is not self)
        return next((cls.methods[name] for cls in above if name in cls.methods), None)

    def is_test_case(self) -> bool:
        """Whether it derives from a class that is called a test case."""
        bases = (name for cls in self.lineage() for name in cls.library_bases)
        return any("test-case" in knowledge.hints("base", name) for name in bases)

    def library_base(self) -> str | None:
        """The first library class that it derives from."""
        return next((name for cls in self.lineage() for name in cls.library_bases), None)

    def moves(self) -> bool:
        """Whether its code, or that of its bases in the project, names a device or moves anything."""
        return any(not cls.reaches.isdisjoint(NAMES_DEVICES) for cls in self.lineage())

    def moves_more(self) -> bool:
        """Whether that may move its own parts, or what its methods are given."""
        return any(knowledge.MOVES_MORE in cls.reaches for cls in self.lineage())

    def moved_by_constructor(self) -> bool:
        """Whether its constructor moves anything that it leaves behind."""
        return any(isinstance(effect, Moved) for effect in self.effects)

    def begin_anew(self) -> None:
        """Forget what its own statements say, which are about to be run once more."""
        self.bases.clear()
        self.library_bases.clear()
        self.body.clear()

    def told(self) -> tuple[object, ...]:
        """What its own statements say."""
        return (
            self.bases.copy(),
            self.library_bases.copy(),
            self.body.copy(),
            self.methods.copy(),
            self.around,
        )

    def forget_syntax(self, method: ast.AST | None) -> None:
        """Look at its definition again, in which at most a method has changed."""
        if method is not None:
            self._names_of.pop(method, None)
        for name in ("names", "assigns_any", "moved_later", "assigned_around", "_shape"):
            self.__dict__.pop(name, None)

    def release(self) -> None:
        """Let go of itself."""
        self._lineage = None
        if hasattr(self, "__dict__"):  # nothing has one that is compiled
            self.__dict__.clear()

    def summary(self) -> ClassSummary:
        """The class as plain data."""
        reaches = self.reaches | {ASSIGNS_ANY} if self.assigns_any else self.reaches
        return ClassSummary(
            self.name,
            (*self.bases, *self.library_bases),
            self.topics,
            dict(sorted(self.general_attributes().items())),
            dict(sorted(self.methods.items())),
            self.general_effects,
            self.why,
            frozenset(self.registered),
            reaches | {WEIGHTLESS} if self.is_weightless() else reaches,
            frozenset(self.sized),
            frozenset(self.begins),
        )


def _joined(by_method: Mapping[str, Term]) -> Term:
    """What an attribute holds that several methods assign: None only keeps a place for what the others do."""
    terms = [by_method[method] for method in sorted(by_method)]
    filled = [term for term in terms if term.kind is not Kind.NONE] or terms[:1]
    joined = filled[0]
    for term in filled[1:]:
        joined = join(joined, term)
    return joined


def _filled(term: Term | None, added: Mapping[str, Term]) -> Term:
    """A container with what methods put into it; what it is besides may be known."""
    if term is not None and term.kind is not Kind.CONTAINER:
        return term  # on some path it is something else
    held = [added[method] for method in sorted(added)]
    element = element_of(term) if term is not None else None
    for each in held:
        element = each if element is None else join(element, each)
    if not held or element is None:
        return term if term is not None else container(element=element)
    whole = container(None if term is None else term.who, element=element)
    return whole if term is None else term._replace(items=None, element=whole.element)


def _is_opaque(base: str) -> bool:
    """Whether a base is imported from a package of which only its name is known."""
    package, dot, _ = base.partition(".")
    return bool(dot) and package not in sys.stdlib_module_names


def acts_as_module(node: ast.ClassDef) -> bool:
    """Whether a class does what modules do: it registers buffers or Parameters, or has a `forward`.

    So does one that keeps Parameters, where its base has a constructor, and one that keeps layers, and has
    from its base what moves or lists them all. Nothing else calls what it defines `forward`, unless it says
    itself what calling it does.
    """
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    forward = methods.get("forward")
    if (
        forward is not None
        and knowledge.CALLED not in methods
        and not any(last_name(each) in knowledge.UNBINDS for each in forward.decorator_list)
    ):
        return len(forward.args.args) > 1
    layers = moves = parameters = derives = False
    for part in descendants(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            owner = part.func.value
            derives |= is_super(owner)
            if isinstance(owner, ast.Name) and owner.id == "self" and part.func.attr not in methods:
                if part.func.attr in knowledge.REGISTERS:
                    return True
                moves |= part.func.attr in knowledge.WHOLE_MODULE
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Attribute):
            layers |= _makes_layer(part.value)
            parameters |= (
                isinstance(part.value, ast.Call) and last_name(part.value) == knowledge.PARAMETER_CLASS
            )
    return (layers and moves) or (parameters and derives)


def _moved_by(call: ast.Call, func: ast.Attribute) -> ast.expr | None:
    """What a call moves as it is, or hands to a method of the same object."""
    if func.attr in knowledge.MOVES:
        return func.value if func.attr != CPU.name else None
    given = call.args[0] if len(call.args) == 1 else None
    if not isinstance(given, ast.Attribute) or not isinstance(given.value, ast.Name):
        return None
    return given if isinstance(func.value, ast.Name) and func.value.id == given.value.id else None


def _assigns_by_name(node: ast.AST, owner: str) -> bool:
    """Whether an attribute of an object is assigned whose name is a value, or any of them."""
    if isinstance(node, ast.Subscript):
        to = opened(node.value) if isinstance(node.ctx, ast.Store) else None
    elif isinstance(node, ast.Call) and last_name(node) == knowledge.MERGES:
        to = opened(node.func.value) if isinstance(node.func, ast.Attribute) else None
    elif isinstance(node, ast.Call) and last_name(node) in knowledge.ASSIGNS_BY_NAME and node.args[1:]:
        to = node.args[0] if not isinstance(node.args[1], ast.Constant) else None
    else:
        return False
    return isinstance(to, ast.Name) and to.id == owner


def _makes_layer(value: ast.expr) -> bool:
    """Whether a value is what a class of `torch.nn` makes, as all files call that."""
    made = value.func if isinstance(value, ast.Call) else value
    return isinstance(made, ast.Attribute) and made.attr[:1].isupper() and last_name(made.value) == "nn"


def from_summary(summary: ClassSummary, view: Callable[[str], Class | None]) -> Class:
    """A class of another file."""
    cls = Class(summary.name, view)
    for base in summary.bases:
        (cls.bases if view(base) is not None else cls.library_bases).append(base)
    cls.methods = dict(summary.methods)
    cls.body = dict(summary.attributes)
    cls.why = summary.requires
    cls.effects = summary.after_init
    cls.registered = set(summary.registered)
    cls.sized = set(summary.sized)
    cls.begins = set(summary.begins)
    cls.reaches = summary.reaches
    cls.acts_as_module = "module" in summary.topics
    return cls


def is_super(node: ast.AST | None) -> bool:
    """Whether an expression is `super()`, with arguments or without."""
    return isinstance(node, ast.Call) and last_name(node) == "super"
