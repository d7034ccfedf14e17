"""adapted-weights-unused: weights are adapted by gradients in a function that trains, and nothing is computed with them.

What it finds
    In a function or script that goes backward, a variable for what `torch.autograd.grad()` has led to, directly or through a function of the
    file, which neither a result, a loss nor a call outside of its own computation reads.
Why it hurts
    The inner loop of meta-learning takes its time and changes nothing: the outer loss is that of the weights before it. The network
    learns an average over all tasks, and no start to adapt from. Nothing is raised.
Example
    fast = adapt(net, support)
    loss = criterion(net(query), answers)
Use instead
    fast = adapt(net, support)
    loss = criterion(functional_call(net, fast, (query,)), answers)
Fix safety
    There is none: how a network is called with other weights is not the same everywhere.
References
    torch.func.functional_call, Finn et al., "Model-Agnostic Meta-Learning" (2017)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import called, is_definition, is_method_call, loads, nodes_in, plain_name, stored_in

CODE = "TS585"
_WEIGHTS = frozenset({"parameters", "named_parameters", "state_dict", "Parameter", "requires_grad_"})
"""What a function calls that has weights to adapt. Gradients of inputs are compared, too."""


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if "autograd.grad" not in source.text and "grad(" not in source.text:
        return
    adapters = {one.name: one for one in index.of_type(ast.FunctionDef) if _gives_what_gradients_made(one)}
    adapting = set(adapters)
    for function in analysis.scopes:
        calls = {called(call) for call in nodes_in(function, ast.Call)}
        inner = {called(call) for name in calls & adapting for call in nodes_in(adapters[name], ast.Call)}
        if "backward" not in calls or not (calls | inner) & _WEIGHTS:
            continue
        dead = _dead(function)
        made = _led_to(function, adapting)
        bound = sorted(_assigned(function), key=lambda one: one.lineno)
        adapted = [one for one in bound if plain_name(one.targets[0]) in dead & made]
        if adapted:
            last = adapted[-1]
            text, place = message("adapted.unused", name=plain_name(last.targets[0])), source.span(last)
            used = _called_instead(function, last, dead)
            if used is None:
                yield Finding(place, text)
            else:
                yield Finding(source.span(used), text, (place.related(message("adapted.here")),))


def _assigned(scope: ast.Module | ast.FunctionDef) -> list[ast.Assign]:
    """The assignments in a scope, without those in functions inside."""
    inner = {id(part) for one in nodes_in(scope, ast.FunctionDef) if one is not scope for part in ast.walk(one)}
    return [one for one in nodes_in(scope, ast.Assign) if id(one) not in inner]


def _reads(node: ast.AST) -> set[str]:
    return {part.id for part in nodes_in(node, ast.Name) if loads(part)}


def _dead(function: ast.Module | ast.FunctionDef) -> set[str]:
    """The variables of a function that only variables read which nothing else reads: no result, no call that is made for what it
    does, no condition, no attribute."""
    bindings: list[tuple[set[str], set[str]]] = []
    live: set[str] = set()
    inside = {id(part) for one in nodes_in(function, ast.FunctionDef) if one is not function for part in one.body}
    inside |= {id(part) for one in nodes_in(function, ast.ClassDef) for part in one.body}
    for part in ast.walk(function):
        if id(part) in inside:
            live |= _reads(part)
        if isinstance(part, ast.Assign) and all(isinstance(one, ast.Name | ast.Tuple) for one in part.targets):
            bindings.append((stored_in(*part.targets), _reads(part.value)))
        elif isinstance(part, ast.For):
            live |= _reads(part.iter) - stored_in(part)
            bindings.append((stored_in(part.target), _reads(part.iter)))
        elif isinstance(part, ast.stmt) and not hasattr(part, "body"):
            live |= _reads(part)
        elif isinstance(part, ast.If | ast.While):
            live |= _reads(part.test)
        elif isinstance(part, ast.With):
            live |= {name for item in part.items for name in _reads(item)}
        elif is_definition(part) and part is not function or isinstance(part, ast.Lambda):
            live |= _reads(part)
        elif isinstance(part, ast.NamedExpr):
            live |= stored_in(part.target)
    bound = {name for names, _ in bindings for name in names}
    while True:
        grown = live | {name for names, read in bindings if names & live for name in read}
        if grown == live:
            return {name for name in bound - live if not name.startswith("_")}
        live = grown


def _differentiates(node: ast.AST) -> bool:
    """``torch.autograd.grad(…)``"""
    return (
        isinstance(node, ast.Call)
        and called(node) == "grad"
        and "autograd" in ast.unparse(node.func) + "autograd" * (isinstance(node.func, ast.Name))
    )


def _led_to(function: ast.Module | ast.FunctionDef, adapting: set[str]) -> set[str]:
    """The variables that gradients, or a function that adapts by them, have led to."""
    found: set[str] = set()
    for _ in range(4):
        for one in _assigned(function):
            calls = [part for part in nodes_in(one.value, ast.Call)]
            if any(_differentiates(part) or called(part) in adapting for part in calls) or _reads(one.value) & found:
                found |= stored_in(*one.targets)
    return found


def _gives_what_gradients_made(function: ast.FunctionDef) -> bool:
    """Whether what a function returns comes from gradients that it has computed, by which it changes nothing else."""
    made = _led_to(function, set())
    gives = any(_reads(one) & made for one in of_kind(ast.walk(function), ast.Return))
    writes = any(is_method_call(call) and call.func.attr.endswith("_") for call in nodes_in(function, ast.Call))
    return gives and not writes


def _called_instead(function: ast.Module | ast.FunctionDef, adapted: ast.Assign, dead: set[str]) -> ast.Call | None:
    """The first call behind the adaptation of what was adapted, for something that is used."""
    given = {plain_name(one) for call in nodes_in(adapted.value, ast.Call) for one in call.args} - {None}
    for statement in nodes_in(function, ast.Assign, ast.AugAssign):
        if statement.lineno > adapted.lineno:
            targets = stored_in(statement)
            for call in nodes_in(statement.value, ast.Call) if not targets & dead else ():
                if isinstance(call.func, ast.Name) and call.func.id in given:
                    return call
    return None


RULE = Rule(FAULTS[CODE], find)
