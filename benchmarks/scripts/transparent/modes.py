"""Modes that see each function and each operator, subclasses, and counters."""
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

calls = []


class Functions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        calls.append(getattr(func, "__name__", "?"))
        return func(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        calls.append(str(func))
        return func(*args, **(kwargs or {}))


class Named(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        calls.append("Named." + func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with Functions(), Operators():
    for _ in range(2):
        loss = model(torch.ones(2, 3)).sum()
        loss.backward()
        optimizer.step()
named = torch.ones(2).as_subclass(Named)
total = (named * 2).sum()
with FlopCounterMode(display=False) as counter:
    model(torch.ones(5, 3)).sum().backward()
print(*calls, sep="\n")
print(counter.get_flop_counts(), total)
