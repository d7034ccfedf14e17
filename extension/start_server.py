"""Starts the language server with the libraries that lie beside this file, whatever else the interpreter has installed.

Only `sys.path` is changed, not the environment: the worker and the runs, which are processes of their own, see none of it.
"""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "libs")]

from torchsleuth.lsp.server import main  # noqa: E402

if __name__ == "__main__":
    main()
