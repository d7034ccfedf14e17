"""Starts tracers with functions that it has kept, in several threads, and between others."""
import sys
import threading
from sys import settrace

import torch

events = []


def tracer(frame, event, argument):
    if frame.f_code.co_filename != __file__:
        return None
    events.append((threading.current_thread().name, frame.f_code.co_name, event, frame.f_lineno))
    return tracer


def work(n):
    total = torch.zeros(2)
    for i in range(n):
        total = total + abs(i)
    return total


settrace(tracer)
work(1)
settrace(None)
work(2)
settrace(tracer)
work(1)
settrace(None)
work(2)
sys.settrace(tracer)
sys.settrace(None)
work(2)


def in_thread(started, go):
    sys.settrace(tracer)
    started.set()
    go.wait()
    work(2)


started, go = threading.Event(), threading.Event()
thread = threading.Thread(target=in_thread, args=(started, go), name="traced")
thread.start()
started.wait()
sys.settrace(tracer)
work(1)
sys.settrace(None)
work(3)
go.set()
thread.join()
work(2)
profiled = []
sys.setprofile(lambda frame, event, argument: profiled.append((event, frame.f_code.co_name)))
work(2)
sys.setprofile(None)
print(*events, sep="\n")
print(profiled)
