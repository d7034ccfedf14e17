"""Functions of torch and methods of tensors: what the oracle is not asked, and how it is asked the rest."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from torchsleuth.interp import demands, kinds, limits, misuse
from torchsleuth.interp.arguments import Arguments, device_of
from torchsleuth.interp.budget import OutOfBudget
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import (
    array_dtypes,
    arrays,
    copies,
    hierarchy,
    integers,
    modules,
    parameters,
    python,
    replicas,
    sequences,
    tensor_methods,
)
from torchsleuth.interp.library.tensor_methods import NO_DEVICE, take_device
from torchsleuth.interp.models import Model, attribute, method, models
from torchsleuth.oracle.limits import grows
from torchsleuth.sifting import all_are, any_are, as_kind, of_kind
from torchsleuth.syntax.forms import called, is_method_call
from torchsleuth.syntax.parse import parse as parsed
from torchsleuth.syntax.trees import index
from torchsleuth.tensors import dims
from torchsleuth.tensors.device import CPU, Device, parse
from torchsleuth.tensors.dims import Dim, is_number
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.tensors.spec import UNKNOWN_TENSOR, DType, Failure, Native, NotASpec, TensorSpec, is_differentiable
from torchsleuth.values import (
    UNKNOWN,
    UNSORTED,
    Availability,
    LibraryModule,
    LibraryObject,
    ListValue,
    Origin,
    Parameters,
    Scalar,
    Site,
    Sizes,
    Tensor,
    Value,
    Wrapped,
    elements_of,
    is_int,
    is_module,
    is_unknown,
    items_of,
    origin_of,
    sizes_of,
)
from torchsleuth.values.frames import Frame
from torchsleuth.values.graph import Cut, cut_of

FACTORIES = frozenset(
    "zeros ones empty full rand randn randint randperm arange linspace logspace eye tensor as_tensor asarray "
    "empty_strided normal tril_indices triu_indices hann_window hamming_window range scalar_tensor".split()
)
_LOSSES = (
    "binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy ctc_loss gaussian_nll_loss "
    "hinge_embedding_loss huber_loss l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss "
    "multilabel_soft_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss "
    "triplet_margin_with_distance_loss"
).split()
_JOINING = frozenset("stack hstack vstack cat concat concatenate pad_sequence pad".split())
"""Calls whose result is computed from the tensors that they are given."""
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
_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel"})
"""Those of them that have other attributes than the module inside."""
_GLOBAL_DEFAULTS = frozenset("torch.set_default_dtype torch.set_default_device torch.set_default_tensor_type".split())
_CONTEXTS = frozenset(
    "torch.no_grad torch.enable_grad torch.inference_mode torch.set_grad_enabled torch.autocast torch.amp.autocast "
    "torch.cuda.amp.autocast torch.autograd.no_grad torch.autograd.enable_grad torch.Generator torch.cuda.Stream".split()
)


@models("torch.optim.swa_utils.AveragedModel")
def _averaged(interp: Interpreter, call: Arguments) -> Value:
    return copies.deep(call.args[0]) if call.args else construct_module(interp, call)


@models("torch.nn.Embedding.from_pretrained", "torch.nn.EmbeddingBag.from_pretrained")
def _of_table(interp: Interpreter, call: Arguments) -> Value:
    """A layer that looks up the rows of a tensor."""
    table = call.given(0, "embeddings")
    spec = interp.resolved_spec(table.spec) if isinstance(table, Tensor) else UNKNOWN_TENSOR
    if spec.shape is None or len(spec.shape) != 2 or len(call.args) > 3:
        return UNKNOWN
    owner = Native(call.path.rpartition(".")[0], "module-class")
    given = {name: value for name, value in call.kwargs.items() if name not in ("embeddings", "freeze")}
    made = construct_module(interp, replace(call, args=(*spec.shape, *call.args[2:]), kwargs=given, callee=owner))
    freeze = call.given(1, "freeze", True)
    if isinstance(made, LibraryModule):
        made.slots["dtype"], made.slots["requires_grad"] = spec.dtype, not freeze if isinstance(freeze, bool) else None
    return made


def construct_module(interp: Interpreter, call: Arguments) -> Value:
    """``nn.Linear(…)`` and its like."""
    path = call.path
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
        made.broken, made.undecided = True, recipe
    return made


@models(*_AVAILABLE)
def _is_available(interp: Interpreter, call: Arguments) -> Value:
    return Availability(_AVAILABLE[call.path])


@models(*_NOTHING)
def _nothing(interp: Interpreter, call: Arguments) -> Value:
    return None


@models(*_TRANSPARENT)
def _seen_through(interp: Interpreter, call: Arguments) -> Value:
    if call.args and call.name in _WRAPPERS and is_module(call.args[0]):
        replicas.wrap(interp, call.args[0], call)
        return Wrapped(call.args[0], call.path, interp.site(call.node, call.frame))
    if call.args:
        return call.args[0]
    return construct_module(interp, call) if call.callee and call.callee.kind == "module-class" else UNKNOWN


@models(*_GLOBAL_DEFAULTS, "torch.set_autocast_*")
def _changes_defaults(interp: Interpreter, call: Arguments) -> Value:
    interp.other_defaults = True
    raise OutOfBudget(f"{call.name} changes the defaults of everything that follows")


_PAIRS = {
    f"torch.nn.modules.utils.{name}": count
    for count, name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1)
}


@models(*_PAIRS)
def _of_dimensions(interp: Interpreter, call: Arguments) -> Value:
    return as_many(call.given(0, "x"), _PAIRS[call.path])


def as_many(given: Value, count: int) -> Value:
    """One value for each dimension of an image: those that are given, or the same for all."""
    items = items_of(given)
    if items is not None:
        return tuple(items)
    return (given,) * count if is_int(given) or isinstance(given, float | str) else UNKNOWN


@models("torch.nn.Transformer.generate_square_subsequent_mask")
def _causal_mask(interp: Interpreter, call: Arguments) -> Value:
    """A square of -inf above the diagonal."""
    size = call.given(0, "sz")
    options = {
        name: value for place, name in ((1, "device"), (2, "dtype")) if (value := call.given(place, name)) is not None
    }
    made = replace(call, args=((size, size), float("-inf")), kwargs=options)
    whole = interp.call(interp.oracle.resolve("torch.full"), made)
    return interp.operate("torch.triu", (whole,), {"diagonal": 1}, call.node, call.frame)


@models("torch.Size")
def _size_of(interp: Interpreter, call: Arguments) -> Value:
    items = interp.sequence(call.args[0], call.node, call.frame) if call.args else ()
    return UNKNOWN if items is None else Sizes(items)


@models(*_CONTEXTS)
class Context(Model):
    """A context manager, or a stream or generator of random numbers."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        made = super().made(interp, call)
        if call.path == python.SET_GRAD:
            # It takes effect as a statement, too; a `with` sets back what was before.
            interp.set_grad(python.grad_mode(interp, made), interp.site(call.node, call.frame))
        return made

    @method
    def manual_seed(self, call: Arguments) -> Value:
        return self.value


