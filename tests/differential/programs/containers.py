# Programs about lists, tuples, dicts and sets (library reference, built-in types).

# == list methods
x = [3, 1, 2]
x.append(5)
x.extend([7, 8])
x.insert(0, 9)
x.remove(1)
last = x.pop()
first = x.pop(0)
where = x.index(5)
n = x.count(3)

# == sorting in place
x = [3, 1, 2]
nothing = x.sort()
y = sorted(x, reverse=True)
z = ["bb", "a", "ccc"]
z.sort(key=len, reverse=True)
x.reverse()

# == sorted with a key
people = [("bob", 25), ("al", 30), ("cy", 20)]
by_age = sorted(people, key=lambda p: p[1])
names = [name for name, _ in by_age]
oldest = max(people, key=lambda p: p[1])[0]
d = {"b": 2, "a": 3}
ranked = sorted(d, key=d.get)
ranked_items = sorted(d.items(), key=lambda kv: -kv[1])

# == slices assigned
x = [0, 1, 2, 3, 4]
x[1:3] = [9]
y = [0, 1, 2, 3]
y[::2] = [8, 8]
z = [1, 2, 3]
z[len(z):] = [4]
w = [1, 2]
w[:] = [5]

# == slices deleted
x = [0, 1, 2, 3, 4]
del x[1:3]
y = [0, 1, 2]
del y[-1]
z = list(range(6))
del z[::2]

# == copies and aliases
a = [1, [2]]
b = a
c = a[:]
d = list(a)
b.append(3)
c[1].append(9)
n = len(a)
m = len(d)
deep = d[1]

# == multiplied lists share their rows
rows = [[0] * 2] * 3
rows[0][0] = 1
good = [[0] * 2 for _ in range(3)]
good[0][0] = 1

# == tuple methods
t = (1, 2, 2, 3)
n = t.count(2)
i = t.index(3)
u = t + (4,)
v = t[1:]
a, *rest = t

# == dictionary methods
d = {"a": 1}
d["b"] = 2
x = d.get("c")
y = d.get("c", 5)
z = d.setdefault("d", 7)
w = d.pop("a")
v = d.pop("missing", None)
keys = list(d)
values = list(d.values())
items = list(d.items())

# == dictionary update and merge
a = {"x": 1, "y": 2}
b = {"y": 3, "z": 4}
c = {**a, **b}
d = a | b
a.update(b)
a.update(w=9)
e = dict(a, q=0)
b |= {"k": 1}

# == dictionary order
d = {}
d["b"] = 1
d["a"] = 2
d["b"] = 3
order = list(d)
last = d.popitem()
rest = d
backwards = list(reversed({"p": 1, "q": 2}))

# == dictionary views
d = {"a": 1, "b": 2}
common = d.keys() & {"a", "c"}
inside = ("a", 1) in d.items()
n = len(d.values())
more = sorted(d.keys() | {"z"})

# == building dictionaries
a = dict(x=1, y=2)
b = dict([("k", 1), ("l", 2)])
c = dict(zip("ab", [1, 2]))
d = {k: v for k, v in zip(["p", "q"], (3, 4))}
e = dict.fromkeys(["a", "b"], 0)
f = {v: k for k, v in a.items()}

# == a list filled through a key
groups = {}
for name, value in [("a", 1), ("b", 2), ("a", 3)]:
    if name not in groups:
        groups[name] = []
    groups[name].append(value)
n = len(groups["a"])

# == set operations
a = {1, 2, 3}
b = {2, 3, 4}
u = a | b
i = a & b
d = a - b
s = a ^ b
sub = {1} <= a
dis = a.isdisjoint({9})
c = a.union([7])

# == set methods
s = set()
s.add(1)
s.add(1)
s.update([2, 3])
s.discard(9)
s.remove(2)
n = len(s)
t = frozenset([1, 2])
inside = 3 in s

# == set of a list
values = [3, 1, 3, 2, 1]
unique = sorted(set(values))
n = len(set(values))
seen = set()
ordered = [v for v in values if not (v in seen or seen.add(v))]

