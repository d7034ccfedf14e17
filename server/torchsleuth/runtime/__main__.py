"""``python …/torchsleuth/runtime/__main__.py SCRIPT ARGS…``: makes the package importable, and only the package.

It is started as a file, so that the user's interpreter needs nothing installed and no environment variable changes. The
folder that holds the package does not become importable: it may be the site-packages of another environment.
"""

import sys

if __name__ == "__main__":
    del sys.path[0]  # this folder, or with -m the working folder: neither may shadow the standard library
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
    from torchsleuth.runtime.launch import main

    sys.exit(main(sys.argv[1], sys.argv[2:]))
