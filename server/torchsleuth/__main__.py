"""The entry point of the command line, as a script and as ``python -m torchsleuth``."""

import os
import sys


def _leave_out_strangers() -> None:
    """Look for modules only where packages are installed: `-m` and PYTHONPATH let a file of the working folder stand in the
    place of a module of the library. Those that load this package stay."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    added = {os.path.abspath(path) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    if sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    if sys.flags.ignore_environment or "PYTHONPATH" not in os.environ:
        return
    kept = [path for path in added if path == own or os.path.basename(path) in ("site-packages", "dist-packages")]
    sys.path[:] = [path for path in sys.path if path in kept or os.path.abspath(path) not in added]


_leave_out_strangers()

from torchsleuth.cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()
