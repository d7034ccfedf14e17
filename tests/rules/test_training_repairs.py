"""Repairs of lost and reused graphs, and of training loops: what the first fix makes of a script."""

from __future__ import annotations

from tests.rules.test_repairs import repaired


def test_a_generator_that_the_loop_does_not_train_is_cut_off() -> None:
    text = """
        import torch
        from torch import nn

        gen, critic = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), nn.Linear(2, 1)
        opt_g = torch.optim.Adam(gen.parameters())
        opt_c = torch.optim.Adam(critic.parameters())
        for _ in range(5):
            fake = gen(torch.randn(16, 4))
            for _ in range(3):
                loss = critic(fake).mean() - critic(torch.randn(16, 2)).mean()
                opt_c.zero_grad()
                loss.backward()
                opt_c.step()
            opt_g.zero_grad()
            (-critic(fake).mean()).backward()
            opt_g.step()
    """
    assert "loss = critic(fake.detach()).mean()" in repaired(text)


def test_what_a_method_computes_once_is_computed_in_each_round() -> None:
    text = """
        import torch
        from torch import nn

        class Matcher(nn.Module):
            def __init__(self):
                super().__init__()
                self.image, self.attribute = nn.Linear(20, 8), nn.Linear(6, 8)
                self.refresh()

            def refresh(self):
                self.classes = torch.tanh(self.attribute(torch.ones(5, 6)))

            def forward(self, x):
                return self.image(x) @ self.classes.t()

        model = Matcher()
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(10):
            loss = nn.functional.cross_entropy(model(torch.randn(8, 20)), torch.randint(0, 5, (8,)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    assert "for _ in range(10):\n    model.refresh()\n" in repaired(text)


def test_a_distance_in_numpy_becomes_one_in_torch() -> None:
    text = """
        import numpy as np
        import torch
        from torch import nn

        def distance(a, b):
            a, b = a.detach().numpy(), b.detach().numpy()
            return torch.from_numpy(np.linalg.norm(a - b, axis=1))

        net = nn.Linear(6, 3)
        loss = distance(net(torch.randn(8, 6)), net(torch.randn(8, 6))).mean()
        loss.backward()
    """
    assert "    a, b = a, b\n    return torch.linalg.norm(a - b, axis=1)\n" in repaired(text)
