"""What a condition says: whether an accelerator is there, and what kind of value a variable holds."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .. import knowledge
from ..bind.names import is_place, last_name
from ..core.evidence import Evidence
from ..core.kinds import TENSORS, Kind
from ..core.paths import Attr
from ..core.places import CPU, UNKNOWN_PLACE, Form, Place, literal
from ..core.state import State
from ..core.values import (
    NONE,
    NUMBER,
    OTHER,
    TORCH_DEVICE,
    Api,
    Const,
    Defined,
    Origin,
    Truth,
    Value,
    Words,
    constant,
    dotted,
    truth_of,
)
from .machine import Machine, subscript_step, text_of

PROCESSES = Truth(True, False, hint="backend:process group")
"""What is known where processes talk to each other: on which devices is for their backend to say."""
_SUGGEST = frozenset(
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
"""The kinds of values whose name is all that tells what their truth means."""
_CONVERSIONS = ("len", "int", "bool", "str")
_OWN_FLAGS = frozenset({Kind.INSTANCE, Kind.MODULE, Kind.DEVICE, Kind.CLASS})
"""What has an `is_cuda` of its own making, if any."""
_DEFAULT_GPU = (literal(knowledge.CUDA), Place(Form.EITHER, knowledge.CUDA))
"""Where `.cuda()` brings a tensor, on every path or on some: it is on no other GPU then."""
_LOOK_UPS = ("get", "getenv")


def hint(node: ast.expr) -> Truth | None:
    """What the name of an opaque flag suggests, as in `if args.cuda:`.

    A name is weak evidence; it only ever silences a finding about code that the flag already makes optional.
    """
    if isinstance(node, ast.Call):
        name = last_name(node)
        if isinstance(node.func, ast.Name):
            if name == "isinstance" and len(node.args) == 2:
                if ast.unparse(node.args[1]).startswith(knowledge.CUDA_MODULE):
                    return Truth(True, False)  # `isinstance(x, torch.cuda.FloatTensor)`
                # `if isinstance(device, int):`, where a number is the ordinal of an accelerator.
                ordinal = last_name(node.args[1]) == "int" and _names_device(node.args[0])
                return Truth(True, False, hint="option:isinstance int") if ordinal else None
            if name in _CONVERSIONS and node.args:
                return hint(node.args[0])
        elif name in _LOOK_UPS and node.args:
            return hint(node.args[0])
        return hint(node.func)
    if isinstance(node, ast.Subscript):
        return hint(node.slice) or hint(node.value)
    name = last_name(node)
    if not name and isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value
    if not name:
        return None
    said = knowledge.hints("option", name)
    if "no-accelerator" in said:
        return Truth(False, True, hint=f"option:{name}")
    if "accelerator" in said:
        return Truth(True, False, hint=f"option:{name}")
    if "processes" in said:
        return PROCESSES
    return None


def kept_flag(node: ast.expr, value: Value) -> Value:
    """What a variable is bound to, with what the flag is called that it was read from: `args.use_gpu`."""
    if value.kind is not Kind.UNKNOWN or value.known is not None:
        return value
    read: ast.expr | None = node
    if isinstance(node, ast.Subscript):
        read = node.slice
    elif isinstance(node, ast.Call):
        read = node.args[0] if node.args and last_name(node) in _LOOK_UPS else None
    said = hint(read) if isinstance(read, (ast.Name, ast.Attribute, ast.Constant)) else None
    return value if said is None else value._replace(known=said)


def asks_for_main(test: ast.expr) -> bool:
    """`__name__ == "__main__"`."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id in knowledge.MODULE_NAME
    )


def asks(test: ast.expr, value: Value) -> str:
    """Whom a condition asks: the `machine` alone, an `option` of the program, or neither for sure."""
    said = truth_of(value)
    if said is not None and said.machine:
        return "machine"
    compared = isinstance(test, ast.Compare) and isinstance(test.comparators[0], ast.Constant)
    if compared and isinstance(test, ast.Compare) and hint(test.left) is not None:
        return "option"
    return ""


