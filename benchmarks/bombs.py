"""Lines of code that would take for ever, or all of the memory, if they were executed: nested, repeated, recursive, huge."""

from __future__ import annotations

PREAMBLE = """import itertools, math, random, re
import torch
import torch.nn as nn
import torch.nn.functional as F
x = torch.zeros(4, 3)
"""

_LINES = r"""
a = "{:>{w}}".format(1, w=10**10)
import decimal\na = format(decimal.Decimal("1E+999999999"), "f")
import fractions\na = fractions.Fraction(1, 3) ** 99999999
a = math.prod(range(1, 300000))
a = re.match("(?:a?){30}a{30}", "a" * 30)
a = re.match("(a|a)*b", "a" * 40)
a = re.match("(x+x+)+y", "x" * 40)
a = re.sub("a", "b" * 10000, "a" * 10000)
a = sum(itertools.count())
a = max(itertools.cycle([1]))
a = sorted(itertools.count(), key=lambda v: -v)
a = set(itertools.count())
a = dict(zip(itertools.count(), itertools.count()))
a = list(itertools.chain.from_iterable(itertools.repeat(range(1000), 10**9)))
a = list(itertools.repeat(1, 10**9))
a = next(v for v in itertools.count() if v > 10**9)
def g():\n    while True: yield 1\na = list(g()), sum(g()), max(g())
import struct\na = struct.pack("999999999x")
import textwrap\na = textwrap.indent("a\\n" * 10000, "b" * 10000)
a = ("a" * 100000).translate({97: "x" * 100000})
a = (5).to_bytes(10**9, "big")
import json\na = json.loads("[" * 100000)
while True: pass
while True: x = torch.zeros(3)
while x: x = x + 1
for i in range(10**18): y = torch.zeros(i)
for i in iter(int, 1): pass
def r(n): return r(n + 1)
r(0)
def r(x): return r(torch.cat([x, x]))
class R(nn.Module):\n    def forward(self, x): return self(self(x))
R()(torch.zeros(2, 3))
a = [0] * 10**12
a = [torch.zeros(3)] * 10**9
a = (1,) * 2**62
a = list(range(10**18))
a = tuple(range(10**9))
a = dict.fromkeys(range(10**9))
a = set(range(10**12))
a = sorted(range(10**10))
a = sum(range(10**12))
a = 2**10**9
a = 10**10**10
a = 1 << 10**12
a = (7**7**7) % 10
a = -1 << 63; torch.zeros(a)
a = 9**9**9**9
a = str(10**5000)
a = int('9' * 10**7)
a = "a" * 10**10
a = "ab" * 2**40 + "c"
a = b"x" * 10**11
a = "x".join(["y" * 10**6] * 10**6)
a = "%1000000000d" % 3
a = f"{3:>1000000000}"
a = "{:>9999999999}".format(1)
a = "a".ljust(10**11)
a = "a".zfill(10**10)
a = torch.zeros(10**12)
a = torch.zeros(10**12).tolist()
a = torch.zeros(10**6, 10**6) @ torch.zeros(10**6, 10**6)
a = torch.ones(2).repeat(10**10)
a = torch.ones(8).expand(10**12, 8).contiguous() + 1
a = F.one_hot(torch.zeros(10, dtype=torch.long), 10**9)
a = F.one_hot(torch.tensor([1, 2]), 2**40)
a = torch.bincount(torch.zeros(4, dtype=torch.long), minlength=10**10)
a = torch.arange(10**13)
a = torch.arange(0, 1, 1e-12)
a = torch.linspace(0, 1, 10**12)
a = torch.repeat_interleave(torch.ones(3), 10**10)
a = torch.combinations(torch.arange(200), 100)
a = torch.cartesian_prod(*[torch.arange(50)] * 30)
a = torch.eye(10**7)
a = torch.tensor([[0] * 10**5] * 10**5)
a = torch.zeros([2] * 64)
a = torch.zeros([1] * 5000)
a = torch.zeros(-1)
a = torch.zeros(2**63)
a = torch.zeros(2**64, 2**64)
a = torch.matrix_power(torch.eye(3), 10**18)
a = torch.zeros(3).unfold(0, 2, 10**18)
a = torch.split(torch.zeros(10**9), 1)
a = torch.zeros(10**9).unbind()
a = torch.chunk(torch.zeros(10**9), 10**9)
a = list(torch.zeros(10**9))
for row in torch.zeros(10**9, 2): print(row)
a, *b = torch.zeros(10**8)
a = torch.einsum("ij,jk,kl,lm,mn,no,op->ip", *[torch.zeros(9, 9)] * 7)
a = nn.Linear(10**9, 10**9)
a = nn.Embedding(10**12, 10**3)
a = nn.Sequential(*[nn.Linear(8, 8) for _ in range(10**6)])
a = nn.ModuleList([nn.Linear(8, 8)] * 10**7)
a = nn.LSTM(8, 8, num_layers=10**5)
a = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 10**5)
a = nn.Conv2d(3, 10**9, 10**5)
a = nn.Conv2d(3, 8, 3, padding=10**15)(torch.zeros(1, 3, 8, 8))
a = F.interpolate(torch.zeros(1, 1, 2, 2), scale_factor=1e9)
a = F.pad(torch.zeros(2), (10**15, 10**15))
a = torch.utils.data.DataLoader(range(10**15), batch_size=10**12)
for b in torch.utils.data.DataLoader(range(10**15)): print(b.shape)
a = [[[[i + j + k + l for i in range(100)] for j in range(100)] for k in range(100)] for l in range(100)]
a = [i for i in range(10**6) for j in range(10**6) for k in range(10**6)]
a = {i: {j: torch.zeros(i, j) for j in range(1000)} for i in range(1000)}
a = sum(x * y for x in range(10**5) for y in range(10**5))
a = re.match("(a+)+$", "a" * 60 + "b")
a = re.sub("(x+x+)+y", "", "x" * 5000)
import re; a = re.compile("((((a{1,1000}){1,1000}){1,1000}))")
exec("while True: pass")
eval("9**9**9")
import itertools; a = list(itertools.product(range(1000), repeat=1000))
a = list(itertools.count())
a = list(itertools.permutations(range(100)))
import math; a = math.factorial(10**8)
a = math.comb(10**7, 10**6)
a = pow(3, 10**9)
a = pow(3, 10**9, 10)
a = divmod(10**400, 3) + (1e400, float("nan"), float("inf"), -0.0)
a = int(float("inf"))
a = range(10**30)[10**29]
a = len(range(10**30))
a = x.view(-1, -1, 0)
a = torch.zeros(0, 5).reshape(-1, 0)
a = "\\ud800" + "\\udfff"
a = chr(0x10FFFF) * 3
class C(C): pass
class D(D1, D2, metaclass=D): __slots__ = ("a",) * 10**9
class E:\n    def __getattr__(self, n): return getattr(self, n)
E().x.y.z
class G:\n    def __iter__(self): return self\n    def __next__(self): return self
for g in G(): pass
a = [*G()]
def gen():\n    while True: yield torch.zeros(2)
for g in gen(): g + torch.zeros(3)
a = list(gen())
a, b, c = gen()
def f(*a, **k): return f(*a, *a, **k)
f(1)
a = []; a.append(a); print(a == a); torch.tensor(a)
d = {}; d["d"] = d; str(d)
l = lambda f: f(f); l(l)
Y = (lambda f: (lambda x: x(x))(lambda y: f(lambda *a: y(y)(*a)))); Y(lambda s: lambda n: s(n + 1))(0)
global a, b; nonlocal c
return x; yield x; await x; break; continue
match x:\n    case [a, *b] | {"k": a, **b}: torch.zeros(a)
try:\n    raise\nexcept* E as e: pass
async def f():\n    async for x in f(): await f()
with a as b, c as (d, [e, *f]): pass
del a, x, torch
import torch as nn, nn as torch
from . import *; from .... import x; from __future__ import braces
import main, __main__, sys; sys.modules[__name__] = 3
assert False, "x"; raise SystemExit
type X[T] = list[X[T]]
def f[T: (int, str)](x: T) -> T: return x
x: "int['" = 3
x = x = x = x[x[x[x]]] = 4
torch = 3; torch.zeros(3)
nn.Linear = None; nn.Linear(3, 4)
setattr(torch, "zeros", None); globals().clear(); locals().update(x=3); vars().clear()
torch.Tensor.__add__ = lambda s, o: s @ o; torch.zeros(2, 3) + 1
print(torch.zeros(3)[10**30], torch.zeros(3)[..., ..., None, ..., True])
torch.zeros(3)[[0] * 10**7]
torch.zeros(3)[torch.zeros(10**9, dtype=torch.long)]
x.__class__.__bases__[0].__subclasses__()[100]("x")
a = torch.zeros(10**9).chunk(10**9)
a = [0] * 10**10
a = bytes(10**12)
a = bytearray(10**12)
a = int("9"*10**6)
a = str(10**100000)
a = torch.zeros(1 << 40)
a = torch.zeros(10**9).split(1)
a = nn.Embedding(10**12, 10**6)
a = itertools.combinations(range(10**6), 3); list(a)
a = list(itertools.combinations(range(1000), 10))
a = list(itertools.combinations_with_replacement(range(1000), 10))
a = list(itertools.product(range(100), range(100), range(100), range(100)))
a = list(itertools.repeat(3, 10**10))
a = list(itertools.chain(*[range(10**6)]*10**6))
a = list(zip(*[range(10**6)]*1000))
a = list(enumerate(range(10**10)))
a = [torch.zeros(2) for _ in itertools.product("ab", repeat=40)]
nn.Sequential(*[nn.Linear(8, 8)] * 10**6)(torch.zeros(2, 8))
a = "a" * 10**6 + "b" * 10**6
s = "ab"\nfor i in range(60): s = s + s
s = "ab"\nfor i in range(60): s = s + s\n    torch.zeros(len(s))
s = [1]\nfor i in range(60): s = s + s
s = [1]\nfor i in range(60): s += s
s = (1,)\nfor i in range(60): s = (*s, *s)
s = [1]\nfor i in range(60): s.extend(s)
s = (1, 2)\nfor i in range(60): s = (s, s)\nt = s == s
s = (1, 2)\nfor i in range(60): s = (s, s)\nprint(s, torch.tensor(s), str(s), f"{s!r}", repr(s), len(str(s)))
s = [1]\nfor i in range(60): s = [s, s]\nprint(s, torch.tensor(s), str(s), f"{s!r}", torch.zeros(2)[s])
d = {}\nfor i in range(60): d = {"a": d, "b": d}\nprint(d, str(d), torch.tensor(d), d == d)
d = x\nfor i in range(60): d = [d, d]\ntorch.stack(d)
d = x\nfor i in range(60): d = [d, d]\nprint(d); foo(d); torch.cat(d); 
d = x\nfor i in range(40): d = torch.cat([d, d])
d = x\nfor i in range(60): d = (d, d)\nunknown(d)
n = 3\nwhile n < 10**100: n = n * n
n = 3\nfor i in range(60): n = n * n
n = 3\nfor i in range(60): n = n ** 500
n = 2\nfor i in range(60): n = n << 63
n = 2.0\nfor i in range(60): n = n ** 500
f = f"{3:{10**9}}"
f = f"{3!r:>{'9'*9}}"
f = f"{f'{f{3}}'}"
a = format(3, ">9999999999")
a = "a".center(10**11)
a = "a".rjust(10**11)
a = "a".replace("a", "a" * 10**6).replace("a", "b" * 10**6)
a = ("a" * 4096).replace("a", "b" * 4096).replace("b", "c" * 4096)
a = "\t".expandtabs(10**11)
a = ("a" * 4000).join(["b"] * 4000)
a = ("a," * 2000).split(",")
a = "a".encode() * 10**11
a = round(10**4000, -3999)
a = divmod(10**4000, 3)
a = pow(10**4000, 10**4000, 10**4000 + 1)
a = pow(3, -1, 10**4000)
a = (10**400) ** 400
a = 10 ** -400 + 10 ** 400 * 1.0
a = 1e308 * 10 ** 400
a = math.perm(10**8, 10**7)
a = math.gcd(10**5000, 3) + math.lcm(*range(1, 10**5)) + math.prod(range(1, 10**6))
a = math.isqrt(10**8000)
a = math.factorial(4000) * 1.5
a = math.exp(1000); b = math.pow(10, 400); c = math.sqrt(-1); math.log(0)
a = sum(range(10**9)); b = max(range(10**9)); c = min(range(10**9)); d = any(range(10**9)); e = all(range(1, 10**9))
a = list(reversed(range(10**10))); b = list(map(str, range(10**10))); c = list(filter(None, range(10**10)))
a = range(10**30); b = a[5:10**29]; c = a[::-1]; d = len(a); 10**29 in a; list(a)[3]
from decimal import Decimal; a = Decimal(10) ** 10**9
from fractions import Fraction; a = Fraction(1, 3) ** 10**7
import numpy as np; a = np.zeros(10**12); b = np.arange(10**13).reshape(-1, 10); c = np.ones((10**6, 10**6)) @ np.ones((10**6, 10**6))
import numpy as np; a = list(np.zeros(10**9)); b = np.array([[0] * 4000] * 4000); c = np.split(np.zeros(10**9), 10**9); np.linspace(0, 1, 10**12)
import numpy as np; a = np.array(range(10**9)); torch.from_numpy(np.zeros(10**12)); np.tile(np.zeros(3), 10**12)
a = torch.tensor_split(torch.zeros(10**9), 10**9)
a = torch.zeros(10**9).split([1] * 4096)
a = torch.zeros(10**6).unbind(0)
a = torch.zeros(4096).split(1)
a = torch.meshgrid(*[torch.arange(10)] * 60)
a = torch.broadcast_tensors(*[torch.zeros(3)] * 4000)
a = torch.stack([torch.zeros(3)] * 4000)
a = torch.cat([torch.zeros(3)] * 4096)
a = torch.block_diag(*[torch.zeros(3, 3)] * 4000)
a = torch.einsum("a,b,c,d,e,f,g,h,i,j,k,l,m,n->abcdefghijklmn", *[torch.zeros(9)] * 14)
a = torch.einsum(",".join("abcdefghijklmnopqrstuvwxyz") + "->", *[torch.zeros(9)] * 26)
a = torch.randperm(10**12)
a = torch.multinomial(torch.zeros(10**9), 10**9)
a = torch.fft.fft(torch.zeros(10**9), 10**12)
a = torch.nn.utils.rnn.pad_sequence([torch.zeros(3)] * 10**9)
a = torch.nn.utils.rnn.pad_sequence([torch.zeros(3)] * 4000)
a = torch.linalg.matrix_power(torch.eye(3), 10**9)
a = torch.tril_indices(10**9, 10**9)
a = torch.triu_indices(10**6, 10**6)
a = torch.logspace(0, 1, 10**12)
a = torch.empty(10**12).normal_()
a = torch.full((10**6, 10**6), 3)
a = torch.vander(torch.zeros(3), 10**12)
a = torch.nn.init.orthogonal_(torch.zeros(10**6, 10**6))
a = torch.nn.init.trunc_normal_(torch.zeros(10**6, 10**6))
a = nn.GRU(8, 8, num_layers=10**5)
a = nn.RNN(8, 8, 10**5)(torch.zeros(3, 2, 8))
a = nn.LSTM(8, 8, num_layers=3000)(torch.zeros(3, 2, 8))
a = nn.Transformer(8, 2, 10**5, 10**5)
a = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2), 10**6)
a = nn.MultiheadAttention(10**6, 10**6)
a = nn.MultiheadAttention(8, 8)(torch.zeros(10**9, 2, 8), torch.zeros(10**9, 2, 8), torch.zeros(10**9, 2, 8))
a = nn.AdaptiveLogSoftmaxWithLoss(10**6, 10**6, list(range(1, 4000)))
a = nn.AdaptiveLogSoftmaxWithLoss(8, 10**9, [10, 10**8])
a = nn.ParameterList([nn.Parameter(torch.zeros(3))] * 10**7)
a = nn.ModuleDict({str(i): nn.Linear(8, 8) for i in range(10**6)})
m = nn.Sequential()\nfor i in range(10**5): m.append(nn.Linear(8, 8))
m = nn.Sequential(*[nn.Linear(8, 8) for _ in range(4000)]); m(torch.zeros(2, 8))
m = nn.Linear(8, 8)\nfor i in range(60): m = nn.Sequential(m, m)\nm(torch.zeros(2, 8))
m = nn.Linear(8, 8)\nfor i in range(60): m = nn.Sequential(m)\nm(torch.zeros(2, 8))
m = nn.Linear(8, 8)\nwhile unknown: m = nn.Sequential(m)\nm(torch.zeros(2, 8))
m = nn.Sequential(); m.append(m); m(torch.zeros(2, 8)); m.to("cuda"); m.parameters(); m.state_dict()
m = nn.ModuleList(); m.append(m); list(m.modules()); opt = torch.optim.SGD(m.parameters(), 0.1); opt.step()
class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = M()\n    def forward(self, x): return self.m(x)\nM()(torch.zeros(2, 3))
class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = self\n    def forward(self, x): return self.m(x)\nm = M(); m(torch.zeros(2, 3)); m.cuda(); torch.optim.SGD(m.parameters(), 1)
class M(nn.Module):\n    def __init__(self, d=10**6):\n        super().__init__()\n        self.l = M(d - 1); self.r = M(d - 1)\n    def forward(self, x): return self.r(self.l(x))\nM()(torch.zeros(2, 3))
def a(n): return b(n) + c(n)\ndef b(n): return a(n) + c(n)\ndef c(n): return a(n) + b(n)\na(3)
def f(n):\n    if n: return f(n - 1) + f(n - 2) + f(n - 3)\n    return 1\nf(10**6)\nf(unknown)
def f(x):\n    for i in range(10): x = f(f(x))\n    return x\nf(torch.zeros(3))
def d(f): return d(f)\n@d\ndef g(): pass\ng()
def d(f): return lambda *a: f(*a)\n@d\n@d\n@d\n@d\n@d\n@d\n@d\n@d\n@d\n@d\ndef g(x): return x\ng(g(g(torch.zeros(3))))
class Meta(type):\n    def __new__(m, *a): return Meta(*a)\n    def __call__(c, *a): return c(*a)\nclass A(metaclass=Meta): pass\nA()
class A:\n    def __init__(self): self.a = A()\nA()
class A:\n    def __getattribute__(self, n): return self.x\nA().y
class A:\n    @property\n    def p(self): return self.p\nA().p
class A:\n    def __call__(self): return self()\nA()()
class A:\n    def __len__(self): return 10**30\n    def __getitem__(self, i): return A()[i]\nfor a in A(): pass\nfor b in torch.utils.data.DataLoader(A()): pass
class D(torch.utils.data.Dataset):\n    def __len__(self): return 10**12\n    def __getitem__(self, i): return D()[i + 1]\nfor b in torch.utils.data.DataLoader(D(), batch_size=10**9): b + 1
class D(torch.utils.data.IterableDataset):\n    def __iter__(self):\n        while True: yield torch.zeros(3)\nfor b in torch.utils.data.DataLoader(D(), batch_size=10**9): b + 1
for i in range(10**6):\n    for j in range(10**6):\n        for k in range(10**6):\n            for l in range(10**6): x = x + 1
for i in range(60):\n    for j in range(60):\n        for k in range(60):\n            for l in range(60): x = x + 1
d = {str(i): i for i in range(60)}\nfor a in d:\n    for b in d:\n        for c in d:\n            for e in d: d[a + b] = c
while u1:\n    while u2:\n        while u3:\n            while u4:\n                while u5:\n                    while u6:\n                        x = x + 1
for a in u1:\n    for b in u2:\n        for c in u3:\n            for d in u4:\n                for e in u5:\n                    for f in u6:\n                        for g in u7:\n                            for h in u8:\n                                x = x + 1
[[[[[[[[x + 1 for a in u] for b in u] for c in u] for d in u] for e in u] for f in u] for g in u] for h in u]
def g():\n    yield from g()\nlist(g())
def g():\n    for x in g(): yield x\nlist(g())
async def f():\n    async for a in await b: await a\n    async with await c as d: await d\n    return [x async for x in await f()]\nimport asyncio; asyncio.run(f())
async def f(n): return await f(n)\nasyncio.run(f(3))
a = a.b = a.b.c = a.b.c.d = a
a = [a] = [[a]] = x
a, (b, (c, (d, (e, *f)))) = x
with open("/dev/zero") as f: a = f.read()
a = open("/dev/zero").read(); b = input()
a = (lambda: (yield))()
a = [b := c, c := b]
a = {**{**{**{}}}}
a = [*[*[*[]]]]
x[x[x[x]]] += x[x]
f = lambda n: f(n - 1) if n else 0\nf(10**9)
from functools import reduce; reduce(lambda a, b: torch.cat([a, b]), [x] * 4000)
from functools import reduce, partial; p = partial(partial(partial(torch.zeros, 3), 3), 3); p()\nf = partial(print)\nfor i in range(60): f = partial(f, f)\nf()
from functools import lru_cache\n@lru_cache(None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\ntorch.zeros(fib(100))
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\ntorch.zeros(fib(10**6))
def ack(m, n):\n    if m == 0: return n + 1\n    if n == 0: return ack(m - 1, 1)\n    return ack(m - 1, ack(m, n - 1))\ntorch.zeros(ack(4, 4))
def hanoi(n, a, b, c):\n    if n:\n        hanoi(n - 1, a, c, b); c.append(a.pop()); hanoi(n - 1, b, a, c)\nhanoi(100, list(range(100)), [], [])
torch.zeros(10**18, 10**18, 10**18).sum() + torch.zeros(2**62) * torch.zeros(2**62, 2**62)
x.view(*[1] * 4000).squeeze().reshape([1] * 100000)
x[(None,) * 4000]
x[(0,) * 4000]
x[[[[[0]]]]]
x.expand(*[10**6] * 60).contiguous().reshape(-1)
x.repeat(*[10**6] * 60)
x.permute(*range(4000))
x.unfold(0, 1, 1).unfold(1, 1, 1).unfold(2, 1, 1).unfold(3, 1, 1)
for i in range(64): x = x.unsqueeze(0)
for i in range(64): x = torch.stack([x, x])
for i in range(64): x = torch.outer(x.flatten(), x.flatten())
F.conv2d(torch.zeros(1, 1, 8, 8), torch.zeros(1, 1, 3, 3), stride=10**18, padding=10**18, dilation=10**18)
F.max_pool2d(torch.zeros(1, 1, 8, 8), 10**18)
F.interpolate(torch.zeros(1, 1, 2, 2), size=(10**9, 10**9))
F.pad(x, [1] * 4000)
F.unfold(torch.zeros(1, 1, 10**6, 10**6), 3)
F.grid_sample(torch.zeros(1, 1, 10**9, 10**9), torch.zeros(1, 10**9, 10**9, 2))
F.cross_entropy(torch.zeros(10**9, 10**9), torch.zeros(10**9, dtype=torch.long))
F.embedding(torch.zeros(10**9, dtype=torch.long), torch.zeros(10**12, 10**3))
F.ctc_loss(torch.zeros(10**6, 4, 10**6), torch.zeros(4, 10**6, dtype=torch.long), [10**6] * 4, [10**6] * 4)
F.scaled_dot_product_attention(torch.zeros(1, 10**9, 8), torch.zeros(1, 10**9, 8), torch.zeros(1, 10**9, 8))
torch.cdist(torch.zeros(10**9, 3), torch.zeros(10**9, 3))
torch.nonzero(torch.ones(10**9)); torch.where(torch.ones(10**9)); torch.unique(torch.zeros(10**9)); torch.topk(torch.zeros(10**9), 10**8)
torch.zeros(3, device="cuda:99999999999999999999"); torch.device("cuda", 10**30)
torch.manual_seed(10**30); torch.tensor(10**30); torch.tensor([10**30]); x + 10**30; x * 10**400; x[10**30]; x[: 10**30]
torch.tensor(float("inf")).int(); torch.tensor("a"); torch.tensor(b"a"); torch.tensor(1j); x ** 10**30; x << 10**30
nn.Linear(True, False)(x); nn.Linear(8.5, 3); nn.Linear(-3, 4); nn.Linear(0, 0)(x); nn.Linear(10**30, 3); nn.Conv2d(10**30, 3, 3)
nn.Linear("a", None); nn.Linear(*[3] * 4000); nn.Linear(**{str(i): i for i in range(4000)})
"{0.__class__.__mro__[1].__subclasses__}".format(1); "{:{}}".format(1, 10**9); "{:{}.{}}".format(1.5, 10**9, 10**9); "{0:0>{1}}".format(1, 10**10)
"%.*f" % (10**9, 1.5); "%*d" % (10**9, 3); "%.999999999f" % 1.5; "%(a)999999999s" % {"a": 3}; "%s" * 4000 % tuple(range(4000))
f"{1.5:.999999999f}"; f"{1:999999999d}"; format(1.5, ".999999999f"); (1.5).__format__(".999999999f"); "{:.999999999f}".format(1.5); "{:,}".format(10**4000)
str(10**4299 * 10); int("1" * 4301); float("1" * 10**6); int("1" * 4000, 36); bin(1 << 4000); hex(10**4000); oct(10**4000)
a = [10**4000] * 4000; str(a); sum(a); max(a); sorted(a); math.prod(a)
[x for x in [x for x in [x for x in range(10**9)]]]
a = list(range(4000)); [b for c in a for b in a for d in a]
a = sorted([[i] for i in range(4000)], key=lambda q: -q[0])
a = {i: i for i in range(10**9)}; b = {i for i in range(10**9)}; c = set(range(4000)) | set(range(10**9)); dict(zip(range(10**9), range(10**9)))
a = "abc" in "a" * 10**10; b = ("a" * 4096).count("a"); c = "a" * 4096 < "b" * 4096
import re; re.match(r"(x+x+)+y", "x" * 4000); re.findall("a*?" * 30 + "b", "a" * 4000); re.split("(a|a)*$", "a" * 40 + "b")
import random; random.sample(range(10**12), 10**9); random.choices(range(10**9), k=10**9); random.getrandbits(10**12)
import collections; collections.deque(range(10**12), 10**9); collections.Counter(range(10**9)); collections.namedtuple("A", [f"a{i}" for i in range(4000)])
import copy; a = []; a.append(a); copy.deepcopy(a); b = nn.Sequential(); b.append(b); copy.deepcopy(b)
import enum\nclass E(enum.Enum):\n    A = E; B = A; C = [A] * 10**9\nlist(E)
import dataclasses\n@dataclasses.dataclass\nclass A:\n    a: "A" = dataclasses.field(default_factory=lambda: A())\nA()
from einops import rearrange; rearrange(x, "(a b) c -> a b c", a=10**30); rearrange(x, "a b -> " + "a b " * 4000); rearrange(x, "(" * 4000 + "a" + ")" * 4000 + " b -> a b")
from einops import repeat; repeat(x, "a b -> " + " ".join(f"({c} a b)" for c in "cdefghij"), **{c: 10**9 for c in "cdefghij"})
torch.jit.script(f); torch.compile(lambda: f); torch.vmap(torch.vmap(torch.vmap(lambda x: x)))(x); torch.func.grad(torch.func.grad(lambda x: x))(x)
torch.utils.checkpoint.checkpoint(lambda x: torch.utils.checkpoint.checkpoint(f, x), x)
opt = torch.optim.Adam([torch.zeros(3, requires_grad=True)] * 10**7); [opt.step() for _ in range(10**9)]
opt = torch.optim.SGD([{"params": [x]}] * 4000, lr=1); sch = torch.optim.lr_scheduler.MultiStepLR(opt, list(range(10**9)))
sch = torch.optim.lr_scheduler.ChainedScheduler([None] * 10**7); torch.optim.lr_scheduler.OneCycleLR(None, 1, total_steps=10**30)
for i, (a, b) in enumerate(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.zeros(10**12, 3), torch.zeros(10**12)), batch_size=10**11)): a + b
torch.utils.data.random_split(range(10**12), [1] * 10**9); torch.utils.data.random_split(range(10**12), [10**12 - 4000, *[1] * 4000]); torch.utils.data.ConcatDataset([range(10**9)] * 10**9); torch.utils.data.Subset(range(10**9), range(10**9))
x = torch.zeros(3, requires_grad=True)\nfor i in range(10**9): x = x + x\nx.sum().backward()
x = torch.zeros(3, requires_grad=True)\nfor i in range(60): x = x * x + x * x\nx.sum().backward(create_graph=True)
"""


