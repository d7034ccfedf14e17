"""Looks at its own source."""
import inspect
import sys

import torch


class Net(torch.nn.Module):
    """A net."""

    def forward(self, x):
        y = x * 2
        return y  # doubled


def outer(a, b: int = abs(-1), *c, d=len("ab")):
    """Doc."""
    return lambda x: x + a


print(inspect.getsource(Net), inspect.getsource(outer), inspect.getsource(outer(1)))
print(inspect.signature(outer), inspect.getsourcefile(Net), inspect.getsourcelines(outer)[1])
print(inspect.getsource(sys.modules["__main__"])[:40], inspect.getmodule(Net), inspect.getdoc(outer))
print(inspect.getsource(torch.nn.Module.__init__)[:200], inspect.signature(torch.nn.Module.__init__))
