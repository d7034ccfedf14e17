"""Threads, pools, locks, thread locals and timers."""
import concurrent.futures
import queue
import threading

import torch

local = threading.local()
results = queue.Queue()


def work(i):
    local.value = torch.full((2,), float(i))
    x = local.value * 2
    for _ in range(100):
        x = x + 1
    return x.sum().item()


with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(list(pool.map(work, range(8))))
threads = [threading.Thread(target=lambda i=i: results.put((i, work(i))), name=f"t{i}") for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(results.get() for _ in threads), threading.active_count(), threading.main_thread() is threading.current_thread())
timer = threading.Timer(0.01, print, ["timer"])
timer.start()
timer.join()
print(hasattr(local, "value"), [thread.name for thread in threading.enumerate()], torch.get_num_threads() > 0)
