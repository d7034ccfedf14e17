"""Closes its standard output."""
import sys

import torch

print(torch.ones(1))
sys.stdout.close()
print("to the other", file=sys.stderr)
x = torch.ones(2) + 1
