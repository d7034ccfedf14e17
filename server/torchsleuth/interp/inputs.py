"""Ranks of operands: what an operator says that they have to be, and what a first layer is made for."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from torchsleuth.interp.passed import library_path
from torchsleuth.interp.trace import Operation
from torchsleuth.sifting import all_are
from torchsleuth.syntax.forms import is_dotted, is_method_call, nodes_in, plain_name
from torchsleuth.values import Function, Tensor, items_of

ArgumentKey = tuple[str, int, int]
"""The parameter that a tensor is the value of: path, line, column."""


@dataclass(frozen=True)
class Demand:
    """Ranks that the first consumer of an argument accepts, the usual one first, with names for its dimensions.

    `usual`: hardly any code gives it another rank than the first. `closed`: it takes nothing else at all. `dtype`: that of
    the argument, where it has to be a certain one.
    """

    ranks: tuple[int, ...]
    names: str
    usual: bool = True
    dtype: str | None = None
    closed: bool = True


_SIGNALS = Demand((3, 2), "N C L")
_IMAGES = Demand((4, 3), "N C H W")
_VOLUMES = Demand((5, 4), "N C D H W")
_SEQUENCES = Demand((3, 2), "N L C", dtype="float32", closed=False)
_VECTORS = Demand((2, 3, 4, 1), "N", usual=False, dtype="float32")
_INDICES = Demand((2, 1, 3), "N L", usual=False, dtype="int64")


def _weighted(demand: Demand) -> Demand:
    """Of layers with weights, which are float32 unless somebody converts the model."""
    return replace(demand, dtype="float32")


_BY_LAYER = {
    **dict.fromkeys("Conv1d ConvTranspose1d conv1d conv_transpose1d".split(), _weighted(_SIGNALS)),
    **dict.fromkeys("Conv2d ConvTranspose2d conv2d conv_transpose2d".split(), _weighted(_IMAGES)),
    **dict.fromkeys("Conv3d ConvTranspose3d conv3d conv_transpose3d".split(), _weighted(_VOLUMES)),
    **dict.fromkeys(
        "MaxPool2d AvgPool2d AdaptiveAvgPool2d AdaptiveMaxPool2d max_pool2d avg_pool2d adaptive_avg_pool2d "
        "adaptive_max_pool2d".split(),
        _IMAGES,
    ),
    **dict.fromkeys("MaxPool3d AvgPool3d".split(), _VOLUMES),
    **dict.fromkeys("LSTM GRU RNN TransformerEncoder TransformerEncoderLayer MultiheadAttention".split(), _SEQUENCES),
    **dict.fromkeys("Linear LayerNorm".split(), _VECTORS),
    "Embedding": _INDICES,
}
_EXACT = {
    "BatchNorm2d": 4,
    "BatchNorm3d": 5,
    "bmm": 3,
    "baddbmm": 3,
    "mm": 2,
    "addmm": 2,
}
_KEEPS_RANK = frozenset(
    "relu relu_ ReLU gelu GELU silu SiLU elu ELU leaky_relu LeakyReLU mish Mish sigmoid Sigmoid tanh Tanh softmax Softmax "
    "log_softmax dropout Dropout Dropout2d Identity float half double to type contiguous clone detach exp log sqrt abs "
    "neg clamp cuda cpu LayerNorm BatchNorm2d GroupNorm layer_norm group_norm pad Linear linear chunk split".split()
)
"""Operators with one tensor whose results have its rank."""
_WITH_NUMBER = frozenset("add sub mul truediv pow".split())
MAX_CHAIN = 8


_PRODUCTS = frozenset({"torch.matmul", "torch.bmm", "torch.mm"})
_RESHAPES = frozenset("transpose view reshape t float long to clone".split())
_ELEMENTWISE = frozenset(
    "abs exp log log1p sqrt rsqrt sin cos clamp sign square mean sum norm argmax flatten mm".split()
)
_OF_TENSORS_ALONE = frozenset(
    "unsqueeze permute contiguous detach chunk masked_fill masked_select softmax log_softmax gather scatter scatter_add "
    "index_select expand expand_as unbind repeat_interleave view_as type_as topk bmm matmul sigmoid relu tanh".split()
)
"""Methods that tensors have, and arrays, frames and numbers do not."""


def used_as_tensors(function: Function) -> frozenset[str]:
    """Parameters that a function uses as nothing but tensors can be used: they have a method of theirs called, or are the
    first argument of an operator."""
    found: set[str] = set()
    for node in nodes_in(function.node, ast.Call):
        if is_dotted(node.func):
            if node.func.attr in _OF_TENSORS_ALONE:
                found.add(node.func.value.id)
        path = library_path(node.func, function)
        count = 2 if path in _PRODUCTS else 1 if _takes_tensors(path) else 0
        found.update(_root(part) for part in node.args[:count])
    return frozenset(found)


def _root(operand: ast.expr) -> str:
    """The variable whose methods make an operand, as in ``k.transpose(-2, -1)``; empty for anything else."""
    while is_method_call(operand):
        if operand.func.attr not in _OF_TENSORS_ALONE | _ELEMENTWISE | _RESHAPES:
            return ""
        operand = operand.func.value
    return plain_name(operand) or ""


def _takes_tensors(path: str) -> bool:
    package, _, name = path.rpartition(".")
    if package == "torch.nn.functional":
        return True
    return package == "torch" and name in _OF_TENSORS_ALONE | _ELEMENTWISE


def demanded(operation: Operation) -> tuple[Tensor, Demand] | None:
    """The argument of nobody's that an operator is the first to need the rank of, and what it takes."""
    name = operation.name
    demand = _BY_LAYER.get(name)
    if demand is None or not operation.args:
        return None
    found = argument_behind(operation.args[0])
    return None if found is None else (found, demand)


