"""The building blocks of OpenMMLab, as the analysis executes them: layers that are made from configurations, and registries.

This file is never imported: it is read, as a file of the workspace is, where a document names something of mmcv's or mmengine's.
"""

import pickle

import torch
import torch.nn as nn
import torch.nn.functional as F

_ANYTHING = pickle.loads(b"")
"""A value of which nothing is known."""


class Registry:
    def __init__(self, name, build_func=None, parent=None, scope=None, locations=()):
        self.name = name
        self.parent = parent
        self.build_func = build_func
        self.module_dict = {}

    def get(self, key):
        if key in self.module_dict:
            return self.module_dict[key]
        if self.parent is not None:
            return self.parent.get(key)
        return _LAYERS.get(key, _ANYTHING)

    def register_module(self, name=None, force=False, module=None):
        def register(cls):
            names = [cls.__name__] if name is None else name if isinstance(name, list) else [name]
            for one in names:
                self.module_dict[one] = cls
            return cls

        if module is not None:
            return register(module)
        return register

    def build(self, cfg, *args, default_args=None, **kwargs):
        if self.build_func is not None:
            return self.build_func(cfg, *args, registry=self, **kwargs)
        return build_from_cfg(cfg, self, default_args)


def build_from_cfg(cfg, registry, default_args=None):
    given = dict(default_args or {})
    given.update(cfg)
    kind = given.pop("type")
    cls = registry.get(kind) if isinstance(kind, str) else kind
    return cls(**given)


class BaseModule(nn.Module):
    def __init__(self, init_cfg=None):
        super().__init__()
        self.init_cfg = init_cfg
        self.is_init = _ANYTHING

    def init_weights(self):
        return None


class BaseModel(BaseModule):
    def __init__(self, data_preprocessor=None, init_cfg=None):
        super().__init__(init_cfg)
        self.data_preprocessor = _ANYTHING


class Sequential(nn.Sequential):
    def __init__(self, *args, init_cfg=None):
        super().__init__(*args)
        self.init_cfg = init_cfg

    def init_weights(self):
        return None


class ModuleList(nn.ModuleList):
    def __init__(self, modules=None, init_cfg=None):
        super().__init__(modules)
        self.init_cfg = init_cfg

    def init_weights(self):
        return None


class ModuleDict(nn.ModuleDict):
    def __init__(self, modules=None, init_cfg=None):
        super().__init__(modules)
        self.init_cfg = init_cfg

    def init_weights(self):
        return None


class _SameShape(nn.Module):
    """A layer of a kind that nobody tells: those that are built this way give back as many numbers as they are given."""

    weight = bias = eps = num_features = _ANYTHING

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, x):
        return x.clone()


class HSigmoid(nn.Module):
    def __init__(self, bias=3.0, divisor=6.0, min_value=0.0, max_value=1.0):
        super().__init__()
        self.bias = bias
        self.divisor = divisor
        self.min_value = min_value
        self.max_value = max_value

    def forward(self, x):
        return ((x + self.bias) / self.divisor).clamp(self.min_value, self.max_value)


class Clamp(nn.Module):
    def __init__(self, min=-1.0, max=1.0):
        super().__init__()
        self.min = min
        self.max = max

    def forward(self, x):
        return torch.clamp(x, min=self.min, max=self.max)


class Swish(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(x)


class DropPath(nn.Module):
    def __init__(self, drop_prob=0.1):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        if not self.training:
            return x
        kept = torch.rand((x.shape[0],) + (1,) * (x.ndim - 1), dtype=x.dtype, device=x.device)
        return x * kept.floor()


class Dropout(nn.Dropout):
    def __init__(self, drop_prob=0.5, inplace=False):
        super().__init__(p=drop_prob, inplace=inplace)


class Scale(nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale, dtype=torch.float))

    def forward(self, x):
        return x * self.scale


class LayerScale(nn.Module):
    def __init__(self, dim, inplace=False, data_format="channels_last", scale=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim) * scale)
        self.first = data_format == "channels_first"

    def forward(self, x):
        if self.first:
            return x * self.weight.view(1, -1, *(1 for _ in range(x.dim() - 2)))
        return x * self.weight


