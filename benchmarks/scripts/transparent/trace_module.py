"""Counts the lines that run with the module trace."""
import sys
import trace


def loop(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += pow(i, 2)
    return total


tracer = trace.Trace(count=1, trace=0, ignoredirs=[sys.prefix, sys.exec_prefix])
print(tracer.runfunc(loop, 5))
counts = tracer.results().counts
print(sorted((line, count) for (file, line), count in counts.items() if file == __file__))
