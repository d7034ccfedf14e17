"""Layers that are no longer what a constructor call tells, as functions of tensors: those whose sizes are not known, and
those whose weights were replaced by others of another shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import hierarchy
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_index
from torchsleuth.tensors.spec import Equality, ModuleSpec, Result, TensorSpec
from torchsleuth.values import UNKNOWN, LibraryModule, Tensor, Value, is_int, is_plain, is_unknown, items_of, tuple_of


@dataclass(frozen=True)
class FunctionalForm:
    """A function to call with the layer's input and these further arguments. `exact`: they are what the layer has, so
    that it fails where the function does; otherwise it stands for layers of several sizes. `names`: of the parameters of
    the layer that the arguments are, empty for one that is none. `after`: how many of those that the layer is called with come
    in front of them, None for all."""

    path: str
    args: tuple[Any, ...]
    exact: bool = False
    names: tuple[str, ...] = ()
    after: int | None = None

    def arguments(self, given: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of the function for a layer that is called with these."""
        place = len(given) if self.after is None else self.after
        return (*given[:place], *self.args, *given[place:])


class _Constructor:
    """The arguments of a layer's constructor. `shape`: of the input of a call."""

    def __init__(self, interp: Interpreter, module: LibraryModule, shape: tuple[Size, ...]) -> None:
        self.interp = interp
        self.module = module
        self.shape = shape
        self.dtype = module.slots["dtype"] or "float32"
        self.sure = True
        """Whether every size that was asked for is the layer's own."""
        self.decided = True
        """Whether each of them is a number, or stands for any number: none was taken from the input or is supposed."""

    def value(self, position: int, name: str, default: Value = UNKNOWN) -> Value:
        if name in self.module.kwargs:
            return self.module.kwargs[name]
        return self.module.args[position] if position < len(self.module.args) else default

    def size(self, position: int, name: str, axis: int | None = None) -> Size:
        """A size, where it is the same for all the layers that this one may stand for; otherwise what the input has in
        dimension `axis`, or any."""
        value = self.value(position, name)
        if is_int(value) and all(symbol in self.interp.lasting for symbol in dims.symbols(value)):
            size: Size = self.interp.resolved(value)
            self.decided = self.decided and isinstance(value, int)
            return size
        self.sure = False
        self.decided = self.decided and axis is None and is_unknown(value)
        return self.interp.fresh_size("?") if axis is None else self.at(axis)

    def at(self, axis: int) -> Size:
        """A size of the input. Raises LookupError."""
        if not is_index(axis, self.shape):
            raise LookupError(axis)
        return self.shape[axis]

    def plain(self, position: int, name: str, default: Value) -> Value:
        """A number or a tuple of numbers; symbols, too, where a contract is inferred. Raises LookupError."""
        value = self.value(position, name, default)
        value = items_of(value) or value
        parts = tuple_of(value)
        if self.interp.is_inferring() and all(is_int(part) for part in parts):
            resolved = tuple(map(self.interp.resolved, parts))
            return resolved if isinstance(value, tuple) else resolved[0]
        if not all(is_plain(part) for part in parts):
            raise LookupError(name)
        return value

    def weight(self, *shape: Size) -> TensorSpec:
        return TensorSpec(shape, self.dtype, None, self.module.requires_grad is not False)

    def bias(self, position: int, size: Size) -> TensorSpec | None:
        """The bias: whether there is one makes no difference to the shape of the result."""
        return self.weight(size) if self.value(position, "bias", True) is not False else None

    def flag(self, position: int, name: str) -> bool:
        """A switch that is off by default. Raises LookupError."""
        value = as_kind(self.value(position, name, False), bool)
        if value is None:
            raise LookupError(name)
        return value


def is_plain_sequence(module: LibraryModule, specs: tuple[TensorSpec, ...]) -> bool:
    """Whether a recurrent layer gets nothing but a sequence of its own dtype, some sizes of which are symbols."""
    if module.path not in hierarchy.RECURRENT or len(specs) != 1:
        return False
    spec = specs[0]
    return spec.shape is not None and spec.symbolic and spec.dtype == (module.slots["dtype"] or "float32")


