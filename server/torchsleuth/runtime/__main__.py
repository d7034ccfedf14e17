"""``python FLAGS… …/torchsleuth/runtime/__main__.py SCRIPT ARGS…`` (or ``-m MODULE ARGS…``): starts a run.

Makes the package importable, and only the package.

It is started as a file, so that the user's interpreter needs nothing installed and no environment variable changes. The
folder that holds the package does not become importable: it may be the site-packages of another environment.
"""

import sys

if __name__ == "__main__":
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        del sys.path[0]  # this folder, which may not shadow the standard library
    sys.dont_write_bytecode = (
        False  # of this package, which would be compiled in each run; the script's own runs as it says
    )
    if "torchsleuth" not in sys.modules:
        import importlib.util
        import os

        _package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        _spec = importlib.util.spec_from_file_location(
            "torchsleuth", os.path.join(_package, "__init__.py"), submodule_search_locations=[_package]
        )
        assert _spec is not None and _spec.loader is not None
        sys.modules["torchsleuth"] = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(sys.modules["torchsleuth"])
    from torchsleuth.runtime.prepare import main

    main(sys.argv[1:])