def without_accelerator(value: Value) -> bool | None:
    """How a condition that asks the machine alone comes out where there is no accelerator."""
    said = truth_of(value)
    if said is None or not said.machine or said.if_true is said.if_false:
        return None
    return not said.if_true


def instead(test: Value, body: Value, orelse: Value) -> Origin | None:
    """The literal that names another kind of accelerator where one is missing: `"mps" if … else "cuda"`."""
    absent = without_accelerator(test)
    if absent is None or body.place.name.split(":")[0] == orelse.place.name.split(":")[0]:
        return None
    origin = (body if absent else orelse).origin
    return origin if origin is not None and origin.how == "literal" else None


def device_asked(machine: Machine, test: ast.expr) -> tuple[bool, Place] | None:
    """How a condition that asks whether a device is named comes out if one is, and the place that it names.

    Where none is, or the cpu, all that is made there is on the cpu, and what came from there stays.
    """
    named, outcome = test, True
    while isinstance(named, ast.UnaryOp) and isinstance(named.op, ast.Not):
        named, outcome = named.operand, not outcome
    if isinstance(named, ast.Compare):
        other, op = named.comparators[0], named.ops[0]
        told = len(named.ops) == 1 and isinstance(other, ast.Constant)
        if not told or not isinstance(other, ast.Constant) or other.value not in (None, CPU.name):
            return None
        outcome = outcome is isinstance(op, (ast.IsNot, ast.NotEq))
        named = named.left
    if not is_place(named):
        return None
    device = machine.eval(named)
    if device.kind in (Kind.DEVICE, Kind.STRING):
        return outcome, device.place
    asked = device.kind is Kind.UNKNOWN and device.who is not None
    return (outcome, Place(Form.SAME, "", device.who)) if asked else None


def tensor_asked(machine: Machine, test: ast.expr) -> tuple[bool, Place] | None:
    """How a condition comes out where a tensor is on CUDA, if it asks that, and where callers have it."""
    if isinstance(test, ast.BoolOp):
        return None
    asked, outcome, place = _asked_of(test), True, UNKNOWN_PLACE
    if asked is not None:
        place = machine.where(machine.eval(asked)) if is_place(asked) else place
    elif isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and len(test.ops) == 1:
        left = machine.eval(test.left)
        there = _index_asked(test, left, machine.eval(test.comparators[0]))
        outcome, place = there is True, left.place if there is not None else place
    return (outcome, place) if place.form is Form.AT else None


def _index_asked(test: ast.Compare, left: Value, right: Value) -> bool | None:
    """Whether a condition on the index of a tensor's device holds where that is on CUDA: `index >= 0`."""
    if not _is_index(test.left) and (left.kind is not Kind.NUMBER or left.place.form is Form.UNKNOWN):
        return None
    number = constant(right)
    return _INDICES.get((type(test.ops[0]), number)) if type(number) is int else None


def asks_for_cpu(test: ast.expr) -> bool:
    """Whether a condition compares something with the cpu."""
    other = test.comparators[0] if isinstance(test, ast.Compare) else None
    return isinstance(other, ast.Constant) and other.value == CPU.name


def asks_machine(test: ast.expr) -> bool:
    """Whether a condition that speaks of accelerators asks for more than the name of a device."""
    if isinstance(test, ast.UnaryOp):
        return asks_machine(test.operand)
    if isinstance(test, ast.BoolOp):
        return any(map(asks_machine, test.values))
    return not isinstance(test, ast.Compare) or isinstance(test.left, ast.Call)


def drops_given(choice: ast.IfExp) -> ast.Constant | None:
    """The device that stands for one that is given, where the other outcome drops that: `or` binds first.

    `device or "cuda" if torch.cuda.is_available() else "cpu"` is "cpu" where there is no CUDA.
    """
    body, orelse = choice.body, choice.orelse
    if not isinstance(body, ast.BoolOp) or not isinstance(body.op, ast.Or):
        return None
    given, named = body.values[0], body.values[-1]
    if isinstance(given, ast.Constant) or not isinstance(named, ast.Constant):
        return None
    other = orelse.value if isinstance(orelse, ast.Constant) else None
    return named if isinstance(named.value, str) and isinstance(other, str) else None


