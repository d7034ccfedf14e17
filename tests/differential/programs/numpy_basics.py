# Programs about NumPy: shapes, views, copies, indexing, reductions.

# == creation
import numpy as np
a = np.zeros((2, 3))
b = np.ones(4, dtype=np.int64)
c = np.arange(10)
d = np.linspace(0, 1, 5)
e = np.eye(3)
f = np.full((2, 2), 7)
g = np.array([[1, 2], [3, 4]])
h = np.empty((1, 5), dtype=np.float32)

# == shape and attributes
import numpy as np
a = np.zeros((2, 3, 4))
s = a.shape
n = a.ndim
k = a.size
m = len(a)
d = str(a.dtype)
r, c = a.shape[:2]

# == reshape and transpose
import numpy as np
a = np.arange(12)
b = a.reshape(3, 4)
c = b.T
d = a.reshape(2, -1)
e = b.transpose(1, 0)
f = b.ravel()
g = b.flatten()
h = a[:, None]
i = np.expand_dims(a, 0)
j = h.squeeze()

# == slicing
import numpy as np
a = np.zeros((6, 4))
b = a[1:3]
c = a[:, 0]
d = a[::2, 1:]
e = a[-1]
f = a[..., None]
g = a[[0, 2]]
h = a[0, 0]

# == views share memory
import numpy as np
a = np.zeros(4)
b = a[1:3]
b[0] = 5
x = float(a[1])
c = a.copy()
c[0] = 9
y = float(a[0])
d = a.reshape(2, 2)
d[1, 1] = 7
z = float(a[3])

# == boolean masks
import numpy as np
a = np.array([1, 5, 2, 8])
m = a > 2
k = m.dtype == bool
n = int(m.sum())
b = a[m]
total = int(b.sum())
w = np.where(a > 2, a, 0)

# == reductions
import numpy as np
a = np.arange(6).reshape(2, 3)
s = int(a.sum())
b = a.sum(axis=0)
c = a.mean(axis=1)
d = a.max()
e = a.argmax(axis=1)
f = a.sum(axis=1, keepdims=True)
g = np.cumsum(a)

# == broadcasting
import numpy as np
a = np.ones((3, 1)) + np.ones((1, 4))
b = np.arange(3) * 2
c = np.zeros((2, 3)) - np.arange(3)
d = a / 2
e = b ** 2
f = b / 2

# == dtypes
import numpy as np
a = np.array([1, 2])
b = np.array([1.0, 2])
c = np.array([True, False])
d = a + b
e = a.astype(np.float32)
f = a / a
g = np.array([1, 2], dtype=np.uint8)
h = np.float32(3)

# == joining
import numpy as np
a, b = np.zeros((2, 3)), np.ones((2, 3))
c = np.concatenate([a, b])
d = np.stack([a, b])
e = np.vstack([a, b])
f = np.hstack([a, b])
g = np.concatenate([a, b], axis=1)
h = np.array([a, b])

# == splitting
import numpy as np
a = np.arange(10)
parts = np.split(a, 2)
n = len(parts)
b = parts[0]
c = np.array_split(a, 3)
m = len(c)
d = c[0]

# == linear algebra
import numpy as np
a = np.ones((2, 3))
b = np.ones((3, 4))
c = a @ b
d = np.dot(a, b)
e = np.matmul(a, b)
f = np.linalg.norm(a)
g = a.T @ a

# == lists and arrays
import numpy as np
a = np.array([1, 2, 3])
b = a.tolist()
n = len(b)
c = list(a.shape)
d = [int(x) for x in a]
e = int(a[0])
total = sum(b)

# == comparison
import numpy as np
a = np.array([1, 2, 3])
b = a == 2
c = bool((a > 0).all())
d = bool((a > 2).any())
e = np.array_equal(a, [1, 2, 3])
f = np.allclose([1.0], [1.0])

# == sorting
import numpy as np
a = np.array([3, 1, 2])
b = np.sort(a)
c = np.argsort(a)
d = np.unique(np.array([1, 1, 2]))
first = int(b[0])
e = a[::-1]

# == iteration
import numpy as np
a = np.zeros((3, 2))
rows = [r.shape for r in a]
n = 0
for row in a:
    n += len(row)
idx = [i for i, _ in enumerate(a)]

# == in-place changes
import numpy as np
a = np.zeros(3)
b = a
b += 1
x = float(a.sum())
a[0] = 10
y = float(b[0])
a *= 2
z = float(b[0])

# == meshgrid and indices
import numpy as np
x, y = np.meshgrid(np.arange(3), np.arange(2))
s = x.shape
a = np.zeros((4, 5))
i, j = np.nonzero(a == 0)
n = i.shape
k = np.argmax(a)

# == random arrays
import numpy as np
rng = np.random.default_rng(0)
a = rng.normal(size=(2, 3))
b = np.random.randn(4, 5)
c = np.random.rand(3)
d = np.random.randint(0, 10, size=(2, 2))
e = np.random.permutation(5)

# == torch and numpy
import numpy as np
import torch
a = np.ones((2, 3), dtype=np.float32)
t = torch.from_numpy(a)
u = t.numpy()
v = torch.tensor(np.arange(4))
w = torch.zeros(3).numpy().shape

# == clipping and rounding
import numpy as np
a = np.array([-1.0, 0.5, 2.0])
b = np.clip(a, 0, 1)
c = np.round(a, 1)
d = np.abs(a)
e = np.maximum(a, 0)
f = np.exp(a)
g = np.sqrt(np.array([4.0]))

# == padding and tiling
import numpy as np
a = np.ones((2, 2))
b = np.pad(a, 1)
c = np.tile(a, (2, 1))
d = np.repeat(np.arange(2), 3)
e = np.pad(np.arange(3), (1, 2))

# == types of items
import numpy as np
a = np.arange(3)
x = a[0].item()
y = a.sum().item()
z = float(np.mean(a))
w = a.mean() == 1.0
n = np.prod((2, 3, 4))
m = int(np.prod([2, 3]))
