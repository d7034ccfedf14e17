"""Modules that take several numbers, in tuples and lists, whose numbers decide branches, and inputs that are lists."""

from collections.abc import Sequence
from typing import List, Optional, Tuple, Union

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

try:
    from a_package_that_is_not_there import FusedNorm
except ImportError:
    FusedNorm = nn.LayerNorm

Tens = torch.Tensor


class TemporalBottleneck(nn.Module):
    def __init__(self, dim_in, dim_out, temp_kernel_size, stride, dim_inner, num_groups, dilation=1):
        super().__init__()
        self.a = nn.Conv3d(
            dim_in,
            dim_inner,
            kernel_size=[temp_kernel_size, 1, 1],
            stride=[1, 1, 1],
            padding=[int(temp_kernel_size // 2), 0, 0],
            bias=False,
        )
        self.a_bn = nn.BatchNorm3d(num_features=dim_inner, eps=1e-5, momentum=0.1)
        self.b = nn.Conv3d(
            dim_inner,
            dim_inner,
            [1, 3, 3],
            stride=[1, stride, stride],
            padding=[0, dilation, dilation],
            groups=num_groups,
            dilation=[1, dilation, dilation],
        )
        self.c = nn.Conv3d(dim_inner, dim_out, kernel_size=[1, 1, 1], stride=[1, 1, 1], padding=[0, 0, 0])
        self.c.final_conv = True

    def forward(self, x):
        x = F.relu(self.a_bn(self.a(x)))
        x = F.relu(self.b(x))
        return self.c(x)


class StripConv(nn.Module):
    def __init__(self, channels: int, kernel: int):
        super().__init__()
        self.row = nn.Conv2d(channels, channels, (1, kernel), padding=(0, kernel // 2), groups=channels)
        self.column = nn.Conv2d(channels, channels, [kernel, 1], padding=[kernel // 2, 0], groups=channels)

    def forward(self, x):
        return self.column(self.row(x))


class WindowAttention(nn.Module):
    def __init__(self, dim: int, window_size: Tuple[int, int], num_heads: int):
        super().__init__()
        self.window_size = window_size
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.table = nn.Parameter(torch.zeros((2 * window_size[0] - 1) * (2 * window_size[1] - 1), num_heads))
        h, w = torch.meshgrid(torch.arange(window_size[0]), torch.arange(window_size[1]), indexing="ij")
        at = torch.stack([h, w]).flatten(1)
        relative = (at[:, :, None] - at[:, None, :]).permute(1, 2, 0).contiguous()
        relative[:, :, 0] += window_size[0] - 1
        relative[:, :, 1] += window_size[1] - 1
        relative[:, :, 0] *= 2 * window_size[1] - 1
        self.register_buffer("index", relative.sum(-1))
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.table[self.index.view(-1)].view(
            self.window_size[0] * self.window_size[1], self.window_size[0] * self.window_size[1], -1
        )
        attn = (attn + bias.permute(2, 0, 1).unsqueeze(0)).softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class Pooled(nn.Module):
    def __init__(self, dim: int, out: int):
        super().__init__()
        self.proj = nn.Linear(dim, out)

    def forward(self, x: Tensor, size: Tuple[int, int]) -> Tensor:
        B, N, C = x.shape
        H, W = size
        return self.proj(x.transpose(1, 2).reshape(B, C, H, W).mean((2, 3)))


class QNet(nn.Module):
    def __init__(self, net_dims: List[int], state_dim: int, action_dim: int):
        super().__init__()
        dims = [state_dim, *net_dims, action_dim]
        layers = []
        for i in range(len(dims) - 1):
            layers += [nn.Linear(dims[i], dims[i + 1]), nn.ReLU()]
        self.net = nn.Sequential(*layers[:-1])

    def forward(self, state: Tens) -> Tens:
        return self.net(state)


class Pyramid(nn.Module):
    def __init__(self, in_channels, num_anchors):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, in_channels, 3, padding=1)
        self.box = nn.Conv2d(in_channels, num_anchors * 4, 3, padding=1)

    def forward(self, x):
        found = []
        for features in x:
            boxes = self.box(F.relu(self.conv(features)))
            N, _, H, W = boxes.shape
            boxes = boxes.view(N, -1, 4, H, W).permute(0, 3, 4, 1, 2)
            found.append(boxes.reshape(N, -1, 4))
        return torch.cat(found, dim=1)


class Fusion(nn.Module):
    def __init__(self, channels: List[int], out: int):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(c, out, 1) for c in channels])

    def forward(self, xs: List[Tensor]) -> Tensor:
        total = 0
        for layer, x in zip(self.layers, xs):
            total = total + layer(x)
        return total


class EncoderBlock(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, stride: int):
        super().__init__()
        kernel = 3 if stride == 1 else (2 * stride)
        padding = (kernel - 1) // 2
        self.conv = nn.Conv1d(in_channels, out_channels, kernel_size=kernel, stride=stride, padding=padding)

    def forward(self, hidden_state):
        return self.conv(hidden_state)


class RepLayer(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int, branches: int):
        super().__init__()
        same = out_channels == in_channels and stride == 1
        self.identity = nn.BatchNorm2d(in_channels) if same else None
        padding = (kernel_size - 1) // 2
        self.convs = nn.ModuleList(
            [nn.Conv2d(in_channels, out_channels, kernel_size, stride, padding) for _ in range(branches)]
        )
        self.small = nn.Conv2d(in_channels, out_channels, 1, stride) if kernel_size > 1 else None

    def forward(self, x):
        output = None
        if self.identity is not None:
            output = self.identity(x)
        if self.small is not None:
            residual = self.small(x)
            output = residual if output is None else output + residual
        for conv in self.convs:
            residual = conv(x)
            output = residual if output is None else output + residual
        return output


class Normed(nn.Module):
    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.norm = FusedNorm(dim)
        self.fc = nn.Linear(dim, hidden)

    def forward(self, x):
        return self.fc(self.norm(x))


class ASPP(nn.Module):
    def __init__(self, in_ch, out_ch, rates):
        super().__init__()
        self.stages = nn.Module()
        self.stages.add_module("c0", nn.Conv2d(in_ch, out_ch, 1))
        for i, rate in enumerate(rates):
            self.stages.add_module(f"c{i + 1}", nn.Conv2d(in_ch, out_ch, 3, 1, padding=rate, dilation=rate))

    def forward(self, x):
        return torch.cat([stage(x) for stage in self.stages.children()], dim=1)


class GridEmbed(nn.Module):
    def __init__(self, grid: Tuple[int, int], patch: int, dim: int):
        super().__init__()
        self.proj = nn.Conv2d(3, dim, patch, patch)
        self.pos = nn.Parameter(torch.zeros(1, grid[0] * grid[1], dim))

    def forward(self, x):
        return self.proj(x).flatten(2).transpose(1, 2) + self.pos


class Scaled(nn.Module):
    def __init__(self, channels: int, size: Union[int, Tuple[int, int]]):
        super().__init__()
        self.size = size
        self.conv = nn.Conv2d(channels, 2 * channels, 1)

    def forward(self, x):
        return F.interpolate(self.conv(x), size=self.size)


class Positions(nn.Module):
    def __init__(self, length: int, dim: int, scale: Optional[int]):
        super().__init__()
        self.table = nn.Embedding(length, dim)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table(torch.arange(x.shape[1]))


class Stages(nn.Module):
    def __init__(self, widths: Sequence[int], classes: int):
        super().__init__()
        layers, before = [], 3
        for width in widths:
            layers += [nn.Conv2d(before, width, 3, 2, 1), nn.ReLU()]
            before = width
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(before, classes)

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class Crop(nn.Module):
    def __init__(self, channels: int, margin: Tuple[int, int, int, int]):
        super().__init__()
        self.margin = margin
        self.conv = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        return self.conv(F.pad(x, self.margin))


class Switch(nn.Module):
    def __init__(self, dim: int, stride: int, norm: Optional[str] = None):
        super().__init__()
        self.pool = nn.AvgPool1d(stride) if stride != 1 else nn.Identity()
        self.fc = nn.Conv1d(dim, dim, 1)

    def forward(self, x):
        return self.fc(self.pool(x))


class Ratio(nn.Module):
    def __init__(self, dim: int, ratio: float = 0.25, width: int = 2):
        super().__init__()
        hidden = max(4, int(dim * ratio) * width)
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x))), self.fc1(x)
