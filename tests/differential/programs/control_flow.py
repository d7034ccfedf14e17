# Programs about if, while, for, try, with, match and their clauses (language reference, section 8).

# == for and else
found = None
for n in [2, 4, 6]:
    if n % 2:
        found = n
        break
else:
    found = "none"
for n in [2, 3]:
    if n % 2:
        odd = n
        break
else:
    odd = None

# == while and else
n = 5
steps = 0
while n > 0:
    n -= 2
    steps += 1
else:
    done = True
k = 0
while True:
    k += 1
    if k == 3:
        break

# == continue
kept = []
for i in range(6):
    if i % 3 == 0:
        continue
    kept.append(i)
total = sum(kept)

# == nested loops with break
hits = []
for i in range(3):
    for j in range(3):
        if j > i:
            break
        hits.append((i, j))
n = len(hits)

# == try, except, else, finally
log = []
try:
    log.append("try")
except ValueError:
    log.append("except")
else:
    log.append("else")
finally:
    log.append("finally")

# == an exception that is caught
log = []
try:
    log.append(1)
    raise ValueError("bad")
    log.append(2)
except ValueError as error:
    log.append(3)
    text = str(error)
finally:
    log.append(4)

# == an exception from a builtin
try:
    x = int("abc")
except ValueError:
    x = -1
try:
    y = [1, 2][5]
except IndexError:
    y = "index"
try:
    z = {"a": 1}["b"]
except KeyError:
    z = "key"

# == division by zero
try:
    x = 1 / 0
except ZeroDivisionError:
    x = 0.0
try:
    y = 5 % 0
except ArithmeticError:
    y = "caught"

# == the first handler that fits
def kind(error):
    try:
        raise error
    except KeyError:
        return "key"
    except (IndexError, TypeError):
        return "index or type"
    except Exception:
        return "other"
a = kind(KeyError("k"))
b = kind(TypeError("t"))
c = kind(ValueError("v"))
d = kind(IndexError())

# == an exception from a function
def check(x):
    if x < 0:
        raise ValueError("negative")
    return x * 2
results = []
for v in [1, -1, 2]:
    try:
        results.append(check(v))
    except ValueError:
        results.append(None)

# == exception of the user's
class ShapeError(Exception):
    def __init__(self, expected, got):
        super().__init__(f"expected {expected}, got {got}")
        self.expected = expected
        self.got = got
try:
    raise ShapeError(3, 4)
except ShapeError as error:
    text = str(error)
    difference = error.got - error.expected

# == raise from
try:
    try:
        raise KeyError("a")
    except KeyError as inner:
        raise RuntimeError("outer") from inner
except RuntimeError as outer:
    cause = type(outer.__cause__).__name__
    text = str(outer)

# == re-raise
log = []
def f():
    try:
        raise ValueError("x")
    except ValueError:
        log.append("inner")
        raise
try:
    f()
except ValueError:
    log.append("outer")

# == finally and return
def f():
    try:
        return "try"
    finally:
        log.append("finally")
log = []
a = f()
def g():
    try:
        return 1
    finally:
        return 2
b = g()

# == finally when an exception passes
log = []
def f():
    try:
        raise ValueError
    finally:
        log.append("cleanup")
try:
    f()
except ValueError:
    log.append("caught")

# == exception variable is deleted
try:
    raise ValueError("x")
except ValueError as error:
    kept = error
gone = "error" in globals()
args = kept.args

# == nested try
result = []
try:
    try:
        {}["x"]
    except IndexError:
        result.append("wrong")
    finally:
        result.append("inner finally")
except KeyError:
    result.append("outer")

# == exceptions in loops
good = bad = 0
for text in ["1", "x", "3", ""]:
    try:
        value = int(text)
    except ValueError:
        bad += 1
        continue
    good += value

# == assertion error
try:
    assert 1 == 2, "message"
except AssertionError as error:
    text = str(error)

# == attribute error and getattr
class A:
    x = 1
try:
    A().missing
except AttributeError:
    caught = True
value = getattr(A(), "missing", 5)
has = hasattr(A(), "x")

# == stop iteration
it = iter([1])
a = next(it)
try:
    next(it)
