"""``python -m torchsleuth``: the command line, where its script is not on the path."""

import os
import sys

if sys.path and sys.path[0] in ("", os.getcwd()):
    # `-m` lets a file of the working folder stand in the place of a module of the library.
    del sys.path[0]

from torchsleuth.cli.main import main

if __name__ == "__main__":
    main()