def recurrent_result(interp: Interpreter, module: LibraryModule, spec: TensorSpec) -> Result | None:
    """The result of a recurrent layer of symbolic sizes for a sequence; None where that is not known."""
    if module.path not in hierarchy.RECURRENT or interp.changed(module) or spec.rank not in (2, 3):
        return None
    shape = spec.shape or ()
    made = _Constructor(interp, module, shape)
    try:
        inputs, hidden = made.size(0, "input_size"), made.size(1, "hidden_size")
        layers = made.size(2, "num_layers") if made.value(2, "num_layers", 1) != 1 else 1
        # Positions are those of nn.LSTM and nn.GRU; nn.RNN has its nonlinearity among them.
        shift = module.path.endswith(".RNN")
        first, both = made.flag(4 + shift, "batch_first"), made.flag(6 + shift, "bidirectional")
    except LookupError:
        return None
    if not made.sure or made.value(7 + shift, "proj_size", 0) != 0:
        return None
    ways = 2 if both else 1
    batch = () if spec.rank == 2 else (shape[0] if first else shape[1],)
    out = spec.with_(shape=(*shape[:-1], dims.multiply(ways, hidden)), strides=None, requires_grad=None)
    last = spec.with_(shape=(dims.multiply(ways, layers), *batch, hidden), strides=None, requires_grad=None)
    state: Any = (last, last) if module.path.endswith(".LSTM") else last
    return Result((out, state), (Equality(shape[-1], inputs, False),))


def sequence_result(interp: Interpreter, module: LibraryModule, spec: TensorSpec) -> Any:
    """The specs that a recurrent layer of known sizes makes of a sequence of symbolic length, None where that is not certain:
    PyTorch would have to follow it step by step, which takes seconds."""
    result = recurrent_result(interp, module, spec)
    if result is None or module.requires_grad is None or spec.requires_grad is None:
        return None
    if not all(isinstance(fact.left, int) and fact.left == fact.right for fact in result.facts):
        return None
    out, state = result.value
    grad = interp.grad and (module.requires_grad or spec.requires_grad)
    last = tuple(part.with_(requires_grad=grad) for part in state) if isinstance(state, tuple) else state
    return out.with_(requires_grad=grad), last if isinstance(last, tuple) else last.with_(requires_grad=grad)


_OWN = ("weight", "bias")
Form = Callable[[_Constructor], FunctionalForm]
_FORMS: dict[str, Form] = {}
_MOST_TENSORS = {"EmbeddingBag": 2}
"""How many tensors a layer takes, where that may be more than one."""


def functional_form(interp: Interpreter, module: LibraryModule, given: tuple[TensorSpec, ...]) -> FunctionalForm | None:
    """The form of a layer that is called with these tensors, None for layers without one."""
    name = module.path.removeprefix("torch.nn.")
    make, shape = _FORMS.get(name), given[0].shape if given else None
    if make is None or shape is None or module.slots["tied"] or len(given) > _MOST_TENSORS.get(name, 1):
        return None
    made = _Constructor(interp, module, shape)
    try:
        form = make(made)
    except LookupError:
        return None
    changed = interp.changed(module)
    if changed:
        return _with_assigned(interp, form, changed)
    # What fails with sizes that stand for any numbers fails whatever they are.
    return replace(form, exact=made.decided or made.sure and interp.is_general())


def own_parameter(interp: Interpreter, module: LibraryModule, name: str) -> TensorSpec | None:
    """A parameter of a layer that is made with symbols, None for a bias that it has not. Raises LookupError."""
    make = _FORMS.get(module.path.removeprefix("torch.nn."))
    if make is None or interp.changed(module) or module.slots["tied"]:
        raise LookupError(module.path)
    made = _Constructor(interp, module, ())
    form = make(made)
    if not made.sure:
        raise LookupError(name)
    return dict(zip(form.names, form.args))[name]


_TRIED = ((24, 24), (60, 36))
"""The numbers that symbols stand for where a layer is made: so much for the first, and so much more for each further one."""


