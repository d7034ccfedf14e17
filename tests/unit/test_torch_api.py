"""What the analysis knows about torch beyond operators: hooks, the user's own operators, transforms of functions,
packed sequences, state dicts, selections by masks. Each text also runs, and what is said of it is what it makes."""

from __future__ import annotations

import ast

import pytest
import torch

from tests.check import analyze, check

IMPORTS = (
    "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    "from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, jvp, stack_module_state, vjp, vmap\n"
    "from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, unpack_sequence, unpad_sequence\n"
    "from torch.utils.checkpoint import checkpoint, checkpoint_sequential\n"
    "net = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5))\nx = torch.randn(8, 4)\n"
)

SIGN = """
class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, scale):
        ctx.save_for_backward(input)
        ctx.scale = scale
        return input.sign() * scale, input.long()
    @staticmethod
    def backward(ctx, grad, _):
        (saved,) = ctx.saved_tensors
        inner = grad * saved
        return inner * ctx.scale, None
"""

TEXTS = {
    "methods of a layer that are operators": "ops = torch.ao.nn.quantized.FloatFunctional()\nold = nn.quantized.FloatFunctional()\n"
    "a = torch.randn(2, 3)\ny = ops.cat([a, a], dim=1)\nu = old.add_relu(a, torch.ones(4, 1, 3))\nv = ops.matmul(a, a.T)\n"
    "w = ops.mul_scalar(a, 2.0)\n",
    "modules are put into a container, and taken out": "class Blocks(nn.ModuleDict):\n    def __init__(self):\n        super().__init__()\n"
    "        self['a'] = nn.Linear(4, 6)\n        self.update({'b': nn.Linear(6, 7)})\n        self.c = nn.Linear(7, 2)\n"
    "        del self['c']\n    def forward(self, x):\n        for name in self:\n            x = self[name](x)\n        return x\n"
    "blocks = Blocks()\ny = blocks(torch.zeros(3, 4))\nlast = blocks.pop('b')\nu = blocks(torch.zeros(3, 4))\n"
    "some = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 9))\ndel some[-1]\nv = some(torch.zeros(2, 4))\n"
    "some.pop(0)\nsome.append(last)\nw = some(torch.zeros(2, 6))\nblocks.clear()\nz = torch.zeros(len(some), len(blocks) + 1)\n",
    "a forward hook sees what the module makes": "kept = {}\ndef hook(module, args, output):\n    kept['a'] = output.detach()\n"
    "net[0].register_forward_hook(hook)\nnet(x)\ny = kept['a']\n",
    "a forward hook may replace the output": "net[0].register_forward_hook(lambda m, i, o: o[:3])\ny = net[0](x)\n",
    "modules are named after their places": "whole = nn.ModuleDict({'a': net, 'b': nn.Linear(5, 2), 'c': net[0]})\n"
    "y = torch.zeros(sum(n.startswith('a.') for n, _ in whole.named_modules()), len(list(whole.named_modules())))\n",
    "a hook that was removed is not called": "handle = net[0].register_forward_hook(lambda m, i, o: o[:3])\nhandle.remove()\ny = net[0](x)\n",
    "a pre-hook may replace the arguments": "net[0].register_forward_pre_hook(lambda m, args: (args[0][:2],))\ny = net[0](x)\n",
    "a backward hook is called with gradients": "class Cam:\n    def __init__(self, layer):\n        self.gradient = None\n"
    "        layer.register_full_backward_hook(self.save)\n    def save(self, module, grad_input, grad_output):\n"
    "        self.gradient = grad_output[0].detach()\ncam = Cam(net[0])\nnet(x).sum().backward()\ny = cam.gradient.mean(dim=1)\n",
    "a hook of a tensor is called with its gradient": "kept = []\nw = torch.randn(3, requires_grad=True)\n"
    "w.register_hook(lambda g: kept.append(g * 2))\n(w * 2).sum().backward()\ny = w.grad\n",
    "the user's own operators": SIGN
    + "w = torch.randn(3, 2, requires_grad=True)\ny, z = Sign.apply(w, 2.0)\ny.sum().backward()\n",
    "setup_context": "class Double(torch.autograd.Function):\n    @staticmethod\n    def forward(x):\n        return x * 2\n"
    "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        ctx.save_for_backward(*inputs)\n"
    "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\ny = Double.apply(x)\n",
    "vmap": "y = vmap(torch.dot)(x, x)\nz = vmap(lambda v, w: v[:, None] * w, in_dims=(0, None), out_dims=1)(x, torch.randn(5))\n",
    "vmap as a decorator": "@vmap\ndef f(v):\n    return v.sum()\ny = f(x)\n",
    "gradients of functions": "y = grad(lambda v: v.sin().sum())(x)\nz, value = grad_and_value(lambda v: v.sin().sum())(x)\n"
    "p = torch.autograd.functional.jacobian(lambda v: v.exp().sum(dim=1), x)\n",
    "Jacobians": "y = jacrev(torch.sin)(torch.randn(4))\nz = hessian(lambda v: (v ** 3).sum())(torch.randn(3))\n",
    "products with Jacobians": "a, y = jvp(torch.sin, (x,), (x,))\nb, pull = vjp(torch.sin, x)\n(z,) = pull(b)\n",
    "modules as functions": "names = {k: v.detach() for k, v in net[0].named_parameters()}\ny = functional_call(net[0], names, (x,))\n"
    "params, buffers = stack_module_state([nn.Linear(4, 2), nn.Linear(4, 2)])\nz = params['weight']\n",
    "per-sample gradients": "lin = nn.Linear(4, 2)\nnames = {k: v.detach() for k, v in lin.named_parameters()}\n"
    "def loss(p, v):\n    return functional_call(lin, p, (v.unsqueeze(0),)).sum()\n"
    "grads = vmap(grad(loss), in_dims=(None, 0))(names, x)\ny = grads['weight']\n",
    "checkpoints": "y = checkpoint(net, x, use_reentrant=False)\nz = checkpoint_sequential(net, 2, x, use_reentrant=False)\n",
    "packed sequences": "lengths = torch.tensor([5, 3, 2])\npacked = pack_padded_sequence(torch.randn(3, 5, 4), lengths, batch_first=True)\n"
    "out, (h, c) = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)(packed)\ny, z = pad_packed_sequence(out, batch_first=True)\n"
    "data = packed.data\n",
    "packed sequences of known lengths": "packed = pack_sequence([torch.randn(4, 3), torch.randn(2, 3)])\n"
    "out, h = nn.GRU(3, 7)(packed)\ny, z = pad_packed_sequence(out)\ndata = out.data\n",
    "packed sequences, one by one": "packed = pack_sequence([torch.randn(4, 3), torch.randn(2, 3)])\nparts = unpack_sequence(packed)\ny, z = parts[0], parts[1] * 2\n",
    "padded sequences, one by one": "padded = torch.randn(2, 5, 3)\ny = unpad_sequence(padded, torch.tensor([5, 2]), batch_first=True)[1] * 2\n",
    "state_dict()": "state = net.state_dict()\ny = state['0.weight']\nz = state['1.num_batches_tracked']\n"
    "copied = {k: v.clone() for k, v in state.items()}\np = copied['1.running_mean']\n",
    "wrappers": "y = nn.DataParallel(net).module(x)\nz = torch.optim.swa_utils.AveragedModel(net)(x)\n",
    "masks": "mask = torch.rand(8) > 0.5\ny = x[mask]\nz = x[mask, 1]\np = x.unsqueeze(0)[:, mask]\nq = x[x > 0]\n",
    "positions": "y = (x > 0).nonzero()\np, q = torch.where(x > 0)\nz = torch.unique(torch.randint(0, 5, (9,)))\n",
    "the norm of gradients": "net(x).sum().backward()\ny = nn.utils.clip_grad_norm_(net.parameters(), 1.0)\nz = net[0].weight.grad\n",
    "scalars of NumPy": "import numpy as np\nstages = [nn.Linear(4, 4) for _ in range(int(np.log2(256)) - 5)]\n"
    "y = torch.zeros(len(stages), int(np.ceil(7 / 2)), int(np.prod([2, 3])), int(np.sqrt(49) * 2), np.power(2, 3).item())\n"
    "z = torch.zeros(int(np.maximum(3, 4)), int((np.log2(6) - 1).astype(int)), int(np.floor_divide(-7, 2)) + 9, int(np.float64(2.7)))\n",
    "a list of modules that grows": "layers = nn.ModuleList()\nfor width in (4, 6):\n    layers += [nn.Linear(4, width)]\n"
    "y = torch.zeros(len(layers))\nz = layers[1](x)\nwhole = nn.Sequential(nn.Linear(4, 3))\nwhole += nn.Sequential(nn.Linear(3, 2))\np = whole(x)\n",
    "attributes that a module has not got": "class Net(nn.Module):\n    def __init__(self, extra):\n        super().__init__()\n"
    "        if extra:\n            self.extra = nn.Linear(4, 6)\n        self.first = nn.Linear(4, 5)\n    def forward(self, x):\n"
    "        return self.extra(x) if hasattr(self, 'extra') else self.first(x)\n"
    "y = Net(True)(x)\nz = Net(False)(x)\n",
    "the modules of a module": "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.scale = 2\n"
    "        for level in range(3):\n            self.add_module('level' + str(level), nn.Linear(4, 4 + level))\n    def forward(self, x):\n"
    "        return self._modules['level' + str(2)](x), torch.zeros(len(self._modules))\ny, z = Net()(x)\n",
    "distributions of one's own": "class Fixed(torch.distributions.Categorical):\n    def mode(self):\n"
    "        return self.probs.argmax(dim=-1, keepdim=True)\n    def sample(self):\n        return super().sample().unsqueeze(-1)\n"
    "one = Fixed(logits=x)\ny = one.mode()\nz = one.sample()\np = one.entropy()\nq = one.log_prob(z.squeeze(-1))\nlogits = one.logits\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_said_is_what_the_text_makes(name: str) -> None:
    text = IMPORTS + TEXTS[name]
    made: dict[str, object] = {}
    exec(compile(text, "<text>", "exec"), made)
    found = analyze(text)
    assert not [item.message for item in found.diagnostics if item.severity in ("error", "warning")]
    known = {fact.binding: fact for fact in found.facts if fact.start.line > 8}
    names = [node.id for node in ast.walk(ast.parse(TEXTS[name])) if isinstance(node, ast.Name)]
    tensors = {key: made[key] for key in dict.fromkeys(names) if isinstance(made.get(key), torch.Tensor) and key != "x"}
    assert tensors
    for key, tensor in tensors.items():
        fact = known[key]
        assert fact.shape is not None and fact.dtype == str(tensor.dtype)[6:], key
        assert len(fact.shape) == tensor.ndim and "?" not in fact.shape, key
        named: dict[str, int] = {}
        for stated, size in zip(fact.shape, tensor.shape):
            assert stated == size if isinstance(stated, int) else named.setdefault(stated, size) == size, key


def test_one_mask_selects_as_many_of_all() -> None:
    text = "mask, other = torch.rand(8) > 0.5, torch.rand(8) > 0.5\nloss = F.mse_loss(x[mask], x[mask] * 2)\ny = x[mask] @ x[other].T\n"
    facts = {fact.binding: fact.shape for fact in analyze(IMPORTS + text).facts}
    assert facts["loss"] == () and facts["y"] == ("mask.sum()", "other.sum()")


def test_the_backward_of_an_operator_is_followed() -> None:
    text = IMPORTS + SIGN + "Sign.apply(torch.randn(3, 2, requires_grad=True), 2.0)\n"
    facts = {fact.binding: fact.shape for fact in analyze(text).facts}
    assert facts["inner"] == facts["grad"] == facts["saved"] == (3, 2)


def test_an_operator_whose_methods_are_class_methods() -> None:
    text = """
class Both(torch.autograd.Function):
    @classmethod
    def forward(cls, ctx, *tensors):
        ctx.save_for_backward(*tensors)
        return tuple(t * 2 for t in tensors)
    @classmethod
    def backward(cls, ctx, *grads):
        return grads
a, b = Both.apply(torch.zeros(2, 3, requires_grad=True), torch.zeros(4))
a.sum().backward()
"""
    found = analyze(IMPORTS + text)
    facts = {fact.binding: fact.shape for fact in found.facts}
    assert found.diagnostics == () and facts["a"] == (2, 3) and facts["b"] == (4,)


def test_a_fault_inside_of_a_hook_or_an_operator_is_found() -> None:
    body = "net[0].register_forward_hook(lambda m, i, o: o @ torch.zeros(7, 2))\nnet(x)\n"
    assert [item.code for item in analyze(IMPORTS + body).diagnostics] == ["TS101"]
    wrong = "class Bad(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x @ torch.zeros(7, 2)\nBad.apply(x)\n"
    assert [item.code for item in analyze(IMPORTS + wrong).diagnostics] == ["TS101"]


def test_hooks_that_may_never_be_called_prove_nothing() -> None:
    check(
        IMPORTS
        + "seen = []\nhandle = net[0].register_full_backward_hook(lambda m, i, o: seen.append(o[0]))\nnet(x).sum().backward()\n"
        "if seen:\n    print(seen[0].shape)\n"
    )


EINOPS = {
    ("rearrange", "b c h w -> b (h w) c", (2, 3, 4, 5), ""): (2, 20, 3),
    ("rearrange", "b c (h p) (w q) -> b (h w) (p q c)", (2, 3, 8, 6), "p=4, q=2"): (2, 6, 24),
    ("rearrange", "b ... -> ... b", (2, 3, 4), ""): (3, 4, 2),
    ("rearrange", "b ... -> (...) b", (2, 3, 4), ""): (12, 2),
    ("rearrange", "b 1 c -> b c ()", (2, 1, 4), ""): (2, 4, 1),
    ("reduce", "b c (h 2) (w 2) -> b c h w", (2, 3, 8, 6), "reduction='max'"): (2, 3, 4, 3),
    ("reduce", "b c h w -> b c 1 1", (2, 3, 8, 6), "reduction='mean'"): (2, 3, 1, 1),
    ("repeat", "() n d -> b n d", (1, 3, 4), "b=7"): (7, 3, 4),
    ("repeat", "h w -> (h r) (w 2)", (3, 4), "r=3"): (9, 8),
    ("rearrange", "b (h p) -> b h p", (2, 7), "p=3"): "TS104",
    ("rearrange", "b h -> h b", (2, 7), "h=3"): "TS104",
    ("rearrange", "b h -> b", (2, 7), ""): "TS104",
    ("rearrange", "(b h) -> b h", (6,), ""): "TS104",
    ("rearrange", "b c h w -> b (c h w)", (2, 7), ""): "TS108",
    ("repeat", "d -> b d", (4,), ""): "TS199",
    ("repeat", "b d -> d", (2, 4), ""): "TS199",
}


@pytest.mark.parametrize(("operation", "pattern", "shape", "more"), EINOPS)
def test_einops_is_read_off_its_patterns(operation: str, pattern: str, shape: tuple[int, ...], more: str) -> None:
    expected = EINOPS[operation, pattern, shape, more]
    call = f"{operation}(torch.zeros{shape}, '{pattern}', {more})\n"
    found = analyze("import torch\nfrom einops import rearrange, reduce, repeat\ny = " + call)
    facts = {fact.binding: fact.shape for fact in found.facts}
    if isinstance(expected, str):
        assert [item.code for item in found.diagnostics] == [expected]
    else:
        assert facts["y"] == expected and not found.diagnostics


def test_einops_layers_and_contractions() -> None:
    text = (
        "from einops import einsum, parse_shape, rearrange\nfrom einops.layers.torch import Rearrange, Reduce\n"
        "model = nn.Sequential(Rearrange('b c h w -> b (c h w)'), nn.Linear(48, 6))\nimage = torch.randn(2, 3, 4, 4)\n"
        "y = model(image)\nz = einsum(torch.randn(2, 5, 8), torch.randn(2, 6, 8), 'b i d, b j d -> b i j')\n"
        "p = Reduce('b c h w -> b c', 'mean')(image)\nq = torch.zeros(parse_shape(image, 'b c _ _')['c'])\n"
        "r = rearrange([image, image], 'n b c h w -> (n b) c h w')\n"
    )
    facts = {fact.binding: fact.shape for fact in analyze(IMPORTS + text).facts}
    assert (facts["y"], facts["z"], facts["p"], facts["q"], facts["r"]) == (
        (2, 6),
        (2, 5, 6),
        (2, 3),
        (3,),
        (4, 3, 4, 4),
    )
    wrong = text.replace("nn.Linear(48", "nn.Linear(47")
    assert [item.code for item in analyze(IMPORTS + wrong).diagnostics] == ["TS101"]


def test_what_is_packed_is_as_long_as_its_parts() -> None:
    text = (
        "from einops import pack, unpack\nimages, token = torch.zeros(2, 4, 5, 8), torch.zeros(2, 8)\n"
        "packed, sizes = pack([token, images], 'b * d')\nfirst, second = unpack(packed, sizes, 'b * d')\n"
        "third, fourth = unpack(packed[..., :3], [[20], []], 'b * c')\n"
    )
    facts = {fact.binding: fact.shape for fact in analyze(IMPORTS + text).facts}
    assert (facts["packed"], facts["first"], facts["second"]) == ((2, 21, 8), (2, 8), (2, 4, 5, 8))
    assert (facts["third"], facts["fourth"]) == ((2, 20, 3), (2, 3))
    wrong = text + "torch.nn.Linear(9, 2)(second)\n"
    assert [item.code for item in analyze(IMPORTS + wrong).diagnostics] == ["TS101"]


def test_a_tensor_is_a_variable() -> None:
    text = (
        "from torch.autograd import Variable\ndef f(x):\n    if isinstance(x, Variable):\n        return x.sum(0)\n"
        "    raise TypeError\ny = f(torch.zeros(2, 3))\n"
    )
    assert {fact.binding: fact.shape for fact in analyze(IMPORTS + text).facts}["y"] == (3,)


def test_a_pattern_says_the_shape_of_what_is_not_known() -> None:
    text = (
        "from einops import rearrange\ndef f(x: torch.Tensor, p):\n"
        "    y = rearrange(x, 'b c (h 4) (w p) -> b c (h w) 4 p', p=p)\n    return y\n"
        "def g(x: torch.Tensor):\n    y2 = rearrange(x, 'b ... d -> b d ...')\n    return y2\n"
        "def h(x: torch.Tensor):\n    a, c = x.chunk(2, -1)\n    y3 = rearrange(a, 'b n d -> b d n')\n    return y3, c\n"
    )
    facts = {fact.binding: fact.shape for fact in analyze(IMPORTS + text).facts if fact.binding}
    assert (facts["y"], facts.get("y2"), facts["y3"]) == (("b", "c", "h*w", 4, "p"), None, ("b", "d", "n"))
