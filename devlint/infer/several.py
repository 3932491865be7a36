"""The modules of which a value is one: each as it was made."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.kinds import Kind
from ..core.objects import Objects
from ..core.paths import Ref
from ..core.values import Value


def alternatives(objects: Objects, made: Mapping[Ref, Value], value: Value) -> list[Value]:
    """The modules of which a value is one; none where it may be anything that was not made in sight."""
    ref = value.who
    if value.kind is not Kind.MODULE or value.origin is not None or type(ref) is not int:
        return []
    if ref not in objects.sources:
        return []
    found: list[Value] = []
    for each in objects.may_be(ref):
        sources = objects.sources.get(each)
        if sources is None:
            one = made.get(each)
            if one is None or one.origin is None or one.origin.how != "made":
                return []
            found.append(one)
        elif len(sources) < 2:
            return []
    return found


def default(objects: Objects, made: Mapping[Ref, Value], value: Value) -> Value | None:
    """The module that a function makes where its caller gives it none."""
    ref = value.who
    if value.kind is not Kind.MODULE or value.origin is not None or type(ref) is not int:
        return None
    own: list[Value] = []
    for each in objects.may_be(ref):
        one = made.get(each)
        if one is not None and one.origin is not None and one.origin.how == "made":
            own.append(one)
        elif each not in objects.sources and not objects.is_parameter(each):
            return None
    return own[0] if len(own) == 1 else None