# == set in-place operators
s = {1, 2, 3}
s &= {2, 3, 4}
s |= {9}
s -= {3}
s ^= {2, 5}

# == nested containers
config = {"model": {"layers": [1, 2, 3], "name": "net"}}
n = len(config["model"]["layers"])
config["model"]["layers"].append(4)
last = config["model"]["layers"][-1]
config["model"]["name"] += "2"
name = config["model"]["name"]

# == dictionary comprehension with a condition
scores = {"a": 3, "b": 8, "c": 5}
good = {k: v for k, v in scores.items() if v > 4}
best = max(scores, key=scores.get)
total = sum(scores.values())
mean = total / len(scores)

# == lists as stacks and queues
stack = []
stack.append(1)
stack.append(2)
top = stack.pop()
queue = [1, 2, 3]
head = queue.pop(0)
rest = queue

# == zip and unzip
pairs = [(1, "a"), (2, "b")]
numbers, letters = zip(*pairs)
back = list(zip(numbers, letters))
short = list(zip([1, 2, 3], "ab"))
n = len(list(zip()))

# == membership after changes
d = {"a": 1}
before = "b" in d
d["b"] = 2
after = "b" in d
del d["a"]
gone = "a" in d
n = len(d)

# == deleting entries while going through a copy
d = {"a": 1, "module.b": 2, "module.c": 3}
for k in list(d):
    if k.startswith("module."):
        d[k[7:]] = d.pop(k)
keys = sorted(d)

# == comparisons of containers
a = [1, 2] == [1, 2]
b = {"a": [1]} == {"a": [1]}
c = (1, 2) == [1, 2]
d = {1, 2} == {2, 1}
e = [1, 2] != [1, 3]
f = {} == {}

# == a dictionary of lists and of functions
ops = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b}
a = ops["add"](2, 3)
b = ops["mul"](2, 3)
results = {k: f(4, 5) for k, f in ops.items()}

# == list of dictionaries
rows = [{"id": 1, "v": 2}, {"id": 2, "v": 4}]
ids = [r["id"] for r in rows]
by_id = {r["id"]: r for r in rows}
value = by_id[2]["v"]
by_id[2]["v"] = 7
changed = rows[1]["v"]

# == tuple as a key
table = {(0, 0): "a", (0, 1): "b"}
table[1, 0] = "c"
x = table[0, 1]
n = len(table)
keys = sorted(table)

# == list equality and identity after copy
import copy
a = [[1], [2]]
b = copy.copy(a)
c = copy.deepcopy(a)
a[0].append(9)
x = b[0]
y = c[0]
same = a == b

# == clear and reuse
buffer = [1, 2]
alias = buffer
buffer.clear()
n = len(alias)
buffer = [5]
m = len(alias)

# == chained dictionary defaults
defaults = {"lr": 0.1, "bs": 32}
override = {"lr": 0.01}
config = {**defaults, **override}
lr = config["lr"]
missing = config.get("momentum", 0.9)
keys = list(config)

# == popping from a dictionary in a loop
d = {"a": 1, "b": 2}
total = 0
while d:
    k, v = d.popitem()
    total += v
empty = d
last = k

# == range objects
r = range(2, 10, 3)
a = list(r)
n = len(r)
x = r[1]
y = r[-1]
s = r.start, r.stop, r.step
inside = 5 in r
back = list(reversed(r))

# == list of tuples into columns
batch = [([1, 2], 0), ([3, 4], 1)]
xs, ys = map(list, zip(*batch))
n = len(xs)
first = xs[0]

# == flattening
nested = [[1, 2], [3], []]
flat = [v for row in nested for v in row]
total = sum(nested, [])
lengths = list(map(len, nested))
# == one of two containers is changed, and it is not known which
import random
first, second = [1], [2]
(first if random.random() > 2 else second).append(3)
kept = first[0]
one, other = {"a": 1}, {"b": 2}
(one if random.random() > 2 else other)["c"] = 3
found = one["a"]
del (one if random.random() > 2 else other)["c"]
rows = [[0] for _ in range(3)]
rows[random.randrange(1)].append(5)
seen = [row[0] for row in rows]
