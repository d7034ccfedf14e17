"""Resolves dotted names of allowed installed libraries to their objects, and says what kind they are."""

from __future__ import annotations

import argparse  # noqa: F401 -- for `vocabulary`
import ast
import contextlib
import difflib
import importlib
import inspect
import pathlib  # noqa: F401
import sys
import textwrap
import threading
import types
from functools import cache
from typing import Any

import torch

from torchsleuth.tensors.spec import DType, Native, Parameter, plain_name

ALLOWED_PACKAGES = frozenset({"torch", "math", "einops", "operator"})
"""Packages the analysis may import; everything else stays unknown. User code is never imported."""

MODEL_PACKAGES = frozenset({"torchvision", "timm", "transformers"})
"""Packages that are imported when a script builds one of their models, and known by name only for all the rest."""

IMPORT_SECONDS = 10.0
"""How long an analysis waits for such a package to be imported; later ones find it imported."""

_OPERATORS = tuple(
    "torch.Tensor. torch.nn. torch.linalg. torch.fft. torch.special. torch.signal.windows. torch.sparse. "
    "torch.nested. torch.masked. torch.functional. torch.distributions. torch.func. math. operator. "
    "einops.".split()
)
"""Where functions are that compute and do nothing else; of what lies right in torch, `_computes` tells them."""
_COMPUTING = frozenset(
    "broadcast_shapes can_cast promote_types result_type finfo iinfo is_tensor is_storage is_complex typename vmap "
    "get_default_dtype get_rng_state initial_seed sym_int sym_float sym_max sym_min sym_not sym_ite".split()
)
_COMPUTING_MODULES = ("torch.functional", "torch._linalg_utils", "torch._lowrank", "torch._lobpcg")
_NOT_COMPUTING = ("torch.from_file", "torch.sparse.check_sparse_tensor_invariants")
_MODULES = ("torch.nn.", "torch.ao.nn.", "torch.ao.quantization.")
_OBJECTS = ("torch.distributions.",)

_COMMON = tuple(
    "torch torch.Tensor torch.Size torch.device torch.dtype torch.Generator torch.nn torch.nn.Module torch.nn.functional "
    "torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.Sequential torch.nn.ModuleList torch.nn.ModuleDict "
    "torch.optim torch.optim.Optimizer torch.optim.lr_scheduler torch.optim.lr_scheduler.LRScheduler torch.utils "
    "torch.utils.data torch.utils.data.Dataset torch.utils.data.DataLoader torch.utils.data.Subset torch.utils.checkpoint "
    "torch.cuda torch.cuda.amp torch.amp torch.amp.GradScaler torch.autograd torch.autograd.Function torch.linalg torch.fft "
    "torch.special torch.random torch.func torch.jit torch.backends torch.backends.cudnn "
    "torch.backends.mps math".split()
)
_STANDARD = tuple("os os.path sys math random time json re logging itertools functools collections copy".split())
_FORBIDDEN = ("torch.utils.cpp_extension", "torch.distributed", "torch._C", "torch.hub", "torch.multiprocessing")


@cache
def load(path: str) -> Any:
    """The object at a dotted path. Raises LookupError if it does not exist or is not allowed."""
    package = path.partition(".")[0]
    if package not in ALLOWED_PACKAGES or path.startswith(_FORBIDDEN):
        raise LookupError(path)
    return _object_at(path)


@cache
def operator(path: str) -> Any:
    """What computes something from tensors and plain values, and does nothing else: it reads and writes no files, and changes
    nothing that is global. Raises LookupError for whatever else there is at a dotted path."""
    if not (path.startswith(_OPERATORS) or _computes(path)) or path.startswith(_NOT_COMPUTING) or _leads_out(path):
        raise LookupError(path)
    return load(path)


def _leads_out(path: str) -> bool:
    """Whether a path goes through what a module has imported: ``torch.nn.functional.importlib.import_module``."""
    parts = path.split(".")
    prefixes = (".".join(parts[:count]) for count in range(1, len(parts)))
    return any(isinstance(owner := load(prefix), types.ModuleType) and owner.__name__ != prefix for prefix in prefixes)


def _computes(path: str) -> bool:
    package, _, name = path.rpartition(".")
    if package != "torch":
        return False
    native = hasattr(torch._C._VariableFunctions, name)
    return native or name in _COMPUTING or getattr(load(path), "__module__", "") in _COMPUTING_MODULES


@cache
def module_class(path: str) -> Any:
    """A class of layers. Raises LookupError."""
    value = load(path)
    if not (path.startswith(_MODULES) and isinstance(value, type) and issubclass(value, torch.nn.Module)):
        raise LookupError(path)
    return value


@cache
def object_class(path: str) -> Any:
    """A class whose instances only hold their arguments: a distribution, or what a package of models defines. Raises
    LookupError."""
    if path.partition(".")[0] in MODEL_PACKAGES:
        return published(path)
    if not path.startswith(_OBJECTS):
        raise LookupError(path)
    return load(path)


