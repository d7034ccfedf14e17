"""Tensors that must not be looked at (fake, symbolic, nested, traced, wrapped, under a mode) are not: plain and recorded
programs come to the same results."""

from __future__ import annotations

import contextlib
import gc
import io
import weakref
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.inprocess import Observed, execute

PROGRAMS = {
    "make_fx with symbolic sizes": """
import torch
from torch.fx.experimental.proxy_tensor import make_fx
def f(x):
    y = x.sin() * x.shape[0]
    return y.sum() / (x.size(1) + 1)
g = make_fx(f, tracing_mode="symbolic")(torch.ones(2, 3))
print(g.code, g.shape_env.guards if hasattr(g, "shape_env") else None, g(torch.ones(5, 7)))
""",
    "make_fx of a backward pass": """
import torch
from torch.fx.experimental.proxy_tensor import make_fx
def f(w, x):
    loss = ((x @ w) ** 2).mean()
    return torch.autograd.grad(loss, w)[0]
for mode in ("real", "fake", "symbolic"):
    g = make_fx(f, tracing_mode=mode)(torch.ones(3, 2, requires_grad=True), torch.ones(4, 3))
    print(g.code, g(torch.ones(3, 2, requires_grad=True), torch.ones(4, 3)))
""",
    "fake tensors of a shape environment": """
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
env = ShapeEnv()
mode = FakeTensorMode(shape_env=env)
x = mode.from_tensor(torch.ones(4, 6), static_shapes=False)
with mode:
    y = (x * 2)[:, :3]
    z = torch.cat([y, y], dim=1)
w = z + 1
print(y.shape, z.shape, w.shape, env.guards, env.replacements)
""",
    "unbacked sizes": """
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
with FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True) as mode:
    x = torch.ones(5)
    y = x.nonzero()
    z = y + 1
    print(z.shape, mode.shape_env.guards)
""",
    "nested tensors": """
import torch, warnings
warnings.simplefilter("ignore")
parts = [torch.ones(2, 3), torch.ones(4, 3)]
for layout in (torch.strided, torch.jagged):
    n = torch.nested.nested_tensor(parts, layout=layout)
    m = n * 2
    print(m.is_nested, [p.shape for p in m.unbind()])
""",
    "transforms of functions": """
import torch
from torch.func import functional_call, functionalize, grad, hessian, jacrev, jvp, vmap
def f(x):
    y = x.sin() * 2
    return (y * y).sum()
x = torch.arange(3.0)
print(grad(f)(x), vmap(grad(f))(torch.ones(2, 3)), hessian(f)(x), jacrev(torch.cos)(x))
print(jvp(f, (x,), (torch.ones(3),)), functionalize(lambda t: t.clone().add_(1))(x))
def g(x):
    y = x + 1
    y.mul_(2)
    return y.view(-1)
print(vmap(vmap(g))(torch.ones(2, 3, 4)).shape, vmap(lambda a: a[0] + a.sum(), in_dims=1)(torch.ones(3, 5)))
""",
    "export": """
import torch
from torch.export import Dim, export
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)
    def forward(self, x):
        y = self.fc(x).relu()
        return y.reshape(x.shape[0], -1) * x.shape[0]
torch.manual_seed(0)
for strict in (False, True):
    program = export(Net(), (torch.ones(3, 4),), dynamic_shapes={"x": {0: Dim("batch")}}, strict=strict)
    print(program.graph_module.code, program.range_constraints, program.module()(torch.ones(5, 4)))
""",
    "trace": """
import torch, warnings
warnings.simplefilter("ignore")
def f(x):
    y = x * x.shape[0]
    z = y.view(x.size(0), -1)[:, :2]
    return z + z.mean()
traced = torch.jit.trace(f, torch.ones(3, 4))
print(traced.graph, traced(torch.ones(5, 4)))
""",
    "symbolic trace": """
import torch
from torch import fx
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)
    def forward(self, x):
        y = self.fc(x).relu()
        return y.view(x.shape[0], -1) + 1
print(fx.symbolic_trace(Net()).graph)
""",
    "modes of the user": """
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
calls = []
class Functions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        calls.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))
class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        calls.append(str(func))
        return func(*args, **(kwargs or {}))
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
for mode in (Functions(), Operators()):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with mode:
        for _ in range(3):
            x = torch.ones(2, 3)
            y = model(x)
            loss = (y * y).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
print(calls, loss)
""",
    "a profiler": """
import torch
from torch.profiler import ProfilerActivity, profile
model = torch.nn.Linear(3, 4)
optimizer = torch.optim.Adam(model.parameters())
with profile(activities=[ProfilerActivity.CPU]) as p:
    for _ in range(2):
        loss = model(torch.ones(2, 3)).sum()
        loss.backward()
        optimizer.step()
print(sorted((event.key, event.count) for event in p.key_averages()))
""",
    "fake tensors counted": """
import torch
from torch.utils.flop_counter import FlopCounterMode
with FlopCounterMode(display=False) as flops:
    a = torch.ones(4, 5) @ torch.ones(5, 6)
    loss = torch.nn.Linear(6, 2)(a).sum()
    loss.backward()
print(flops.get_total_flops())
""",
    "wrappers": """
import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
calls = []
class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
    def __init__(self, inner):
        self.inner = inner
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        calls.append(str(func))
        args = [a.inner if isinstance(a, Wrapped) else a for a in args]
        return Wrapped(func(*args, **(kwargs or {})))
x = Wrapped(torch.ones(2))
y = (x + x) * 2
print(y.inner, calls)
""",
    "objects that pretend": """
import torch
class Shy:
    def __getattribute__(self, name):
        print("asked for", name)
        return object.__getattribute__(self, name)
class Proxy:
    __class__ = property(lambda self: print("class") or torch.Tensor)
class Meta(type):
    def __getattr__(cls, name):
        print("meta", name)
        raise AttributeError(name)
class Odd(metaclass=Meta):
    def __eq__(self, other):
        print("compared")
    __hash__ = None
def make(kind):
    return kind()
a, b, c = make(Shy), make(Proxy), make(Odd)
d = [make(Odd), make(Shy)][0]
print("made")
""",
    "compiled": """
import torch
def f(x, n):
    y = x.sin() * n
    for _ in range(2):
        y = y + x[:, :1]
    return y.sum(dim=1)
counted = torch._dynamo.testing.CompileCounter()
g = torch.compile(f, backend=counted, fullgraph=True)
print([g(torch.ones(n, 4), 2) for n in (2, 3, 5)], counted.frame_count, counted.op_count)
""",
    "compiled training": """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
counted = torch._dynamo.testing.CompileCounter()
@torch.compile(backend=counted)
def step(x):
    optimizer.zero_grad()
    loss = (model(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss
def outside(x):
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    return loss
for _ in range(3):
    print(step(torch.ones(4, 3)).item())
print(torch.compile(outside, backend=counted)(torch.ones(2, 3)).item(), counted.frame_count)
""",
    "autocast and a scaler": """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for _ in range(3):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.ones(4, 3)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
print(loss, scaler.state_dict())
""",
    "closures of LBFGS": """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
count = 0
def closure():
    global count
    count += 1
    optimizer.zero_grad()
    loss = (model(torch.ones(4, 3)) - 1).pow(2).mean()
    loss.backward()
    return loss
print([optimizer.step(closure).item() for _ in range(2)], count)
""",
}


