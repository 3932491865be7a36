"""What the simulated device says when it cannot answer as a GPU would."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable


class NotSimulated(Exception):
    """The simulation ends here: neither an error that a GPU raises nor one of the program.

    It is no `RuntimeError`, which is what torch raises, so that no claim and no handler for torch's errors
    takes it for one.
    """

    BEGINS = "not simulated: "
    told: ClassVar[Callable[[str], None] | None] = None
    """Who else is to know, in a process that another one speaks for."""
    met = ""
    """What the last one said, for those who must know of it when the program has handled the error."""

    def __init__(self, what: str, instead: str = "") -> None:
        """Say what is not simulated and, if there is a way around, which."""
        super().__init__(f"{self.BEGINS}{what}" + (f"; {instead}" if instead else ""))
        self.meet(str(self))

    @classmethod
    def meet(cls, said: str) -> None:
        """Let it be known that the simulation has come to its end."""
        NotSimulated.met = NotSimulated.met or said
        if NotSimulated.told is not None:
            NotSimulated.told(said)
