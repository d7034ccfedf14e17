"""runpy, exec, imp by path, zip files, code objects: programs inside of the program."""
import importlib.util, os, runpy, sys, zipfile, types
open("inner.py", "w").write("import sys, inspect\nimport torch\nx = torch.ones(2) + 1\nprint(__name__, x, len(inspect.stack()), [f.function for f in inspect.stack()])\ndef f():\n    return sys._getframe(1).f_lineno\n")
for name in ("__main__", "other"):
    got = runpy.run_path("inner.py", run_name=name)
    print(sorted(k for k in got if not k.startswith("_")), got["f"]())
exec(compile(open("inner.py").read(), "inner.py", "exec"), {"__name__": "executed"})
spec = importlib.util.spec_from_file_location("by_path", "inner.py")
module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module); print(module.f(), module.__spec__.origin.endswith("inner.py"))
with zipfile.ZipFile("lib.zip", "w") as z:
    z.writestr("zipped.py", "import torch\nvalue = (torch.ones(3) * 2).sum()\n")
sys.path.insert(0, "lib.zip")
import zipped
print(zipped.value, zipped.__file__[-17:], type(zipped.__loader__).__name__)
fresh = types.ModuleType("fresh"); exec("def g(x):\n    return x @ x\n", vars(fresh))
import torch
print(fresh.g(torch.eye(2)))
try:
    runpy.run_module("inner", run_name="__main__", alter_sys=True)
finally:
    print(sys.argv[1:])
