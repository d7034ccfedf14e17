"""The first wall: what the analysis knows of the installed libraries, and what of them it may call.

Everything that a program names is looked up here, by its dotted path. There are two lists, both made when the process starts
and both by the identity of objects:

- what is *known*: the modules that torch itself has imported, and what is defined in them. That is for descriptions only:
  signatures, names, kinds. Nothing is imported because a program names it, and no path leads through what a module has
  imported from elsewhere, through attributes of functions, or through names with underscores in front and behind.
- what is *listed*: operators, classes of layers, distributions, optimizers. Only these are called, and only with data; the
  builders of other packages' models, with classes of layers, too.
"""

from __future__ import annotations

import enum
import functools
import importlib
import inspect
import operator as operators
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch

KNOWN_PACKAGES = frozenset({"torch", "math", "operator", "einops"})
"""Packages that the analysis knows; all others are known by name only, but for those that build models (`published`)."""

_FORBIDDEN = ("torch.utils.cpp_extension", "torch.distributed.", "torch._C.", "torch.hub.", "torch.multiprocessing.")
_OPTIONAL = ("math", "operator", "einops", "einops.layers.torch")
"""Packages that are imported when the process starts, where it is installed."""
_LATER = frozenset(
    "torch.onnx torch.utils.tensorboard torch.utils.flop_counter torch.utils.model_zoo torch.utils.mobile_optimizer "
    "torch.utils.benchmark torch.cuda.comm torch.quantization torch.quantization.quantize_fx torch.ao.quantization "
    "torch.ao.quantization.quantize_fx torch.ao.pruning torch.nn.attention.bias torch.nn.attention.flex_attention".split()
)
"""The only modules that are imported when a program names them, of those that torch does not import by itself."""
_ROOTS = frozenset({"torch", "math", "operator", "_operator", "einops"})
"""Where classes and functions are defined that count as a package's own."""

_MISSING = object()


class Gate:
    """The two lists. There is one, `GATE`, made when this module is imported."""

    def __init__(self) -> None:
        for name in _OPTIONAL:
            _import_quietly(name)
        self.modules: dict[str, types.ModuleType] = {
            name: module
            for name, module in list(sys.modules.items())
            if name.partition(".")[0] in KNOWN_PACKAGES
            and isinstance(module, types.ModuleType)
            and not _forbidden(name)
        }
        self.methods: dict[str, Callable[..., Any]] = dict(_methods())
        self._listed: dict[str, dict[int, object]] = {}
        self._list("operator", self._operators())
        self._list("layer", self._layers())
        self._list("object", self._distributions())
        self._list("options", self._with_options())

    def known(self, path: str) -> Any:
        """The object at a dotted path. Raises LookupError."""
        first, *rest = path.split(".")
        if any(part.startswith("__") and part != "__version__" for part in rest):
            raise LookupError(path)
        owner: Any = self.modules.get(first, _MISSING)
        prefix = first
        for part in rest:
            prefix = f"{prefix}.{part}"
            owner = self._member(owner, part, prefix)
        if owner is _MISSING:
            raise LookupError(path)
        return owner

    def listed(self, kind: str, path: str) -> Any:
        """The object at a dotted path, if it is on a list: operator, layer, object (a distribution) or options (an
        optimizer or a schedule). Raises LookupError."""
        if any(part.startswith("_") for part in path.split(".")):
            raise LookupError(path)
        value = self.known(path)
        if self._listed[kind].get(id(value), _MISSING) is not value:
            raise LookupError(path)
        return value

    def _list(self, kind: str, values: Iterator[object]) -> None:
        self._listed[kind] = {id(value): value for value in values}

    def _member(self, owner: Any, name: str, path: str) -> Any:
        """An owner's member under a name, if it is the owner's own, else _MISSING. No code of the owner runs."""
        if isinstance(owner, types.ModuleType):
            value = vars(owner).get(name, _MISSING)
            if value is _MISSING or isinstance(value, types.ModuleType):
                value = self._module(path)
            if value is _MISSING and path.startswith("torch.backends."):
                value = _setting(owner, name)
            if isinstance(value, types.ModuleType):
                return value
            return value if _is_own(value) else _MISSING
        if isinstance(owner, type) and _is_own(owner):
            return _attribute(owner, name)
        return _MISSING

    def _module(self, path: str) -> Any:
        """The module of that name, not one that another has imported; _MISSING where there is none."""
        if path in _LATER and path not in self.modules:
            _import_quietly(path)
            if path in sys.modules:
                self.modules[path] = sys.modules[path]
        return self.modules.get(path, _MISSING)

    # -- the lists ---------------------------------------------------------------------------------

    def _operators(self) -> Iterator[object]:
        """The operators that compute something from tensors and plain values, and do nothing else."""
        for name in dir(torch._C._VariableFunctions):
            if not name.startswith(("_", *_OF_DEVICES)) and name not in _NOT_OPERATORS and hasattr(torch, name):
                yield getattr(torch, name)
        for name in _COMPUTING:
            if hasattr(torch, name):
                yield getattr(torch, name)
        for place in _OPERATOR_MODULES:
            if place in self.modules:
                yield from (value for name, value in _public(self.modules[place]) if name not in _NOT_OPERATORS)
        for name, value in _public(self.modules["operator"]):
            if name in _OF_OPERATOR:
                yield value
        for place in ("torch.nn.utils", "torch.distributions", "torch.func", "torch.nn.utils.stateless", "einops"):
            for name, value in _public(self.modules.get(place)):
                if name in _COMPUTING_ELSEWHERE:
                    yield value
        for cls in self._layers():
            yield from (_attribute(cls, name) for name, static in _own(cls) if isinstance(static, staticmethod))
        computed = property | functools.cached_property | torch.distributions.utils.lazy_property
        for cls in self._distributions():
            for base in cls.__mro__:
                yield from (
                    _attribute(base, name)
                    for name, static in vars(base).items()
                    if _is_own(base)
                    and not name.startswith("_")
                    and (inspect.isfunction(static) or isinstance(static, computed))
                )

    def _layers(self) -> Iterator[type]:
        for name, module in self.modules.items():
            if name.startswith(_LAYER_MODULES) or name == "torch.nn":
                for own, value in _public(module):
                    if isinstance(value, type) and issubclass(value, torch.nn.Module) and own not in _NOT_LAYERS:
                        yield value

    def _distributions(self) -> Iterator[type]:
        kinds = (torch.distributions.Distribution, torch.distributions.Transform)
        for name, module in self.modules.items():
            if name.startswith("torch.distributions"):
                for _, value in _public(module):
                    if isinstance(value, type) and issubclass(value, kinds):
                        yield value

    def _with_options(self) -> Iterator[type]:
        kinds = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler)
        for place in ("torch.optim", "torch.optim.lr_scheduler"):
            for _, value in _public(self.modules[place]):
                if isinstance(value, type) and issubclass(value, kinds) and value not in kinds:
                    yield value


