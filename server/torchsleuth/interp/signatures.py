"""Calls that do not fit the parameters of what is called."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from torchsleuth.interp.values import Function
from torchsleuth.tensors.spec import Parameter


@dataclass(frozen=True)
class Misfit:
    """kind: missing (a parameter without default), unexpected (a keyword), many (positional arguments), twice (an argument
    both by place and by name). `name`: of the first such parameter or keyword. `given`: the positional arguments."""

    kind: str
    name: str
    given: int
    parameters: tuple[Parameter, ...]


def misfit(parameters: tuple[Parameter, ...], given: int, keywords: Iterable[str]) -> Misfit | None:
    """Why Python refuses a call with so many positional arguments and these keywords."""
    kinds = {parameter.kind for parameter in parameters}
    placed = [parameter for parameter in parameters if parameter.kind in ("place", "either")]
    named = {parameter.name for parameter in parameters if parameter.kind in ("either", "name")}
    filled = {parameter.name for parameter in placed[:given]}
    for keyword in keywords:
        if keyword in named and keyword in filled:
            return Misfit("twice", keyword, given, parameters)
        if keyword not in named and "names" not in kinds:
            return Misfit("unexpected", keyword, given, parameters)
        filled.add(keyword)
    if given > len(placed) and "places" not in kinds:
        return Misfit("many", "", given, parameters)
    for parameter in parameters:
        if parameter.required and parameter.name not in filled:
            return Misfit("missing", parameter.name, given, parameters)
    return None


def of(function: Function) -> tuple[Parameter, ...]:
    """The parameters of a function of the user's, without that for the instance."""
    spec = function.node.args
    optional = len(spec.posonlyargs) + len(spec.args) - len(spec.defaults)
    found = [
        Parameter(argument.arg, "place" if index < len(spec.posonlyargs) else "either", index < optional)
        for index, argument in enumerate((*spec.posonlyargs, *spec.args))
    ][1:]
    found += [Parameter(spec.vararg.arg, "places", False)] if spec.vararg else []
    found += [Parameter(one.arg, "name", default is None) for one, default in zip(spec.kwonlyargs, spec.kw_defaults)]
    found += [Parameter(spec.kwarg.arg, "names", False)] if spec.kwarg else []
    return tuple(found)


def is_written(node: ast.AST | None, given: int, keywords: Iterable[str]) -> bool:
    """Whether the arguments stand in the call as they are: none comes from a starred one, or from what wraps the callee."""
    if not isinstance(node, ast.Call) or any(isinstance(argument, ast.Starred) for argument in node.args):
        return False
    return len(node.args) == given and {keyword.arg for keyword in node.keywords} == set(keywords)
