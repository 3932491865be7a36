"""The parts import downwards only, and what is heavy is imported only when it is needed."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent

ORDER = [
    "",  # devlint itself: the version
    *(
        "span",
        "source.text",
        "source.plain",
        "source.digest",
        "console",
        "errors",
        "problems",
        "finding",
        "config.settings",
        "source.globs",
        "config.layers",
        "core",
    ),
    *("visit.cst", "visit.cures", "claim", "rule", "rules"),
    *("match.selection", "source.sift", "source.unreadable"),
    *("knowledge", "bind"),
    *(
        "infer.room",
        "infer.log",
        "infer.definitions",
        "infer.several",
        "infer.machine",
        "infer.lent",
        "infer.graphs",
        "infer.unmoved",
        "infer.weightless",
    ),
    *("infer.conditions", "infer.recalled", "infer.lazily", "infer.annotations", "infer.cases"),
    *("infer.told", "infer.substitute", "infer.needs", "infer.asks", "infer.apply", "infer.transfers"),
    *("infer.asserted", "infer.renamed", "infer.timed"),
    *("infer.holdings", "infer.standing", "infer.calls", "infer.attributes", "infer.targets"),
    *("infer.expressions", "infer.statements"),
    *(
        "infer.extract",
        "infer.filled",
        "infer.abroad",
        "infer.classes",
        "infer.answers",
        "infer.function",
        "infer.sites",
        "infer.loaders",
        "infer.file",
        "infer.edited",
    ),
    *(
        "infer.stored",
        "infer.settle",
        "infer.presumed",
        "infer.handed",
        "infer.elsewhere",
        "infer.fed",
        "infer.naming",
        "infer.others",
        "infer.reaching",
        "infer.behind",
        "infer.trace",
        "infer.testcode",
        "infer.demo",
        "infer.touched",
        "infer.reread",
        "infer.workers",
        "infer.assigning",
        "infer.caches",
        "infer.hidden",
        "infer.replaced",
    ),
    *(
        "infer.results",
        "infer.stays",
        "infer.halves",
        "infer.siblings",
        "infer.refilled",
        "infer.foreign",
        "infer.late",
        "infer.attached",
        "infer.forgotten",
        "infer.two",
        "infer.apart",
        "infer.left",
        "infer.lost",
        "infer.unlike",
    ),
    *(
        "infer.shown",
        "infer.sight",
        "infer.encounters",
        "infer.observe",
        "infer.reveal",
        "infer.cure",
        "infer.record",
        "infer",
    ),
    *("infer.account", "rehearsal", "project"),
    *("comments.logical", "comments.suppress", "comments.unused", "match", "visit"),
    *(
        "source.magics",
        "source.notebook",
        "run.lint",
        "run.cached",
        "run.unchanged",
        "run.work",
        "run.pool",
        "run.cluster",
    ),
    *("run.explained", "run.reasons"),
    *("old.fingerprint", "report", "old.ratchet"),
    *("source.sources", "run.output", "config.schema", "config.discovery"),
    *("source.ignores", "source.files", "source.shards", "run.fix"),
    "run.verdicts",
    *(
        "run.observed",
        "run.progress",
        "old.changed",
        "old.baseline",
        "old.accepted",
        "comments.noqa",
        "config.describe",
    ),
    *("config.show",),
    *("commands.watch", "config.options", "config.flags", "commands.explain", "commands.printing"),
    *("commands.explain_line", "commands.keys", "commands.version"),
    *("commands.cache", "commands.check", "doors"),
    *("server", "commands.serve"),
    *("runtime", "testing"),
    "commands.completion",
    *("commands.cli", "commands.help", "__main__"),
    *("source", "comments", "old", "config", "run", "commands"),
]
"""Each part may import those before it."""
OF_RULES = {"rule"}
"""What a rule imports: one place, which has all that a rule may know."""


def modules() -> Iterator[tuple[str, Path]]:
    """Yield every module by its installed name."""
    for folder, prefix in (("devlint", ""), ("rules", "rules.")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT / folder).with_suffix("").parts)
            yield (prefix + name).removesuffix("__init__").removesuffix("."), path


def imported(name: str, path: Path) -> Iterator[str]:
    """Yield what a module imports, inside functions too, with devlint's own names relative to devlint."""
    package = [part for part in name.split(".") if part]
    if path.name != "__init__.py":
        package.pop()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1]
            source = [*above, *(node.module.split(".") if node.module else ())]
            for alias in node.names:
                inside = ".".join([*source, alias.name])
                yield ".".join(["devlint", inside if inside in MODULES or not source else ".".join(source)])


MODULES = dict(modules())


