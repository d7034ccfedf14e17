# == a dataclass field with a factory that reads another
from dataclasses import dataclass, field, replace

@dataclass
class Plan:
    steps: int = 10
    marks: list = field(default_factory=lambda: [1, 2])

one = Plan()
two = replace(one, steps=20)
two.marks.append(3)
shared = one.marks
total = one.steps + two.steps

# == fields and asdict in a loop over configurations
from dataclasses import asdict, dataclass, fields

@dataclass
class Options:
    lr: float = 0.1
    width: int = 64
    name: str = "base"

changed = {key: value for key, value in asdict(Options(width=32)).items() if value != getattr(Options, key)}
names = [one.name for one in fields(Options)]

# == vars updates an object
class Settings:
    pass

settings = Settings()
vars(settings).update({"depth": 3, "rate": 0.5})
settings.__dict__["extra"] = True
depth, rate, extra = settings.depth, settings.rate, settings.extra

# == setattr in a loop over keyword arguments
class Config:
    def __init__(self, **options):
        for name, value in options.items():
            setattr(self, name, value)

config = Config(layers=4, heads=2)
product = config.layers * config.heads
known = hasattr(config, "layers"), hasattr(config, "width")

# == merging nested configurations recursively
def merge(base, other):
    result = dict(base)
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = value
    return result

merged = merge({"model": {"width": 8, "depth": 2}, "seed": 1}, {"model": {"depth": 3}})

# == dotted overrides from a command line
overrides = ["model.width=16", "train.lr=0.01", "name=run"]
tree = {"model": {"width": 8}, "train": {"lr": 0.1}, "name": ""}
for text in overrides:
    path, _, value = text.partition("=")
    *parents, leaf = path.split(".")
    node = tree
    for parent in parents:
        node = node[parent]
    node[leaf] = type(node[leaf])(value)

# == a registry decorator with names
REGISTRY = {}

def register(name=None):
    def wrap(function):
        REGISTRY[name or function.__name__] = function
        return function
    return wrap

@register()
def small(width=4):
    return [width] * 2

@register("big")
def large(width=4):
    return [width] * 8

built = {name: len(make()) for name, make in REGISTRY.items()}

# == a lookup with a default that is an error
def activation(name):
    try:
        return {"relu": 0, "gelu": 1}[name.lower()]
    except KeyError as error:
        return f"unknown {error}"

found, missing = activation("ReLU"), activation("swish")

# == keyword arguments filtered by a signature
import inspect

def make(width, depth=2, *, bias=True):
    return width * depth * bias

given = {"width": 3, "depth": 4, "seed": 1}
accepted = {key: value for key, value in given.items() if key in inspect.signature(make).parameters}
result = make(**accepted)

# == popping options before they are passed on
def build(**options):
    width = options.pop("width", 8)
    rest = sorted(options)
    return width, rest

first = build(depth=2, width=4)
second = build(bias=False)

# == an exponential schedule with milestones
milestones, rate, rates = {3, 5}, 1.0, []
for epoch in range(7):
    if epoch in milestones:
        rate *= 0.5
    rates.append(rate)

# == the best of several runs by a key
runs = [{"name": "a", "loss": 0.3}, {"name": "b", "loss": 0.1}, {"name": "c", "loss": 0.2}]
best = min(runs, key=lambda run: run["loss"])["name"]
ranking = [run["name"] for run in sorted(runs, key=lambda run: (-run["loss"], run["name"]))]

# == patience counted down
losses, patience, bad, best = [5, 4, 4, 6, 7, 1], 2, 0, float("inf")
for epoch, loss in enumerate(losses):
    if loss < best:
        best, bad = loss, 0
    else:
        bad += 1
        if bad > patience:
            break

# == a moving window of averages
from collections import deque

window, means = deque(maxlen=3), []
for value in [1, 2, 3, 4, 5]:
    window.append(value)
    means.append(sum(window) / len(window))
full = list(window)

# == metrics gathered by name and averaged
from collections import defaultdict

history = defaultdict(list)
for step in range(4):
    for name, value in {"loss": 4 - step, "acc": step / 4}.items():
        history[name].append(value)
means = {name: sum(values) / len(values) for name, values in history.items()}
last = {name: values[-1] for name, values in history.items()}

