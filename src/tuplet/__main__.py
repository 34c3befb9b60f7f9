"""`python -m tuplet`."""

import os
import sys

if sys.path[0] in ("", os.getcwd()):  # noqa: PTH109  # a rich.py there is not what we import
    sys.path.append(sys.path.pop(0))

from tuplet.cli import main

if __name__ == "__main__":
    main()