def counts_accelerators(iterable: ast.expr, value: Value) -> Truth | None:
    """What it says that a loop runs: over `range(torch.cuda.device_count())`, once for each there is."""
    if value.kind is Kind.CONTAINER and isinstance(value.known, Truth):
        return value.known if value.known.if_true else None
    parts = [iterable]
    if isinstance(iterable, ast.Call) and last_name(iterable) in knowledge.YIELDS_ITS_ARGUMENTS:
        parts = iterable.args  # `zip(xs, gpus)`
    said = (hint(part) for part in parts if isinstance(part, (ast.Name, ast.Attribute)))
    return next((each for each in said if each is not None and each.if_true), None)


def names_accelerator(pattern: ast.pattern) -> bool:
    """Whether a `case` matches the names of accelerators alone."""
    if isinstance(pattern, ast.MatchOr):
        return all(map(names_accelerator, pattern.patterns))
    if not isinstance(pattern, ast.MatchValue) or not isinstance(pattern.value, ast.Constant):
        return False
    name = pattern.value.value
    return isinstance(name, str) and name.split(":")[0] in knowledge.ACCELERATORS


def truth(node: ast.expr, value: Value) -> Truth | None:
    """What the truth of an expression says about the machine."""
    if value.kind is Kind.FLAG:
        return truth_of(value)
    if value.kind is Kind.CONTAINER and isinstance(value.known, Truth):
        return value.known
    if value.kind is Kind.DEVICE and value.place.name == "accelerator":
        return Truth(True, False, machine=True)  # `torch.accelerator.current_accelerator()`, or None
    if value.kind not in _SUGGEST:
        return None
    return hint(node) or (value.known if isinstance(value.known, Truth) else None)


def there(test: ast.expr, asked: Value, body: Value, orelse: Value) -> Truth | None:
    """What it says about the machine that `body if test else orelse`, one of which is None, is there."""
    said = truth(test, asked)
    if (
        said is None
        or said.if_true is said.if_false
        or (body.kind is Kind.NONE) is (orelse.kind is Kind.NONE)
    ):
        return None
    return Truth(said.if_true if orelse.kind is Kind.NONE else said.if_false, False, hint=said.hint)


_INDICES: dict[tuple[type[ast.cmpop], object], bool] = {
    (ast.Eq, -1): False,
    (ast.Lt, 0): False,
    (ast.LtE, -1): False,
    (ast.NotEq, -1): True,
    (ast.GtE, 0): True,
    (ast.Gt, -1): True,
}
"""Whether a device's index, which is -1 for the cpu, is that of an accelerator, where it compares so."""


def comparison(node: ast.Compare, left: Value, right: Value) -> Truth | None:
    """What a comparison of two operands says about the machine."""
    op = node.ops[0]
    if (there := _index_asked(node, left, right)) is not None:
        return Truth(there, not there)
    positive = isinstance(op, (ast.Eq, ast.Is, ast.In))
    if positive or isinstance(op, (ast.NotEq, ast.IsNot, ast.NotIn)):
        found = _equality(node, left, right, positive)
        return found if found is None or positive else found.opposite()
    return _inequality(node, left, right)


