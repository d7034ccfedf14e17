"""Functions that the module ``operator`` makes: ``itemgetter``, ``attrgetter``, ``methodcaller``."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.models import models
from torchsleuth.values import UNKNOWN, Builtin, Value

GETTERS = ("operator.itemgetter", "operator.attrgetter", "operator.methodcaller")


@models(*GETTERS, pure=True)
def getter(interp: Interpreter, made: Arguments) -> Value:
    """``operator.itemgetter(1)`` and its like."""
    path = made.path
    if not made.args or not made.exact:
        return UNKNOWN
    one = {
        "operator.itemgetter": lambda owner, key, call: interp.get_item(owner, key, call.node, call.frame),
        "operator.attrgetter": lambda owner, name, call: _attribute(interp, owner, name, call),
    }

    def apply(call: Arguments) -> Value:
        if len(call.args) != 1:
            return UNKNOWN
        if path == "operator.methodcaller":
            method = _attribute(interp, call.args[0], made.args[0], call)
            return interp.call(method, replace(call, args=made.args[1:], kwargs=made.kwargs))
        found = tuple(one[path](call.args[0], key, call) for key in made.args)
        return found[0] if len(found) == 1 else found

    return Builtin(path, apply)


def _attribute(interp: Interpreter, owner: Value, name: Value, call: Arguments) -> Value:
    """``owner.a.b`` for ``"a.b"``."""
    if not isinstance(name, str):
        return UNKNOWN
    for part in name.split("."):
        owner = interp.attribute(owner, part, call.node, call.frame)
    return owner


_BINARY: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv, "mod": ast.Mod,
    "pow": ast.Pow, "matmul": ast.MatMult, "and": ast.BitAnd, "or": ast.BitOr, "xor": ast.BitXor, "lshift": ast.LShift,
    "rshift": ast.RShift,
}  # fmt: skip
IN_PLACE = {f"operator.i{name}": kind for name, kind in _BINARY.items()}


@models(*IN_PLACE, "operator.iconcat")
def in_place(interp: Interpreter, call: Arguments) -> Value:
    """``operator.iadd(a, b)``: the value of ``a += b``, which changes a list, a dict or a set."""
    if len(call.args) != 2 or not call.exact:
        return UNKNOWN
    return interp.binary(IN_PLACE.get(call.path, ast.Add), *call.args, call.node, call.frame, True)


@models("operator.setitem", "operator.delitem")
def of_item(interp: Interpreter, call: Arguments) -> Value:
    """``operator.setitem(container, key, value)`` and ``operator.delitem(container, key)``"""
    if not call.exact or len(call.args) not in (2, 3) or not isinstance(call.node, ast.expr):
        return UNKNOWN
    container, key, *value = call.args
    if value:
        interp.set_item(container, key, value[0], call.node, call.frame)
    else:
        interp.delete_item(container, key, call.node, call.frame)
    return None


__all__ = ["GETTERS", "IN_PLACE", "getter", "in_place", "of_item"]