def lines() -> list[str]:
    """Short ones. What is written as ``\\n`` there is a line break."""
    return [line.replace("\\n", "\n") for line in _LINES.strip().splitlines()]


def repeated(count: int) -> dict[str, str]:
    """One thing many times, by name: long chains, lists, blocks and files."""
    few = min(count, 3000)
    numbers, terms = range(count), ["x"] * count
    return {
        "sum": "a = " + " + ".join(["1"] * count),
        "sum of tensors": "a = " + " + ".join(terms),
        "attributes": "a = x" + ".a" * count,
        "methods": "a = x" + ".relu()" * count,
        "calls": "a = x" + "()" * count,
        "subscripts": "a = x" + "[0]" * count,
        "signs": "a = " + "-" * count + "x",
        "not": "a = " + "not " * count + "x",
        "and": "a = " + " and ".join(terms),
        "comparisons": "a = " + " < ".join(terms),
        "powers": "a = " + " ** ".join(terms),
        "conditional expressions": "a = " + "1 if x else " * count + "2",
        "lambdas": "a = " + "lambda: " * count + "2",
        "elif": "if x: pass\n" + "".join(f"elif x == {i}: y = {i}\n" for i in numbers),
        "decorators": "def d(f): return f\n" + "@d\n" * count + "def g(): pass",
        "targets": "".join(f"a{i} = " for i in numbers) + "x",
        "arguments": "print(" + ", ".join(terms) + ")",
        "strings": "a = " + " ".join(['"a"'] * count),
        "parts of an f-string": 'a = f"' + "{x}" * count + '"',
        "assignments": "a = x\n" + "a = a + x\n" * count,
        "managers": "with " + ", ".join(f"x as a{i}" for i in numbers) + ": pass",
        "chain of bases": "class A0(nn.Module): pass\n"
        + "".join(f"class A{i + 1}(A{i}):\n    def forward(self, x): return super().forward(x)\n" for i in range(few))
        + f"A{few}()(x)",
        "bases": "".join(f"class A{i}(nn.Module): pass\n" for i in range(few))
        + "class B("
        + ", ".join(f"A{i}" for i in range(few))
        + "): pass\nB()(x)",
        "functions": "".join(f"def f{i}(x): return f{i + 1}(x)\n" for i in numbers) + "f0(x)",
        "conditions": "y = 1\n" + "".join(f"if u{i}: y = y + {i}; z{i} = torch.zeros({i})\n" for i in numbers),
        "returns": "def f(x):\n" + "".join(f"    if u{i}: return x + {i}\n" for i in numbers) + "f(x)",
        "handlers": "".join(f"try: y = f()\nexcept E: y = {i}\n" for i in numbers),
        "classes": "".join(
            f"class A{i}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            f"        self.l = nn.Linear({i}, 8)\n    def forward(self, x):\n        return self.l(x).relu()\n"
            for i in numbers
        ),
        "lines": "".join(f"x{i} = torch.zeros({i}, 3) + 1\n" for i in numbers),
        "list": "a = [" + ", ".join(map(str, numbers)) + "]\ntorch.tensor(a)",
        "dict": "a = {" + ", ".join(f"'{i}': x" for i in numbers) + "}\nfor k, v in a.items(): v + 1",
        "loops": "for i in range(3): x = x + 1\n" * count,
        "steps": "m = nn.Linear(3, 3); o = torch.optim.SGD(m.parameters(), 1)\n"
        + "o.zero_grad(); l = m(x).sum(); l.backward(); o.step()\n" * count,
        "errors": "".join(f"nn.Linear(8, 4)(torch.zeros(2, {i + 9}))\n" for i in numbers),
        "imports": "".join(f"import m{i}\nfrom m{i} import a\n" for i in numbers),
        "globals": "def f():\n    global "
        + ", ".join(f"g{i}" for i in numbers)
        + "\n"
        + "".join(f"    g{i} = x\n" for i in numbers)
        + "f()",
        "cases": "match u:\n" + "".join(f"    case {i}: y = torch.zeros({i})\n" for i in numbers),
        "comment": "# " + "( [ {" * count,
        "brackets": "a = (\n" * count,
        "broken definitions": "def f(:\n    x\n" * count,
        "names in a text": "".join(
            f"n{i} = [s for s in open('f{i}') if s]\nfor s in n{i}: print(s)\n" for i in numbers
        ),
    }


