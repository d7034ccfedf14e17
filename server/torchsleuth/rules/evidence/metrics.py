"""Metrics of torchmetrics that a LightningModule holds: where they are filled, computed, logged and reset."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchsleuth.rules.evidence.uses import subclasses
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import called, is_attribute, is_method_call, is_name, nodes_in

_PACKAGE = "torchmetrics."
_METHODS = ("update", "forward", "compute", "reset")


@dataclass
class Uses:
    """The methods of a class in which a metric is used: `filled` with what fills it there, `computed` with the call of ``compute()``."""

    filled: dict[str, ast.Call] = field(default_factory=dict)
    computed: dict[str, ast.Call] = field(default_factory=dict)
    reset: set[str] = field(default_factory=set)
    logged: set[str] = field(default_factory=set)


def held(analysis: Analysis) -> Iterator[tuple[ast.ClassDef, list[str]]]:
    """The document's LightningModules, with the attributes that their constructors set to a metric, once each."""
    made = _made(analysis)
    for owner, assigned in _assigned(analysis) if made else ():
        names = [target.attr for target, value in assigned if id(value) in made]
        yield owner, [name for name in names if names.count(name) == 1]


def in_containers(analysis: Analysis) -> Iterator[tuple[ast.ClassDef, ast.Attribute, ast.List | ast.Dict]]:
    """Plain lists and dicts of metrics alone, in attributes of the document's LightningModules."""
    made = _made(analysis)
    for owner, assigned in _assigned(analysis) if made else ():
        for target, value in assigned:
            if isinstance(value, ast.List | ast.Dict):
                parts = value.values if isinstance(value, ast.Dict) else value.elts
                if parts and all(id(part) in made for part in parts):
                    yield owner, target, value


def _made(analysis: Analysis) -> set[int]:
    """The identities of the calls that make a metric."""
    return {id(use.call) for use in analysis.names.uses if use.path.startswith(_PACKAGE) and use.call is not None}


def _assigned(analysis: Analysis) -> Iterator[tuple[ast.ClassDef, list[tuple[ast.Attribute, ast.expr]]]]:
    """The document's LightningModules, with the attributes that their constructors set."""
    for owner, _ in subclasses(analysis, lambda path: path.endswith(".LightningModule")):
        constructor = next((one for one in of_kind(owner.body, ast.FunctionDef) if one.name == "__init__"), None)
        assigned = nodes_in(constructor, ast.Assign) if constructor is not None else ()
        pairs = [(one.targets[0], one.value) for one in assigned if len(one.targets) == 1]
        yield owner, [(target, value) for target, value in pairs if isinstance(target, ast.Attribute)]


def uses(owner: ast.ClassDef, name: str) -> Uses | None:
    """All that the class does with a metric of its own; None where it does anything else with it."""
    found, count = Uses(), 0
    for method in of_kind(owner.body, ast.FunctionDef):
        for call in nodes_in(method, ast.Call):
            function = call.func
            if is_own(function, name):
                found.filled[method.name] = call
                count += 1
            elif is_method_call(call, *_METHODS) and is_own(call.func.value, name):
                if call.func.attr in ("update", "forward"):
                    found.filled[method.name] = call
                elif call.func.attr == "compute":
                    found.computed[method.name] = call
                else:
                    found.reset.add(method.name)
                count += 1
            elif called(call) == "log" and any(is_own(given, name) for given in call.args[1:2]):
                found.logged.add(method.name)
                count += 1
    every = [part for part in nodes_in(owner, ast.Attribute) if is_own(part, name)]
    return found if count == len(every) - 1 else None  # but for where it is made


def is_own(node: ast.AST, name: str) -> bool:
    """``self.name``"""
    return is_attribute(node, name) and is_name(node.value, "self")