def plain(path: Path, text: str) -> str:
    path.write_text(text)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, str(path), "exec", dont_inherit=True), {"__name__": "__main__", "__file__": str(path)})
    return out.getvalue()


def recorded(path: Path, text: str, careful: bool) -> tuple[str, Observed]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        observed = execute(path, text, careful=careful)
    assert observed.error is None, observed.error
    return out.getvalue(), observed


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_recorded_program_computes_the_same(name: str, tmp_path: Path) -> None:
    import torch._dynamo
    import torch._dynamo.testing
    import torch.fx.experimental.symbolic_shapes  # from here on the launcher is careful

    def fresh(run: Any) -> Any:
        torch._dynamo.reset()
        return run()

    expected = fresh(lambda: plain(tmp_path / "program.py", PROGRAMS[name]))
    assert expected
    got, _ = fresh(lambda: recorded(tmp_path / "program.py", PROGRAMS[name], careful=True))
    assert got == expected


TRAINING = """
import torch
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr={lr})
for _ in range(5):
    loss = model(torch.ones(4, 3)).pow(2).sum() + 1
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("lr", [0.01, 0.0])
def test_parameters_of_the_first_optimizer_are_freed(tmp_path: Path, lr: float) -> None:
    _, observed = recorded(tmp_path / "training.py", TRAINING.format(lr=lr), careful=False)
    assert observed.training is not None and observed.training["finite"]
    assert (observed.training["change"] > 0) == (lr > 0)
    assert all(loss is not None for loss in observed.training["losses"]) and len(observed.training["losses"]) == 2
    kept = weakref.ref(observed.namespace["model"].weight)
    assert not weakref.getweakrefcount(observed.namespace["model"].weight) > 1
    observed.namespace.clear()
    gc.collect()
    assert kept() is None


def test_classes_of_the_user_are_freed(tmp_path: Path) -> None:
    text = "import torch\nclass Local:\n    pass\ndef make():\n    return Local()\nx = make()\ny = torch.ones(2) * 1\n"
    _, observed = recorded(tmp_path / "classes.py", text, careful=False)
    kept = weakref.ref(observed.namespace["Local"])
    observed.namespace.clear()
    gc.collect()
    assert kept() is None
