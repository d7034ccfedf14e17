# Programs about collections, heapq, bisect and copy (library reference, data types).

# == default dict of lists
from collections import defaultdict
d = defaultdict(list)
d["a"].append(1)
d["b"].append(2)
d["a"].append(3)
a = d["a"]
n = len(d)
empty = d["new"]
m = len(d)
plain = dict(d)

# == default dict of numbers
from collections import defaultdict
counts = defaultdict(int)
for w in "a b a c a".split():
    counts[w] += 1
a = counts["a"]
keys = sorted(counts)
x = counts.get("zz")
f = defaultdict(lambda: 5)
y = f["k"]

# == nested default dict
from collections import defaultdict
t = defaultdict(lambda: defaultdict(int))
t["x"]["y"] += 2
t["x"]["z"] += 1
a = t["x"]["y"]
n = len(t["x"])

# == counter
from collections import Counter
c = Counter("mississippi")
a = c["s"]
b = c["zz"]
top = c.most_common(2)
n = sum(c.values())
c.update("ss")
d = c["s"]
e = Counter(a=1) + Counter(a=2, b=1)
f = e["a"]

# == counter arithmetic
from collections import Counter
a = Counter(x=3, y=1)
b = Counter(x=1, y=2)
c = dict(a - b)
d = dict(a & b)
e = dict(a | b)
els = sorted(Counter(p=2).elements())
a.subtract(b)
f = dict(a)

# == ordered dict
from collections import OrderedDict
d = OrderedDict([("a", 1), ("b", 2)])
d["c"] = 3
d.move_to_end("a")
order = list(d)
first = d.popitem(last=False)
last = next(reversed(d))
n = len(d)

# == deque
from collections import deque
d = deque([1, 2, 3])
d.append(4)
d.appendleft(0)
a = d.pop()
b = d.popleft()
d.rotate(1)
items = list(d)
d.extendleft([8, 9])
more = list(d)

# == a bounded deque
from collections import deque
d = deque(maxlen=3)
for i in range(5):
    d.append(i)
items = list(d)
n = len(d)
d.appendleft(9)
left = list(d)
e = deque([1, 2, 3, 4], maxlen=2)
f = list(e)
d.extend([7, 8])
g = list(d)

# == a bounded deque as a window
from collections import deque
window = deque([0, 0], maxlen=2)
means = []
for x in [2, 4, 6]:
    window.append(x)
    means.append(sum(window) / len(window))
m = window.maxlen

# == chain map
from collections import ChainMap
defaults = {"lr": 0.1, "bs": 8}
c = ChainMap({"lr": 0.5}, defaults)
a = c["lr"]
b = c["bs"]
keys = sorted(c)
n = len(c)

# == heap
import heapq
h = [5, 1, 4]
heapq.heapify(h)
heapq.heappush(h, 0)
a = heapq.heappop(h)
b = heapq.heappop(h)
top = heapq.nlargest(2, [3, 9, 4])
low = heapq.nsmallest(1, [3, 9, 4])
n = len(h)

# == heap of pairs
import heapq
h = []
for p, name in [(2, "b"), (1, "a"), (3, "c")]:
    heapq.heappush(h, (p, name))
order = [heapq.heappop(h)[1] for _ in range(len(h))]

# == bisect
import bisect
xs = [1, 3, 5]
a = bisect.bisect(xs, 3)
b = bisect.bisect_left(xs, 3)
bisect.insort(xs, 4)
c = xs
edges = bisect.bisect_right([0.1, 0.5], 0.3)

# == copy and deepcopy
import copy
a = {"x": [1, 2], "y": {"z": 1}}
b = copy.copy(a)
c = copy.deepcopy(a)
a["x"].append(3)
a["y"] = 5
x = b["x"]
y = b["y"]
z = c["x"]

# == deepcopy of objects
import copy
class A:
    def __init__(self):
        self.items = [1]
a = A()
b = copy.deepcopy(a)
c = copy.copy(a)
a.items.append(2)
x = b.items
y = c.items
same = c.items is a.items

# == default dict by setdefault
index = {}
for i, w in enumerate(["a", "b", "a"]):
    index.setdefault(w, []).append(i)
a = index["a"]
n = len(index)

# == counter most common of words
from collections import Counter
words = "to be or not to be".split()
c = Counter(words)
vocab = {w: i for i, (w, _) in enumerate(sorted(c.items(), key=lambda kv: (-kv[1], kv[0])))}
a = vocab["be"]
n = len(vocab)
encoded = [vocab[w] for w in words]

# == queue of work
from collections import deque
graph = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}
seen, queue = [], deque(["a"])
while queue:
    node = queue.popleft()
    if node in seen:
        continue
    seen.append(node)
    queue.extend(graph[node])

# == user dict
from collections import UserDict
class Lower(UserDict):
    def __setitem__(self, k, v):
        super().__setitem__(k.lower(), v)
d = Lower()
d["ABC"] = 1
a = d["abc"]
n = len(d)

# == default dict membership does not create
from collections import defaultdict
d = defaultdict(int)
a = "x" in d
b = d.get("x")
n = len(d)
d["x"]
m = len(d)
d.pop("x")
k = len(d)

# == frozen sets in sets
s = {frozenset([1, 2]), frozenset([2, 1])}
n = len(s)
a = frozenset([1]) | {2}
b = frozenset("ab") & frozenset("bc")

# == priority by negative
import heapq
scores = {"a": 3, "b": 9, "c": 5}
h = [(-v, k) for k, v in scores.items()]
heapq.heapify(h)
best = heapq.heappop(h)[1]
second = heapq.heappop(h)
