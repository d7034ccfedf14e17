"""Children started in all ways tell how they see themselves."""
import os, subprocess, sys, json, textwrap
child = textwrap.dedent('''
import sys, os, json, threading, inspect, traceback
def depth():
    return len(inspect.stack())
out = {
    "argv": sys.argv, "orig": sys.orig_argv[1:], "path0": os.path.basename(sys.path[0]), "file": __file__, "name": __name__,
    "doc": __doc__, "env": sorted(k for k in os.environ if "TORCH" in k or "PYTHONPATH" in k), "depth": depth(),
    "flags": [sys.flags.optimize, sys.flags.dev_mode, sys.flags.utf8_mode], "main": sorted(vars(sys.modules["__main__"]))[:20],
    "spec": repr(__spec__), "loader": type(__loader__).__name__, "cached": repr(vars().get("__cached__", "none")),
    "threads": threading.active_count(), "stdin": sys.stdin.read(), "recursion": sys.getrecursionlimit(),
    "warn": sys.warnoptions, "src": inspect.getsource(depth), "builtins": len([n for n in dir(__builtins__) if not n.startswith("torchsleuth")]),
    "stack": traceback.format_stack(), "exe": os.path.basename(sys.executable), "isatty": sys.stdout.isatty(),
}
print(json.dumps(out, indent=1))
assert len(sys.argv) < 9, "many"
raise SystemExit(len(sys.argv))
''')
open("child.py", "w").write(child)
os.makedirs("pkg", exist_ok=True)
open("pkg/__main__.py", "w").write(child)
open("pkg/mod.py", "w").write(child)
for command in (["child.py"], ["-O", "child.py", "a", "b c"], ["-W", "error::DeprecationWarning", "-X", "utf8", "./child.py"],
                ["pkg"], ["-m", "pkg.mod", "x"], ["-I", "child.py"], ["-S", "child.py"], ["-"], ["-c", child.replace("__file__", "'none'").replace("inspect.getsource(depth)", "'none'"), "q"],
                ["child.py", *"123456789"]):
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, input="given" if command != ["-"] else "print('from stdin'); import sys; print(sys.argv)")
    print(command[:2] if command[0] != "-c" else "-c", done.returncode, done.stdout, done.stderr, sep="\n")
print(sorted(os.listdir(".")))
