"""Methods of tensors: what the oracle is not asked, and how it is asked the rest."""

from __future__ import annotations

import ast
import math
from typing import Any

from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments, device_of
from torchsleuth.interp.batch import plain
from torchsleuth.interp.inputs import argument_behind
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import arrays, draws, hooks, integers
from torchsleuth.interp.models import Model, attribute, method
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax.forms import is_attribute, is_method_call
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.tensors.dims import Size, is_index
from torchsleuth.tensors.legacy import named_type
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, DType, Failure, Native, is_differentiable
from torchsleuth.values import (
    UNKNOWN,
    Bound,
    Choice,
    Element,
    ListValue,
    Origin,
    Scalar,
    Several,
    Shape,
    Sizes,
    Tensor,
    Value,
    is_int,
    is_unknown,
    items_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import AutogradFault, Cut, node_of

CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64",
    "int": "int32", "short": "int16", "bool": "bool", "byte": "uint8", "char": "int8",
}  # fmt: skip
NO_DEVICE: Any = object()
"""There is no ``device=`` argument."""


class TensorMethods(Model):
    """The methods of a tensor. What is not here is an operator."""

    def __init__(self, interp: Interpreter, value: Tensor, name: str = "") -> None:
        super().__init__(interp, value, name)
        self.tensor = value
        self.spec = interp.resolved_spec(value.spec)

    def run(self, call: Arguments) -> Value:
        path = f"torch.Tensor.{self.name}"
        parameters = self.interp.oracle.signature(path)
        misuse.misfits(self.interp, parameters and parameters[1:], Native(path, "function"), call)
        return super().run(call)

    def other(self, call: Arguments) -> Value:
        """An operator."""
        if self.name == "new" or self.name.startswith("new_"):
            return self._new(call)
        target = f"Tensor.{self.name}"
        return self.interp.operate(target, (self.tensor, *call.args), call.kwargs, call.node, call.frame)

    def get(self, node: ast.AST, frame: Frame) -> Value:
        found = self.attributes.get(self.name)
        if found is not None:
            return found(self, node, frame)
        if self.tensor.argument is None and self.name not in self.interp.named_by_hand:
            misuse.absent(self.interp, "torch.Tensor", self.name, node, frame)
        return Bound(self.tensor, self.name)

    # -- attributes --------------------------------------------------------------------------------

    @attribute
    def shape(self, node: ast.AST, frame: Frame) -> Value:
        return Shape(self.tensor) if self.spec.shape is None else Sizes(self.spec.shape)

    @attribute
    def ndim(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN if self.spec.rank is None else self.spec.rank

    @attribute
    def dtype(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN if self.spec.dtype is None else DType(self.spec.dtype)

    @attribute
    def device(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN if self.spec.device is None else self.spec.device

    @attribute
    def requires_grad(self, node: ast.AST, frame: Frame) -> Value:
        return Scalar("bool") if self.spec.requires_grad is None else self.spec.requires_grad

    @attribute
    def is_cuda(self, node: ast.AST, frame: Frame) -> Value:
        place = self.spec.device
        return Scalar("bool") if place is None or place.symbolic else place.kind == "cuda"

    @attribute("T", "mT", "H", "mH", "real", "imag")
    def view_of_all(self, node: ast.AST, frame: Frame) -> Value:
        return self.interp.operate(f"Tensor.{self.name}", (self.tensor,), {}, node, frame)

    @attribute
    def data(self, node: ast.AST, frame: Frame) -> Value:
        bare = self._detached()
        if node_of(self.tensor) is not None:
            self.interp.record_method("Tensor.data", self.tensor, bare, node, frame)
        return self.interp.severed(self.tensor, bare, "data", self.interp.site(node, frame))

    @attribute
    def grad(self, node: ast.AST, frame: Frame) -> Value:
        interp, tensor = self.interp, self.tensor
        interp.event("grad_touched", tensor, node, frame)
        missing = interp.check_grad(tensor, node, frame) or interp.check_early(tensor, (tensor,), node, frame)
        return None if missing else _gradient(interp, tensor)

    @attribute("grad_fn", "is_leaf", "names", "itemsize", "nbytes", "layout", "is_sparse")
    def not_modelled(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN

    # -- sizes -------------------------------------------------------------------------------------

    @method
    def size(self, call: Arguments) -> Value:
        interp, shape, index = self.interp, self.spec.shape, call.given(0, "dim")
        if shape is None:
            return Shape(self.tensor) if index is None else interp.fresh_size("?")
        if index is None:
            return Sizes(shape)
        match index:
            case int() if is_index(index, shape):
                return shape[index]
            case int():
                return interp.operate("Tensor.size", (self.tensor, index), {}, call.node, call.frame)
        return interp.fresh_size("?")

    @method("dim", "ndimension")
    def rank(self, call: Arguments) -> Value:
        return UNKNOWN if self.spec.rank is None else self.spec.rank

    @method("numel", "nelement")
    def count(self, call: Arguments) -> Value:
        count = self.spec.numel()
        return self.interp.fresh_size() if count is None else count

    @method("view", "reshape", "expand")
    def reshaped(self, call: Arguments) -> Value:
        several = len(call.args) > 1 and call.exact and any(map(is_unknown, call.args))
        as_other = any_are(call.args, DType)  # `x.view(torch.int32)`: the same memory, read as other numbers
        if as_other or (self.spec.shape is not None and not several):
            return self.other(call)
        return _reshape_unknown(self.interp, self.tensor, self.name, call)

    @method
    def permute(self, call: Arguments) -> Value:
        """An argument of which nobody says the rank has as many dimensions as are named; a result that is not known stays so."""
        if self.spec.shape is not None or argument_behind(self.tensor) is not None:
            return self.other(call)
        return _otherwise_shaped(self.interp, self.tensor, self.name, call, None)

    # -- conversions -------------------------------------------------------------------------------

    @method("to", "type", "cuda", "cpu", "xpu")
    def moved(self, call: Arguments) -> Value:
        return to(self.interp, self.tensor, self.name, call)

    @method(*CASTS)
    def cast(self, call: Arguments) -> Value:
        dtype = CASTS[self.name]
        if call.args:
            return UNKNOWN if self.name == "bool" else self.other(call)
        if _is_already(self.interp, self.tensor, dtype, self.spec.device):
            return self.tensor
        return converted(self.interp, self.tensor, dtype, self.spec.device, call)

    @method
    def type_as(self, call: Arguments) -> Value:
        if not call.args or not isinstance(call.args[0], Tensor):
            return self.other(call)
        other = call.args[0].spec
        return converted(self.interp, self.tensor, other.dtype, other.device, call)

    @method("item", "tolist")
    def numbers(self, call: Arguments) -> Value:
        interp, count = self.interp, as_kind(self.spec.numel(), int)
        if self.name == "item" and count is not None and count != 1:
            return interp.operate("Tensor.item", (self.tensor,), {}, call.node, call.frame)
        if self.name == "item" or self.spec.rank == 0:
            return _number(interp, self.tensor, self.name, call)
        return ListValue(None) if self.spec.shape is None else _numbers(interp, self.tensor, self.spec.shape, call)

    @method("numpy", "__array__")
    def array(self, call: Arguments) -> Value:
        interp, site = self.interp, self.interp.site(call.node, call.frame)
        if self.name == "numpy" and self.spec.requires_grad and interp.grad and call.given(0, "force", False) is False:
            interp.fault(AutogradFault("numpy", site, self.tensor))
        if self.name == "numpy" and self.spec.dtype == "bfloat16" and misuse.is_certain(interp, call.frame):
            operation = interp.operation("Tensor.numpy", (self.tensor,), {}, call.node, call.frame, None)
            text = "Got unsupported ScalarType BFloat16"
            interp.report(operation, Failure("TypeError", text, confirmed=True))
        array = arrays.make(self.spec.shape, self.spec.dtype)
        array.slots["cut"] = interp.cut(self.tensor, "numpy", site)
        return array

    @method
    def contiguous(self, call: Arguments) -> Value:
        tensor = self.tensor
        if self.spec.strides is None and self.spec.shape is not None:
            return tensor
        made = Tensor(self.spec.with_(strides=None), tensor.origin, tensor.tags, tensor.history)
        return self.interp.same_graph(tensor, made)

    # -- gradients ---------------------------------------------------------------------------------

    @method
    def backward(self, call: Arguments) -> Value:
        interp, tensor = self.interp, self.tensor
        interp.trace.consumed.update(tensor.history)
        interp.event("backward", tensor, call.node, call.frame, tensor=tensor)
        create = interp.truth(call.given(2, "create_graph", False))
        kept = call.given(1, "retain_graph", call.kwargs.get("retain_variables"))
        retain = create if kept is None else interp.truth(kept)
        if call.exact and "inputs" not in call.kwargs:
            interp.backward(tensor, call.given(0, "gradient"), retain, call.node, call.frame)
        return None

    @method
    def requires_grad_(self, call: Arguments) -> Value:
        decided = self.interp.truth(call.given(0, "requires_grad", True))
        self.interp.require_grad(self.tensor, decided, call.node, call.frame)
        return self.tensor

    @method
    def detach(self, call: Arguments) -> Value:
        return self.interp.severed(self.tensor, self._detached(), "detach", self.interp.site(call.node, call.frame))

    @method
    def detach_(self, call: Arguments) -> Value:
        interp, tensor = self.interp, self.tensor
        cut = interp.cut(tensor, "detach", interp.site(call.node, call.frame))
        for slot, value in (("spec", self._detached().spec), ("history", frozenset()), ("node", None), ("cut", cut)):
            interp.heap.set(tensor.slots, slot, value)
        return tensor

    def _detached(self) -> Tensor:
        return Tensor(self.spec.with_(requires_grad=False), self.tensor.origin, self.tensor.tags)

    @method
    def retain_grad(self, call: Arguments) -> Value:
        self.interp.heap.set(self.tensor.slots, "has_grad", True)
        return None

    @method
    def register_hook(self, call: Arguments) -> Value:
        self.interp.heap.set(self.tensor.slots, "has_grad", True)
        return hooks.on_tensor(self.interp, self.tensor, self.name, call)

    @method
    def register_post_accumulate_grad_hook(self, call: Arguments) -> Value:
        return hooks.on_tensor(self.interp, self.tensor, self.name, call)

    # -- others ------------------------------------------------------------------------------------

    @method("share_memory_", "pin_memory")
    def placed(self, call: Arguments) -> Value:
        return self.tensor

    @method("is_floating_point", "is_complex")
    def is_of_family(self, call: Arguments) -> Value:
        dtype = self.spec.dtype
        return (
            Scalar("bool") if dtype is None else self.interp.attribute(DType(dtype), self.name, call.node, call.frame)
        )

    @method("is_contiguous", "data_ptr", "storage_offset", "get_device", "storage", "untyped_storage")
    def unknown(self, call: Arguments) -> Value:
        return UNKNOWN

    @method("apply_", "map_")
    def mapped(self, call: Arguments) -> Value:
        return UNKNOWN if call.args else self.other(call)

    def _new(self, call: Arguments) -> Value:
        """``x.new_zeros(…)`` and its like."""
        kwargs = dict(call.kwargs)
        place = take_device(kwargs)
        args, name = (self.tensor, *call.args), self.name
        if name == "new" and len(call.args) == 1 and isinstance(call.args[0], tuple):
            given = call.expression.args[0] if call.expression is not None and call.expression.args else None
            if not isinstance(given, ast.Tuple) and not _is_size(given):
                return Tensor(UNKNOWN_TENSOR.with_(dtype=self.tensor.spec.dtype))
            name = "new_empty" if _is_size(given) else name
        value = self.interp.operate(f"Tensor.{name}", args, kwargs, call.node, call.frame)
        if isinstance(value, Tensor):
            device = self.tensor.spec.device if place is NO_DEVICE else place
            self.interp.heap.set(value.slots, "spec", value.spec.with_(device=device, requires_grad=False))
            self.interp.heap.set(value.slots, "history", frozenset())
        return value


def _is_size(node: ast.expr | None) -> bool:
    """Whether an expression is a torch.Size as it is written: ``x.shape``, ``x.size()``, or a slice of one. `Tensor.new` takes
    that for the shape, and any other sequence for the elements."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value
    return is_attribute(node, "shape") or (is_method_call(node, "size") and not node.args)


def take_device(kwargs: dict[str, Value]) -> Any:
    """The device named by a ``device=`` argument, None if it is not known, NO_DEVICE if there is none."""
    if "device" not in kwargs:
        return NO_DEVICE
    value = kwargs.pop("device")
    return NO_DEVICE if value is None else device_of(value)


def _number(
    interp: Interpreter, tensor: Tensor, method: str, call: Arguments, place: int | Element | None = None
) -> Value:
    """An element of a tensor as a Python number."""
    dtype, cut = tensor.spec.dtype, interp.cut(tensor, method, interp.site(call.node, call.frame))
    if dtype is None and cut is None:
        return UNKNOWN  # an integer or a truth, for all that is known
    if dtype is None or dtype.startswith(("float", "bfloat")):
        return Scalar("float", cut)
    return Scalar("bool") if dtype == "bool" else draws.number(interp, tensor, place)


def _numbers(
    interp: Interpreter, tensor: Tensor, shape: tuple[Size, ...], call: Arguments, place: int | Element | None = None
) -> ListValue:
    """``tensor.tolist()``: lists in lists of numbers, of which no two need be equal. `place`: of the row, in the tensor."""
    row = draws.place_of(tensor) if place is None else place

    def element(index: int) -> Value:
        at = Element(row, index)
        if len(shape) > 1:
            return _numbers(interp, tensor, shape[1:], call, at)
        return _number(interp, tensor, "tolist", call, at)

    count, *rest = shape
    if isinstance(count, int) and count * math.prod(of_kind(rest, int)) <= 256:
        return ListValue(tuple(element(index) for index in range(count)))
    one = element(0)
    return ListValue(Several((one,) if isinstance(one, Scalar) else (one, element(1))))


def _reshape_unknown(interp: Interpreter, tensor: Tensor, name: str, call: Arguments) -> Value:
    """A view of a tensor of unknown shape, or in sizes that are not known, still has the rank, and most of the sizes, that it
    asks for."""
    given = call.args or tuple(call.kwargs.values())
    sizes = given[0] if len(given) == 1 and isinstance(given[0], tuple | ListValue) else given
    items = items_of(sizes)
    # One alone that is not known may be several.
    if not items or (items is given and len(items) == 1 and not is_int(items[0])):
        return _otherwise_shaped(interp, tensor, name, call, None)
    known = (interp.resolved(size) if is_int(size) else -1 for size in items)
    shape = tuple(interp.fresh_size("?", positive=False) if size == -1 else size for size in known)
    return interp.same_graph(tensor, _otherwise_shaped(interp, tensor, name, call, shape))


def _otherwise_shaped(
    interp: Interpreter, tensor: Tensor, name: str, call: Arguments, shape: tuple[Size, ...] | None
) -> Tensor:
    """The elements of a tensor of unknown shape in another one. What its rank has to be says nothing of the tensor's."""
    origin = Origin(interp.site(call.node, call.frame), f"Tensor.{name}", (tensor.spec,), (tensor,))
    if shape is None:
        return Tensor(UNKNOWN_TENSOR.with_(dtype=tensor.spec.dtype, device=tensor.spec.device), origin)
    return Tensor(tensor.spec.with_(shape=shape, strides=None), origin, plain(tensor.tags), tensor.history)


def to(interp: Interpreter, tensor: Tensor, name: str, call: Arguments) -> Value:

    device, dtype = tensor.spec.device, tensor.spec.dtype
    if name == "cpu":
        device = CPU
    elif name in ("cuda", "xpu"):
        index = call.given(0, "device")
        device = device_of(index) if index is not None else Device(name)
    elif name == "type" and not call.args and not call.kwargs:
        return Scalar("str")
    elif name == "type" and (named := named_type(call.given(0, "dtype"))) is not None:
        dtype, device = named
    else:
        for key, value in [*((None, value) for value in call.args), *call.kwargs.items()]:
            if key in ("non_blocking", "copy", "memory_format"):
                continue
            if isinstance(value, DType):
                dtype = value.name
            elif isinstance(value, Tensor):
                device, dtype = value.spec.device, value.spec.dtype
            elif isinstance(value, bool):
                continue
            elif name == "type":
                device = dtype = None
            elif isinstance(value, str | int | Device) and (place := device_of(value)) is not None:
                device = place
            elif value is not None:
                device = None
                if is_unknown(value) and key != "device":
                    # It may as well be a dtype.
                    dtype = None
    if not call.kwargs.keys() & {"copy", "memory_format"} and _is_already(interp, tensor, dtype, device):
        return tensor
    return converted(interp, tensor, dtype, device, call)


def _is_already(interp: Interpreter, tensor: Tensor, dtype: str | None, device: Device | None) -> bool:
    """Whether a tensor has the dtype, and is on the device, that it is asked for: PyTorch then gives the tensor itself."""
    spec = interp.resolved_spec(tensor.spec)
    return None not in (dtype, device) and (spec.dtype, spec.device) == (dtype, device)


def converted(interp: Interpreter, tensor: Tensor, dtype: str | None, device: Device | None, call: Arguments) -> Tensor:
    """The tensor with another dtype or device; the same object's graph goes on in it."""

    spec = interp.resolved_spec(tensor.spec)
    grad = spec.requires_grad
    if not is_differentiable(dtype):
        grad = False
    origin = tensor.origin
    if origin is None or tensor.storage.slots.get("version"):  # what was written since then is in this one, too
        origin = Origin(interp.site(call.node, call.frame), "to", (spec,), (tensor,))
    converted = Tensor(
        spec.with_(dtype=dtype, device=device, requires_grad=grad, strides=spec.strides if spec.is_dense else None),
        origin,
        integers.converted(tensor.tags, dtype),
        tensor.history if grad is not False else frozenset(),
    )
    interp.same_graph(tensor, converted)
    if grad is False and spec.requires_grad is True:
        converted.slots["cut"] = Cut("integers", interp.site(call.node, call.frame))
    return converted


def _gradient(interp: Interpreter, owner: Tensor) -> Value:
    """``x.grad``: like the tensor itself, once there is one."""
    holder = owner if owner.owner is None else owner.owner
    kept = owner.slots.get("grad")
    if kept is None:
        kept = Tensor(interp.resolved_spec(owner.spec).with_(requires_grad=None, strides=None))
        interp.heap.set(owner.slots, "grad", kept)
    return kept if holder.slots.get("graded") is True else Choice((None, kept))