def demanded_rank(tensor: Tensor, names: tuple[str, ...]) -> tuple[Tensor, Demand] | None:
    """The argument of nobody's that a tensor comes from, of which something takes one rank only."""
    found = argument_behind(tensor)
    return None if found is None or found is tensor else (found, Demand((len(names),), " ".join(names)))


def argument_behind(value: object) -> Tensor | None:
    """The argument of an entry point that a tensor of unknown shape is, or was computed from without change of rank."""
    for _ in range(MAX_CHAIN):
        if not isinstance(value, Tensor):
            return None
        if value.argument is not None:
            return value
        origin = value.origin
        if value.spec.shape is not None or origin is None:
            return None
        name = origin.name
        if name not in _KEEPS_RANK | _WITH_NUMBER or len(origin.sources) != 1:
            return None
        value = origin.sources[0]
    return None


def certain_shapes(operation: Operation) -> list[tuple[Tensor, tuple[str, ...]]]:
    """Operands of unknown shape whose rank the operator leaves no choice about, with names for their dimensions."""
    name = operation.name
    lacking = [tensor for tensor in operation.tensors if tensor.spec.shape is None]
    if not lacking:
        return []
    first = operation.args[0] if operation.args else None
    if name in _EXACT and isinstance(first, Tensor) and first in lacking:
        return [(first, ("?",) * _EXACT[name])]
    if operation.target in ("torch.permute", "Tensor.permute") and first in lacking and isinstance(first, Tensor):
        given = operation.args[1:] or (operation.kwargs.get("dims"),)
        order = items_of(given[0] if len(given) == 1 else given)
        if order is not None and all_are(order, int):
            return [(first, ("?",) * len(order))]
    if operation.target == "torch.einsum" and isinstance(first, str) and "." not in first:
        terms = first.replace(" ", "").partition("->")[0].split(",")
        tensors = operation.args[1:]
        if len(terms) == len(tensors) and all(term.isalpha() for term in terms):
            pairs = zip(tensors, terms)
            return [(tensor, tuple(term)) for tensor, term in pairs if isinstance(tensor, Tensor) and tensor in lacking]
    return []


__all__ = ["ArgumentKey", "Demand", "argument_behind", "certain_shapes", "demanded", "demanded_rank"]