# == splitting indices with a remainder
count, parts = 10, 3
sizes = [count // parts + (1 if index < count % parts else 0) for index in range(parts)]
starts = [sum(sizes[:index]) for index in range(parts)]
chunks = [list(range(start, start + size)) for start, size in zip(starts, sizes)]

# == k folds
def folds(count, k):
    size = count // k
    for index in range(k):
        held = set(range(index * size, (index + 1) * size))
        yield [one for one in range(count) if one not in held], sorted(held)

pairs = list(folds(6, 3))
train, held = pairs[1]

# == batches that drop the last
def batches(items, size, drop_last=False):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch

kept = list(batches(range(7), 3))
dropped = list(batches(range(7), 3, drop_last=True))

# == sequences padded to the longest
texts = [[1, 2, 3], [4], [5, 6]]
longest = max(map(len, texts))
padded = [text + [0] * (longest - len(text)) for text in texts]
mask = [[int(token != 0) for token in row] for row in padded]
lengths = [sum(row) for row in mask]

# == a vocabulary with special tokens
specials = ["<pad>", "<unk>"]
words = "the cat the dog".split()
vocabulary = {word: index for index, word in enumerate(specials + sorted(set(words)))}
ids = [vocabulary.get(word, vocabulary["<unk>"]) for word in "the bird".split()]
back = {index: word for word, index in vocabulary.items()}
text = " ".join(back[index] for index in ids)

# == byte pairs merged once
from collections import Counter

tokens = list("banana")
pairs = Counter(zip(tokens, tokens[1:]))
pair, times = max(pairs.items(), key=lambda item: (item[1], item[0]))
merged, index = [], 0
while index < len(tokens):
    if tuple(tokens[index : index + 2]) == pair:
        merged.append("".join(pair))
        index += 2
    else:
        merged.append(tokens[index])
        index += 1

# == causal and band masks as lists
size = 4
causal = [[column <= row for column in range(size)] for row in range(size)]
band = [[abs(row - column) <= 1 for column in range(size)] for row in range(size)]
allowed = sum(map(sum, causal)), sum(map(sum, band))

# == confusion counts and scores
truth, guess = [1, 0, 1, 1, 0], [1, 1, 0, 1, 0]
tp = sum(t == g == 1 for t, g in zip(truth, guess))
fp = sum(t == 0 and g == 1 for t, g in zip(truth, guess))
fn = sum(t == 1 and g == 0 for t, g in zip(truth, guess))
precision, recall = tp / (tp + fp), tp / (tp + fn)
f1 = 2 * precision * recall / (precision + recall)

# == levenshtein by rows
def distance(one, two):
    previous = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        current = [i]
        for j, b in enumerate(two, 1):
            current.append(min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (a != b)))
        previous = current
    return previous[-1]

errors = distance("kitten", "sitting")
rate = errors / len("sitting")

# == ctc greedy decoding
path = [0, 1, 1, 0, 2, 2, 0, 2]
collapsed = [token for index, token in enumerate(path) if index == 0 or token != path[index - 1]]
decoded = [token for token in collapsed if token != 0]

# == boxes and their overlap
def overlap(one, two):
    width = min(one[2], two[2]) - max(one[0], two[0])
    height = min(one[3], two[3]) - max(one[1], two[1])
    inside = max(0, width) * max(0, height)
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return inside / (area(one) + area(two) - inside)

same, apart, half = overlap((0, 0, 2, 2), (0, 0, 2, 2)), overlap((0, 0, 1, 1), (2, 2, 3, 3)), overlap((0, 0, 2, 2), (0, 0, 2, 1))

# == anchors of several scales
from itertools import product

anchors = [(x * 8, y * 8, s) for (x, y), s in product(product(range(2), range(2)), (16, 32))]
count, last = len(anchors), anchors[-1]

# == the sizes of a pyramid
size, levels = 65, []
while size > 4:
    levels.append(size)
    size = (size + 2 * 1 - 3) // 2 + 1
depth = len(levels)

# == channels that double up to a limit
base, limit = 32, 256
channels = [min(base * 2**level, limit) for level in range(6)]
pairs = list(zip(channels, channels[1:]))
grows = [one for one, two in pairs if two > one]

# == a layer list from a specification with repeats
cfg = [64, 64, "M", (128, 2), "M"]
layers, channel = [], 3
for item in cfg:
    if item == "M":
        layers.append(("pool",))
        continue
    width, times = item if isinstance(item, tuple) else (item, 1)
    for _ in range(times):
        layers.append(("conv", channel, width))
        channel = width
