"""Classes of __main__ in pickles, torch.save, copyreg, deep copies, dataclasses, enums, closures, generators."""
import copy, copyreg, dataclasses, enum, io, pickle, pickletools, sys, torch, types, functools
from torch import nn
class Kind(enum.Enum): A = 1; B = 2
@dataclasses.dataclass
class Item: x: torch.Tensor; kind: Kind = Kind.A
class Net(nn.Module):
    kind = Kind.B
    def __init__(self): super().__init__(); self.fc = nn.Linear(2, 2); self.hooked = functools.partial(helper, 3)
    def forward(self, x): return self.hooked(self.fc(x))
def helper(n, x): return x * n
torch.manual_seed(0); net = Net(); item = Item(torch.ones(2) * 3)
data = pickle.dumps((net, item, helper, Kind.A)); net2, item2, h, k = pickle.loads(data)
print(len(data), h is helper, k is Kind.A, type(item2) is Item, net2(torch.ones(1, 2)).tolist() == net(torch.ones(1, 2)).tolist())
b = io.BytesIO(); torch.save({"net": net, "item": item}, b); print(len(b.getvalue())); b.seek(0); print(sorted(torch.load(b, weights_only=False)))
out = io.StringIO(); pickletools.dis(pickle.dumps(item.kind), out); print(out.getvalue())
print(sys.modules["__main__"].Net is Net, Net.__module__, Net.__qualname__, helper.__globals__ is globals())
c = copy.deepcopy(net); print(c.fc.weight.equal(net.fc.weight), c.hooked.args)
def gen(n):
    for i in range(n): got = yield torch.ones(1) * i; print("got", got)
g = gen(3); print(next(g), g.send("a"), g.gi_frame.f_lineno, g.gi_frame.f_locals.keys()); g.close()
cells = [lambda i=i: torch.ones(1) + i for i in range(2)]; print([c().item() for c in cells], [c.__code__.co_freevars for c in cells])
print(helper.__closure__, Net.forward.__code__.co_varnames, Net.forward.__code__.co_flags)
