"""Needs nearly all of the recursion limit."""
import sys

import torch


def build(n, value):
    if n == 0:
        return value
    inner = build(n - 1, value)
    return inner


def walk(n):
    return 1 + walk(n - 1) if n else 0


print(walk(sys.getrecursionlimit() - 20), build(sys.getrecursionlimit() - 40, torch.ones(2)))
