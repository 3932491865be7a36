"""The language server, asked as editors ask it: what is shown is what `devlint check` finds."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

import pytest

from devlint.commands.cli import main
from devlint.config.settings import Settings
from devlint.finding import Position
from devlint.project.disk import project
from devlint.project.index import Project
from devlint.run.lint import lint
from devlint.server import desk
from devlint.server.analysis import Analyses
from devlint.server.documents import Document
from devlint.server.positions import Lines, changed, difference
from devlint.server.server import Server

FIXTURES = Path(__file__).parents[1] / "fixtures"
PATIENCE = 60.0
PROGRAM = """\
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(2, 2).to(device)
mask = torch.ones(4)
mask.to(device)
out = model(mask)
"""


class Client:
    """A client that speaks JSON over two streams, and answers what servers ask."""

    server: Server

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self.writer = writer
        self.last = 0
        self.received: queue.Queue[dict[str, Any]] = queue.Queue()
        self.shown: dict[str, list[dict[str, Any]]] = {}
        self.published: list[str] = []
        self.messages: list[str] = []
        self.settings: Any = None
        self.refreshed = 0
        threading.Thread(target=self._read, args=(reader,), daemon=True).start()

    def _read(self, reader: IO[bytes]) -> None:
        while True:
            size = 0
            while (line := reader.readline().strip()) or not size:
                if not line:
                    return
                name, _, value = line.partition(b":")
                size = int(value) if name.lower() == b"content-length" else size
            self.received.put(json.loads(reader.read(size)))

    def _send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.writer.flush()

    def notify(self, method: str, **params: Any) -> None:
        self._send(method=method, params=params)

    def request(self, method: str, **params: Any) -> Any:
        self.last += 1
        mine = self.last
        self._send(id=mine, method=method, params=params)
        while True:
            message = self._next()
            if message.get("id") == mine and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def _next(self, patience: float = PATIENCE) -> dict[str, Any]:
        message = self.received.get(timeout=patience)
        params = message.get("params") or {}
        if message.get("method") == "textDocument/publishDiagnostics":
            self.shown[params["uri"]] = params["diagnostics"]
            self.published.append(params["uri"])
        elif message.get("method") == "window/showMessage":
            self.messages.append(params["message"])
        elif message.get("method") == "workspace/configuration":
            assert params["items"] == [{"section": "devlint"}]
            self._send(id=message["id"], result=[self.settings])
        elif "method" in message and "id" in message:
            self.refreshed += message["method"] == "workspace/diagnostic/refresh"
            self._send(id=message["id"], result=None)
        return message

    def initialize(
        self, root: Path, process: int | None = None, can: dict[str, Any] | None = None, **options: Any
    ) -> dict[str, Any]:
        """Begin; `can` are capabilities of the client besides those that all of these have."""
        can = can or {}
        found: dict[str, Any] = self.request(
            "initialize",
            processId=process,
            rootUri=root.as_uri(),
            workspaceFolders=[{"uri": root.as_uri(), "name": root.name}],
            initializationOptions=options or None,
            capabilities={
                "textDocument": {
                    "publishDiagnostics": {"relatedInformation": True},
                    "codeAction": {"resolveSupport": {"properties": ["edit"]}, "dataSupport": True},
                    **can.get("textDocument", {}),
                },
                "workspace": {"workspaceEdit": {"documentChanges": True}, **can.get("workspace", {})},
            },
        )
        self.notify("initialized")
        return found

    def open(self, path: Path, text: str | None = None) -> str:
        uri = path.as_uri()
        text = path.read_text(encoding="utf-8") if text is None else text
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", textDocument=item)
        return uri

    def change(self, uri: str, *changes: dict[str, Any], version: int = 2) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", textDocument=document, contentChanges=list(changes))

    def wait(self, uri: str) -> list[dict[str, Any]]:
        """Wait until a document's diagnostics are published again."""
        while True:
            message = self._next()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return self.shown[uri]

    def settle(self, seconds: float = 0.7) -> None:
        """Take what comes until nothing has come for a while."""
        while True:
            try:
                self._next(seconds)
            except queue.Empty:
                return

    def actions(self, uri: str, line: int, only: list[str] | None = None) -> dict[str, Any]:
        place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 99}}
        context = {"diagnostics": self.shown.get(uri, []), **({"only": only} if only else {})}
        found = self.request(
            "textDocument/codeAction", textDocument={"uri": uri}, range=place, context=context
        )
        return {each["title"]: each for each in found}

    def pull(self, uri: str, known: str | None = None) -> dict[str, Any]:
        """Ask for the diagnostics of a document."""
        found: dict[str, Any] = self.request(
            "textDocument/diagnostic", textDocument={"uri": uri}, previousResultId=known
        )
        return found

    def hover(self, uri: str, line: int, character: int) -> str | None:
        position = {"line": line, "character": character}
        found = self.request("textDocument/hover", textDocument={"uri": uri}, position=position)
        return found["contents"]["value"] if found else None


