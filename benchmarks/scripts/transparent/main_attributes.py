"""Looks at __main__, its attributes and those of sys."""
import __main__
import os
import sys

print(sorted(vars(__main__)), __main__.__file__ == __file__, __spec__, __package__, __cached__ if "__cached__" in globals() else None)
print(type(__loader__), __builtins__, __annotations__ if "__annotations__" in globals() else None, __doc__)
print(sys.argv, sys.orig_argv[1:], sys.path[:2], sys.flags, os.path.basename(sys.executable), sys.path_importer_cache.get(__file__, 0))
print(os.getcwd(), sorted(os.environ), sys.stdin.name, sys.stdout.encoding, sys.getrecursionlimit())
print(sys.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile(), sys.getswitchinterval(), sys.dont_write_bytecode)
annotated: int = 3
print(__annotations__ if "__annotations__" in globals() else None)
