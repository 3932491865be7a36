"""Runs devlint as `python -m devlint`."""

import sys

if __name__ == "__main__":
    # `-m` puts the current folder first on the path: a module of the linted repository would be imported in
    # place of the one that devlint means. What Python and devlint's package import before cannot be helped.
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        del sys.path[0]
    from .commands.cli import main

    sys.exit(main())