def _equality(node: ast.Compare, left: Value, right: Value, positive: bool) -> Truth | None:
    other = node.comparators[0]
    found = _device_comparison(other, right, left) or _device_comparison(node.left, left, right)
    if found is not None:
        return found
    if _is_the_cpu(node.left, left) is not _is_the_cpu(other, right):
        return Truth(False, True)
    if Kind.NONE in (left.kind, right.kind):
        opaque, value = (node.left, left) if right.kind is Kind.NONE else (other, right)
        said = truth(opaque, value)
        return said.opposite() if said else None
    number = constant(right)
    if right.kind is Kind.STRING and isinstance(number, str):
        number = 0 if number.lower() in knowledge.NO_DEVICES else 1  # `args.gpus != "-1"`
    if right.kind in (Kind.NUMBER, Kind.STRING) and isinstance(number, (bool, int)):
        said = truth(node.left, left)
        if said is None:
            return None
        if isinstance(number, bool):
            return said if number else said.opposite()
        if number <= 0:
            return said.opposite()
        return said._replace(if_false=False) if positive else None
    return None


def _inequality(node: ast.Compare, left: Value, right: Value) -> Truth | None:
    op = node.ops[0]
    said = truth(node.left, left)
    number = constant(right)
    if said is None and _names_device(node.left) and isinstance(number, (int, float)) and number <= 0:
        said = Truth(True, False, hint="option:device index")  # a negative index means the cpu
    if said is not None and right.kind is Kind.NUMBER:
        if isinstance(op, (ast.Gt, ast.GtE)):
            return said._replace(if_false=False)
        return Truth(False, said.if_true, hint=said.hint)
    said = truth(node.comparators[0], right)
    if said is not None and left.kind is Kind.NUMBER and isinstance(op, (ast.Lt, ast.LtE)):
        return said._replace(if_false=False)
    return None


def _is_index(node: ast.expr) -> bool:
    """Whether an expression gives the index of a tensor's device: `x.get_device()`."""
    return isinstance(node, ast.Call) and last_name(node) == knowledge.ASKS_INDEX and not node.args


def _names_device(node: ast.expr) -> bool:
    return "device" in knowledge.hints("option", last_name(node))


def _device_comparison(node: ast.expr, one: Value, other: Value) -> Truth | None:
    """`device.type == "cuda"`, `"cuda" in str(device)`, `device in ("cuda", "mps")`."""
    if isinstance(node, (ast.Name, ast.Attribute)) and (
        one.kind is not Kind.LIBRARY or other.kind is Kind.NONE
    ):
        return None  # a variable is what is asked about
    names: list[Value] = list(one.items) if one.kind is Kind.CONTAINER and one.items else [one]
    forms = {_denoted(name) for name in names}
    if forms == {Form.LITERAL}:
        unasked = other.known.values if isinstance(other.known, Words) else ()
        return Truth(True, False) if constant(names[0]) not in unasked else None
    if forms == {Form.CPU} and not (other.kind is Kind.STRING and text_of(other) and not _is_default(other)):
        return Truth(False, True)
    return None


def _is_default(value: Value) -> bool:
    """Whether a text is only what a parameter is where the caller says nothing."""
    return value.origin is not None and value.origin.how == "default"


def _is_the_cpu(node: ast.expr, value: Value) -> bool:
    """Whether a name stands for `torch.device("cpu")` itself, and for no other device: `CPU`."""
    return isinstance(node, ast.Name) and value.known == TORCH_DEVICE and value.place.form is Form.CPU


def _denoted(value: Value) -> Form | None:
    # "cuda:0", but also "CUDAExecutionProvider", and NCCL, which runs between CUDA devices alone.
    text = dotted(value).rpartition(".")[2] if value.kind is Kind.LIBRARY else text_of(value)
    if text and "accelerator" in knowledge.hints("string", text):
        return Form.LITERAL
    if value.kind in (Kind.STRING, Kind.DEVICE) and value.place.form in (Form.LITERAL, Form.CPU):
        return value.place.form
    return None


