# == a property that caches by a private name
class Lazy:
    made = 0

    @property
    def weights(self):
        if not hasattr(self, "_weights"):
            Lazy.made += 1
            self._weights = [1, 2, 3]
        return self._weights

lazy = Lazy()
first, second = lazy.weights, lazy.weights
same, times = first is second, Lazy.made

# == class attributes overridden in instances and reset
class Model:
    training = True

    def eval(self):
        self.training = False
        return self

one, two = Model().eval(), Model()
before = one.training, two.training
del one.training
after = one.training

# == a context that saves and restores state
from contextlib import contextmanager

class Net:
    training = True

@contextmanager
def evaluating(net):
    was = net.training
    net.training = False
    try:
        yield net
    finally:
        net.training = was

net = Net()
with evaluating(net) as inside:
    within = inside.training
outside = net.training

# == nested contexts in one statement with names
from contextlib import contextmanager

log = []

@contextmanager
def phase(name):
    log.append(f"+{name}")
    yield name.upper()
    log.append(f"-{name}")

with phase("a") as one, phase("b") as two:
    log.append(one + two)

# == a decorator that counts and keeps the name
import functools

def counted(function):
    @functools.wraps(function)
    def inner(*args, **options):
        inner.calls += 1
        return function(*args, **options)
    inner.calls = 0
    return inner

@counted
def step(x, y=1):
    """One step."""
    return x + y

values = [step(1), step(1, y=2)]
calls, name, text = step.calls, step.__name__, step.__doc__

# == a decorator that retries
def retry(times):
    def wrap(function):
        def inner(*args):
            for attempt in range(times):
                try:
                    return function(attempt, *args)
                except ValueError:
                    pass
            return None
        return inner
    return wrap

@retry(3)
def flaky(attempt, x):
    if attempt < 2:
        raise ValueError(attempt)
    return attempt * 10 + x

@retry(2)
def hopeless(attempt):
    raise ValueError

result, nothing = flaky(5), hopeless()

# == inherited defaults through keyword arguments
class Base:
    def __init__(self, width=4, **rest):
        self.width, self.rest = width, rest

class Child(Base):
    def __init__(self, depth=2, **options):
        options.setdefault("width", 16)
        super().__init__(**options)
        self.depth = depth

child = Child(bias=True)
width, rest, depth = child.width, child.rest, child.depth

# == a class method as another constructor
class Tokenizer:
    def __init__(self, words):
        self.words = words

    @classmethod
    def from_text(cls, text, **options):
        return cls(sorted(set(text.split())), **options)

class Lower(Tokenizer):
    @classmethod
    def from_text(cls, text):
        return super().from_text(text.lower())

words, kind = Lower.from_text("B a b").words, type(Lower.from_text("x")).__name__

# == multiplication of objects and sums of them
class Vector:
    def __init__(self, *parts):
        self.parts = parts

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.parts, other.parts)))

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __mul__(self, factor):
        return Vector(*(part * factor for part in self.parts))

    __rmul__ = __mul__

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.parts, other.parts))

total = sum([Vector(1, 2), Vector(3, 4)]).parts
scaled, dot = (2 * Vector(1, 2)).parts, Vector(1, 2) @ Vector(3, 4)

# == an object that is indexed by slices and tuples
class Grid:
    def __getitem__(self, key):
        if isinstance(key, tuple):
            return [self[part] for part in key]
        if isinstance(key, slice):
            return list(range(*key.indices(10)))
        return key * 10

grid = Grid()
row, both, tail = grid[1:9:3], grid[2, :3], grid[-2:]

# == a mapping class with keys and star star
class Batch:
    def __init__(self, **data):
        self._data = data

    def keys(self):
        return self._data.keys()

    def __getitem__(self, name):
        return self._data[name]

def forward(ids, mask):
    return ids + mask

total = forward(**Batch(ids=1, mask=2))
names = sorted(Batch(b=1, a=2).keys())

# == iteration that restarts and one that does not
class Again:
    def __iter__(self):
        return iter([1, 2])

class Once:
    def __init__(self):
        self.left = [1, 2]

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        return self.left.pop(0)

again, once = Again(), Once()
twice = list(again) + list(again)
drained = list(once) + list(once)

# == a generator that is restarted by a function
def numbers():
    yield from (n * n for n in range(3))

def forever():
    while True:
        yield from numbers()

stream = forever()
taken = [next(stream) for _ in range(7)]