@models("torch.finfo", "torch.iinfo", "numpy.finfo")
class Limits(Model):
    """The limits of a dtype."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        return LibraryObject(call.path, call.args, call.kwargs, None)

    @attribute("min", "max", "eps", "tiny", "smallest_normal")
    def limit(self, node: ast.AST, frame: Frame) -> Value:
        whole = self.value.type_name == "iinfo"
        if self.value.path.startswith("numpy."):
            given = self.value.given(0, "dtype")
            return arrays.make((), array_dtypes.dtype_of(given))  # a number of NumPy's, which has the methods of arrays
        return self.interp.fresh_size("?", positive=False) if whole else Scalar("float")

    @attribute("bits", "resolution", "dtype")
    def further(self, node: ast.AST, frame: Frame) -> Value:
        return UNKNOWN


@models("torch.nn.utils.clip_grad*")
def _clip(interp: Interpreter, call: Arguments) -> Value:
    interp.event("clip", call.given(0, "parameters"), call.node, call.frame)
    misuse.needs_result(interp, call.given(0, "parameters"), call.node, call.frame)
    given = getattr(call.node, "args", [])
    if not is_module(call.given(0, "parameters")):  # TS815 says that it takes the parameters of one
        kinds.uses(interp, call.given(0, "parameters"), "iterate", given[0] if given else None, call.frame)
    misuse.consume(interp, call.given(0, "parameters"), call.node, call.frame)
    return None if "value" in call.name else _total_norm(interp, call)


@models("torch.nn.init.*")
def _initialize(interp: Interpreter, call: Arguments) -> Value:
    """Those that fill a tensor return it; the others compute numbers."""
    filled = call.args[0] if call.args and is_in_place(call.name) else UNKNOWN
    if isinstance(filled, Tensor):
        _looks_at_fans(interp, call, filled)
        interp.retag(filled)
    return filled


def _looks_at_fans(interp: Interpreter, call: Arguments, filled: Tensor) -> None:
    """``xavier_uniform_(layer.bias)``: what has fewer than two dimensions has no fans."""
    spec = interp.resolved_spec(filled.spec)
    if spec.rank is not None and spec.rank < 2:
        plain = Tensor(spec.with_(requires_grad=False, strides=None))
        operation = interp.operation(call.path, (plain, *call.args[1:]), call.kwargs, call.node, call.frame, None)
        outcome = as_kind(interp.asked(operation), Failure)
        if outcome is not None:
            interp.report(replace(operation, args=call.args, operands=(filled,)), outcome)


@models("torch.autograd.Variable")
def _variable(interp: Interpreter, call: Arguments) -> Value:
    if not call.args or not isinstance(call.args[0], Tensor):
        return _not_modelled(interp, call)
    variable = Tensor(call.args[0].spec, call.args[0].origin, call.args[0].tags)
    variable.storage = call.args[0].storage
    _made_anew(interp, variable, call)
    return variable


@models(
    "torch.autograd.*",
    "torch.utils.*",
    "torch.jit.*",
    "torch.distributed.*",
    "torch.cuda.*",
    "torch.amp.*",
    "torch.backends.*",
)
def _not_modelled(interp: Interpreter, call: Arguments) -> Value:
    interp.escape((*call.args, *call.kwargs.values()))
    return UNKNOWN


@models("torch.is_tensor")
def _is_tensor(interp: Interpreter, call: Arguments) -> Value:
    return isinstance(call.args[0], Tensor) if call.args and not is_unknown(call.args[0]) else Scalar("bool")


def _of_values(interp: Interpreter, call: Arguments) -> Tensor | None:
    """The tensor that lists of unknown length, or arrays, are made into; None where there are none."""
    joined = sequences.call(interp, call.path, call)
    if joined is not None:
        if call.name not in _JOINING:
            _made_anew(interp, joined, call)
        return joined
    converted = arrays.tensor_from(interp, call.path, call)
    if converted is not None:
        converted.slots["cut"] = next((cut for v in call.args if (cut := arrays.left_graph(v)) is not None), None)
        converted.slots["leaf"] = converted.spec.requires_grad is True
    return converted


def apply(interp: Interpreter, call: Arguments, loss: bool = False) -> Value:
    """A call of an operator: the oracle is asked what it gives."""
    call = sequences.of_tensors(call.path, call)
    made = _of_values(interp, call)
    if made is not None:
        return made
    if call.callee is None or call.callee.kind != "function" or call.path not in interp.oracle:
        return _not_modelled(interp, call)
    unknown = any(is_unknown(value) for value in (*call.args, *call.kwargs.values()))
    if loss and not unknown:
        interp.event("loss", call.path, call.node, call.frame)
    value = interp.operate(call.path, call.args, call.kwargs, call.node, call.frame)
    if unknown and is_unknown(value):
        interp.escape((*call.args, *call.kwargs.values()))
    return value


@models(*(f"torch.nn.functional.{name}" for name in _LOSSES))
def _loss(interp: Interpreter, call: Arguments) -> Value:
    return apply(interp, call, loss=True)


def _total_norm(interp: Interpreter, call: Arguments) -> Tensor:
    """The result of ``clip_grad_norm_``: the norm of all gradients, in the dtype that they have in common."""
    given = call.given(0, "parameters")
    tensors = parameters.listed(interp, given) if not isinstance(given, Tensor) else (given,)
    if tensors is None:
        tensors = interp.sequence(given, call.node, call.frame) or ()
    specs = [tensor.spec for tensor in of_kind(tensors, Tensor)]
    if not specs or len(specs) < len(tensors):
        return Tensor(TensorSpec((), None, None, False))
    dtype = specs[0].dtype if all(spec.dtype == specs[0].dtype for spec in specs) else None
    return Tensor(TensorSpec((), dtype, specs[0].device, False))


@models("torch.autograd.grad", "torch.autograd.backward")
def _autograd(interp: Interpreter, call: Arguments) -> Value:
    """``torch.autograd.grad(outputs, inputs)`` and ``torch.autograd.backward(tensors)``."""
    interp.escape((*call.args, *call.kwargs.values()))
    is_grad = call.name == "grad"
    outputs = call.given(0, "outputs" if is_grad else "tensors")
    roots = (outputs,) if isinstance(outputs, Tensor) else interp.sequence(outputs, call.node, call.frame)
    # Several roots share one pass: what the first one frees is no fault of the next.
    if not call.exact or roots is None or len(roots) != 1 or not isinstance(roots[0], Tensor):
        return UNKNOWN
    root = roots[0]
    create = interp.truth(call.given(4 if is_grad else 3, "create_graph", False))
    kept = call.given(3 if is_grad else 2, "retain_graph")
    retain = create if kept is None else interp.truth(kept)
    gradient = call.given(2, "grad_outputs") if is_grad else call.given(1, "grad_tensors")
    if is_grad:
        return _gradients(interp, root, gradient, retain, create, call)
    interp.event("backward", root, call.node, call.frame, tensor=root)
    if "inputs" not in call.kwargs:
        interp.backward(root, gradient, retain, call.node, call.frame)
    return None


def _gradients(
    interp: Interpreter, root: Tensor, gradient: Value, retain: bool | None, create: bool | None, call: Arguments
) -> Value:
    given = call.given(1, "inputs")
    single = isinstance(given, Tensor | Parameters)
    inputs = (given,) if single else interp.sequence(given, call.node, call.frame) or (UNKNOWN,)
    strict = not call.given(5, "allow_unused") and call.given(7, "materialize_grads", False) is False
    interp.gradients(root, list(inputs), gradient, retain, strict, call.node, call.frame)
    known = parameters.listed(interp, given)
    tensors = of_kind(inputs if known is None else known, Tensor)
    if known is None and len(tensors) < len(inputs):
        return UNKNOWN
    site = interp.site(call.node, call.frame)
    return tuple(_gradient_of(tensor, create, site) for tensor in tensors)


def _gradient_of(tensor: Tensor, create: bool | None, site: Site) -> Tensor:
    """A tensor like its input; whether it can be differentiated again is known only without ``create_graph``."""
    made = Tensor(tensor.spec.with_(requires_grad=False if create is False else None, strides=None))
    made.slots["cut"] = Cut("first_order", site) if create is False else None
    return made


@models("math.*")
def _math(interp: Interpreter, call: Arguments) -> Value:
    name = call.name
    site = interp.site(call.node, call.frame)

    def number(value: Value) -> Value:
        """Functions of numbers take tensors of one element, and lose their graph."""
        demands.as_number(interp, value, "float", call.node, call.frame)
        return Scalar("float", interp.cut(value, "float", site)) if isinstance(value, Tensor) else value

    values = [number(interp.resolved(value)) for value in call.args]
    if name == "prod" and len(values) == 1:
        items = interp.sequence(values[0], call.node, call.frame)
        sizes = None if items is None else sizes_of(items)
        if sizes is not None:
            return dims.product(sizes)
        return UNKNOWN
    if name == "fsum" and len(values) == 1:
        elements = tuple(map(number, interp.iterate(values[0], call.node, call.frame).items))
        numbers = all_are(elements, int, float, Scalar, Dim)
        return arrays.of_operands(Scalar("float"), *elements) if numbers else UNKNOWN
    if grows(name, tuple(values)):
        return UNKNOWN
    if all_are(values, bool, int, float) and not call.kwargs:
        try:
            result = as_kind(getattr(math, name)(*values), bool, int, float)
        except (ValueError, TypeError, OverflowError, AttributeError):
            return UNKNOWN
        return result if result is not None else UNKNOWN
    ratio = values[0].ratio if len(values) == 1 and isinstance(values[0], Scalar) else None
    if ratio is not None and interp.is_inferring() and name in ("floor", "trunc", "ceil"):
        size, by = map(interp.resolved, ratio)
        more = dims.subtract(by, 1) if name == "ceil" else 0
        return dims.floor_divide(dims.add(size, more), by)
    if name in ("ceil", "floor", "isqrt", "gcd", "comb", "factorial", "trunc", "lcm"):
        return interp.fresh_size("?", positive=False)
    if not all_are(values, int, float, Scalar, Dim):
        return UNKNOWN
    return arrays.of_operands(Scalar("float"), *values)


@models("torch.device")
def _device(interp: Interpreter, call: Arguments) -> Value:
    value = call.given(0, "type", call.given(0, "device"))
    match value:
        case Device():
            return value
        case str():
            place = parse(value)
            index = as_kind(call.given(1, "index"), int)
            return Device(place.kind, index) if index is not None else place
    return UNKNOWN


@models("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.Buffer")
def _parameter(interp: Interpreter, call: Arguments) -> Value:
    source = call.given(0, "data")
    misuse.takes_list(interp, call.path, source, call)
    grad = call.given(1, "requires_grad", call.name == "Parameter")
    spec = source.spec if isinstance(source, Tensor) else UNKNOWN_TENSOR
    whole = not is_differentiable(spec.dtype)
    if whole and grad is True and isinstance(source, Tensor):
        text = "Only Tensors of floating point and complex dtype can require gradients"
        made_of = interp.operation(call.path, call.args, call.kwargs, call.node, call.frame, None)
        interp.report(made_of, Failure("RuntimeError", text, confirmed=True))
    made = Tensor(
        spec.with_(requires_grad=as_kind(grad, bool), strides=spec.strides),
        origin_of(source),
    )
    made.parameter = call.name == "Parameter"
    made.buffer = not made.parameter
    return made


@models(*sequences.LEGACY)
def _legacy(interp: Interpreter, call: Arguments) -> Value:
    """``torch.Tensor(2, 3)``"""
    return _in_order(interp, _of_type(interp, call), call)


def _of_type(interp: Interpreter, call: Arguments) -> Value:
    converted = _of_values(interp, call)
    if converted is not None:
        return converted
    dtype = sequences.LEGACY[call.path]
    sizes = sizes_of(map(interp.resolved, call.args))
    if sizes:
        return Tensor(TensorSpec(sizes, dtype, CPU, False))
    if len(call.args) == 1 and isinstance(call.args[0], ListValue):
        kwargs: dict[str, Value] = {"dtype": DType(dtype)}
        made = interp.operate("torch.tensor", call.args, kwargs, call.node, call.frame, CPU)
        if isinstance(made, Tensor):
            _rewrapped(interp, made, call)
        return made
    interp.trace.undecided[interp.site(call.node, call.frame).span] += 1
    return Tensor(UNKNOWN_TENSOR.with_(dtype=dtype, device=CPU, requires_grad=False))


@models("torch.from_numpy")
def _from_numpy(interp: Interpreter, call: Arguments) -> Value:
    converted = _of_values(interp, call)
    if converted is not None:
        return converted
    if call.args and isinstance(call.args[0], Tensor | ListValue):
        interp.operate("torch.from_numpy", call.args, {}, call.node, call.frame)
    return Tensor(UNKNOWN_TENSOR.with_(device=CPU, requires_grad=False))


@models("torch.as_tensor", "torch.asarray")
def _as_tensor(interp: Interpreter, call: Arguments) -> Value:
    """Of a tensor the tensor itself, with its graph, on another device or in another dtype where that is asked."""
    if not call.args or not isinstance(call.args[0], Tensor):
        return _factory(interp, call)
    asked = {key: value for key, value in call.kwargs.items() if key in ("dtype", "device") and value is not None}
    return tensor_methods.to(interp, call.args[0], "to", replace(call, args=call.args[1:], kwargs=asked))


@models(*(f"torch.{name}" for name in FACTORIES - {"as_tensor", "asarray"}))
def _factory(interp: Interpreter, call: Arguments) -> Value:
    """A function that makes a tensor from sizes or data."""
    return _in_order(interp, _made_from(interp, call), call)


def _in_order(interp: Interpreter, made: Value, call: Arguments) -> Value:
    """A tensor that may have been made of a list of integers, with what is known of these and of their order."""
    items = items_of(call.args[0]) if len(call.args) == 1 else None
    rises = items is not None and integers.rises(interp, items) or _of_samples(interp, call)
    if isinstance(made, Tensor) and rises:
        interp.heap.set(made.slots, "tags", made.tags | {UNSORTED})
    lengths = integers.of_lengths(interp, call) if call.name in ("tensor", "as_tensor") else None
    if isinstance(made, Tensor) and lengths is not None:
        interp.heap.set(made.slots, "tags", made.tags | {lengths})
    return made


_SORTING = frozenset({"sort", "argsort", "topk", "nlargest", "lexsort"})


def _of_samples(interp: Interpreter, call: Arguments) -> bool:
    """Whether a list holds the lengths of the samples of a batch as they come, which are padded to the longest one, in a file that
    sorts nothing."""
    given = as_kind(call.args[0], ListValue) if interp.collating and len(call.args) == 1 else None
    elements = elements_of(given) if given is not None else None
    if not elements or not all(isinstance(interp.resolved(one), Dim) for one in elements):
        return False
    calls = index(parsed(call.frame.source)).of_type(ast.Call)
    return any(called(one) == "pad_sequence" for one in calls) and not any(map(_may_sort_by_length, calls))


def _may_sort_by_length(call: ast.Call) -> bool:
    """Whether a call may put samples in the order of their lengths: not ``sorted(words)``, which goes by the words."""
    if called(call) == "sorted" or is_method_call(call, "sort") and not call.args:
        return bool(call.keywords)
    return called(call) in _SORTING


def _made_from(interp: Interpreter, call: Arguments) -> Value:
    converted = _of_values(interp, call)
    if converted is not None:
        return converted
    path, name = call.path, call.name
    if path not in interp.oracle:
        return _not_modelled(interp, call)
    kwargs = dict(call.kwargs)
    place = take_device(kwargs)
    sources = hierarchy.tensors_in(call.args)
    if place is NO_DEVICE:
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
        if any_are((*given, kwargs.get("low"), kwargs.get("high")), Dim):
            any_bounds = (0,) * len(given) if "high" in kwargs else (0, 1)[-len(given) :] if given else ()
            args = (*any_bounds, *args[len(given) :])
            kwargs = {key: {"low": 0, "high": 1}.get(key, value) for key, value in kwargs.items()}
        bounds = [value for value in args if is_number(value)]
        if len(bounds) == 1 and "high" not in kwargs and bounds[0] < 1:
            args = (1, *args[1:])
    value = interp.operate(path, args, kwargs, call.node, call.frame, as_kind(place, Device))
    if not isinstance(value, Tensor):
        dtype = as_kind(kwargs.get("dtype"), DType)
        known = dtype.name if dtype is not None else None
        value = Tensor(UNKNOWN_TENSOR.with_(dtype=known), Origin(interp.site(call.node, call.frame), path))
    spec = value.spec.with_(device=as_kind(place, Device))
    interp.heap.set(value.slots, "spec", spec)
    whole = spec.dtype is not None and "int" in spec.dtype
    held = integers.of_factory(interp, name, call) if whole else integers.of_reals(name, call)
    chosen = integers.of_choices(interp, call) if held is None and name in ("tensor", "as_tensor") else None
    if (held or chosen) is not None:
        interp.heap.set(value.slots, "tags", value.tags | {held or chosen})
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
    """The content of the lists that a tensor is made from."""
    items = data.elements or () if isinstance(data, ListValue) else as_kind(data, tuple)
    if items is None or not depth:
        yield data
    else:
        for item in items:
            yield from _elements(item, depth - 1)


def _left_graph(value: Value) -> TypeGuard[Tensor | Scalar]:
    """Whether a value is, or was computed from, one that required grad."""
    if isinstance(value, Tensor):
        return value.spec.requires_grad is True or cut_of(value) is not None
    return isinstance(value, Scalar) and value.cut is not None


def _any_integers(value: Value) -> Value:
    """Data in which integers that are not known are replaced by others: the shape does not depend on them."""
    if isinstance(value, Dim):
        return 1
    if limits.is_large(value):
        return UNKNOWN
    match value:
        case tuple():
            return tuple(map(_any_integers, value))
        case ListValue() if value.items is not None:
            return ListValue(tuple(map(_any_integers, value.items)), value.type_name)
    return value


@models(*(f"torch.{name}_like" for name in "zeros ones empty full rand randn randint".split()))
def _like(interp: Interpreter, call: Arguments) -> Value:
    kwargs = dict(call.kwargs)
    place = take_device(kwargs)
    grad = kwargs.pop("requires_grad", False)
    value = interp.operate(call.path, call.args, kwargs, call.node, call.frame)
    if isinstance(value, Tensor):
        spec = value.spec
        if place is not NO_DEVICE:
            spec = spec.with_(device=place)
        interp.heap.set(value.slots, "spec", spec)
        if grad is True:
            interp.require_grad(value, True, call.node, call.frame)
    return value
