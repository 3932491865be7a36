"""How rules are found, and what is said of those that cannot be used."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

import pytest

from devlint.commands.cli import main
from devlint.errors import DevlintError
from devlint.match.faults import unusable
from devlint.match.registry import installed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Provide = Callable[[str, str], None]

GOOD = '''"""Page."""
from devlint.rule import Call, Rule, Test, Watch, call, casts, move, result
class Acme(Rule[Call]):
    code = "ACM101"
    name = "acme-rule"
    watches = (call("acme.launch"),)
'''

WATCHES = '(call("acme.launch"),)'


def test_a_module_gives_the_rules_it_defines_and_not_those_it_imports(provide: Provide) -> None:
    provide("acme", GOOD)
    provide("other", GOOD.replace("101", "102") + "\nfrom acme import Acme as Imported\n")
    assert list(installed()) == ["ACM101", "ACM102", "DEV000", "DEV001"]
    assert installed()["ACM101"].summary == "Page."


def test_a_package_gives_the_rules_of_its_modules(
    provide: Provide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text(GOOD)
    (package / "two.py").write_text(GOOD.replace("101", "102"))
    monkeypatch.syspath_prepend(tmp_path)
    provide("unused", "")
    monkeypatch.setitem(sys.modules, "unused", importlib.import_module("acme_package"))
    assert list(installed()) == ["ACM101", "ACM102", "DEV000", "DEV001"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_module", "cannot load the rules in acme: ModuleNotFoundError: No module named"),
        ("1 / 0", "cannot load the rules in acme: ZeroDivisionError"),
        (
            GOOD.replace("ACM101", "ACME1"),
            "rule acme.Acme: `code` must be one to three capitals and three digits",
        ),
        (GOOD.replace("    code", "    kode"), "rule acme.Acme: `code` must be"),
        (
            GOOD.replace("acme-rule", "Acme rule"),
            "rule acme.Acme: `name` must be in kebab-case, not 'Acme rule'",
        ),
        (
            GOOD.replace("    name", "    severity = 'bad'\n    name"),
            "rule acme.Acme: `severity` must be a Severity",
        ),
        (GOOD.replace("    watches", "    wotches"), "rule acme.Acme: `watches` must be a tuple of watches"),
        (GOOD.replace(WATCHES, "call('a')"), "rule acme.Acme: `watches`: a watch is what `call(…)`"),
        (GOOD.replace(WATCHES, "()"), "rule acme.Acme: `watches` must be a tuple of watches"),
        (
            GOOD.replace(WATCHES, "(Watch('fact', (), ()),)"),
            "rule acme.Acme: `watches`: there is no event 'fact': there are call, use, move",
        ),
        (
            GOOD.replace(WATCHES, "(Watch('call', (), (Test('moon', ('full',)),)),)"),
            "rule acme.Acme: `watches`: there is no test 'moon'",
        ),
        (
            GOOD.replace(WATCHES, "(call('a', casts()),)"),
            "rule acme.Acme: `watches`: the test 'casts' says nothing about the event 'call'",
        ),
        (
            GOOD.replace(WATCHES, "(call('a', result(3)),)"),
            "rule acme.Acme: `watches`: the test 'result' wants strings, not (3,)",
        ),
        (
            GOOD.replace(WATCHES, "(move('to'),)"),
            "rule acme.Acme: `watches`: it is a rule on Call, not on Move",
        ),
        (GOOD.replace('"""Page."""', ""), "rule acme.Acme: its module has no docstring"),
        (GOOD.replace("ACM101", "DEV000"), "two rules have the code DEV000: devlint itself and acme.Acme"),
    ],
)
def test_an_unusable_rule_is_one_message(
    provide: Provide,
    source: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(_: object) -> object:
        from types import ModuleType

        module = ModuleType("acme")
        exec(source, vars(module))
        return module

    provide("acme", "")
    monkeypatch.setattr("importlib.metadata.EntryPoint.load", load)
    assert main(["rules"]) == 2
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["DEV000", "DEV001"]
    assert err.startswith(f"devlint: {message}")
    assert err.count("\n") == 1


def test_two_rules_with_one_code(provide: Provide) -> None:
    provide("acme", GOOD)
    provide("zeta", GOOD)
    rule = installed()["ACM101"].rule
    assert rule is not None
    assert rule.__module__ == "acme"
    (error,) = unusable()
    assert str(error) == "two rules have the code ACM101: acme.Acme and zeta.Acme"


def test_no_rules_at_all_is_an_error_and_no_silence(provide: Provide) -> None:
    with pytest.raises(DevlintError, match="no rules are installed"):
        installed()
