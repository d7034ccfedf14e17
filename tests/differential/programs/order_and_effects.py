# == any stops at the first that is true
tried = []
def big(v):
    tried.append(v)
    return v > 10
stream = iter([4, 11, 30, 2])
found = any(map(big, stream))
left = list(stream)
every = all(big(v) for v in (20, 5, 40))

# == a generator expression reads names when it runs
width, rows = 3, [1, 2]
areas = (width * row for row in rows)
rows.append(3)
width = 10
total = sum(areas)
again = list(areas)

# == map reads names when it runs
shift = 1
moved = map(lambda v: v + shift, [10, 20])
shift = 5
out = list(moved)

# == enumerate sees what is appended
queue = ["a"]
for place, item in enumerate(queue, 1):
    if place < 3:
        queue.append(item + "x")

# == an iterator over a list that grows
items = [1, 2]
walk = iter(items)
first = next(walk)
items.append(7)
others = list(walk)

# == zip over lists that change
left, right = [1, 2, 3], [10, 20, 30]
for at, (a, b) in enumerate(zip(left, right)):
    right[at] = a + b
pairs = list(zip(left, right))

# == decorators are evaluated before what they decorate
log = []
def mark(name):
    log.append(f"make {name}")
    def put(made):
        log.append(f"put {name}")
        return made
    return put
@mark("outer")
@mark("inner")
class Thing:
    log.append("body")

# == a view of a dict follows it
stock = {"nut": 1}
names, counts = stock.keys(), stock.values()
stock["bolt"] = 5
many = len(names)
summed = sum(counts)
common = sorted(names & {"bolt", "cog"})

# == groups are gone when the next one comes
from itertools import groupby
words = ["ant", "ape", "bee", "cat", "cow"]
now = [(k, len(list(g))) for k, g in groupby(words, key=lambda w: w[0])]
late = [(k, len(list(g))) for k, g in list(groupby(words, key=lambda w: w[0]))]

# == zip that is strict gives what it has first
got = []
try:
    for pair in zip("abc", [1, 2], strict=True):
        got.append(pair)
except ValueError:
    got.append("uneven")

# == generators that feed one another
steps = []
def source():
    for n in range(2):
        steps.append(f"read {n}")
        yield n
def scaled(numbers):
    for n in numbers:
        steps.append(f"scale {n}")
        yield n * 100
kept = []
for n in scaled(source()):
    kept.append(n)
    steps.append("use")

# == a name that a handler bound is gone
problem = "before"
try:
    [][3]
except IndexError as problem:
    kind = type(problem).__name__
try:
    problem
    state = "there"
except NameError:
    state = "gone"

# == a local name that is not bound yet
size = 8
def measure():
    try:
        return size
    except UnboundLocalError:
        return -1
    size = 2
got = measure()

# == a global below a local of the same name
level = 1
def around():
    level = 50
    def raise_it():
        global level
        level += 5
    raise_it()
    return level
inner = around()

# == a class body is no scope for its comprehensions
unit = 9
class Box:
    unit = 2
    own = unit + 1
    seen = [unit for _ in range(2)]
held = (Box.own, Box.seen)

# == what an exception was raised in
try:
    try:
        1 // 0
    except ZeroDivisionError:
        {}["missing"]
except KeyError as error:
    inside = type(error.__context__).__name__
    cause = error.__cause__

# == a stack of contexts passes on what is raised
from contextlib import ExitStack, contextmanager
seen = []
@contextmanager
def room(name, keeps):
    seen.append("in " + name)
    try:
        yield name
    except LookupError:
        seen.append("caught in " + name)
        if not keeps:
            raise
    finally:
        seen.append("out " + name)
with ExitStack() as stack:
    stack.enter_context(room("hall", True))
    stack.enter_context(room("attic", False))
    stack.callback(seen.append, "bell")
    raise LookupError

# == exits that are caught
import sys
def leave(code):
    try:
        sys.exit(code)
    except SystemExit as stop:
        return stop.code
codes = [leave(0), leave("bad")]

# == operators that fail under a try
import torch
import numpy as np
log = []
for shape in [(3, 2), (2, 3)]:
    try:
        torch.ones(2, 3) + torch.ones(shape)
        log.append("fits")
    except RuntimeError:
        log.append("refused")
try:
    np.zeros((2, 3)) @ np.zeros((2, 3))
    log.append("product")
except ValueError:
    log.append("no product")
try:
    torch.arange(6).view(2, 3).t().view(-1)
    log.append("viewed")
except RuntimeError:
    log.append("not viewed")

# == a recursion that is too deep forgets what it changes
visits = 0
def walk(node):
    global visits
    visits += 1
    return 0 if node is None else 1 + walk(node[0])
depth = walk(((None,),))
seen = visits

# == a generator gives what it has before it fails
def readings():
    yield 3
    yield 5
    raise OSError("unplugged")
got = []
try:
    for value in readings():
        got.append(value)
except OSError as error:
    got.append(str(error))

# == calls that do not fit are refused
def area(width, /, height=1, **more): return width * height, more
fits = area(2, height=3, width=9)
refused = []
for given in ({"depth": 1, "height": 2}, {"height": 2}):
    try:
        area(**given)
    except TypeError:
        refused.append(len(given))

# == a global that a function deletes
token = "t"
def forget():
    global token
    del token
forget()
try:
    token
    left = True
except NameError:
    left = False

# == a function that counts its calls
def tick():
    tick.count = getattr(tick, "count", 0) + 1
    return tick.count
ticks = [tick(), tick()]