class PixelShufflePack(nn.Module):
    def __init__(self, in_channels, out_channels, scale_factor, upsample_kernel):
        super().__init__()
        self.scale_factor = scale_factor
        self.upsample_conv = nn.Conv2d(
            in_channels,
            out_channels * scale_factor * scale_factor,
            upsample_kernel,
            padding=(upsample_kernel - 1) // 2,
        )

    def forward(self, x):
        return F.pixel_shuffle(self.upsample_conv(x), self.scale_factor)


_CONVOLUTIONS = {"Conv1d": nn.Conv1d, "Conv2d": nn.Conv2d, "Conv3d": nn.Conv3d, "Conv": nn.Conv2d}
_NORMALIZATIONS = {
    "BN": nn.BatchNorm2d,
    "BN1d": nn.BatchNorm1d,
    "BN2d": nn.BatchNorm2d,
    "BN3d": nn.BatchNorm3d,
    "SyncBN": nn.SyncBatchNorm,
    "GN": nn.GroupNorm,
    "LN": nn.LayerNorm,
    "IN": nn.InstanceNorm2d,
    "IN1d": nn.InstanceNorm1d,
    "IN2d": nn.InstanceNorm2d,
    "IN3d": nn.InstanceNorm3d,
}
_ACTIVATIONS = {
    "ReLU": nn.ReLU,
    "LeakyReLU": nn.LeakyReLU,
    "PReLU": nn.PReLU,
    "RReLU": nn.RReLU,
    "ReLU6": nn.ReLU6,
    "ELU": nn.ELU,
    "Sigmoid": nn.Sigmoid,
    "Tanh": nn.Tanh,
    "SiLU": nn.SiLU,
    "GELU": nn.GELU,
    "HSigmoid": HSigmoid,
    "HSwish": nn.Hardswish,
    "Swish": Swish,
    "Clamp": Clamp,
    "Clip": Clamp,
}
_PADDINGS = {"zero": nn.ZeroPad2d, "reflect": nn.ReflectionPad2d, "replicate": nn.ReplicationPad2d}
_UPSAMPLINGS = {"deconv": nn.ConvTranspose2d, "deconv3d": nn.ConvTranspose3d, "pixel_shuffle": PixelShufflePack}
_DROPOUTS = {"Dropout": Dropout, "DropPath": DropPath}
_LAYERS = {**_CONVOLUTIONS, **_NORMALIZATIONS, **_ACTIVATIONS, **_PADDINGS, **_UPSAMPLINGS, **_DROPOUTS}
_SHORT = {"BN": "bn", "BN1d": "bn", "BN2d": "bn", "BN3d": "bn", "SyncBN": "bn", "GN": "gn", "LN": "ln", "IN": "in"}
_WITHOUT_INPLACE = ["Tanh", "PReLU", "Sigmoid", "HSigmoid", "Swish", "GELU"]

CONV_LAYERS = Registry("conv layer")
NORM_LAYERS = Registry("norm layer")
ACTIVATION_LAYERS = Registry("activation layer")
PADDING_LAYERS = Registry("padding layer")
UPSAMPLE_LAYERS = Registry("upsample layer")
PLUGIN_LAYERS = Registry("plugin layer")
DROPOUT_LAYERS = Registry("drop out layers")
ATTENTION = Registry("attention")
FEEDFORWARD_NETWORK = Registry("feed-forward network")
MODELS = Registry("model")


def _of_kind(registry, kind):
    """The class of a configuration; one that keeps the shape where nobody tells which of these it is."""
    if not _is_known(kind):
        return _SameShape
    return registry.get(kind) if isinstance(kind, str) else kind


def build_conv_layer(cfg, *args, **kwargs):
    if cfg is None:
        return nn.Conv2d(*args, **kwargs)
    given = cfg.copy()
    kind = given.pop("type")
    layer = CONV_LAYERS.get(kind) if isinstance(kind, str) else kind
    return layer(*args, **kwargs, **given)


def build_norm_layer(cfg, num_features, postfix=""):
    given = cfg.copy()
    kind = given.pop("type")
    layer = _of_kind(NORM_LAYERS, kind)
    requires_grad = given.pop("requires_grad", True)
    if layer is _SameShape:
        return _ANYTHING, _SameShape()
    given.setdefault("eps", 1e-5)
    if layer is nn.GroupNorm:
        made = layer(num_channels=num_features, **given)
    else:
        made = layer(num_features, **given)
    for parameter in made.parameters():
        parameter.requires_grad = requires_grad
    short = _SHORT.get(kind, _ANYTHING)
    return short + str(postfix), made


