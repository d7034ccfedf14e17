"""How a module of this package is started in an interpreter that has never heard of the package.

The interpreter is isolated (``-I``): neither the working folder nor what the environment adds can put a module in the place
of one of the library. Only `torchsleuth` itself becomes importable there: not the folder it lies in, which may be the
site-packages of another environment with another torch.
"""

from __future__ import annotations

from pathlib import Path

from torchsleuth.wall import environment

_PACKAGE = Path(__file__).resolve().parents[1]

INSTALLED = """\
import os, site, sys
def _installed():
    "Packages of the user's own, which an isolated interpreter leaves out: not seen in an environment that is closed to them."
    if sys.prefix == sys.base_prefix or len(site.PREFIXES) > 1:
        if not os.environ.get("PYTHONNOUSERSITE") and os.path.isabs(site.getusersitepackages()):
            site.addsitedir(site.getusersitepackages())
    for path in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if os.path.isabs(path) and os.path.basename(os.path.normpath(path)) in ("site-packages", "dist-packages"):
            sys.path.append(path)
_installed()
"""
"""Gives an isolated interpreter the installed packages that it would have otherwise, and nothing else of what the
environment adds. For the beginning of a program."""

_CODE = """\
{installed}
import importlib.util
spec = importlib.util.spec_from_file_location("torchsleuth", {file!r}, submodule_search_locations=[{folder!r}])
package = sys.modules["torchsleuth"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from {module} import main
sys.exit(main())
"""


def command(interpreter: str, module: str) -> list[str]:
    """The command line that runs `main` of a module of this package."""
    code = _CODE.format(installed=INSTALLED, file=str(_PACKAGE / "__init__.py"), folder=str(_PACKAGE), module=module)
    return [interpreter, "-I", "-c", code]


__all__ = ["INSTALLED", "command", "environment"]
