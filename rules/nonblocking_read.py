"""A copy from the device is read before it is complete

`x.to("cpu", non_blocking=True)` returns at once, while the device is still writing what it returns. Read
before the program has waited, the values are whatever was in that memory; nothing raises.

    host = scores.to("cpu", non_blocking=True)
    print(host.numpy())  # DEV502

Wait for the copy, or let the move wait, as it does by default:

    host = scores.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    print(host.numpy())

Left alone: copies to a device, of which what runs there is in order, and what is read after anything that may
have waited: `synchronize`, `wait`, `.item()` of another tensor, a function of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..rule import RUNS, Ask, Call, Claim, Report, Rule, call, cst, inside

_DOCS = "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html"


class NonblockingRead(Rule[Call]):
    """A read of what may still be under way to the cpu."""

    code = "DEV502"
    name = "nonblocking-read"
    watches = (call("@sync", inside("pending")), call("@host-only", inside("pending")))
    claim = Claim(RUNS, needs="cuda", documentation=_DOCS, packages=("numpy",))

    def suspects(self, event: Call) -> bool:
        """Whether an accelerator may be there."""
        return not event.at.guard.absent

    def visit(self, node: cst.CSTNode, event: Call, ask: Ask) -> Iterator[Report]:
        """Report the read."""
        yield Report(
            f"`{event.callee.rpartition('.')[2]}` reads a copy that may still be under way from the device",
            "with non_blocking=True a copy to the cpu returns before it is complete: synchronize first",
        )
