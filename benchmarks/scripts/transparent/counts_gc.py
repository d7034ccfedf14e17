"""Counts of references, objects, weak references, finalizers, tracemalloc."""
import gc, sys, weakref, torch, tracemalloc
from torch import nn
died = []
class Holder(nn.Module):
    def __init__(self): super().__init__(); self.w = nn.Parameter(torch.ones(3))
    def forward(self, x): return x * self.w
    def __del__(self): died.append("holder")
def live(): return sum(isinstance(o, torch.Tensor) for o in gc.get_objects())
gc.collect(); before = live()
for step in range(5):
    h = Holder(); o = torch.optim.SGD(h.parameters(), 0.1)
    out = h(torch.ones(3)); loss = out.sum(); loss.backward(); o.step(); o.zero_grad()
    print(step, sys.getrefcount(out), sys.getrefcount(loss), sys.getrefcount(h), len(died))
r = weakref.ref(out); weakref.finalize(loss, died.append, "loss")
del out, loss, h, o; gc.collect()
print(r() is None, died, live() - before, gc.garbage)
tracemalloc.start(); keep = [torch.ones(2) + i for i in range(100)]; print(tracemalloc.get_traced_memory()[0] > 0); tracemalloc.stop()
print(gc.get_count()[2] >= 0, gc.isenabled(), gc.callbacks)
gc.callbacks.append(lambda phase, info: None); gc.collect(); print(len(gc.callbacks))
