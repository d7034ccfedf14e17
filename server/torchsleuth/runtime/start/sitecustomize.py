"""Starts the recorder in a Python process that a recorded script has started; leaves the process as it would be without.

The interpreter imports this before anything of the user's, because `children.py` has put its folder on PYTHONPATH.
"""

import os
import sys


def _leave_no_trace(folder: str) -> None:
    """The search path and the environment as the one who started this process meant them, and their sitecustomize."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    rest = [entry for entry in given if os.path.abspath(entry) != folder]
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    else:
        os.environ.pop("PYTHONPATH", None)
    theirs = importlib.machinery.PathFinder.find_spec(__name__)
    if theirs is not None and theirs.loader is not None:
        module = importlib.util.module_from_spec(theirs)
        sys.modules[__name__] = module
        theirs.loader.exec_module(module)


def _start(run: str, package: str) -> None:
    """The package is loaded by its path, so that nothing else beside it becomes importable."""
    if "torchsleuth" not in sys.modules:
        where = os.path.join(package, "__init__.py")
        spec = importlib.util.spec_from_file_location("torchsleuth", where, submodule_search_locations=[package])
        if spec is None or spec.loader is None:
            return
        sys.modules["torchsleuth"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["torchsleuth"])
    from torchsleuth.runtime.children import enter

    enter(run)


if os.environ.get("TORCHSLEUTH_RUN"):
    import importlib.machinery
    import importlib.util

    _here = os.path.dirname(os.path.abspath(__file__))
    _run = os.environ["TORCHSLEUTH_RUN"]
    _leave_no_trace(_here)
    try:
        if (
            "TORCHSLEUTH_EVENTS" not in os.environ
        ):  # else this is the beginning of a run, which starts its recorder itself
            del os.environ["TORCHSLEUTH_RUN"]
            _start(_run, os.path.dirname(os.path.dirname(_here)))
    except Exception as _error:  # what cannot be recorded runs all the same
        if os.environ.get("TORCHSLEUTH_DEBUG"):
            print(f"torchsleuth: {_error!r}", file=sys.stderr)
