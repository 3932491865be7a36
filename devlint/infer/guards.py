"""What a condition says: whether an accelerator is there, and what kind of value a variable holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..knowledge import api
from .scope import subscript_key
from .values import CPU, NONE, OTHER, TENSORS, UNKNOWN_DEVICE, Cell, Form, Kind, Truth, Value

if TYPE_CHECKING:
    from .evaluate import Evaluator

_WANTS = re.compile(
    r"cuda|gpu|nvidia|nccl|tensorrt|rocm|habana|hccl|(?:^|_)(?:hpu|npu|xpu|tpu|mps|xla|mtia|musa)s?(?:$|_)"
)
_DEMANDS = re.compile(r"need|requir|must|only|without|not available|unavailable|^no ", re.IGNORECASE)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_REFUSES = re.compile(r"(^|_)(no|not|without|disable|missing|non)_?(cuda|gpu)|(^|_)cpu|cpu_?only")


_OPAQUE = frozenset(
    {
        Kind.UNKNOWN,
        Kind.NUMBER,
        Kind.BATCH,
        Kind.INSTANCE,
        Kind.FUNCTION,
        Kind.CONTAINER,
        Kind.LIBRARY,
        Kind.OTHER,
    }
)


def hint(node: ast.expr) -> Truth | None:
    """What the name of an opaque flag suggests, as in `if args.cuda:`.

    A name is weak evidence; it only ever silences a finding about code that the flag already makes optional.
    """
    if isinstance(node, ast.Call):
        if getattr(node.func, "id", "") == "isinstance" and len(node.args) == 2:
            # `if isinstance(device, int):`, where a number is the ordinal of an accelerator.
            ordinal = getattr(node.args[1], "id", "") == "int" and _names_device(node.args[0])
            return Truth(True, False) if ordinal else None
        if getattr(node.func, "id", "") in ("len", "int", "bool", "str") and node.args:
            return hint(node.args[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "getenv") and node.args:
            return hint(node.args[0])
        return hint(node.func)
    if isinstance(node, ast.Subscript):
        return hint(node.slice) or hint(node.value)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    if name is None and isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value
    if not name:
        return None
    name = _WORDS.sub("_", name).lower()
    if _REFUSES.search(name):
        return Truth(False, True)
    if _WANTS.search(name):
        return Truth(True, False)
    return None


def mentions_accelerator(name: str) -> bool:
    """Whether a name speaks of an accelerator, word by word: `requires_cuda`, `XLAHook`, but not `input`."""
    return any(_WANTS.search(_WORDS.sub("_", part).lower()) for part in name.split("."))


def demands_accelerator(reason: str) -> bool:
    """Whether the reason for skipping a test is that an accelerator is missing, as in `needs a GPU`."""
    return bool(_DEMANDS.search(reason)) and mentions_accelerator(reason.replace(" ", "."))


def asks(test: ast.expr, value: Value) -> str:
    """Whom a condition asks: the `machine` alone, an `option` of the program, or neither for sure."""
    if value.kind is Kind.FLAG and value.data.machine:
        return "machine"
    if (
        isinstance(test, ast.Compare)
        and hint(test.left) is not None
        and isinstance(test.comparators[0], ast.Constant)
    ):
        return "option"
    return ""


def counts_accelerators(ev: Evaluator, iterable: ast.expr) -> bool:
    """`range(torch.cuda.device_count())`: the body runs once for each device there is."""
    if not isinstance(iterable, ast.Call) or getattr(iterable.func, "id", "") != "range" or not iterable.args:
        return False
    said = truth(iterable.args[-1], ev.eval(iterable.args[-1]))
    return said is not None and said.if_true


def names_accelerator(pattern: ast.pattern) -> bool:
    """Whether a `case` matches the names of accelerators alone."""
    if isinstance(pattern, ast.MatchOr):
        return all(map(names_accelerator, pattern.patterns))
    if not isinstance(pattern, ast.MatchValue) or not isinstance(pattern.value, ast.Constant):
        return False
    name = pattern.value.value
    return isinstance(name, str) and name.split(":")[0] in api.ACCELERATOR_TYPES


def truth(node: ast.expr, value: Value) -> Truth | None:
    """What the truth of an expression says about the machine."""
    if value.kind is Kind.FLAG:
        data: Truth = value.data
        return data
    if value.kind is Kind.DEVICE and value.device.name == "accelerator":
        return Truth(True, False, machine=True)  # `torch.accelerator.current_accelerator()`, or None
    return hint(node) if value.kind in _OPAQUE else None


def comparison(node: ast.Compare, left: Value, right: Value) -> Truth | None:
    """What a comparison of two operands says about the machine."""
    op = node.ops[0]
    positive = isinstance(op, (ast.Eq, ast.Is, ast.In))
    if positive or isinstance(op, (ast.NotEq, ast.IsNot, ast.NotIn)):
        found = _device_comparison(node.comparators[0], right, left) or _device_comparison(
            node.left, left, right
        )
        if found is None and (right.kind is Kind.NONE or left.kind is Kind.NONE):
            opaque = node.left if right.kind is Kind.NONE else node.comparators[0]
            opaque_value = left if right.kind is Kind.NONE else right
            said = truth(opaque, opaque_value)
            found = Truth(said.if_false, said.if_true) if said else None
        if found is None and right.kind is Kind.NUMBER and isinstance(right.data, (bool, int)):
            said = truth(node.left, left)
            if said is not None and isinstance(right.data, bool):
                found = said if right.data else Truth(said.if_false, said.if_true)
            elif said is not None and right.data <= 0:
                found = Truth(said.if_false, said.if_true)
            elif said is not None and positive:
                found = Truth(said.if_true, False)
        if found is None:
            return None
        return found if positive else Truth(found.if_false, found.if_true)
    said = truth(node.left, left)
    if said is None and _names_device(node.left) and isinstance(right.data, int) and right.data <= 0:
        said = Truth(True, False)  # `if device >= 0:`, where a negative index means the cpu
    if said is not None and right.kind is Kind.NUMBER:
        if isinstance(op, (ast.Gt, ast.GtE)):
            return Truth(said.if_true, False)
        return Truth(False, said.if_true)
    said = truth(node.comparators[0], right)
    if said is not None and left.kind is Kind.NUMBER and isinstance(op, (ast.Lt, ast.LtE)):
        return Truth(said.if_true, False)
    return None


def _names_device(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "device" in name.lower()


def _device_comparison(node: ast.expr, one: Value, other: Value) -> Truth | None:
    """`device.type == "cuda"`, `"cuda" in str(device)`, `device in ("cuda", "mps")`."""
    if isinstance(node, (ast.Name, ast.Attribute)) and (
        one.kind is not Kind.LIBRARY or other.kind is Kind.NONE
    ):
        return None  # a variable is what is asked about
    names: list[Value] = list(one.items) if one.kind is Kind.CONTAINER and one.items else [one]
    forms = {_denoted(name) for name in names}
    if forms == {Form.ACCELERATOR}:
        return Truth(True, False)
    if forms == {Form.CPU} and not (other.kind is Kind.STRING and other.data):
        return Truth(False, True)
    return None


def _denoted(value: Value) -> Form | None:
    literal = value.data if value.kind is Kind.STRING and isinstance(value.data, str) else ""
    if value.kind is Kind.LIBRARY:
        literal = value.data.rpartition(".")[2]  # `torch.distributed.Backend.NCCL`
    # "cuda:0", but also "CUDAExecutionProvider", and NCCL, which runs between CUDA devices alone.
    if mentions_accelerator(literal):
        return Form.ACCELERATOR
    if value.kind in (Kind.STRING, Kind.DEVICE) and value.device.form in (Form.ACCELERATOR, Form.CPU):
        return value.device.form
    return None


def assume(ev: Evaluator, test: ast.expr, value: Value, outcome: bool) -> None:
    """Make the state of `ev` reflect that a condition came out true, or false."""
    said = truth(test, value)
    if said is not None and (said.if_true if outcome else said.if_false):
        ev.state.accelerated = True
    narrow(ev, test, outcome)


def prepare(ev: Evaluator, test: ast.expr) -> None:
    """Bind what `narrow` may narrow before its branches part: what one learns ends at their join."""
    if isinstance(test, ast.UnaryOp):
        prepare(ev, test.operand)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            prepare(ev, part)
    elif isinstance(test, ast.Compare):
        subject = test.left
        if isinstance(subject, ast.Call) and subject.args:
            subject = subject.args[0]
        elif isinstance(subject, ast.Attribute) and subject.attr == "device":
            subject = subject.value
        _replace(ev, subject, lambda value: value)
    elif isinstance(test, ast.Call) and test.args:
        _replace(ev, test.args[0], lambda value: value)


def narrow(ev: Evaluator, test: ast.expr, outcome: bool) -> None:
    """What the condition says about the kinds of variables."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(ev, test.operand, not outcome)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is outcome:
            for part in test.values:
                narrow(ev, part, outcome)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        _narrow_comparison(ev, test, outcome)
    elif isinstance(test, ast.Call):
        _narrow_call(ev, test, outcome)