@cache
def published(path: str) -> Any:
    """The object at a dotted path in a package of models, which is imported. Raises LookupError."""
    package = path.partition(".")[0]
    if package not in MODEL_PACKAGES:
        raise LookupError(path)
    _import_apart(package)
    return _object_at(path)


_importing: dict[str, threading.Thread] = {}


def _import_apart(package: str) -> None:
    """Import a package in a thread of its own: such packages can take longer than an analysis may. Raises LookupError while
    that goes on, and where it has failed."""
    if package not in _importing:
        _importing[package] = threading.Thread(target=_try_import, args=(package,), daemon=True)
        _importing[package].start()
    _importing[package].join(IMPORT_SECONDS)
    if _importing[package].is_alive() or package not in sys.modules:
        raise LookupError(package)


def _try_import(package: str) -> None:
    with contextlib.suppress(BaseException):
        importlib.import_module(package)


def imported(path: str) -> Any:
    """The same, of a package that is imported already. Raises LookupError."""
    if path.partition(".")[0] not in sys.modules:
        raise LookupError(path)
    return published(path)


def _object_at(path: str) -> Any:
    parts = path.split(".")
    value: Any = _imported(parts[0])
    for index, part in enumerate(parts[1:], start=2):
        try:
            value = getattr(value, part)
        except AttributeError:
            if not isinstance(value, types.ModuleType):
                raise LookupError(path) from None
            value = _imported(".".join(parts[:index]))
        except Exception as error:
            # What is looked up in a library of operators or classes need not be registered.
            raise LookupError(path) from error
    return value


def _imported(path: str) -> Any:
    """Importing may fail in any way: the package is not installed, or does not fit the others."""
    try:
        return importlib.import_module(path)
    except Exception as error:
        raise LookupError(path) from error


@cache
def resolve(path: str) -> Any:
    """The abstract value of a dotted name: a constant, a DType, or a Native. Raises LookupError."""
    value = load(path)
    if isinstance(value, torch.dtype):
        return DType(str(value).removeprefix("torch."))
    if value is None or isinstance(value, bool | int | float | str | complex):
        return value
    if isinstance(value, types.ModuleType):
        return Native(path, "package")
    if isinstance(value, type):
        return Native(canonical_class(value, path), "module-class" if issubclass(value, torch.nn.Module) else "class")
    if callable(value):
        return Native(path, "function")
    return Native(path, "object")


def vocabulary() -> list[str]:
    """The names of the attributes of what most scripts use: of torch, NumPy where it is there, and Python's own types."""
    places: list[Any] = [str, bytes, int, float, list, tuple, dict, set, frozenset, range, slice, Exception]
    for path in _COMMON:
        try:
            places.append(load(path))
        except LookupError:
            continue
    for name in _STANDARD:
        places += [sys.modules[name]] if name in sys.modules else []
    places += [sys.modules["pathlib"].Path, sys.modules["argparse"].ArgumentParser]
    if "numpy" in sys.modules:
        places += [sys.modules["numpy"], sys.modules["numpy"].ndarray, sys.modules["numpy"].random]
    instances = [
        torch.nn.Linear(1, 1),
        torch.nn.Conv2d(1, 1, 1),
        torch.nn.LSTM(1, 1),
        torch.nn.MultiheadAttention(1, 1),
    ]
    words = {name for place in places for name in dir(place)}
    return sorted(words.union(*(vars(instance) for instance in instances)))


def canonical_class(value: type, fallback: str) -> str:
    """One name per class: ``torch.nn.modules.linear.Linear`` is ``torch.nn.Linear``."""
    for prefix in ("torch", "torch.nn", "torch.optim", "torch.optim.lr_scheduler", "torch.utils.data"):
        try:
            if load(f"{prefix}.{value.__name__}") is value:
                return f"{prefix}.{value.__name__}"
        except LookupError:
            continue
    return fallback


@cache
def is_lazy(path: str) -> bool:
    """Whether a class is a module whose input sizes are fixed by its first call."""
    try:
        value = load(path)
    except LookupError:
        return False
    return isinstance(value, type) and issubclass(value, torch.nn.modules.lazy.LazyModuleMixin)


@cache
def static_method(path: str, name: str) -> Any:
    """The function that a class has under a name, if it takes no instance; None where there is none."""
    try:
        found = inspect.getattr_static(load(path), name)
    except (LookupError, AttributeError):
        return None
    return Native(f"{path}.{name}", "function") if isinstance(found, staticmethod) else None


@cache
def materialized(path: str, rank: int) -> tuple[str, int]:
    """What a lazy module becomes at a call with a tensor of this rank, and the axis of the size that it takes."""
    cls = load(path)
    concrete = canonical_class(cls.cls_to_become, path)
    if concrete == "torch.nn.Linear":
        return concrete, rank - 1
    if ".Conv" in concrete:
        return concrete, rank - 1 - int(concrete[-2])
    return concrete, 1


def mro_paths(path: str) -> tuple[str, ...]:
    """Canonical paths of a class and its bases, most derived first."""
    value = load(path)
    return tuple(
        canonical_class(base, f"{base.__module__}.{base.__qualname__}") for base in value.__mro__ if base is not object
    )


