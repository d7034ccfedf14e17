"""Prints reference counts."""
import sys

import torch

x = torch.ones(2)
y = [x, x]
print(sys.getrefcount(x), sys.getrefcount(y))


def f(a):
    b = a * 1
    return sys.getrefcount(a), sys.getrefcount(b)


print(f(x), x.untyped_storage()._use_count() if hasattr(x.untyped_storage(), "_use_count") else None)
