"""Calls that do not fit the parameters of what is called."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from torchsleuth.syntax.forms import by_position, is_spread
from torchsleuth.tensors.spec import Parameter, plain_name
from torchsleuth.values import Function

_REFUSALS = (
    ("unexpected", re.compile(r"unexpected keyword argument '(\w+)'")),
    ("missing", re.compile(r"missing \d+ required positional arguments?: [\"'](\w+)")),
    ("twice", re.compile(r"multiple values for argument '(\w+)'")),
    ("many", re.compile(r"positional arguments? but \d+ |takes no arguments()")),
)
ALIKE = 0.6
"""How much of a name has to be the same, at least, for it to be meant for another."""
_COMBINATION = re.compile(r"invalid combination of arguments - got \((.*?),? ?\)")


@dataclass(frozen=True)
class Misfit:
    """kind: missing (a parameter without default), unexpected (a keyword), many (positional arguments), twice (an argument
    both by place and by name). `name`: of the first such parameter or keyword. `given`: the positional arguments."""

    kind: str
    name: str
    given: int
    parameters: tuple[Parameter, ...]


Ways = tuple[tuple[Parameter, ...], ...]
"""The parameters of each of the ways to call something."""


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


def refused(error: str, ways: Ways, given: int, keywords: Iterable[str]) -> Misfit | None:
    """The reason why an operator of PyTorch's own, which may be called in several ways, refuses a call."""
    known = {parameter.name for way in ways for parameter in way}
    odd = next((keyword for keyword in keywords if keyword not in known), None) if ways else None
    for kind, pattern in _REFUSALS:
        found = pattern.search(error)
        if found is not None and not (kind == "missing" and odd is not None):
            return Misfit(kind, found[1] or "", given, _nearest(ways, kind, found[1] or "", given))
        if found is not None:
            # What is missing is there, under another name.
            return Misfit("unexpected", odd or "", given, _nearest(ways, "unexpected", odd or "", given))
    found = _COMBINATION.search(error)
    if found is None:
        return None
    if odd is not None:
        return Misfit("unexpected", odd, given, _nearest(ways, "unexpected", odd, given))
    wrong = [misfit(way, given, keywords) for way in ways]
    if wrong and all(one is not None and one.kind == "missing" for one in wrong):
        return wrong[0]
    return Misfit("kinds", found[1], given, _nearest(ways, "kinds", "", given))


def _nearest(ways: Ways, kind: str, name: str, given: int) -> tuple[Parameter, ...]:
    """The way that was meant: that with the name, or one like it, or with as many arguments."""

    def fits(way: tuple[Parameter, ...]) -> tuple[float, int]:
        if kind in ("kinds", "many"):
            placed = [one for one in way if one.kind == "either"]
            return -abs(sum(one.required for one in placed) - given), len(placed)
        alike = max(
            (difflib.SequenceMatcher(None, plain_name(one.name), plain_name(name)).ratio() for one in way), default=0.0
        )
        return (alike if alike >= ALIKE else 0.0), len(way)

    return max(ways, key=fits, default=())


def of(function: Function, bound: bool = True) -> tuple[Parameter, ...]:
    """The parameters of a function of the user's, without that for the instance where it is bound to one."""
    spec = function.node.args
    optional = len(by_position(spec)) - len(spec.defaults)
    found = [
        Parameter(argument.arg, "place" if index < len(spec.posonlyargs) else "either", index < optional)
        for index, argument in enumerate(by_position(spec))
    ][int(bound) :]
    found += [Parameter(spec.vararg.arg, "places", False)] if spec.vararg else []
    found += [Parameter(one.arg, "name", default is None) for one, default in zip(spec.kwonlyargs, spec.kw_defaults)]
    found += [Parameter(spec.kwarg.arg, "names", False)] if spec.kwarg else []
    return tuple(found)


def is_written(node: ast.AST | None, given: int, keywords: Iterable[str]) -> bool:
    """Whether the arguments stand in the call as they are: none comes from a starred one, or from what wraps the callee."""
    if not isinstance(node, ast.Call) or is_spread(node.args):
        return False
    return len(node.args) == given and {keyword.arg for keyword in node.keywords} == set(keywords)


def is_unpacked(node: ast.AST | None, keywords: Iterable[str]) -> bool:
    """Whether some of these keywords come out of a dictionary, and all others are written: ``SGD(parameters, **options)``."""
    written = {keyword.arg for keyword in node.keywords} if isinstance(node, ast.Call) else set()
    return None in written and written - {None} <= set(keywords)
