"""What the names that a program makes up may reach."""

from __future__ import annotations

import pytest

from devlint.project.lookups import Lookups
from devlint.project.mentions import Mentions

FILES = {"nets.py": "", "parts.py": "", "other.py": ""}
IMPORTS = {"main.py": {"main.py", "nets.py", "parts.py", "other.py"}, "nets.py": {"nets.py", "parts.py"}}


def reached(code: str) -> set[tuple[str, str | None]]:
    """Which of some names of each file, or anything of it, a program may mean."""
    files = {**FILES, "main.py": code}
    lookups = Lookups(
        lambda name, _: f"{name}.py" if f"{name}.py" in FILES else None,
        lambda path: frozenset(IMPORTS.get(path, {path})),
        lambda path: files[path],
        lambda _: Mentions(files, files.get),
    )
    names = ("build", "build_old", "Net", None)
    return {(path, name) for path in FILES for name in names if lookups.may_find("", path, name)}


NAMES = {"build", "build_old", "Net", None}
ALL = {(path, name) for path in FILES for name in NAMES}


def of_nets(*names: str) -> set[tuple[str, str | None]]:
    """Some names of `nets`, and of what that imports, and anything there."""
    return {(path, name) for path in ("nets.py", "parts.py") for name in (*names, None)}


OF_NETS = of_nets("build", "build_old", "Net")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("getattr(x, 'build')", set()),
        ("getattr(self, name)()", set()),
        ("import nets\ngetattr(nets, name)()", OF_NETS),
        ("import nets\nnets.__dict__[name]()", OF_NETS),
        ("import nets as n\nvars(n)[name]()", OF_NETS),
        ("import torch\ngetattr(torch.nn, name)()", set()),
        ("import sys\ngetattr(sys.modules[__name__], name)()", ALL),
        ("import sys\ngetattr(sys.modules[there], name)()", ALL),
        ("globals()[name]()", ALL),
        ("eval('1 + 2')", set()),
        ("eval('self.' + name)", set()),
        ("eval(name)", ALL),
        ("import nets\neval('nets.' + name)()", OF_NETS),
        ("import nets\neval(f'nets.{name}.build')()", of_nets("build")),
        ("import nets\neval('nets.%s_old' % name)", of_nets("build_old")),
        ("eval('build({})'.format(name))", ALL),
        ("import importlib\nimportlib.import_module('nets')", of_nets()),
        ("import importlib\ngetattr(importlib.import_module('nets'), name)", ALL),
        ("import importlib\nm = importlib.import_module('nets')\ngetattr(m, name)", OF_NETS),
        ("import importlib\nimportlib.import_module(name).build()", {(path, None) for path in FILES}),
        ("tools.import_module('model', path).build()", {(path, None) for path in FILES}),
        ("hydra.utils.instantiate(config)", ALL),
        ("print 'of another Python'; getattr(x, y)", ALL),
        ("def eval(x): pass\neval(name)", set()),
    ],
)
def test_made_up_names_reach_what_they_may_mean(code: str, expected: set[tuple[str, str | None]]) -> None:
    assert reached(code) == expected
