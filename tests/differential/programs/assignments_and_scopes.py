# Programs about assignment, deletion, names and scopes (language reference, sections 4 and 7).

# == unpacking with a star
a, *b, c = [1, 2, 3, 4, 5]
*d, e = (1, 2)
f, *g = "x"
(h, i), j = (1, 2), 3

# == swapping
a, b = 1, 2
a, b = b, a
x = [1, 2, 3]
x[0], x[2] = x[2], x[0]

# == chained assignment
a = b = []
a.append(1)
n = len(b)
x = y = 5
x += 1

# == unpacking a dictionary and a string
a, b = {"x": 1, "y": 2}
c, d, e = "abc"
k, v = {"z": 3}.popitem()

# == unpacking in a loop
total = 0
names = []
for i, (name, value) in enumerate([("a", 1), ("b", 2)]):
    total += i * value
    names.append(name)
for first, *rest in [(1, 2, 3), (4, 5)]:
    tail = rest

# == annotated assignment
x: int = 5
y: str
names: list = []
names.append(x)
has = "y" in globals()

# == deleting a name
x = 1
y = [x]
del x
gone = "x" in globals()
x = 2

# == global
count = 0
def bump():
    global count
    count += 1
    return count
a = bump()
b = bump()

# == nonlocal
def outer():
    n = 0
    def inner():
        nonlocal n
        n += 1
        return n
    inner()
    inner()
    return n
value = outer()

# == a closure counter
def make():
    count = 0
    def step():
        nonlocal count
        count += 1
        return count
    return step
a = make()
b = make()
x = a()
y = a()
z = b()

# == closures see the last value
fs = [lambda: i for i in range(3)]
late = [f() for f in fs]
gs = [lambda i=i: i for i in range(3)]
early = [g() for g in gs]

# == loop functions see the loop's variable
fs = []
for k in range(3):
    def f():
        return k
    fs.append(f)
values = [f() for f in fs]

# == comprehension scope
x = 10
squares = [x * x for x in range(3)]
after = x
d = {k: x for k in "ab"}

# == local shadows global
x = 1
def f():
    x = 2
    return x
a = f()
b = x

# == a global that is read when called
def f():
    return scale * 2
scale = 3
a = f()
scale = 5
b = f()

# == class body scope
n = 4
class A:
    n = 5
    m = n + 1
    def f(self):
        return n
a = A.m
b = A().f()

# == mutable default argument
def add(x, into=[]):
    into.append(x)
    return into
a = add(1)
b = add(2)
same = a is b
c = add(3, [])

# == default evaluated once
x = 1
def f(y=x):
    return y
x = 2
a = f()
b = f(7)

# == an alias of a function
def f(x):
    return x + 1
g = f
def f(x):
    return x * 10
a = f(2)
b = g(2)

# == names in nested functions
def outer(a):
    b = a + 1
    def middle(c):
        def inner():
            return a, b, c
        return inner
    return middle(b + 1)()
t = outer(1)

# == swap through a tuple with indices
i = 0
x = [0, 0, 0]
i, x[i] = 1, 9
a = x

# == augmented assignment of an attribute and an item
class P:
    pass
p = P()
p.n = 1
p.n += 4
d = {"a": [1]}
d["a"] += [2]
d["b"] = 0
d["b"] -= 3
n = p.n

# == globals and locals
def f():
    a = 1
    b = 2
    return sorted(locals())
names = f()
flag = 3
value = globals()["flag"]

# == star unpacking of a generator
first, *others = (x * 2 for x in range(4))
*init, last = range(3)

# == nested targets
[a, [b, c]] = 1, (2, 3)
(d, *e), f = [1, 2, 3], 4

# == conditional binding
mode = "train"
if mode == "train":
    shuffle = True
elif mode == "val":
    shuffle = False
else:
    shuffle = None

# == walrus in a while loop
queue = [1, 2, 3, 0, 5]
seen = []
while (item := queue.pop(0)):
    seen.append(item)
left = queue

# == walrus in a function call
def f(x):
    return x + 1
r = f(y := 3)
z = [y, y ** 2]

# == rebinding inside a loop
x = 5
for x in range(2):
    pass
a = x
for _ in []:
    b = 1
has_b = "b" in globals()

# == immutable arguments
def f(n, items):
    n += 1
    items += [n]
    items = items + [0]
    return n
a = 1
b = []
c = f(a, b)

# == multiple return values
def stats(xs):
    return min(xs), max(xs), sum(xs) / len(xs)
lo, hi, mean = stats([1, 2, 3, 6])
whole = stats([4])

# == underscores
_, x, _ = (1, 2, 3)
for _ in range(3):
    x += 1
