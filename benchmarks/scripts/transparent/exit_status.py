"""Leaves with a status, through finally and else."""
import sys

import torch

try:
    print(torch.ones(2))
    sys.exit(3)
finally:
    print("finally")
