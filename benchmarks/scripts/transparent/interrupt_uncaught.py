"""Ends by Ctrl-C."""
import atexit
import os
import signal

atexit.register(print, "at exit", flush=True)
print("before", flush=True)


def wait():
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()


wait()
