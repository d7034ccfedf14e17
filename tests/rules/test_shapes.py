"""TS1xx: found where eager PyTorch fails, with its numbers; silent where it runs."""

from __future__ import annotations

from tests.check import check


def test_linear_after_flatten_names_the_layer_and_both_sizes() -> None:
    check(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 16, 3, padding=1)
                self.fc = nn.Linear(8192, 10)

            def forward(self, x):
                x = self.conv(x).flatten(1)
                return self.fc(x)
        #              ^^^^^^^^^^ TS101: (64, 16384): its last size 16384 does not fit `fc` (Linear), which was built with in_features=8192

        Net()(torch.randn(64, 3, 32, 32))
        """,
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 16, 3, padding=1)
                self.fc = nn.Linear(16384, 10)

            def forward(self, x):
                x = self.conv(x).flatten(1)
                return self.fc(x)

        Net()(torch.randn(64, 3, 32, 32))
        """,
    )


def test_the_fix_goes_to_the_call_that_passed_the_number() -> None:
    check(
        """
        import torch
        from torch import nn

        def stage(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU())

        net = nn.Sequential(stage(3, 8), stage(4, 16))
        y = net(torch.randn(2, 3, 8, 8))
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS102: with 8 channels, but Conv2d was built with in_channels=4
        """,
        """
        import torch
        from torch import nn

        def stage(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU())

        net = nn.Sequential(stage(3, 8), stage(8, 16))
        y = net(torch.randn(2, 3, 8, 8))
        """,
    )


def test_matmul_of_plain_tensors() -> None:
    check(
        """
        import torch
        a, b = torch.randn(32, 512), torch.randn(256, 10)
        c = torch.mm(a, b)
        #   ^^^^^^^^^^^^^^ TS101: `a` is (32, 512) and `b` is (256, 10): inner sizes 512 and 256 differ
        """
    )


def test_matmul_that_wants_a_transpose() -> None:
    check(
        """
        import torch
        q, k = torch.randn(8, 64), torch.randn(10, 64)
        s = q @ k
        #   ^^^^^ TS101: inner sizes 64 and 10 differ
        """,
        """
        import torch
        q, k = torch.randn(8, 64), torch.randn(10, 64)
        s = q @ k.T
        """,
    )


def test_channels_last_image_is_permuted() -> None:
    check(
        """
        import torch
        from torch import nn
        image = torch.rand(4, 32, 32, 3)
        y = nn.Conv2d(3, 8, 3)(image)
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^ TS102: `image` is (4, 32, 32, 3) with 32 channels
        """,
        """
        import torch
        from torch import nn
        image = torch.rand(4, 32, 32, 3)
        y = nn.Conv2d(3, 8, 3)(image.permute(0, 3, 1, 2))
        """,
    )


def test_view_with_a_hard_coded_batch() -> None:
    check(
        """
        import torch
        x = torch.randn(32, 8, 4, 4)
        y = x.view(64, 128)
        #   ^^^^^^^^^^^^^^^ TS104: `x` is (32, 8, 4, 4), 4096 elements, which view(64, 128) cannot arrange
        """,
        """
        import torch
        x = torch.randn(32, 8, 4, 4)
        y = x.view(x.size(0), 128)
        """,
        title="Change 64 to x.size(0)",
    )


def test_view_after_transpose() -> None:
    check(
        """
        import torch
        x = torch.randn(2, 3, 4)
        y = x.transpose(1, 2).view(2, 12)
        #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS105: not contiguous
        """,
        """
        import torch
        x = torch.randn(2, 3, 4)
        y = x.transpose(1, 2).reshape(2, 12)
        """,
    )


def test_norm_takes_the_parameter_of_its_scope() -> None:
    check(
        """
        import torch
        from torch import nn

        class Block(nn.Module):
            def __init__(self, inside, outside):
                super().__init__()
                self.conv = nn.Conv2d(inside, inside, 3, padding=1)
                self.norm = nn.BatchNorm2d(outside)

            def forward(self, x):
                return self.norm(self.conv(x))
        #              ^^^^^^^^^^^^^^^^^^^^^^^ TS109: 24

        Block(24, 48)(torch.randn(2, 24, 8, 8))
        """,
        """
        import torch
        from torch import nn

        class Block(nn.Module):
            def __init__(self, inside, outside):
                super().__init__()
                self.conv = nn.Conv2d(inside, inside, 3, padding=1)
                self.norm = nn.BatchNorm2d(inside)

            def forward(self, x):
                return self.norm(self.conv(x))

        Block(24, 48)(torch.randn(2, 24, 8, 8))
        """,
    )


def test_symbolic_sizes_flow_and_conflict() -> None:
    check(
        """
        import torch
        from torch import nn

        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(64, 32)
                self.b = nn.Linear(16, 8)

            def forward(self, x):
                B, T, C = x.shape
                return self.b(self.a(x))
        #              ^^^^^^^^^^^^^^^^^ TS101: (B, T, 32): its last size 32 does not fit `b`
        """
    )


def test_unknown_means_silent() -> None:
    check(
        """
        import sys
        import torch
        from torch import nn
        from somewhere import load, width

        layer = nn.Linear(width, 10)
        layer(torch.randn(4, 7))
        x = load(sys.argv[1])
        torch.mm(x, torch.randn(3, 3))
        nn.Linear(5, 5)(x.view(-1, int(sys.argv[2])))
        if len(sys.argv) > 3:
            y = torch.randn(2, 3)
        else:
            y = torch.randn(2, 4)
        torch.mm(y, torch.randn(4, 2))
        try:
            torch.mm(torch.randn(2, 3), torch.randn(2, 3))
        except RuntimeError:
            pass
        mask = x > 0
        nn.Linear(3, 3)(x[mask])
        """
    )


def test_across_files() -> None:
    check(
        """
        import torch
        from model import Net
        Net(12)(torch.randn(2, 12))
        """,
        model="from torch import nn\nclass Net(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.fc = nn.Linear(n, 3)\n    def forward(self, x):\n        return self.fc(x)\n",
    )
