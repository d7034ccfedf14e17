"""Is ended by a signal."""
import os
import signal

import torch

print(torch.ones(2).sum(), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
signal.pause()
