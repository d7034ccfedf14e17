"""Parameters of the functions and classes of installed packages, read from their sources without importing them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import by_position, called, keyword_of, plain_name
from torchsleuth.tensors.spec import Parameter
from torchsleuth.values.join import MISSING

_MAX_STEPS = 12
"""Re-exports and base classes that are followed from a public name to where it is defined."""
_STAR_STEPS = 2
"""Those that are followed behind ``from … import *``, which may go through a whole package."""
_MOST_STARS = 12
"""Such imports of one module, beyond which none is looked at."""
_LARGE = 1_000_000
"""Bytes of a file that is not read."""
_HARMLESS = frozenset(
    "staticmethod classmethod abstractmethod override dataclass final validate_params _defaults_from_env_vars".split()
)
"""Decorators after which a function or class takes what is written."""
_OTHERS = ("torch", "numpy", "builtins")
"""Packages that the oracle knows more of."""
_Definition = ast.FunctionDef | ast.ClassDef


@cache
def signature(path: str) -> tuple[Parameter, ...] | None:
    """The parameters of a function, or of a class's constructor without self, by a public name such as ``accelerate.Accelerator``.
    None where they are not written plainly: behind decorators, metaclasses, or several definitions."""
    top, _, rest = path.partition(".")
    root = _folder(top) if rest and top not in _OTHERS else None
    found = _defined(root / "__init__.py", rest.split("."), root, _MAX_STEPS) if root is not None else None
    return _parameters(*found, root, _MAX_STEPS) if found is not None and root is not None else None


@cache
def _folder(package: str) -> Path | None:
    """The folder of an installed package; that of a namespace without a file of its own does not count."""
    spec = PathFinder.find_spec(package)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.origin).parent
    return folder if folder.parent.name in ("site-packages", "dist-packages") else None


@cache
def _tree(file: Path) -> ast.Module | None:
    try:
        if file.stat().st_size > _LARGE:
            return None
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _module(base: Path) -> Path | None:
    """The file of a module, of which this is the path without a suffix."""
    package, plain = base / "__init__.py", base.with_name(base.name + ".py")
    return package if package.is_file() else plain if plain.is_file() else None


def _defined(file: Path, names: list[str], root: Path, steps: int) -> tuple[_Definition, Path] | None:
    """The only definition of a name in a module, wherever it comes from, and the file that it is in."""
    tree, name = _tree(file), names[0]
    if tree is None or steps == 0:
        return None
    found = [_bound(statement, file, names, root, steps) for statement in _statements(tree.body)]
    found = [one for one in found if one is not MISSING]
    if not found and len(names) == 1:
        stars = [one for one in of_kind(tree.body, ast.ImportFrom) if one.names[0].name == "*"]
        if len(stars) > _MOST_STARS or name.startswith("_"):
            return None
        sources = [source for one in stars if (source := _imported(file, one, root)) is not None]
        found = [_defined(source, names, root, min(steps, _STAR_STEPS) - 1) for source in sources]
        found = [one for one in found if one is not None]
    if not found and len(names) > 1 and file.name == "__init__.py":
        inner = _module(file.parent / name)
        return _defined(inner, names[1:], root, steps - 1) if inner is not None else None
    first = found[0] if found else None
    return first if all(one == first for one in found) else None


def _bound(
    statement: ast.stmt, file: Path, names: list[str], root: Path, steps: int
) -> tuple[_Definition, Path] | None | Any:
    """The definition that a statement of a module binds a name to, MISSING where it does not, None where that is no plain definition."""
    name = names[0]
    if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name:
        return (statement, file) if len(names) == 1 else None
    if isinstance(statement, ast.Assign) and any(plain_name(target) == name for target in statement.targets):
        return None
    if not isinstance(statement, ast.ImportFrom):
        return MISSING
    alias = next((one for one in statement.names if (one.asname or one.name) == name), None)
    if alias is None:
        return MISSING
    source = _imported(file, statement, root)
    if source is None:
        return None
    if len(names) == 1:
        return _defined(source, [alias.name], root, steps - 1)
    inner = _module(source.parent / alias.name) if source.name == "__init__.py" else None
    return _defined(inner, names[1:], root, steps - 1) if inner is not None else None


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under conditions included."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try):
            yield from _statements([*statement.body, *statement.orelse])


def _imported(file: Path, statement: ast.ImportFrom, root: Path) -> Path | None:
    """The file of the package that ``from … import …`` takes something of."""
    parts = statement.module.split(".") if statement.module else []
    if statement.level:
        base = file.parent
        for _ in range(statement.level - 1):
            base = base.parent
        if not base.is_relative_to(root):
            return None
        return _module(base.joinpath(*parts)) if parts else _module(base)
    return _module(root.parent.joinpath(*parts)) if parts[:1] == [root.name] else None


def _parameters(found: _Definition, file: Path, root: Path, steps: int) -> tuple[Parameter, ...] | None:
    if not all(map(_is_harmless, found.decorator_list)):
        return None
    if isinstance(found, ast.FunctionDef):
        return _of(found)
    makers = [one for one in of_kind(found.body, ast.FunctionDef) if one.name in ("__init__", "__new__")]
    if found.keywords or len(makers) > 1:
        return None
    if makers:
        plain = all(map(_is_harmless, makers[0].decorator_list))
        return _of(makers[0])[1:] if plain else None
    if found.decorator_list:
        return _fields(found) if not found.bases else None
    if steps == 0 or len(found.bases) != 1:
        return None
    name = plain_name(found.bases[0])
    base = _defined(file, [name], root, steps - 1) if name is not None else None
    return _parameters(*base, root, steps - 1) if base is not None else None


def _fields(found: ast.ClassDef) -> tuple[Parameter, ...] | None:
    """The fields of a dataclass with plain options."""
    if len(found.decorator_list) > 1 or ast.unparse(found.decorator_list[0]) not in (
        "dataclass",
        "dataclasses.dataclass",
    ):
        return None
    fields = [one for one in of_kind(found.body, ast.AnnAssign) if isinstance(one.target, ast.Name)]
    texts = [ast.unparse(one.annotation) for one in fields]
    made = [one.value for one in fields if called(one.value) == "field"]
    if any("ClassVar" in text or "KW_ONLY" in text for text in texts) or any(
        isinstance(one, ast.Call) and keyword_of(one, "init") is not None for one in made
    ):
        return None
    return tuple(Parameter(ast.unparse(one.target), "either", not _has_default(one.value)) for one in fields)


def _has_default(value: ast.expr | None) -> bool:
    if called(value) != "field" or not isinstance(value, ast.Call):
        return value is not None
    return any(one.arg in ("default", "default_factory") for one in value.keywords)


def _is_harmless(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(called).rpartition(".")[2] in _HARMLESS


def _of(function: ast.FunctionDef) -> tuple[Parameter, ...]:
    spec = function.args
    placed = by_position(spec)
    optional = len(placed) - len(spec.defaults)
    found = [
        Parameter(one.arg, "place" if index < len(spec.posonlyargs) else "either", index < optional)
        for index, one in enumerate(placed)
    ]
    found += [Parameter(spec.vararg.arg, "places", False)] if spec.vararg else []
    found += [Parameter(one.arg, "name", default is None) for one, default in zip(spec.kwonlyargs, spec.kw_defaults)]
    found += [Parameter(spec.kwarg.arg, "names", False)] if spec.kwarg else []
    return tuple(found)
