# Programs about functions, their arguments, decorators and generators (language reference, sections 6 and 8).

# == positional and keyword arguments
def f(a, b=2, *args, c=3, **kwargs):
    return a, b, args, c, kwargs
x = f(1)
y = f(1, 5, 6, 7, c=8, d=9)
z = f(b=1, a=0)

# == keyword-only and positional-only
def f(a, /, b, *, c):
    return a * 100 + b * 10 + c
x = f(1, 2, c=3)
y = f(1, b=4, c=5)

# == spreading arguments
def f(a, b, c):
    return a - b + c
args = (1, 2)
x = f(*args, 3)
y = f(*args, **{"c": 5})
z = f(**{"a": 1, "b": 1, "c": 1})

# == star args as tuple and dict
def f(*args, **kwargs):
    return len(args), sorted(kwargs)
a = f()
b = f(1, 2, x=1)
def g(*args):
    return args[::-1]
c = g(1, 2, 3)

# == recursion
def fact(n):
    return 1 if n <= 1 else n * fact(n - 1)
a = fact(5)
def depth(x):
    return 1 + max(map(depth, x), default=0) if isinstance(x, list) else 0
b = depth([1, [2, [3]]])

# == fibonacci with a cache
from functools import lru_cache
@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
a = fib(10)

# == mutual recursion
def even(n):
    return True if n == 0 else odd(n - 1)
def odd(n):
    return False if n == 0 else even(n - 1)
a = even(4)
b = odd(3)

# == a decorator
def twice(f):
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs) * 2
    return wrapper
@twice
def g(x):
    return x + 1
a = g(3)
b = twice(len)("abc")

# == a decorator with arguments
from functools import wraps
def times(n):
    def decorate(f):
        @wraps(f)
        def wrapper(*a):
            return f(*a) * n
        return wrapper
    return decorate
@times(3)
def g(x):
    "doc"
    return x
a = g(2)
name = g.__name__
doc = g.__doc__

# == stacked decorators
def add(n):
    return lambda f: lambda x: f(x) + n
def mul(n):
    return lambda f: lambda x: f(x) * n
@add(1)
@mul(10)
def f(x):
    return x
a = f(2)

# == a decorator that registers
registry = {}
def register(name):
    def add(f):
        registry[name] = f
        return f
    return add
@register("relu")
def relu(x):
    return max(x, 0)
@register("neg")
def neg(x):
    return -x
a = registry["relu"](-3)
b = registry["neg"](2)
names = sorted(registry)

# == a decorator as a class
class Count:
    def __init__(self, f):
        self.f = f
        self.n = 0
    def __call__(self, *args):
        self.n += 1
        return self.f(*args)
@Count
def f(x):
    return x + 1
a = f(1)
b = f(2)
n = f.n

# == partial
from functools import partial
def power(base, exponent):
    return base ** exponent
square = partial(power, exponent=2)
two_to = partial(power, 2)
a = square(5)
b = two_to(3)
c = partial(square, 7)()
d = square.keywords

# == reduce
from functools import reduce
import operator
a = reduce(lambda x, y: x + y, [1, 2, 3, 4])
b = reduce(operator.mul, [2, 3, 4], 1)
c = reduce(lambda acc, x: acc + [x], "ab", [])
d = reduce(max, [3, 9, 2])

# == map and filter
a = list(map(lambda x: x + 1, [1, 2]))
b = list(map(operator_add, [1, 2], [10, 20])) if False else list(map(lambda x, y: x + y, [1, 2], [10, 20]))
c = list(filter(None, [0, 1, "", "x"]))
d = list(filter(lambda x: x > 1, [1, 2, 3]))
e = list(map(str, (1, 2)))
f = list(map(int, "123"))

# == a generator
def count(n):
    i = 0
    while i < n:
        yield i
        i += 1
a = list(count(3))
b = sum(count(4))
c = [x * 2 for x in count(2)]

# == an infinite generator
def naturals():
    n = 0
    while True:
        yield n
        n += 1
g = naturals()
a = next(g)
b = next(g)
from itertools import islice
c = list(islice(g, 3))

# == send
def average():
    total, n, mean = 0, 0, None
    while True:
        x = yield mean
        total += x
        n += 1
        mean = total / n
g = average()
first = next(g)
a = g.send(10)
b = g.send(20)

# == yield from and its value
def inner():
    x = yield 1
    yield 2
    return "done"
def outer():
    r = yield from inner()
    yield r
a = list(outer())

# == a generator is lazy
log = []
def g():
    log.append("start")
    yield 1
    log.append("middle")
    yield 2
    log.append("end")
it = g()
before = list(log)
x = next(it)
during = list(log)
rest = list(it)

# == an iterator consumed twice
it = iter([1, 2, 3])
a = list(it)
b = list(it)
g = (x for x in range(3))
c = sum(g)
d = sum(g)
m = map(str, [1, 2])
e = list(m)
f = list(m)

