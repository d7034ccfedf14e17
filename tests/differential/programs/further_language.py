# Programs about the language.

# == a queue made of two stacks
class Queue:
    def __init__(self):
        self.front, self.back = [], []
    def push(self, x):
        self.back.append(x)
    def pop(self):
        if not self.front:
            while self.back:
                self.front.append(self.back.pop())
        return self.front.pop()
q = Queue()
for i in range(3):
    q.push(i)
a = q.pop()
q.push(9)
b = [q.pop() for _ in range(3)]

# == property chain through inheritance
class Base:
    def __init__(self): self._v = 1
    @property
    def v(self): return self._v
class Sub(Base):
    @property
    def v(self): return super().v * 10
a = Sub().v
b = Base().v

# == operator precedence mix
a = 2 + 3 * 4 ** 2 // 5 % 7
b = not 1 == 2
c = 1 if 0 else 2 if 0 else 3
d = -3 ** 2 + 5 & 6 | 1

# == a state machine
states = {"idle": {"start": "run"}, "run": {"pause": "idle", "stop": "end"}}
state = "idle"
trace = [state]
for event in ["start", "pause", "bad", "start", "stop"]:
    state = states.get(state, {}).get(event, state)
    trace.append(state)

# == memo in a closure dictionary
def memoize(f):
    seen = {}
    def inner(n):
        if n not in seen:
            seen[n] = f(n)
        return seen[n]
    inner.seen = seen
    return inner
@memoize
def tri(n):
    return n if n < 2 else tri(n - 1) + n
a = tri(5)
n = len(tri.seen)

# == matrix transpose and flatten
m = [[1, 2, 3], [4, 5, 6]]
t = [[row[j] for row in m] for j in range(3)]
flat = [x for r in t for x in r]
s = sum(map(sum, m))

# == default factory through a class attribute
class Meter:
    fmt = "{:.1f}"
    def __init__(self, name, fmt=None):
        self.name = name
        if fmt:
            self.fmt = fmt
    def show(self, v):
        return self.name + " " + self.fmt.format(v)
a = Meter("x").show(1.25)
b = Meter("y", "{:d}").show(3)

# == bubble sort
xs = [4, 1, 3, 2]
swaps = 0
for i in range(len(xs)):
    for j in range(len(xs) - 1 - i):
        if xs[j] > xs[j + 1]:
            xs[j], xs[j + 1] = xs[j + 1], xs[j]
            swaps += 1

# == binary search
def find(xs, x):
    lo, hi = 0, len(xs) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if xs[mid] == x:
            return mid
        if xs[mid] < x:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1
a = find([1, 3, 5, 7, 9], 7)
b = find([1, 3, 5], 4)

# == exceptions carry data through layers
class Err(Exception):
    code = 1
class Sub(Err):
    code = 2
def low(x):
    if x > 1:
        raise Sub(x)
    return x
def mid(x):
    try:
        return low(x)
    finally:
        log.append(x)
log = []
try:
    mid(1)
    mid(2)
    mid(3)
except Err as e:
    code, args = e.code, e.args

# == generator with cleanup in order
log = []
def res(n):
    log.append(f"open {n}")
    try:
        yield n
    finally:
        log.append(f"close {n}")
for r in res(1):
    for s in res(2):
        log.append(r + s)

# == coroutine that counts
def counter():
    n = 0
    while True:
        cmd = yield n
        if cmd == "reset":
            n = 0
        else:
            n += 1
c = counter()
next(c)
a = c.send(None)
b = c.send("x")
d = c.send("reset")

# == interleaving two generators
def take(xs):
    for x in xs:
        yield x
a, b = take("abc"), take([1, 2, 3])
out = []
while True:
    try:
        out.append(next(a))
        out.append(next(b))
    except StopIteration:
        break

# == class with iter over an attribute
class Deck:
    def __init__(self):
        self.cards = [r + s for r in "AK" for s in "hs"]
    def __iter__(self):
        return iter(self.cards)
    def __len__(self):
        return len(self.cards)
d = Deck()
n = len(d)
first, *rest = d
has = "Kh" in d

# == comparing objects by a key
class Item:
    def __init__(self, w, n): self.w, self.n = w, n
    def __lt__(self, o): return (self.w, self.n) < (o.w, o.n)
    def __repr__(self): return f"{self.n}{self.w}"
