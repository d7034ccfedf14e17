# Programs about what small arrays of NumPy hold: numbers, views that share memory, and what is written through them.

# == views and copies
import numpy as np
x = np.arange(12).reshape(3, 4)
row = x[1]
row[0] = 100
picked = x[[0, 2]]
picked[:] = -1
flat, copy, turned = x.ravel(), x.flatten(), x.T
flat[0], copy[1], turned[3, 2] = 7, 55, 99
chosen = x[x > 8]
chosen[:] = 0
out = x.tolist()
shared = (np.shares_memory(x, x.T.reshape(-1)), np.shares_memory(x, x[::2, ::-1]), np.shares_memory(x, x + 0), row.base is not None)
same = x
same += 1
other = x
other = other + 1
total = int(x.sum())

# == broadcasting and strides
import numpy as np
a, b = np.arange(3), np.arange(2)[:, None]
products = (a[None] * b).tolist()
distances = ((a[:, None] - a[None, :]) ** 2).sum(-1).tolist()
wide = np.broadcast_to(a, (2, 3))
strides = (wide.strides[0], a.strides == a[:2].strides, a[::2].strides[0] // a.itemsize)
a[0] = 9
seen = wide.tolist()
try:
    wide[0, 0] = 1
    refused = False
except ValueError:
    refused = True
outer = np.outer([1, 2], [3, 4]).tolist()

# == indices that are numbers, arrays and masks
import numpy as np
x = np.arange(20).reshape(4, 5)
a = x[[0, 1, 2], [4, 3, 2]].tolist()
b = x[np.ix_([0, 3], [1, 2])].tolist()
y = np.zeros((2, 3, 4, 5))
shapes = (y[:, [0, 1], :, [0, 1]].shape, y[:, [0, 1], [0, 1]].shape, y[0, ..., [1]].shape, y[0, :, [1, 2]].shape)
counts = np.zeros(4, int)
counts[[0, 1, 1, 1]] += 1
np.add.at(counts, [3, 3], 5)
held = counts.tolist()
one_hot = np.eye(3, dtype=int)[[2, 0]].tolist()
x[x % 2 == 0] = 0
left = x[0].tolist()
try:
    x[7]
    found = True
except IndexError:
    found = False

# == order
import numpy as np
s = np.array([0.3, 0.9, 0.1, 0.9])
order = np.argsort(-s, kind="stable").tolist()
values, inverse, counts = np.unique([3, 1, 3, 2], return_inverse=True, return_counts=True)
out = (values.tolist(), inverse.tolist(), counts.tolist(), np.searchsorted(values, [2, 5], side="right").tolist())
m = np.array([[3, 1], [2, 4]])
flat = np.sort(m, axis=None)
columns = np.sort(m, axis=0).tolist()
place = [int(i) for i in np.unravel_index(m.argmax(), m.shape)]
m.sort()
after = m.tolist()
best = int(s.argmax())

# == small integers wrap
import numpy as np
a = np.array([250, 10], dtype=np.uint8)
sums = (a + np.uint8(10)).tolist()
differences = (a - a[::-1]).tolist()
names = (a.dtype.name, (a / 2).dtype.name, a.dtype.itemsize, a.dtype.kind)
cut = np.array([1.9, -1.9]).astype(int).tolist()
a[0] = 7
first = int(a[0])

# == numbers that are none
import numpy as np
x = np.array([1.0, np.nan, 3.0])
known = (bool(np.isnan(x.mean())), float(np.nanmean(x)), bool((x == x).all()), float(np.nan_to_num(x).sum()))
spread = (float(np.std([1, 3])), float(np.std([1, 3], ddof=1)), float(np.median([1, 9, 2])))
if np.isnan(x).any():
    kind = "holes"
else:
    kind = "whole"

# == parts are put together
import numpy as np
a = np.arange(6)
parts = [one.tolist() for one in np.array_split(a, 4)]
stacked = np.stack([a[:2], a[2:4]], axis=1).tolist()
joined = np.concatenate([a[:2], a[4:]])
joined[0] = 50
rest = a.tolist()
moved = (np.roll(a, 2).tolist(), np.flip(a)[:2].tolist(), np.pad([1], (1, 2)).tolist(), np.tile([1, 2], 2).tolist())
fortran = a.reshape(3, 2, order="F").tolist()
halves = np.split(a, 2)
halves[1][0] = 30
whole = a.tolist()

# == two names of one array, in a branch and a loop
import numpy as np
a, b = np.zeros(2, int), np.zeros(2, int)
for step in range(3):
    chosen = a if step % 2 == 0 else b
    chosen[0] += 1
    chosen[step % 2] += 10
ends = (a.tolist(), b.tolist())
def fill(values, number=0):
    values[:] = number
    return values
filled = fill(a, 4)
same = (filled is a, a.tolist())

# == copies of arrays, and arrays in containers
import copy
import numpy as np
a = np.arange(3)
one, two = copy.copy(a), copy.deepcopy({"a": a, "b": [a]})
a[0] = 9
kept = (one.tolist(), two["a"].tolist(), two["b"][0].tolist())
rows = list(np.arange(4).reshape(2, 2))
rows[0][1] = 8
grid = np.arange(4).reshape(2, 2)
for row in grid:
    row *= 2
doubled = grid.tolist()

# == memory that a tensor shares
import numpy as np
import torch
a = np.zeros(3)
t = torch.from_numpy(a)
t[0] = 5
b = np.ones(2)
u = torch.tensor(b)
u[0] = 7
first, second = float(a[0]), float(b[0])

# == written elsewhere
import numpy as np
a, b, c = np.arange(4), np.arange(4), np.arange(4)
np.random.shuffle(a)
np.multiply(b, 2, out=b)
np.copyto(c, 7)
c.flat[1] = 9
d = np.arange(4)
d.shape = (2, 2)
d[0] = 0
e = np.arange(3)
e.fill(2)
found = (sorted(a.tolist()) == [0, 1, 2, 3], int(e[2]))

# == counts and texts of numbers
import numpy as np
labels = np.array([2, 0, 1, 2, 2])
counts = np.bincount(labels, minlength=4).tolist()
table = np.zeros((3, 3), dtype=int)
np.add.at(table, (labels, np.array([2, 0, 2, 2, 1])), 1)
rows = table.tolist()
classes, first = np.unique(labels, return_index=True)
text = f"{labels.mean():.2f} {counts[2]} {labels[0]:03d}"

# == results that are written into an array
import numpy as np
y, z, w = np.arange(3), np.array([3.0, 1.0]), np.zeros(2)
np.add(y, 1, y)
first = y.tolist()
np.sqrt(z, out=z)
np.clip(z, 0, 0.5, z)
second = z.tolist()
np.arange(4).reshape(2, 2).sum(0, None, w)
third = w.tolist()
total = int(np.add(np.arange(3), 1).sum())
counted = [len(one) for one in (first, second, third)]
names = (y.dtype.name, z.dtype.name, w.shape)

# == another shape in its place
import numpy as np
a = np.sin(np.arange(6.0))
a.shape = (2, 3)
row, rows = a[0].shape, a[:1].shape
b = np.arange(4.0)
b.resize((4, 1))
first, rest = b[:-1].shape, b[1:].shape
b.resize(2, 2)
both = b[:1].shape
