"""Resolves dotted names of allowed installed libraries to their objects, and says what kind they are."""

from __future__ import annotations

import argparse  # noqa: F401 -- for `vocabulary`
import ast
import contextlib
import difflib
import functools
import importlib
import importlib.util
import inspect
import pathlib  # noqa: F401
import sys
import textwrap
import threading
import types
from functools import cache
from typing import Any

import torch

from torchsleuth import wall
from torchsleuth.oracle import gate
from torchsleuth.oracle.gate import known
from torchsleuth.tensors.spec import DType, Native, Parameter, plain_name

MODEL_PACKAGES = frozenset({"torchvision", "timm", "transformers"})
"""Packages that are imported when a script builds one of their models, and known by name only for all the rest."""

IMPORT_SECONDS = 10.0
"""How long an analysis waits for such a package to be imported; later ones find it imported."""

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
_PUBLIC = (
    "torch",
    "torch.nn",
    "torch.nn.parallel",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.utils.data",
    "torch.utils.data.distributed",
)
"""Packages by whose names classes are known, wherever they are defined, in order of preference."""


@cache
def object_class(path: str) -> Any:
    """A class whose instances only hold their arguments: a distribution, or what a package of models defines. Raises
    LookupError."""
    if path.partition(".")[0] not in MODEL_PACKAGES:
        return gate.distribution(path)
    found = published(path)
    if not (isinstance(found, type) and path.startswith("transformers.") and path.endswith("Config")):
        raise LookupError(path)
    return found


@cache
def published(path: str) -> Any:
    """The object at a dotted path in a package of models, which is imported: a class, a function or a set of weights that
    the package defines itself. Raises LookupError."""
    package, *parts = path.split(".")
    if package not in MODEL_PACKAGES or any(part.startswith("_") for part in parts):
        raise LookupError(path)
    value = package_module(package)
    prefix = package
    for part in parts:
        prefix = f"{prefix}.{part}"
        value = _part(value, part, prefix)
    if not (_defined_in(value, package) or isinstance(value, types.ModuleType)):
        raise LookupError(path)
    return value


def _part(owner: Any, name: str, path: str) -> Any:
    """A module's own part, a member of an enumeration, or a class's own function. Packages of models import their parts when
    these are asked for. Raises LookupError."""
    package = path.partition(".")[0]
    if isinstance(owner, types.ModuleType):
        try:
            value = getattr(owner, name)
        except Exception:
            value = _imported(path)
        if isinstance(value, types.ModuleType) and value.__name__ != path:
            raise LookupError(path)
        return value
    if not _defined_in(owner, package):
        raise LookupError(path)
    try:
        return getattr(owner, name)
    except Exception as error:
        raise LookupError(path) from error


def _defined_in(value: Any, package: str) -> bool:
    """Whether a value is a class, a function, or an instance of a class that a package defines."""
    if isinstance(value, functools.partial):
        value = value.func
    definition = value if isinstance(value, type) or inspect.isroutine(value) else type(value)
    return str(getattr(definition, "__module__", None)).partition(".")[0] == package


_importing: dict[str, threading.Thread] = {}


def package_module(package: str) -> Any:
    """A package of models. It is imported in a thread of its own, as that can take longer than an analysis may, and only
    where it is installed beside the interpreter: never from a folder of the workspace. Raises LookupError, also while the
    import goes on."""
    if package not in _importing:
        _importing[package] = threading.Thread(target=_try_import, args=(package,), daemon=True)
        _importing[package].start()
    _importing[package].join(IMPORT_SECONDS)
    if _importing[package].is_alive() or package not in sys.modules:
        raise LookupError(package)
    return sys.modules[package]


def _try_import(package: str) -> None:
    with contextlib.suppress(BaseException):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None and wall.is_installed(spec.origin):
            importlib.import_module(package)


def _imported(path: str) -> Any:
    """Importing may fail in any way: the package is not installed, or does not fit the others."""
    try:
        return importlib.import_module(path)
    except Exception as error:
        raise LookupError(path) from error


def version_of(package: str) -> str:
    """The version of a package of models. Raises LookupError."""
    return str(getattr(package_module(package), "__version__", ""))


@cache
def resolve(path: str) -> Any:
    """The abstract value of a dotted name: a constant, a DType, or a Native. Raises LookupError."""
    value = known(path)
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
            places.append(known(path))
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
    for prefix in _PUBLIC:
        try:
            if known(f"{prefix}.{value.__name__}") is value:
                return f"{prefix}.{value.__name__}"
        except LookupError:
            continue
    return fallback


