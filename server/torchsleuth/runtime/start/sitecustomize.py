"""Starts the recorder in a Python process that a recorded script has started; leaves the process as it would be without.

The interpreter imports this before anything of the user's, because `children.py` has put its folder on PYTHONPATH.
"""

import os
import sys


def _leave_no_trace(folder: str) -> None:
    """The search path and the environment as the one who started this process meant them."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    rest = [entry for entry in given if os.path.abspath(entry) != folder]
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    else:
        os.environ.pop("PYTHONPATH", None)


def _execute_theirs() -> None:
    """The sitecustomize that the interpreter would have found."""
    theirs = importlib.machinery.PathFinder.find_spec(__name__)
    if theirs is not None and theirs.loader is not None:
        module = importlib.util.module_from_spec(theirs)
        sys.modules[__name__] = module
        theirs.loader.exec_module(module)


def _load_package(package: str) -> None:
    """By its path, so that nothing else beside it becomes importable."""
    if "torchsleuth" not in sys.modules:
        where = os.path.join(package, "__init__.py")
        spec = importlib.util.spec_from_file_location("torchsleuth", where, submodule_search_locations=[package])
        assert spec is not None and spec.loader is not None
        sys.modules["torchsleuth"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["torchsleuth"])


def _enter(run: str, before: bool) -> None:
    """`before`: what the interpreter of this process executes at its start."""
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        _load_package(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
        from torchsleuth.runtime import children

        if before:
            children.become(run)
        else:
            children.enter(run)
    except Exception as error:  # what cannot be recorded runs all the same
        if os.environ.get("TORCHSLEUTH_DEBUG"):
            print(f"torchsleuth: {error!r}", file=sys.stderr)
    finally:
        sys.dont_write_bytecode = written


if os.environ.get("TORCHSLEUTH_RUN"):
    import importlib.machinery
    import importlib.util

    _run = os.environ["TORCHSLEUTH_RUN"]
    _begins = "TORCHSLEUTH_EVENTS" in os.environ  # a run, which starts its recorder itself
    _leave_no_trace(os.path.dirname(os.path.abspath(__file__)))
    if not _begins:
        del os.environ["TORCHSLEUTH_RUN"]
        _enter(_run, True)
    _execute_theirs()
    if not _begins:
        _enter(_run, False)