# == a loop over two iterators of different lengths
short, long = iter([1, 2]), iter([10, 20, 30, 40])
pairs = list(zip(long, short))
left = list(long)

# == next with a default in a search
names = ["conv1", "bn1", "fc"]
first_bn = next((name for name in names if name.startswith("bn")), None)
first_gru = next((name for name in names if name.startswith("gru")), "none")
place = next(i for i, name in enumerate(names) if "c" in name and name != "conv1")

# == nested functions that share a cell
def counters():
    value = 0

    def up(by=1):
        nonlocal value
        value += by
        return value

    def reset():
        nonlocal value
        value = 0

    return up, reset, lambda: value

up, reset, show = counters()
up()
up(4)
middle = show()
reset()
end = show()

# == a method stored before the attribute changes
class Meter:
    def __init__(self):
        self.total = 0

    def add(self, value):
        self.total += value

meter = Meter()
add = meter.add
for value in (1, 2, 3):
    add(value)
total = meter.total
meter.add = lambda value: None
meter.add(100)
still = meter.total

# == sorting by several keys with mixed directions
rows = [("a", 2, 0.5), ("b", 1, 0.5), ("c", 2, 0.1)]
rows.sort(key=lambda row: row[0])
rows.sort(key=lambda row: row[2], reverse=True)
ordered = [name for name, *_ in rows]
groups = {}
for name, number, _ in rows:
    groups.setdefault(number, []).append(name)

# == comparison chains over a list
losses = [3, 2, 2, 1]
falls = all(a >= b for a, b in zip(losses, losses[1:]))
strictly = all(a > b for a, b in zip(losses, losses[1:]))
low = 0 <= min(losses) < 2 <= max(losses)

# == slices with names and assignment
HEAD, REST = slice(None, 2), slice(2, None)
values = [1, 2, 3, 4]
values[HEAD] = [9]
tail = values[REST]
every = values[::-1][::2]

# == star arguments between others
def call(first, *middle, last=0, **rest):
    return first, middle, last, sorted(rest)

given = (1, 2), {"last": 5, "z": 1}
one = call(0, *given[0], 3, **given[1])
two = call(*"ab", **{"a": 1}, b=2)

# == an exception with arguments and a note
class Diverged(RuntimeError):
    def __init__(self, step, loss):
        super().__init__(f"step {step}: {loss}")
        self.step = step

try:
    for step, loss in enumerate([1.0, float("nan")]):
        if loss != loss:
            raise Diverged(step, loss)
except RuntimeError as error:
    text, at, kind = str(error), error.step, type(error).__name__

# == else of try and finally in order
order = []

def attempt(value):
    try:
        order.append("try")
        number = int(value)
    except (TypeError, ValueError):
        order.append("except")
        return -1
    else:
        order.append("else")
        return number
    finally:
        order.append("finally")

results = [attempt("3"), attempt("x"), attempt(None)]

# == a number parsed from a file name
name = "model_epoch=12_loss=0.345.ckpt"
stem = name.rsplit(".", 1)[0]
parts = dict(part.split("=") for part in stem.split("_") if "=" in part)
epoch, loss = int(parts["epoch"]), float(parts["loss"])

# == versions compared as tuples
def version(text):
    return tuple(int(part) for part in text.split("+")[0].split(".")[:2])

new = version("2.4.1+cpu") >= (2, 1)
old = version("1.13.0") >= (2, 0)
newest = max(["1.9.1", "1.13.0", "2.0"], key=version)

# == text aligned in a table
rows = [("conv1", 1792), ("fc", 10)]
width = max(len(name) for name, _ in rows)
table = "\n".join(f"{name:<{width}} {count:>8,}" for name, count in rows)
total = f"{sum(count for _, count in rows):,}"

# == bytes to a size in words
def shown(size):
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"

texts = [shown(10), shown(2048), shown(3 * 1024**2), shown(5 * 1024**3)]

# == seconds as hours and minutes
def clock(seconds):
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"

times = [clock(59.9), clock(61), clock(3725)]

# == an enum that is looked up by value and name
from enum import Enum

class Mode(str, Enum):
    TRAIN = "train"
    TEST = "test"

    @property
    def shuffles(self):
        return self is Mode.TRAIN

mode = Mode("test")
name, same, shuffles = mode.name, mode == "test", [one.shuffles for one in Mode]
by_name = Mode["TRAIN"].value
