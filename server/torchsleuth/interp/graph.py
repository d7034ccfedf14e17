"""The autograd graph as data: which operators keep what for backward, pieces of graph, cuts, and faults.

Facts about operators (which of their operands or results backward needs) are held to PyTorch by tests/conformance/test_autograd.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from torchsleuth.interp.values import Ref, Site, Tensor, Value

SAVES_RESULT = frozenset(
    "sigmoid tanh exp softmax log_softmax sqrt rsqrt relu reciprocal Sigmoid Tanh Softmax LogSoftmax ReLU".split()
)
"""Operators whose backward needs their result."""
SAVES_FIRST = frozenset(
    "log log2 log10 log1p sin cos abs pow square gelu silu leaky_relu elu softplus logsigmoid GELU SiLU LeakyReLU "
    "Softplus norm var std clamp mse_loss l1_loss smooth_l1_loss huber_loss MSELoss L1Loss SmoothL1Loss HuberLoss "
    "LayerNorm BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm layer_norm batch_norm group_norm".split()
)
"""Operators whose backward needs their first operand."""
PRODUCTS = frozenset("mul multiply matmul mm bmm mv dot".split())
"""Operators whose backward needs each operand for the gradient of the other one."""
WEIGHTED = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Bilinear LSTM GRU RNN LSTMCell GRUCell "
    "RNNCell MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder Transformer".split()
)
"""Modules whose backward needs their input, and their weights for the gradient of the input."""
FREES = (
    SAVES_RESULT
    | SAVES_FIRST
    | PRODUCTS
    | WEIGHTED
    | frozenset(
        "div truediv true_divide linear conv1d conv2d conv3d cross_entropy binary_cross_entropy nll_loss einsum addmm "
        "binary_cross_entropy_with_logits kl_div CrossEntropyLoss BCELoss BCEWithLogitsLoss NLLLoss KLDivLoss "
        "scaled_dot_product_attention Embedding embedding prod logsumexp max_pool1d max_pool2d MaxPool1d MaxPool2d".split()
    )
)
"""Operators that keep tensors for backward, so that a second backward through them fails."""
VIEWS = frozenset(
    "view view_as transpose permute squeeze unsqueeze expand narrow select t T mT swapaxes movedim diagonal detach "
    "unflatten chunk split unbind unfold".split()
)
"""Operators whose result shares memory with their first operand."""
ZERO_GRADIENT = frozenset("round floor ceil sign trunc sgn frac_ heaviside".split()) - {"frac_"}
"""Differentiable in name only: their gradient is zero everywhere."""


@dataclass(frozen=True)
class Cut:
    """Where a value lost its graph. kind: detach, data, item, numpy, rewrapped, no_grad, integers.

    `mode`: for no_grad, the ``with`` statement or decorator that switched recording off, if it is known.
    """

    kind: str
    site: Site
    mode: Site | None = None


@dataclass(eq=False)
class GraphNode:
    """One recorded operation. `parameters`: it is a module with trainable parameters. `leaves`: tensors it starts from.

    `open`: part of what it was computed from is not known. `saved`: memory that backward needs, and its version then.
    """

    operator: str
    site: Site
    inputs: tuple[GraphNode, ...]
    parameters: bool = False
    leaves: tuple[Tensor, ...] = ()
    open: bool = False
    saved: list[tuple[Ref, int, str]] = field(default_factory=list)
    names: tuple[tuple[str, GraphNode], ...] = ()
    """Source text of the arguments that carried a graph, with their nodes."""

    @property
    def frees(self) -> bool:
        return self.operator in FREES


@dataclass(frozen=True)
class AutogradFault:
    """What autograd will raise, or silently not do.

    kind: no_graph, severed, zero_gradient, not_scalar, freed, modified, leaf_in_place, numpy, grad_missing, wrong_attribute.
    `at`: the place that fails; `cause`: the other end of the fault; `node`: the piece of graph that is concerned;
    `used`: the operation that used that piece a second time.
    """

    kind: str
    at: Site
    tensor: Value
    cut: Cut | None = None
    cause: Site | None = None
    node: GraphNode | None = None
    used: GraphNode | None = None
    text: str = ""
    carried: tuple[tuple[str, bool], ...] = ()
    """For freed: variables that hold the second graph, and whether each is a tuple."""
