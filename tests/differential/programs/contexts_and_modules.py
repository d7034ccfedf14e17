# Programs about context managers, and the modules json, re, os.path, pathlib, io, string and types.

# == suppress
from contextlib import suppress
log = []
with suppress(ValueError):
    log.append(1)
    int("x")
    log.append(2)
log.append(3)
with suppress(KeyError, IndexError):
    value = {}["k"]
has = "value" in globals()

# == an exception that suppress swallows
from contextlib import suppress
x = 1
with suppress(ZeroDivisionError):
    x = 2
    x = 1 // 0
    x = 3
y = x

# == context manager as a generator
from contextlib import contextmanager
log = []
@contextmanager
def tag(name):
    log.append("<" + name)
    yield name.upper()
    log.append(name + ">")
with tag("a") as x:
    log.append(x)
    with tag("b"):
        log.append("in")

# == context manager with try and finally
from contextlib import contextmanager
state = {"mode": "train"}
@contextmanager
def mode(m):
    old = state["mode"]
    state["mode"] = m
    try:
        yield
    finally:
        state["mode"] = old
with mode("eval"):
    during = state["mode"]
after = state["mode"]
try:
    with mode("test"):
        raise ValueError
except ValueError:
    final = state["mode"]

# == several managers
from contextlib import contextmanager
log = []
@contextmanager
def m(n):
    log.append(n)
    yield n
    log.append(-n)
with m(1) as a, m(2) as b:
    total = a + b

# == exit stack
from contextlib import ExitStack, contextmanager
log = []
@contextmanager
def m(n):
    log.append(n)
    yield n * 10
    log.append(-n)
with ExitStack() as stack:
    values = [stack.enter_context(m(i)) for i in range(2)]
    stack.callback(log.append, "callback")
    log.append("body")

# == null context
from contextlib import nullcontext
with nullcontext(5) as x:
    y = x + 1
with nullcontext():
    z = 1
amp = False
with (nullcontext() if not amp else None):
    w = 2

# == closing
from contextlib import closing
class R:
    closed = False
    def close(self):
        self.closed = True
r = R()
with closing(r) as q:
    inside = q.closed
after = r.closed

# == redirect output
import io
from contextlib import redirect_stdout
buffer = io.StringIO()
with redirect_stdout(buffer):
    print("hello", 1, sep="-", end="!")
text = buffer.getvalue()

# == a manager that is used as a decorator
from contextlib import ContextDecorator
log = []
class track(ContextDecorator):
    def __enter__(self):
        log.append("in")
        return self
    def __exit__(self, *exc):
        log.append("out")
@track()
def f(x):
    log.append(x)
    return x + 1
y = f(1)

# == exit sees the exception
class E:
    def __enter__(self):
        return self
    def __exit__(self, t, v, tb):
        self.seen = t is ValueError
        return self.seen
e = E()
with e:
    raise ValueError("x")
seen = e.seen

# == exit that does not swallow
class E:
    def __init__(self): self.n = 0
    def __enter__(self): return self
    def __exit__(self, *a): self.n += 1
e = E()
try:
    with e:
        raise KeyError("k")
    reached = True
except KeyError:
    reached = False
n = e.n

# == json
import json
text = json.dumps({"a": [1, 2.5, None, True], "b": "x"})
back = json.loads(text)
a = back["a"]
b = json.loads('{"lr": 0.1, "layers": [1, 2]}')["layers"]
c = json.dumps([1, 2], indent=None)
d = json.dumps({"b": 1, "a": 2}, sort_keys=True)

# == regular expressions
import re
m = re.match(r"(\w+)-(\d+)", "net-42.pt")
a = m.group(1)
b = int(m.group(2))
c = re.findall(r"\d+", "a1b22")
d = re.sub(r"\s+", " ", "a   b")
e = re.search("z", "abc") is None
f = re.split(r"[,;]", "a,b;c")
g = bool(re.fullmatch(r"\d+", "123"))