def build_activation_layer(cfg):
    given = cfg.copy()
    kind = given.pop("type")
    layer = _of_kind(ACTIVATION_LAYERS, kind)
    return layer(**given)


def build_padding_layer(cfg, *args, **kwargs):
    given = cfg.copy()
    layer = PADDING_LAYERS.get(given.pop("type"))
    return layer(*args, **kwargs, **given)


def build_upsample_layer(cfg, *args, **kwargs):
    given = cfg.copy()
    kind = given.pop("type")
    if kind in ("nearest", "bilinear"):
        return nn.Upsample(*args, **kwargs, mode=kind, **given)
    layer = UPSAMPLE_LAYERS.get(kind)
    return layer(*args, **kwargs, **given)


def build_dropout(cfg, default_args=None):
    if not _is_known(cfg):
        return _SameShape()
    return build_from_cfg(cfg, DROPOUT_LAYERS, default_args)


class ConvModule(nn.Module):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias="auto",
        conv_cfg=None,
        norm_cfg=None,
        act_cfg=dict(type="ReLU"),
        inplace=True,
        with_spectral_norm=False,
        padding_mode="zeros",
        order=("conv", "norm", "act"),
        efficient_conv_bn_eval=False,
    ):
        super().__init__()
        self.conv_cfg = conv_cfg
        self.norm_cfg = norm_cfg
        self.act_cfg = act_cfg
        self.inplace = inplace
        self.with_spectral_norm = with_spectral_norm
        self.with_explicit_padding = padding_mode not in ("zeros", "circular")
        self.order = order
        self.with_norm = norm_cfg is not None
        self.with_activation = act_cfg is not None
        self.with_bias = not self.with_norm if bias == "auto" else bias
        if self.with_explicit_padding:
            self.padding_layer = build_padding_layer(dict(type=padding_mode), padding)
        self.conv = build_conv_layer(
            conv_cfg,
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=0 if self.with_explicit_padding else padding,
            dilation=dilation,
            groups=groups,
            bias=self.with_bias,
        )
        self.in_channels = self.conv.in_channels
        self.out_channels = self.conv.out_channels
        self.kernel_size = self.conv.kernel_size
        self.stride = self.conv.stride
        self.padding = padding
        self.dilation = self.conv.dilation
        self.transposed = self.conv.transposed
        self.output_padding = self.conv.output_padding
        self.groups = self.conv.groups
        if self.with_spectral_norm:
            self.conv = nn.utils.spectral_norm(self.conv)
        if self.with_norm:
            after = order.index("norm") > order.index("conv")
            self.norm_name, norm = build_norm_layer(norm_cfg, out_channels if after else in_channels)
            self.add_module(self.norm_name, norm)
            self._norm = (norm,)
        else:
            self.norm_name = None
            self._norm = (None,)
        if self.with_activation:
            given = act_cfg.copy()
            if given["type"] not in _WITHOUT_INPLACE:
                given.setdefault("inplace", inplace)
            self.activate = build_activation_layer(given)

    @property
    def norm(self):
        return self._norm[0]

    def init_weights(self):
        return None

    def forward(self, x, activate=True, norm=True):
        for layer in self.order:
            if layer == "conv":
                if self.with_explicit_padding:
                    x = self.padding_layer(x)
                x = self.conv(x)
            elif layer == "norm" and norm and self.with_norm:
                x = self._norm[0](x)
            elif layer == "act" and activate and self.with_activation:
                x = self.activate(x)
        return x


class DepthwiseSeparableConvModule(nn.Module):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        norm_cfg=None,
        act_cfg=dict(type="ReLU"),
        dw_norm_cfg="default",
        dw_act_cfg="default",
        pw_norm_cfg="default",
        pw_act_cfg="default",
        **kwargs,
    ):
        super().__init__()
        self.depthwise_conv = ConvModule(
            in_channels,
            in_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=in_channels,
            norm_cfg=norm_cfg if dw_norm_cfg == "default" else dw_norm_cfg,
            act_cfg=act_cfg if dw_act_cfg == "default" else dw_act_cfg,
            **kwargs,
        )
        self.pointwise_conv = ConvModule(
            in_channels,
            out_channels,
            1,
            norm_cfg=norm_cfg if pw_norm_cfg == "default" else pw_norm_cfg,
            act_cfg=act_cfg if pw_act_cfg == "default" else pw_act_cfg,
            **kwargs,
        )

    def forward(self, x):
        return self.pointwise_conv(self.depthwise_conv(x))