def nested(depth: int) -> dict[str, str]:
    """One thing inside of another, by name; Python takes 100 levels of blocks and 200 brackets."""
    blocks = min(depth, 19)  # of those that the compiler counts

    def inside(head: str, levels: int) -> str:
        return "".join("  " * level + head + "\n" for level in range(levels)) + "  " * levels + "y = x + 1"

    return {
        "if": inside("if u:", depth),
        "for": inside("for i in u:", blocks),
        "counted for": inside("for i in range(3):", blocks),
        "while": inside("while u:", blocks),
        "with": inside("with u:", blocks),
        "def": inside("def f(x):", depth),
        "class": inside("class A:", depth),
        "try": "".join("  " * i + "try:\n" for i in range(blocks))
        + "  " * blocks
        + "y = 1\n"
        + "".join("  " * i + "except E: pass\n" for i in reversed(range(blocks))),
        "brackets": "a = " + "(" * depth + "1" + ")" * depth,
        "lists": "a = " + "[" * depth + "x" + "]" * depth,
        "dicts": "a = " + "{1: " * depth + "x" + "}" * depth,
        "comprehensions": "a = " + "[" * depth + "x" + " for i in u]" * depth,
        "calls": "a = " + "torch.relu(" * depth + "x" + ")" * depth,
        "containers": "a = " + "nn.Sequential(" * depth + "nn.Linear(3, 3)" + ")" * depth + "\na(x)",
        "walrus": "".join(f"(a{i} := " for i in range(depth)) + "x" + ")" * depth,
        "forks": "def f(x):\n" + "".join(f"    if x.a{i}: x = g(x)\n" for i in range(depth)) + "    return x\nf(u)",
        "forks that call": "".join(
            f"def f{i}(x):\n    if u: x = f{i + 1}(x)\n    if v: x = f{i + 1}(x)\n    return x\n" for i in range(depth)
        )
        + "f0(x)",
        "doubled calls": "".join(f"def f{i}(x): return f{i + 1}(f{i + 1}(x))\n" for i in range(depth)) + "f0(x)",
    }


def documents(counts: tuple[int, ...] = (500, 20_000), depths: tuple[int, ...] = (18, 95)) -> dict[str, str]:
    """Each of them in a document of its own, by name."""
    found = {line: line for line in lines()}
    for count in counts:
        found |= {f"{name}, {count} times": text for name, text in repeated(count).items()}
    for depth in depths:
        found |= {f"{name} inside of {name}, {depth} times": text for name, text in nested(depth).items()}
    return {name: f"{PREAMBLE}{text}\n" for name, text in found.items()}