_OPERATOR_MODULES = tuple(
    "math torch.nn.functional torch.nn.init torch.nn.utils.rnn torch.linalg torch.fft torch.special torch.signal.windows "
    "torch.sparse torch.nested torch.masked torch.functional torch._linalg_utils torch._lowrank torch._lobpcg".split()
)
"""Modules all of whose public functions compute, but for `_NOT_OPERATORS`."""
_COMPUTING = tuple(
    "broadcast_shapes can_cast promote_types result_type finfo iinfo is_tensor is_storage is_complex typename "
    "get_default_dtype get_rng_state initial_seed sym_int sym_float sym_max sym_min sym_not sym_ite sym_sum".split()
)
"""The same of what is not native in torch itself."""
_COMPUTING_ELSEWHERE = frozenset(
    "clip_grad_norm_ clip_grad_value_ get_total_norm clip_grads_with_norm_ parameters_to_vector vector_to_parameters "
    "rearrange reduce repeat einsum pack unpack parse_shape asnumpy functional_call stack_module_state kl_divergence".split()
)
_NOT_OPERATORS = frozenset(
    "from_file frombuffer is_vulkan_available boolean_dispatch handle_torch_function has_torch_function "
    "has_torch_function_unary has_torch_function_variadic assert_int_or_pair overload copy_method_params bind register_kl "
    "as_sparse_gradcheck check_sparse_tensor_invariants to_sparse_semi_structured MaskedTensor".split()
)
"""Functions that read files or foreign memory, take functions, or change what is global."""
_OF_DEVICES = ("cudnn_", "miopen_", "mkldnn_", "fbgemm_", "quantized_")
"""Beginnings of the names of kernels that trust their arguments, which no program calls by itself."""
_OF_OPERATOR = frozenset(
    "abs add and_ eq floordiv ge getitem gt iadd iand ifloordiv ilshift imatmul imod imul index inv invert ior ipow irshift "
    "isub itruediv ixor le lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor".split()
)
_LAYER_MODULES = ("torch.nn.", "torch.ao.nn.", "torch.ao.quantization.")
_NOT_LAYERS = frozenset({"DistributedDataParallel"})
_NOT_METHODS = frozenset(
    "apply_ map_ map2_ register_hook register_post_accumulate_grad_hook module_load share_memory_ as_subclass backward "
    "storage storage_type untyped_storage data_ptr const_data_ptr record_stream pin_memory is_shared cuda ipu xpu mtia "
    "to_mkldnn numpy set_ reinforce".split()
)
"""Methods of tensors that take functions and classes, or that reach for memory and devices."""
_DUNDERS = frozenset(
    "__abs__ __add__ __and__ __bool__ __complex__ __contains__ __eq__ __float__ __floordiv__ __format__ __ge__ __getitem__ "
    "__gt__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imod__ __imul__ __index__ __int__ __invert__ __ior__ __ipow__ "
    "__irshift__ __isub__ __iter__ __itruediv__ __ixor__ __le__ __len__ __lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ "
    "__neg__ __or__ __pos__ __pow__ __radd__ __rand__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ "
    "__rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __setitem__ __sub__ __truediv__ __xor__".split()
)
_ATTRIBUTES = frozenset(
    "H T mH mT real imag shape dtype device layout ndim itemsize nbytes grad is_leaf requires_grad retains_grad is_cpu "
    "is_cuda is_meta is_mps is_nested is_quantized is_sparse is_sparse_csr is_xpu names data".split()
)


