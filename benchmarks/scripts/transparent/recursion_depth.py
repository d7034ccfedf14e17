"""Finds how deep it can call itself."""
import sys


class Depth:
    reached = 0


def down(n, flag=True):
    Depth.reached = max(Depth.reached, n)
    return down(n + 1, flag) + 0


for limit in (sys.getrecursionlimit(), 150, 400):
    sys.setrecursionlimit(limit)
    Depth.reached = 0
    try:
        down(0)
    except RecursionError as error:
        print(limit, Depth.reached, str(error)[:32])
sys.setrecursionlimit(1000)
print([down.__code__.co_name, sys.getrecursionlimit()])
