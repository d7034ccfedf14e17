"""The autograd graph as data: which operators keep what for backward, pieces of graph, cuts, and faults.

Facts about operators (which of their operands or results backward needs) are held to PyTorch by tests/conformance/test_autograd.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torchsleuth.sifting import as_kind
from torchsleuth.values import LibraryModule, Ref, Site, Tensor, Value

SAVES_RESULT = frozenset(
    "sigmoid tanh exp softmax log_softmax sqrt rsqrt relu reciprocal Sigmoid Tanh Softmax LogSoftmax ReLU".split()
)
"""Operators whose backward needs their result."""
SAVES_FIRST = frozenset(
    "log log2 log10 log1p sin cos abs pow square gelu silu leaky_relu elu softplus logsigmoid GELU SiLU LeakyReLU ELU "
    "Softplus LogSigmoid norm var std clamp mse_loss smooth_l1_loss huber_loss MSELoss SmoothL1Loss HuberLoss "
    "LayerNorm BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm layer_norm batch_norm group_norm".split()
)
"""Operators whose backward needs their first operand."""
PRODUCTS = frozenset("mul multiply matmul mm bmm mv dot".split())
"""Operators whose backward needs each operand for the gradient of the other one."""
WEIGHTED = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Bilinear LSTMCell GRUCell RNNCell".split()
)
"""Modules whose backward needs their input for the gradient of their weights."""
COMPOSED = frozenset({"matmul", "Linear", "GroupNorm", "group_norm"})
"""Operators that keep a copy of an operand of three or more dimensions that is not contiguous."""
NEEDS_WEIGHT = WEIGHTED - {"Bilinear", "LSTMCell", "GRUCell", "RNNCell"}
"""Modules whose backward needs their weights for the gradient of their input."""
RECURRENT = frozenset("LSTM GRU RNN LSTMCell GRUCell RNNCell".split())
"""Modules whose backward needs their weights for the gradient of their input or state."""
SEQUENCES = frozenset(
    "LSTM GRU RNN MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder "
    "TransformerDecoder Transformer".split()
)
"""Modules that keep tensors for backward, but often copies of their input."""
LAYERS = frozenset("linear conv1d conv2d conv3d addmm".split())
"""Functions of an input, a weight and a bias: backward needs the input and the weight for the gradient of each other."""
FREES = (
    SAVES_RESULT
    | SAVES_FIRST
    | PRODUCTS
    | WEIGHTED
    | SEQUENCES
    | LAYERS
    | frozenset(
        "div truediv true_divide cross_entropy binary_cross_entropy nll_loss "
        "binary_cross_entropy_with_logits kl_div CrossEntropyLoss BCELoss BCEWithLogitsLoss NLLLoss KLDivLoss "
        "scaled_dot_product_attention Embedding embedding prod logsumexp max_pool1d max_pool2d MaxPool1d MaxPool2d "
        "l1_loss L1Loss max min amax amin maximum minimum topk sort gather index_select masked_fill where normalize "
        "cosine_similarity cdist".split()
    )
)
"""Operators that keep tensors for backward, so that a second backward through them fails."""
CONTRACTIONS = frozenset({"einsum"})
"""Operators that keep tensors for backward if they have more than one operand."""
VIEWS = frozenset(
    "view view_as transpose permute squeeze unsqueeze expand narrow select t T mT swapaxes movedim diagonal detach "
    "unflatten chunk split unbind unfold".split()
)
"""Operators whose result shares memory with their first operand."""
INPLACE_POSITION = {
    **dict.fromkeys("ReLU ReLU6 SiLU Mish Hardswish Hardsigmoid SELU".split(), 0),
    **dict.fromkeys("LeakyReLU ELU CELU Dropout Dropout1d Dropout2d Dropout3d AlphaDropout".split(), 1),
    **dict.fromkeys("relu relu6 silu mish hardswish hardsigmoid selu".split(), 1),
    **dict.fromkeys("leaky_relu elu celu".split(), 2),
    **dict.fromkeys("dropout dropout1d dropout2d dropout3d alpha_dropout".split(), 3),
}
"""Where the argument `inplace` of a constructor or a function stands."""
ZERO_GRADIENT = frozenset("round floor ceil sign trunc sgn fix".split())
"""Differentiable in name only: their gradient is zero everywhere."""
MAY_RETURN_OPERAND = frozenset("to contiguous float type_as expand_as dropout Dropout Identity".split())
"""Operators whose result can be their operand itself."""

TAKES_ARRAYS = frozenset(
    "array asarray asanyarray copy stack concatenate vstack hstack argmax argsort sort abs exp log sqrt round clip where "
    "isnan isfinite allclose unique median percentile histogram maximum minimum add multiply dot ravel transpose".split()
)
"""Functions of NumPy that make arrays of tensors, and so refuse those that require grad."""
REDUCES_LISTS = frozenset("mean std var median sum max min average percentile".split())
"""Functions of NumPy that make an array of a list, and that ask a tensor for a method of that name."""


@dataclass(frozen=True)
class Cut:
    """Where a value lost its graph.

    kind: detach, data, item, tolist, numpy, float; rewrapped (a new tensor made of its values); integers (an operator
    without gradient); no_grad; frozen (the parameters do not require grad); first_order (a gradient that was computed
    without create_graph); reentrant (a checkpoint none of whose inputs requires grad). `mode`: for no_grad, what switched recording off, if it is known. `before`: for rewrapped,
    where the numbers that it was made of had lost it already.
    """

    kind: str
    site: Site
    mode: Site | None = None
    before: Cut | None = None


@dataclass(eq=False)
class GraphNode:
    """One recorded operation. `module`: one with trainable parameters that was applied. `leaves`: tensors it starts from.

    `open`: part of what it was computed from is not known. `frees`: it keeps tensors that the first backward() lets go.
    `entry`: the entry point that the analysis was in; what another one freed or changed says nothing about this one.
    `saved`: memory that backward needs, and its version then.
    """

    operator: str
    site: Site
    inputs: tuple[GraphNode, ...] = ()
    module: LibraryModule | None = None
    leaves: tuple[Tensor, ...] = ()
    open: bool = False
    frees: bool = False
    entry: int = 0
    saved: list[tuple[Ref, int]] = field(default_factory=list)

    @cached_property
    def members(self) -> frozenset[GraphNode]:
        """Every node of the graph."""
        return frozenset(self.reachable())

    @cached_property
    def reached(self) -> tuple[frozenset[int], bool]:
        """The ids of the modules and leaves, and of the owners of leaves, in the graph, and whether all of it is known."""
        nodes = self.members
        leaves = [leaf for node in nodes for leaf in node.leaves]
        parts = [*leaves, *(leaf.owner for leaf in leaves), *(node.module for node in nodes)]
        return frozenset(id(part) for part in parts if part is not None), not any(node.open for node in nodes)

    def reachable(self, through: Callable[[GraphNode], bool] | None = None) -> Iterator[GraphNode]:
        """Every node of the graph once, from this one on; only beyond nodes that `through` lets pass."""
        seen: set[GraphNode] = {self}
        pending = [self]
        for part in pending:
            yield part
            if through is not None and not through(part):
                continue
            for inner in part.inputs:
                if inner not in seen:
                    seen.add(inner)
                    pending.append(inner)


def flat_step(root: GraphNode) -> GraphNode | None:
    """A step function on every way from parameters to a place in the graph, all of which is known: a gradient of zero."""
    step = next((part for part in root.reachable() if not passes(part)), None)
    if step is None or any(part.open for part in root.members):
        return None
    passing = root.reachable(passes)
    return None if any(passes(part) and (part.module is not None or part.leaves) for part in passing) else step


def passes(part: GraphNode) -> bool:
    """Whether a gradient comes through an operation."""
    return part.operator not in ZERO_GRADIENT


def node_of(value: Value) -> GraphNode | None:
    """A tensor's place in the graph: None for a leaf, where there is no graph or none that is known, and for all other values."""
    return as_kind(value.slots["node"], GraphNode) if isinstance(value, Tensor) else None


