"""devlint finds device-placement bugs in PyTorch code before the code reaches a GPU."""

__version__ = "0.1.1"


def load_ipython_extension(shell: object) -> None:
    """Give IPython the magic `%%devlint_run`; called by `%load_ext devlint`."""
    from importlib import import_module  # by name: what runs programs is no part of the linter

    import_module("devlint.runtime.cells").load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Take the magic away; called by `%unload_ext devlint`."""
    from importlib import import_module

    import_module("devlint.runtime.cells").unload(shell)
