"""How a module of this package is started in the user's interpreter, which has never heard of the package.

Only `torchsleuth` itself becomes importable there: not the folder it lies in, which may be the site-packages of another
environment with another torch, and not the working folder, whose files may be named like modules of the library.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]

_CODE = """\
import sys
if sys.path and sys.path[0] == "": del sys.path[0]
import importlib.util
spec = importlib.util.spec_from_file_location("torchsleuth", {file!r}, submodule_search_locations=[{folder!r}])
package = sys.modules["torchsleuth"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from {module}.__main__ import main
sys.exit(main())
"""


def command(interpreter: str, module: str) -> list[str]:
    """The command line that runs `main` of ``module.__main__``."""
    code = _CODE.format(file=str(_PACKAGE / "__init__.py"), folder=str(_PACKAGE), module=module)
    return [interpreter, "-c", code]
