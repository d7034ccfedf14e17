"""Imports modules of its own late, again, and broken ones."""
import importlib
import pathlib
import sys
import traceback

pathlib.Path("helper.py").write_text("import torch\nvalue = torch.ones(2) * 2\ndef f():\n    return len([value, __name__])\n")
pathlib.Path("broken.py").write_text("x = 1\ny = x +\n")
pathlib.Path("raising.py").write_text("def f():\n    return {}['k']\nz = f()\n")
sys.path.insert(0, ".")
import helper  # noqa: E402

pathlib.Path("helper.py").write_text("value = 7\n# a longer text, so that the file differs in size\n")
print(importlib.reload(helper).value, helper.f(), helper.__spec__.name, type(helper.__loader__).__name__, helper.__cached__)
for name in ("broken", "raising", "missing"):
    try:
        importlib.import_module(name)
    except Exception:
        traceback.print_exc()
try:
    import raising  # noqa: F401
except KeyError:
    traceback.print_exc(file=sys.stdout)
print(sys.modules["helper"] is helper, [type(finder).__name__ for finder in sys.meta_path], len(sys.path_hooks))
