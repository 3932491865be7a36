"""What a program calls the device of what a tensor meets, where that tensor is made: the cure's `device=`."""

from __future__ import annotations

import ast
import re

from ..core.events import Conflict
from ..core.evidence import NO_NUMBER
from ..core.kinds import TENSORS, Kind
from ..core.paths import Ref, Root
from ..core.places import Form, Place
from ..core.values import Origin, Value
from .definitions import Function
from .elsewhere import MAX_PARTIES, Elsewhere
from .handed import FORWARD

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")


class Naming(Elsewhere):
    """Names devices by what is at hand in the function that makes a tensor."""

    def _device(self, one: Value, origin: Origin, there: Place, other: Value) -> str:
        """An expression that says where the other side is, and is good where the tensor was made."""
        ref = there.of
        home = self.file.functions.get(origin.function)
        if type(ref) is not int:
            return ""
        label = self.objects.labels[ref]
        if there.form is Form.SAME:
            if _NAME.match(label) and self._bound_before(ref, home, origin):
                return label
            given = self._given_there(one, other, there, home)
            if given or not _NAME.match(label) or not self._is_global(ref, home):
                return f"{given}.device" if given else ""
            return label
        if there.form is not Form.AT:
            return ""
        measured = one.measures
        if type(measured) is int and not self._is_self(measured) and self._together(measured, ref):
            named = self.objects.labels[measured]
            if _NAME.match(named) and self._bound_before(measured, home, origin):
                return f"{named}.device"
        for root in self.roots(ref):
            known = self.objects.is_parameter(root) and self.objects.functions[root] == origin.function
            if known and self.settled.seen(root) & NO_NUMBER and not self.settled.contradicted(root):
                return f"{self.objects.labels[root]}.device"
        own = self.objects.labels[other.who] if type(other.who) is int else ""
        registered = other.kind is Kind.PARAMETER and _NAME.match(own)
        if registered and self._bound_before(ref, home, origin):
            return f"{own}.device"
        for root in self.roots(ref):
            known = self.objects.is_parameter(root) and self.objects.functions[root] == origin.function
            if known and self._promised(root) and not self.settled.contradicted(root):
                return f"{self.objects.labels[root]}.device"
        given = self._input(home)
        if home is None or not given or not self._together(self.objects.parameter(home.name, given), ref):
            return ""
        return f"{given}.device"

    def _given_there(self, one: Value, other: Value, there: Place, home: Function | None) -> str:
        """A tensor that all callers of a function give it there; best what gave the other its size."""
        if home is None:
            return ""
        sites = self.settled.sites.get(home.name, ())
        given = [
            name
            for name in home.positional
            if sites
            and all(
                (value := site.arguments.get(name)) is not None
                and value.kind in TENSORS
                and value.place == there
                for _, site in sites
            )
        ]
        refs = {self.objects.parameter(home.name, name): name for name in given}
        todo, found = [one.measures, other.who], list[object]()
        while todo and refs:
            ref = todo.pop(0)
            if type(ref) is int and ref not in found and len(found) < MAX_PARTIES:
                if ref in refs:
                    return refs[ref]
                found.append(ref)
                todo.extend(each for each, _ in self._derived.get(ref, ()))
        return next(iter(given), "")

    def _input(self, home: Function | None) -> str:
        """The tensor that a forward is given first."""
        if home is None or home.own_name not in FORWARD or home.owner is None or len(home.positional) < 2:
            return ""
        ref = self.objects.parameter(home.name, home.positional[1])
        known = self.settled.seen(ref) & NO_NUMBER or self._promised(ref)
        known = known or self._is_given_tensors(home, home.positional[1])
        return home.positional[1] if known and not self.settled.contradicted(ref) else ""

    def _is_self(self, ref: Ref) -> bool:
        way = self.objects.ways[ref]
        return isinstance(way, Root) and way.kind == "self"

    def _together(self, one: Ref, other: Ref) -> bool:
        """Whether two objects are in one place: parts of one thing, or of a module and what it is given."""
        mine, theirs = set(self.roots(one)), set(self.roots(other))
        if mine == theirs:
            return bool(mine)
        return {self.rooted(root) for root in (*mine, *theirs)} == {Conflict.PORTABLE}

    def _bound_before(self, ref: Ref, home: Function | None, origin: Origin) -> bool:
        """Whether what the program calls an object was bound before a tensor was made."""
        top = self.objects.top(ref)
        way = self.objects.ways[top]
        if not isinstance(way, Root) or home is None:
            return False
        if way.kind == "self":
            return home.owner is not None
        if self.objects.functions[top] != home.name:
            return False
        if way.kind == "parameter":
            return True
        made = home.nodes[way.at] if 0 <= way.at < len(home.nodes) else None
        line = getattr(made, "end_lineno", None)
        return line is not None and line < getattr(home.nodes[origin.at], "lineno", 0)

    def _is_global(self, ref: Ref, home: Function | None) -> bool:
        """Whether a variable that a function sees is one that the file assigns in any case."""
        if home is None or self.objects.functions[self.objects.top(ref)]:
            return False
        name = self.objects.labels[ref].partition(".")[0]
        assigns = [each for each in self.file.tree.body if isinstance(each, ast.Assign)]
        targets = (target for each in assigns for target in each.targets)
        known = any(isinstance(each, ast.Name) and each.id == name for each in targets)
        return known and name not in home.bound
