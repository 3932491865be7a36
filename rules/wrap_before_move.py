"""DataParallel or DDP wraps a module that is not on its device

DDP hooks the parameters where they are when it is built. Given `device_ids` and a module on the cpu it
raises; without them a later move drops the hooks: every process trains alone, and nothing says so.
DataParallel raises in its forward on several GPUs unless the module is on the first of them.

    model = DistributedDataParallel(model)
    model.to(device)  # DEV302

Move first: `DistributedDataParallel(model.to(device))`.

A warning where the caller may have moved it before. `DataParallel(model).to(device)` works, and so does
DataParallel of one device, which moves the module itself. Computed indices are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import (
    Ask,
    Call,
    Claim,
    Form,
    Literal_,
    Move,
    Observes,
    Raises,
    Report,
    Rule,
    Seen,
    Severity,
    call,
    cst,
    gives,
    held_by,
    move,
    outside,
)

_GROUP = """
import torch, torch.distributed as group
fake, own = torch._C._distributed_c10d.FakeProcessGroup, torch._C._get_privateuse1_backend_name()
make = lambda *_: getattr(fake, "_create_internal", fake)(0, 2)  # torch before 2.10 has the constructor alone
group.Backend.register_backend("alone", make, devices=["cpu", "cuda", own])
group.init_process_group("alone", rank=0, world_size=2, store=group.HashStore())
"""
_DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html"
_SILENT = "the move drops the hooks that reduce gradients: every process trains alone"
_CHOOSE_GPU = ("torch.cuda.set_device", "torch.cuda.device", "torch.accelerator.set_device_index")


class WrapBeforeMove(Rule[Call | Move]):
    """A wrapper around a module that is not where the wrapper works."""

    code = "DEV302"
    name = "wrap-before-move"
    watches = (
        call("*.DistributedDataParallel", "*.DataParallel", gives("module"), outside("probe")),
        move(held_by("wrapped")),
    )
    claim = Claim(
        Raises("ValueError", "device_ids"),
        setup=_GROUP,
        programs={
            "hooks": Claim(Observes("reduced", bug=0, fixed=1), setup=_GROUP),
            "parallel": Claim(Raises("RuntimeError", "device_ids"), needs="cuda x2", documentation=_DOCS),
        },
    )

    def visit(self, node: cst.CSTNode, event: Call | Move, ask: Ask) -> Iterator[Report]:
        """Report the wrapping that fails, or the move that comes after it."""
        if isinstance(event, Move):
            known = Severity.ERROR if event.receiver.place.form is Form.CPU else Severity.WARNING
            for holder in (each for each in event.holders if each.protocol == "wrapped"):
                wrapped = f"after {holder.name} wrapped it on {holder.line}"
                yield Report(f"`{event.receiver.label}` is moved {wrapped}", _SILENT, known)
            return
        assert isinstance(node, cst.Call)
        module, ids = event.given["module"], _indices(node)
        uses = (
            [module] if ids else []
        )  # DataParallel looks at each forward; of one device it moves the module
        if not event.callee.endswith(".DistributedDataParallel"):
            uses = [] if ids is not None and len(ids) == 1 else [*_forwards(event, module, ask)]
        for used in uses:
            if _is_apart(used, ids[0] if ids else 0, ask):
                where = f"`{module.label}` is on `{used.place.name}`"
                yield Report(f"{where}, not on the first device that it is wrapped for", "this raises")
                break


def _forwards(wrapping: Call, module: Seen, ask: Ask) -> Iterator[Seen]:
    """What runs of what is wrapped: methods begin as constructors left things, not as another method did."""
    home = wrapping.at.function
    anywhere = not home or ask.only_constructs(home)
    runs = [e for e in ask.events("call") if isinstance(e, Call) and e.callee == "Module.__call__"]
    uses = (each.receiver for each in runs if anywhere or each.at.function == home)
    return (used for used in uses if used is not None and used.who == module.who)


def _indices(node: cst.Call) -> list[int | None] | None:
    """The `device_ids` of a call, where they are written out; None for one that is no constant."""
    given = [a.value for a in node.args if a.keyword is not None and a.keyword.value == "device_ids"]
    given += [arg.value for arg in node.args[1:2] if arg.keyword is None]
    if not given or not isinstance(given[0], cst.List):
        return None
    return [int(e.value.value) if isinstance(e.value, cst.Integer) else None for e in given[0].elements]


def _is_apart(module: Seen, first: int | None, ask: Ask) -> bool:
    place = module.place
    if place.form is not Form.LITERAL or first is None:
        return place.form is Form.CPU and place.of is None
    index = place.name.partition(":")[2] or "0"  # without an index, on the device that the program chose
    chosen = any(isinstance(each, Call) and each.callee in _CHOOSE_GPU for each in ask.events("call"))
    plain = {
        e.at.span.line for e in ask.events("literal") if isinstance(e, Literal_) and e.text == place.name
    }
    moves = (e for e in ask.events("move") if isinstance(e, Move) and e.named and e.at.span.line not in plain)
    computed = any(each.target is not None and each.target.name == place.name for each in moves)
    return index != str(first) and (":" in place.name or not (chosen or computed))
