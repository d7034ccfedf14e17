"""Repairs that take more than one number: what the first fix, or the one that is named, makes of a script."""

from __future__ import annotations

from textwrap import dedent

from tests.check import engine
from torchsleuth.syntax.text import SourceText


def repaired(text: str, title: str = "") -> str:
    """A script after the first fix whose title has these words."""
    text = dedent(text).lstrip("\n")
    found = engine().analyze("script.py", text).diagnostics
    fix = next(fix for diagnostic in found for fix in diagnostic.fixes if title in fix.title)
    return SourceText("script.py", text).apply(fix.edits)


def test_a_width_that_is_summed_up_gets_what_it_lacks() -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self, sizes, numbers):
                super().__init__()
                width = sum(sizes)
                layers = []
                for hidden in (32, 16):
                    layers += [nn.Linear(width, hidden), nn.ReLU()]
                    width = hidden
                self.mlp = nn.Sequential(*layers)

            def forward(self, parts, x):
                return self.mlp(torch.cat([*parts, x], dim=1))

        net = Net([4, 6], 5)
        out = net([torch.randn(8, 4), torch.randn(8, 6)], torch.randn(8, 5))
    """
    assert "width = sum(sizes) + numbers\n" in repaired(text)


def test_two_findings_of_one_kind_are_repaired_together() -> None:
    text = """
        import torch
        from torch import nn

        rows = torch.randn(50, 3)
        users, items = nn.Embedding(40, 8), nn.Embedding(60, 8)
        u, i = rows[:, 0], rows[:, 1]
        scores = (users(u) * items(i)).sum(1)
    """
    assert "(users(u.long()) * items(i.long()))" in repaired(text, "with 1 more of this kind")


def test_height_and_width_of_a_view_change_together() -> None:
    text = """
        import torch
        from torch import nn

        h = nn.Linear(12, 32 * 7 * 7)(torch.randn(30, 12))
        image = nn.ConvTranspose2d(32, 1, 4)(h.view(-1, 32, 8, 8))
    """
    assert "h.view(-1, 32, 7, 7)" in repaired(text)


def test_a_row_of_features_joins_a_map() -> None:
    text = """
        import torch

        z, c = torch.randn(12, 20, 4, 4), torch.randn(12, 6)
        x = torch.cat((z, c), dim=1)
    """
    assert "(z, c[:, :, None, None].expand(-1, -1, *z.shape[2:]))" in repaired(text)


def test_a_model_gets_its_image_as_a_batch() -> None:
    text = """
        import torch
        from torch import nn

        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
        image = torch.rand(3, 24, 24)
        out = model(image)
    """
    assert "model(image.unsqueeze(0))" in repaired(text)


def test_a_pool_in_a_loop_rounds_up() -> None:
    text = """
        import torch
        from torch import nn

        layers = []
        for _ in range(5):
            layers += [nn.Conv2d(1, 1, 3, padding=1), nn.MaxPool2d(2)]
        net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(1, 10))
        out = net(torch.rand(8, 1, 28, 28))
    """
    assert "nn.MaxPool2d(2, ceil_mode=True)" in repaired(text)


def test_a_shortcut_gets_the_stride_of_its_block() -> None:
    text = """
        import torch
        from torch import nn

        class Block(nn.Module):
            def __init__(self, cin, cout, stride):
                super().__init__()
                self.conv = nn.Conv2d(cin, cout, 3, stride=stride, padding=1)
                self.shortcut = nn.Conv2d(cin, cout, kernel_size=1, bias=False)

            def forward(self, x):
                return torch.relu(self.conv(x) + self.shortcut(x))

        out = Block(16, 32, 2)(torch.rand(4, 16, 32, 32))
    """
    assert "kernel_size=1, bias=False, stride=stride)" in repaired(text)


def test_a_forward_that_returns_nothing_gets_its_return() -> None:
    text = """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 3)

            def forward(self, x):
                x = torch.relu(self.fc(x))

        loss = nn.functional.cross_entropy(Net()(torch.randn(5, 4)), torch.randint(0, 3, (5,)))
    """
    assert "x = torch.relu(self.fc(x))\n        return x\n" in repaired(text)


def test_a_transform_that_returns_nothing_gets_its_return() -> None:
    text = """
        import torch
        from torch.utils.data import DataLoader, Dataset

        def standardize(x):
            x = (x - 5) / 3

        class Cells(Dataset):
            def __init__(self):
                self.x = torch.randn(60, 9)

            def __len__(self):
                return 60

            def __getitem__(self, i):
                return standardize(self.x[i]), i % 2

        for x, y in DataLoader(Cells(), batch_size=12):
            print(x.shape)
    """
    assert "x = (x - 5) / 3\n    return x\n" in repaired(text)


def test_what_a_loop_uses_again_is_computed_in_it() -> None:
    text = """
        import torch
        from torch import nn

        class Encoder(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(10, 16)

            def forward(self, x):
                return torch.tanh(self.fc(x))

        encoder = Encoder()
        optimizer = torch.optim.Adam(encoder.parameters())
        anchors = torch.randn(5, 10)
        prototypes = encoder(anchors)
        for step in range(4):
            x, y = torch.randn(25, 10), torch.randint(0, 5, (25,))
            loss = nn.functional.cross_entropy(encoder(x) @ prototypes.t(), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    """
    assert "for step in range(4):\n    prototypes = encoder(anchors)\n" in repaired(text)


def test_an_option_goes_out_of_the_dict_that_holds_it() -> None:
    text = """
        import torch
        from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

        data = TensorDataset(torch.randn(96, 5))
        options = {"batch_size": 16, "shuffle": True}
        options["sampler"] = WeightedRandomSampler(torch.ones(96), 96)
        loader = DataLoader(data, **options)
    """
    assert 'options = {"batch_size": 16}\n' in repaired(text)


def test_a_loop_that_evaluates_now_and_then_returns_to_training() -> None:
    text = """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset

        def accuracy(model, loader):
            model.eval()
            with torch.no_grad():
                return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)

        x, y = torch.randn(200, 20), torch.randint(0, 4, (200,))
        loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
        model = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.Dropout(0.5), nn.Linear(64, 4))
        optimizer = torch.optim.AdamW(model.parameters())
        model.train()
        for step, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            if step % 3 == 0:
                print(accuracy(model, loader))
    """
    assert "    model.train()\n    optimizer.zero_grad()\n" in repaired(text, "model.train()")