xs = [Item(2, "b"), Item(1, "z"), Item(2, "a")]
order = repr(sorted(xs))
least = min(xs).n
most = max(xs).n

# == bit flags by hand
READ, WRITE, EXEC = 1, 2, 4
perm = READ | EXEC
can_write = bool(perm & WRITE)
perm ^= WRITE
perm &= ~READ
count = bin(perm).count("1")

# == a class counts its subclasses
class Plugin:
    found = []
    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        cls.found.append(cls.__name__)
class A(Plugin): pass
class B(A): pass
names = Plugin.found

# == descriptor shared by two attributes
class Clamp:
    def __init__(self, lo, hi): self.lo, self.hi = lo, hi
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, o, t=None): return o.__dict__.get(self.name, self.lo)
    def __set__(self, o, v): o.__dict__[self.name] = min(max(v, self.lo), self.hi)
class P:
    x = Clamp(0, 10)
    y = Clamp(-1, 1)
p = P()
a = p.x
p.x, p.y = 50, -9
b = (p.x, p.y)

# == string building in a loop with separators
out = ""
for i, w in enumerate(["a", "b", "c"]):
    if i:
        out += ", "
    out += w * (i + 1)
n = len(out)

# == nested try in a loop with continue and else
good, bad = [], []
for s in ["1", "2.5", "x", None]:
    try:
        v = float(s)
    except ValueError:
        bad.append("value")
        continue
    except TypeError:
        bad.append("type")
        continue
    else:
        good.append(v)
    finally:
        last = s

# == match on nested structures
def area(shape):
    match shape:
        case {"kind": "rect", "size": [w, h]}:
            return w * h
        case {"kind": "circle", "r": r} if r > 0:
            return 3 * r * r
        case ["square", int(s)]:
            return s * s
        case _:
            return None
a = [area(s) for s in ({"kind": "rect", "size": (2, 3)}, {"kind": "circle", "r": 2}, ["square", 4], "?")]

# == keyword arguments forwarded
def base(a, b=2, *, c=3):
    return (a, b, c)
def wrap(*args, **kwargs):
    kwargs.setdefault("c", 30)
    return base(*args, **kwargs)
x = wrap(1)
y = wrap(1, b=5, c=6)

# == class level registry with class methods
class Reg:
    items = {}
    @classmethod
    def add(cls, key):
        def deco(f):
            cls.items[key] = f
            return f
        return deco
    @classmethod
    def make(cls, key, *a):
        return cls.items[key](*a)
@Reg.add("sum")
def total(*xs): return sum(xs)
@Reg.add("max")
def most(*xs): return max(xs)
a = Reg.make("sum", 1, 2, 3)
b = Reg.make("max", 4, 9)
n = len(Reg.items)

# == slicing with steps and negative bounds
s = "abcdefgh"
a = s[-3:]
b = s[6:1:-2]
c = s[::-3]
d = list(range(10))[8:2:-3]
xs = [0, 1, 2, 3, 4, 5]
xs[::2] = [9, 9, 9]
del xs[-2:]

# == global state changed by functions
config = {"lr": 0.1}
def update(**kw):
    config.update(kw)
    return len(config)
n = update(bs=4)
m = update(lr=0.2, wd=0)
lr = config["lr"]

# == a class that acts as a function and keeps history
class Traced:
    def __init__(self, f): self.f, self.calls = f, []
    def __call__(self, *a):
        r = self.f(*a)
        self.calls.append((a, r))
        return r
    def __get__(self, obj, owner=None):
        return self
@Traced
def add(a, b): return a + b
x = add(1, 2)
y = add(x, 4)
calls = add.calls

# == sum of digits and palindromes
n = 9081
digits = [int(c) for c in str(n)]
total = 0
while n:
    n, r = divmod(n, 10)
    total += r
pal = [x for x in range(90, 115) if str(x) == str(x)[::-1]]

# == walrus in comprehension filters
data = ["3", "x", "12", ""]
parsed = [v for s in data if s.isdigit() and (v := int(s)) > 2]
total = 0
running = [total := total + v for v in parsed]

