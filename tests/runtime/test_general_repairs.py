"""Repairs that belong to no single error: each script crashes, and runs with one of the first fixes of its crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.inprocess import execute
from torchsleuth.syntax.text import SourceText

TRIED = 3
HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
LIBRARY = "library = {}\nexec(compile('import torch\\n' + TEXT, 'library.py', 'exec'), library)\n"
ONE_NUMBER = """TEXT = 'def log(name, value):\\n    if value.numel() != 1: raise ValueError("the tensor must have a single element")'
"""
CLASSIFIER = "TEXT = 'def classifier(size, num_labels): return torch.nn.Linear(size, num_labels)'\n"
CASES = {
    "several numbers where a library wants one": (
        ONE_NUMBER + LIBRARY + "errors = torch.ones(3)\nlibrary['log']('errors', errors)\n",
        "library['log']('errors', errors.mean())",
    ),
    "more classes than a library was told of": (
        CLASSIFIER + LIBRARY + "net = library['classifier'](4, num_labels=2)\n"
        "F.cross_entropy(net(torch.randn(6, 4)), torch.arange(6) % 3)\n",
        "num_labels=3",
    ),
    "a key of a checkpoint that is renamed wrongly": (
        "net = nn.ModuleDict({'head': nn.Linear(2, 3)})\n"
        "old = {'cls.' + key: value for key, value in nn.Linear(2, 3).state_dict().items()}\n"
        "net.load_state_dict({key.replace('cls.', 'heads.'): value for key, value in old.items()})\n",
        "'head.'",
    ),
    "one grey image among others": (
        "conv = nn.Conv2d(3, 4, 3)\nfor number in range(3):\n"
        "    image = torch.rand(1 if number == 2 else 3, 8, 8)\n    conv(image)\n",
        "image.expand(3, -1, -1)",
    ),
    "a sampler that goes one batch too far": (
        "from torch.utils.data import DataLoader, TensorDataset\nclass Pairs:\n    def __iter__(self):\n"
        "        for start in range(6 // 2 + 1):\n            yield [2 * start, 2 * start + 1]\n"
        "for (x,) in DataLoader(TensorDataset(torch.zeros(6, 3)), batch_sampler=Pairs()):\n    x.sum()\n",
        "range(6 // 2)",
    ),
    "ranks counted from one": (
        "from torch.utils.data.distributed import DistributedSampler\nfor rank in range(1, 3):\n"
        "    DistributedSampler([1, 2, 3, 4], num_replicas=2, rank=rank)\n",
        "rank=rank - 1",
    ),
    "the last batch of one of two loaders": (
        "from torch.utils.data import DataLoader\none = DataLoader(torch.randn(22, 4), batch_size=8)\n"
        "for x, u in zip(one, DataLoader(torch.randn(40, 4), batch_size=8)):\n    x + u\n",
        "drop_last=True",
    ),
    "more classes than outputs, in an evaluation": (
        "class Net(nn.Module):\n    def __init__(self, classes=4):\n        super().__init__()\n"
        "        self.out = nn.Linear(2, classes)\n    def forward(self, x):\n        return self.out(x)\n"
        "net = Net()\nwith torch.no_grad():\n    F.cross_entropy(net(torch.randn(6, 2)), torch.arange(6) % 5)\n",
        "classes=5",
    ),
    "a size of made-up data": (
        "net = nn.Linear(4, 2)\nfor n in range(3):\n    x = torch.randn(3, 4 if n < 2 else 6)\n    net(x)\n",
        "4 if n < 2 else 4",
    ),
    "a size far from where it fails": (
        "class Table(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.zeros(n, n))\n    def forward(self, x):\n        return x + self.w\n"
        "table = Table(7)\nfor _ in range(2):\n    table(torch.randn(2, 9, 9))\n",
        "torch.randn(2, 7, 7)",
    ),
    "labels of another batch": (
        "def loss(p, y):\n    return F.cross_entropy(p, y)\nloss(torch.randn(5, 3), torch.zeros(4, dtype=torch.long))\n",
        "torch.zeros(5, dtype",
    ),
    "two arguments exchanged": (
        "score = nn.Bilinear(6, 8, 1)\nimage, words = torch.randn(3, 8), torch.randn(3, 6)\nscore(image, words)\n",
        "score(words, image)",
    ),
    "more classes than outputs": (
        "class Net(nn.Module):\n    def __init__(self, classes):\n        super().__init__()\n"
        "        self.out = nn.Linear(2, classes)\n    def forward(self, x):\n        return self.out(x)\n"
        "net, labels = Net(classes=3), torch.arange(12) % 5\n"
        "for i in range(0, 12, 4):\n    F.cross_entropy(net(torch.randn(4, 2)), labels[i : i + 4])\n",
        "Net(classes=5)",
    ),
    "classes counted from one, in pieces": (
        "net, labels = nn.Linear(2, 5), torch.arange(10) % 5 + 1\nfor i in range(0, 10, 5):\n"
        "    F.cross_entropy(net(torch.randn(5, 2)), labels[i : i + 5])\n",
        "labels[i : i + 5] - 1",
    ),
    "a step of descent that gives the name another tensor": (
        "w = torch.ones(3, requires_grad=True)\nfor _ in range(3):\n    loss = (w * 2).sum()\n    loss.backward()\n"
        "    w = w - 0.1 * w.grad\n",
        "w -= 0.1 * w.grad",
    ),
    "the same, with the gradient cleared by hand": (
        "w, b = torch.ones(3, requires_grad=True), torch.zeros(1, requires_grad=True)\nfor _ in range(3):\n"
        "    (w * 2 + b).sum().backward()\n    with torch.no_grad():\n        w = w - 0.1 * w.grad\n"
        "        b = b - 0.1 * b.grad\n    w.grad.zero_()\n    b.grad.zero_()\n",
        "b -= 0.1 * b.grad",
    ),
    "a tensor that is not saved": (
        "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, low, high):\n"
        "        ctx.save_for_backward(x, low)\n        return x.clamp(low, high)\n    @staticmethod\n"
        "    def backward(ctx, grad):\n        x, low, high = ctx.saved_tensors\n"
        "        return grad * (x > low) * (x < high), None, None\n"
        "x = torch.ones(2, requires_grad=True)\nScale.apply(x, torch.zeros(()), torch.ones(())).sum().backward()\n",
        "save_for_backward(x, low, high)",
    ),
    "a function of autograd that is called": (
        "class Sign(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.sign()\n"
        "sign = Sign()\nsign(torch.ones(2))\n",
        "sign.apply(torch.ones(2))",
    ),
    "a gradient of what was computed": (
        "w = torch.ones(3, requires_grad=True)\nfor _ in range(2):\n    h = w * 2\n    h.sum().backward()\n"
        "    print(h.grad.mean())\n",
        "h.retain_grad()",
    ),
    "a number that is saved as a tensor": (
        "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, factor):\n"
        "        ctx.save_for_backward(x, factor)\n        return x * factor\n    @staticmethod\n"
        "    def backward(ctx, grad):\n        (x, factor) = ctx.saved_tensors\n        return grad * factor, None\n"
        "x = torch.ones(2, requires_grad=True)\nScale.apply(x, 3.0).sum().backward()\n",
        "ctx.factor = factor",
    ),
    "another model of the class": (
        "class Net(nn.Module):\n    def __init__(self, deep):\n        super().__init__()\n"
        "        self.layers = nn.Sequential(*[nn.Linear(2, 2) for _ in range(2 if deep else 1)])\n"
        "old, new = torch.optim.SGD(Net(deep=True).parameters(), lr=0.1), None\nnet = Net(deep=False)\n"
        "net.load_state_dict(Net(deep=True).state_dict())\n",
        "net = Net(deep=True)",
    ),
    "a group of parameters twice": (
        "net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))\ngroups = [1e-3, 1e-2]\n"
        "torch.optim.Adam([{'params': net.parameters(), 'lr': groups[0]}, {'params': net[1].parameters(), 'lr': groups[1]}])\n",
        "all(p is not q",
    ),
    "a schedule that resumes": (
        "opt = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)\n"
        "schedule = torch.optim.lr_scheduler.StepLR(opt, 5, last_epoch=7)\n",
        "setdefault",
    ),
    "the next token of the last one": (
        "class Text(torch.utils.data.Dataset):\n    def __init__(self, ids):\n        self.ids = ids\n"
        "    def __len__(self):\n        return len(self.ids)\n"
        "    def __getitem__(self, i):\n        return self.ids[i], self.ids[i + 1]\n"
        "for a, b in torch.utils.data.DataLoader(Text(torch.arange(9)), batch_size=3):\n    pass\n",
        "len(self.ids) - 1",
    ),
    "a loop that looks ahead": (
        "def pairs(x):\n    return [x[t] + x[t + 1] for t in range(len(x))]\npairs(torch.randn(5, 2))\n",
        "range(len(x) - 1)",
    ),
    "nodes counted from one": (
        "class Conv(nn.Module):\n    def forward(self, h, edges):\n        return h[edges[0]]\n"
        "edges = torch.tensor([[1, 2, 4], [2, 3, 1]])\nConv()(torch.randn(4, 3), edges)\n",
        "- 1",
    ),
    "pieces that do not go into a picture": (
        "def cut(x, p=4):\n    b, c, h, w = x.shape\n    return x.reshape(b, c, h // p, p, w // p, p)\n"
        "cut(torch.randn(2, 3, 10, 9))\n",
        ": h // p * p",
    ),
    "statistics of coloured pictures": (
        "class Normalize:\n    def __init__(self, mean, std):\n        self.mean = torch.tensor(mean)[:, None, None]\n"
        "        self.std = torch.tensor(std)[:, None, None]\n    def __call__(self, x):\n"
        "        x = x.clone()\n        x -= self.mean\n        return x / self.std\n"
        "Normalize((0.5, 0.4, 0.3), (0.2, 0.2, 0.2))(torch.rand(1, 8, 8))\n",
        "(0.5,), (0.2,)",
    ),
    "a projection to too few parts": (
        "class Gate(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
        "        self.proj = nn.Linear(dim, 2 * dim)\n        self.dim = dim\n    def forward(self, x):\n"
        "        a, b, c = self.proj(x).split(self.dim, dim=-1)\n        return a * b + c\nGate(4)(torch.ones(2, 4))\n",
        "3 * dim",
    ),
    "a part of a data set": (
        "class Rows(torch.utils.data.Dataset):\n    def __init__(self):\n        self.targets = [0, 1, 2, 1]\n"
        "    def __len__(self):\n        return 4\n    def __getitem__(self, i):\n        return self.targets[i]\n"
        "part = torch.utils.data.Subset(Rows(), [0, 2])\ncounts = torch.bincount(part.targets)\n",
        "part.indices",
    ),
    "one step without its dimension": (
        "rnn = nn.LSTM(3, 5, batch_first=True)\nx, state = torch.randn(2, 3), (torch.zeros(1, 2, 5), torch.zeros(1, 2, 5))\n"
        "rnn(x, state)\n",
        "x.unsqueeze(1)",
    ),
    "a key": ('batch = {"input_ids": 1, "label": 2}\nbatch["labels"]\n', 'batch["label"]'),
    "a key in capitals": ("cfg = {'lr': 0.1, 'Epochs': 3}\ncfg['epochs']\n", "cfg['Epochs']"),
    "an argument too many": (
        "class Pool(nn.Module):\n    def forward(self, x):\n        return x.mean(1)\n"
        "mask = torch.ones(2, 3)\nPool()(torch.ones(2, 3), mask)\n",
        "Pool()(torch.ones(2, 3))",
    ),
    "an argument that is there": (
        "class Pool(nn.Module):\n    def forward(self, x, mask):\n        return x * mask\n"
        "mask = torch.ones(2, 3)\nPool()(torch.ones(2, 3))\n",
        "Pool()(torch.ones(2, 3), mask)",
    ),
    "a part that is only made on demand": (
        "class Net(nn.Module):\n    def __init__(self, aux=False):\n        super().__init__()\n"
        "        self.aux = nn.Linear(3, 1) if aux else None\n    def forward(self, x):\n        return self.aux.weight.sum()\n"
        "Net()(torch.ones(1, 3))\n",
        "Net(aux=True)",
    ),
    "a part that may be missing": (
        "class Net(nn.Module):\n    def __init__(self, norm=None):\n        super().__init__()\n        self.norm = norm\n"
        "    def forward(self, x):\n        x = self.norm(x)\n        return x\nNet()(torch.ones(1, 3))\n",
        "if self.norm is not None:\n            x = self.norm(x)",
    ),
    "inference mode in a training": (
        "net, head = nn.Linear(3, 3), nn.Linear(3, 1)\nwith torch.inference_mode():\n    h = net(torch.ones(2, 3))\n"
        "head(h).sum().backward()\n",
        "torch.no_grad()",
    ),
    "numbers that are stacked": ("losses = [0.5, 0.25]\ntorch.stack(losses).mean()\n", "torch.tensor(losses)"),
    "rows of different lengths": (
        "rows = [[1, 2, 3], [4]]\nids = torch.tensor(rows, dtype=torch.long)\n",
        "pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], batch_first=True)",
    ),
    "the first length as the longest": (
        "def pad(batch):\n    out = torch.zeros(len(batch), batch[0].size(0))\n    for row, item in enumerate(batch):\n"
        "        out[row, : len(item)] = item\n    return out\npad([torch.ones(2), torch.ones(4)])\n",
        "max(item.size(0) for item in batch)",
    ),
    "a last piece that is shorter": (
        "signal = torch.randn(64)\nfor start in range(0, len(signal), 10):\n    piece = signal[start : start + 10]\n"
        "    piece.view(2, 5)\n",
        "range(0, len(signal) - 9, 10)",
    ),
    "a gradient for each argument": (
        "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, k, shift):\n        return x * k\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad\n"
        "Scale.apply(torch.ones(2, requires_grad=True), 2.0, 0).sum().backward()\n",
        "return grad, None, None",
    ),
    "a gradient of the argument's shape": (
        "class Mean(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.mean(0)\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        return grad / 3\n"
        "Mean.apply(torch.ones(3, 5, requires_grad=True)).sum().backward()\n",
        "(grad / 3).unsqueeze(0).expand(3, -1)",
    ),
    "a mask the other way around": (
        "hidden, mask = torch.randn(2, 5, 4), torch.ones(5, 2, dtype=torch.bool)\nhidden[mask]\n",
        "hidden[mask.T]",
    ),
    "a computed number of features": (
        "class Net(nn.Module):\n    def __init__(self, width, kernel):\n        super().__init__()\n"
        "        self.conv = nn.Conv1d(1, width, kernel)\n        self.fc = nn.Linear(width * (20 - 3 + 1), 1)\n"
        "    def forward(self, x):\n        return self.fc(self.conv(x).flatten(1))\n"
        "for width, kernel in ((2, 3), (4, 5)):\n    Net(width, kernel)(torch.randn(2, 1, 20))\n",
        "nn.LazyLinear(1)",
    ),
    "a variable instead of its value": (
        "def build(width):\n    return nn.Sequential(nn.Linear(5, width), nn.Linear(8, 1))\n"
        "for width in (8, 12):\n    build(width)(torch.ones(2, 5))\n",
        "nn.Linear(width, 1)",
    ),
    "a cast in a hook": (
        "net = nn.Linear(3, 1)\nnet.register_forward_pre_hook(lambda layer, args: (args[0].half(),))\nnet(torch.ones(2, 3))\n",
        "(args[0],)",
    ),
    "a layer without memory": (
        'net = nn.Linear(3, 1, device="meta")\nnet(torch.ones(2, 3))\n',
        "nn.Linear(3, 1)",
    ),
    "a copy of a module that keeps a result": (
        "import copy\nnet = nn.Linear(2, 1)\nnet.last = net(torch.ones(1, 2))\ncopy.deepcopy(net)\n",
        "copy.deepcopy(net.state_dict())",
    ),
    "a number taken out under vmap": (
        "def f(x):\n    return x * (2.0 if x.sum().item() > 0 else 0.5)\ntorch.vmap(f)(torch.ones(2, 3))\n",
        "torch.where(x.sum() > 0, 2.0, 0.5)",
    ),
    "a function that grad() needs to give a number": (
        "def f(w):\n    return (w * 2).sum(0)\ntorch.func.grad(f)(torch.ones(2, 3))\n",
        "(w * 2).sum(0).mean()",
    ),
    "time steps that a layer has shortened": (
        "out, steps = torch.randn(5, 2, 4).log_softmax(-1), torch.tensor([9, 9])\n"
        "F.ctc_loss(out, torch.ones(2, 2, dtype=torch.long), steps, torch.tensor([2, 2]))\n",
        "steps.clamp(max=out.size(0))",
    ),
    "a hook that takes other arguments": (
        "class Keep:\n    def __init__(self, net):\n        net.register_full_backward_hook(self.keep)\n"
        "    def keep(self, grad):\n        self.seen = grad[0].sum()\n"
        "net = nn.Linear(2, 1)\nkept = Keep(net)\nnet(torch.ones(1, 2, requires_grad=True)).sum().backward()\n",
        "def keep(self, module, grad_input, grad)",
    ),
    "a hook that is a lambda": (
        "net = nn.Linear(2, 1)\nnet.register_forward_hook(lambda output: None)\nnet(torch.ones(1, 2))\n",
        "lambda module, args, output: None",
    ),
    "a schedule without the epoch": (
        "opt = torch.optim.SGD(nn.Linear(2, 1).parameters(), lr=0.1)\n\n\ndef rate():\n    return 0.5\n\n\n"
        "torch.optim.lr_scheduler.LambdaLR(opt, lr_lambda=rate)\n",
        "def rate(epoch):",
    ),
    "an option that the message tells": (
        "class Net(nn.Module):\n    def forward(self, x):\n        return {'y': x + 1}\n"
        "torch.jit.trace(Net(), torch.ones(2))\n",
        "torch.jit.trace(Net(), torch.ones(2), strict=False)",
    ),
    "a batch that is a dictionary": (
        "class Trainer:\n    def step(self, batch):\n        batch = batch.to('cpu')\n        return batch['x'] + batch['y']\n"
        "Trainer().step({'x': torch.ones(2), 'y': torch.ones(2)})\n",
        "{key: part.to('cpu') for key, part in batch.items()}",
    ),
    "a result with the name of its function": (
        "loss = nn.MSELoss()\nfor _ in range(3):\n    loss = loss(torch.ones(2), torch.zeros(2))\n    loss /= 2\n    print(loss)\n",
        "loss_value = loss(torch.ones(2), torch.zeros(2))\n    loss_value /= 2\n    print(loss_value)",
    ),
    "pieces of different lengths": (
        "def batch(rows):\n    return torch.stack([torch.ones(n, 3) for n in rows])\nbatch([2, 4])\n",
        "pad_sequence([torch.ones(n, 3) for n in rows], batch_first=True)",
    ),
    "None behind the last item": (
        "import queue\nitems = queue.Queue()\nitems.put((torch.ones(2), 1))\nitems.put(None)\nwhile True:\n"
        "    x, n = items.get()\n",
        "    item = items.get()\n    if item is None:\n        break\n    x, n = item",
    ),
    "a size that is a text": (
        "class Net(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.a = nn.Linear(2, width)\n        self.b = nn.Linear(width, 1)\n"
        "import os\nos.environ['WIDTH'] = '8'\nwidth = os.environ['WIDTH']\nNet(width)\n",
        "Net(int(width))",
    ),
    "a crop that begins too late": (
        "def crop(row, start):\n    return row[start : start + 4].view(4)\nfor start in (0, 5):\n    crop(torch.ones(7), start)\n",
        "start = min(start, len(row) - 4)",
    ),
    "one channel where there have to be three": (
        "net = nn.Conv2d(3, 2, 1)\ndef look(size):\n    return net(torch.randn(2, 1, size, size))\nlook(8)\n",
        "torch.randn(2, 3, size, size)",
    ),
    "more of the best than there are": (
        "def best(out, k=5):\n    return torch.topk(out, k, 1)[1]\nbest(torch.ones(2, 3))\n",
        "torch.topk(out, min(k, out.size(1)), 1)",
    ),
    "the device of a module": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 1)\n"
        "    def forward(self, x):\n        return self.fc(x.to(self.device))\nNet()(torch.ones(1, 2))\n",
        "next(self.parameters()).device",
    ),
    "a schedule of parameters": (
        "def build(net):\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "    return torch.optim.lr_scheduler.StepLR(net.parameters(), 5)\nbuild(nn.Linear(2, 1))\n",
        "StepLR(opt, 5)",
    ),
    "states for another batch": (
        "class Step(nn.Module):\n    def __init__(self, batch):\n        super().__init__()\n        self.batch = batch\n"
        "        self.cell = nn.GRUCell(3, 4)\n    def forward(self, x):\n        h = torch.zeros(self.batch, 4)\n"
        "        return self.cell(x[:, 0], h)\nfor n in (8, 5):\n    Step(8)(torch.ones(n, 2, 3))\n",
        "torch.zeros(x.size(0), 4)",
    ),
    "heads in a default": (
        "def build(width, heads=4):\n    return nn.MultiheadAttention(width, heads)\nfor width in (8, 10):\n    build(width)\n",
        "heads=2",
    ),
    "weights among indices": (
        "def loss(scores, y, w):\n    return F.nll_loss(scores, y, w)\n"
        "loss(torch.randn(2, 3).log_softmax(1), torch.tensor([0, 1]), torch.ones(3, dtype=torch.float64))\n",
        "w.float()",
    ),
    "samples without an entry": (
        "LABELS = {'a': 0, 'b': 1}\nclass Rows(torch.utils.data.Dataset):\n    def __init__(self, names):\n"
        "        self.names = names\n    def __len__(self):\n        return len(self.names)\n"
        "    def __getitem__(self, i):\n        return LABELS[self.names[i]]\n"
        "for y in torch.utils.data.DataLoader(Rows(['a', 'c', 'b'])):\n    pass\n",
        "[key for key in names if key in LABELS]",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_runs_with_one_of_the_first_fixes(tmp_path: Path, name: str) -> None:
    text, wanted = CASES[name]
    observed = execute(tmp_path / "script.py", HEAD + text)
    path = str(observed.path)
    texts = [SourceText(path, HEAD + text).apply(fix.edits) for fix in observed.diagnostic.fixes[:TRIED]]
    assert any(wanted in changed for changed in texts), [fix.title for fix in observed.diagnostic.fixes]
    assert not all(execute(tmp_path / "script.py", changed).error for changed in texts if wanted in changed)


@pytest.mark.parametrize(
    "text",
    [
        'cfg = {"lr": 0.1}\ncfg["momentum"]\n',
        "rows = {1: 2}\nrows[3]\n",
        "raise KeyError('lr')\n",
        "def f(a):\n    return a\nf(*[1, 2])\n",
        "x = None\nx.step()\n",
    ],
)
def test_where_nothing_follows_nothing_is_proposed(tmp_path: Path, text: str) -> None:
    assert execute(tmp_path / "script.py", HEAD + text).diagnostic.fixes == ()


def test_the_first_values_that_are_not_finite_are_shown_and_repaired(tmp_path: Path) -> None:
    text = HEAD + (
        "rewards = torch.ones(4)\nreturns = (rewards - rewards.mean()) / rewards.std()\nscaled = returns * 2\n"
        "torch.distributions.Categorical(logits=scaled)\n"
    )
    observed = execute(tmp_path / "script.py", text)
    found = observed.report().diagnostics[0]
    assert [note.start.line for note in found.related if "not finite" in note.message] == [5]
    repaired = SourceText(str(observed.path), text).apply(found.fixes[0].edits)
    assert "(rewards.std() + 1e-8)" in repaired
    assert execute(tmp_path / "script.py", repaired).error is None


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return 1\nf(torch.ones(1))\n",
        "import queue\nitems = queue.Queue()\nitems.put(None)\nx, n = items.get()\n",
        "net = nn.Linear('a', 2)\n",
        "loss = torch.ones(())\nloss(torch.ones(2), 1)\n",
    ],
)
def test_nothing_is_proposed_where_it_is_not_known_what_was_meant(tmp_path: Path, text: str) -> None:
    titles = [fix.title for fix in execute(tmp_path / "script.py", HEAD + text).diagnostic.fixes]
    assert not [title for title in titles if any(word in title for word in ("parameters", "Leave", "int(", "Name the"))]


def test_an_exponent_is_no_size(tmp_path: Path) -> None:
    text = "x, y = torch.ones(3, 2).pow(2) ** 2, torch.ones(3, 4)\nx + y\n"
    observed = execute(tmp_path / "script.py", HEAD + text)
    changed = [SourceText(str(observed.path), HEAD + text).apply(fix.edits) for fix in observed.diagnostic.fixes]
    assert any("torch.ones(3, 4).pow(2)" in one for one in changed)
    assert not any("pow(4)" in one or "** 4" in one for one in changed)