def assume(machine: Machine, test: ast.expr, value: Value, outcome: bool) -> None:
    """Make the state reflect that a condition came out true, or false."""
    said = truth(test, value)
    if said is not None and said.if_true is not said.if_false:
        if said.if_true is outcome:
            machine.require(said.hint)
        elif said.hint != PROCESSES.hint:  # one process alone may have an accelerator all the same
            machine.state.without = True
            if not _in_part(test, outcome):
                machine.state.why = machine.state.why._replace(absent=True)
    elif said is not None and said.if_true:
        machine.require(said.hint)
    elif not outcome and _is_asked_first(test):
        machine.state.without = True
        machine.state.why = machine.state.why._replace(absent=True)
    if outcome and said is not None and said.if_true and (asked := _asked_of(test)) is not None:
        named = machine.eval(asked) if is_place(asked) else None
        own = named is not None and (named.kind in _OWN_FLAGS or machine.seen(named) & Evidence.MODULE)
        if not own and (named is None or named.place._replace(when=frozenset()) not in _DEFAULT_GPU):
            machine.state.why = machine.state.why._replace(tensor=ast.unparse(asked))
    narrow(machine, test, outcome)


def take(machine: Machine, test: ast.expr, value: Value, outcome: bool) -> None:
    """Go on where a condition comes out so, if it can; that it always does says nothing of the machine."""
    if _impossible(machine, test, value, outcome):
        machine.state.alive = False
    elif not _impossible(machine, test, value, not outcome):
        assume(machine, test, value, outcome)


def _impossible(machine: Machine, test: ast.expr, value: Value, outcome: bool) -> bool:
    """Whether a condition cannot come out so: `x.is_cuda`, where `x` is on the cpu."""
    if value.kind is not Kind.FLAG:
        return False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, outcome = test.operand, not outcome
    asked = _asked_of(test) if outcome else None
    if not isinstance(asked, ast.Name):
        return False
    tensor = machine.eval(asked)
    return tensor.kind in TENSORS and tensor.place.form is Form.CPU and tensor.place.of is None


