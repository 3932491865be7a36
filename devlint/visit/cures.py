"""Changes of the concrete syntax that cure a finding, and those that several rules offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.events import Call, Meeting, Seen
from ..core.kinds import TENSORS, Kind
from ..span import Span
from . import cst

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import libcst


class Change(NamedTuple):
    """A cure: nodes of the visited tree and what replaces each; `None` deletes.

    A replacement is rendered to text in place of the old node, so it may be of any node class that
    makes sense there: an `Assign` may replace the `Call` of an expression statement.
    """

    message: str
    replacements: tuple[tuple[cst.CSTNode, cst.CSTNode | None], ...]
    safe: bool
    elsewhere: tuple[tuple[Span, str], ...] = ()
    """What stands in other places of the file, such as imports, and the text that takes its place."""


class Imported(NamedTuple):
    """A name that one statement at the top of a file imports, and nothing else in the file binds."""

    statement: Span
    module: str
    """Of `from a.b import c`, `a.b`; otherwise empty."""
    others: tuple[str, ...]
    """What else the statement imports, as it is written there."""
    name: str
    """What it is called where it comes from."""
    local: str
    plain: bool
    """Whether nothing is done with it but to call it, with no more than one argument, which has no name."""


def imported_instead(imports: Sequence[Imported], local: str, name: str) -> tuple[Span, str] | None:
    """What imports a function of a library in place of what a variable is: all calls change with it.

    None where the variable is no import, or is not only called.
    """
    found = next((each for each in imports if each.local == local and each.plain and each.module), None)
    if found is None:
        return None
    module, _, last = name.rpartition(".")
    alias = last if last == local else f"{last} as {local}"
    left = [f"from {found.module} import {', '.join(found.others)}"] if found.others else []
    return found.statement, "\n".join([*left, f"from {module} import {alias}"])


def imported_first(imports: Sequence[Imported], package: str) -> tuple[Span, str] | None:
    """What imports a package before the first import of a part of it."""
    within = f"{package}."
    starts = [each.statement for each in imports if f"{each.module or each.name}.".startswith(within)]
    if not starts:
        return None
    first = min(starts)
    return Span(first.line, first.column, first.line, first.column), f"import {package}\n"


def keep_result(call: libcst.Call, safe: bool | None) -> Change | None:
    """`x.to(d)` as a statement becomes `x = x.to(d)`, where `x` can be assigned to and read twice.

    `safe` is what `Ask.kept_safely` says: with None there is no such cure.
    """
    receiver = call.func.value if isinstance(call.func, cst.Attribute) else None
    if safe is None or not isinstance(receiver, (cst.Name, cst.Attribute, cst.Subscript)):
        return None
    if not _assignable(receiver):
        return None
    kept = cst.Assign(targets=[cst.AssignTarget(target=receiver)], value=call)
    return Change("assign the result", ((call, kept),), safe)


def _assignable(node: libcst.BaseExpression) -> bool:
    """Whether an expression can be assigned to, and evaluated twice with the same meaning."""
    if isinstance(node, cst.Attribute):
        return _assignable(node.value)
    if isinstance(node, cst.Subscript):
        return _assignable(node.value) and len(node.slice) == 1 and _is_plain(node.slice[0])
    return isinstance(node, cst.Name)


def _is_plain(element: libcst.SubscriptElement) -> bool:
    """Whether an index is a name or a constant, perhaps with a sign."""
    index = element.slice.value if isinstance(element.slice, cst.Index) else None
    if isinstance(index, cst.UnaryOperation):
        index = index.expression
    constants = (cst.Name, cst.BaseNumber, cst.BaseString, cst.Ellipsis)
    return isinstance(index, constants) and not isinstance(index, cst.FormattedString)


def move_to(call: libcst.Call, device: str | None) -> Change | None:
    """`x.cuda()` becomes `x.to(device)`; with None, the device is the one that the call is given."""
    if not isinstance(call.func, cst.Attribute):
        return None
    given = [] if device is None else [cst.Arg(cst.parse_expression(device))]
    moved = call.with_changes(func=call.func.with_changes(attr=cst.Name("to")), args=[*given, *call.args])
    return Change("move to the device chosen at run time", ((call, moved),), safe=False)


def move_argument(call: libcst.Call, wraps: Callable[[libcst.Call], bool], safe: bool) -> Change | None:
    """`f(x).to(d)` becomes `f(x.to(d))`, where `wraps` says that `f(x)` holds the very `x`."""
    if not isinstance(call.func, cst.Attribute):
        return None
    inner: libcst.BaseExpression = call.func.value
    while isinstance(inner, cst.Call) and not wraps(inner):
        if not isinstance(inner.func, cst.Attribute):
            return None
        inner = inner.func.value
    if not isinstance(inner, cst.Call) or not inner.args or inner.args[0].star:
        return None
    argument = inner.args[0]
    moved = call.with_changes(func=call.func.with_changes(value=_receiver(argument.value)))
    around = inner.with_changes(args=[argument.with_changes(value=moved), *inner.args[1:]])
    cured = call.func.value.deep_replace(inner, around) if inner is not call.func.value else around
    return Change("move before it is wrapped", ((call, cured),), safe)


def moves_only(call: libcst.Call) -> bool:
    """Whether a call of `.to` or `.cuda` gives a device and nothing that may change the dtype as well."""
    names = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    places = sum(arg.keyword is None for arg in call.args)
    starred = any(arg.star for arg in call.args)
    method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    return method in ("to", "cuda") and places <= 1 and names <= {"device", "non_blocking"} and not starred


def _receiver(value: libcst.BaseExpression) -> libcst.BaseExpression:
    """An expression as the receiver of a call, in parentheses where it needs them."""
    if value.lpar or isinstance(value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def at_device(call: libcst.Call, device: str) -> libcst.Call:
    """`torch.zeros(n)` becomes `torch.zeros(n, device=device)`; what takes no device, `f(n).to(device)`."""
    name = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    where = cst.parse_expression(device)
    if isinstance(name, cst.Name) and (_is_class(name.value) or name.value in _TAKES_NO_DEVICE):
        return cst.Call(func=cst.Attribute(value=call, attr=cst.Name("to")), args=[cst.Arg(where)])
    equal = cst.AssignEqual(
        whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace("")
    )
    given = cst.Arg(where, keyword=cst.Name("device"), equal=equal)
    kept = [arg for arg in call.args if arg.keyword is None or arg.keyword.value != "device"]
    return call.with_changes(args=[*kept, given])


def without_legacy_type(
    call: libcst.Call,
    callee: str,
    dtype: str,
    device: str,
    value_of: Callable[[libcst.BaseExpression], Seen],
) -> libcst.BaseExpression | None:
    """`torch.FloatTensor(data)` becomes `torch.tensor(data, dtype=…, device=…)`, of sizes `torch.empty`.

    And `x.type(…)` becomes `x.to(device, dtype)`. None where data may be sizes, and of other calls.
    """
    given = [arg.value for arg in call.args if arg.keyword is None]
    kinds, sources = {value_of(each).kind for each in given}, [source_of(each) for each in given]
    if callee == "Tensor.type" and isinstance(call.func, cst.Attribute):
        return cst.parse_expression(f"{source_of(call.func.value)}.to({device}, torch.{dtype})")
    end = f"dtype=torch.{dtype}, device={device})"
    if not callee.endswith("Tensor"):
        return None
    if kinds <= {Kind.NUMBER}:
        return cst.parse_expression(f"torch.empty({', '.join(sources) or 0}, {end}")
    if len(given) == 1 and kinds <= {Kind.CONTAINER, Kind.ARRAY}:
        return cst.parse_expression(f"torch.tensor({sources[0]}, {end}")
    return None


def type_as(call: libcst.Call, value_of: Callable[[libcst.BaseExpression], Seen]) -> Change | None:
    """`a.type(b.type())` becomes `a.type_as(b)`, of tensors."""
    named, func = call.args[0].value, call.func
    like = named.func if isinstance(named, cst.Call) else None
    if not (isinstance(like, cst.Attribute) and isinstance(func, cst.Attribute)) or len(call.args) > 1:
        return None
    sides = value_of(func.value), value_of(like.value)
    if not all(each.kind in TENSORS for each in sides):
        return None
    cured = call.with_changes(func=func.with_changes(attr=cst.Name("type_as")), args=[cst.Arg(like.value)])
    return Change("follow the tensor", ((call, cured),), safe=all(each.certain for each in sides))


def _is_class(name: str) -> bool:
    """Whether a call makes a tensor of a class, which takes no device; a stream does."""
    return name[:1].isupper() and name != "Stream"


def available_device(literal: str, operand: bool) -> libcst.BaseExpression:
    """The expression that falls back to the cpu without a CUDA device; in parentheses if an `operand`."""
    quote = literal[-1]  # the literal may stand inside an f-string, which ends at the other quote
    choice = f"{literal} if torch.cuda.is_available() else {quote}cpu{quote}"
    return cst.parse_expression(f"({choice})" if operand else choice)


_TAKES_NO_DEVICE = frozenset({"from_numpy", "frombuffer", "to_tensor", "pil_to_tensor"})


def source_of(node: cst.CSTNode) -> str:
    """The source of a node."""
    return cst.Module([]).code_for_node(node)


def standing(node: cst.CSTNode, event: Call | Meeting) -> tuple[tuple[cst.BaseExpression, Seen], ...]:
    """What stands for what is read: a call's receiver, or its arguments if none is unpacked; or the left side
    of a meeting."""
    if isinstance(event, Meeting):
        return ((node, event.left),) if isinstance(node, cst.BaseExpression) else ()
    if not isinstance(node, cst.Call):
        return ()
    if event.receiver is not None and isinstance(node.func, cst.Attribute):
        return ((node.func.value, event.receiver),)
    arguments = () if event.open else node.args
    return tuple(zip((each.value for each in arguments), event.given.values(), strict=False))


def on_cpu(node: cst.BaseExpression, detached: bool) -> cst.BaseExpression:
    """The copy of a tensor on the cpu; without its gradient, if that is wanted."""
    if not node.lpar and not isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)):
        node = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    node = cst.Call(cst.Attribute(node, cst.Name("detach"))) if detached else node
    return cst.Call(cst.Attribute(node, cst.Name("cpu")))
