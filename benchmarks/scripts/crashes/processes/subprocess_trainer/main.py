"""A sweep that starts the trainer as a program."""

import subprocess
import sys

for width in (8, 12):
    subprocess.run([sys.executable, "trainer.py", str(width)], check=True)
