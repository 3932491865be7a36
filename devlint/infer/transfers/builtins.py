"""Builtin functions of objects, numbers, strings and imports; marks that skip tests."""

from __future__ import annotations

import ast

from ... import knowledge
from ...core.kinds import TENSORS, Kind
from ...core.paths import Attr
from ...core.places import CPU, Form, Place, literal
from ...core.values import (
    DTYPE,
    MAX_ITEMS,
    NONE,
    NUMBER,
    OTHER,
    STRING,
    UNKNOWN,
    Api,
    Defined,
    Inherited,
    Partial,
    Record,
    Truth,
    Value,
    Words,
    truth_of,
)
from ..conditions import PROCESSES, truth
from ..lent import unsettle
from ..log import RawBind
from ..machine import Machine, Site, flag, text_of

_TORCH = Api(knowledge.OF_TORCH.removesuffix("."))


def another(machine: Machine, node: ast.AST, one: Value) -> Value:
    """Another object of the class of one."""
    return machine.own(node, Kind.INSTANCE, role="made")._replace(known=one.known)


def replaced(machine: Machine, site: Site) -> Value:
    """`dataclasses.replace(x, …)`: another of its class."""
    first = site.args.first()
    if first is None or first.kind is not Kind.INSTANCE:
        return machine.unknown(site.node)
    return another(machine, site.node, first)


def copy(machine: Machine, site: Site) -> Value:
    """`copy.copy`, `copy.deepcopy`: of a module, another one in the same place."""
    first = site.args.first()
    if first is None:
        return machine.unknown(site.node)
    if (
        first.kind is Kind.UNKNOWN
        and site.name == knowledge.COPIES_ALL
        and machine.here.own_name in knowledge.CONSTRUCTS
    ):
        return _copied_unknown(machine, site, first)
    if first.kind is Kind.INSTANCE and machine.here.own_name in knowledge.MOVES:
        return another(machine, site.node, first)
    if first.kind is not Kind.MODULE or first.who is None:
        return first
    own = machine.own(site.node, Kind.MODULE, role="made")
    ref = machine.ref(own)
    assert ref is not None
    machine.state.places[ref] = machine.place_of(first)
    return first._replace(who=ref)


def _copied_unknown(machine: Machine, site: Site, first: Value) -> Value:
    """What an object keeps a copy of: another one, where the first was then, if that is a module."""
    source = machine.ref(first)
    own = machine.unknown(site.node, "made")
    ref = machine.ref(own)
    if source is None or ref is None:
        return first
    place = machine.place_at(source) or machine.where(first)
    machine.state.places[ref] = place
    machine.log.flow(source, ref)
    return own._replace(place=place)


def getattr_(machine: Machine, site: Site) -> Value:
    """`getattr(x, "name", default)`."""
    values = [value for _, value in site.args.positional]
    label = text_of(values[1]) if len(values) > 1 else ""
    if not label and len(values) == 2 and values[0].kind is Kind.LIBRARY:
        label = _by_default(machine, site.node.args[1])  # `getattr(torch, window)`: others are like that
    if not label:
        named = values[0].known == _TORCH and len(values) == 2  # a dtype, mostly
        return DTYPE if named else machine.unknown(site.node)
    found = machine.attribute(values[0], label, site.node)
    return machine.join(found, values[2]) if len(values) > 2 else found