def _narrow_comparison(ev: Evaluator, test: ast.Compare, outcome: bool) -> None:
    other = test.comparators[0]
    if isinstance(other, ast.Constant) and other.value is None:
        if isinstance(test.ops[0], (ast.Is, ast.Eq)) is outcome and isinstance(test.left, ast.Name):
            ev.state.env[test.left.id] = NONE
        return
    if isinstance(test.ops[0], (ast.Is, ast.Eq)) and outcome and isinstance(test.left, ast.Call):
        if getattr(test.left.func, "id", "") == "type" and test.left.args:
            _narrow_to(ev, test.left.args[0], other)
        return
    same_place = isinstance(test.left, ast.Attribute) and test.left.attr == "device"
    if same_place and outcome and isinstance(test.ops[0], ast.Eq):
        # `if x.device == y.device:` leaves nothing to say about where x is.
        assert isinstance(test.left, ast.Attribute)
        _replace(ev, test.left.value, lambda v: v._replace(device=UNKNOWN_DEVICE))


def _narrow_call(ev: Evaluator, test: ast.Call, outcome: bool) -> None:
    name = test.func.attr if isinstance(test.func, ast.Attribute) else getattr(test.func, "id", "")
    if name == "isinstance" and len(test.args) == 2:
        if outcome:
            _narrow_to(ev, test.args[0], test.args[1])
        elif class_kind(ev.eval(test.args[1])) is Kind.TENSOR:
            _exclude(ev, test.args[0])
        else:
            _detach(ev, test.args[0], test)
    elif name in ("is_tensor", "hasattr") and test.args:
        if name == "is_tensor" and outcome:
            _replace(ev, test.args[0], lambda v: _as_kind(v, Kind.TENSOR, test))
        elif name == "is_tensor":
            _exclude(ev, test.args[0])
        else:
            _detach(ev, test.args[0], test)


