"""``python -m planegraph``: the same as the command ``planegraph``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