def _methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods of tensors, and getters of their attributes, by name."""
    for name in dir(torch.Tensor):
        static = inspect.getattr_static(torch.Tensor, name, None)
        if name in _ATTRIBUTES:
            yield name, operators.attrgetter(name)
        elif (name in _DUNDERS) if name.startswith("_") else (name not in _NOT_METHODS):
            if inspect.isfunction(static) or isinstance(
                static, types.MethodDescriptorType | types.WrapperDescriptorType
            ):
                yield name, getattr(torch.Tensor, name)


def _public(module: types.ModuleType | None) -> Iterator[tuple[str, Any]]:
    """Functions and classes of a package's own that a module has under names without an underscore in front."""
    for name, value in list(vars(module).items()) if module is not None else ():
        if not name.startswith("_") and callable(value) and _is_own(value) and not isinstance(value, types.ModuleType):
            yield name, value


def _own(cls: type) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in vars(cls).items() if not name.startswith("_"))


def _is_own(value: Any) -> bool:
    """Whether a value is a package's own, and not imported from elsewhere: a class or function that is defined in one, or
    what can not be called."""
    if isinstance(value, type):
        return value.__module__.partition(".")[0] in _ROOTS
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | functools.partial):
        return str(getattr(value, "__module__", None)).partition(".")[0] in _ROOTS
    if isinstance(value, types.ModuleType) or not callable(value):
        return True
    return type(value).__module__.partition(".")[0] in _ROOTS or isinstance(value, functools._lru_cache_wrapper)


def _attribute(owner: type, name: str) -> Any:
    """An attribute of a class, without asking its metaclass or a descriptor that is not one of Python's own."""
    static = inspect.getattr_static(owner, name, _MISSING)
    if isinstance(static, staticmethod | classmethod):
        return getattr(owner, name)
    if isinstance(static, types.ModuleType):
        return _MISSING
    return static if static is _MISSING or not callable(static) or _is_own_member(static) else _MISSING


def _is_own_member(value: Any) -> bool:
    descriptors = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
    return isinstance(value, descriptors) or _is_own(value)


def _setting(owner: types.ModuleType, name: str) -> Any:
    """A flag of ``torch.backends``, which are attributes of modules of a class of its own."""
    if name.startswith("_") or type(owner) is types.ModuleType or not hasattr(type(owner), name):
        return _MISSING
    try:
        value = getattr(owner, name)
    except Exception:
        return _MISSING
    return value if value is None or isinstance(value, bool | int | float | str) else _MISSING


def _forbidden(path: str) -> bool:
    return f"{path}.".startswith(_FORBIDDEN)


def _import_quietly(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception:
        return


GATE = Gate()


@cache
def known(path: str) -> Any:
    """`Gate.known`"""
    return GATE.known(path)


@cache
def operator(path: str) -> Any:
    """An operator: it computes something from tensors and plain values, and does nothing else. Raises LookupError."""
    return GATE.listed("operator", path)


@cache
def layer(path: str) -> type[torch.nn.Module]:
    """A class of layers. Raises LookupError."""
    found: type[torch.nn.Module] = GATE.listed("layer", path)
    return found


@cache
def distribution(path: str) -> Any:
    """A class whose instances only hold their arguments. Raises LookupError."""
    return GATE.listed("object", path)


@cache
def with_options(path: str) -> Any:
    """An optimizer or a schedule. Raises LookupError."""
    return GATE.listed("options", path)


def method(name: str) -> Callable[..., Any]:
    """A method of tensors, or the getter of one of their attributes. Raises LookupError."""
    try:
        return GATE.methods[name]
    except KeyError:
        raise LookupError(name) from None


def is_data(value: Any) -> bool:
    """Whether a value is nothing but data, as an argument of what is called has to be: plain values of Python and torch,
    tensors, layers and containers of these."""
    if value is None or value is ... or isinstance(value, bool | int | float | complex | str | bytes | torch.Tensor):
        return True
    match value:
        case tuple() | list():
            return all(map(is_data, value))
        case dict():
            return all(is_data(key) and is_data(item) for key, item in value.items())
        case slice():
            return is_data(value.start) and is_data(value.stop) and is_data(value.step)
    plain = (torch.dtype, torch.device, torch.layout, torch.memory_format, torch.SymInt, torch.SymFloat, torch.SymBool)
    return isinstance(value, (*plain, torch.nn.Module, torch.distributions.Distribution, enum.Enum)) or (
        type(value).__module__.partition(".")[0] in ("torch", "transformers") and not callable(value)
    )


__all__ = ["GATE", "KNOWN_PACKAGES", "distribution", "is_data", "known", "layer", "method", "operator", "with_options"]
