"""The tree of modules: what is below a module, which of it holds parameters, and tensors in the containers around."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torchsleuth.interp.interface import Interpreter
from torchsleuth.sifting import of_kind
from torchsleuth.tensors.spec import NotASpec
from torchsleuth.values import (
    UNKNOWN,
    AnyModule,
    Bound,
    Builtin,
    Choice,
    DictValue,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Tensor,
    Unknown,
    Value,
    is_module,
    is_unknown,
)

CONTAINERS = frozenset({"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"})
PARAMETER_CONTAINERS = frozenset({"torch.nn.ParameterList", "torch.nn.ParameterDict"})
LOSSES = frozenset(
    f"torch.nn.{name}"
    for name in (
        "L1Loss NLLLoss PoissonNLLLoss GaussianNLLLoss KLDivLoss MSELoss BCELoss BCEWithLogitsLoss HingeEmbeddingLoss "
        "MultiLabelMarginLoss SmoothL1Loss HuberLoss SoftMarginLoss CrossEntropyLoss MultiLabelSoftMarginLoss "
        "CosineEmbeddingLoss MarginRankingLoss MultiMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss CTCLoss "
        "NLLLoss2d"
    ).split()
)
_TUPLE_RESULTS = frozenset(
    "torch.nn.LSTM torch.nn.GRU torch.nn.RNN torch.nn.LSTMCell torch.nn.MultiheadAttention "
    "torch.nn.AdaptiveLogSoftmaxWithLoss".split()
)
RECURRENT = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
_RESULTS: dict[str, Value] = {
    "torch.nn.LSTM": (UNKNOWN, (UNKNOWN, UNKNOWN)),
    **dict.fromkeys(
        ("torch.nn.GRU", "torch.nn.RNN", "torch.nn.LSTMCell", "torch.nn.MultiheadAttention"), (UNKNOWN, UNKNOWN)
    ),
}
"""How many parts the results have of layers that give several."""
_NO_PARAMETERS = frozenset(
    "ReLU ReLU6 GELU SiLU Mish Sigmoid Tanh Softmax LogSoftmax Softplus Softsign ELU SELU CELU LeakyReLU Hardswish "
    "Hardsigmoid Hardtanh Identity Flatten Unflatten Dropout Dropout1d Dropout2d Dropout3d AlphaDropout MaxPool1d "
    "MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d "
    "AdaptiveMaxPool1d AdaptiveMaxPool2d Upsample UpsamplingNearest2d UpsamplingBilinear2d PixelShuffle "
    "PixelUnshuffle ZeroPad2d ReflectionPad2d ReplicationPad2d ConstantPad1d ConstantPad2d Fold Unfold "
    "CosineSimilarity PairwiseDistance Softmin GLU LogSigmoid Threshold Softshrink Hardshrink Tanhshrink Rearrange Reduce".split()
)
_COMPOSED = ("Transformer", "MultiheadAttention", "AdaptiveLogSoftmaxWithLoss")
"""Beginnings of the names of modules that are made of others without being containers."""
_HOLD_NOTHING = (int, str, float, type(None), Unknown, LibraryModule)
"""Kinds of values that hold no tensors as containers do."""
ENTROPIES = (
    "torch.nn.CrossEntropyLoss",
    "torch.nn.NLLLoss",
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
)
"""Losses over numbers of classes."""
STATE = "torch.nn.Module.state_dict"
"""The path of what ``state_dict()`` gives: it stands for the parameters as they are, not for a copy."""


def is_stand_in(module: Value) -> bool:
    """Whether a module stands for one of which nothing is known but that it is one."""
    return isinstance(module, Instance) and "*" in module.slots


def is_loss(path: str) -> bool:
    return path in LOSSES


def is_reduced_loss(module: LibraryModule) -> bool:
    """Whether calling the module gives a scalar."""
    return module.path in LOSSES and module.kwargs.get("reduction", "mean") in ("mean", "sum")


def returns_tensor(module: LibraryModule) -> bool:
    return module.path.startswith("torch.nn.") and module.path not in _TUPLE_RESULTS


def parts_of_result(module: LibraryModule) -> Value:
    """The result of a layer that gives several things when nothing is known of its input."""
    return _RESULTS.get(module.path, UNKNOWN)


def has_parameters(interp: Interpreter, module: LibraryModule) -> bool:
    if module.built is not None and (module.built.has_parameters or module.children is None):
        return module.built.has_parameters
    if module.children is not None:
        return any(
            has_parameters(interp, child) if isinstance(child, LibraryModule) else isinstance(child, Instance)
            for _, child in module.children
        )
    return not is_loss(module.path) and module.type_name not in _NO_PARAMETERS


def has_own_parameters(module: LibraryModule) -> bool:
    """Whether a module that is no container may have parameters of its own."""
    if module.built is not None:
        return module.built.has_parameters
    return module.children is None and not is_loss(module.path) and module.type_name not in _NO_PARAMETERS


def stands_for_any(module: Value) -> bool:
    """Whether a module stands for one that nobody passes: of its parts nothing is known."""
    return isinstance(module, Instance) and isinstance(module.cls.slots.get("forward"), Builtin)


def training_of(module: AnyModule) -> bool | None:
    mode: bool | None = module.state["training"]
    return mode


def tensors_in(value: Value, depth: int = 4) -> list[Tensor]:
    """Every tensor in a tree of containers, in order."""
    if isinstance(value, Tensor):
        return [value]
    if depth == 0 or isinstance(value, _HOLD_NOTHING):
        return []
    found: list[Tensor] = []
    for item in _held(value):
        if isinstance(item, Tensor):
            found.append(item)
        elif not isinstance(item, _HOLD_NOTHING):
            found += tensors_in(item, depth - 1)
    return found


def _held(value: Value) -> Iterable[Value]:
    """The values that a container or a distribution is made of."""
    match value:
        case tuple():
            return value
        case ListValue() | DictValue():
            return value.elements or ()
        case LibraryObject() if value.path.startswith("torch.distributions."):
            return (*value.args, *value.kwargs.values())
    return ()


def objects_in(value: Value, depth: int = 3) -> Iterator[int]:
    """Identities of the modules and library objects in a tree of containers and objects of the user's."""
    items: Any = ()
    match value:
        case LibraryModule() | LibraryObject() | Instance():
            yield value.identity
            items = value.slots.values() if isinstance(value, Instance) and not value.is_module else ()
        case Parameters():
            items = value.modules
        case tuple():
            items = value
        case ListValue():
            items = value.items or ()
        case DictValue():
            items = value.elements
        case Bound():
            items = (value.receiver,)
    if depth:
        for item in tuple(items):
            yield from objects_in(item, depth - 1)