def _narrow_to(ev: Evaluator, subject: ast.expr, classes: ast.expr) -> None:
    kind = class_kind(ev.eval(classes))
    if kind is None:
        _detach(ev, subject, classes)
    else:
        _replace(ev, subject, lambda v: v if v.kind is kind else _as_kind(v, kind, classes))


def class_kind(value: Value) -> Kind | None:
    """The kind of the instances of a class, or of all the classes in a tuple."""
    if value.kind is Kind.CONTAINER and value.items:
        kinds = {class_kind(item) for item in value.items}
        return kinds.pop() if len(kinds) == 1 else None
    if value.kind is Kind.CLASS:
        return Kind.MODULE if value.data.is_module else None
    if value.kind is not Kind.LIBRARY or not isinstance(value.data, str):
        return None
    name = value.data.rsplit(".", 1)[-1]
    if value.data in ("torch.Tensor", "torch.nn.Parameter") or (
        value.data.startswith("torch.") and name in api.LEGACY_TYPES
    ):
        return Kind.PARAMETER if name == "Parameter" else Kind.TENSOR
    if value.data.startswith("torch.nn.") and name[:1].isupper() and name not in api.NOT_MODULES:
        return Kind.MODULE
    if value.data == "torch.nn.Module" or value.data.startswith("torch.nn.modules."):
        return Kind.MODULE
    if value.data in ("numpy.ndarray", "numpy.array"):
        return Kind.ARRAY
    if value.data in ("int", "float", "bool"):
        return Kind.NUMBER
    return {"str": Kind.STRING, "torch.device": Kind.DEVICE, "torch.dtype": Kind.DTYPE}.get(value.data)


def _as_kind(value: Value, kind: Kind, node: ast.AST) -> Value:
    cell = _apart(value.cell, node)
    device = value.device
    if kind not in TENSORS and kind is not Kind.BATCH:
        device = CPU if kind is Kind.ARRAY else UNKNOWN_DEVICE
    return Value(kind, device, cell)


def _apart(cell: Cell | None, node: ast.AST) -> Cell | None:
    """A cell for the same object under an assumption: what is learned under it does not flow back."""
    if cell is None:
        return None
    narrowed = cell.child(("is", node), cell.label, "")
    narrowed.batch = cell.batch or (cell if cell.via == "element" else None)
    return narrowed


def _exclude(ev: Evaluator, subject: ast.expr) -> None:
    """What is no tensor may still hold some, but nothing moves it as one."""
    opaque = (Kind.UNKNOWN, Kind.TENSOR, Kind.PARAMETER, Kind.SCALAR)
    _replace(ev, subject, lambda value: OTHER if value.kind in opaque else value)


def _detach(ev: Evaluator, subject: ast.expr, node: ast.AST) -> None:
    def apart(value: Value) -> Value:
        if value.kind is not Kind.UNKNOWN or value.cell is None:
            return value
        device = value.device
        return value._replace(cell=_apart(value.cell, node), device=device)

    _replace(ev, subject, apart)


def _is_place(node: ast.expr) -> bool:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name)


def _replace(ev: Evaluator, subject: ast.expr, change: Callable[[Value], Value]) -> None:
    """Bind a variable, attribute or item anew without it counting as an assignment."""
    if isinstance(subject, ast.Name):
        value = ev.eval(subject)
        ev.state.env[subject.id] = change(value)
    elif not _is_place(subject):
        return  # what a call returns is nobody's, and evaluating it again would be seen as a second call
    elif isinstance(subject, ast.Attribute):
        base = ev.eval(subject.value)
        if base.cell is not None:
            ev.state.env[(base.cell, subject.attr)] = change(ev.eval(subject))
    elif isinstance(subject, ast.Subscript):
        base = ev.eval(subject.value)
        if base.cell is not None:
            ev.state.env[(base.cell, subscript_key(subject.slice))] = change(ev.eval(subject))