def cut_of(tensor: Tensor) -> Cut | None:
    """Where the tensor lost its graph, as far as that is known."""
    cut = tensor.slots["cut"]
    return as_kind(cut, Cut)


def is_leaf(tensor: Tensor) -> bool:
    """Whether the tensor is known to have been made, not computed, with gradients asked for."""
    made = tensor.parameter or tensor.slots.get("leaf") is True
    return made and tensor.slots["node"] is None


@dataclass(frozen=True)
class AutogradFault:
    """An error that autograd will raise, or something that it silently does not do.

    kind: no_graph, severed, severed_part (one of several terms), alone (a leaf that nothing was computed from), zero_gradient, not_scalar, sequence, freed, modified,
    leaf_in_place, non_leaf, numpy, deepcopy, grad_missing, grad_early (no backward() has run yet), not_used, wrong_attribute, reentrant (a checkpoint of a module, no input of which requires grad). `at`: the place that fails; `cause`: the other end of the fault; `node`: the piece of graph that is
    concerned.
    """

    kind: str
    at: Site
    tensor: Any
    cut: Cut | None = None
    cause: Site | None = None
    node: GraphNode | None = None
    text: str = ""
    """For wrong_attribute: its name. For grad_early: "cleared" where zero_grad() came after the last backward(). For numpy: "held"
    where a container of tensors is given."""
    position: int = 0
    """For a fault of ``torch.autograd.grad``: which of its inputs is concerned."""
    leaves: tuple[Tensor, ...] = ()
    """For severed: the tensors that get the gradient instead of the model; none where that is `tensor` itself."""
    carried: tuple[tuple[str, bool], ...] = ()
    """For freed and modified: variables that hold that piece of graph, and whether each is a tuple."""


__all__ = ["AutogradFault", "Cut", "GraphNode", "cut_of", "flat_step", "is_leaf", "node_of"]
