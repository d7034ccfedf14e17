"""Looks at the bytecode that imports leave behind."""
import os
import pathlib
import sys

pathlib.Path("made.py").write_text("x = 1\n")
os.utime("made.py", (1, 1))
sys.path.insert(0, os.getcwd())
import made  # noqa: E402

print(made.x, os.listdir("__pycache__") if os.path.isdir("__pycache__") else None, sys.dont_write_bytecode)
