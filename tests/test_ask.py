"""What a rule may ask about its file: values, variables in scope, statements, other events."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from devlint.bind.text import Text
from devlint.config.settings import Settings
from devlint.infer import record
from devlint.infer.account import Account
from devlint.infer.file import File
from devlint.match import registry
from devlint.run.lint import lint

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent.parent / "fixtures"
HEAD = '"""Page."""\nfrom devlint.rule import Call, Report, Rule, call, cst\n'
RULE = """
class Asking(Rule[Call]):
    code = "TST101"
    name = "asking-rule"
    watches = (call("acme.ask"),)

    def visit(self, node, event, ask):
        yield Report(str({}))
"""


@pytest.fixture
def answer(provide: Callable[[str, str], None]) -> Callable[..., list[str]]:
    """Return what a rule is answered for each `acme.ask(…)` of a program."""

    def asked(question: str, text: str, settings: Settings | None = None) -> list[str]:
        provide("asking", HEAD + RULE.format(question))
        registry.forget()
        found = lint(f"import acme\nimport torch\n{text}", "a.py", settings or Settings())
        return [finding.message for finding in found]

    return asked


DEVICE = 'd = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = torch.ones(2)\nacme.ask(x)\n", "tensor cpu x"),
        (f"{DEVICE}x = torch.ones(2).to(d)\nacme.ask(x)\n", "tensor d x"),
        (
            'acme.ask(torch.nn.Linear(2, 2).to("cuda:1"))\n',
            'module cuda:1 torch.nn.Linear(2, 2).to("cuda:1")',
        ),
        ("acme.ask((torch.ones(2)))\n", "tensor cpu torch.ones(2)"),
        ("acme.ask(3)\n", "number  3"),
        ("def f(x):\n    acme.ask(x)\n    return x.unsqueeze(0)\n", "tensor  x"),
        ("def f(x):\n    acme.ask(x)\n    return x\n", "unknown  x"),
        ("if 0:\n    raise SystemExit\n    acme.ask(torch.ones(2))\n", ""),
        ("s = 'ä'; acme.ask(torch.ones(2))\n", "tensor cpu torch.ones(2)"),
        (
            "def f():\n    for y in [torch.ones(2)]:\n        acme.ask(y)\n",
            "tensor cpu y",
        ),
    ],
)
def test_the_value_of_an_argument(answer: Callable[..., list[str]], text: str, expected: str) -> None:
    question = "' '.join([(v := ask.value_of(node.args[0])).kind.value, v.place.name, v.label])"
    assert answer(question, text) == ([expected] if expected else [])


VALUE = "ask.value_of(node.args[0]).kind.value"
IN_FUNCTIONS = "def f():\n    acme.ask(1)\n\n\ndef g():\n    return lambda: acme.ask(2)\n"


@pytest.mark.parametrize(
    ("question", "text", "expected", "times"),
    [
        ("ask.is_statement(node)", IN_FUNCTIONS, ["True", "False"], 1),
        (VALUE, IN_FUNCTIONS, ["number", "number"], 1),
        ('len(ask.events("call"))', IN_FUNCTIONS, ["2", "2"], 1),
        (VALUE, f"acme.ask(1)\n{IN_FUNCTIONS}", ["number"] * 3, 2),
        (VALUE, "class C:\n    acme.ask(1)\n    acme.ask(2)\n", ["number"] * 2, 2),
    ],
)
def test_what_is_asked_in_functions_takes_no_second_analysis(
    answer: Callable[..., list[str]],
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    text: str,
    expected: list[str],
    times: int,
) -> None:
    runs = []
    analyse = File.analyse

    def counted(self: File) -> None:
        runs.append(1)
        analyse(self)

    monkeypatch.setattr(File, "analyse", counted)
    assert answer(question, text) == expected
    assert len(runs) == times


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("DEV40[1-3]/*.py")), ids=lambda path: path.stem)
def test_a_function_that_is_run_again_gives_what_an_analysis_of_all_gives(path: Path) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    whole, asked = Account(text, tree), record.Record(text, tree)
    source = Text(text)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for part in (part for statement in function.body for part in ast.walk(statement)):
                if isinstance(part, ast.Name):
                    span = source.span(part)
                    one, other = asked.value_at(span), whole.value_at(span)
                    assert (one.kind, one.label, one.place.form) == (
                        other.kind,
                        other.label,
                        other.place.form,
                    )
                    assert asked.device_at_hand(span) == whole.device_at_hand(span), span
    whole.release()
    asked.release()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{DEVICE}acme.ask(1)\n", "d"),
        (f"acme.ask(1)\n{DEVICE}", "None"),
        (f"def f():\n    acme.ask(1)\n{DEVICE}", "d"),
        ("def f(x: torch.Tensor):\n    here = x.device\n    acme.ask(1)\n", "here"),
        ("def f(n, x: torch.Tensor):\n    acme.ask(1)\n    return x + n\n", "x.device"),
        ("def f(x: torch.Tensor):\n    acme.ask(1)\n    return x.cuda()\n", "None"),
        ("def f(x, where):\n    acme.ask(1)\n    return x.to(where)\n", "where"),
        ("def f(x, where=None):\n    acme.ask(1)\n    return x.to(where)\n", "None"),
        ("def f(x, dtype):\n    acme.ask(1)\n    return x.tail(dtype)\n", "None"),
        ("def f(where: torch.device):\n    acme.ask(1)\n", "where"),
        ("def f(where: torch.device):\n    return 0\nacme.ask(1)\n", "None"),
        ('fixed = torch.device("cuda")\nacme.ask(1)\n', "None"),
    ],
)
def test_a_device_at_hand(answer: Callable[..., list[str]], text: str, expected: str) -> None:
    assert answer("ask.device_at_hand(node)", text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acme.ask(1)\n", "torch"),
        ("torch = None\nacme.ask(1)\n", "None"),
        ("def f(torch):\n    acme.ask(1)\n", "None"),
        ("def f():\n    import torch.nn as torch\n    acme.ask(1)\n", "torch.nn"),
        ("def f():\n    def g():\n        acme.ask(1)\n    return g\n", "torch"),
        ("def f(torch):\n    def g():\n        acme.ask(1)\n    return g\n", "None"),
        ("class A:\n    x = acme.ask(1)\n", "torch"),
    ],
)
def test_what_a_name_is_bound_to(answer: Callable[..., list[str]], text: str, expected: str) -> None:
    assert answer('ask.bound_to("torch", node)', text) == [expected]


def test_whether_a_call_is_a_statement(answer: Callable[..., list[str]]) -> None:
    text = "acme.ask(1)\nx = acme.ask(2)\nacme.ask(3), 4\n[acme.ask(i) for i in x]\nif x: acme.ask(5)\n"
    assert answer("ask.is_statement(node)", text) == ["True", "False", "False", "False", "True"]


def test_other_events_and_the_release_of_torch(answer: Callable[..., list[str]]) -> None:
    text = 'acme.ask(1)\nx = torch.ones(2)\nx.to("cuda")\n'
    assert answer('[each.method for each in ask.events("move")]', text) == ["['to']"]
    assert answer("ask.target_torch", text, Settings(target_torch=(2, 6))) == ["(2, 6)"]


def test_questions_about_other_nodes_are_refused(answer: Callable[..., list[str]]) -> None:
    with pytest.raises(Exception, match="TST101 is broken: ValueError: questions are about nodes of the"):
        answer('ask.value_of(cst.Name("x"))', "acme.ask(1)\n")
    with pytest.raises(Exception, match="there is no event 'fact'"):
        answer('ask.events("fact")', "acme.ask(1)\n")


def test_calls_of_a_name(answer: Callable[..., list[str]]) -> None:
    text = "loss = torch.ones(2, requires_grad=True).sum()\nloss.backward()\nacme.ask()\n"
    assert answer("ask.calls_of('Tensor.backward')", text) == ["True"]
    assert answer("ask.calls_of('Tensor.item')", text) == ["False"]
    assert answer("ask.calls_of('Tensor.backward')", "acme.backward()\nacme.ask()\n") == ["False"]


def test_what_a_file_does_not_mention_needs_no_second_run(
    answer: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(record, "Record")
    assert answer("ask.calls_of('Tensor.backward')", "acme.ask()\n") == ["False"]
    defined = "class Scale:\n    def backward(ctx, grad):\n        return grad\nacme.ask()\n"
    assert answer("ask.calls_of('Tensor.backward')", defined) == ["False"]


def test_what_is_worked_out_once_a_file(provide: Callable[[str, str], None]) -> None:
    work = "\ndef _calls(ask):\n    ran.append(1)\n    return len(ask.events('call'))\n\nran = []\n"
    provide("asking", HEAD + work + RULE.format('f"{ask.once(_calls)} {len(ran)}"'))
    registry.forget()
    found = lint(b"import acme\nacme.ask()\ndef f():\n    acme.ask()\n", "a.py", Settings())
    assert [finding.message for finding in found] == ["2 1", "2 1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from b import c\n", "b c c True"),
        ("from b import c as d\nd(acme)\n", "b c d True"),
        ("from b import c\nc(x=1)\n", "b c c False"),
        ("from b import c\nacme.d = c\n", "b c c False"),
        ("import b.c as d  # of d\nd.e()\n", " b.c d False"),
        ("from b import c\ndef c(): pass\n", ""),
        ("from b import c\ndef f(c): pass\n", ""),
        ("from b import (\n    c\n)\n", ""),
        ("from b import c; c()\n", ""),
        ("from . import c\n", ""),
        ("if acme:\n    from b import c\n", ""),
    ],
)
def test_what_the_file_imports(answer: Callable[..., list[str]], text: str, expected: str) -> None:
    said = "f'{each.module} {each.name} {each.local} {each.plain}'"
    question = f"' '.join({said} for each in ask.imports() if each.local not in ('acme', 'torch'))"
    assert answer(question, f"{text}acme.ask()\n") == [expected]


def test_what_the_file_binds(answer: Callable[..., list[str]]) -> None:
    text = "def f(x):\n    y = 1\n    return z\nacme.ask()\n"
    assert answer("[ask.binds(name) for name in 'fxyz']", text) == ["[True, True, True, False]"]
