"""Takes pictures of the documentation site in a browser, at two widths, light and dark.

    python tools/site.py --build && python tools/pictures.py FOLDER [PAGE …]

It needs playwright and a Chromium: its own, or one that is installed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

SITE = Path(__file__).parents[1] / ".cache" / "site" / "html"
SHOWN = ("", "rules/", "rules/discarded-move/", "configuration/", "comparison/", "field-report/")
WIDTHS = {"wide": (1280, 900), "phone": (390, 844)}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> int:
    """Take the pictures, and tell what is wider than the screen and what the console complains of."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("pages", nargs="*", default=SHOWN, metavar="PAGE", help="paths in the site")
    parser.add_argument("--whole", action="store_true", help="the whole length of each page")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bad = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            for width, (columns, rows) in WIDTHS.items():
                size = {"width": columns, "height": rows}
                context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
                page = context.new_page()
                complaints: list[str] = []
                page.on("console", lambda message, said=complaints: said.append(message.text))
                page.on("requestfailed", lambda request, said=complaints: said.append(request.url))
                for path in options.pages:
                    page.goto(f"http://127.0.0.1:{server.server_port}/{path}", wait_until="networkidle")
                    name = f"{path.strip('/').replace('/', '-') or 'start'}-{width}-{scheme}.png"
                    page.screenshot(path=str(options.folder / name), full_page=options.whole)
                    over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                    if over > 0:
                        print(f"{name}: {over} pixels wider than the screen")
                        bad += 1
                for complaint in complaints:
                    print(f"{scheme}, {width}: {complaint}")
                    bad += 1
                context.close()
        browser.close()
    server.shutdown()
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