def part_of(name: str) -> str:
    """Return the longest name in ORDER that a module is, or is in; else its first part."""
    while name and name not in ORDER:
        head, _, _ = name.rpartition(".")
        if not head:
            return name
        name = head
    return name


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_down(name: str) -> None:
    assert part_of(name) in ORDER, f"say in ORDER where devlint.{name} belongs"
    below = ORDER[: ORDER.index(part_of(name)) + 1]
    for target in imported(name, MODULES[name]):
        root, _, rest = target.partition(".")
        if root == "devlint":
            part = part_of(rest)
            assert part in below or part.startswith("__"), f"devlint.{name} imports {target}"
        if root == "torch":
            assert part_of(name) == "runtime", f"devlint.{name} imports torch"
        assert root != "rules", f"devlint.{name} imports rules by a name it does not install under"


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Inside a part as between parts, in functions and for type checkers alone too."""
    graph = {
        name: {target.partition(".")[2] for target in imported(name, path) if target.startswith("devlint.")}
        for name, path in MODULES.items()
    }
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("name", [name for name in MODULES if part_of(name) == "rules"])
def test_a_rule_is_short_and_knows_no_engine(name: str) -> None:
    source = MODULES[name].read_text()
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)]
    rows = {row for node in imports for row in range(node.lineno, (node.end_lineno or 0) + 1)}
    assert len(source.splitlines()) - len(rows) <= 100
    assert sum(isinstance(node, ast.ImportFrom) and node.level > 0 for node in imports) <= 1
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            absolute = isinstance(node, ast.Import) or node.level == 0
            text = ast.unparse(node)
            assert not (absolute and "devlint" in text), f"rules import devlint relatively: {text}"
    for target in imported(name, MODULES[name]):
        root, _, rest = target.partition(".")
        assert root != "devlint" or rest in OF_RULES, f"{name} imports {target}"


CODE = re.compile(r"DEV[1-9]\d\d")


@pytest.mark.parametrize("name", [name for name in MODULES if part_of(name) != "rules"])
def test_nothing_but_a_rule_knows_its_code(name: str) -> None:
    tree = ast.parse(MODULES[name].read_text())
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    assert not [text for text in strings if isinstance(text, str) and CODE.fullmatch(text)]


def loaded(tmp_path: Path, source: str, *, keeps: bool = False) -> set[str]:
    """Return the modules that are loaded once a file has been linted; `keeps` is whether results are kept."""
    here = tmp_path / "here"
    here.mkdir(exist_ok=True)
    (here / "a.py").write_text(source)
    code = (
        "import sys; import devlint.commands.cli as c; c.main(['a.py']); print(*sys.modules, file=sys.stderr)"
    )
    own = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}  # other tests install rules meanwhile
    if keeps:
        own.pop("DEVLINT_NO_CACHE", None)
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=here, env=own, capture_output=True, text=True, check=True
    )
    return set(run.stderr.split())


HEAVY = {
    "libcst",
    "torch",
    "rich",
    "msgspec",
    "pathspec",
    "importlib.metadata",
    "dataclasses",
    "tokenize",
    "json",
    "concurrent.futures",
    "multiprocessing",
    "threading",
}
CLEAN = """
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(2, 2).to(device)
x = torch.ones(2).to(device)
print(model(x))
"""


def test_a_clean_file_that_uses_torch_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded(tmp_path, CLEAN)  # the first run after an installation looks at all rules and remembers
    modules = loaded(tmp_path, CLEAN)
    assert "devlint.infer" in modules
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("devlint.rules")}


@pytest.mark.parametrize("more", ["", "y = torch.ones(2)\ny.to(device)\nprint(y)\n"])
def test_what_has_not_changed_is_known_without_any_analysis(tmp_path: Path, more: str) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "pyproject.toml").touch()
    # The first run makes a folder where `-c` looks for modules, so that the second looks at all rules again.
    for _ in range(2):
        loaded(tmp_path, CLEAN + more, keeps=True)
    modules = loaded(tmp_path, CLEAN + more, keeps=True)
    assert "devlint.run.unchanged" in modules
    assert not modules & HEAVY
    parts = {".".join(name.split(".")[:2]) for name in modules if name.startswith("devlint.")}
    assert not parts & {"devlint.core", "devlint.knowledge", "devlint.bind", "devlint.infer", "devlint.rules"}
    assert not modules & {"devlint.match.registry", "devlint.run.lint", "devlint.project.index"}


def test_rules_have_one_name(tmp_path: Path) -> None:
    modules = loaded(tmp_path, CLEAN + "y = torch.ones(2)\ny.to(device)\nprint(y)\n")
    assert "devlint.rules" in modules
    assert "libcst" in modules
    assert not {name for name in modules if name.split(".")[0] == "rules"}
    assert not modules & {"torch", "rich", "msgspec", "pathspec", "libcst.matchers"}
