"""Functions of torch and methods of tensors: what the oracle is not asked, and how it is asked the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torchsleuth.interp import demands, kinds, limits, misuse
from torchsleuth.interp.arguments import Arguments, device_of
from torchsleuth.interp.batch import plain
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import (
    arrays,
    copies,
    data,
    draws,
    files,
    hierarchy,
    hooks,
    integers,
    modules,
    packed,
    parameters,
    python,
    sequences,
    transforms,
)
from torchsleuth.oracle.limits import grows
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU, Device, parse
from torchsleuth.tensors.dims import Dim, Size
from torchsleuth.tensors.legacy import named_type
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, DType, Failure, Native, NotASpec, TensorSpec
from torchsleuth.values import (
    UNKNOWN,
    Availability,
    DictValue,
    Element,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Scalar,
    Several,
    Shape,
    Site,
    Tensor,
    Value,
    is_int,
    is_module,
    is_unknown,
)
from torchsleuth.values.graph import AutogradFault, Cut, cut_of, is_leaf

FACTORIES = frozenset(
    "zeros ones empty full rand randn randint randperm arange linspace logspace eye tensor as_tensor asarray "
    "empty_strided normal tril_indices triu_indices hann_window hamming_window range scalar_tensor".split()
)
_AVAILABLE = {
    "torch.cuda.is_available": "cuda",
    "torch.backends.mps.is_available": "mps",
    "torch.xpu.is_available": "xpu",
    "torch.mps.is_available": "mps",
    "torch.accelerator.is_available": "cuda",
}
_NOTHING = frozenset(
    "torch.manual_seed torch.set_num_threads torch.cuda.manual_seed torch.cuda.manual_seed_all torch.cuda.empty_cache "
    "torch.cuda.synchronize torch.use_deterministic_algorithms torch.set_printoptions torch.seed "
    "torch._assert torch.autograd.set_detect_anomaly torch.set_float32_matmul_precision torch.backends.cudnn.benchmark "
    "torch.set_rng_state torch.random.set_rng_state torch.random.manual_seed torch.random.seed "
    "torch.set_num_interop_threads torch.set_warn_always torch.set_flush_denormal torch.set_deterministic_debug_mode "
    "torch.set_anomaly_enabled".split()
)
"""Functions that give None and change nothing that the analysis knows. They are never executed."""
_TRANSPARENT = frozenset(
    "torch.compile torch.jit.script torch.nn.DataParallel torch.nn.parallel.DistributedDataParallel "
    "torch.nn.utils.parametrize.register_parametrization torch.nn.utils.prune.l1_unstructured "
    "torch.nn.utils.prune.random_unstructured torch.nn.utils.prune.remove torch.nn.utils.remove_weight_norm "
    "torch.nn.utils.remove_spectral_norm torch.nn.utils.weight_norm torch.nn.utils.spectral_norm torch.nn.utils.parametrizations.weight_norm "
    "torch.nn.utils.parametrizations.spectral_norm torch.nn.utils.parametrizations.orthogonal".split()
)
_GLOBAL_DEFAULTS = frozenset("torch.set_default_dtype torch.set_default_device torch.set_default_tensor_type".split())
_CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "long": "int64",
    "int": "int32", "short": "int16", "bool": "bool", "byte": "uint8", "char": "int8",
}  # fmt: skip
_CONTEXTS = frozenset(
    "torch.no_grad torch.enable_grad torch.inference_mode torch.set_grad_enabled torch.autocast torch.amp.autocast "
    "torch.cuda.amp.autocast torch.autograd.no_grad torch.autograd.enable_grad torch.Generator torch.cuda.Stream".split()
)


def construct_module(interp: Interpreter, path: str, call: Arguments) -> Value:
    """``nn.Linear(…)`` and its like."""
    if path == "torch.optim.swa_utils.AveragedModel" and call.args:
        return copies.deep(call.args[0])
    if path in _TRANSPARENT and call.args:
        return call.args[0]
    made = LibraryModule(path, call.args, call.kwargs, interp.site(call.node, call.frame))
    if not call.exact:
        made.broken = True
    for name, slot in (("device", "device"), ("dtype", "dtype")):
        value = call.kwargs.get(name)
        if slot == "dtype" and isinstance(value, DType):
            made.slots[slot] = value.name
        elif slot == "device" and value is not None:
            made.slots[slot] = device_of(value)
    if path in hierarchy.CONTAINERS or path in hierarchy.PARAMETER_CONTAINERS:
        modules.make_container(interp, made, call)
        return made
    try:
        recipe = interp.recipe(made)
    except NotASpec:
        made.broken = True
        return made
    verdict = interp.oracle.construct(recipe)
    if isinstance(verdict, Failure):
        operation = interp.operation(path, call.args, call.kwargs, call.node, call.frame, made)
        interp.report(operation, verdict)
        made.broken = True
    elif verdict is not None:
        made.broken = True
    return made


def call(interp: Interpreter, path: str, kind: str, call: Arguments) -> Value:
    """A call of a torch function or class."""
    name = path.rpartition(".")[2]
    if path in _AVAILABLE:
        return Availability(_AVAILABLE[path])
    if path in _NOTHING:
        return None
    if path in _TRANSPARENT:
        return call.args[0] if call.args else UNKNOWN
    if path in _GLOBAL_DEFAULTS or path.startswith("torch.set_autocast_"):
        from torchsleuth.interp.budget import OutOfBudget

        raise OutOfBudget(f"{name} changes the defaults of everything that follows")
    if path.startswith("math."):
        return _math(interp, name, call)
    if path == "torch.device":
        return _device(call)
    if path in ("torch.Size",):
        items = interp.sequence(call.args[0], call.node, call.frame) if call.args else ()
        return UNKNOWN if items is None else items
    if path in _CONTEXTS or path.endswith("GradScaler"):
        made = LibraryObject(path, call.args, call.kwargs, interp.site(call.node, call.frame))
        if path == python.SET_GRAD:
            # It takes effect as a statement, too; a `with` sets back what was before.
            interp.set_grad(python.grad_mode(interp, made), interp.site(call.node, call.frame))
        return made
    if path in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer"):
        return _parameter(interp, path, call)
    if path.startswith("torch.nn.utils.clip_grad"):
        interp.event("clip", call.get(0, "parameters"), call.node, call.frame)
        misuse.needs_result(interp, call.get(0, "parameters"), call.node, call.frame)
        given = getattr(call.node, "args", [])
        kinds.uses(interp, call.get(0, "parameters"), "iterate", given[0] if given else None, call.frame)
        misuse.consume(interp, call.get(0, "parameters"), call.node, call.frame)
        return None if "value" in name else _total_norm(interp, call)
    if path.startswith("torch.nn.init."):
        # Those that fill a tensor return it; the others compute numbers.
        return call.args[0] if call.args and name.endswith("_") else UNKNOWN
    if path.startswith("torch.utils.data."):
        return data.construct(interp, path, name, call)
    if path in ("torch.autograd.grad", "torch.autograd.backward"):
        return _autograd(interp, name, call)
    if path == "torch.autograd.Variable" and call.args and isinstance(call.args[0], Tensor):
        variable = Tensor(call.args[0].spec, call.args[0].origin, call.args[0].tags)
        variable.storage = call.args[0].storage
        _made_anew(interp, variable, call)
        return variable
    if path.startswith(transforms.PREFIXES):
        return transforms.call(interp, path, call)
    if path.startswith("torch.autograd."):
        interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN
    if path.startswith(
        ("torch.utils.", "torch.jit.", "torch.distributed.", "torch.cuda.", "torch.amp.", "torch.backends.")
    ):
        interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN
    if path == "torch.is_tensor":
        return isinstance(call.args[0], Tensor) if call.args and not is_unknown(call.args[0]) else Scalar("bool")
    repacked = packed.call(interp, name, call) if path.startswith("torch.nn.utils.rnn.") else None
    if repacked is not None:
        return repacked
    call = sequences.of_tensors(path, call)
    joined = sequences.call(interp, path, call)
    if joined is not None:
        if not path.endswith(("stack", "cat", "concat", "concatenate", "pad_sequence")):
            _made_anew(interp, joined, call)
        return joined
    converted = arrays.tensor_from(interp, path, call)
    if converted is not None:
        converted.slots["cut"] = next((cut for v in call.args if (cut := arrays.left_graph(v)) is not None), None)
        converted.slots["leaf"] = converted.spec.requires_grad is True
        return converted
    if path in ("torch.save", "torch.load"):
        return files.save(interp, call) if path == "torch.save" else files.load(interp, call)
    if path in ("torch.from_numpy", "torch.load", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor"):
        return _legacy(interp, name, call)
    if kind != "function" or path not in interp.oracle:
        interp.escape((*call.args, *call.kwargs.values()))
        return UNKNOWN
    if path in ("torch.as_tensor", "torch.asarray") and call.args and isinstance(call.args[0], Tensor):
        # The tensor itself, with its graph, on another device or in another dtype where that is asked.
        asked = {key: value for key, value in call.kwargs.items() if key in ("dtype", "device") and value is not None}
        return _to(interp, call.args[0], "to", replace(call, args=call.args[1:], kwargs=asked))
    if name in FACTORIES and path.startswith("torch."):
        return _factory(interp, path, name, call)
    if name.endswith("_like"):
        return _like(interp, path, call)
    if any(is_unknown(value) for value in (*call.args, *call.kwargs.values())):
        value = interp.operate(path, call.args, call.kwargs, call.node, call.frame)
        if is_unknown(value):
            interp.escape((*call.args, *call.kwargs.values()))
        return value
    if path.startswith("torch.nn.functional.") and (
        name.endswith("loss") or "cross_entropy" in name or name == "mse_loss"
    ):
        interp.event("loss", path, call.node, call.frame)
    return interp.operate(path, call.args, call.kwargs, call.node, call.frame)


def _total_norm(interp: Interpreter, call: Arguments) -> Tensor:
    """What ``clip_grad_norm_`` returns: the norm of all gradients, in the dtype that they have in common."""
    given = call.get(0, "parameters")
    tensors = parameters.listed(interp, given) if not isinstance(given, Tensor) else (given,)
    if tensors is None:
        tensors = interp.sequence(given, call.node, call.frame) or ()
    specs = [tensor.spec for tensor in tensors if isinstance(tensor, Tensor)]
    if not specs or len(specs) < len(tensors):
        return Tensor(TensorSpec((), None, None, False))
    dtype = specs[0].dtype if all(spec.dtype == specs[0].dtype for spec in specs) else None
    return Tensor(TensorSpec((), dtype, specs[0].device, False))


def _autograd(interp: Interpreter, name: str, call: Arguments) -> Value:
    """``torch.autograd.grad(outputs, inputs)`` and ``torch.autograd.backward(tensors)``."""
    interp.escape((*call.args, *call.kwargs.values()))
    is_grad = name == "grad"
    outputs = call.get(0, "outputs" if is_grad else "tensors")
    roots = (outputs,) if isinstance(outputs, Tensor) else interp.sequence(outputs, call.node, call.frame)
    # Several roots share one pass: what the first one frees is no fault of the next.
    if not call.exact or roots is None or len(roots) != 1 or not isinstance(roots[0], Tensor):
        return UNKNOWN
    root = roots[0]
    create = interp.truth(call.get(4 if is_grad else 3, "create_graph", False))
    kept = call.get(3 if is_grad else 2, "retain_graph")
    retain = create if kept is None else interp.truth(kept)
    gradient = call.get(2, "grad_outputs") if is_grad else call.get(1, "grad_tensors")
    if is_grad:
        return _gradients(interp, root, gradient, retain, create, call)
    interp.event("backward", root, call.node, call.frame, tensor=root)
    if "inputs" not in call.kwargs:
        interp.backward(root, gradient, retain, call.node, call.frame)
    return None


def _gradients(
    interp: Interpreter, root: Tensor, gradient: Value, retain: bool | None, create: bool | None, call: Arguments
) -> Value:
    given = call.get(1, "inputs")
    single = isinstance(given, Tensor | Parameters)
    inputs = (given,) if single else interp.sequence(given, call.node, call.frame) or (UNKNOWN,)
    strict = not call.get(5, "allow_unused") and call.get(7, "materialize_grads", False) is False
    interp.gradients(root, list(inputs), gradient, retain, strict, call.node, call.frame)
    tensors = [value for value in inputs if isinstance(value, Tensor)]
    if len(tensors) < len(inputs):
        return UNKNOWN
    site = interp.site(call.node, call.frame)
    return tuple(_gradient_of(tensor, create, site) for tensor in tensors)


def _gradient_of(tensor: Tensor, create: bool | None, site: Site) -> Tensor:
    """A tensor like its input; whether it can be differentiated again is known only without ``create_graph``."""
    made = Tensor(tensor.spec.with_(requires_grad=False if create is False else None, strides=None))
    made.slots["cut"] = Cut("first_order", site) if create is False else None
    return made


def _math(interp: Interpreter, name: str, call: Arguments) -> Value:
    site = interp.site(call.node, call.frame)

    def number(value: Value) -> Value:
        """Functions of numbers take tensors of one element, and lose their graph."""
        demands.as_number(interp, value, "float", call.node, call.frame)
        return Scalar("float", interp.cut(value, "float", site)) if isinstance(value, Tensor) else value

    values = [number(interp.resolved(value)) for value in call.args]
    if name == "prod" and len(values) == 1:
        items = interp.sequence(values[0], call.node, call.frame)
        if items is not None and all(is_int(item) for item in items):
            return dims.product(list(items))
        return UNKNOWN
    if name == "fsum" and len(values) == 1:
        elements = tuple(map(number, interp.iterate(values[0], call.node, call.frame).items))
        numbers = all(isinstance(item, int | float | Scalar | Dim) for item in elements)
        return arrays.of_operands(Scalar("float"), *elements) if numbers else UNKNOWN
    if grows(name, tuple(values)):
        return UNKNOWN
    if all(isinstance(value, bool | int | float) for value in values) and not call.kwargs:
        try:
            result = getattr(math, name)(*values)
        except (ValueError, TypeError, OverflowError, AttributeError):
            return UNKNOWN
        return result if isinstance(result, bool | int | float) else UNKNOWN
    if name in ("ceil", "floor", "isqrt", "gcd", "comb", "factorial", "trunc", "lcm"):
        return interp.fresh_size("?", positive=False)
    if not all(isinstance(value, int | float | Scalar | Dim) for value in values):
        return UNKNOWN
    return arrays.of_operands(Scalar("float"), *values)


def _device(call: Arguments) -> Value:
    value = call.get(0, "type", call.get(0, "device"))
    if isinstance(value, Device):
        return value
    if isinstance(value, str):
        place = parse(value)
        index = call.get(1, "index")
        return Device(place.kind, index) if isinstance(index, int) else place
    return UNKNOWN


def _parameter(interp: Interpreter, path: str, call: Arguments) -> Value:
    source = call.get(0, "data")
    grad = call.get(1, "requires_grad", path != "torch.nn.Buffer")
    spec = source.spec if isinstance(source, Tensor) else UNKNOWN_TENSOR
    whole = spec.dtype is not None and not spec.dtype.startswith(("float", "bfloat", "complex"))
    if whole and grad is True and isinstance(source, Tensor):
        text = "Only Tensors of floating point and complex dtype can require gradients"
        made_of = interp.operation(path, call.args, call.kwargs, call.node, call.frame, None)
        interp.report(made_of, Failure("RuntimeError", text, confirmed=True))
    made = Tensor(
        spec.with_(requires_grad=grad if isinstance(grad, bool) else None, strides=spec.strides),
        source.origin if isinstance(source, Tensor) else None,
    )
    made.parameter = path != "torch.nn.Buffer"
    made.buffer = not made.parameter
    return made


def _legacy(interp: Interpreter, name: str, call: Arguments) -> Value:
    """``torch.Tensor(2, 3)`` and arrays from numpy."""
    if name in ("Tensor", "FloatTensor", "LongTensor"):
        dtype = "int64" if name == "LongTensor" else "float32"
        sizes = [interp.resolved(value) for value in call.args]
        if sizes and all(is_int(size) for size in sizes):
            return Tensor(TensorSpec(tuple(sizes), dtype, CPU, False))
        if len(call.args) == 1 and isinstance(call.args[0], ListValue):
            kwargs = {"dtype": DType(dtype)}
            made = interp.operate("torch.tensor", call.args, kwargs, call.node, call.frame, CPU)
            if isinstance(made, Tensor):
                _rewrapped(interp, made, call)
            return made
        interp.trace.undecided += 1
        return Tensor(UNKNOWN_TENSOR.with_(dtype=dtype, device=CPU, requires_grad=False))
    if name == "from_numpy":
        if call.args and isinstance(call.args[0], Tensor | ListValue):
            interp.operate("torch.from_numpy", call.args, {}, call.node, call.frame)
        return Tensor(UNKNOWN_TENSOR.with_(device=CPU, requires_grad=False))
    return UNKNOWN


def _factory(interp: Interpreter, path: str, name: str, call: Arguments) -> Value:
    """A function that makes a tensor from sizes or data."""
    kwargs = dict(call.kwargs)
    place = _take_device(kwargs)
    sources = hierarchy.tensors_in(call.args)
    if place is MISSING_DEVICE:
        place = sources[0].spec.device if sources and name in ("tensor", "as_tensor", "asarray", "normal") else CPU
    kwargs.pop("requires_grad", None)
    args = call.args
    if name in ("full", "linspace", "logspace", "normal"):
        args = tuple(interp.resolved(value) for value in args)
    if name in ("tensor", "as_tensor", "asarray"):
        args = tuple(_any_integers(value) for value in args)
    if name in ("randint",):
        # The bounds do not matter to the shape, only the size does: where one of them is not known, any two will do.
        given = args if "size" in kwargs else args[:-1]
        if any(isinstance(value, Dim) for value in (*given, kwargs.get("low"), kwargs.get("high"))):
            any_bounds = (0,) * len(given) if "high" in kwargs else (0, 1)[-len(given) :] if given else ()
            args = (*any_bounds, *args[len(given) :])
            kwargs = {key: {"low": 0, "high": 1}.get(key, value) for key, value in kwargs.items()}
        bounds = [value for value in args if isinstance(value, int) and not isinstance(value, bool)]
        if len(bounds) == 1 and "high" not in kwargs and bounds[0] < 1:
            args = (1, *args[1:])
    value = interp.operate(path, args, kwargs, call.node, call.frame, place if isinstance(place, Device) else None)
    if not isinstance(value, Tensor):
        dtype = kwargs.get("dtype")
        known = dtype.name if isinstance(dtype, DType) else None
        value = Tensor(UNKNOWN_TENSOR.with_(dtype=known))
    spec = value.spec.with_(device=place if isinstance(place, Device) else None)
    interp.heap.set(value.slots, "spec", spec)
    whole = spec.dtype is not None and "int" in spec.dtype
    held = integers.of_factory(interp, name, call) if whole else integers.of_reals(name, call)
    if held is not None:
        interp.heap.set(value.slots, "tags", value.tags | {held})
    if name != "normal" or not sources:
        _made_anew(interp, value, call)
    return value


def _made_anew(interp: Interpreter, value: Tensor, call: Arguments) -> None:
    """A tensor made of sizes or data is a leaf, whatever it was made of."""
    grad = interp.truth(call.kwargs.get("requires_grad", False))
    interp.heap.set(value.slots, "spec", value.spec.with_(requires_grad=False))
    if grad is not False:
        interp.require_grad(value, grad, call.node, call.frame)
    interp.heap.set(value.slots, "leaf", grad is True)
    if call.args:
        _rewrapped(interp, value, call)


def _rewrapped(interp: Interpreter, value: Tensor, call: Arguments) -> None:
    """``torch.tensor(loss)``: a copy that has left the graph of what it was made from."""
    lost = [item for item in _elements(call.args[0]) if _left_graph(item)]
    if lost:
        before = lost[0].cut if isinstance(lost[0], Scalar) else cut_of(lost[0])
        cut = Cut("rewrapped", interp.site(call.node, call.frame), before=before)
        interp.heap.set(value.slots, "node", None)
        interp.heap.set(value.slots, "cut", cut)


def _elements(data: Value, depth: int = 3) -> Iterator[Value]:
    """What the lists that a tensor is made from hold."""
    items = data.elements or () if isinstance(data, ListValue) else data if isinstance(data, tuple) else None
    if items is None or not depth:
        yield data
    else:
        for item in items:
            yield from _elements(item, depth - 1)


def _left_graph(value: Value) -> bool:
    """Whether a value is, or was computed from, one that required grad."""
    if isinstance(value, Tensor):
        return value.spec.requires_grad is True or cut_of(value) is not None
    return isinstance(value, Scalar) and value.cut is not None


MISSING_DEVICE: Any = object()


def _take_device(kwargs: dict[str, Value]) -> Any:
    """The device named by a ``device=`` argument, None if it is not known, MISSING_DEVICE if there is none."""

    if "device" not in kwargs:
        return MISSING_DEVICE
    value = kwargs.pop("device")
    return MISSING_DEVICE if value is None else device_of(value)


def _any_integers(value: Value) -> Value:
    """Data in which integers that are not known are replaced by others: the shape does not depend on them."""
    if isinstance(value, Dim):
        return 1
    if limits.is_large(value):
        return UNKNOWN
    if isinstance(value, tuple):
        return tuple(_any_integers(item) for item in value)
    if isinstance(value, ListValue) and value.items is not None:
        return ListValue(_any_integers(value.items), value.type_name)
    return value


def _like(interp: Interpreter, path: str, call: Arguments) -> Value:
    kwargs = dict(call.kwargs)
    place = _take_device(kwargs)
    grad = kwargs.pop("requires_grad", False)
    value = interp.operate(path, call.args, kwargs, call.node, call.frame)
    if isinstance(value, Tensor):
        spec = value.spec
        if place is not MISSING_DEVICE:
            spec = spec.with_(device=place)
        interp.heap.set(value.slots, "spec", spec)
        if grad is True:
            interp.require_grad(value, True, call.node, call.frame)
    return value


# -- methods of tensors ----------------------------------------------------------------------------


def tensor_method(interp: Interpreter, tensor: Tensor, name: str, call: Arguments) -> Value:
    spec = interp.resolved_spec(tensor.spec)
    parameters = interp.oracle.signature(f"torch.Tensor.{name}")
    misuse.misfits(interp, parameters and parameters[1:], Native(f"torch.Tensor.{name}", "function"), call)
    if name in ("size",):
        return _size(interp, tensor, spec, call)
    if name in ("dim", "ndimension"):
        return UNKNOWN if spec.rank is None else spec.rank
    if name in ("numel", "nelement"):
        count = spec.numel()
        return interp.fresh_size() if count is None else count
    if name in ("to", "type", "cuda", "cpu", "xpu"):
        return _to(interp, tensor, name, call)
    if name in _CASTS and not call.args and _is_already(interp, tensor, _CASTS[name], spec.device):
        return tensor
    if name in _CASTS and not call.args:
        return _convert(interp, tensor, _CASTS[name], spec.device, call)
    if name == "backward":
        interp.trace.consumed.update(tensor.history)
        interp.event("backward", tensor, call.node, call.frame, tensor=tensor)
        create = interp.truth(call.get(2, "create_graph", False))
        kept = call.get(1, "retain_graph")
        retain = create if kept is None else interp.truth(kept)
        if call.exact and "inputs" not in call.kwargs:
            interp.backward(tensor, call.get(0, "gradient"), retain, call.node, call.frame)
        return None
    if name in ("item", "tolist"):
        count = spec.numel()
        if name == "item" and isinstance(count, int) and count != 1:
            return interp.operate("Tensor.item", (tensor,), {}, call.node, call.frame)
        if name == "item" or spec.rank == 0:
            return _number(interp, tensor, name, call)
        return ListValue(None) if spec.shape is None else _numbers(interp, tensor, spec.shape, call)
    if name == "numpy" and spec.requires_grad and interp.grad and call.get(0, "force", False) is False:
        interp.fault(AutogradFault("numpy", interp.site(call.node, call.frame), tensor))
    if name in ("numpy", "__array__"):
        array = arrays.make(spec.shape, spec.dtype)
        array.slots["cut"] = interp.cut(tensor, "numpy", interp.site(call.node, call.frame))
        return array
    if name in ("requires_grad_",):
        decided = interp.truth(call.get(0, "requires_grad", True))
        interp.require_grad(tensor, decided, call.node, call.frame)
        return tensor
    if name in ("detach", "detach_"):
        detached = Tensor(spec.with_(requires_grad=False), tensor.origin, tensor.tags)
        if name == "detach_":
            cut = interp.cut(tensor, "detach", interp.site(call.node, call.frame))
            for slot, value in (("spec", detached.spec), ("history", frozenset()), ("node", None), ("cut", cut)):
                interp.heap.set(tensor.slots, slot, value)
            return tensor
        return interp.severed(tensor, detached, "detach", interp.site(call.node, call.frame))
    if name in ("retain_grad", "register_hook"):
        interp.heap.set(tensor.slots, "has_grad", True)
    if name in ("register_hook", "register_post_accumulate_grad_hook"):
        return hooks.on_tensor(interp, tensor, name, call)
    if name in ("retain_grad", "share_memory_", "pin_memory"):
        return tensor if name in ("share_memory_", "pin_memory") else None
    if name in ("is_contiguous", "data_ptr", "get_device", "is_floating_point", "storage", "untyped_storage"):
        return UNKNOWN
    if name == "contiguous" and is_leaf(tensor) and spec.strides is None and spec.shape is not None:
        return tensor
    if name == "contiguous":
        return interp.same_graph(tensor, Tensor(spec.with_(strides=None), tensor.origin, tensor.tags, tensor.history))
    if name.startswith("new_"):
        return _new(interp, tensor, name, call)
    if name in ("type_as",) and call.args and isinstance(call.args[0], Tensor):
        other = call.args[0].spec
        return _convert(interp, tensor, other.dtype, other.device, call)
    if name in ("view", "reshape", "expand", "permute") and spec.shape is None:
        return _reshape_unknown(interp, tensor, name, call)
    if name in ("apply_", "map_", "bool") and call.args:
        return UNKNOWN
    return interp.operate(f"Tensor.{name}", (tensor, *call.args), call.kwargs, call.node, call.frame)


def _number(
    interp: Interpreter, tensor: Tensor, method: str, call: Arguments, place: int | Element | None = None
) -> Value:
    """An element of a tensor as a Python number."""
    dtype = tensor.spec.dtype
    if dtype is None or dtype.startswith(("float", "bfloat")):
        return Scalar("float", interp.cut(tensor, method, interp.site(call.node, call.frame)))
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
    if isinstance(count, int) and count * math.prod(size for size in rest if isinstance(size, int)) <= 256:
        return ListValue(tuple(element(index) for index in range(count)))
    one = element(0)
    return ListValue(Several((one,) if isinstance(one, Scalar) else (one, element(1))))


def _reshape_unknown(interp: Interpreter, tensor: Tensor, name: str, call: Arguments) -> Value:
    """A view of a tensor of unknown shape still has the rank, and most of the sizes, that it asks for."""
    given = call.args or tuple(call.kwargs.values())
    sizes = given[0] if len(given) == 1 and isinstance(given[0], tuple | ListValue) else given
    items = sizes.items if isinstance(sizes, ListValue) else sizes
    if name == "permute" or not given or items is None or not all(is_int(item) for item in items):
        return Tensor(UNKNOWN_TENSOR.with_(dtype=tensor.spec.dtype, device=tensor.spec.device), tensor.origin)
    shape = tuple(interp.fresh_size("?") if size == -1 else interp.resolved(size) for size in items)
    return interp.same_graph(
        tensor, Tensor(tensor.spec.with_(shape=shape, strides=None), tensor.origin, plain(tensor.tags), tensor.history)
    )


def _size(interp: Interpreter, tensor: Tensor, spec: TensorSpec, call: Arguments) -> Value:

    index = call.get(0, "dim")
    if spec.shape is None:
        return Shape(tensor) if index is None else interp.fresh_size("?")
    if index is None:
        return spec.shape
    if isinstance(index, int) and -len(spec.shape) <= index < len(spec.shape):
        return spec.shape[index]
    if isinstance(index, int):
        return interp.operate("Tensor.size", (tensor, index), {}, call.node, call.frame)
    return interp.fresh_size("?")


def _to(interp: Interpreter, tensor: Tensor, name: str, call: Arguments) -> Value:

    device, dtype = tensor.spec.device, tensor.spec.dtype
    if name == "cpu":
        device = CPU
    elif name in ("cuda", "xpu"):
        index = call.get(0, "device")
        device = device_of(index) if index is not None else Device(name)
    elif name == "type" and not call.args and not call.kwargs:
        return Scalar("str")
    elif name == "type" and (named := named_type(call.get(0, "dtype"))) is not None:
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
                if is_unknown(value):
                    # It may as well be a dtype.
                    dtype = None
    if not call.kwargs.keys() & {"copy", "memory_format"} and _is_already(interp, tensor, dtype, device):
        return tensor
    return _convert(interp, tensor, dtype, device, call)


def _is_already(interp: Interpreter, tensor: Tensor, dtype: str | None, device: Device | None) -> bool:
    """Whether a leaf has the dtype, and is on the device, that it is asked for: PyTorch then gives the tensor itself."""
    spec = interp.resolved_spec(tensor.spec)
    return is_leaf(tensor) and None not in (dtype, device) and (spec.dtype, spec.device) == (dtype, device)


def _convert(interp: Interpreter, tensor: Tensor, dtype: str | None, device: Device | None, call: Arguments) -> Tensor:
    """The tensor with another dtype or device; the same object's graph goes on in it."""
    from torchsleuth.values import Origin

    spec = interp.resolved_spec(tensor.spec)
    grad = spec.requires_grad
    if dtype is not None and not dtype.startswith(("float", "bfloat", "complex")):
        grad = False
    origin = tensor.origin or Origin(interp.site(call.node, call.frame), "to", (spec,), (tensor,))
    converted = Tensor(
        spec.with_(dtype=dtype, device=device, requires_grad=grad),
        origin,
        integers.converted(tensor.tags, dtype),
        tensor.history if grad is not False else frozenset(),
    )
    interp.same_graph(tensor, converted)
    if grad is False and spec.requires_grad is True:
        converted.slots["cut"] = Cut("integers", interp.site(call.node, call.frame))
    return converted


def _new(interp: Interpreter, tensor: Tensor, name: str, call: Arguments) -> Value:
    kwargs = dict(call.kwargs)
    place = _take_device(kwargs)
    value = interp.operate(f"Tensor.{name}", (tensor, *call.args), kwargs, call.node, call.frame)
    if isinstance(value, Tensor):
        device = tensor.spec.device if place is MISSING_DEVICE else place
        interp.heap.set(value.slots, "spec", value.spec.with_(device=device, requires_grad=False))
        interp.heap.set(value.slots, "history", frozenset())
    return value


__all__ = ["call", "construct_module", "tensor_method", "DictValue", "Instance", "Parameters", "is_module"]
