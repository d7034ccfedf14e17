"""Modules that hand on what they are given: to a parent, to other classes, to a layer of the library that they are."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, in_channels, channels, *, num_classes, dropout=0.1):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, channels, 1)
        self.out = nn.Conv2d(channels, num_classes, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.out(self.dropout(self.conv(x)))


class PooledHead(Head):
    def __init__(self, pool_scale, **kwargs):
        super().__init__(**kwargs)
        self.pool = nn.AdaptiveAvgPool2d(pool_scale)

    def forward(self, x):
        return self.pool(super().forward(x))


class ConvNorm(nn.Module):
    def __init__(self, in_channels, out_channels, stride=1, norm_layer=nn.BatchNorm2d, act_cfg=None):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, stride, padding=1)
        self.norm = norm_layer(out_channels)
        self.act = nn.ReLU() if act_cfg is None else act_cfg()

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


class Stage(nn.Module):
    def __init__(self, in_channels, out_channels, stride, norm_layer, act_cfg):
        super().__init__()
        self.act_cfg = act_cfg
        self.first = ConvNorm(in_channels, out_channels, stride, norm_layer=norm_layer, act_cfg=act_cfg)
        self.second = self.make(out_channels, norm_layer)

    def make(self, channels, layer):
        return ConvNorm(channels, channels, norm_layer=layer, act_cfg=self.act_cfg)

    def forward(self, x):
        return self.second(self.first(x))


class StandardizedConv2d(nn.Conv2d):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1):
        super().__init__(in_channels, out_channels, kernel_size, stride=stride, padding=1, bias=False)

    def forward(self, x):
        weight = F.batch_norm(self.weight.reshape(1, self.out_channels, -1), None, None, training=True)
        return F.conv2d(x, weight.reshape_as(self.weight), self.bias, self.stride, self.padding, self.dilation, self.groups)


class StandardizedBlock(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.down = StandardizedConv2d(width, hidden, 3, 2)
        self.up = StandardizedConv2d(hidden, width, 3)

    def forward(self, x):
        return self.up(self.down(x))


class VideoHead(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        steps = [nn.Conv3d(4 if step else 3, 4, 3, stride=(1, 2, 2), padding=1) for step in range(2)]
        self.body = nn.Sequential(*steps)
        self.pool = nn.AvgPool3d((2, 7, 7), stride=1)
        self.out = nn.Conv3d(4, num_classes, 1)

    def forward(self, x):
        return self.out(self.pool(self.body(x))).mean(dim=(2, 3, 4))


class EmbeddedBlock(nn.Module):
    def __init__(self, channels, emb_channels):
        super().__init__()
        self.into = nn.Conv2d(channels, channels, 3, padding=1)
        self.embedding = nn.Linear(emb_channels, channels)

    def forward(self, x, emb):
        shift = self.embedding(emb)
        while len(shift.shape) < len(x.shape):
            shift = shift[..., None]
        return x + self.into(self.into(x) + shift)


class DistillingLayer(nn.Module):
    def __init__(self, c_in):
        super().__init__()
        self.conv = nn.Conv1d(c_in, c_in, kernel_size=3, padding=2, padding_mode="circular")
        self.norm = nn.BatchNorm1d(c_in)
        self.pool = nn.MaxPool1d(kernel_size=3, stride=2, padding=1)

    def forward(self, x):
        return self.pool(F.elu(self.norm(self.conv(x.permute(0, 2, 1))))).transpose(1, 2)


class MarginLoss(nn.Module):
    def __init__(self, size, num_classes):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, num_classes))
        self.num_classes = num_classes
        self.loss = nn.CrossEntropyLoss()

    def forward(self, hidden, labels):
        cosine = torch.mm(F.normalize(hidden, dim=1), F.normalize(self.weight, dim=0))
        marked = F.one_hot(labels.flatten(), self.num_classes)
        return self.loss(torch.where(marked.bool(), cosine - 0.4, cosine), labels.flatten())
