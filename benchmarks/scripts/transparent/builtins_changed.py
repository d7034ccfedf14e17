"""Replaces builtins, and functions of the libraries that it uses."""
import builtins
import json
import os

import torch

original = builtins.print
builtins.print = lambda *args, **kwargs: original("mine:", *args, **kwargs)
print("hello", len([1]))
builtins.open = None
json.dumps = lambda *args, **kwargs: "patched"
os.write = None
os.getpid = lambda: -1
torch.Tensor.shape_of = lambda self: self.shape
len = abs
print(json.dumps({}), torch.ones(2).shape_of(), len(-3))
torch.ones = lambda *sizes: torch.zeros(*sizes) + 5
x = torch.ones(2)
torch.nn.Module.__call__ = lambda self, *args: "called"
print(x, torch.nn.Linear(2, 2)(x))
