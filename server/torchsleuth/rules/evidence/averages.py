"""Averages of weights that hold on to the graph of every step: what TS701 says of loops over parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.interp.library.hierarchy import parts_of
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding
from torchsleuth.rules.training.parameter_rebound import loop_over
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_assignment, is_binary, is_method_call, names_in, nodes_in, plain_name
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import Instance, LibraryModule, Value

_CALLS = ("torch.nn.Module.named_parameters", "torch.nn.Module.parameters")


def averages(analysis: Analysis) -> Iterator[Finding]:
    """``shadow[name] = 0.99 * shadow[name] + 0.01 * p`` in a loop over parameters, again and again in the loop that trains
    them, while autograd records."""
    seen: set[Span] = set()
    before: set[tuple[Span, int, int]] = set()
    for call in (call for path in _CALLS for call in analysis.calls.get(path, ())):
        if call.grad is not True or not call.certain or not call.loops or not _learns(call.receiver):
            continue
        again = (call.site.span, id(call.receiver), call.loops[-1].execution)
        loop = loop_over(analysis, call) if again in before and _is_trained(analysis, call) else None
        before.add(again)
        if loop is None:
            continue
        for found in _kept_in(call.site.source, loop, _parameter(call.path, loop)):
            if found.at not in seen:
                seen.add(found.at)
                yield found
    for found in _by_others(analysis):
        if found.at not in seen:
            yield found


def _by_others(analysis: Analysis) -> Iterator[Finding]:
    """The same in a method that nothing here calls. Whoever does may switch gradients off: a hint."""
    source = analysis.source
    index = analysis.index(source.path)
    called_here = {called(part) for part in index.of_type(ast.Call)}
    for method in index.of_type(ast.FunctionDef):
        owner = index.parents.get(method)
        decorated = any("grad" in ast.unparse(one) or "inference" in ast.unparse(one) for one in method.decorator_list)
        if (
            not isinstance(owner, ast.ClassDef)
            or decorated
            or (owner.name in called_here and method.name in called_here)
        ):
            continue
        for loop in nodes_in(method, ast.For):
            free = not any(isinstance(one, ast.With) for one in index.trail(loop))
            path = f"torch.nn.Module.{called(loop.iter)}"
            if free and path in _CALLS and is_method_call(loop.iter):
                for found in _kept_in(source, loop, _parameter(path, loop)):
                    yield replace(found, severity="hint")


def _kept_in(source: SourceText, loop: ast.For, parameter: str | None) -> Iterator[Finding]:
    """The averages that the body of a loop over parameters keeps with their graph."""
    names = names_in(loop.target)
    statements = [one for part in loop.body for one in (part.body if isinstance(part, ast.If) else [part])]
    for statement in statements:
        place = _place(statement)
        if place is None or not isinstance(statement, ast.Assign):
            continue
        # The last one is the parameter, in a loop over names and parameters, too.
        bare = [part for part in of_kind(_operands(statement.value), ast.Name) if part.id in names]
        kept = any(ast.dump(part) == ast.dump(_read(place)) for part in _operands(statement.value))
        if len(bare) == 1 and kept and bare[0].id == parameter:
            name, into = bare[0].id, source.segment(place)
            edit = edits.replace(source, bare[0], f"{name}.detach()")
            fix = Candidate(message("fix.replace", old=name, new=f"{name}.detach()"), (edit,))
            text = message("graph.kept.average", into=f"`{into}`", name=f"`{name}`")
            yield Finding(source.span(statement), text, (), (fix,))


def _is_trained(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether an optimizer steps in the same loop."""
    return any(event.kind == "step" for event in analysis.events_within(call.loops[-1]))


def _learns(module: Value) -> bool:
    """Whether all parameters of a module require grad."""
    if not isinstance(module, LibraryModule | Instance):
        return False
    grads = [
        part.requires_grad if isinstance(part, LibraryModule) else part.spec.requires_grad for part in parts_of(module)
    ]
    return bool(grads) and all(grads)


def _place(statement: ast.stmt) -> ast.Subscript | None:
    """Where an assignment puts an entry."""
    if not is_assignment(statement):
        return None
    target = statement.targets[0]
    return as_kind(target, ast.Subscript)


def _read(place: ast.Subscript) -> ast.expr:
    return ast.Subscript(place.value, place.slice, ast.Load())


def _operands(value: ast.expr) -> Iterator[ast.expr]:
    """The operands that a sum of products is computed from."""
    if is_binary(value, ast.Add, ast.Sub, ast.Mult):
        yield from _operands(value.left)
        yield from _operands(value.right)
    else:
        yield value


def _parameter(path: str, loop: ast.For) -> str | None:
    """The variable that a parameter is given to."""
    target = loop.target
    if path.endswith("named_parameters"):
        target = target.elts[-1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
    return plain_name(target)
