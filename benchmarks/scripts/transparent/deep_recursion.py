"""Recursion to the limit, in plain and recursive module calls; RecursionError caught and counted."""
import sys, torch, threading, inspect
from torch import nn
def down(n, x):
    return down(n + 1, x + 1)
def count(n=0):
    try: return count(n + 1)
    except RecursionError: return n
print(count())
class Nest(nn.Module):
    def __init__(self, inner): super().__init__(); self.inner = inner
    def forward(self, x): return self.inner(x) * 1
m = nn.Identity()
for _ in range(60): m = Nest(m)
print(m(torch.ones(1)), len(repr(m)) > 100)
try: down(0, torch.zeros(1))
except RecursionError as error: print(str(error)[:40], len(inspect.trace()))
def depth(): 
    f, n = sys._getframe(), 0
    while f: f, n = f.f_back, n + 1
    return n
print(depth(), [depth() for _ in range(2)], (lambda: depth())())
sys.setrecursionlimit(5000); threading.stack_size(64 * 2**20)
out = []
t = threading.Thread(target=lambda: out.append(count())); t.start(); t.join(); print(out)
print(eval("depth()"), max(map(lambda _: depth(), range(3))))
