"""The parameters of classes of packages that are not imported here, read in the files in which they are installed."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from torchsleuth import wall
from torchsleuth.tensors.spec import Parameter

PACKAGES = frozenset({"accelerate"})
_MAX_STEPS = 6
"""How many imports are followed from a public name to its definition."""
Place = tuple[tuple[str, ...], ast.ClassDef]
"""A class, and the module that it is in."""


@cache
def signature(path: str) -> tuple[Parameter, ...] | None:
    """The parameters of a class of one of these packages (without self), or of a method (with it), None where they are not known."""
    *module, name = path.split(".")
    if not module or module[0] not in PACKAGES:
        return None
    found = _class_in(tuple(module), name)
    if found is not None:
        return _of_class(*found)
    found = _class_in(tuple(module[:-1]), module[-1]) if len(module) > 1 else None
    methods = {part.name: part for part in found[1].body if isinstance(part, ast.FunctionDef)} if found else {}
    return _of_function(methods[name]) if name in methods else None


def _class_in(module: tuple[str, ...], name: str) -> Place | None:
    """The class that a module has under a name, be it imported there."""
    for _ in range(_MAX_STEPS):
        where, what = next(_steps(module, name), (module, ""))
        if isinstance(what, ast.ClassDef):
            return where, what
        if not what or where[:1] != module[:1]:
            return None
        module, name = where, what
    return None


def _steps(module: tuple[str, ...], name: str) -> Iterator[tuple[tuple[str, ...], ast.ClassDef | str]]:
    """Where a name of a module is defined: the class, or the module that it is imported from, and its name there."""
    for node in _body(module):
        if isinstance(node, ast.ClassDef) and node.name == name:
            yield module, node
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if name == (alias.asname or alias.name):
                    yield _imported_from(module, node), alias.name


def _imported_from(module: tuple[str, ...], node: ast.ImportFrom) -> tuple[str, ...]:
    parts = tuple(node.module.split(".")) if node.module else ()
    if not node.level:
        return parts
    package = module if _is_package(module) else module[:-1]
    return (*package[: len(package) - node.level + 1], *parts)


@cache
def _body(module: tuple[str, ...]) -> tuple[ast.stmt, ...]:
    """The statements of a module, nothing where it is not installed, or does not parse."""
    file = _file(module)
    if file is None or not wall.is_installed(str(file)):
        return ()
    try:
        return tuple(ast.parse(file.read_text(encoding="utf-8")).body)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()


def _file(module: tuple[str, ...]) -> Path | None:
    root = _root(module[0])
    if root is None:
        return None
    folder = root.joinpath(*module[1:])
    ways = (folder / "__init__.py", folder.with_suffix(".py"))
    return next((one for one in ways if one.is_file()), None)


def _is_package(module: tuple[str, ...]) -> bool:
    file = _file(module)
    return file is not None and file.name == "__init__.py"


@cache
def _root(package: str) -> Path | None:
    """The folder of a package, which is looked up and not imported."""
    try:
        spec = importlib.util.find_spec(package) if package in PACKAGES else None
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _of_class(module: tuple[str, ...], node: ast.ClassDef) -> tuple[Parameter, ...] | None:
    """The parameters of a constructor."""
    functions = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    names = {ast.unparse(part).partition("(")[0].rpartition(".")[2] for part in node.decorator_list}
    if names - {"dataclass"} or "__new__" in functions or node.keywords:
        return None
    if "__init__" in functions:
        found = _of_function(functions["__init__"])
        return None if found is None else found[1:]
    bases = [_class_in(module, part.id) if isinstance(part, ast.Name) else None for part in node.bases]
    inherited = [_of_class(*base) if base is not None else None for base in bases]
    if any(one is None for one in inherited) or len(inherited) > 1:
        return None
    before = inherited[0] or () if inherited else ()
    return (*before, *_fields(node)) if names else before


def _fields(node: ast.ClassDef) -> Iterator[Parameter]:
    """The parameters that the fields of a dataclass are."""
    for part in node.body:
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            options = {word.arg: word.value for word in part.value.keywords} if isinstance(part.value, ast.Call) else {}
            kept_out = isinstance(options.get("init"), ast.Constant) or "ClassVar" in ast.unparse(part.annotation)
            if not kept_out:
                yield Parameter(part.target.id, "either", part.value is None)


def _of_function(node: ast.FunctionDef) -> tuple[Parameter, ...] | None:
    """The parameters of a function that nothing wraps."""
    if node.decorator_list:
        return None
    spec = node.args
    placed = [*spec.posonlyargs, *spec.args]
    optional = len(placed) - len(spec.defaults)
    found = [
        Parameter(one.arg, "place" if place < len(spec.posonlyargs) else "either", place < optional)
        for place, one in enumerate(placed)
    ]
    found += [Parameter(spec.vararg.arg, "places", False)] if spec.vararg else []
    found += [Parameter(one.arg, "name", default is None) for one, default in zip(spec.kwonlyargs, spec.kw_defaults)]
    found += [Parameter(spec.kwarg.arg, "names", False)] if spec.kwarg else []
    return tuple(found)