def _asked_of(test: ast.expr) -> ast.expr | None:
    """What a condition that is true says to be on CUDA: `x.is_cuda`, `x.device.type == "cuda"`."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for part in parts:
        if isinstance(part, ast.Attribute) and part.attr in knowledge.ASKS_CUDA:
            return part.value
        if not isinstance(part, ast.Compare) or not isinstance(part.ops[0], ast.Eq) or len(part.ops) > 1:
            continue
        kind, named = part.left, part.comparators[0]
        device = (
            kind.value if isinstance(kind, ast.Attribute) and kind.attr in knowledge.DEVICE_TYPE else None
        )
        if isinstance(device, ast.Attribute) and device.attr == "device" and isinstance(named, ast.Constant):
            return device.value if named.value == knowledge.CUDA else None
    return None


def _is_asked_first(test: ast.expr) -> bool:
    """Whether a condition is true where a tensor is on CUDA, whatever else it asks: `x.is_cuda or fast`."""
    if not isinstance(test, ast.BoolOp) or isinstance(test.op, ast.And):
        return False
    return any(_asked_of(part) is not None for part in test.values)


def _in_part(test: ast.expr, outcome: bool) -> bool:
    """Whether a condition may have come out so by another of its parts: `use_cuda and fast` is false.

    That a tensor is one is no other part: `hasattr(x, "is_cuda") and x.is_cuda`.
    """
    if not isinstance(test, ast.BoolOp) or isinstance(test.op, ast.Or) is not outcome:
        return False
    asked = _asked_of(test)
    if asked is None:
        return True
    tensor = ast.unparse(asked)
    return sum(_asks_kind_of(part) != tensor for part in test.values) > 1


def _asks_kind_of(test: ast.expr) -> str:
    """Of what a condition asks whether it is a tensor, or has what tensors have."""
    asks = isinstance(test, ast.Call) and test.args and last_name(test) in knowledge.ASKS_KIND
    return ast.unparse(test.args[0]) if isinstance(test, ast.Call) and asks else ""


def only_asks_kind(part: ast.expr, whole: ast.BoolOp) -> bool:
    """Whether a part of a conjunction only lets another be asked: `isinstance(d, str) and d == "cpu"`."""
    asked = _asks_kind_of(part) if isinstance(whole.op, ast.And) else ""
    others = (each for each in whole.values if asked and each is not part)
    return any(
        ast.unparse(node) == asked
        for each in others
        for node in ast.walk(each)
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def prepare(machine: Machine, test: ast.expr) -> None:
    """Bind what `narrow` may narrow before its branches part: what one learns ends at their join."""
    test = _question(machine, test)
    if isinstance(test, ast.UnaryOp):
        prepare(machine, test.operand)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            prepare(machine, part)
    elif isinstance(test, ast.Compare):
        subject = test.left
        if isinstance(subject, ast.Call) and subject.args:
            subject = subject.args[0]
        _replace(machine, _whose_device(subject) or subject, lambda value: value)
    elif isinstance(test, ast.Call) and test.args:
        _replace(machine, test.args[0], lambda value: value)


def narrow(machine: Machine, test: ast.expr, outcome: bool) -> None:
    """What the condition says about the kinds of variables."""
    if isinstance(test, ast.Name) and test.id in machine.here.former_questions:
        _recall(machine, machine.here.former_questions[test.id], outcome)
    counted = counted_in(test, outcome)
    if counted is not None and is_place(counted):
        _replace(machine, counted, lambda value: _with_elements(machine, value))
    test = _question(machine, test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(machine, test.operand, not outcome)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is outcome:
            for part in test.values:
                narrow(machine, part, outcome)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        _narrow_comparison(machine, test, outcome)
    elif isinstance(test, ast.Call):
        _narrow_call(machine, test, outcome)


def _narrow_comparison(machine: Machine, test: ast.Compare, outcome: bool) -> None:
    other = test.comparators[0]
    same = isinstance(test.ops[0], (ast.Is, ast.Eq))
    if isinstance(other, ast.Constant) and other.value is None:
        if same is outcome and isinstance(test.left, ast.Name):
            machine.state.env[test.left.id] = NONE
    elif isinstance(test.left, ast.Call):
        named = isinstance(test.left.func, ast.Name) and test.left.func.id == knowledge.ASKS_TYPE
        if named and test.left.args:
            if same is outcome:
                _narrow_to(machine, test.left.args[0], other)
            elif kind_of_class(machine, machine.eval(other)) is Kind.TENSOR:
                _exclude(machine, test.left.args[0])
                _detach_beside(machine, test.left)
    elif (tensor := _whose_device(test.left)) is not None:
        equal = isinstance(test.ops[0], ast.Eq) and outcome
        equal |= isinstance(test.ops[0], ast.NotEq) and not outcome
        typed = isinstance(test.left, ast.Attribute) and test.left.attr in knowledge.DEVICE_TYPE
        if equal and not (typed and machine.eval(other).place.form is not Form.CPU):
            # `if x.device == y.device:` says where x is, and nothing of how it came there.
            there = UNKNOWN_PLACE if typed else machine.denoted(machine.eval(other), UNKNOWN_PLACE)
            _replace(machine, tensor, lambda value: value._replace(place=there))


def _question(machine: Machine, test: ast.expr) -> ast.expr:
    """What a variable keeps the answer to, as long as that stays true; else the condition itself."""
    return machine.here.kept_questions.get(test.id, test) if isinstance(test, ast.Name) else test


def counted_in(test: ast.expr, outcome: bool) -> ast.expr | None:
    """What has elements if a condition comes out so: `len(x) > 0`, `x.size(0)`, `x.numel() == 0` if not."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, outcome = test.operand, not outcome
    if isinstance(test, ast.Compare):
        other = test.comparators[0]
        limit = other.value if isinstance(other, ast.Constant) else None
        more = isinstance(test.ops[0], (ast.Gt, ast.NotEq)) and limit == 0
        more |= isinstance(test.ops[0], ast.GtE) and limit == 1
        none = isinstance(test.ops[0], (ast.Eq, ast.LtE)) and limit == 0
        none |= isinstance(test.ops[0], ast.Lt) and limit == 1
        if type(limit) is not int or not (more if outcome else none):
            return None
        test = test.left
    elif not outcome:
        return None
    if isinstance(test, ast.Subscript):  # `x.shape[0]`, `x.size()[0]`
        test = test.value
        if isinstance(test, ast.Attribute) and test.attr in knowledge.TELLS_ELEMENTS:
            return test.value
    if not isinstance(test, ast.Call) or last_name(test) not in knowledge.TELLS_ELEMENTS:
        return None
    if isinstance(test.func, ast.Attribute):
        return test.func.value
    return test.args[0] if test.args else None


