"""Forks, and waits."""
import os
import sys

import torch

x = torch.ones(2) * 2
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    y = x + 1
    print("child", y, flush=True)
    os._exit(3)
print("ended with", os.waitpid(pid, 0)[1] >> 8)
sys.stdout.flush()
if os.fork() == 0:
    print("second child")
    sys.exit(4)
print("then", os.wait()[1] >> 8)