except StopIteration:
    b = "end"
c = next(it, "default")

# == while with a condition on a list
stack = [1, 2, 3]
out = []
while stack:
    top = stack.pop()
    if top == 2:
        continue
    out.append(top)

# == match of literals
def name(status):
    match status:
        case 200:
            return "ok"
        case 404 | 410:
            return "gone"
        case _:
            return "other"
a = name(200)
b = name(410)
c = name(1)

# == match of sequences
def describe(p):
    match p:
        case []:
            return "empty"
        case [x]:
            return ("one", x)
        case [x, y]:
            return ("two", x + y)
        case [first, *rest]:
            return (first, len(rest))
a = describe([])
b = describe([5])
c = describe((1, 2))
d = describe([1, 2, 3])

# == match of mappings
def act(command):
    match command:
        case {"op": "add", "x": x, "y": y}:
            return x + y
        case {"op": op, **rest}:
            return (op, sorted(rest))
        case {}:
            return "mapping"
a = act({"op": "add", "x": 1, "y": 2})
b = act({"op": "neg", "z": 1})
c = act({"k": 1})

# == match of classes
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int
def where(p):
    match p:
        case Point(x=0, y=0):
            return "origin"
        case Point(x=0, y=y):
            return ("axis", y)
        case Point(x, y) if x == y:
            return "diagonal"
        case Point():
            return "point"
        case int(n):
            return n + 1
a = where(Point(0, 0))
b = where(Point(0, 3))
c = where(Point(2, 2))
d = where(Point(1, 2))
e = where(4)

# == match with guards and captures
def size(v):
    match v:
        case str() as s if len(s) > 3:
            return "long " + s
        case str():
            return "short"
        case float() | int():
            return "number"
        case None:
            return "nothing"
a = size("hello")
b = size("hi")
c = size(2.5)
d = size(None)

# == match of constants by name
class Color:
    RED = "r"
    BLUE = "b"
def pick(c):
    match c:
        case Color.RED:
            return 1
        case Color.BLUE:
            return 2
    return 0
a = pick("r")
b = pick("b")
c = pick("x")

# == loop over several iterables
out = []
for i, (a, b) in enumerate(zip([1, 2], [3, 4]), start=10):
    out.append(i + a * b)
for x in reversed([1, 2, 3]):
    out.append(x)

# == changing a list while going through its copy
values = [1, 2, 3, 4]
for v in values[:]:
    if v % 2:
        values.remove(v)

# == growing a list while going through it
values = [1, 2]
for v in values:
    if len(values) < 5:
        values.append(v * 10)

# == collatz
n = 6
path = [n]
while n != 1:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    path.append(n)
length = len(path)

# == early stopping
best, bad, stopped = 1.0, 0, None
for epoch, loss in enumerate([0.9, 0.8, 0.85, 0.9, 0.7]):
    if loss < best:
        best, bad = loss, 0
    else:
        bad += 1
        if bad >= 2:
            stopped = epoch
            break

# == learning rate schedule
lr = 0.1
history = []
for epoch in range(6):
    if epoch in (2, 4):
        lr *= 0.5
    history.append(lr)

# == gcd
a, b = 48, 18
while b:
    a, b = b, a % b

# == conditions with several branches
def grade(s):
    if s >= 90:
        return "A"
    elif s >= 80:
        return "B"
    return "C"
grades = [grade(s) for s in (95, 85, 50)]

# == pass and ellipsis bodies
def f(): ...
def g():
    pass
a = f()
b = g()
for _ in range(2): ...
if a is None: b = 1

# == exception groups of types
errors = (KeyError, ValueError)
try:
    raise ValueError("v")
except errors as e:
    kind = type(e).__name__
is_sub = issubclass(KeyError, LookupError)

# == try in a generator of results
def safe(f, default):
    try:
        return f()
    except Exception:
        return default
a = safe(lambda: 1 / 0, 0)
b = safe(lambda: "x".upper(), "")
c = safe(lambda: [][0], None)

# == loop else with continue
primes = []
for n in range(2, 20):
    for p in primes:
        if n % p == 0:
            break
    else:
        primes.append(n)
