"""Devices, losses and training loops: the fault, its fix, and the near misses that must stay silent."""

from __future__ import annotations

import textwrap

from tests.check import analyze, check

SETUP = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.randn(64, 8), torch.randint(0, 3, (64,)))
loader = DataLoader(data, batch_size=16)
criterion = nn.CrossEntropyLoss()
""".lstrip()


def codes(body: str, setup: str = SETUP) -> list[str]:
    return [diagnostic.code for diagnostic in analyze(setup + body).diagnostics]


def test_input_left_on_the_cpu() -> None:
    check(
        SETUP
        + """model = nn.Linear(8, 3).to(device)
for x, y in loader:
    out = model(x)
#         ^^^^^^^^ TS201: `x` is on cpu, but the weights of Linear are on cuda when available
""",
        SETUP
        + """model = nn.Linear(8, 3).to(device)
for x, y in loader:
    x = x.to(device)
    out = model(x)
""",
    )


def test_same_device_is_silent() -> None:
    assert not codes(
        "model = nn.Linear(8, 3).to(device)\nfor x, y in loader:\n    criterion(model(x.to(device)), y.to(device))\n"
    )
    assert not codes("model = nn.Linear(8, 3)\nfor x, y in loader:\n    criterion(model(x), y)\n")
    assert not codes("scale = torch.tensor(2.0)\nx = torch.randn(3, device=device) * scale\n")
    assert not codes(
        "use = torch.cuda.is_available()\nm = nn.Linear(8, 3)\nx = torch.randn(2, 8)\nif use:\n    m, x = m.cuda(), x.cuda()\nm(x)\n"
    )


def test_softmax_as_layer_function_and_in_forward() -> None:
    layer = (
        "model = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=1))\nfor x, y in loader:\n    criterion(model(x), y)\n"
    )
    function = (
        "model = nn.Linear(8, 3)\nfor x, y in loader:\n    p = torch.softmax(model(x), dim=1)\n    criterion(p, y)\n"
    )
    assert codes(layer) == ["TS303"]
    assert codes(function) == ["TS303"]
    fixes = analyze(SETUP + function).diagnostics[0].fixes
    assert [edit.new_text for edit in fixes[0].edits] == ["model(x)"]
    assert not codes(
        "model = nn.Linear(8, 3)\nfor x, y in loader:\n    z = model(x)\n    criterion(z, y)\n    z.softmax(1)\n"
    )


TRAIN = """
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    {before}
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
"""


def test_missing_zero_grad_and_its_near_misses() -> None:
    assert codes(TRAIN.format(before="pass")) == ["TS501"]
    assert not codes(TRAIN.format(before="optimizer.zero_grad()"))
    assert not codes(TRAIN.format(before="model.zero_grad()"))
    assert not codes(TRAIN.format(before="for p in model.parameters(): p.grad = None"))
    accumulation = """
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    (criterion(model(x), y) / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
    assert not codes(accumulation)


def test_evaluation_without_no_grad() -> None:
    body = "model = nn.Linear(8, 3)\nmodel.eval()\n{header}{indent}for x, y in loader:\n{indent}    (model(x).argmax(1) == y).sum().item()\n"
    assert codes(body.format(header="", indent="")) == ["TS506"]
    assert not codes(body.format(header="with torch.no_grad():\n", indent="    "))
    assert not codes(body.format(header="@torch.no_grad()\ndef f():\n", indent="    ") + "f()\n")
    frozen_then_used = "model = nn.Linear(8, 3)\nmodel.eval()\nx = torch.randn(2, 8, requires_grad=True)\nfor _ in range(3):\n    model(x).sum().backward()\n"
    assert not codes(frozen_then_used)


def test_unclipped_recurrent_training() -> None:
    body = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 16, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.rnn(x.unsqueeze(1))[0][:, -1])

model = Net()
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    {clip}
    optimizer.step()
"""
    found = analyze(SETUP + body.format(clip="pass")).diagnostics
    assert [item.code for item in found] == ["TS510"]
    (edit,) = found[0].fixes[0].edits
    assert edit.new_text == "    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)\n"
    assert not codes(body.format(clip="nn.utils.clip_grad_norm_(model.parameters(), 1.0)"))


def test_loss_of_predicted_classes_becomes_cross_entropy() -> None:
    check(
        """
