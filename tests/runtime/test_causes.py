"""Crashes whose cause stands elsewhere: each is shown the line to change, and runs with the first fix of its crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.inprocess import execute
from torchsleuth.syntax.text import SourceText

HEAD = "import random\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
CASES = {
    "words numbered from one, in a comprehension": (
        "words = 'the cat sat on the mat'.split()\nnumbers = {word: place + 1 for place, word in enumerate(dict.fromkeys(words))}\n"
        "ids = torch.tensor([numbers[word] for word in words])\nclass Skip(nn.Module):\n    def __init__(self, size):\n"
        "        super().__init__()\n        self.table, self.out = nn.Embedding(size, 4), nn.Linear(4, size)\n"
        "    def forward(self, x):\n        return self.out(self.table(x))\nnet = Skip(len(numbers))\n"
        "for x, y in zip(ids[:-1].split(3), ids[1:].split(3)):\n    F.cross_entropy(net(x), y)\n",
        "{word: place for place, word",
    ),
    "a filter that leaves nothing of a batch": (
        "from torch.nn.utils.rnn import pad_sequence\ndef batch(rows):\n    rows = [row for row in rows if len(row) > 3]\n"
        "    return pad_sequence(rows)\nfor rows in ([torch.ones(4)], [torch.ones(2)]):\n    batch(rows)\n",
        "if len(row) > 3] or rows[:1]",
    ),
    "a mask of a larger batch": (
        "class Pairs(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.register_buffer('others', ~torch.eye(n, dtype=torch.bool))\n    def forward(self, x):\n"
        "        near = x @ x.T\n        return near[self.others].mean()\npairs = Pairs(4)\nfor n in (4, 3):\n    pairs(torch.ones(n, 2))\n",
        "self.others[: near.size(0), : near.size(1)]",
    ),
    "sizes without a type in a scripted function": (
        "def framed(x, size, hop):\n    rest = size - hop\n    return F.pad(x, [0, rest])\nclass Voice(nn.Module):\n"
        "    def __init__(self, size: int = 6, hop: int = 4):\n        super().__init__()\n        self.size, self.hop = size, hop\n"
        "    def forward(self, x):\n        return framed(x, self.size, self.hop)\ntorch.jit.script(Voice())\n",
        "def framed(x, size: int, hop: int)",
    ),
    "a layer that makes more than its steps": (
        "class Up(nn.Module):\n    def __init__(self, r):\n        super().__init__()\n"
        "        self.up = nn.Sequential(nn.ConvTranspose1d(1, 2, 2 * r, stride=r, padding=r // 2), nn.ReLU())\n"
        "    def forward(self, x, y):\n        h = self.up(x)\n        return h + y\nUp(3)(torch.ones(2, 1, 5), torch.ones(2, 2, 15))\n",
        "padding=(r + 1) // 2, output_padding=r % 2",
    ),
    "a counterpart of a size": (
        "class Side(nn.Module):\n    def __init__(self, base):\n        super().__init__()\n        self.base = base\n"
        "        self.up = nn.Parameter(torch.zeros(2, base.in_features))\n        self.down = nn.Parameter(torch.zeros(base.in_features, 2))\n"
        "    def forward(self, x):\n        return self.base(x) + x @ self.down @ self.up\nSide(nn.Linear(3, 5))(torch.ones(4, 3))\n",
        "torch.zeros(2, base.out_features)",
    ),
    "an option in a text": (
        "import json\nfrom dataclasses import dataclass\n@dataclass\nclass Plan:\n    width: int = 3\n    rounds: int = 2\n"
        'plan = Plan(**json.loads(\'{"width": 4, "round": 5}\'))\ntorch.ones(plan.width)\n',
        '"rounds": 5',
    ),
    "a number of classes that a library is told": (
        "KINDS = ['owl', 'kite', 'wren']\nlibrary = {}\n"
        "exec(compile('import torch\\ndef head(size, num_labels): return torch.nn.Linear(size, num_labels)', 'library.py', 'exec'), library)\n"
        "def build():\n    return library['head'](4, num_labels=len(KINDS) - 1)\n"
        "F.cross_entropy(build()(torch.ones(3, 4)), torch.tensor([0, 1, 2]))\n",
        "num_labels=len(KINDS))",
    ),
    "labels that are numbered from one": (
        "names = ['oak', 'elm', 'oak']\nnumbers = {name: n for n, name in enumerate(sorted(set(names)), 1)}\n"
        "y = torch.tensor([numbers[name] for name in names])\nF.cross_entropy(torch.ones(3, 2), y)\n",
        "enumerate(sorted(set(names)), 0)",
    ),
    "weights of the classes that occur": (
        "def weights(y):\n    return 1 / torch.bincount(y).float()\nclass Loss(nn.Module):\n    def __init__(self, weight):\n"
        "        super().__init__()\n        self.register_buffer('weight', weight)\n    def forward(self, out, y):\n"
        "        return (out.log_softmax(1) * self.weight).mean()\ny = torch.tensor([0, 1, 2])\nLoss(weights(y))(torch.ones(3, 5), y)\n",
        "torch.bincount(y, minlength=5)",
    ),
    "lengths of what is cut later": (
        "from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence\nrnn = nn.GRU(1, 2, batch_first=True)\n"
        "def join(rows):\n    sizes = [len(row) for row in rows]\n"
        "    return pad_sequence([row[:3] for row in rows], batch_first=True), sizes\n"
        "x, sizes = join([torch.ones(5, 1), torch.ones(2, 1)])\npacked = pack_padded_sequence(x, sizes, batch_first=True)\nrnn(packed)\n",
        "[len(row[:3]) for row in rows]",
    ),
    "a sampler of lists": (
        "from torch.utils.data import DataLoader, Dataset\nclass Rows(Dataset):\n    def __init__(self):\n        self.rows = [1.0, 2.0, 3.0]\n"
        "    def __len__(self):\n        return 3\n    def __getitem__(self, i):\n        return self.rows[i]\n"
        "class Pairs:\n    def __iter__(self):\n        yield [0, 1]\n    def __len__(self):\n        return 1\n"
        "list(DataLoader(Rows(), sampler=Pairs(), batch_size=1))\n",
        "DataLoader(Rows(), batch_sampler=Pairs())",
    ),
    "a state of parameters of other sizes": (
        "def stepped(net, state=None):\n    opt = torch.optim.Adam(net.parameters())\n    if state is not None:\n"
        "        opt.load_state_dict(state)\n    net(torch.ones(1, 2)).sum().backward()\n    opt.step()\n    return opt.state_dict()\n"
        "stepped(nn.Linear(2, 4), stepped(nn.Linear(2, 3)))\n",
        "        pass\n",
    ),
    "a sum of tensors in JSON": (
        "import json\nclass Meter:\n    def __init__(self):\n        self.hits = 0\n    def add(self, right):\n"
        "        self.hits += right.sum()\n    def told(self):\n        return {'share': self.hits / 4}\nmeter = Meter()\n"
        "meter.add(torch.ones(4))\njson.dumps(meter.told())\n",
        "right.sum().item()",
    ),
    "biases that are in the group of a part": (
        "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\nplain = [p for name, p in net.named_parameters() if 'bias' in name]\n"
        "opt = torch.optim.SGD([{'params': plain}], lr=0.1)\nopt.add_param_group({'params': net[0].parameters()})\n",
        "if 'bias' in name if all(p is not part for part in net[0].parameters())]",
    ),
    "labels that are ignored, and looked up": (
        "y = torch.tensor([[2, -100]])\nkept = y != -100\nscores = torch.ones(1, 2, 3)\n"
        "scores.gather(2, y.unsqueeze(2)).squeeze(2) * kept\n",
        "y.unsqueeze(2).clamp(min=0)",
    ),
    "samples taken in another order": (
        "from torch.utils.data import DataLoader, Dataset\nclass Tones(Dataset):\n    def __len__(self):\n        return 6\n"
        "    def __getitem__(self, i):\n        wave, kind = torch.ones(4), i % 2\n        return wave, kind\nnet = nn.Linear(4, 2)\n"
        "for n, (kind, wave) in enumerate(DataLoader(Tones(), 3)):\n    F.cross_entropy(net(wave), kind)\n",
        "(wave, kind) in enumerate",
    ),
    "parts of arrays in another order": (
        "def train_test_split(*arrays):\n    return [part for array in arrays for part in (array[:3], array[3:])]\n"
        "def split(x, y):\n    x_train, y_train, x_test, y_test = train_test_split(x, y)\n"
        "    return F.cross_entropy(nn.Linear(2, 2)(x_train), y_train)\nsplit(torch.ones(5, 2), torch.tensor([0, 1, 0, 1, 1]))\n",
        "x_train, x_test, y_train, y_test = train",
    ),
    "a length that an inverse is not told": (
        "def smooth(x):\n    spec = torch.fft.rfft(x)\n    return torch.fft.irfft(spec)\nx = torch.ones(2, 9)\nsmooth(x) - x\n",
        "irfft(spec, n=x.size(-1))",
    ),
    "pieces that the end cuts short": (
        "from torch.utils.data import DataLoader, Dataset\nclass Cuts(Dataset):\n    def __init__(self, rows, back, ahead):\n"
        "        self.rows, self.back, self.ahead = rows, back, ahead\n    def __len__(self):\n        return len(self.rows) - self.back\n"
        "    def __getitem__(self, i):\n        return self.rows[i : i + self.back], self.rows[i + self.back : i + self.back + self.ahead]\n"
        "for x, y in DataLoader(Cuts(torch.arange(20.0), 4, 3), 4):\n    x.sum()\n",
        "len(self.rows) - (self.back + self.ahead) + 1",
    ),
    "a matrix that rounding makes indefinite": (
        "x = torch.linspace(0, 1, 30)\nk = torch.exp(-((x[:, None] - x) ** 2))\ntorch.linalg.cholesky(k)\n",
        "k + 1e-4 * torch.eye(",
    ),
    "a vocabulary that grows behind its model": (
        "words = {'a': 0, 'b': 1}\ntable = nn.Embedding(len(words), 3)\nwords['<end>'] = len(words)\n"
        "table(torch.tensor([words['a'], words['<end>']]))\n",
        "words['<end>'] = len(words)\ntable = nn.Embedding(len(words), 3)",
    ),
    "a size of the example": (
        "class Pairs(nn.Module):\n    def forward(self, x):\n        rows = int(x.size(0))\n"
        "        return x.reshape(rows, 2, -1).sum(1)\nrows = torch.export.Dim('rows', min=2, max=9)\n"
        "torch.export.export(Pairs(), (torch.ones(3, 4),), dynamic_shapes={'x': {0: rows}})\n",
        "rows = x.size(0)",
    ),
    "a state of a wrapper": (
        "from torch.optim.swa_utils import AveragedModel\nnet = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))\n"
        "mean = AveragedModel(net)\nkept = {'mean': mean.state_dict()}\nnet.load_state_dict(kept['mean'])\n",
        "mean.module.state_dict()",
    ),
    "a graph of the constructor": (
        "class Mix(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.raw = nn.Parameter(torch.randn(n, n))\n"
        "        self.mix = self.raw.softmax(-1) ** 2\n    def forward(self, x):\n        return x @ self.mix\nnet = Mix(3)\n"
        "for _ in range(2):\n    net(torch.ones(2, 3)).square().sum().backward()\n",
        "    def forward(self, x):\n        self.mix = self.raw.softmax(-1) ** 2",
    ),
    "a parameter of another size": (
        "class Gate(nn.Module):\n    def __init__(self, inside, outside):\n        super().__init__()\n"
        "        self.outside = outside\n        self.w = nn.Parameter(torch.randn(inside, outside))\n"
        "        self.bias = nn.Parameter(torch.zeros(inside))\n    def forward(self, x):\n"
        "        h = x @ self.w\n        return h + self.bias\nGate(4, 6)(torch.ones(2, 4))\n",
        "torch.zeros(outside)",
    ),
    "a norm of pictures of one size": (
        "class Step(nn.Module):\n    def __init__(self, width, side):\n        super().__init__()\n"
        "        self.norm = nn.LayerNorm([width, side, side])\n    def forward(self, x):\n        return self.norm(x)\n"
        "step = Step(3, 8)\nfor side in (8, 6):\n    step(torch.ones(2, 3, side, side))\n",
        "nn.GroupNorm(1, width)",
    ),
    "a gradient that nothing sums": (
        "class Gain(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, s):\n"
        "        ctx.save_for_backward(x, s)\n        return x * s[:, None]\n    @staticmethod\n    def backward(ctx, grad):\n"
        "        x, s = ctx.saved_tensors\n        of_s = grad * x\n        return grad * s[:, None], of_s\n"
        "Gain.apply(torch.ones(3, 5), torch.ones(3, requires_grad=True)).sum().backward()\n",
        "of_s = (grad * x).sum(1)",
    ),
    "a number that YAML takes for a text": (
        "PLAN = 'lr: 1e-2\\nmomentum: 0.9'\ndef read_yaml(text):\n    pairs = [line.split(': ') for line in text.split('\\n')]\n"
        "    return {key: float(value) if '.' in value else value for key, value in pairs}\nplan = read_yaml(PLAN)\n"
        "torch.optim.SGD([torch.ones(1)], **plan)\n",
        "lr: 1.0e-2",
    ),
    "attributes in another order": (
        "class Kit:\n    def prepare(self, *parts):\n        return parts\nclass Run:\n    def __init__(self):\n"
        "        model, opt = nn.Linear(2, 2), torch.optim.SGD([torch.ones(1)], 0.1)\n        loader = [torch.ones(1, 2)]\n"
        "        self.model, self.train_loader, self.optim = Kit().prepare(model, opt, loader)\n    def go(self):\n"
        "        for row in self.train_loader:\n            self.model(row)\nRun().go()\n",
        "self.model, self.optim, self.train_loader = Kit()",
    ),
    "results of the user's in another order": (
        "def cut(rows):\n    low, high = rows[:2], rows[2:]\n    return high, low\nlow, high = cut(torch.ones(5, 3))\n"
        "low + torch.ones(2, 3)\n",
        "high, low = cut(",
    ),
    "a hook that gives its numbers back": (
        "class Watch:\n    def __init__(self, net):\n        self.rows = []\n        net[0].register_forward_hook(self.look('a'))\n"
        "    def look(self, name):\n        def hook(layer, given, out):\n            level = out.abs().mean()\n"
        "            self.rows.append(level)\n            return level\n        return hook\n"
        "net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))\nWatch(net)\nnet(torch.ones(4, 2))\n",
        "self.rows.append(level)\n        return hook",
    ),
    "a sampler of the whole": (
        "from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler, random_split\n"
        "marks = torch.arange(40) % 2\nwhole = TensorDataset(torch.randn(40, 2), marks)\nkept, held = random_split(whole, [10, 30])\n"
        "def draw(y):\n    return WeightedRandomSampler(1 / torch.bincount(y)[y], 30)\n"
        "for batch in DataLoader(kept, 5, sampler=draw(marks)):\n    len(batch)\n",
        "draw(marks[kept.indices])",
    ),
    "a state of the batch before": (
        "from torch.utils.data import DataLoader\nclass Slow(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.cell, self.kept = nn.LSTM(3, 4), None\n    def forward(self, x):\n"
        "        out, kept = self.cell(x.transpose(0, 1), self.kept)\n        self.kept = tuple(part.detach() for part in kept)\n"
        "        return out\nnet = Slow()\nfor rows in DataLoader(torch.ones(7, 5, 3), 4):\n    net(rows)\n",
        "drop_last=True",
    ),
    "a buffer without memory": (
        "class Wave(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n"
        "        self.register_buffer('win', torch.hann_window(3), persistent=False)\n    def forward(self, x):\n"
        "        return self.fc(x * self.win)\nstate = Wave().state_dict()\n"
        "with torch.device('meta'):\n    net = Wave()\nnet.load_state_dict(state, assign=True)\nnet(torch.ones(2, 3))\n",
        "torch.hann_window(3))",
    ),
    "results in another order": (
        "class Kit:\n    def prepare(self, *parts):\n        return parts\n"
        "net, rows = nn.Linear(2, 2), [torch.ones(1, 2)]\nnet, rows = Kit().prepare(rows, net)\nfor row in rows:\n    net(row)\n",
        "rows, net = Kit().prepare(rows, net)",
    ),
    "a label that is None under its key": (
        "from torch.utils.data import DataLoader, Dataset, default_collate\n"
        "class Notes(Dataset):\n    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n"
        "        label = i if i > 1 else None\n        return {'x': torch.ones(2), 'y': label}\n"
        "def batch(items):\n    return default_collate([item['x'] for item in items]), default_collate([item['y'] for item in items])\n"
        "loss = nn.CrossEntropyLoss(ignore_index=-7)\nfor x, y in DataLoader(Notes(), 4, collate_fn=batch):\n"
        "    loss(torch.ones(4, 5), y)\n",
        "else -7",
    ),
    "an action that is not what was drawn": (
        "from torch.distributions import Beta\ndef play(dist):\n    u = dist.sample()\n    push = 6 * u + 2\n"
        "    return {'push': push, 'seen': torch.ones(2)}\ndist = Beta(torch.ones(2), torch.ones(2))\ndata = play(dist)\n"
        "dist.log_prob(data['push'])\n",
        "{'push': u,",
    ),
    "lengths in front of a layer with a stride": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.c = nn.Conv1d(3, 5, 3, 2, 1)\n"
        "    def forward(self, x, sizes):\n        kept = sizes.clone()\n        return self.c(x).permute(2, 0, 1).log_softmax(-1), kept\n"
        "net = Net()\nout, sizes = net(torch.ones(2, 3, 11), torch.tensor([11, 9]))\n"
        "F.ctc_loss(out, torch.ones(2, 2, dtype=torch.long), sizes, torch.tensor([2, 1]))\n",
        "(sizes.clone() + 1) // 2",
    ),
    "a sequence unpacked to its longest": (
        "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\nrnn = nn.GRU(3, 4, batch_first=True)\n"
        "def run(x, n, mask):\n    out, _ = rnn(pack_padded_sequence(x, n, batch_first=True))\n"
        "    out, _ = pad_packed_sequence(out, batch_first=True)\n    return out.sum(-1) * mask\n"
        "run(torch.ones(2, 7, 3), torch.tensor([5, 2]), torch.ones(2, 7))\n",
        "total_length=x.shape[1]",
    ),
    "a class token in a grid": (
        "cls = torch.zeros(1, 1, 6)\ndef grid(rows):\n    return rows.reshape(2, 3, 3, 6)\n"
        "def run(x):\n    tokens = torch.cat([cls.expand(2, -1, -1), x], 1)\n    return grid(tokens)\nrun(torch.ones(2, 9, 6))\n",
        "grid(tokens[:, 1:])",
    ),
    "indices that begin at one": (
        "def matrix(n):\n    rows = torch.tensor([1, 2, 3, 4])\n    both = torch.stack([rows, rows])\n"
        "    return torch.sparse_coo_tensor(both, torch.ones(4), (n, n), check_invariants=True)\nmatrix(4)\n",
        "torch.tensor([1, 2, 3, 4]) - 1",
    ),
    "other random numbers under a checkpoint": (
        "from torch.utils.checkpoint import checkpoint\nclass Skip(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)\n    def forward(self, x):\n"
        "        if random.random() < 0.5:\n            return self.a(x)\n        return self.b(self.a(x).tanh()).tanh()\n"
        "random.seed(10)\nnet = Skip()\n"
        "checkpoint(net, torch.ones(2, 3), use_reentrant=False).sum().backward()\n",
        "torch.rand(()).item() < 0.5",
    ),
    "a layer in place behind a hook": (
        "net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))\n"
        "net[0].register_full_backward_hook(lambda layer, inside, outside: None)\nnet(torch.ones(2, 2)).sum().backward()\n",
        "nn.ReLU()",
    ),
    "a dimension that a batch of one loses": (
        "def scores(net, x):\n    return net(x).squeeze()\nnet = nn.Linear(2, 1)\n"
        "torch.cat([scores(net, part) for part in torch.ones(5, 2).split(2)])\n",
        "squeeze(-1)",
    ),
    "a variance of any sign": (
        "class Two(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.one, self.two = nn.Linear(2, 1), nn.Linear(2, 1)\n"
        "    def forward(self, x):\n        return self.one(x), self.two(x) - 9\nnet, judge = Two(), nn.GaussianNLLLoss()\n"
        "mean, spread = net(torch.ones(3, 2))\njudge(mean, torch.ones(3, 1), spread)\n",
        "(self.two(x) - 9).exp()",
    ),
    "targets of minus one and one": (
        "y = torch.tensor([1.0, -1.0])\nF.binary_cross_entropy(torch.full((2,), 0.5), y)\n",
        "(y + 1) / 2",
    ),
    "a function that threads run": (
        "from concurrent.futures import ThreadPoolExecutor\nnet = nn.Linear(2, 2)\ndef coded(x):\n    return net(x).numpy()\n"
        "@torch.no_grad()\ndef everything(rows):\n    with ThreadPoolExecutor(1) as pool:\n"
        "        return list(pool.map(coded, rows))\neverything([torch.ones(1, 2)])\n",
        "@torch.no_grad()\ndef coded",
    ),
    "a graph outside of a closure": (
        "def fit(net):\n    head = nn.Linear(2, 1)\n    opt = torch.optim.LBFGS(head.parameters(), max_iter=4)\n"
        "    seen = net(torch.ones(3, 2)).tanh()\n    def closure():\n        opt.zero_grad()\n"
        "        loss = head(seen).square().mean()\n        loss.backward()\n        return loss\n    opt.step(closure)\n"
        "fit(nn.Linear(2, 2))\n",
        "        seen = net(torch.ones(3, 2)).tanh()\n        opt.zero_grad()",
    ),
    "a gradient that is summed over the wrong dimension": (
        "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, s):\n"
        "        ctx.save_for_backward(x, s)\n        return x * s\n    @staticmethod\n    def backward(ctx, grad):\n"
        "        x, s = ctx.saved_tensors\n        of_s = (grad * x).sum(0, keepdim=True)\n        return grad * s, of_s\n"
        "Scale.apply(torch.ones(3, 5), torch.ones(3, 1, requires_grad=True)).sum().backward()\n",
        "sum(1, keepdim=True)",
    ),
    "a group behind a schedule": (
        "one, two = nn.Linear(2, 2), nn.Linear(2, 2)\nopt = torch.optim.SGD(one.parameters(), lr=0.1, momentum=0.9)\n"
        "rule = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=9)\n"
        "opt.add_param_group({'params': two.parameters(), 'lr': 0.01})\nfor _ in range(3):\n    opt.step()\n    rule.step()\n",
        '"max_lr": 0.01 * 25.0',
    ),
    "random numbers under vmap": (
        "drop = nn.Dropout(0.5)\neach = torch.func.vmap(lambda row: drop(row).sum())\neach(torch.ones(3, 4))\n",
        'randomness="different"',
    ),
    "sums in another dtype than autocast's": (
        "layer, where = nn.Linear(2, 2), torch.tensor([0, 1, 0])\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n"
        "    out = layer(torch.ones(3, 2))\n    total = torch.zeros(2, 2)\n    total.index_add_(0, where, out)\n",
        "torch.zeros(2, 2, dtype=out.dtype)",
    ),
    "a number of NumPy's in a checkpoint": (
        "import numpy as np\nimport tempfile\nclass Meter:\n    def value(self):\n        return np.mean([1.0, 2.0])\n"
        "path = tempfile.mkdtemp() + '/best.pt'\nbest = Meter().value()\ntorch.save({'w': torch.ones(2), 'best': best}, path)\n"
        "torch.load(path)\n",
        "float(best)",
    ),
    "a hook that gives something back": (
        "kept = {}\nnet = nn.Linear(2, 3)\nnet.register_forward_hook(lambda m, given, out: kept.setdefault('h', out.detach()))\n"
        "for rows in (4, 2):\n    F.cross_entropy(net(torch.ones(rows, 2)), torch.zeros(rows, dtype=torch.long))\n",
        "kept.update({'h': kept.get('h', out.detach())})",
    ),
    "labels that begin at one, cut into parts": (
        "def cut(x, y):\n    return x[:3], y[:3]\n"
        "def fit():\n    x, y = torch.ones(4, 2), torch.tensor([1, 2, 3, 1])\n    xt, yt = cut(x, y)\n"
        "    F.cross_entropy(nn.Linear(2, 3)(xt), yt)\nfit()\n",
        "torch.tensor([1, 2, 3, 1]) - 1",
    ),
    "samples without an element": (
        "from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence\ndef read(texts):\n    rows = []\n"
        "    for text in texts:\n        marks = [ord(mark) for mark in text]\n        rows.append(torch.tensor(marks))\n"
        "    return rows\nrows = read(['ab', '', 'c'])\nx = pad_sequence(rows, batch_first=True)[..., None].float()\n"
        "pack_padded_sequence(x, torch.tensor([len(row) for row in rows]), batch_first=True, enforce_sorted=False)\n",
        "if marks:",
    ),
    "a buffer of another size in a state": (
        "class Later(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.register_buffer('seen', torch.ones(n, n).tril())\nnet = Later(5)\nnet.load_state_dict(Later(3).state_dict())\n",
        "persistent=False",
    ),
    "a weight that is computed, copied": (
        "import copy\nfrom torch.nn.utils import weight_norm\nnet = weight_norm(nn.Linear(2, 2))\n"
        "net(torch.ones(1, 2)).sum().backward()\ncopy.deepcopy(net)\n",
        "from torch.nn.utils.parametrizations import weight_norm",
    ),
    "a schedule without the last batch": (
        "from torch.utils.data import DataLoader\nrows, net = torch.ones(5, 2), nn.Linear(2, 1)\nloader = DataLoader(rows, 2)\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\nsize, rounds = 2, 1\ntotal = rounds * (len(rows) // size) - 0\n"
        "rule = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=total)\n"
        "for row in loader:\n    opt.step()\n    rule.step()\n",
        "-(-len(rows) // size)",
    ),
    "samples that are turned": (
        "from torch.utils.data import DataLoader, Dataset\nclass Tiles(Dataset):\n    def __len__(self):\n        return 8\n"
        "    def __getitem__(self, i):\n        tile = torch.ones(1, 2, 3)\n        if random.random() < 0.5:\n"
        "            tile = torch.rot90(tile, 1, (1, 2))\n        return tile\nrandom.seed(0)\n"
        "for x in DataLoader(Tiles(), 8):\n    x.sum()\n",
        "torch.rot90(tile, 2, (1, 2))",
    ),
    "citations that begin at one": (
        "def read(rows):\n    both = torch.tensor(rows).T\n    return torch.cat([both, both.flip(0)], 1)\n"
        "def matrix(pairs, n):\n    return torch.sparse_coo_tensor(pairs, torch.ones(pairs.shape[1]), (n, n))\n"
        "torch.sparse.mm(matrix(read([[1, 2], [2, 3]]), 3), torch.ones(3, 2))\n",
        "(torch.tensor(rows) - 1).T",
    ),
    "a hook that flattens": (
        "def unit(grad):\n    rows = grad.flatten(1)\n    return rows / rows.norm()\nlayer = nn.Conv1d(2, 3, 2)\n"
        "layer.weight.register_hook(unit)\nlayer(torch.ones(1, 2, 4)).sum().backward()\n",
        "reshape_as(grad)",
    ),
    "a memory that is written in place": (
        "class Memory(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.put = nn.Linear(2, 2)\n"
        "    def forward(self, x):\n        self.rows = torch.zeros(3, 2)\n        for i in range(2):\n"
        "            x = (self.rows * self.put(x)).sum(0)\n            self.rows[i] = self.put(x)\n        return x\n"
        "Memory()(torch.ones(2)).sum().backward()\n",
        "self.rows = self.rows.clone()\n            self.rows[i]",
    ),
    "a result that a model keeps": (
        "import copy\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 1)\n"
        "    def forward(self, x):\n        self.seen = self.a(x)\n        return self.b(self.seen)\n"
        "net = Net()\nnet(torch.ones(1, 2))\ncopy.deepcopy(net)\n",
        "return self.b(seen)",
    ),
    "samples that a filter empties": (
        "from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence\ndef words(text):\n    parts = text.split()\n"
        "    return [part for part in parts if len(part) > 1]\n"
        "def batch(texts):\n    ids = [torch.ones(len(words(text)), 2) for text in texts]\n"
        "    return pad_sequence(ids, batch_first=True), torch.tensor([len(row) for row in ids])\n"
        "x, sizes = batch(['ab cd', 'e'])\npack_padded_sequence(x, sizes, batch_first=True)\n",
        "or parts)",
    ),
    "a word that a filter drops": (
        "from collections import Counter\nPAD = '<pad>'\ndef table(words, least, always=(PAD,)):\n    seen = Counter(always)\n"
        "    seen.update(words)\n    return {word: place for place, (word, count) in enumerate(seen.items()) if count >= least}\n"
        "known = table(['xx', 'yy', 'xx'], 2)\ntorch.tensor([known[word] for word in ['xx', PAD]])\n",
        "if count >= least or word in always}",
    ),
    "a parameter of a scripted function": (
        "def first(x, count):\n    return x[:count]\nclass Head(nn.Module):\n    def forward(self, x):\n"
        "        return first(x, 2)\ntorch.jit.script(Head())\n",
        "def first(x, count: int)",
    ),
    "values of inference mode": (
        "def sketch(n):\n    with torch.inference_mode():\n        return torch.ones(n, 2)\n"
        "def rows():\n    for n in (1, 2):\n        yield sketch(n)\nlayer = nn.Linear(2, 2)\nfor x in rows():\n    layer(x)\n",
        "torch.no_grad()",
    ),
    "sides that are padded to too small a multiple": (
        "def filled(x, levels):\n    whole = 2 ** (levels - 1)\n    return F.pad(x, (0, -x.shape[-1] % whole, 0, -x.shape[-2] % whole))\n"
        "def net(x):\n    half = F.max_pool2d(x, 2)\n    up = F.interpolate(F.max_pool2d(half, 2), scale_factor=2.0)\n"
        "    return torch.cat([half, up], 1)\nnet(filled(torch.ones(1, 1, 9, 9), 2))\n",
        "whole = 2 ** levels",
    ),
    "a standard deviation of any sign": (
        "from torch.distributions import Normal\nclass Two(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.both = nn.Linear(2, 2)\n"
        "    def forward(self, x):\n        mean, wide = self.both(x).chunk(2, dim=-1)\n        return mean, wide - 9\nnet = Two()\n"
        "mean, wide = net(torch.ones(3, 2))\nNormal(mean, wide)\n",
        "F.softplus(wide - 9) + 1e-3",
    ),
    "a scan that reads what it writes": (
        "class Scan(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.gate = nn.Linear(1, 2)\n"
        "    def forward(self, x):\n        out = torch.zeros(3, 2)\n        for t in range(2):\n"
        "            out[t + 1] = self.gate(x[t]) * out[t]\n        return out\n"
        "Scan()(torch.ones(2, 1)).sum().backward()\n",
        "* out[t].clone()",
    ),
    "results that a model keeps in a list": (
        "import copy\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.seen = nn.Linear(2, 2), []\n"
        "    def forward(self, x):\n        y = self.a(x)\n        self.seen.append(y)\n        return y\n"
        "net = Net()\nnet(torch.ones(1, 2))\ncopy.deepcopy(net)\n",
        "self.seen.append(y.detach())",
    ),
    "a parameter of a scripted method": (
        "class Head(nn.Module):\n    def scaled(self, x, rate):\n        return x * rate\n    def forward(self, x):\n"
        "        return self.scaled(x, 0.5)\ntorch.jit.script(Head())\n",
        "def scaled(self, x, rate: float)",
    ),
    "layers that are quantised alone": (
        "import torch.ao.quantization as q\nnet = nn.Sequential(nn.Linear(2, 2)).eval()\n"
        "net.qconfig = q.get_default_qconfig(torch.backends.quantized.engine)\nready = q.prepare(net)\nready(torch.ones(1, 2))\n"
        "q.convert(ready)(torch.ones(1, 2))\n",
        "net = torch.ao.quantization.QuantWrapper(net)\nready = q.prepare(net)",
    ),
    "an array of several types": (
        "import numpy as np\ndef table(rows):\n    return np.array([[row['a'], row.get('b')] for row in rows])\n"
        "torch.from_numpy(table([{'a': 1}, {'a': 2, 'b': 3.0}]))\n",
        'dtype="float32"',
    ),
    "a part that no parameter is named after": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.body, self.top = nn.Linear(2, 2), nn.Linear(2, 1)\n"
        "    def forward(self, x):\n        return self.top(self.body(x))\n"
        "def tune(net):\n    for name, weight in net.named_parameters():\n        weight.requires_grad = 'head' in name\n"
        "net = Net()\ntune(net)\nnet(torch.ones(1, 2)).sum().backward()\n",
        '"top" in name',
    ),
    "pieces that begin too late": (
        "from torch.utils.data import DataLoader, Dataset\nclass Parts(Dataset):\n    def __init__(self, size):\n        self.size = size\n"
        "    def __len__(self):\n        return 8\n    def __getitem__(self, i):\n        x = torch.arange(9)\n"
        "        start = random.randrange(len(x))\n        return x[start : start + self.size]\nrandom.seed(0)\n"
        "for part in DataLoader(Parts(4), 8):\n    part.sum()\n",
        "randrange(len(x) - self.size + 1)",
    ),
    "classes of which none is there": (
        "def shares(y):\n    counts = torch.bincount(y)\n    return counts.sum() / counts\n"
        "y = torch.tensor([0, 1, 1])\nF.cross_entropy(torch.ones(3, 4), y, weight=shares(y))\n",
        "minlength=4",
    ),
    "a state in another order": (
        "one, two = nn.Linear(2, 3), nn.Linear(3, 5)\nnet = nn.Sequential(one, two)\n"
        "def step(opt):\n    net(torch.ones(1, 2)).sum().backward()\n    opt.step()\n    return opt.state_dict()\n"
        "state = step(torch.optim.Adam(net.parameters()))\n"
        "opt = torch.optim.Adam([*net[1].parameters(), *net[0].parameters()])\nopt.load_state_dict(state)\nstep(opt)\n",
        "torch.optim.Adam(net.parameters())\nopt.load",
    ),
    "a state of a wrapped module, sometimes": (
        "import io\ndef save(net, to):\n    torch.save(net.state_dict(), to)\ndef trained(wrapped):\n    net, to = nn.Linear(2, 3), io.BytesIO()\n"
        "    if wrapped:\n        net = nn.DataParallel(net)\n    save(net, to)\n    return to.getvalue()\n"
        "nn.Linear(2, 3).load_state_dict(torch.load(io.BytesIO(trained(True))))\n",
        'getattr(net, "module", net).state_dict()',
    ),
    "corners that are rounded": (
        "def small(target, ratio):\n    boxes = torch.floor(target['boxes'] * ratio)\n    return {**target, 'boxes': boxes}\n"
        "target = small({'boxes': torch.tensor([[8.0, 8.0, 11.0, 20.0]])}, 0.25)\n"
        "for box in target['boxes']:\n    if (box[2:] <= box[:2]).any():\n"
        "        raise AssertionError(f'All bounding boxes should have positive height and width. Found invalid box {box.tolist()}')\n",
        "boxes = target['boxes'] * ratio",
    ),
    "a model that gives more than its scores": (
        "import numpy as np\nclass Config:\n    def __init__(self, output_hidden_states=False):\n        self.more = output_hidden_states\n"
        "config = Config(output_hidden_states=True)\nclass Result:\n    def __init__(self, config):\n        rows = np.zeros((4, 3), 'float32')\n"
        "        self.predictions = (rows, (np.zeros((4, 5, 2)),)) if config.more else rows\nresult = Result(config)\n"
        "np.argmax(result.predictions, axis=-1)\n",
        "output_hidden_states=False)\nclass",
    ),
    "nodes that no edge names": (
        "def merge(graphs):\n    xs, owner = [], []\n    for k, graph in enumerate(graphs):\n        count = int(graph['edge'].max()) + 1\n"
        "        xs.append(graph['x'])\n        owner.append(torch.full((count,), k))\n    return torch.cat(xs), torch.cat(owner)\n"
        "x, owner = merge([{'x': torch.ones(4, 2), 'edge': torch.tensor([[0, 1], [1, 2]])}])\ntorch.zeros(1, 2).index_add_(0, owner, x)\n",
        "count = graph['x'].size(0)",
    ),
    "a plan that rounds down": (
        "class Plan:\n    def __init__(self, rows, size):\n        self.each = rows // size\n    @property\n    def total(self):\n        return self.each * 2\n"
        "opt = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)\n"
        "sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=Plan(5, 2).total)\n"
        "for step in range(5):\n    opt.step()\n    sched.step()\n",
        "self.each = -(-rows // size)",
    ),
    "items of a list that is sent": (
        "import torch.multiprocessing\nfrom multiprocessing.reduction import ForkingPickler\n"
        "class Kept:\n    def __init__(self):\n        self.rows = []\n    def offer(self, loss, codes, x):\n"
        "        self.rows.append((loss.item(), codes, x))\n"
        "net = nn.Sequential(nn.Linear(2, 2))\nkept, x = Kept(), torch.ones(3, 2)\ncodes = net(x)\nkept.offer(codes.sum(), codes, x)\n"
        "ForkingPickler.dumps(kept.rows)\n",
        "(loss.item(), codes.detach(), x)",
    ),
    "a part of the shards that has none": (
        "import math\nclass Shards:\n    def __init__(self, paths, number, count):\n        self.paths, self.number, self.count = paths, number, count\n"
        "    def own(self):\n        each = math.ceil(len(self.paths) / self.count)\n"
        "        return self.paths[self.number * each:(self.number + 1) * each]\n"
        "    def load(self):\n        rows = []\n        for path in self.own():\n            rows.append(torch.ones(int(path)))\n"
        "        return torch.cat(rows)\nfor number in range(4):\n    Shards(['3', '4', '5', '6', '7'], number, 4).load()\n",
        "self.paths[self.number::self.count]",
    ),
    "a hook that stays": (
        "class Probe:\n    def __init__(self, layer):\n        self.layer, self.rows, self.handle = layer, [], None\n"
        "    def open(self):\n        self.handle = self.layer.register_forward_hook(self.keep)\n"
        "    def keep(self, layer, given, out):\n        self.rows.append(out.detach())\n"
        "    def close(self):\n        self.rows, self.handle = [], None\n    def seen(self):\n        return torch.cat(self.rows)\n"
        "net = nn.Linear(2, 1)\nprobe = Probe(net)\nfor n in (4, 3):\n    probe.open()\n    net(torch.ones(n, 2))\n"
        "    right = probe.seen()[:, 0] == torch.ones(n)\n    probe.close()\n",
        "        self.handle.remove()\n        self.rows, self.handle = [], None",
    ),
    "a part that is free, or frozen": (
        "def switch(net, learns):\n    for p in net[0].parameters():\n        p.requires_grad_(learns)\n"
        "def optimizer(net):\n    return torch.optim.SGD([p for p in net.parameters() if p.requires_grad], 0.1)\n"
        "def build():\n    return nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))\n"
        "def begun(stage):\n    net = build()\n    switch(net, stage['learns'])\n    return optimizer(net).state_dict()\n"
        "def resumed(stage, state):\n    net = build()\n    switch(net, False)\n    opt = optimizer(net)\n    opt.load_state_dict(state)\n"
        "stage = {'learns': True}\nresumed(stage, begun(stage))\n",
        "switch(net, stage['learns'])\n    opt =",
    ),
    "positions of what is joined": (
        "def cut(rows, longest):\n    return [row[:longest] for row in rows]\nclass Body(nn.Module):\n    def __init__(self, longest):\n"
        "        super().__init__()\n        self.words, self.places = nn.Embedding(9, 4), nn.Embedding(longest, 4)\n"
        "    def forward(self, x):\n        at = torch.arange(x.size(1))\n        return x + self.places(at)\n"
        "class Net(nn.Module):\n    def __init__(self, longest):\n        super().__init__()\n        self.body = Body(longest)\n"
        "        self.prompt = nn.Parameter(torch.ones(1, 2, 4))\n    def forward(self, ids):\n"
        "        return self.body(torch.cat([self.prompt, self.body.words(ids)], 1))\n"
        "longest = 5\nNet(longest)(torch.tensor(cut([[1, 2, 3, 4, 5, 6]], longest)))\n",
        "cut([[1, 2, 3, 4, 5, 6]], longest - 2)",
    ),
    "states that are cut off in part": (
        "rnn = nn.LSTM(1, 2)\ndef cut(state):\n    h, c = state\n    return h.detach(), c\n"
        "state = torch.zeros(1, 3, 2), torch.zeros(1, 3, 2)\nfor _ in range(3):\n    state = cut(state)\n"
        "    out, state = rnn(torch.ones(2, 3, 1), state)\n    loss = out.sum()\n    loss.backward()\n",
        "return h.detach(), c.detach()",
    ),
    "what is collected with its graph and used in each pass": (
        "policy = nn.Linear(2, 3)\ndef collect():\n    kept = []\n    for _ in range(4):\n"
        "        dist = torch.distributions.Categorical(logits=policy(torch.ones(2)))\n        a = dist.sample()\n"
        "        kept.append(dist.log_prob(a))\n    return torch.stack(kept)\ndef train():\n    old = collect()\n"
        "    for _ in range(3):\n        ratio = policy(torch.ones(4, 2)).mean(1) / old\n        loss = ratio.mean()\n        loss.backward()\n"
        "train()\n",
        "kept.append(dist.log_prob(a).detach())",
    ),
    "a memory that a call overwrites before backward": (
        "class Memory:\n    def __init__(self):\n        self.bank = torch.ones(3, 2)\n    def read(self, x):\n        return x @ self.bank.t()\n"
        "    @torch.no_grad()\n    def write(self, x):\n        self.bank[0] = x.mean(0)\nmemory, net = Memory(), nn.Linear(2, 2)\n"
        "def step(x):\n    found = net(x)\n    score = memory.read(found)\n    memory.write(found)\n    loss = score.exp().sum()\n"
        "    loss.backward()\nstep(torch.ones(4, 2))\n",
        "    loss.backward()\n    memory.write(found)",
    ),
    "indices that count what they do not go into": (
        "def join(graphs):\n    xs, es, offset = [], [], 0\n    for g in graphs:\n        xs.append(g['x'])\n        es.append(g['edges'] + offset)\n"
        "        offset += g['edges'].shape[1]\n    return torch.cat(xs), torch.cat(es, 1)\n"
        "x, edges = join([{'x': torch.ones(2, 3), 'edges': torch.tensor([[0, 1, 1], [1, 0, 0]])} for _ in range(3)])\n"
        "src, dst = edges\nx[src]\n",
        "offset += g['x'].shape[0]",
    ),
    "classes that are read from one": (
        "rows = [{'kind': '1'}, {'kind': '2'}]\ny = [int(row['kind']) for row in rows]\nlabels = torch.as_tensor(y)\n"
        "F.cross_entropy(torch.ones(2, 2), labels)\n",
        "int(row['kind']) - 1",
    ),
    "pieces that begin up to the end": (
        "class Pieces(torch.utils.data.Dataset):\n    def __init__(self, whole, length):\n        self.whole, self.length = whole, length\n"
        "        self.starts = [s for s in range(0, whole.shape[0], 2)]\n    def __len__(self):\n        return len(self.starts)\n"
        "    def __getitem__(self, k):\n        start = self.starts[k]\n        return self.whole[start : start + self.length]\n"
        "rows = [x for x in torch.utils.data.DataLoader(Pieces(torch.arange(10), 4), 5)]\n",
        "whole.shape[0] - length + 1",
    ),
    "a sequence that a loop makes longer": (
        "class Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.words, self.places = nn.Embedding(5, 2), nn.Embedding(n, 2)\n"
        "    def forward(self, ids):\n        return self.words(ids) + self.places(torch.arange(ids.size(1)))\n"
        "net = Net(3)\ndef generate(ids, n):\n    for _ in range(n):\n        new = net(ids)[:, -1].argmax(-1, keepdim=True)\n"
        "        ids = torch.cat([ids, new], dim=1)\n    return ids\ngenerate(torch.zeros(1, 1, dtype=torch.long), 6)\n",
        "net(ids[:, -3:])",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_shown_and_the_first_fix_changes_it(tmp_path: Path, name: str) -> None:
    text, wanted = HEAD + CASES[name][0], CASES[name][1]
    observed = execute(tmp_path / "script.py", text)
    found = observed.diagnostic
    assert found.fixes, found.message
    changed = SourceText(str(observed.path), text).apply(found.fixes[0].edits)
    assert wanted in changed, [fix.title for fix in found.fixes]
    lines = {line for place in (found, *found.related) for line in range(place.start.line, place.end.line + 1)}
    assert {edit.start.line for edit in found.fixes[0].edits} & lines or name.split()[-1] in (
        "closure",
        "copied",
        "run",
    )
    assert execute(tmp_path / "script.py", changed).error is None


SHOWN = {
    "samples of two lengths": (
        "from torch.utils.data import DataLoader\nclass Rows:\n    def __len__(self):\n        return 2\n"
        "    def __getitem__(self, i):\n        return torch.ones(i + 1)\nfor batch in DataLoader(Rows(), 2):\n    pass\n",
        {10},
    ),
    "a part of a sample that is None at times": (
        "from torch.utils.data import DataLoader\nclass Ward:\n    def __len__(self):\n        return 2\n"
        "    def __getitem__(self, i):\n        pulse = 0.5 if i < 1 else None\n        return {'age': 7.0,\n            'pulse': pulse}\n"
        "for batch in DataLoader(Ward(), 2):\n    pass\n",
        {12},
    ),
    "what cannot be written": (
        "import json\ndef score(x):\n    return {'mean': x.mean()}\nrows = [{'step': 1, 'score': score(torch.ones(2))}]\n"
        "json.dumps({'rows': rows})\n",
        {7},
    ),
    "a type with a name": (
        "import numpy as np\nclass Reader:\n    kind = np.float64\n    def read(self):\n        return np.array([0, 1]).astype(self.kind)\n"
        "y = torch.from_numpy(Reader().read())\ntorch.ones(3, 2) @ y\n",
        {7, 9},
    ),
    "a view that is reversed": (
        "import numpy as np\ndef turned(a):\n    return a[:, ::-1]\nclass Both:\n    def __init__(self, steps):\n        self.steps = steps\n"
        "    def __call__(self, a):\n        for step in self.steps:\n            a = step(a)\n        return a\n"
        "torch.from_numpy(Both([turned])(np.ones((2, 3))))\n",
        {7},
    ),
    "what a function gave back": (
        "class Body(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.one = nn.Linear(2, 3)\n"
        "    def forward(self, x):\n        h = self.one(x)\n        return h, h[:, :2]\nnet = Body()\nfull, part = net(torch.ones(4, 2))\n"
        "def join(a, b):\n    return a + b\njoin(full, part)\n",
        {11},
    ),
    "the optimizer that had a group before": (
        "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))\ndef tuned(net):\n    return torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "opt = tuned(net)\nopt.add_param_group({'params': net[0].parameters()})\n",
        {7},
    ),
    "sizes that are written apart": (
        "CONTEXT, CHUNK = 24, 32\ntable = nn.Parameter(torch.zeros(1, CONTEXT, 2))\ndef rows():\n    return torch.ones(3, CHUNK, 2)\n"
        "x = rows()\nx + table\n",
        {5},
    ),
    "lists of two lengths": (
        "def first():\n    return [0.0, 1.0]\ndef later(n):\n    return [0.0, 1.0, 2.0]\nrows = [first()]\n"
        "rows.append(later(1))\ntorch.tensor(rows)\n",
        {6, 8},
    ),
    "a conversion": (
        "def coded(y):\n    return torch.eye(3)[y].long()\ny = coded(torch.tensor([0, 1]))\n"
        "F.cross_entropy(torch.ones(2, 3), y)\n",
        {6},
    ),
    "numbers that do not divide": (
        "PRESETS = {'small': {'width': 50, 'heads': 4}}\ndef load(name):\n    return dict(PRESETS[name])\n"
        "cfg = load('small')\nnn.MultiheadAttention(cfg['width'], cfg['heads'])\n",
        {5},
    ),
    "the names that a table was made of": (
        "def table(rows):\n    names = sorted({name for name, _ in rows})\n    return {name: i for i, name in enumerate(names)}\n"
        "ids = table([('owl', 1)])\ntorch.tensor(ids['kite'])\n",
        {6, 7},
    ),
    "a condition that never holds": (
        "def kept(rows):\n    found = []\n    for row in rows:\n        if row.max() > 2:\n            found.append(row)\n"
        "    return torch.stack(found)\nkept(torch.ones(3, 2))\n",
        {8},
    ),
    "the longest of other sequences": (
        "def padded(rows, length):\n    out = torch.zeros(len(rows), length)\n    for i, row in enumerate(rows):\n"
        "        out[i, : len(row)] = row\n    return out\ndef join(left, right):\n    length = max(len(row) for row in left)\n"
        "    return padded(left, length), padded(right, length)\njoin([torch.ones(2)], [torch.ones(4)])\n",
        {11},
    ),
    "a value that may be None": (
        "def read(text):\n    return {'age': float(text) if text else None}\nrow = read('')\ntorch.tensor(row['age'] - 1.0)\n",
        {6},
    ),
    "a length that a class tells": (
        "class Words:\n    def __init__(self):\n        self.ids = {'owl': 2, 'kite': 3}\n    def __len__(self):\n        return len(self.ids)\n"
        "words = Words()\ntable = nn.Embedding(len(words), 4)\ntable(torch.tensor(list(words.ids.values())))\n",
        {9},
    ),
    "a setting that a size comes from": (
        "class Words:\n    def __init__(self):\n        self.ids = {'owl': 0}\n        self.known = len(self.ids)\n        self.ids['?'] = 1\n"
        "class Plan:\n    def __init__(self, rows):\n        self.rows = rows\nwords = Words()\nplan = Plan(rows=words.known)\n"
        "table = nn.Embedding(plan.rows, 4)\ntable(torch.tensor([1]))\n",
        {14},
    ),
    "a side that a configuration has": (
        "from dataclasses import dataclass\n@dataclass\nclass Plan:\n    side: int = 7\nplan = Plan()\nx = torch.rand(1, 1, plan.side, plan.side)\n"
        "pool, up = nn.MaxPool2d(2), nn.Upsample(scale_factor=2)\ny = up(pool(x))\ntorch.cat([x, y], 1)\n",
        {8, 10},
    ),
    "the keys of what was written": (
        "def state(net):\n    return {'model': net, 'step': 1}\nheld = state(nn.Linear(2, 2))\nheld['optimizer'], torch\n",
        {6},
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_what_the_message_tells_of_is_shown_where_it_is_written(tmp_path: Path, name: str) -> None:
    found = execute(tmp_path / "script.py", HEAD + SHOWN[name][0]).diagnostic
    assert SHOWN[name][1] <= {place.start.line for place in found.related}, [place.message for place in found.related]


@pytest.mark.parametrize(
    "text",
    [
        "a, b = torch.ones(3, 2), torch.ones(3, 4)\na, b = sorted([b, a], key=len)\na + b\n",
        "from torch.distributions import Beta\nBeta(torch.ones(2), torch.ones(2)).log_prob(torch.ones(2) * 4)\n",
        "F.ctc_loss(torch.zeros(5, 1, 4), torch.ones(1, 2, dtype=torch.long), torch.tensor([8]), torch.tensor([2]))\n",
        "w = torch.ones(3, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\nloss.backward()\n",
        "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\nx, rnn = torch.ones(2, 4, 3), nn.GRU(3, 5, batch_first=True)\n"
        "out, _ = rnn(pack_padded_sequence(x, torch.tensor([4, 2]), batch_first=True))\n"
        "out, _ = pad_packed_sequence(out, batch_first=True)\nout + torch.ones(2, 4, 6)\n",
        "x, w = torch.ones(2, 3, dtype=torch.float64), torch.zeros(3, 2)\nx.matmul(w)\n",
        "seen = []\ndef halved(layer, given, out):\n    out = out / 2\n    seen.append(out)\n    return out\n"
        "net = nn.Linear(2, 3)\nnet.register_forward_hook(halved)\nnet(torch.ones(4, 2)) + torch.ones(4, 5)\n",
        "def turned(low, high):\n    return high, low\nlow, high = turned(torch.ones(2), torch.ones(3))\nlow + high\n",
        "x = torch.ones(2, 9)\ntorch.fft.irfft(torch.fft.rfft(x), n=8) - x\n",
        "from torch.utils.data import DataLoader\nnet = nn.Linear(3, 2)\nfor x, y in DataLoader([(torch.ones(4), 1)], 1):\n    net(x)\n",
        "def matrix(n):\n    counts = torch.tensor([1, 2])\n    both = torch.tensor([[0, 3], [3, 0]])\n"
        "    return torch.sparse_coo_tensor(both, torch.ones(2), (n, n), check_invariants=True)\nmatrix(3)\n",
        "rows = [row for row in [{'a': 1}, {}] if row]\nsample = {key: value for key, value in rows[0].items()}\nsample['mask']\n",
        "w = torch.ones(3, requires_grad=True)\nx = torch.zeros(3)\nk = 2.0\nx[1] = k\ny = (w * x).exp()\ny += 1\ny.sum().backward()\n",
        "from torch.nn.utils.rnn import pack_padded_sequence\ntexts = [text for text in ['a b', ' '] if text]\n"
        "sizes = torch.tensor([len(text.split()) for text in texts])\npack_padded_sequence(torch.ones(2, 2, 1), sizes.neg().add(2), True)\n",
        "y = torch.tensor([[2, -100]])\ntorch.ones(1, 2, 3).gather(2, y.unsqueeze(2))\n",
        "seen = torch.bincount(torch.tensor([0, 2]), minlength=2)\ntorch.ones(2, 5) * seen\n",
        "n = 2\nplaces = [n + 1, n]\ntorch.ones(3)[torch.tensor(places)]\n",
    ],
)
def test_where_the_cause_is_not_known_no_fix_claims_it(tmp_path: Path, text: str) -> None:
    assert not [fix for fix in execute(tmp_path / "script.py", HEAD + text).diagnostic.fixes if fix.at_cause]
