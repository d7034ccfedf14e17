"""Asks tracemalloc which line of it has allocated."""
import tracemalloc


def make():
    return [bytes(1000) for _ in range(100)]


tracemalloc.start()
kept = make()
for statistic in tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__)]).statistics("lineno")[:1]:
    frame = statistic.traceback[0]
    print(frame.lineno, statistic.count // 10, statistic.size // 10000)
