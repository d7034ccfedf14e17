"""Leaves by the back door, with what is buffered lost."""
import atexit
import os
import sys

import torch

atexit.register(print, "never")
sys.stdout.write("lost where it is buffered\n")
sys.stderr.write("shown\n")
y = torch.ones(3) + 1
os._exit(6)