# == regular expressions with names
import re
p = re.compile(r"(?P<key>\w+)=(?P<value>\w+)")
m = p.search("x lr=01 y")
a = m.group("key")
d = m.groupdict()
s = m.span()
pairs = dict(p.findall("a=1 b=2"))
t = p.sub(lambda m: m.group(1).upper(), "a=1")

# == paths
import os.path
a = os.path.join("a", "b", "c.txt")
b = os.path.basename(a)
c = os.path.dirname(a)
d = os.path.splitext("model.tar.gz")
e = os.path.split("x/y")
f = os.path.normpath("a/./b/../c")
g = os.path.isabs("/x")

# == pathlib
from pathlib import Path, PurePosixPath
p = PurePosixPath("runs") / "exp1" / "model.pt"
a = str(p)
b = p.name
c = p.suffix
d = p.stem
e = p.parent.name
f = str(p.with_suffix(".bin"))
g = p.parts
h = "exp1" in p.parts

# == path strings
from pathlib import Path
root = Path("data")
f = root / "train" / "x.png"
a = f.name
b = f.stem
c = f.suffix
d = str(root.joinpath("a", "b").name)

# == string io
import io
f = io.StringIO("a\nb\nc\n")
first = f.readline()
rest = f.read()
g = io.StringIO()
g.write("x")
g.write("y")
text = g.getvalue()

# == csv
import csv, io
rows = list(csv.reader(io.StringIO("a,b\n1,2\n")))
header = rows[0]
d = list(csv.DictReader(io.StringIO("x,y\n1,2\n3,4\n")))
x = [int(r["x"]) for r in d]

# == environment with a default
import os
a = os.environ.get("SURELY_NOT_SET_ANYWHERE", "default")
sep = os.sep
n = len(os.path.sep)

# == hashing and base64
import hashlib, base64
a = hashlib.md5(b"x").hexdigest()[:4]
b = base64.b64encode(b"ab").decode()

# == struct
import struct
a = struct.pack("<I", 5)
n = struct.calcsize("ii")
b = struct.unpack("<I", a)[0]

# == dates
from datetime import datetime, timedelta
d = datetime(2024, 1, 31)
e = d + timedelta(days=1)
a = e.month
s = d.strftime("%Y-%m-%d")
n = (e - d).days

# == copy of the environment of a call
import types
m = types.MappingProxyType({"a": 1})
a = m["a"]
n = len(m)
f = isinstance(lambda: 0, types.FunctionType)

# == inspect
import inspect
def f(a, b=1, *args, c, **kw):
    pass
names = list(inspect.signature(f).parameters)
n = len(names)
ok = inspect.isfunction(f)

# == warnings and logging do nothing here
import logging, warnings
logger = logging.getLogger("x")
logger.info("hello %s", 1)
warnings.filterwarnings("ignore")
a = logging.INFO
b = logger.name

# == uuid and version strings
import sys
ok = sys.version_info >= (3, 8)
major = sys.version_info[0]
name = sys.platform != ""

# == abstract collections
from collections.abc import Iterable, Mapping, Sequence, Callable
a = isinstance([1], Iterable)
b = isinstance({}, Mapping)
c = isinstance("x", Sequence)
d = isinstance(len, Callable)
e = isinstance(3, Iterable)
f = isinstance((1,), Sequence)

# == main guard
def main():
    return 5
result = None
if __name__ == "__main__":
    result = main()

# == glob patterns and fnmatch
import fnmatch
a = fnmatch.fnmatch("a.py", "*.py")
b = fnmatch.filter(["a.py", "b.txt"], "*.txt")

# == pickling
import pickle
a = pickle.loads(pickle.dumps({"x": [1, 2]}))
b = a["x"]

# == a shuffled list has as many elements
import random
random.seed(0)
xs = [1, 2, 3]
random.shuffle(xs)
n = len(xs)
k = len(random.sample(range(10), 3))
del xs

# == a time difference is a float
import time
start = time.time()
elapsed = time.time() - start
kind = type(elapsed).__name__
del start, elapsed

# == importing parts
from math import sqrt as root, pi
import os.path as osp
import collections
a = root(9)
b = osp.basename("x/y")
c = collections.Counter("aa")["a"]