def _by_default(machine: Machine, node: ast.expr) -> str:
    """The text of an expression where the parameters in it have their defaults; empty if one has none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.FormattedValue):
        return _by_default(machine, node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [_by_default(machine, part) for part in node.values]
        return "".join(parts) if all(parts) else ""
    if isinstance(node, ast.Name):
        value, default = machine.eval(node), machine.here.default(node.id)
        # Names in it are those of who defines the function: `lambda x, name=name: getattr(torch, name)(x)`.
        if value.who == machine.objects.parameter(machine.here.name, node.id) and isinstance(
            default, ast.Constant
        ):
            return _by_default(machine, default)
    return ""


def setattr_(machine: Machine, site: Site) -> Value:
    """`setattr(x, "name", value)`; in a loop over names, each of them."""
    values = [value for _, value in site.args.positional]
    if len(values) != 3:
        return NONE
    owner, named, value = values
    names = named.known.values if isinstance(named.known, Words) else (text_of(named),)
    ref = machine.ref(owner)
    if ref is None:
        return NONE
    if not all(names):
        machine.forget_attributes(ref)
        unsettle(machine, (owner,))
        return NONE
    for name in names:
        machine.state.env[ref, Attr(name)] = value
    if owner.kind is Kind.INSTANCE and isinstance(owner.known, Defined):
        machine.assigned.update((owner.known.dotted, name) for name in names)
        machine.log.binds[site.node] = RawBind(
            "attribute", owner, names[0], value, machine.state.why, machine.loops, names=names
        )
    return NONE


def record(machine: Machine, site: Site) -> Value:
    """`SimpleNamespace(a=…)`, a mock: keeps what it is given."""
    value = machine.unknown(site.node)
    ref = machine.ref(value)
    if ref is not None:
        for name, (_, given) in site.args.keywords.items():
            machine.state.env[ref, Attr(name)] = given
    return value


def namedtuple(machine: Machine, site: Site) -> Value:
    """`namedtuple("Point", "x y")`, `namedtuple("Point", ["x", "y"])`."""
    fields = site.args.get("field_names") or Value()
    texts = [text_of(item) for item in fields.items or ()] or text_of(fields).replace(",", " ").split()
    if not texts or not all(texts):
        return machine.unknown(site.node)
    return Value(Kind.CLASS, known=Record(tuple(texts)))


def execute(machine: Machine, site: Site) -> Value:
    """`exec(open("settings.py").read())`: a device that a script names before that is a default."""
    first = site.args.first()
    if not machine.here.name and first is not None and first.kind is not Kind.STRING:
        for name, value in list(machine.state.env.items()):
            literal = value.origin is not None and value.origin.how == "literal"
            if isinstance(name, str) and literal and value.kind is Kind.STRING:
                ref = machine.objects.made("", machine.here.number(site.node), name)
                machine.objects.labels[ref] = name
                machine.state.env[name] = Value(Kind.STRING, Place(Form.SAME, "", ref), ref)
    return NONE


def type_(machine: Machine, site: Site) -> Value:
    """`type(x)`."""
    first = site.args.first()
    plain = first is not None and first.kind is Kind.INSTANCE and isinstance(first.known, Defined)
    return Value(Kind.CLASS, known=first.known) if plain and first is not None else UNKNOWN


def partial(machine: Machine, site: Site) -> Value:
    """`partial(f, …)`: called, it does what `f` does, with these arguments as well."""
    args = site.args
    called = args.first()
    if called is None or args.starred or args.unpacked or not isinstance(called.known, (Api, Defined)):
        return machine.unknown(site.node)
    if called.kind not in (Kind.FUNCTION, Kind.CLASS, Kind.LIBRARY):
        return machine.unknown(site.node)
    summary = machine.program.summary(called.known.dotted) if called.kind is Kind.FUNCTION else None
    if called.kind is Kind.FUNCTION and (summary is None or summary.binding not in ("plain", "static")):
        return machine.unknown(site.node)  # of which object, the value does not say
    given = (*(value for _, value in args.positional[1:]), *(value for _, value in args.keywords.values()))
    if len(given) > MAX_ITEMS:
        return machine.unknown(site.node)
    known = Partial(called.kind, called.known, tuple(args.keywords))
    return Value(Kind.FUNCTION, known=known, items=given)


def exits(machine: Machine, site: Site) -> Value:
    """`pytest.skip(…)`: control does not come back."""
    return NONE


def super_(machine: Machine, site: Site) -> Value:
    """`super()`, which is asked for a method mostly."""
    first, here = site.args.first(), machine.here
    if first is not None and isinstance(first.known, Defined):
        return OTHER._replace(known=Inherited(first.known.dotted))
    if here.owner is None or not here.is_method:
        return OTHER
    return OTHER._replace(known=Inherited(here.owner))


_LEAST = "min"


def extreme(machine: Machine, site: Site) -> Value:
    """`max(x, y)` is one of its arguments, `max(xs)` and `sum(xs)` like an element."""
    values = [value for _, value in site.args.positional]
    if not values:
        return machine.unknown(site.node)
    if len(values) == 1:
        if values[0].kind in (Kind.BATCH, Kind.UNKNOWN):
            return machine.unknown(site.node)  # of a tensor with one dimension a number, for all one knows
        element = machine.element(values[0], site.node)
        return element._replace(kind=Kind.SCALAR) if values[0].kind in TENSORS else element
    said = [truth_of(value) for value in values if value.kind is Kind.FLAG]
    if site.name == _LEAST and any(each is not None and each.if_true for each in said):
        return flag(Truth(True, False))  # no more than there are accelerators: none without one
    return machine.joined(values) or UNKNOWN


def truth_of_argument(machine: Machine, site: Site) -> Value:
    """`int(flag)`, `bool(flag)`."""
    first = site.args.first()
    if first is None or first.kind is not Kind.FLAG:
        return NUMBER
    return flag(truth(site.args.positional[0][0], first))


def measure(machine: Machine, site: Site) -> Value:
    """`len(x)` remembers what it measured."""
    first = site.args.first()
    return NUMBER._replace(measures=machine.whose_size(first)) if first is not None else NUMBER


def any_(machine: Machine, site: Site) -> Value:
    """`any(…)`, `all(…)`: of nothing neither is said, and nobody asks nothing where its devices are."""
    first = site.args.first()
    element = first.element if first is not None else None
    return element if element is not None and element.kind is Kind.FLAG else NUMBER


def str_(machine: Machine, site: Site) -> Value:
    """`str(device)` still names the device."""
    first = site.args.first()
    named = first is not None and first.kind in (Kind.DEVICE, Kind.STRING)
    return Value(Kind.STRING, first.place) if named and first is not None else STRING


def startswith(machine: Machine, site: Site) -> Value:
    """`str(device).startswith("cuda")`."""
    first = site.args.first()
    prefix = text_of(first) if first is not None else ""
    if prefix.split(":")[0] in knowledge.ACCELERATORS:
        return flag(Truth(True, False))
    return flag(Truth(False, True)) if prefix == "cpu" else NUMBER


def format_(machine: Machine, site: Site) -> Value:
    """A string made of one that names a device names it still."""
    base = site.receiver or STRING
    kind = text_of(base).partition(":")[0]
    if kind in knowledge.ACCELERATORS:
        return Value(Kind.STRING, literal(kind))  # `"cuda:{}".format(index)`
    return Value(Kind.STRING, base.place) if base.place.form is not Form.UNKNOWN else STRING


def array(machine: Machine, site: Site) -> Value:
    """What numpy gives is on the cpu."""
    return Value(Kind.ARRAY, CPU)


def skip(machine: Machine, site: Site) -> Value:
    """A mark or decorator that skips: true where the code runs."""
    args = site.args
    condition = args.at("condition") or (args.positional[0] if args.positional else None)
    said = truth(*condition) if condition is not None else None
    unless = "skips-unless" in site.row.topics
    needed = said is not None and (said.if_true if unless else said.if_false)
    reason = args.get("reason")
    if said is None and reason is not None:
        needed = "demands" in knowledge.hints("reason", text_of(reason))
    return flag(Truth(needed, False))


def init_process_group(machine: Machine, site: Site) -> Value:
    """`init_process_group("nccl")`."""
    through(machine, site.args.get("backend"))
    return OTHER


def through(machine: Machine, backend: Value | None) -> None:
    """Processes that talk through NCCL need a CUDA device each.

    So does the whole file, unless that is under a condition and the file names the cpu as well: then it is
    only the function that says so.
    """
    if backend is not None and text_of(backend) == knowledge.NCCL:
        machine.state.need()
    why = machine.state.why
    told = why.certain or (why.guarded and why.hints != (PROCESSES.hint,))
    if backend is not None and text_of(backend) == knowledge.NCCL and not told:
        spared = machine.branches > 0 and machine.program.names_cpu()
        machine.program.needs_accelerator(f"backend:{knowledge.NCCL}", machine.here.name if spared else None)


def load_module(machine: Machine, site: Site) -> Value:
    """`importlib.import_module("triton")`."""
    first = site.args.get("name") or site.args.first()
    if first is not None and text_of(first):
        imported(machine, text_of(first))
    return machine.unknown(site.node)


def imported(machine: Machine, name: str, trying: bool = False) -> None:
    """A module is imported; some run on an accelerator alone, and with them the whole file.

    Not so where a function imports it in one case: then it is needed from there on, in that case.
    """
    if machine.state.why.guarded or trying or not knowledge.imports_accelerator(name):
        return
    if machine.here.name and machine.branches:
        machine.require(f"import:{name}")
    else:
        machine.program.needs_accelerator(f"import:{name}")