import torch
from torch import nn

model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    logits = model(x)
    predicted = logits.argmax(dim=1)
    loss = (predicted != y).float().mean()
    optimizer.zero_grad()
    loss.backward()
#   ^^^^^^^^^^^^^^^ TS401: the graph ends at `logits.argmax(dim=1)`
    optimizer.step()
""",
        """
import torch
from torch import nn

model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    logits = model(x)
    predicted = logits.argmax(dim=1)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    )


def test_loss_computed_by_numpy_is_computed_of_tensors() -> None:
    check(
        """
import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    out = model(x).detach().numpy()
#         ^^^^^^^^^^^^^^^^^ TS401: `.detach()` cut the graph off
    error = np.mean((out - y.numpy()) ** 2)  # mean squared error
    loss = torch.tensor(error, requires_grad=True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        """
import numpy as np
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 4), torch.randn(8, 1)
    out = model(x)
    error = torch.mean((out - y) ** 2)  # mean squared error
    loss = error
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    )


def test_rollout_is_kept_without_its_graph() -> None:
    check(
        """
import torch
from torch import nn

policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
for update in range(3):
    states, actions, log_probs, rewards = [], [], [], []
    for t in range(20):
        state = torch.randn(4)
        dist = torch.distributions.Categorical(logits=policy(state))
        action = dist.sample()
        states.append(state)
        actions.append(action)
        log_probs.append(dist.log_prob(action))
        rewards.append(torch.randn(()).item())
    old = torch.stack(log_probs)
    batch, taken, advantage = torch.stack(states), torch.stack(actions), torch.tensor(rewards)
    for epoch in range(4):
        new = torch.distributions.Categorical(logits=policy(batch)).log_prob(taken)
        ratio = (new - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
#       ^^^^^^^^^^^^^^^ TS405: goes back through stack
        optimizer.step()
""",
        """
import torch
from torch import nn

policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
for update in range(3):
    states, actions, log_probs, rewards = [], [], [], []
    for t in range(20):
        state = torch.randn(4)
        dist = torch.distributions.Categorical(logits=policy(state))
        action = dist.sample()
        states.append(state)
        actions.append(action)
        log_probs.append(dist.log_prob(action))
        rewards.append(torch.randn(()).item())
    old = torch.stack(log_probs).detach()
    batch, taken, advantage = torch.stack(states), torch.stack(actions), torch.tensor(rewards)
    for epoch in range(4):
        new = torch.distributions.Categorical(logits=policy(batch)).log_prob(taken)
        ratio = (new - old).exp()
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    )


def test_penalty_gets_its_graph() -> None:
    check(
        """
import torch
from torch import nn

critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4)


def gradient_penalty(real, fake):
    mix = torch.rand(real.size(0), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(between)
    grad = torch.autograd.grad(score.sum(), between)[0]
#          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS407: this term of the loss trains nothing
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


for _ in range(5):
    real, fake = torch.randn(8, 2), torch.randn(8, 2)
    loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(real, fake)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        """
import torch
from torch import nn

critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4)


def gradient_penalty(real, fake):
    mix = torch.rand(real.size(0), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(between)
    grad = torch.autograd.grad(score.sum(), between, create_graph=True)[0]
    return ((grad.norm(2, dim=1) - 1) ** 2).mean()


for _ in range(5):
    real, fake = torch.randn(8, 2), torch.randn(8, 2)
    loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(real, fake)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    )


def test_a_state_that_another_file_gathers_is_named_as_it_is_there() -> None:
    client = """
        import torch


        def update(model):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss = model(torch.randn(8, 4)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return model.state_dict(), loss.item()
    """
    server = """
        from torch import nn

        from client import update

        model, states = nn.Linear(4, 1), []
        for _ in range(3):
            weights, _ = update(model)
            states.append(weights)
        print(states)
    """
    found = analyze(textwrap.dedent(server), client=textwrap.dedent(client)).diagnostics
    assert [(item.code, item.path.rpartition("/")[2]) for item in found] == [("TS517", "client.py")]
    assert "`states`" in found[0].message