# == unpacking in nested loops
pairs = {"a": [(1, 2), (3, 4)], "b": [(5, 6)]}
out = []
for k, ps in pairs.items():
    for i, (x, y) in enumerate(ps):
        out.append((k, i, x * y))

# == del in loops and membership
d = {i: i * i for i in range(6)}
for k in [k for k in d if k % 2]:
    del d[k]
left = list(d.items())
has = 3 in d, 4 in d

# == try return in loop with finally counts
count = 0
def first_even(xs):
    global count
    for x in xs:
        try:
            if x % 2 == 0:
                return x
        finally:
            count += 1
a = first_even([1, 3, 4, 5])
b = first_even([7])

# == inheritance from two bases with the same method
class A:
    def who(self): return "A"
class B:
    def who(self): return "B"
class C(A, B):
    pass
class D(B, A):
    def who(self): return "D" + super().who()
x = C().who()
y = D().who()

# == closures in a dictionary comprehension
mult = {n: (lambda x, n=n: x * n) for n in (2, 3)}
late = {n: (lambda x: x * n) for n in (2, 3)}
a = mult[2](5)
b = late[2](5)

# == string formatting of a report
rows = [("conv", 3, 0.5), ("linear", 12, 0.25)]
text = "\n".join(f"{n:<8}|{c:>4d}|{r:6.1%}" for n, c, r in rows)
width = max(len(line) for line in text.split("\n"))

# == static method called through an instance and class
class M:
    @staticmethod
    def sq(x): return x * x
    def run(self, x): return self.sq(x) + M.sq(1)
a = M().run(3)
b = list(map(M.sq, [1, 2]))

# == equality with not implemented
class Eq:
    def __init__(self, v): self.v = v
    def __eq__(self, o):
        if isinstance(o, Eq):
            return self.v == o.v
        return NotImplemented
a = Eq(1) == Eq(1)
b = Eq(1) == 1
c = Eq(1) != Eq(2)
d = Eq(3) in [Eq(1), Eq(3)]

# == counting calls with a mutable default
def tick(box=[0]):
    box[0] += 1
    return box[0]
tick()
tick()
n = tick()

# == flatten recursively
def flat(x):
    if not isinstance(x, (list, tuple)):
        return [x]
    out = []
    for y in x:
        out += flat(y)
    return out
a = flat([1, (2, [3, 4]), [[5]]])

# == generator recursion
def walk(t):
    yield t[0]
    for c in t[1:]:
        yield from walk(c)
a = list(walk(["r", ["a", ["b"]], ["c"]]))
n = sum(1 for _ in walk(["r", ["a"]]))

# == context manager that times phases
class Phase:
    stack = []
    def __init__(self, n): self.n = n
    def __enter__(self):
        Phase.stack.append(self.n)
        return len(Phase.stack)
    def __exit__(self, *a):
        Phase.stack.pop()
with Phase("a") as d1:
    with Phase("b") as d2:
        inside = list(Phase.stack)
after = Phase.stack

# == while with else and break
def search(xs, x):
    i = 0
    while i < len(xs):
        if xs[i] == x:
            break
        i += 1
    else:
        return "none"
    return i
a = search([5, 6], 6)
b = search([5, 6], 7)

# == chained methods on text
a = "  Hello, World ".strip().lower().replace(",", "").split()
b = "_".join(a)
c = b.title().swapcase()
d = b[::2].count("l")

# == sets of tuples and frozen keys
edges = {(1, 2), (2, 3), (1, 2)}
nodes = {n for e in edges for n in e}
deg = {n: sum(n in e for e in edges) for n in sorted(nodes)}
key = frozenset({2, 1})
w = {key: 5}[frozenset([1, 2])]

# == bool arithmetic for accuracy
pred = [1, 0, 2, 2]
gold = [1, 1, 2, 0]
hits = sum(p == g for p, g in zip(pred, gold))
acc = hits / len(gold)
wrong = [i for i, (p, g) in enumerate(zip(pred, gold)) if p != g]

# == confusion matrix by hand
k = 3
cm = [[0] * k for _ in range(k)]
for p, g in zip([0, 1, 2, 2], [0, 2, 2, 1]):
    cm[g][p] += 1
diag = sum(cm[i][i] for i in range(k))
