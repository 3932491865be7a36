"""Whatever the source, linting returns: odd files of Python's own tests, and modules made up."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesmith import from_node

from devlint import sift
from devlint.fix import fix
from devlint.lint import lint
from devlint.match.registry import active
from devlint.settings import Selection, Settings

EVERYTHING = Settings(selections=(Selection(("ALL",)),))
TESTS = os.path.join(sysconfig.get_paths()["stdlib"], "test")
HEAD = "import torch\nx = torch.ones(2)\nx.to(device)\nmodel.cuda()\n"


@pytest.mark.skipif(not os.path.isdir(TESTS), reason="this Python comes without its test-suite")
def test_the_odd_files_of_pythons_own_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are meant to be unreadable, and a few that are large, none of them sifted out."""
    monkeypatch.setattr(sift, "matters", lambda raw, words: True)
    odd = [path for path in Path(TESTS).rglob("*.py") if path.name.startswith(("bad", "test_gr", "test_un"))]
    unreadable = {
        path.name
        for path in odd
        for finding in lint(path.read_bytes(), str(path), EVERYTHING)
        if finding.code == "DEV000"
    }
    assert "badsyntax_3131.py" in unreadable
    assert "test_unittest.py" not in unreadable


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(from_node())
def test_generated_modules(source: str) -> None:
    for text in (HEAD + source, source + HEAD):
        lint(text, "a.py", EVERYTHING)


@pytest.mark.parametrize(
    "source",
    [
        "x." + "b." * 3000 + "to(device)",
        "x.to(" + "1+" * 3000 + "1)",
        "(" * 150 + "x.to(device)" + ")" * 150,
        "x" + ".to(device)" * 800,
        "f(" * 90 + "x.to(device)" + ")" * 90,
        "\n".join("    " * depth + "if a:" for depth in range(99)) + "\n" + "    " * 99 + "x.to(device)",
        "\n".join(f"def f{i}():\n    return f{i + 1}()" for i in range(300)),
        "y = '" + "x" * 10_000_000 + "'; x.to(device)",
        "y = [" + "1," * 20_000 + "]; x.to(device)",
        "# " + " " * 10_000_000,
        " " * 10_000_000 + "# blank",
        "x.to(device);" * 2000,
        "if a: pass\n" + "elif b: x.to(device)\n" * 400,
        "lambda: " * 500 + "x.to(device)",
        "x = " * 500 + "x.to(device)",
        'f"{x.to(device)}{' + "f'{x.to(device)}'" + '}"',
        "class A(A):\n    x = A().x\n    def f(self): return self.f().to(device)",
        "def f(): return f().to(device)\nf().to(device)",
        "while True:\n  x, y, z = y.to(device), z, x",
    ],
    ids=lambda source: source[:20].replace("\n", " "),
)
def test_deep_long_and_circular(source: str) -> None:
    lint(HEAD + source + "\n", "a.py", EVERYTHING)


@pytest.mark.parametrize("size", [1, 100])
def test_bytes_that_are_no_text(size: int) -> None:
    for raw in (
        b"\0" * size,
        b"\xff\xfe" + "import torch".encode("utf-16-le") * size,
        bytes(range(256)) * size,
    ):
        findings = lint(b"torch.cuda" + raw, "a.py")
        assert [finding.code for finding in findings] == ["DEV000"]


def test_a_generated_fix_keeps_everything_else() -> None:
    source = HEAD.encode() + b"# kept \xc3\xa9\n"
    assert fix(source, "a.py", Settings()).raw.endswith(b"# kept \xc3\xa9\n")


def test_the_sift_takes_linear_time_on_what_does_not_matter() -> None:
    """A quadratic pattern would not come back from these."""
    words = active(()).words
    for row in (
        b" " * 5_000_000,
        b"\t" * 5_000_000 + b"a",
        b"a." * 2_000_000,
        b"x[" * 2_000_000,
        b"a.float" * 500_000,
    ):
        assert not sift.matters(b"import torch\n" + row + b"\n", words)