@pytest.fixture
def client(tmp_path: Path) -> Any:
    """A client of a server in this process."""
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()
    server = Server()
    reader, writer = os.fdopen(to_server, "rb"), os.fdopen(from_server, "wb")
    thread = threading.Thread(target=server.run, args=(reader, writer), daemon=True)
    thread.start()
    found = Client(os.fdopen(to_client, "rb"), os.fdopen(from_client, "wb"))
    found.server = server
    yield found
    found.writer.close()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def codes(shown: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [
        (each["code"], each["range"]["start"]["line"] + 1, each["range"]["start"]["character"] + 1)
        for each in shown
    ]


def expected(text: str, path: Path) -> list[tuple[str, int, int]]:
    """What a run of the linter finds, in the client's units."""
    lines = Lines(text)
    found = lint(text, str(path), Settings(root="/"), project=project())
    return [(each.code, (at := lines.place(each.start))[0] + 1, at[1] + 1) for each in found]


def applied(text: str, action: dict[str, Any]) -> str:
    """The text after the only change of an action."""
    (change,) = action["edit"]["documentChanges"]
    for edit in reversed(change["edits"]):
        start, end = edit["range"]["start"], edit["range"]["end"]
        places = (start["line"], start["character"]), (end["line"], end["character"])
        text = changed(text, *places, edit["newText"])
    return text


def test_findings_are_shown_with_what_explains_them(client: Client, tmp_path: Path) -> None:
    said = client.initialize(tmp_path)
    assert said["serverInfo"]["name"] == "devlint"
    assert said["capabilities"]["positionEncoding"] == "utf-16"
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    shown = client.wait(client.open(path))
    assert codes(shown) == expected(PROGRAM, path) == [("DEV101", 7, 1)]
    (diagnostic,) = shown
    assert diagnostic["severity"] == 1
    assert diagnostic["source"] == "devlint"
    assert diagnostic["message"].startswith("the result of `mask.to()` is thrown away")
    assert "codeDescription" not in diagnostic


def test_a_suppression_that_silences_nothing_is_faded_and_rules_link_where_asked(
    client: Client, tmp_path: Path
) -> None:
    client.initialize(tmp_path, documentationUrl="https://example.org/{code}")
    path = tmp_path / "train.py"
    path.write_text("import torch\nx = torch.ones(2)  # noqa: DEV101\n")
    (diagnostic,) = client.wait(client.open(path))
    assert diagnostic["code"] == "DEV001"
    assert diagnostic["tags"] == [1]
    assert diagnostic["codeDescription"] == {"href": "https://example.org/DEV001"}


def test_the_places_that_explain_are_in_other_files_too(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    helper, train = tmp_path / "helper.py", tmp_path / "train.py"
    helper.write_text("import torch\n\n\ndef optimizer(m):\n    return torch.optim.Adagrad(m.parameters())\n")
    train.write_text(
        "import torch\nfrom helper import optimizer\n\n\ndef train(device):\n    m = torch.nn.Linear(2, 2)\n"
        "    o = optimizer(m)\n    m.to(device)\n    m(torch.ones(2, device=device)).sum().backward()\n"
        "    o.step()\n"
    )
    shown = client.wait(client.open(train))
    assert [each["code"] for each in shown] == ["DEV301"]
    places = {each["location"]["uri"] for each in shown[0]["relatedInformation"]}
    assert places == {helper.as_uri()}


def test_positions_count_utf_16(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    path = tmp_path / "train.py"
    text = 'import torch\nx = torch.ones(2)\ns = "\U0001f600\U0001f600"; x.to("cuda"); print(s, x)\n'
    path.write_text(text, encoding="utf-8")
    shown = client.wait(uri := client.open(path))
    (move,) = [each for each in shown if each["code"] == "DEV101"]
    assert move["range"] == {"start": {"line": 2, "character": 12}, "end": {"line": 2, "character": 24}}
    assert client.hover(uri, 2, 12) == "`x`: tensor on cpu, made by `torch.ones` on `cpu` at line 2"
    edit = {"range": {"start": {"line": 2, "character": 7}, "end": {"line": 2, "character": 9}}, "text": "é"}
    client.change(uri, edit)
    shown = client.wait(uri)
    assert codes(shown) == expected(text.replace("\U0001f600\U0001f600", "\U0001f600é"), path)


def test_what_is_typed_counts_and_what_is_closed_is_cleared(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    uri = client.open(path)
    assert client.wait(uri)
    client.change(uri, {"text": PROGRAM.replace("mask.to(device)\n", "mask = mask.to(device)\n")})
    assert client.wait(uri) == []
    client.change(uri, {"text": "x = (\n"}, version=3)
    assert codes(client.wait(uri)) == [("DEV000", 1, 5)]
    client.notify("textDocument/didClose", textDocument={"uri": uri})
    assert client.wait(uri) == []


def test_unsaved_text_is_what_other_documents_see_and_only_those_are_linted_again(
    client: Client, tmp_path: Path
) -> None:
    client.initialize(tmp_path)
    helper, user, other = (tmp_path / name for name in ("helper.py", "user.py", "other.py"))
    helper.write_text("import torch\n\n\ndef make():\n    return object()\n")
    user.write_text("from helper import make\n\nx = make()\nx.to('cuda')\nprint(x)\n")
    other.write_text(PROGRAM)
    uris = [client.open(path) for path in (user, other, helper)]
    client.settle()
    assert not [each for each in client.shown[uris[0]] if each["code"] == "DEV101"]
    client.published.clear()
    client.change(uris[2], {"text": helper.read_text().replace("object()", "torch.ones(2)")})
    client.settle()
    assert "DEV101" in [each["code"] for each in client.shown[uris[0]]]
    assert sorted(set(client.published)) == sorted([uris[0], uris[2]])
    client.notify("textDocument/didClose", textDocument={"uri": uris[2]})
    client.settle()
    assert "DEV101" not in [each["code"] for each in client.shown[uris[0]]]  # the disk counts again


def test_what_rests_on_all_files_follows_an_edit_of_any(client: Client, tmp_path: Path) -> None:
    """Checkpoints of a project that knows of no accelerator are no warning, until it does."""
    client.initialize(tmp_path)
    saving, loading = tmp_path / "saving.py", tmp_path / "loading.py"
    saving.write_text("import torch\n\n\ndef save(net, path):\n    torch.save(net.state_dict(), path)\n")
    loading.write_text("import torch\n\n\ndef load(net, path):\n    net.load_state_dict(torch.load(path))\n")
    uris = [client.open(path) for path in (loading, saving)]
    client.settle(3.0)
    severities = []
    host = saving.read_text()
    for text in (f"{host}\n", f"{host}\n\ndevice = 'cuda'\n", host):
        client.change(uris[1], {"text": text})
        client.settle(3.0)
        shown = client.shown.get(uris[0], [])
        severities.append([each["severity"] for each in shown if each["code"] == "DEV205"])
    assert severities[1] == [2]
    assert severities[0] == severities[2] != severities[1]


def test_an_analysis_that_is_overtaken_is_not_shown(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.initialize(tmp_path)
    uri = client.open(tmp_path / "train.py", "x = 1\n")
    assert client.wait(uri) == []
    lint_as_before = client.server.analyses.lint
    texts = []

    def overtaken(document: Any, others: Any) -> Any:
        texts.append(document.text)
        if len(texts) == 1:  # while it goes on, somebody types
            client.change(uri, {"text": "x = (\n"}, version=3)
            while client.server.documents.get(uri) is document:
                time.sleep(0.01)
        return lint_as_before(document, others)

    monkeypatch.setattr(client.server.analyses, "lint", overtaken)
    client.published.clear()
    client.change(uri, {"text": PROGRAM})
    assert codes(client.wait(uri)) == [("DEV000", 1, 5)]
    assert texts == [PROGRAM, "x = (\n"]
    assert client.published == [uri]


def test_an_internal_error_is_told_and_costs_one_analysis(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.initialize(tmp_path)
    (tmp_path / "helper.py").write_text("import torch\n\n\ndef make():\n    return torch.ones(2)\n")
    text = "import torch\nfrom helper import make\n\nx = make()\nx.to('cuda')\nprint(x)\n"
    run = Project._run
    asked: list[str] = []

    def broken(self: Project, path: str, hidden: frozenset[str]) -> Any:
        if path.endswith("helper.py"):
            asked.append(path)
            if len(asked) == 1:
                raise ZeroDivisionError("it exploded")
        return run(self, path, hidden)

    monkeypatch.setattr(Project, "_run", broken)
    uri = client.open(tmp_path / "user.py", text)
    assert client.wait(uri) == []
    assert "internal error: ZeroDivisionError: it exploded" in client.messages[0]
    client.change(uri, {"text": text + "\n"})
    assert "DEV101" in [each["code"] for each in client.wait(uri)]


def test_each_folder_has_its_own_configuration_and_changes_of_it_count(
    client: Client, tmp_path: Path
) -> None:
    client.initialize(tmp_path)
    for name, rules in (("one", '["DEV101"]'), ("two", "[]")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").write_text(f"[tool.devlint]\nignore = {rules}\n")
        (tmp_path / name / "train.py").write_text(PROGRAM)
    one, two = (client.open(tmp_path / name / "train.py") for name in ("one", "two"))
    client.settle()
    assert (client.shown[one], len(client.shown[two])) == ([], 1)
    (tmp_path / "one" / "pyproject.toml").write_text("[tool.devlint]\nignore = []  # none\n")
    client.notify("workspace/didChangeWatchedFiles", changes=[])
    client.settle()
    assert len(client.shown[one]) == 1
    (tmp_path / "one" / "pyproject.toml").write_text("[tool.devlint]\nignored = []\n")
    client.change(one, {"text": PROGRAM + "\n"})
    client.settle()
    assert client.shown[one] == []
    assert [each for each in client.messages if "unknown key; did you mean `ignore`?" in each]


def test_options_choose_rules_and_what_is_wrong_in_them_is_said(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path, ignore=["DEV101"])
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    uri = client.open(path)
    assert client.wait(uri) == []
    client.notify("workspace/didChangeConfiguration", settings={"devlint": {"select": ["DEV101"]}})
    assert len(client.wait(uri)) == 1
    client.notify("workspace/didChangeConfiguration", settings={"devlint": {"selects": ["DEV101"]}})
    client.settle()
    assert "there is no option 'selects'" in client.messages[0]


PULLS = {
    "textDocument": {"diagnostic": {"relatedInformation": True}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}


def test_a_client_that_asks_by_itself_is_sent_nothing(client: Client, tmp_path: Path) -> None:
    said = client.initialize(tmp_path, can=PULLS)
    provider = said["capabilities"]["diagnosticProvider"]
    assert provider == {"interFileDependencies": True, "workspaceDiagnostics": False}
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    uri = client.open(path)
    first = client.pull(uri)
    assert (first["kind"], codes(first["items"])) == ("full", [("DEV101", 7, 1)])
    assert client.pull(uri, first["resultId"]) == {"kind": "unchanged", "resultId": first["resultId"]}
    client.change(uri, {"text": PROGRAM.replace("mask.to(device)\n", "mask = mask.to(device)\n")})
    second = client.pull(uri, first["resultId"])
    assert (second["kind"], second["items"]) == ("full", [])
    assert second["resultId"] != first["resultId"]
    client.settle()
    client.notify("textDocument/didClose", textDocument={"uri": uri})
    assert client.pull(uri) == {"kind": "full", "items": []}
    assert (client.published, client.refreshed) == ([], 0)


def test_a_client_that_asks_by_itself_is_told_to_when_another_document_has_a_say(
    client: Client, tmp_path: Path
) -> None:
    client.initialize(tmp_path, can=PULLS)
    helper, user, other = (tmp_path / name for name in ("helper.py", "user.py", "other.py"))
    helper.write_text("import torch\n\n\ndef make():\n    return object()\n")
    user.write_text("from helper import make\n\nx = make()\nx.to('cuda')\nprint(x)\n")
    other.write_text(PROGRAM)
    uris = [client.open(path) for path in (user, other, helper)]
    before = [client.pull(uri) for uri in uris]
    assert "DEV101" not in [each["code"] for each in before[0]["items"]]
    client.change(uris[2], {"text": helper.read_text().replace("object()", "torch.ones(2)")})
    client.settle()
    assert client.refreshed == 1
    after = [client.pull(uri, known["resultId"]) for uri, known in zip(uris, before, strict=True)]
    assert "DEV101" in [each["code"] for each in after[0]["items"]]
    assert [each["kind"] for each in after[1:]] == ["unchanged", "unchanged"]
    client.change(uris[2], {"text": helper.read_text() + "\n"})  # back to where it was; not waited for
    assert "DEV101" not in [each["code"] for each in client.pull(uris[0])["items"]]
    client.settle()
    assert (client.published, client.refreshed) == ([], 1)


def test_a_client_that_is_told_nothing_of_other_documents_is_sent_diagnostics(
    client: Client, tmp_path: Path
) -> None:
    said = client.initialize(tmp_path, can={"textDocument": PULLS["textDocument"]})
    assert "diagnosticProvider" not in said["capabilities"]
    assert len(client.wait(client.open(tmp_path / "train.py", PROGRAM))) == 1


def test_settings_are_asked_for(client: Client, tmp_path: Path) -> None:
    client.settings = {"ignore": ["discarded-move"]}
    client.initialize(tmp_path, can={"workspace": {"configuration": True}}, select=["DEV001"])
    uri = client.open(tmp_path / "train.py", PROGRAM)
    client.settle()
    assert client.shown[uri] == []
    for settings, shown in (({"select": ["DEV101"]}, 1), ({}, 0), ({"ignore": []}, 1), (None, 0)):
        client.settings = settings
        client.notify("workspace/didChangeConfiguration", settings=None)
        assert len(client.wait(uri)) == shown, settings
    client.settings = {"slect": []}
    client.notify("workspace/didChangeConfiguration", settings={"python": {}})
    client.settle()
    assert "there is no option 'slect'" in client.messages[0]


@pytest.mark.parametrize(
    ("line", "character", "said"),
    [
        (5, 1, "`mask`: tensor on cpu, made by `torch.ones` on `cpu` at line 6; meets `model` (module on"),
        (4, 1, "`model`: module on device, moved to `device` at line 5, made by `torch.nn.Linear`"),
        (3, 1, "`device`: device (cpu or cuda)"),
        (1, 1, None),
        (90, 1, None),
    ],
)
def test_hover_tells_what_a_value_is(
    client: Client, tmp_path: Path, line: int, character: int, said: str | None
) -> None:
    client.initialize(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    found = client.hover(client.open(path), line, character)
    assert found == said if said is None else (found or "").startswith(said)


def test_hover_tells_what_a_code_in_a_comment_means(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    uri = client.open(tmp_path / "train.py", "x = 1  # noqa: DEV101\n")
    assert (
        client.hover(uri, 0, 17) == "**DEV101 discarded-move**: The result of moving a tensor is thrown away"
    )


def test_a_fix_and_comments_are_offered(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path, reason="on purpose")
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    uri = client.open(path)
    client.wait(uri)
    found = client.actions(uri, 6)
    (fix,) = [each for title, each in found.items() if "assign" in title or "keep" in title]
    assert fix["kind"] == "quickfix"
    assert fix["diagnostics"][0]["code"] == "DEV101"
    assert applied(PROGRAM, fix) == PROGRAM.replace("mask.to(device)\n", "mask = mask.to(device)\n")
    silenced = applied(PROGRAM, found["DEV101: silence it with a comment"])
    assert silenced == PROGRAM.replace("mask.to(device)\n", "mask.to(device)  # noqa: DEV101\n")
    told = applied(PROGRAM, found["DEV101: silence it and say why"])
    assert "mask.to(device)  # noqa: DEV101 - on purpose\n" in told
    assert client.actions(uri, 1, only=["quickfix"]) == {}


def test_an_unsafe_fix_says_so(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    text = PROGRAM.replace("mask.to(device)\n", "model.cuda()\n")
    uri = client.open(tmp_path / "train.py", text)
    client.wait(uri)
    (title,) = [
        each for each in client.actions(uri, 6) if each.startswith("DEV201") and "silence" not in each
    ]
    assert title.endswith("(unsafe: may change behaviour)")


def test_all_that_is_safe_is_fixed_on_request(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    text = "import torch\nx = torch.ones(2)  # noqa: DEV101\ny = torch.ones(3)  # noqa: DEV102\n"
    uri = client.open(tmp_path / "train.py", text)
    assert len(client.wait(uri)) == 2
    (action,) = client.actions(uri, 0, only=["source.fixAll"]).values()
    assert action["kind"] == "source.fixAll.devlint"
    resolved = client.request("codeAction/resolve", **action)
    assert applied(text, resolved) == "import torch\nx = torch.ones(2)\ny = torch.ones(3)\n"
    assert client.actions(uri, 0, only=["source.organizeImports"]) == {}


def test_devices_are_hinted_where_asked(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path, inlayHints=True)
    uri = client.open(tmp_path / "train.py", PROGRAM)
    place = {"start": {"line": 4, "character": 0}, "end": {"line": 7, "character": 0}}
    found = client.request("textDocument/inlayHint", textDocument={"uri": uri}, range=place)
    assert [(each["position"]["line"], each["label"]) for each in found[:2]] == [
        (4, ": device"),
        (5, ": cpu"),
    ]
    client.notify("workspace/didChangeConfiguration", settings={"devlint": {}})
    assert not client.request("textDocument/inlayHint", textDocument={"uri": uri}, range=place)


def test_the_cells_of_a_notebook_are_one_program(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    uri = (tmp_path / "nb.ipynb").as_uri()
    cells = [f"{uri}#{number}" for number in range(3)]
    texts = ["import torch\nx = torch.ones(3)\n", "# text", "x.to('cpu')\n%time\ny = x.numpy()\n"]
    kinds = [2, 1, 2]
    client.notify(
        "notebookDocument/didOpen",
        notebookDocument={
            "uri": uri,
            "notebookType": "jupyter-notebook",
            "version": 1,
            "cells": [{"kind": kind, "document": cell} for kind, cell in zip(kinds, cells, strict=True)],
        },
        cellTextDocuments=[
            {"uri": cell, "languageId": "python" if kind == 2 else "markdown", "version": 1, "text": text}
            for kind, cell, text in zip(kinds, cells, texts, strict=True)
        ],
    )
    client.settle()
    assert {cell: codes(client.shown[cell]) for cell in cells} == {cells[0]: [], cells[1]: [], cells[2]: []}
    edit = {
        "range": {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 9}},
        "text": "cuda",
    }
    client.notify(
        "notebookDocument/didChange",
        notebookDocument={"uri": uri, "version": 2},
        change={"cells": {"textContent": [{"document": {"uri": cells[2], "version": 2}, "changes": [edit]}]}},
    )
    client.settle()
    assert ("DEV101", 1, 1) in codes(client.shown[cells[2]])
    assert client.shown[cells[0]] == []
    hover = client.hover(cells[2], 0, 0)
    assert hover is not None
    assert "made by `torch.ones` on `cpu` at line 2 of cell 1" in hover
    silence = client.actions(cells[2], 0)["DEV101: silence it with a comment"]
    after = applied(texts[2].replace("cpu", "cuda"), silence)
    assert after.splitlines()[0].startswith("x.to('cuda')  # noqa: DEV101")
    assert silence["edit"]["documentChanges"][0]["textDocument"]["uri"] == cells[2]


def test_after_every_edit_what_is_shown_is_what_a_run_finds(client: Client, tmp_path: Path) -> None:
    """Random edits of a real program, none of them waited for by somebody who types."""
    choice = random.Random(7)
    client.initialize(tmp_path)
    program = next(iter(sorted((FIXTURES / "programs").glob("*.py"))))
    path = tmp_path / program.name
    text = program.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    uri = client.open(path)
    client.wait(uri)
    for version in range(2, 10):
        rows = text.split("\n")
        row = choice.randrange(len(rows))
        start = choice.randrange(len(rows[row]) + 1)
        end = choice.randrange(start, len(rows[row]) + 1)
        new = choice.choice(["", " ", "\n", "x", "\U0001f600", ".to('cuda')", "# noqa: DEV101", "\f"])
        place = {"start": {"line": row, "character": start}, "end": {"line": row, "character": end}}
        if text.isascii():
            text = changed(text, (row, start), (row, end), new)
            client.change(uri, {"range": place, "text": new}, version=version)
        else:
            text = program.read_text(encoding="utf-8")
            client.change(uri, {"text": text}, version=version)
        assert codes(client.wait(uri)) == expected(text, path)


def test_a_rule_that_prints_does_not_disturb_and_a_dead_client_leaves_nothing(tmp_path: Path) -> None:
    """The server as editors start it; its client never says that it ends."""
    start = (
        "import sys; from devlint.commands.cli import main; import devlint.run.lint as l; old = l._program\n"
    )
    start += "def loud(*args): print('loud'); sys.stdout.flush(); return old(*args)\n"
    start += "l._program = loud; sys.exit(main(['server']))"
    server = subprocess.Popen(
        [sys.executable, "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stderr is not None
    client = Client(server.stdout, server.stdin)
    client.initialize(tmp_path, os.getpid())
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    assert codes(client.wait(client.open(path))) == [("DEV101", 7, 1)]
    server.stdin.close()
    assert server.wait(PATIENCE) == 1
    assert b"loud" in server.stderr.read()


def test_without_pygls_the_server_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    assert main(["server"]) == 2
    assert "pip install 'devlint[server]'" in capsys.readouterr().err


def test_the_server_ends_when_it_is_told(client: Client, tmp_path: Path) -> None:
    client.initialize(tmp_path)
    assert client.request("shutdown") is None
    client.notify("exit")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8"])
def test_places_are_the_same_there_and_back(encoding: str) -> None:
    text = "a\r\nb\U0001f600cé\fd\n\n\rx"
    lines = Lines(text, encoding)
    assert lines.rows == ["a\r\n", "b\U0001f600cé\fd\n", "\n", "\r", "x"]
    for row, content in enumerate(lines.rows, 1):
        for column in range(1, len(content.rstrip("\r\n")) + 2):
            position = Position(row, column)
            assert lines.position(lines.place(position)) == position
    assert lines.offset((99, 0)) == len(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [("a\nb\nc\n", "a\nB\nc\n"), ("", "x\n"), ("x\n", ""), ("a\r\nb", "a\r\nb\r\nc"), ("aa\naa\n", "aa\n")],
)
def test_the_difference_of_two_texts_makes_one_of_the_other(before: str, after: str) -> None:
    text, lines = before, Lines(before)
    for each in reversed(list(difference(before, after))):
        text = changed(text, lines.place(each.start), lines.place(each.end), each.content)
    assert text == after


def test_files_that_import_each_other_are_known_as_a_fresh_look_has_them(tmp_path: Path) -> None:
    """Random edits of modules in circles: what is found is never what an earlier state has left behind."""
    choice = random.Random(3)
    names = ["one", "two", "three", "four", "main"]
    rows = [
        "x_{0} = torch.ones(2)",
        "x_{0} = torch.ones(2, device=DEVICE)",
        "def make_{0}():\n    return torch.ones(2)",
        "def make_{0}():\n    return torch.ones(2, device=DEVICE)",
        "def make_{0}():\n    return make_{1}()",
        "def move_{0}(model):\n    return model.to(DEVICE)",
        "def get_{0}(y):\n    return y.numpy()",
        "got_{0} = get_{1}(make_{1}())",
        "y = make_{1}()\ny.to(DEVICE)\nprint(y)",
        "torch.nn.Linear(2, 2).to(DEVICE)(make_{1}())",
        "def broken_{0}(:",
    ]
    head = "import torch\n\nDEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    (tmp_path / "pyproject.toml").touch()
    parts = {name: [choice.choice(rows[:-1]) for _ in range(3)] for name in names}
    imports = {name: {names[number - 1]} for number, name in enumerate(names)}  # all of them in a circle

    def text(name: str) -> str:
        others = sorted(imports[name])
        used = [row.format(name, choice.choice(others) if others else name) for row in parts[name]]
        taken = [f"from {other} import *" for other in others]
        return head + "\n".join([*taken, *used]) + "\n"

    texts = {str(tmp_path / f"{name}.py"): text(name) for name in names}
    for path in texts:
        Path(path).touch()
    analyses = Analyses()
    found = 0
    for _ in range(100):
        name = choice.choice(names)
        path = str(tmp_path / f"{name}.py")
        if choice.random() < 0.2:
            imports[name] ^= {choice.choice([each for each in names if each != name])}
        elif choice.random() < 0.2:
            parts[name] = parts[name][:3]  # among others, what is broken goes
        else:
            parts[name][choice.randrange(3)] = choice.choice(rows)
        texts[path] = text(name) + "# changed\n" * choice.randrange(2)
        for each in [path, choice.choice(list(texts))]:
            document = Document(f"file://{each}", each, texts[each], 1)
            shown = analyses.lint(document, texts).findings
            fresh = project(texts.get)
            wanted = lint(texts[each], each, Settings(root=str(tmp_path)), project=fresh)
            assert [(item.code, item.start) for item in shown] == [(item.code, item.start) for item in wanted]
            found += len(shown)
    assert found > 40


def test_an_edit_in_a_circle_costs_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"m{number}" for number in range(6)]
    for number, name in enumerate(names):
        before = names[number - 1]
        file = tmp_path / f"{name}.py"
        file.write_text(
            f"import torch\nfrom {before} import make_{before}\n\n\ndef make_{name}():\n"
            f"    return torch.ones(2) + make_{before}()\n"
        )
    path = str(tmp_path / "m0.py")
    texts = {path: Path(path).read_text()}
    run, ran = Project._run, list[str]()

    def counted(self: Project, path: str, hidden: frozenset[str]) -> Any:
        ran.append(Path(path).stem)
        return run(self, path, hidden)

    monkeypatch.setattr(Project, "_run", counted)
    analyses = Analyses()

    def shown(path: str) -> list[str]:
        ran.clear()
        document = Document(f"file://{path}", path, texts[path], 1)
        return [each.code for each in analyses.lint(document, {path: texts[path]}).findings]

    assert shown(path) == []
    assert set(ran) == set(names)
    texts[path] += "\n\nx = make_m0()\nx.to('cuda')\nprint(x)\n"
    for number in range(3):
        assert "DEV101" in shown(path)
        assert ran.count("m1") == 0, "what nobody has changed is analysed again"
        texts[path] += f"y{number} = 1\n"
    texts[path] += "def broken(:\n"
    assert shown(path) == ["DEV000"]
    texts[path] = texts[path].replace("def broken(:\n", "")
    assert "DEV101" in shown(path)
    assert set(ran) <= {"m0"}


def test_garbage_is_collected_when_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """After questions as after documents: the collector itself is off while the server runs."""
    collected: list[str] = []
    monkeypatch.setattr(desk, "_IDLE", 0.01)
    monkeypatch.setattr(gc, "collect", lambda: collected.append("all"))
    served: list[str] = []

    async def serve(uri: str) -> None:
        served.append(uri)

    async def idle(expected: int) -> None:
        for _ in range(500):
            await asyncio.sleep(0.01)
            if len(collected) >= expected:
                break
        assert len(collected) == expected

    async def work() -> None:
        whole = desk.Desk(serve)
        assert await whole.ask(lambda: 1) == 1
        await idle(1)
        whole.request("file:///a.py")
        await idle(2)
        await asyncio.sleep(0.05)
        whole.close()

    asyncio.run(work())
    assert served == ["file:///a.py"]
    assert len(collected) == 2  # nothing to do, nothing to collect