@cache
def is_lazy(path: str) -> bool:
    """Whether a class is a module whose input sizes are fixed by its first call."""
    try:
        value = known(path)
    except LookupError:
        return False
    return isinstance(value, type) and issubclass(value, torch.nn.modules.lazy.LazyModuleMixin)


@cache
def static_method(path: str, name: str) -> Any:
    """The function that a class has under a name, if it takes no instance; None where there is none."""
    try:
        found = inspect.getattr_static(known(path), name)
    except (LookupError, AttributeError):
        return None
    return Native(f"{path}.{name}", "function") if isinstance(found, staticmethod) else None


@cache
def materialized(path: str, rank: int) -> tuple[str, int]:
    """The module that a lazy one becomes at a call with a tensor of this rank, and the axis of the size that it takes."""
    cls = known(path)
    concrete = canonical_class(cls.cls_to_become, path)
    if concrete == "torch.nn.Linear":
        return concrete, rank - 1
    if ".Conv" in concrete:
        return concrete, rank - 1 - int(concrete[-2])
    return concrete, 1


def mro_paths(path: str) -> tuple[str, ...]:
    """Canonical paths of a class and its bases, most derived first."""
    value = known(path)
    return tuple(
        canonical_class(base, f"{base.__module__}.{base.__qualname__}") for base in value.__mro__ if base is not object
    )


def public_names(path: str) -> tuple[str, ...]:
    """The names that ``from path import *`` binds; nothing for a name that does not exist."""
    try:
        module = known(path)
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
def _is_bare(module: type) -> bool:
    """Whether a class of modules has no constructor but that of nn.Module."""
    return next(cls for cls in module.__mro__ if "__init__" in vars(cls)) is torch.nn.Module


def signature(path: str) -> tuple[Parameter, ...] | None:
    """The parameters of a function of Python, or of a constructor (without self) or method (with it), where these say what
    is taken; else None."""
    if not path.startswith(_WITH_PARAMETERS):
        return None
    try:
        value = known(path)
        recurrent = isinstance(value, type) and issubclass(value, torch.nn.RNNBase) and value is not torch.nn.RNNBase
        if isinstance(value, type) and issubclass(value, torch.nn.Module) and _is_bare(value):
            return ()  # which refuses whatever it is given
        listed = list(inspect.signature(torch.nn.RNNBase if recurrent else value).parameters.values())
    except (LookupError, TypeError, ValueError):
        return None
    found = [
        Parameter(
            one.name,
            _KINDS[one.kind],
            one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD),
            "" if one.default is one.empty else type(one.default).__name__,
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


_FILLED_LATER = ("torch.ops", "torch.classes")
"""Modules to which a library of operators adds its own when it is loaded."""


@cache
def nearest(path: str, name: str) -> tuple[str, ...]:
    """The public names of a module or class that a name may be a slip for, the likeliest first; nothing where it is one of
    them, and where libraries that are loaded later add others."""
    if path.startswith(_FILLED_LATER):
        return ()
    try:
        there = [one for one in dir(known(path)) if not one.startswith("_")]
    except LookupError:
        return ()
    if name in there or name.startswith("_"):
        return ()
    same = [one for one in there if plain_name(one) == plain_name(name)]
    long = len(name) >= _LONG
    return tuple(same or difflib.get_close_matches(name, there if long else (), 2, _ALIKE))


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
        owner = known(path)
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
        value = getattr(sys.modules.get(place), name, None)
        if place != path and callable(value):
            home = getattr(value, "__module__", None) or place
            if not home.startswith(("torch", "_")):
                return (f"{home}.{name}",)  # What torch itself imports from there.
            found.append(f"{place}.{name}")
    return tuple(found)


_WEIGHTS_OF_LAYERS = frozenset(
    f"{kind}_l{layer}{end}"
    for kind in ("weight_ih", "weight_hh", "weight_hr", "bias_ih", "bias_hh")
    for layer in range(64)
    for end in ("", "_reverse")
)
"""The weights of a recurrent layer, which it gives names that it computes."""
_PARTS_ONLY = (torch.nn.Module, torch.nn.Sequential, torch.nn.ModuleList, torch.nn.RNNBase)
"""Classes that give computed names to nothing but their parts, and to the weights above."""


@cache
def attributes(path: str) -> frozenset[str]:
    """The attributes that the instances of a class may have: those of the class and its bases, and what their methods give to
    ``self``. Empty where that is not known, as for classes that say it themselves."""
    try:
        cls = known(path)
    except LookupError:
        return frozenset()
    if not isinstance(cls, type) or (hasattr(cls, "__getattr__") and not issubclass(cls, torch.nn.Module)):
        return frozenset()
    found = {"__dict__", *dir(cls), *(_WEIGHTS_OF_LAYERS if issubclass(cls, torch.nn.RNNBase) else ())}
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
