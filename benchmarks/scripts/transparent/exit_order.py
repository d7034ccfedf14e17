"""What runs at exit, in which order."""
import atexit
import sys
import threading
import weakref

import torch


class Loud:
    def __del__(self):
        print("deleted", sys.is_finalizing() if sys is not None else None)


thing, other = Loud(), Loud()
finalizer = weakref.finalize(other, print, "finalized")
atexit.register(print, "first registered")
atexit.register(lambda: print("second registered", torch.ones(1) + 1))
last = threading.Event()
thread = threading.Thread(target=lambda: last.wait() and print("thread", threading.current_thread().name))
thread.start()
print("end of the script", flush=True)
last.set()
