"""What the simulated device says when it cannot answer as a GPU would."""

from __future__ import annotations


class NotSimulated(Exception):
    """The simulation ends here: neither an error that a GPU raises nor one of the program.

    It is no `RuntimeError`, which is what torch raises, so that no claim and no handler for torch's errors
    takes it for one.
    """

    met = ""
    """What the last one said, for those who must know of it when the program has handled the error."""

    def __init__(self, what: str, instead: str = "") -> None:
        """Say what is not simulated and, if there is a way around, which."""
        super().__init__(f"not simulated: {what}" + (f"; {instead}" if instead else ""))
        NotSimulated.met = NotSimulated.met or str(self)