def own_constant(interp: Interpreter, module: LibraryModule, name: str) -> Value:
    """The plain values that a layer which is made with symbols keeps, as two choices of numbers show. Raises LookupError."""
    recipe = interp.recipe(module)
    shown = tuple(interp.oracle.attribute(one, name) for one, _ in with_numbers(recipe))
    if not shown:
        raise LookupError(name)
    choices = [numbers for _, numbers in with_numbers(recipe)]
    given = (size for size in _given(recipe) if isinstance(size, dims.Dim))
    return _kept(shown, {tuple(_with_numbers(size, one) for one in choices): size for size in given})


def with_numbers(recipe: ModuleSpec) -> Iterator[tuple[ModuleSpec, dict[dims.Symbol, int]]]:
    """A layer that is made with symbols with two choices of numbers for them; nothing for one without."""
    symbols = list(dict.fromkeys(symbol for size in _given(recipe) if is_int(size) for symbol in dims.symbols(size)))
    for first, more in _TRIED if symbols else ():
        numbers = {symbol: first + more * place for place, symbol in enumerate(symbols)}
        args = tuple(_with_numbers(one, numbers) for one in recipe.args)
        kwargs = tuple((word, _with_numbers(one, numbers)) for word, one in recipe.kwargs)
        yield replace(recipe, args=args, kwargs=kwargs), numbers


def _given(recipe: ModuleSpec) -> Iterator[Any]:
    for one in (*recipe.args, *(value for _, value in recipe.kwargs)):
        yield from tuple_of(one)


def _with_numbers(value: Any, numbers: Mapping[dims.Symbol, int]) -> Any:
    if isinstance(value, tuple):
        return tuple(_with_numbers(one, numbers) for one in value)
    return dims.substitute(value, dict(numbers)) if isinstance(value, dims.Dim) else value


def _kept(shown: tuple[Any, ...], sizes: Mapping[tuple[Any, ...], Size]) -> Value:
    """The value that is each of these with the numbers of each choice. `sizes`: those that the constructor is given. Raises
    LookupError."""
    if all_are(shown, tuple) and len({len(one) for one in shown}) == 1:
        return tuple(_kept(parts, sizes) for parts in zip(*shown))
    if shown in sizes:
        return sizes[shown]
    if not is_plain(shown[0]) or any(type(one) is not type(shown[0]) or one != shown[0] for one in shown):
        raise LookupError(shown)
    return shown[0]


def _with_assigned(interp: Interpreter, form: FunctionalForm, given: Mapping[str, Value]) -> FunctionalForm | None:
    """The form of a layer whose parameters were assigned, maybe with other shapes than their own: ``decoder.weight =
    embedding.weight``."""
    specs = {
        name: interp.resolved_spec(part.spec) if isinstance(part, Tensor) else part for name, part in given.items()
    }
    for name, spec in specs.items():
        known = isinstance(spec, TensorSpec) and spec.shape is not None
        if name not in form.names or not (known or (spec is None and name == "bias")):
            return None
    args = tuple(specs.get(name, own) if name else own for name, own in zip(form.names, form.args))
    weight = as_kind(specs.get("weight"), TensorSpec)
    exact = weight is not None and not weight.symbolic
    return replace(form, args=(*args, *form.args[len(args) :]), exact=exact)


def _form(*names: str) -> Callable[[Form], Form]:
    def register(make: Form) -> Form:
        _FORMS.update(dict.fromkeys(names, make))
        return make

    return register


@_form("Linear")
def _linear(made: _Constructor) -> FunctionalForm:
    inputs, outputs = made.size(0, "in_features", -1), made.size(1, "out_features")
    args = (made.weight(outputs, inputs), made.bias(2, outputs))
    return FunctionalForm("torch.nn.functional.linear", args, names=_OWN)


