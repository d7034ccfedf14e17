"""Compiles and executes texts, with names and without."""
import ast
import builtins
import code
import runpy

namespace = {}
exec("import torch\nx = torch.ones(2) * 2\ndef f(y):\n    return y + x", namespace)
print(namespace["f"](1), eval("len([1, 2]) + max(3, 4)"), sorted(name for name in namespace if name[0] != "_"))
exec("print(sorted(globals()))", {"__builtins__": {"print": print, "sorted": sorted, "globals": globals}})
try:
    exec("a = 1\nb = a.c\n", {"__builtins__": builtins})
except AttributeError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
code.InteractiveInterpreter({"q": 4}).runsource("print(q + 1)")
open("other.py", "w").write("import sys\nprint(__name__, sys.argv[0], __file__)\nvalue = [i for i in range(3)]\n")
print(runpy.run_path("other.py", run_name="elsewhere")["value"], ast.unparse(ast.parse("f(x)+g[y]")))