class FFN(BaseModule):
    def __init__(
        self,
        embed_dims=256,
        feedforward_channels=1024,
        num_fcs=2,
        act_cfg=dict(type="ReLU", inplace=True),
        ffn_drop=0.0,
        dropout_layer=None,
        add_identity=True,
        init_cfg=None,
        **kwargs,
    ):
        super().__init__(init_cfg)
        self.embed_dims = embed_dims
        self.feedforward_channels = feedforward_channels
        self.num_fcs = num_fcs
        layers = []
        in_channels = embed_dims
        for _ in range(num_fcs - 1):
            layers.append(
                nn.Sequential(
                    nn.Linear(in_channels, feedforward_channels), build_activation_layer(act_cfg), nn.Dropout(ffn_drop)
                )
            )
            in_channels = feedforward_channels
        layers.append(nn.Linear(feedforward_channels, embed_dims))
        layers.append(nn.Dropout(ffn_drop))
        self.layers = nn.Sequential(*layers)
        self.dropout_layer = build_dropout(dropout_layer) if dropout_layer else nn.Identity()
        self.add_identity = add_identity

    def forward(self, x, identity=None):
        out = self.dropout_layer(self.layers(x))
        if not self.add_identity:
            return out
        return (x if identity is None else identity) + out


class MultiheadAttention(BaseModule):
    def __init__(
        self,
        embed_dims,
        num_heads,
        attn_drop=0.0,
        proj_drop=0.0,
        dropout_layer=dict(type="Dropout", drop_prob=0.0),
        init_cfg=None,
        batch_first=False,
        **kwargs,
    ):
        super().__init__(init_cfg)
        self.embed_dims = embed_dims
        self.num_heads = num_heads
        self.batch_first = batch_first
        self.attn = nn.MultiheadAttention(embed_dims, num_heads, attn_drop, **kwargs)
        self.proj_drop = nn.Dropout(proj_drop)
        self.dropout_layer = build_dropout(dropout_layer) if dropout_layer else nn.Identity()

    def forward(
        self,
        query,
        key=None,
        value=None,
        identity=None,
        query_pos=None,
        key_pos=None,
        attn_mask=None,
        key_padding_mask=None,
        **kwargs,
    ):
        if key is None:
            key = query
        if value is None:
            value = key
        if identity is None:
            identity = query
        if key_pos is None and query_pos is not None and query_pos.shape == key.shape:
            key_pos = query_pos
        if query_pos is not None:
            query = query + query_pos
        if key_pos is not None:
            key = key + key_pos
        if self.batch_first:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        out = self.attn(query, key, value, attn_mask=attn_mask, key_padding_mask=key_padding_mask)[0]
        if self.batch_first:
            out = out.transpose(0, 1)
        return identity + self.dropout_layer(self.proj_drop(out))


def constant_init(module, val, bias=0):
    return None


def xavier_init(module, gain=1, bias=0, distribution="normal"):
    return None


def normal_init(module, mean=0, std=1, bias=0):
    return None


def trunc_normal_init(module, mean=0, std=1, a=-2, b=2, bias=0):
    return None


def uniform_init(module, a=0, b=1, bias=0):
    return None


def kaiming_init(module, a=0, mode="fan_out", nonlinearity="relu", bias=0, distribution="normal"):
    return None


def caffe2_xavier_init(module, bias=0):
    return None


def auto_fp16(*args, **kwargs):
    return lambda function: function


def force_fp32(*args, **kwargs):
    return lambda function: function


Linear = nn.Linear
Conv2d = nn.Conv2d
Conv3d = nn.Conv3d
ConvTranspose2d = nn.ConvTranspose2d
ConvTranspose3d = nn.ConvTranspose3d
MaxPool2d = nn.MaxPool2d
MaxPool3d = nn.MaxPool3d
_BatchNorm = nn.modules.batchnorm._BatchNorm
_InstanceNorm = nn.modules.instancenorm._InstanceNorm
SyncBatchNorm = nn.SyncBatchNorm
