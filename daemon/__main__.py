"""`python -m daemon`, and the `feltd` command."""

from __future__ import annotations

import sys

from daemon.cli import main

if __name__ == "__main__":
    sys.exit(main())