def public_names(path: str) -> tuple[str, ...]:
    """What ``from path import *`` binds; nothing for a name that does not exist."""
    try:
        module = load(path)
    except LookupError:
        return ()
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return tuple(name for name in names if isinstance(name, str))


_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "place",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "either",
    inspect.Parameter.VAR_POSITIONAL: "places",
    inspect.Parameter.KEYWORD_ONLY: "name",
    inspect.Parameter.VAR_KEYWORD: "names",
}
_WITH_PARAMETERS = (
    "torch.nn.", "torch.optim.", "torch.utils.data.", "torch.distributions.", "torch.amp.", "torch.Tensor.", "torch.save", "torch.GradScaler.",
    "torch.load", "torch.autocast", "torch.autograd.grad", "torch.autograd.backward",
)  # fmt: skip


@cache
def signature(path: str) -> tuple[Parameter, ...] | None:
    """The parameters of a function of Python, or of a constructor (without self) or method (with it), where these say what
    is taken; else None."""
    if not path.startswith(_WITH_PARAMETERS):
        return None
    try:
        value = load(path)
        recurrent = isinstance(value, type) and issubclass(value, torch.nn.RNNBase) and value is not torch.nn.RNNBase
        listed = list(inspect.signature(torch.nn.RNNBase if recurrent else value).parameters.values())
    except (LookupError, TypeError, ValueError):
        return None
    found = [
        Parameter(
            one.name,
            _KINDS[one.kind],
            one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD),
        )
        for one in listed[int(recurrent) :]
    ]
    if recurrent and issubclass(value, torch.nn.RNN):
        found.append(Parameter("nonlinearity", "name", False))
    return tuple(found)


_ALIKE = 0.8
"""How much of a name has to be the same, at least, for it to be a slip for another."""
_LONG = 5
"""Shorter names are like too many."""


@cache
def nearest(path: str, name: str) -> tuple[str, ...]:
    """The public names of a module or class that a name may be a slip for, the likeliest first; nothing where it is one of
    them."""
    try:
        known = [one for one in dir(load(path)) if not one.startswith("_")]
    except LookupError:
        return ()
    if name in known or name.startswith("_"):
        return ()
    same = [one for one in known if plain_name(one) == plain_name(name)]
    long = len(name) >= _LONG
    return tuple(same or difflib.get_close_matches(name, known if long else (), 2, _ALIKE))


_PLACES = tuple(
    "torch.nn torch.nn.functional torch.optim torch.optim.lr_scheduler torch.utils.data torch torch.nn.utils torch.nn.utils.rnn "
    "torch.nn.init torch.autograd torch.linalg torch.fft torch.amp torch.cuda torch.distributions torch.nn.parallel "
    "torch.utils.checkpoint".split()
)
"""Modules in which somebody looks for a name that is in another of them."""


@cache
def elsewhere(path: str, name: str) -> tuple[str, ...]:
    """The dotted names of what is called so in other modules of torch than this one, and of such modules; nothing where the
    module has the name, or is none."""
    try:
        owner = load(path)
    except LookupError:
        return ()
    if (
        name.startswith("_")
        or not path.startswith("torch")
        or not isinstance(owner, types.ModuleType)
        or hasattr(owner, name)
    ):
        return ()
    found = [place for place in _PLACES if place.rpartition(".")[0] not in ("", path) and place.endswith(f".{name}")]
    for place in _PLACES:
        if place != path and callable(getattr(sys.modules.get(place), name, None)):
            found.append(f"{place}.{name}")
    return tuple(found)


_PARTS_ONLY = (torch.nn.Module, torch.nn.Sequential, torch.nn.ModuleList)
"""Classes that give computed names to nothing but their parts."""


@cache
def attributes(path: str) -> frozenset[str]:
    """The attributes that the instances of a class may have: those of the class and its bases, and what their methods give to
    ``self``. Empty where that is not known, as for classes that say it themselves."""
    try:
        cls = load(path)
    except LookupError:
        return frozenset()
    if not isinstance(cls, type) or (hasattr(cls, "__getattr__") and not issubclass(cls, torch.nn.Module)):
        return frozenset()
    found = {"__dict__", *dir(cls)}
    for base in cls.__mro__:
        found.update(base.__dict__.get("__annotations__", ()))
        if base is object or base.__module__ in ("typing", "abc"):
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except TypeError:
            continue  # of C++: its class shows all that there is
        except (OSError, SyntaxError):
            if issubclass(cls, torch.Tensor):
                break  # no instance has more than its class shows
            return frozenset()
        if base not in _PARTS_ONLY and any(map(_names_attributes, ast.walk(tree))):
            return frozenset()
        stored = (
            node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        )
        found.update(node.attr for node in stored)
    return frozenset(found)


def _names_attributes(node: ast.AST) -> bool:
    """Whether a call gives an object attributes whose names are computed: ``setattr(self, name, value)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr"
