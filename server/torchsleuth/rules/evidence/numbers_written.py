"""The numbers that expressions stand for at a place, also where they are the default of a parameter that an object keeps."""

from __future__ import annotations

import ast

from torchsleuth.rules.evidence.constructors import held
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import defaults_of, is_definition, literal
from torchsleuth.syntax.uses import kept_as
from torchsleuth.values import ClassValue, Function, Instance, LibraryObject, Value
from torchsleuth.values.frames import Scene


def number_of(node: ast.expr, scene: Scene) -> float | None:
    """The number that an expression stands for, None where it is not known: a constant, a variable, an attribute, an entry, and a
    difference of two."""
    match node:
        case ast.BinOp(op=ast.Sub()):
            one, other = number_of(node.left, scene), number_of(node.right, scene)
            return one - other if one is not None and other is not None else None
        case ast.Constant():
            value: Value = node.value
        case ast.Subscript():
            value = held(node, scene)
        case _:
            value = _value_of(node, scene)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _value_of(node: ast.expr, scene: Scene) -> Value:
    """The value of a variable, or of an attribute of one."""
    match node:
        case ast.Name(id="self") if scene.instance() is not None:
            return scene.instance()
        case ast.Name():
            names = next((one for one in (scene.names, *scene.closure, scene.globals) if node.id in one), {})
            return names.get(node.id)
        case ast.Attribute():
            owner = _value_of(node.value, scene)
            if isinstance(owner, Instance | LibraryObject) and node.attr in owner.slots:
                return owner.slots[node.attr]
            return _default_of(owner, node.attr) if isinstance(owner, Instance) else None
    return None


def _default_of(owner: Instance, name: str) -> Value:
    """The value of an attribute of an object that nothing makes: the default of the parameter that the constructor keeps as it."""
    made = next((cls.slots.get("__init__") for cls in of_kind(owner.cls.mro(), ClassValue)), None)
    if not isinstance(made, Function) or not is_definition(made.node):
        return None
    kept = {key.removeprefix("self."): parameter for parameter, key in kept_as(made.node).items()}
    return as_kind(literal(defaults_of(made.node.args).get(kept.get(name, ""))), int, float)
