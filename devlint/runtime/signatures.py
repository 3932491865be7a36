"""What torch says about the parameters of its functions, asked of torch itself.

Functions written in Python tell by `inspect`. Those written in C++ do not: the parser of their arguments
names what it would have taken when it is given nonsense, where there are several ways to call it; where
there is one, the operator's schema says the same.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from typing import Any, NamedTuple

import torch

_LISTED = re.compile(r"^ \* \((.*)\)$", re.MULTILINE)
_DOCUMENTED = re.compile(r"\s*(?:[\w.]+\.)?{name}\((.*?)\)(?:\s*->|\s*$|\s*\n)", re.DOTALL)
_NONSENSE = object()


class Signature(NamedTuple):
    """One way to call a function."""

    positional: tuple[str, ...]
    keywords: frozenset[str] = frozenset()
    """What only a keyword gives."""
    rest: str = ""
    """The parameter that takes all further positions."""
    any_keyword: bool = False
    """Whether it takes keywords that it does not name."""
    numbers: bool = False
    """Whether the only position takes a tuple of numbers."""

    @property
    def names(self) -> frozenset[str]:
        """Every parameter."""
        return frozenset({*self.positional, *self.keywords, self.rest} - {""})


def signatures(owner: Any, name: str) -> list[Signature]:
    """All ways to call what `owner` has under `name`, `self` left out; none where torch cannot tell."""
    function = inspect.unwrap(getattr(owner, name))
    method = isinstance(owner, type) and not isinstance(
        inspect.getattr_static(owner, name), (staticmethod, classmethod)
    )
    if isinstance(function, functools.partial):
        return []
    if overloads := _overloads(function):
        return overloads
    if _written_in_python(function):
        found = _inspected(function, method and not isinstance(function, type))
        if found is not None:
            return [found]
    described = _described(function, name)
    if isinstance(function, type) or _written_in_python(function):
        return described
    given = torch.ones(2) if method else owner
    found_by_parser = _parsed(given, name)
    if found_by_parser:
        return _spread(found_by_parser, described)
    by_schema = _as_required(_schemas(getattr(function, "__name__", name), method), given, name)
    if not by_schema or any(each.names > _names(by_schema) for each in described):
        return described
    return _spread(by_schema, described)


def _names(ways: list[Signature]) -> frozenset[str]:
    return frozenset().union(*(each.names for each in ways))


def _overloads(function: Any) -> list[Signature]:
    """The ways to make an object that a class declares for type checkers."""
    declared: Any = getattr(typing, "get_overloads", None)  # Python 3.11
    if declared is None or not hasattr(getattr(function, "__init__", None), "__code__"):
        return []
    found = [_inspected(each, True) for each in declared(function.__init__)]
    return [each for each in found if each is not None and len(each.names) > 2]


def _written_in_python(function: Any) -> bool:
    return isinstance(function, type) or hasattr(function, "__code__")


def _inspected(function: Any, method: bool) -> Signature | None:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if method and parameters:
        parameters = parameters[1:]
    kinds = {parameter.kind for parameter in parameters}
    if kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        is_plain = isinstance(function, type) and function.__init__ is torch.nn.Module.__init__  # type: ignore[misc]
        return Signature(()) if is_plain else None
    rest = "".join(p.name for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return Signature(
        tuple(p.name for p in parameters if p.kind in positional),
        frozenset(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY),
        rest,
        inspect.Parameter.VAR_KEYWORD in kinds,
    )


def _parsed(owner: Any, name: str) -> list[Signature]:
    """What the parser of a C++ function lists when nothing fits."""
    listed: list[Signature] = []
    for args, kwargs in (((_NONSENSE,) * 24, {}), ((), {"no_such_parameter": _NONSENSE})):
        try:
            getattr(owner, name)(*args, **kwargs)
        except Exception as error:
            message = str(error)
        else:
            return []
        if "takes no arguments" in message:
            return [Signature(())]
        listed = [*listed, *(_read(text) for text in _LISTED.findall(message))]
    return listed


def _as_required(ways: list[Signature], owner: Any, name: str) -> list[Signature]:
    """Some parameters are called otherwise than in the schema: the parser names those that it misses."""
    try:
        getattr(owner, name)()
    except Exception as error:
        message = str(error)
    else:
        return ways
    missing = re.findall(r'"(\w+)"', message) if "missing" in message else []
    return [
        way
        if way.names.issuperset(missing)
        else way._replace(positional=(*missing, *way.positional[len(missing) :]))
        for way in ways
    ]


def _read(text: str) -> Signature:
    """A signature as the parser writes it: `Tensor input, *, torch.dtype dtype = None`."""
    positional: list[str] = []
    keywords: list[str] = []
    found = positional
    numbers = text.startswith("tuple of ints")
    for part in filter(None, re.split(r",\s*(?![^()\[\]{}]*[)\]}])", text)):
        declared = part.partition("=")[0].strip()
        if declared == "*":
            found = keywords
        else:
            found.append(declared.split()[-1])
    return Signature(tuple(positional), frozenset(keywords), numbers=numbers and len(positional) == 1)


@functools.cache
def _all_schemas() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for schema in torch._C._jit_get_all_schemas():
        found.setdefault(schema.name, []).append(schema)
    return found


def _schemas(name: str, method: bool) -> list[Signature]:
    found = []
    schemas = _all_schemas().get(f"aten::{name}", ())
    of_tensors = any(schema.overload_name == "Tensor" for schema in schemas)
    for schema in schemas:
        if of_tensors and schema.overload_name.startswith("Scalar"):
            continue  # what is positional there, the parser takes by keyword alone
        arguments = list(schema.arguments)
        if not arguments or not any("Tensor" in str(x.type) for x in (*arguments, *schema.returns)):
            continue
        if (method and arguments[0].name != "self" and name not in _NO_SELF) or _scripted(schema):
            continue
        positional = [a.name for a in arguments if not a.kwarg_only]
        keywords = {a.name for a in arguments if a.kwarg_only}
        out = {a.name for a in arguments if a.is_out or (a.alias_info is not None and a.kwarg_only)}
        if out:
            keywords = (keywords - out) | {"out"}
        if {"dtype", "layout", "device", "pin_memory"} <= keywords:
            keywords.add("requires_grad")
        if method:
            if "self" in positional:
                positional.remove("self")
            if out:
                continue
        else:
            positional = ["input" if word == "self" else word for word in positional]
        types = [str(a.type) for a in arguments if not a.kwarg_only and (a.name != "self" or not method)]
        numbers = len(types) == 1 and types[0] in ("List[int]", "List[SymInt]")
        found.append(Signature(tuple(positional), frozenset(keywords), numbers=numbers))
    return found


def _scripted(schema: Any) -> bool:
    """Whether only compiled scripts can call an operator so."""
    return "prim_" in schema.overload_name or schema.name in ("aten::tensor", "aten::as_tensor")


_NO_SELF = frozenset({"where"})


def _described(function: Any, name: str) -> list[Signature]:
    """The signatures with which a docstring begins."""
    text = getattr(function, "__doc__", None) or ""
    pattern = re.compile(_DOCUMENTED.pattern.replace("{name}", re.escape(name)), re.DOTALL)
    found = []
    while match := pattern.match(text):
        text = text[match.end() :]
        found.append(_documented(match.group(1)))
        text = re.sub(r"\A[^\n]*\n", "", text)
    return found


def _documented(text: str) -> Signature:
    positional: list[str] = []
    keywords: list[str] = []
    rest = ""
    found = positional
    text = text.replace("\\", "")
    for part in re.split(r",\s*(?![^()\[\]{}]*[)\]}])", text):
        declared = re.split(r"[=:]", part)[0].strip().rpartition(" ")[2]
        if declared == "*":
            found = keywords
        elif not declared.lstrip("*").isidentifier() or declared.startswith("**"):
            continue  # half of a default, or what takes any keyword
        elif declared.startswith("*"):
            rest, found = declared[1:], keywords
        else:
            found.append(declared)
    return Signature(tuple(positional), frozenset(keywords), rest)


def _spread(found: list[Signature], described: list[Signature]) -> list[Signature]:
    """Only a docstring tells that a list of numbers may be given one by one."""
    if not any(each.rest for each in described):
        return found
    return [
        each._replace(positional=each.positional[:-1], rest=each.positional[-1]) if each.numbers else each
        for each in found
    ]