@_form("Conv1d", "Conv2d", "Conv3d")
def _convolution(made: _Constructor) -> FunctionalForm:
    axes = int(made.module.path[-2])
    kernel = made.plain(2, "kernel_size", UNKNOWN)
    kernel = kernel if isinstance(kernel, tuple) else (kernel,) * axes
    stride, padding, dilation = made.plain(3, "stride", 1), made.plain(4, "padding", 0), made.plain(5, "dilation", 1)
    outputs = made.size(1, "out_channels")
    # The shape of the result does not depend on the groups.
    grouped = made.value(6, "groups", 1) != 1
    made.sure, made.decided = made.sure and not grouped, made.decided and not grouped
    if grouped and made.interp.changed(made.module):
        raise LookupError("groups")
    inputs = made.at(-axes - 1) if grouped else made.size(0, "in_channels", -axes - 1)
    args = (made.weight(outputs, inputs, *kernel), made.bias(7, outputs), stride, padding, dilation)
    return FunctionalForm(f"torch.nn.functional.conv{axes}d", args, names=_OWN)


@_form("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")
def _transposed_convolution(made: _Constructor) -> FunctionalForm:
    axes = int(made.module.path[-2])
    kernel = made.plain(2, "kernel_size", UNKNOWN)
    kernel = kernel if isinstance(kernel, tuple) else (kernel,) * axes
    stride, padding, more = made.plain(3, "stride", 1), made.plain(4, "padding", 0), made.plain(5, "output_padding", 0)
    dilation = made.plain(8, "dilation", 1)
    if made.value(6, "groups", 1) != 1:
        raise LookupError("groups")
    inputs, outputs = made.size(0, "in_channels", -axes - 1), made.size(1, "out_channels")
    bias = made.weight(outputs) if made.value(7, "bias", True) is not False else None
    args = (made.weight(inputs, outputs, *kernel), bias, stride, padding, more, 1, dilation)
    return FunctionalForm(f"torch.nn.functional.conv_transpose{axes}d", args, names=_OWN)


@_form("LayerNorm", "RMSNorm")
def _layer_norm(made: _Constructor) -> FunctionalForm:
    given = made.value(0, "normalized_shape")
    sizes = tuple_of(given)
    if is_unknown(given) or isinstance(given, tuple) and not all_are(sizes, int):
        raise LookupError("normalized_shape")
    shape = sizes if isinstance(given, tuple) else (made.size(0, "normalized_shape", -1),)
    name = "layer_norm" if made.module.path.endswith("LayerNorm") else "rms_norm"
    return FunctionalForm(f"torch.nn.functional.{name}", (shape, made.weight(*shape)), names=("", "weight"))


@_form("TransformerEncoderLayer")
def _encoder_layer(made: _Constructor) -> FunctionalForm:
    """It keeps the shape, and ends with a norm or what is as wide."""
    shape = (made.size(0, "d_model", -1),)
    made.sure = made.decided = False
    return FunctionalForm("torch.nn.functional.layer_norm", (shape, made.weight(*shape)))


@_form("Embedding")
def _embedding(made: _Constructor) -> FunctionalForm:
    weight = made.weight(made.size(0, "num_embeddings"), made.size(1, "embedding_dim"))
    return FunctionalForm("torch.nn.functional.embedding", (weight,), names=_OWN)


@_form("EmbeddingBag")
def _embedding_bag(made: _Constructor) -> FunctionalForm:
    if made.value(8, "include_last_offset", False) is not False:
        raise LookupError("include_last_offset")
    weight = made.weight(made.size(0, "num_embeddings"), made.size(1, "embedding_dim"))
    made.sure = made.decided = False
    return FunctionalForm("torch.nn.functional.embedding_bag", (weight,), names=_OWN, after=1)


@_form("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm")
def _batch_norm(made: _Constructor) -> FunctionalForm:
    size = made.size(0, "num_features", 1)
    moments = TensorSpec((size,), made.dtype, None, False)
    args = (moments, moments, made.weight(size), made.weight(size))
    return FunctionalForm("torch.nn.functional.batch_norm", args, names=("", "", *_OWN))


@_form("GroupNorm")
def _group_norm(made: _Constructor) -> FunctionalForm:
    """A norm keeps the shape, whatever its groups are."""
    made.sure = made.decided = False
    size = made.size(1, "num_channels", 1)
    return FunctionalForm("torch.nn.functional.group_norm", (1, made.weight(size), made.weight(size)))


@_form("Dropout", "Dropout1d", "Dropout2d", "Dropout3d")
def _dropout(made: _Constructor) -> FunctionalForm:
    return FunctionalForm("torch.nn.functional.dropout", ())
