"""Modules with configurations, records, registries and helpers, in the styles in which they are published."""

import functools
import math
from collections import OrderedDict
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


class TextConfig:
    def __init__(self, vocab_size=120, hidden_size=64, num_heads=4, ffn_size=128, max_positions=64, act="gelu", eps=1e-6, pad_token_id=0, **rest):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_heads = num_heads
        self.ffn_size = ffn_size
        self.max_positions = max_positions
        self.act = act
        self.eps = eps
        self.pad_token_id = pad_token_id


@dataclass
class VisionConfig:
    image_size: int = 32
    patch_size: int = 4
    num_channels: int = 3
    hidden_size: int = 48
    num_heads: int = 4
    mlp_ratio: float = 4.0
    num_labels: int = 10


@dataclass
class ModelOutput:
    logits: torch.Tensor
    hidden: torch.Tensor | None = None


class _Quick(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


ACT = {"gelu": nn.GELU, "relu": nn.ReLU, "quick": _Quick}


def logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def repeat_kv(x, n_rep):
    b, h, t, d = x.shape
    return x[:, :, None].expand(b, h, n_rep, t, d).reshape(b, h * n_rep, t, d)


class TextEmbeddings(nn.Module):
    def __init__(self, config: TextConfig):
        super().__init__()
        self.words = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.positions = nn.Embedding(config.max_positions, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.eps)

    def forward(self, input_ids):
        length = input_ids.shape[1]
        return self.norm(self.words(input_ids) + self.positions(torch.arange(length, device=input_ids.device)))


class SelfAttention(nn.Module):
    def __init__(self, config: TextConfig):
        super().__init__()
        if config.hidden_size % config.num_heads != 0:
            raise ValueError("hidden_size must be a multiple of num_heads")
        self.num_heads = config.num_heads
        self.head_dim = config.hidden_size // config.num_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, hidden_states, attention_mask=None):
        q, k, v = self.split(self.query(hidden_states)), self.split(self.key(hidden_states)), self.split(self.value(hidden_states))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        if attention_mask is not None:
            scores = scores + attention_mask
        context = (scores.softmax(dim=-1) @ v).transpose(1, 2).contiguous()
        return context.view(context.size(0), context.size(1), -1)


class FeedForward(nn.Module):
    def __init__(self, config: TextConfig):
        super().__init__()
        self.up = nn.Linear(config.hidden_size, config.ffn_size)
        self.act = ACT[config.act]()
        self.down = nn.Linear(config.ffn_size, config.hidden_size)

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class EncoderBlock(nn.Module):
    def __init__(self, config: TextConfig):
        super().__init__()
        self.attention = SelfAttention(config)
        self.norm1 = nn.LayerNorm(config.hidden_size, eps=config.eps)
        self.ffn = FeedForward(config)
        self.norm2 = nn.LayerNorm(config.hidden_size, eps=config.eps)

    @logged
    def forward(self, hidden_states):
        hidden_states = hidden_states + self.attention(self.norm1(hidden_states))
        return hidden_states + self.ffn(self.norm2(hidden_states))


class Pooler(nn.Module):
    def __init__(self, config: TextConfig):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = nn.Tanh()

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        return self.activation(self.dense(hidden_states[:, 0]))


class PatchEmbeddings(nn.Module):
    def __init__(self, config: VisionConfig):
        super().__init__()
        self.num_patches = (config.image_size // config.patch_size) ** 2
        self.projection = nn.Conv2d(config.num_channels, config.hidden_size, config.patch_size, stride=config.patch_size)

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        return self.projection(pixel_values).flatten(2).transpose(1, 2)


class VisionEmbeddings(nn.Module):
    def __init__(self, config: VisionConfig):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, config.hidden_size))
        self.patches = PatchEmbeddings(config)
        self.positions = nn.Parameter(torch.zeros(1, self.patches.num_patches + 1, config.hidden_size))

    def forward(self, pixel_values: torch.Tensor | None = None) -> torch.Tensor:
        if pixel_values is None:
            raise ValueError("pixel_values are needed")
        x = self.patches(pixel_values)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1)
        return x + self.positions


class VisionClassifier(nn.Module):
    def __init__(self, config: VisionConfig):
        super().__init__()
        self.embeddings = VisionEmbeddings(config)
        self.norm = nn.LayerNorm(config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, pixel_values: torch.Tensor):
        hidden = self.norm(self.embeddings(pixel_values))
        return ModelOutput(logits=self.head(hidden[:, 0]), hidden=hidden)


class RotaryAttention(nn.Module):
    def __init__(self, dim: int, n_heads: int, n_kv_heads: int):
        super().__init__()
        assert n_heads % n_kv_heads == 0
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.head_dim = dim // n_heads
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(n_heads * self.head_dim, dim, bias=False)

    def forward(self, x, cos, sin):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.n_heads, self.head_dim).transpose(1, 2)
        k = self.wk(x).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2)
        v = self.wv(x).view(b, t, self.n_kv_heads, self.head_dim).transpose(1, 2)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k, self.n_heads // self.n_kv_heads), repeat_kv(v, self.n_heads // self.n_kv_heads)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(out.transpose(1, 2).reshape(b, t, -1))


class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, hidden_states):
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        return self.weight * hidden_states * torch.rsqrt(variance + self.eps)


class SwiGLU(nn.Module):
    def __init__(self, dim, hidden_dim):
        super().__init__()
        self.w12 = nn.Linear(dim, 2 * hidden_dim)
        self.w3 = nn.Linear(hidden_dim, dim)

    def forward(self, x):
        a, b = self.w12(x).chunk(2, dim=-1)
        return self.w3(F.silu(a) * b)


class MixtureHead(nn.Module):
    def __init__(self, in_features, n_components, out_features):
        super().__init__()
        self.n, self.o = n_components, out_features
        self.pi = nn.Linear(in_features, n_components)
        self.mu = nn.Linear(in_features, n_components * out_features)
        self.sigma = nn.Linear(in_features, n_components * out_features)

    def forward(self, x):
        pi = F.log_softmax(self.pi(x), dim=1)
        mu = self.mu(x).view(-1, self.n, self.o)
        sigma = torch.exp(self.sigma(x)).view(-1, self.n, self.o)
        return pi, mu, sigma


class Forecaster(nn.Module):
    def __init__(self, configs):
        super().__init__()
        self.task_name = configs.task_name
        self.revin = configs.use_norm
        self.pred_len = configs.seq_len if self.task_name == "imputation" else configs.pred_len
        self.project = nn.Linear(configs.seq_len, self.pred_len)
        self.out = nn.Linear(configs.enc_in, configs.c_out)

    def forward(self, x_enc):
        if self.task_name == "forecast":
            if self.revin:
                x_enc = x_enc - x_enc.mean(1, keepdim=True)
            return self.out(self.project(x_enc.permute(0, 2, 1)).permute(0, 2, 1))
        return self.out(x_enc)


class Reduction(nn.Module):
    def __init__(self, dim, mode):
        super().__init__()
        self.mode = mode
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        x = self.norm(x)
        if self.mode == "mean":
            return x.mean(dim=1)
        elif self.mode == "max":
            return x.max(dim=1).values
        raise ValueError(self.mode)
