"""Children that do not compile, that warn, that are compiled, that end by signals or in atexit."""
import os, py_compile, subprocess, sys
cases = {
    "broken.py": "x = (1,\ny = 2\n",
    "warns.py": "x = 1\nprint(x is 1)\nprint('\\d')\nassert (x, 'always')\n",
    "latin.py": b"# -*- coding: latin-1 -*-\nprint('caf\xe9')\n",
    "badcode.py": b"print('caf\xe9')\n",
    "future.py": "'''doc'''\nfrom __future__ import annotations\ndef f(x: undefined): pass\nprint(f.__annotations__, __doc__)\n",
    "empty.py": "",
    "onlydoc.py": "'''only'''",
    "exits.py": "import atexit, sys\natexit.register(print, 'bye')\nsys.exit('a message')\n",
    "raises.py": "def f():\n    raise KeyError('lost')\ntry:\n    f()\nexcept KeyError as e:\n    raise RuntimeError('outer') from e\n",
    "signals.py": "import os, signal\nprint('before', flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "hook.py": "import sys\ndef hook(t, v, tb):\n    n = 0\n    while tb: n += 1; tb = tb.tb_next\n    print('hook', t.__name__, v, n)\nsys.excepthook = hook\ndef g(): 1 / 0\ng()\n",
    "reexec.py": "import os, sys\nif len(sys.argv) < 3:\n    print('again', flush=True); os.execv(sys.executable, [sys.executable, *sys.argv, 'x'])\nprint(sys.argv)\n",
    "forks.py": "import os, sys\npid = os.fork()\nif pid == 0:\n    print('child', flush=True); os._exit(3)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n",
}
for name, text in cases.items():
    open(name, "wb").write(text if isinstance(text, bytes) else text.encode())
    done = subprocess.run([sys.executable, name], capture_output=True, text=True, errors="replace")
    print(name, done.returncode, done.stdout, done.stderr, sep="\n")
py_compile.compile("exits.py", "exits.pyc")
done = subprocess.run([sys.executable, "exits.pyc"], capture_output=True, text=True)
print(done.returncode, done.stdout, done.stderr)
os.rename("exits.py", "no_suffix")
done = subprocess.run([sys.executable, "no_suffix"], capture_output=True, text=True)
print(done.returncode, done.stdout, done.stderr)
os.symlink("no_suffix", "link.py")
print(subprocess.run([sys.executable, "link.py"], capture_output=True, text=True).stderr)
