"""devlint finds device-placement bugs in PyTorch code before the code reaches a GPU."""

__version__ = "0.1.1"