def named_children(module: Value) -> list[tuple[str, Value]]:
    match module:
        case LibraryModule():
            if module.path in PARAMETER_CONTAINERS:
                return []
            # `block = nn.Module(); block.conv = nn.Conv2d(…)`
            set_on_it = [pair for pair in module.slots["attributes"].items() if is_module(pair[1])]
            return [*(module.children or ()), *set_on_it]
        case Instance():
            own: list[tuple[str, Value]] = [
                (str(name), value) for name, value in module.slots.items() if is_module(value)
            ]
            if isinstance(module.native, LibraryModule):
                inner = named_children(module.native)
                own = [*inner, *(pair for pair in own if pair not in inner)]
            return own
    return []


def descendants(module: Value, seen: set[int] | None = None) -> Iterator[AnyModule]:
    """The module and every module below it, once each."""
    seen = set() if seen is None else seen
    if not isinstance(module, LibraryModule | Instance) or module.identity in seen:
        return
    seen.add(module.identity)
    yield module
    if isinstance(module, Instance) and isinstance(module.native, LibraryModule):
        yield from descendants(module.native, seen)
    for _, part in named_children(module):
        yield from descendants(part, seen)


def named_descendants(module: Value, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Value]]:
    """The result of ``named_modules()``: the module as "", and every module below it, once each."""
    seen = set() if seen is None else seen
    if not isinstance(module, LibraryModule | Instance) or module.identity in seen:
        return
    seen.add(module.identity)
    yield prefix, module
    for name, part in named_children(module):
        yield from named_descendants(part, f"{prefix}.{name}" if prefix else name, seen)