def _with_elements(machine: Machine, value: Value) -> Value:
    """What is left of a value that was empty at first, and has elements now: what was put in its place."""
    made = machine.making(value) if value.kind in TENSORS else None
    if made is None or value.origin is None or not is_without_elements(made, value.origin.api):
        return value
    return value._replace(place=UNKNOWN_PLACE, origin=None)


def is_without_elements(made: ast.Call, api: str = "") -> bool:
    """Whether a call makes a tensor of no elements: `torch.empty(0)`, `torch.tensor([])`."""
    if not made.args:
        return False
    sizes = made.args[0].elts if isinstance(made.args[0], (ast.List, ast.Tuple)) else made.args
    if not sizes:
        return True
    return knowledge.takes_sizes(api or f"{knowledge.OF_TORCH}{last_name(made)}") and any(
        isinstance(size, ast.Constant) and size.value == 0 for size in sizes
    )


def _recall(machine: Machine, question: ast.expr, outcome: bool) -> None:
    """What was made of an array, and has the variable's name since, is not where the caller's tensor is."""
    called = question.left if isinstance(question, ast.Compare) else question
    assert isinstance(called, ast.Call)
    classes = question.comparators[0] if isinstance(question, ast.Compare) else called.args[-1]
    by_name = classes is called.args[0]  # `torch.is_tensor(x)`
    kind = Kind.TENSOR if by_name else kind_of_class(machine, machine.eval(classes))
    if (kind is Kind.ARRAY and outcome) or (kind is Kind.TENSOR and not outcome):
        _replace(machine, called.args[0], lambda value: Value(value.kind) if value.kind in TENSORS else value)


def _whose_device(node: ast.expr) -> ast.expr | None:
    """What a condition asks where it is: `x.device`, `x.device.type`."""
    if isinstance(node, ast.Attribute) and node.attr in knowledge.DEVICE_TYPE:
        node = node.value
    return node.value if isinstance(node, ast.Attribute) and node.attr == "device" else None


def _narrow_call(machine: Machine, test: ast.Call, outcome: bool) -> None:
    name = last_name(test)
    if not test.args:
        return
    if name == "isinstance" and len(test.args) == 2:
        kind = kind_of_class(machine, machine.eval(test.args[1]))
        if outcome:
            _narrow_to(machine, test.args[0], test.args[1])
        elif kind is Kind.TENSOR:
            _exclude(machine, test.args[0])
            _detach_beside(machine, test)
        else:
            _detach(machine, test.args[0], test)
        if outcome and kind is Kind.ARRAY:
            _detach_beside(machine, test)
    elif name == "is_tensor":
        if outcome:
            _replace(machine, test.args[0], lambda value: _as_kind(machine, value, Kind.TENSOR, test))
        else:
            _exclude(machine, test.args[0])
            _detach_beside(machine, test)
    elif name == "hasattr":
        _detach(machine, test.args[0], test)


def _narrow_to(machine: Machine, subject: ast.expr, classes: ast.expr) -> None:
    cls = machine.eval(classes)
    kind, wrapper = kind_of_class(machine, cls), dotted(cls)
    if kind is None:
        _detach(machine, subject, classes)
        return

    def narrowed(value: Value) -> Value:
        if value.kind is not kind:
            value = _as_kind(machine, value, kind, classes)
        return value._replace(known=Api(wrapper)) if "scatters" in knowledge.topics(wrapper) else value

    _replace(machine, subject, narrowed)


