"""Weights that are computed: a hypernetwork, FiLM conditioning, dynamic convolution, grouped parameters, buffers, unfold."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class HyperLinear(nn.Module):
    """A linear layer whose weight depends on a context vector."""

    def __init__(self, d_in, d_out, d_context):
        super().__init__()
        self.d_in, self.d_out = d_in, d_out
        self.weight_gen = nn.Linear(d_context, d_in * d_out)
        self.bias_gen = nn.Linear(d_context, d_out)

    def forward(self, x, context):
        weight = self.weight_gen(context).view(-1, self.d_out, self.d_in)
        bias = self.bias_gen(context)
        return torch.baddbmm(bias.unsqueeze(1), x, weight.transpose(1, 2))


class FiLM(nn.Module):
    def __init__(self, channels, d_context):
        super().__init__()
        self.to_scale_shift = nn.Linear(d_context, channels * 2)

    def forward(self, x, context):
        scale, shift = self.to_scale_shift(context).chunk(2, dim=-1)
        return x * (1 + scale[..., None, None]) + shift[..., None, None]


class DynamicConv(nn.Module):
    def __init__(self, channels, kernel=3, experts=3):
        super().__init__()
        self.kernel = kernel
        self.weight = nn.Parameter(torch.randn(experts, channels, channels, kernel, kernel) * 0.1)
        self.router = nn.Linear(channels, experts)

    def forward(self, x):
        b, c, h, w = x.shape
        attention = self.router(x.mean(dim=(2, 3))).softmax(-1)
        weight = torch.einsum("be,eoikl->boikl", attention, self.weight)
        weight = weight.reshape(b * c, c, self.kernel, self.kernel)
        out = F.conv2d(x.reshape(1, b * c, h, w), weight, padding=self.kernel // 2, groups=b)
        return out.view(b, c, h, w)


class LocalAttention(nn.Module):
    """Attention to the k×k neighbourhood by unfold."""

    def __init__(self, channels, k=3):
        super().__init__()
        self.k = k
        self.q, self.kv = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, 2 * channels, 1)
        self.register_parameter("temperature", nn.Parameter(torch.ones(1)))

    def forward(self, x):
        b, c, h, w = x.shape
        q = self.q(x).view(b, c, 1, h * w)
        k, v = self.kv(x).chunk(2, 1)
        pad = self.k // 2
        k = F.unfold(k, self.k, padding=pad).view(b, c, self.k ** 2, h * w)
        v = F.unfold(v, self.k, padding=pad).view(b, c, self.k ** 2, h * w)
        attn = ((q * k).sum(1, keepdim=True) * self.temperature / c ** 0.5).softmax(dim=2)
        return (attn * v).sum(2).view(b, c, h, w)


class SpatialTransformer(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.localization = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(channels * 4, 6))
        self.localization[-1].weight.data.zero_()
        self.localization[-1].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

    def forward(self, x):
        theta = self.localization(x).view(-1, 2, 3)
        grid = F.affine_grid(theta, list(x.size()), align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


class Net(nn.Module):
    def __init__(self, channels=8, d_context=6, classes=4):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, stride=2, padding=1)
        self.stn = SpatialTransformer(channels)
        self.film = FiLM(channels, d_context)
        self.blocks = nn.ModuleDict({"dynamic": DynamicConv(channels), "local": LocalAttention(channels)})
        self.scales = nn.ParameterList([nn.Parameter(torch.tensor(0.5)) for _ in self.blocks])
        self.hyper = HyperLinear(channels, classes, d_context)
        self.register_buffer("steps", torch.tensor(0, dtype=torch.long))

    def forward(self, images, context):
        x = self.stn(F.relu(self.stem(images)))
        x = self.film(x, context)
        for scale, (name, block) in zip(self.scales, self.blocks.items()):
            x = x + scale * block(x)
        if self.training:
            self.steps += 1
        tokens = x.flatten(2).transpose(1, 2)
        return self.hyper(tokens, context).mean(dim=1)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    images, context = torch.rand(5, 3, 12, 12), torch.randn(5, 6)
    labels = context[:, :4].argmax(1)
    loss = F.cross_entropy(net(images, context), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(int(net.steps), loss.item())
