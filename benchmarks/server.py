"""Asks a server, as an editor does, how fast it answers and whether it shows what a run of the linter finds.

    python benchmarks/server.py FILE... [--edits 200] [--seed 1]

For each file: seconds until the first findings, milliseconds from a change to its findings with nothing
changed elsewhere (median and worst; the server waits for 20 ms of silence first), and the same for a hover.
Then random edits, after each of which the findings shown are compared with those of a fresh run on the same
text. Last, the server's memory after the first file and at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from devlint.config.discovery import Configs
from devlint.config.settings import Selection
from devlint.project.disk import project
from devlint.run.lint import lint
from devlint.server.positions import Lines, changed

_NEW = (
    "",
    " ",
    "\n",
    "x",
    ".to(device)",
    "\U0001f600",
    "  # noqa: DEV101",
    "    x = torch.ones(3)\n",
    "(",
    "\t",
)


class Editor:
    """A client that keeps what it is shown."""

    def __init__(self) -> None:
        self.client = LanguageClient("benchmark", "1")
        self.shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self.news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.shown[params.uri] = params.version, list(params.diagnostics)
            self.news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def show(params: types.ShowMessageParams) -> None:
            print(params.message, file=sys.stderr)

    async def start(self, root: Path) -> None:
        """Start a server."""
        await self.client.start_io(sys.executable, "-m", "devlint", "server")
        await self.client.initialize_async(
            types.InitializeParams(types.ClientCapabilities(), root_uri=root.as_uri())
        )
        self.client.initialized(types.InitializedParams())

    async def wait(self, uri: str, version: int) -> list[types.Diagnostic]:
        """Return what is shown of a version of a document, once it is."""
        while self.shown.get(uri, (None, []))[0] != version:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 120)
        return self.shown[uri][1]

    def change(self, uri: str, version: int, *changes: types.TextDocumentContentChangeEvent) -> None:
        """Tell that a document has changed."""
        document = types.VersionedTextDocumentIdentifier(version, uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, list(changes)))

    def memory(self) -> float:
        """Resident MiB of the server."""
        process = self.client._server
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0


def expected(text: str, path: Path, configs: Configs) -> list[tuple[object, int, int]]:
    """Return what a run of the linter finds, in the client's units."""
    lines = Lines(text)
    found = lint(text, str(path), configs.for_file(str(path)), [], project())
    return [(each.code, *lines.place(each.start)) for each in found]


async def measure(options: argparse.Namespace) -> None:
    """Measure, compare and print."""
    editor, choice = Editor(), random.Random(options.seed)
    configs = Configs(Selection())
    await editor.start(options.files[0].resolve().parent)
    differing = done = 0
    first = 0.0
    for path in options.files:
        path = path.resolve()
        text, uri, version = path.read_text(encoding="utf-8"), path.as_uri(), 1
        began = time.perf_counter()
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, version, text)
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await editor.wait(uri, version)
        opened = time.perf_counter() - began
        waits, hovers = [], []
        for _ in range(options.repeat):
            version += 1
            text += "\n"
            began = time.perf_counter()
            end = types.Position(text.count("\n") - 1, 0)
            editor.change(uri, version, types.TextDocumentContentChangePartial(types.Range(end, end), "\n"))
            await editor.wait(uri, version)
            waits.append((time.perf_counter() - began) * 1000)
        for _ in range(options.repeat):
            row = choice.randrange(text.count("\n") + 1)
            began = time.perf_counter()
            await editor.client.text_document_hover_async(
                types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(row, 8))
            )
            hovers.append((time.perf_counter() - began) * 1000)
        first = first or editor.memory()
        print(
            f"{path.name}: {text.count(chr(10))} lines, opened in {opened:.2f} s, change to findings "
            f"{statistics.median(waits):.0f} ms (worst {max(waits):.0f}), "
            f"hover {statistics.median(hovers):.0f} ms (the first {hovers[0]:.0f})",
            flush=True,
        )
        for _ in range(options.edits // len(options.files)):
            version += 1
            rows = text.split("\n")
            row = choice.randrange(len(rows))
            units = len(rows[row].encode("utf-16-le")) // 2
            start = choice.randrange(units + 1)
            stop = choice.randrange(start, min(units, start + 12) + 1)
            new = choice.choice(_NEW)
            if choice.random() < 0.15:
                text = path.read_text(encoding="utf-8")
                editor.change(uri, version, types.TextDocumentContentChangeWholeDocument(text))
            else:
                place = types.Range(types.Position(row, start), types.Position(row, stop))
                text = changed(text, (row, start), (row, stop), new)
                editor.change(uri, version, types.TextDocumentContentChangePartial(place, new))
            if options.compare:
                shown = [
                    (each.code, each.range.start.line, each.range.start.character)
                    for each in await editor.wait(uri, version)
                ]
                wanted = expected(text, path, configs)
                done += 1
                if shown != wanted:
                    differing += 1
                    print(f"{path.name}: {shown} is not {wanted}")
            elif version % 20 == 0:
                await editor.wait(uri, version)
        await editor.wait(uri, version)
    print(f"{done} edits compared, {differing} differ")
    print(f"memory {first:.0f} MiB, at the end {editor.memory():.0f} MiB")
    await editor.client.shutdown_async(None)
    editor.client.exit(None)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-compare", dest="compare", action="store_false")
    asyncio.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