def kind_of_class(machine: Machine, value: Value) -> Kind | None:
    """The kind of the instances of a class, or of all the classes in a tuple."""
    if value.kind is Kind.CONTAINER and value.items:
        kinds = {kind_of_class(machine, item) for item in value.items}
        return kinds.pop() if len(kinds) == 1 else None
    if value.kind is Kind.CLASS and isinstance(value.known, Defined):
        view = machine.program.view(value.known.dotted)
        return Kind.MODULE if view is not None and view.is_module else None
    return knowledge.kind_of_class(dotted(value)) if value.kind is Kind.LIBRARY else None


def _as_kind(machine: Machine, value: Value, kind: Kind, node: ast.AST) -> Value:
    place = value.place
    if kind not in TENSORS and kind is not Kind.BATCH:
        place = CPU if kind is Kind.ARRAY else UNKNOWN_PLACE
    return Value(kind, place, _apart(machine, value, node))


def _apart(machine: Machine, value: Value, node: ast.AST) -> int | None:
    """The same object under an assumption: what is learned under it does not flow back."""
    ref = machine.ref(value)
    if ref is None:
        return None
    return machine.objects.apart(ref, machine.here.name, machine.here.number(node))


def _exclude(machine: Machine, subject: ast.expr) -> None:
    """What is no tensor may still hold some, but nothing moves it as one."""
    opaque = TENSORS | {Kind.UNKNOWN}
    _replace(machine, subject, lambda value: OTHER if value.kind in opaque else value)


def convert_alike(test: ast.expr, one: State, other: State) -> None:
    """Where one is asked for its kind, what becomes an array with it on one path is none on the other."""
    if isinstance(test, ast.UnaryOp):
        test = test.operand
    if not _asks_kind_of(test):
        return
    for here, there in ((one, other), (other, one)):
        for name, value in here.env.items():
            before = there.env.get(name)
            if value.kind is Kind.ARRAY and before is not None and before.kind in (Kind.UNKNOWN, *TENSORS):
                there.env[name] = OTHER


def _detach(machine: Machine, subject: ast.expr, node: ast.AST) -> None:
    def apart(value: Value) -> Value:
        if value.kind is not Kind.UNKNOWN:
            return value
        return value._replace(who=_apart(machine, value, node))

    _replace(machine, subject, apart)


def _detach_beside(machine: Machine, test: ast.Call) -> None:
    """Where one parameter is an array, so may the others be: callers who give tensors do not come here."""
    here, objects, asked = machine.here, machine.objects, test.args[0]
    is_parameter = isinstance(asked, ast.Name) and asked.id in here.positional
    for name in here.positional if is_parameter else ():
        given, ref = machine.state.env.get(name), objects.parameter(here.name, name)
        loose = (Kind.UNKNOWN,) if name in here.annotated else (Kind.UNKNOWN, *TENSORS)
        if given is not None and given.who == ref and given.kind in loose:
            apart = objects.apart(ref, here.name, here.number(test), beside=True)
            machine.state.env[name] = Value(Kind.UNKNOWN, who=apart)


def _replace(machine: Machine, subject: ast.expr, change: Callable[[Value], Value]) -> None:
    """Bind a variable, attribute or item anew without it counting as an assignment."""
    if isinstance(subject, ast.Name):
        machine.state.env[subject.id] = change(machine.eval(subject))
    elif not is_place(subject):
        return  # what a call returns is nobody's, and evaluating it again would be seen as a second call
    elif isinstance(subject, (ast.Attribute, ast.Subscript)):
        base = machine.ref(machine.eval(subject.value))
        if base is not None:
            step = Attr(subject.attr) if isinstance(subject, ast.Attribute) else subscript_step(subject.slice)
            machine.state.env[base, step] = change(machine.eval(subject))


def false_constant(value: Value) -> bool:
    """Whether a value is the constant False."""
    return value.kind is NUMBER.kind and value.known == Const(False)