def children_known(module: Value) -> bool:
    """Whether `named_children` are all the children that there are."""
    if isinstance(module, LibraryModule):
        told = module.built is not None or not module.type_name.startswith(_COMPOSED)
        return module.children is not None or (module.slots["children"] is None and told)
    if not isinstance(module, Instance) or module.cls.opaque or module.state.get("open"):
        return False
    if module.native is not None and not children_known(module.native):
        return False
    held = module.slots.values()
    return not any(is_unknown(value) or (isinstance(value, Choice) and _may_hold_modules(value)) for value in held)


def own_parameters(module: Value) -> list[Tensor]:
    """Parameters that are attributes of a user module."""
    return [tensor for tensor in own_tensors(module) if tensor.parameter]


def parts_of(module: Value) -> Iterator[LibraryModule | Tensor]:
    """The holders of the parameters of a module: library modules, and parameters that are attributes of the user's."""
    for part in descendants(module):
        if isinstance(part, LibraryModule):
            yield part
        yield from own_parameters(part)


def holds_parameters(module: Value) -> bool:
    """Whether a module is known to have parameters, itself or in its parts."""
    return any(isinstance(part, Tensor) or has_own_parameters(part) for part in parts_of(module))


def has_unknown_parts(module: Value) -> bool:
    """Whether something in a module is not known, so that other modules may be in there."""
    if not isinstance(module, LibraryModule | Instance):
        return True
    for part in descendants(module):
        match part:
            case LibraryModule() if is_unknown(part.slots["children"]):
                return True
            case Instance() if part.cls.opaque or any(_may_hold_modules(v) for v in part.slots.values()):
                return True
    return False


def unknown_names(module: Value, prefix: str = "") -> Iterator[str]:
    """The beginnings of the names of those modules that something unknown in a module may be."""
    if isinstance(module, Instance):
        yield from (f"{prefix}{name}." for name, value in module.slots.items() if _may_hold_modules(value))
    known = isinstance(module, Instance) and not module.cls.opaque
    if not known and not (isinstance(module, LibraryModule) and not is_unknown(module.slots["children"])):
        yield prefix
    for name, part in named_children(module):
        yield from unknown_names(part, f"{prefix}{name}.")


def _may_hold_modules(value: Value) -> bool:
    if isinstance(value, Choice):
        return any(is_module(option) or _may_hold_modules(option) for option in value.options)
    return is_unknown(value) or isinstance(value, tuple) and any(_may_hold_modules(item) for item in value)


def own_tensors(module: Value) -> list[Tensor]:
    """Parameters and buffers that are attributes of a user module."""
    held: Iterable[Value] = module.slots.values() if isinstance(module, Instance) else ()
    if isinstance(module, LibraryModule) and module.path in PARAMETER_CONTAINERS:
        held = [value for _, value in module.children or ()]
    return [value for value in of_kind(held, Tensor) if (value.parameter or value.buffer)]


def parameter(interp: Interpreter, module: LibraryModule, name: str) -> Value:
    """The things that the constructor of a module made: a size, or a parameter."""
    try:
        spec = interp.oracle.attribute(interp.recipe(module), name)
    except (LookupError, NotASpec):
        return UNKNOWN

    def make(tensor_spec: Any) -> Tensor:
        grad = None if module.requires_grad is None else tensor_spec.requires_grad
        tensor = Tensor(tensor_spec.with_(device=module.device, requires_grad=grad))
        tensor.parameter = True
        tensor.owner = module
        tensor.member = name
        return tensor

    return interp.from_spec(spec, make)
