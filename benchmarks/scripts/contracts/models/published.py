"""Blocks of convolutional, recurrent, graph and speech models, in the styles in which they are published."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def conv3x3(in_planes, out_planes, stride=1, groups=1):
    return nn.Conv2d(in_planes, out_planes, kernel_size=3, stride=stride, padding=1, groups=groups, bias=False)


def make_divisible(v, divisor):
    return max(divisor, int(v + divisor / 2) // divisor * divisor)


class ConvBNAct(nn.Sequential):
    def __init__(self, in_planes, out_planes, kernel_size=3, stride=1, groups=1):
        padding = (kernel_size - 1) // 2
        super().__init__(
            nn.Conv2d(in_planes, out_planes, kernel_size, stride, padding, groups=groups, bias=False),
            nn.BatchNorm2d(out_planes),
            nn.ReLU6(inplace=True),
        )


class MBConv(nn.Module):
    def __init__(self, inp, oup, stride, expand_ratio):
        super().__init__()
        hidden = inp * expand_ratio
        self.use_res = stride == 1 and inp == oup
        self.conv = nn.Sequential(
            ConvBNAct(inp, hidden, 1), ConvBNAct(hidden, hidden, 3, stride, hidden), nn.Conv2d(hidden, oup, 1, bias=False), nn.BatchNorm2d(oup)
        )

    def forward(self, x):
        return x + self.conv(x) if self.use_res else self.conv(x)


class ECALayer(nn.Module):
    def __init__(self, k_size=3):
        super().__init__()
        self.avg_pool = nn.AdaptiveAvgPool2d(1)
        self.conv = nn.Conv1d(1, 1, kernel_size=k_size, padding=(k_size - 1) // 2, bias=False)

    def forward(self, x):
        y = self.avg_pool(x)
        y = self.conv(y.squeeze(-1).transpose(-1, -2)).transpose(-1, -2).unsqueeze(-1)
        return x * torch.sigmoid(y).expand_as(x)


class CoordAtt(nn.Module):
    def __init__(self, inp, oup, reduction=8):
        super().__init__()
        mip = max(8, inp // reduction)
        self.conv1 = nn.Conv2d(inp, mip, 1)
        self.bn1 = nn.BatchNorm2d(mip)
        self.conv_h = nn.Conv2d(mip, oup, 1)
        self.conv_w = nn.Conv2d(mip, oup, 1)

    def forward(self, x):
        n, c, h, w = x.size()
        x_h = x.mean(dim=3, keepdim=True)
        x_w = x.mean(dim=2, keepdim=True).permute(0, 1, 3, 2)
        y = F.relu(self.bn1(self.conv1(torch.cat([x_h, x_w], dim=2))))
        x_h, x_w = torch.split(y, [h, w], dim=2)
        return self.conv_h(x_h).sigmoid(), self.conv_w(x_w.permute(0, 1, 3, 2)).sigmoid()


class ASPP(nn.Module):
    def __init__(self, in_channels, out_channels, rates=(1, 6, 12)):
        super().__init__()
        self.branches = nn.ModuleList(nn.Conv2d(in_channels, out_channels, 3, padding=r, dilation=r) for r in rates)
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(in_channels, out_channels, 1))
        self.project = nn.Conv2d(out_channels * (len(rates) + 1), out_channels, 1)

    def forward(self, x):
        out = [branch(x) for branch in self.branches]
        out.append(F.interpolate(self.pool(x), size=x.shape[2:], mode="bilinear", align_corners=False))
        return self.project(torch.cat(out, dim=1))


class FPN(nn.Module):
    def __init__(self, c3, c4, c5, out_channels):
        super().__init__()
        self.l3, self.l4, self.l5 = nn.Conv2d(c3, out_channels, 1), nn.Conv2d(c4, out_channels, 1), nn.Conv2d(c5, out_channels, 1)

    def forward(self, p3, p4, p5):
        t5 = self.l5(p5)
        t4 = self.l4(p4) + F.interpolate(t5, scale_factor=2, mode="nearest")
        t3 = self.l3(p3) + F.interpolate(t4, scale_factor=2, mode="nearest")
        return t3, t4, t5


class PixelShuffleUp(nn.Module):
    def __init__(self, n_feats, scale):
        super().__init__()
        self.conv = nn.Conv2d(n_feats, n_feats * scale * scale, 3, padding=1)
        self.shuffle = nn.PixelShuffle(scale)

    def forward(self, x):
        return self.shuffle(self.conv(x))


class Focus(nn.Module):
    def __init__(self, c1, c2):
        super().__init__()
        self.conv = nn.Conv2d(c1 * 4, c2, 1)

    def forward(self, x):
        return self.conv(torch.cat((x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]), 1))


class WindowPartition(nn.Module):
    def __init__(self, window_size):
        super().__init__()
        self.window_size = window_size

    def forward(self, x):
        B, H, W, C = x.shape
        x = x.view(B, H // self.window_size, self.window_size, W // self.window_size, self.window_size, C)
        return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, self.window_size, self.window_size, C)


class PatchMerging(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = nn.LayerNorm(4 * dim)

    def forward(self, x):
        B, H, W, C = x.shape
        assert H % 2 == 0 and W % 2 == 0
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        return self.reduction(self.norm(x.view(B, -1, 4 * C)))


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, input, adj):
        return torch.spmm(adj, torch.mm(input, self.weight)) + self.bias


class GraphAttention(nn.Module):
    def __init__(self, in_features, out_features, alpha=0.2):
        super().__init__()
        self.W = nn.Parameter(torch.randn(in_features, out_features))
        self.a = nn.Parameter(torch.randn(2 * out_features, 1))
        self.out_features, self.alpha = out_features, alpha

    def forward(self, h, adj):
        Wh = torch.mm(h, self.W)
        left, right = torch.matmul(Wh, self.a[: self.out_features]), torch.matmul(Wh, self.a[self.out_features :])
        e = F.leaky_relu(left + right.T, self.alpha)
        attention = torch.where(adj > 0, e, torch.full_like(e, -9e15)).softmax(dim=1)
        return F.elu(attention @ Wh)


class TextCNN(nn.Module):
    def __init__(self, vocab_size, embed_dim, num_filters, num_classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.convs = nn.ModuleList([nn.Conv2d(1, num_filters, (k, embed_dim)) for k in (2, 3, 4)])
        self.fc = nn.Linear(num_filters * 3, num_classes)

    def forward(self, tokens):
        x = self.embedding(tokens).unsqueeze(1)
        x = [F.relu(conv(x)).squeeze(3) for conv in self.convs]
        x = [F.max_pool1d(one, one.size(2)).squeeze(2) for one in x]
        return self.fc(torch.cat(x, 1))


class CRNNHead(nn.Module):
    def __init__(self, in_channels, hidden, n_classes):
        super().__init__()
        self.rnn = nn.LSTM(in_channels, hidden, bidirectional=True)
        self.fc = nn.Linear(hidden * 2, n_classes)

    def forward(self, features):
        b, c, h, w = features.size()
        assert h == 1, "the height must be 1"
        x = features.squeeze(2).permute(2, 0, 1)
        x, _ = self.rnn(x)
        t, b, h = x.size()
        return self.fc(x.view(t * b, h)).view(t, b, -1)


class GatedResidual(nn.Module):
    def __init__(self, residual_channels, skip_channels, kernel_size, dilation):
        super().__init__()
        self.conv = nn.Conv1d(residual_channels, 2 * residual_channels, kernel_size, padding=(kernel_size - 1) * dilation, dilation=dilation)
        self.res = nn.Conv1d(residual_channels, residual_channels, 1)
        self.skip = nn.Conv1d(residual_channels, skip_channels, 1)

    def forward(self, x):
        length = x.size(2)
        tanh, gate = self.conv(x)[:, :, :length].chunk(2, dim=1)
        z = torch.tanh(tanh) * torch.sigmoid(gate)
        return self.res(z) + x, self.skip(z)


class SeriesDecomp(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.kernel_size = kernel_size
        self.avg = nn.AvgPool1d(kernel_size=kernel_size, stride=1, padding=0)

    def forward(self, x):
        front = x[:, 0:1, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        mean = self.avg(torch.cat([front, x, end], dim=1).permute(0, 2, 1)).permute(0, 2, 1)
        return x - mean, mean


class PointNetFeat(nn.Module):
    def __init__(self, channel, global_feat):
        super().__init__()
        self.conv1 = nn.Conv1d(channel, 64, 1)
        self.conv2 = nn.Conv1d(64, global_feat, 1)
        self.bn = nn.BatchNorm1d(global_feat)

    def forward(self, x):
        n = x.size(2)
        point = F.relu(self.conv1(x))
        x = torch.max(self.bn(self.conv2(point)), 2, keepdim=True)[0].view(-1, self.conv2.out_channels)
        return torch.cat([x.unsqueeze(2).repeat(1, 1, n), point], 1)


class VectorQuantizer(nn.Module):
    def __init__(self, n_e, e_dim):
        super().__init__()
        self.embedding = nn.Embedding(n_e, e_dim)
        self.e_dim = e_dim

    def forward(self, z):
        z = z.permute(0, 2, 3, 1).contiguous()
        flat = z.view(-1, self.e_dim)
        d = flat.pow(2).sum(1, keepdim=True) + self.embedding.weight.pow(2).sum(1) - 2 * flat @ self.embedding.weight.t()
        indices = torch.argmin(d, dim=1)
        z_q = self.embedding(indices).view(z.shape)
        return z_q.permute(0, 3, 1, 2).contiguous(), indices


class FactorizationMachine(nn.Module):
    def __init__(self, num_fields, embed_dim):
        super().__init__()
        self.linear = nn.Linear(num_fields * embed_dim, 1)

    def forward(self, x):
        square_of_sum = torch.sum(x, dim=1) ** 2
        sum_of_square = torch.sum(x**2, dim=1)
        return 0.5 * (square_of_sum - sum_of_square).sum(1, keepdim=True) + self.linear(x.flatten(1))


class DuelingHead(nn.Module):
    def __init__(self, n_features, n_actions):
        super().__init__()
        self.value = nn.Linear(n_features, 1)
        self.advantage = nn.Linear(n_features, n_actions)

    def forward(self, features):
        advantage = self.advantage(features)
        return self.value(features) + advantage - advantage.mean(dim=1, keepdim=True)
