# Programs about literals, operators and expressions (language reference, sections 2 and 6).

# == integer literals
a = 0x1F
b = 0b1010
c = 1_000_000
d = 0o17
total = a + b + c + d

# == floor division and modulo of negative numbers
q = -7 // 2
r = -7 % 2
s = 7 // -2
t = 7 % -2
f = -7.5 // 2
g = -7.5 % 2
h = divmod(-7, 2)

# == true division
a = 7 / 2
b = 6 / 3
c = 1 / 4
kind = type(b).__name__

# == powers
a = 2 ** 10
b = 2 ** -1
c = (-2) ** 2
d = -2 ** 2
e = 2 ** 3 ** 2
f = pow(3, 4, 5)
g = 9 ** 0.5

# == bit operations
a = 6 & 3
b = 6 | 3
c = 6 ^ 3
d = ~6
e = 1 << 10
f = -16 >> 2
g = (5).bit_length()
h = bin(10)

# == complex numbers
z = 3 + 4j
m = abs(z)
re, im = z.real, z.imag
w = z * 2
c = z.conjugate()
same = z == complex(3, 4)

# == rounding
a = round(2.5)
b = round(3.5)
c = round(2.675, 2)
d = round(-1.5)
e = round(1234, -2)
f = int(3.99)
g = int(-3.99)

# == chained comparisons
x = 5
a = 1 < x < 10
b = 1 < x > 3
c = 10 > x >= 5 == 5
d = 1 < 3 < 2

# == boolean operators give operands
a = 0 or "default"
b = "" or None
c = 3 and 4
d = [] and 1
e = not []
f = None or 0 or "x" or 5

# == conditional expression
n = 4
kind = "even" if n % 2 == 0 else "odd"
sign = -1 if n < 0 else 0 if n == 0 else 1

# == the walrus
data = [1, 2, 3, 4]
if (n := len(data)) > 3:
    big = n
doubled = [y for x in data if (y := x * 2) > 4]
last = y

# == identity and equality
a = [1, 2]
b = [1, 2]
c = a
same = a is c
equal = a == b
other = a is b
nothing = None is None

# == membership
a = 3 in [1, 2, 3]
b = "k" in {"k": 1}
c = "ell" in "hello"
d = 5 not in (1, 2)
e = 2 in {1, 2}
f = 3 in range(0, 10, 2)

# == mixed arithmetic of bools
a = True + True
b = sum([True, False, True])
c = True * 3
d = 5 - False
e = isinstance(True, int)

# == string repetition and concatenation
line = "-" * 5
text = "a" "b" + "c"
many = [0] * 3
pair = (1, 2) * 2

# == comparison of sequences
a = (1, 2) < (1, 3)
b = [1, 2, 3] > [1, 2]
c = "apple" < "banana"
d = (1, "a") == (1, "a")
e = [1, [2]] == [1, [2]]
f = {"a": 1} == {"a": 1}
g = {1, 2} == {2, 1}

# == unary operators
x = 3
a = -x
b = +x
c = ~x
d = not x
e = --x

# == floats that are special
inf = float("inf")
a = inf > 10 ** 9
b = -inf
c = 1e-3
d = 1e3
e = float("1.5e2")

# == augmented assignment
x = 10
x += 5
x -= 3
x *= 2
x //= 5
x **= 3
x %= 7
y = 1
y <<= 4
y |= 3
y ^= 1
y &= 0b11110

# == augmented assignment shares the list
a = [1]
b = a
b += [2]
c = a
c = c + [3]

# == evaluation order
log = []
def f(x):
    log.append(x)
    return x
value = f(1) + f(2) * f(3)
d = {f(4): f(5)}
t = f(6), f(7)

# == short circuit does not evaluate
calls = []
def probe(value):
    calls.append(value)
    return value
a = probe(0) and probe(1)
b = probe(2) or probe(3)
c = probe(5) < probe(4) < probe(9)

# == lambda expressions
square = lambda x: x * x
add = lambda x, y=10: x + y
a = square(4)
b = add(1)
c = add(1, 2)
d = (lambda *xs: len(xs))(1, 2, 3)

# == starred expressions in displays
a = [1, 2]
b = [0, *a, 3]
c = (*a, *b)
d = {*a, 5}
e = {"x": 1, **{"y": 2, "x": 3}}

# == tuples without parentheses
t = 1, 2, 3
one = 5,
empty = ()
n = len(one)

# == integer conversions
a = int("42")
b = int("ff", 16)
c = int("0b101", 2)
d = float("2.5")
e = int(" 7 ")
f = hex(255)
g = oct(8)

# == str of values
a = str(1.0)
b = str(True)
c = str([1, 2])
d = repr("x")
e = str(None)
f = str((1,))
g = str({"a": 1.5})

# == ellipsis and not implemented
e = ...
same = e is Ellipsis
kind = type(e).__name__

# == truth of values
a = bool([])
b = bool([0])
c = bool("")
d = bool(0.0)
e = bool({})
f = bool(None)
g = bool("False")

# == min and max
a = max(3, 1, 2)
b = min([4, 2, 8])
c = max("apple", "fig", key=len)
d = max([], default=0)
e = min([(2, "b"), (1, "z")])
f = max({"a": 3, "b": 7}.values())

# == sum, any and all
a = sum([1, 2, 3])
b = sum([[1], [2]], [])
c = any([0, "", 3])
d = all([1, "x", []])
e = sum(x * x for x in range(4))
f = sum([0.5, 0.25])

# == slicing expressions
values = [0, 1, 2, 3, 4, 5]
a = values[1:4]
b = values[::-1]
c = values[-2:]
d = values[::2]
e = values[10:]
f = values[:-1]

# == a slice object
values = [0, 1, 2, 3, 4, 5]
s = slice(1, 4)
part = values[s]
start, stop, step = s.start, s.stop, s.step
text = "abcdef"[s]
last = values[slice(None, None, -1)]

# == nested indexing
grid = [[1, 2], [3, 4]]
a = grid[1][0]
grid[0][1] = 9
flat = [x for row in grid for x in row]
column = [row[0] for row in grid]

# == operators as methods
a = (5).__add__(3)
b = "abc".__len__()
c = [1, 2].__contains__(2)

# == numeric tower checks
a = isinstance(1, (int, float))
b = isinstance(1.0, int)
c = type(1) is int
d = type(True) is int
e = (1.0).is_integer()
f = (0.5).as_integer_ratio()

# == hash and equality of numbers
d = {1: "int"}
d[1.0] = "float"
d[True] = "bool"
n = len(d)
value = d[1]
