"""Parameters that are read for their parts: dictionaries of tensors, and objects with tensors in their attributes."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from torchsleuth.syntax.forms import is_name, is_text, loads, nodes_in, plain_name
from torchsleuth.values import ClassValue, Function

MOST = 8
"""Parts of one parameter."""
_TENSOR = re.compile(r"['\"]?(torch\.)?(\w*Tensor)['\"]?")
_MOVING = frozenset("to cuda cpu".split())
"""Methods of objects that hold tensors, as tensors have them."""


@dataclass(frozen=True)
class Compound:
    """A parameter with parts. `names`: their keys, or the attributes. `cls`: the class of the object, whose constructor takes them;
    None for one of which nothing but these attributes is known."""

    names: tuple[str, ...]
    keyed: bool = False
    cls: ClassValue | None = None

    def paths(self, name: str) -> tuple[str, ...]:
        """The parts as they are told, for the parameter of this name."""
        return tuple(f"{name}[{part!r}]" if self.keyed else f"{name}.{part}" for part in self.names)


def made_of_tensors(cls: ClassValue) -> Compound | None:
    """An object whose constructor takes tensors, as an annotation says, and nothing that is said to be something else."""
    made = cls.slots.get("__init__")
    base = cls.native_base()
    plain = base is None or base.path == "builtins.object"
    if not isinstance(made, Function) or not plain or cls.opaque or not cls.has_known_bases():
        return None
    spec = made.node.args
    needed = spec.args[1 : len(spec.args) - len(spec.defaults)]
    taken = [one for one in spec.args[1:] if one in needed or _is_tensor(one)]
    if not 0 < len(taken) <= MOST or not any(map(_is_tensor, taken)) or spec.vararg is not None:
        return None
    told = all(one.annotation is None or _is_tensor(one) for one in needed)
    return Compound(tuple(one.arg for one in taken), cls=cls) if told else None


def _is_tensor(argument: ast.arg) -> bool:
    """``mask: Optional[Tensor]``"""
    text = "" if argument.annotation is None else ast.unparse(argument.annotation)
    return _TENSOR.fullmatch(re.sub(r"(typing\.)?Optional\[(.*)\]", r"\2", text).removesuffix(" | None")) is not None


def read_for_parts(
    function: ast.AST, parameter: str, around: ast.AST | None, of_tensors: Collection[str]
) -> Compound | None:
    """The parts of a parameter that is used as no tensor is: keys that are texts, or attributes that tensors have not. `around`:
    the class, other methods of which may look up keys of what they call the same."""
    keys: list[str] = []
    attributes: list[str] = []
    known: set[ast.AST] = set()
    for node in ast.walk(function):
        match node:
            case ast.Subscript(value=value, slice=key) if is_name(value, parameter) and is_text(key):
                keys.append(key.value)
            case ast.Compare(left=key, comparators=[value]) if is_name(value, parameter) and is_text(key):
                known.add(value)
            case ast.Attribute(value=value, attr=name) if is_name(value, parameter):
                known.add(value)
                if name not in _MOVING:
                    attributes.append(name)
    mentions = [node for node in nodes_in(function, ast.Name) if is_name(node, parameter) and loads(node)]
    passed_on = {part for call in nodes_in(function, ast.Call) for part in call.args}
    if keys or (mentions and passed_on.issuperset(mentions)):
        keys += _of_others(function, parameter, around)
        return _of(keys, keyed=True) if keys else None
    if not attributes or any(name in of_tensors for name in attributes) or any(one not in known for one in mentions):
        return None
    return None if set(_called_on(function, parameter)) & set(attributes) else _of(attributes, keyed=False)


def _of(names: list[str], keyed: bool) -> Compound | None:
    found = tuple(dict.fromkeys(names))
    return Compound(found, keyed) if len(found) <= MOST else None


def _of_others(function: ast.AST, parameter: str, around: ast.AST | None) -> Iterator[str]:
    """The keys that other methods look up in a parameter of the same name."""
    for other in nodes_in(around, ast.FunctionDef) if around is not None else ():
        if other is not function and any(one.arg == parameter for one in other.args.args):
            subscripts = (node for node in nodes_in(other, ast.Subscript) if is_name(node.value, parameter))
            yield from (node.slice.value for node in subscripts if is_text(node.slice))


def _called_on(function: ast.AST, parameter: str) -> Iterator[str]:
    """The methods that are called on a parameter."""
    for node in nodes_in(function, ast.Call):
        if isinstance(node.func, ast.Attribute) and plain_name(node.func.value) == parameter:
            yield node.func.attr


__all__ = ["Compound", "made_of_tensors", "read_for_parts"]
