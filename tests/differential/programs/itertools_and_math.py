# Programs about itertools, math, statistics, operator and numbers (library reference, functional and numeric modules).

# == chain and repeat
from itertools import chain, repeat
a = list(chain([1], (2, 3), "x"))
b = list(chain.from_iterable([[1], [2, 3]]))
c = list(repeat(0, 3))

# == product, permutations and combinations
from itertools import product, permutations, combinations, combinations_with_replacement
a = list(product([1, 2], "ab"))
n = len(list(permutations(range(3))))
b = list(combinations("abc", 2))
c = list(combinations_with_replacement("ab", 2))
d = list(product([0, 1], repeat=2))
e = [dict(zip(("lr", "bs"), v)) for v in product([0.1, 0.2], [8])]

# == islice and count
from itertools import islice, count, cycle
a = list(islice(range(10), 2, 8, 3))
b = list(islice(count(5), 3))
c = list(islice(cycle([1, 2]), 5))
ids = count(1)
x = next(ids)
y = next(ids)

# == accumulate
from itertools import accumulate
import operator
a = list(accumulate([1, 2, 3]))
b = list(accumulate([1, 2, 3], operator.mul))
c = list(accumulate([3, 1, 4], max))
d = list(accumulate([1, 2], initial=100))

# == groupby
from itertools import groupby
a = [(k, len(list(g))) for k, g in groupby("aabbbc")]
b = {k: list(v) for k, v in groupby([1, 3, 2, 4], key=lambda x: x % 2)}

# == takewhile and dropwhile
from itertools import takewhile, dropwhile, filterfalse, compress
a = list(takewhile(lambda x: x < 3, [1, 2, 3, 1]))
b = list(dropwhile(lambda x: x < 3, [1, 2, 3, 1]))
c = list(filterfalse(lambda x: x % 2, range(5)))
d = list(compress("abc", [1, 0, 1]))

# == zip longest and starmap
from itertools import zip_longest, starmap
a = list(zip_longest([1, 2], [3], fillvalue=0))
b = list(starmap(pow, [(2, 3), (3, 2)]))

# == pairwise and tee
from itertools import pairwise, tee
a = list(pairwise([1, 2, 3]))
x, y = tee(iter([1, 2]))
b = list(x)
c = list(y)

# == cycle over loaders
from itertools import cycle
names = []
it = cycle(["a", "b"])
for step in range(3):
    names.append(next(it))

# == math functions
import math
a = math.sqrt(16)
b = math.ceil(7 / 2)
c = math.floor(-1.5)
d = math.log2(8)
e = math.gcd(12, 18)
f = math.prod([2, 3, 4])
g = math.isclose(0.1 + 0.2, 0.3)
h = math.factorial(5)
i = math.hypot(3, 4)

# == math constants
import math
a = round(math.pi, 4)
b = math.inf > 5
c = math.exp(0)
d = math.cos(0.0)
e = math.log(math.e)
f = math.isnan(float("nan"))
g = math.comb(5, 2)
h = math.trunc(2.7)

# == cosine schedule
import math
def lr_at(step, total=10, base=1.0):
    return base * 0.5 * (1 + math.cos(math.pi * step / total))
values = [round(lr_at(s), 4) for s in (0, 5, 10)]

# == ceil division
import math
n, batch = 103, 10
a = math.ceil(n / batch)
b = -(-n // batch)
c = (n + batch - 1) // batch
same = a == b == c

# == statistics
import statistics
a = statistics.mean([1, 2, 3, 4])
b = statistics.median([3, 1, 2])
c = round(statistics.stdev([1, 2, 3]), 3)
d = statistics.mode([1, 2, 2])
e = statistics.pstdev([2, 2])

# == fractions and decimals
from fractions import Fraction
from decimal import Decimal
a = float(Fraction(1, 2))
b = Fraction(1, 3) + Fraction(1, 6) == Fraction(1, 2)
c = str(Decimal("0.1") + Decimal("0.2"))

# == integer helpers
a = abs(-5)
b = divmod(17, 5)
c = pow(2, 5)
d = pow(2, 5, 7)
e = round(17 / 5, 1)
f = int(1e3)
g = (255).to_bytes(2, "big")

# == sizes of a convolution
def out(n, k, s=1, p=0, d=1):
    return (n + 2 * p - d * (k - 1) - 1) // s + 1
a = out(28, 3)
b = out(224, 7, 2, 3)
sizes = [32]
for k in (3, 3, 2):
    sizes.append(out(sizes[-1], k, s=2))

# == powers of two
widths = [2 ** i for i in range(4, 8)]
a = 64
while a * 2 <= 500:
    a *= 2
b = 1 << 6
c = (64 & 63) == 0

# == running mean
total = n = 0
means = []
for x in [2.0, 4.0, 9.0]:
    total += x
    n += 1
    means.append(total / n)

# == operator module
import operator
a = operator.truediv(7, 2)
b = operator.floordiv(7, 2)
c = operator.mod(7, 4)
d = operator.neg(3)
e = operator.contains([1], 1)
f = operator.getitem([4, 5], 1)
g = operator.eq(1, 1)
h = list(map(operator.sub, [5, 6], [1, 2]))

# == sorting numbers in several ways
xs = [3, -1, 2]
a = sorted(xs, key=abs)
b = sorted(xs)[::-1]
order = sorted(range(len(xs)), key=xs.__getitem__)
c = xs.index(min(xs))

# == split into parts
n = 10
train = int(0.8 * n)
val = n - train
parts = [n // 3 + (1 if i < n % 3 else 0) for i in range(3)]
bounds = [sum(parts[:i]) for i in range(len(parts) + 1)]

# == matrices as lists
a = [[1, 2], [3, 4]]
t = [list(r) for r in zip(*a)]
m = [[sum(x * y for x, y in zip(r, c)) for c in zip(*a)] for r in a]
trace = sum(a[i][i] for i in range(2))

# == dot products
u, v = [1, 2, 3], [4, 5, 6]
dot = sum(x * y for x, y in zip(u, v))
norm = sum(x * x for x in u) ** 0.5
scaled = [2 * x for x in u]

# == tee after use and count with a step
from itertools import count, islice
a = list(islice(count(10, -2), 4))
b = [i for i, _ in zip(count(), "abc")]

# == number formatting of counts
n = 1234567
a = f"{n / 1e6:.1f}M"
b = f"{n:,}"
c = f"{n:_}"
d = f"{12.0:g} {0.00001:g}"
