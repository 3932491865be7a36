"""The laboratory's process: `serve.py DEVICE`; takes calls as lines of JSON and answers with the same."""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
import warnings

from devlint.runtime import worker


def main() -> None:
    """Answer calls until standard input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    if sys.argv[1] != "cuda":
        worker.install(sys.argv[1])
    for line in sys.stdin:
        name, args = json.loads(line)
        module, _, function = name.partition(".")
        try:
            answer = {"result": getattr(importlib.import_module(module), function)(*args)}
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
