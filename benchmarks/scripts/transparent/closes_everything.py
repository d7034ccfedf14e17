"""Closes all descriptors, as daemons do, and writes files under their numbers."""
import os
import resource
import time

import torch

x = torch.ones(2) + 1
os.closerange(3, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 70000))
files = [open(f"file{number}.txt", "w") for number in range(300)]
end = time.monotonic() + 0.7
while time.monotonic() < end:
    y = torch.ones(3) + 2
for number, file in enumerate(files):
    file.write(f"{number}\n")
print(y)
