"""Averages of weights that hold on to the graph of every step: what TS701 says of loops over parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.library.hierarchy import parts_of
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding
from torchsleuth.rules.training.parameter_rebound import loop_over
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_assignment, is_binary, names_in, plain_name
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
        source = call.site.source
        names = names_in(loop.target)
        for statement in loop.body:
            place = _place(statement)
            span = source.span(statement)
            if place is None or span in seen or not isinstance(statement, ast.Assign):
                continue
            # The last one is the parameter, in a loop over names and parameters, too.
            bare = [part for part in of_kind(_operands(statement.value), ast.Name) if part.id in names]
            kept = any(ast.dump(part) == ast.dump(_read(place)) for part in _operands(statement.value))
            if len(bare) == 1 and kept and bare[0].id == _parameter(call, loop):
                seen.add(span)
                name, into = bare[0].id, source.segment(place)
                edit = edits.replace(source, bare[0], f"{name}.detach()")
                fix = Candidate(message("fix.replace", old=name, new=f"{name}.detach()"), (edit,))
                yield Finding(span, message("graph.kept.average", into=f"`{into}`", name=f"`{name}`"), (), (fix,))


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


def _parameter(call: LibraryCall, loop: ast.For) -> str | None:
    """The variable that a parameter is given to."""
    target = loop.target
    if call.path.endswith("named_parameters"):
        target = target.elts[-1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
    return plain_name(target)