# == zip consumed in parts
z = zip([1, 2, 3], "abc")
first = next(z)
rest = list(z)
again = list(z)

# == a generator expression sees later values
k = 2
g = (x * k for x in [1, 2])
k = 10
a = list(g)

# == return in a generator
def g(n):
    for i in range(n):
        if i == 2:
            return
        yield i
a = list(g(5))
b = list(g(1))

# == closing a generator
log = []
def g():
    try:
        yield 1
        yield 2
    finally:
        log.append("closed")
it = g()
a = next(it)
it.close()
b = list(it)

# == a generator pipeline
def read():
    for line in ["a 1", "b 2", "c x"]:
        yield line
def parse(lines):
    for line in lines:
        k, v = line.split()
        if v.isdigit():
            yield k, int(v)
d = dict(parse(read()))

# == chunks
def chunks(xs, n):
    for i in range(0, len(xs), n):
        yield xs[i:i + n]
a = list(chunks([1, 2, 3, 4, 5], 2))
n = len(a)
last = a[-1]

# == attributes of functions
def f(x: int, y: float = 1.0) -> str:
    """Doc."""
    return ""
f.calls = 0
f.calls += 1
a = f.__name__
b = f.__doc__
c = f.calls
d = f.__defaults__
e = sorted(f.__annotations__)

# == functions as values
def compose(*fs):
    def run(x):
        for f in fs:
            x = f(x)
        return x
    return run
h = compose(lambda x: x + 1, lambda x: x * 2, str)
a = h(3)

# == nested closures with state
def accumulator(start):
    total = start
    def add(x):
        nonlocal total
        total += x
        return total
    def get():
        return total
    return add, get
add, get = accumulator(10)
a = add(5)
b = add(1)
c = get()

# == callable objects
class Adder:
    def __init__(self, n):
        self.n = n
    def __call__(self, x):
        return self.n + x
a = Adder(3)(4)
b = list(map(Adder(1), [1, 2]))
c = callable(Adder(1))
d = callable(3)

# == single dispatch
from functools import singledispatch
@singledispatch
def show(x):
    return "object"
@show.register(int)
def _(x):
    return "int"
@show.register(list)
def _(x):
    return "list of " + str(len(x))
a = show(1)
b = show([1, 2])
c = show("s")

# == cached property and cache
from functools import cached_property, cache
calls = []
class A:
    @cached_property
    def x(self):
        calls.append(1)
        return 42
o = A()
a = o.x + o.x
n = len(calls)
@cache
def f(x):
    calls.append(x)
    return x
b = f(5) + f(5)
m = len(calls)

# == operator functions
import operator as op
a = op.itemgetter(1)([5, 6])
b = op.itemgetter("x", "y")({"x": 1, "y": 2})
c = op.add(2, 3)
d = sorted([(1, "b"), (2, "a")], key=op.itemgetter(1))
class P:
    x = 3
e = op.attrgetter("x")(P())
f = op.methodcaller("upper")("abc")

# == default arguments that depend on None
def f(x, items=None):
    items = [] if items is None else items
    items.append(x)
    return items
a = f(1)
b = f(2)
c = f(3, [0])

# == generator with two loops over it
def pairs(xs):
    it = iter(xs)
    for a in it:
        b = next(it, None)
        yield a, b
a = list(pairs([1, 2, 3]))

# == enumerate and zip in one comprehension
rows = [f"{i}:{a}{b}" for i, (a, b) in enumerate(zip("xy", [1, 2]))]
index = {v: i for i, v in enumerate(["a", "b"])}
total = sum(i * v for i, v in enumerate([5, 6, 7]))

# == lambda in sorted and max
words = ["pear", "fig", "apple"]
a = sorted(words, key=lambda w: (len(w), w))
b = max(words, key=lambda w: w[-1])
c = min(words, key=len)
d = sorted(range(5), key=lambda i: -i)

# == the iter function with a sentinel
values = iter([1, 2, 0, 3])
out = list(iter(lambda: next(values), 0))
rest = list(values)

# == throw into a generator
def g():
    try:
        yield 1
    except ValueError:
        yield "caught"
it = g()
a = next(it)
b = it.throw(ValueError("x"))

# == total ordering
from functools import total_ordering
@total_ordering
class V:
    def __init__(self, n):
        self.n = n
    def __eq__(self, other):
        return self.n == other.n
    def __lt__(self, other):
        return self.n < other.n
a = V(1) < V(2)
b = V(1) >= V(2)
c = V(2) == V(2)

# == timing decorator keeps the result
import functools
def logged(f):
    names = []
    @functools.wraps(f)
    def inner(*args, **kwargs):
        names.append(f.__name__)
        inner.count = len(names)
        return f(*args, **kwargs)
    return inner
@logged
def g(a, b=1):
    return a + b
x = g(1)
y = g(1, b=5)
n = g.count

# == annotations do not matter
def f(x: "undefined" = 3) -> "nothing":
    return x
a = f()
def g(*, key: int = 1, **rest: str):
    return key, rest
b = g(z="q")
