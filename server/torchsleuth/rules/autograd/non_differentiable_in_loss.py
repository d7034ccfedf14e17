"""non-differentiable-in-loss: a step function between the parameters and the loss.

What it finds
    round, floor, ceil, sign or trunc, whose gradient is zero, on every way from the parameters to the loss, or to one of
    the terms that it is the sum of, or inside of the network, on every way from some of the trained parameters; argmax or
    a comparison whose result is made to require grad again; a term of the loss that has no gradient, because it counts
    predicted classes, because it is made of a gradient that was computed without create_graph=True, because it compares two tensors without
    one, or because item(), float() or detach() has cut it off; a term in which a discriminator judges what the next step trains, detached from that; a sample of a distribution that sample() draws without a gradient, where rsample() has one.
Why it hurts
    backward() runs and every gradient is zero or missing, or none of them comes from that term: it never moves.
Example
    predicted = torch.round(torch.sigmoid(model(x)))
    loss = (predicted - y).abs().mean()
Use instead
    predicted = torch.sigmoid(model(x))
    loss = (predicted - y).abs().mean()
Fix safety
    Unsafe: leaving the step function out, or a loss of the scores instead of an accuracy, changes the loss to one that
    can be learnt from. A term without a gradient can be left out.
References
    torch.round, "straight-through estimator" (Bengio et al. 2013, arXiv:1308.3432)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library import hierarchy
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import Event, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.adversaries import cut_adversary
from torchsleuth.rules.evidence.drawn import drawn
from torchsleuth.rules.evidence.gradients import changes_gradients
from torchsleuth.rules.evidence.graphs import (
    faults,
    gradient_is_used,
    past_lookup,
    soft_one_hot,
    text_of,
    uncut,
)
from torchsleuth.rules.evidence.loaders import free_name
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.evidence.operands import written
from torchsleuth.rules.evidence.rewrites import as_loss, without_term
from torchsleuth.rules.evidence.squares import LOSSES
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import contains, is_function_call, is_method_call, is_name, loads, nodes_in
from torchsleuth.values import LibraryObject, Scalar, Site, Tensor
from torchsleuth.values.graph import Cut, GraphNode, cut_of, flat_step, node_of, passes

CODE = "TS407"
_CHOICES = (".argmin", ".argmax")
_AS_NUMBERS = (".tolist", ".item")
_TAKEN_OUT = frozenset({"item", "float", "detach"})
"""How a term of a loss is cut off where its gradient was meant."""
_KEPT_OUT = frozenset({"no_grad", "detach"})
_SUMS = frozenset({"add", "sub", "iadd", "isub"})
_LATER = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.comprehension, ast.ListComp, ast.GeneratorExp, ast.DictComp)
"""Expressions that are not computed with the statement that they stand in, or not always."""
_OTHERS = frozenset(path.rpartition(".")[2] for path in hierarchy.LOSSES) | {"cross_entropy", "nll_loss", "kl_div"}
_FACTORS = frozenset({"mul", "truediv", "div", "neg", "imul"})


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "zero_gradient", "severed"):
        if fault.kind == "zero_gradient" and fault.cause is not None:
            text = message("grad.zero", operation=f"`{text_of(fault.at)}`")
            at, backward = fault.at, fault.cause
        elif fault.cut is not None and fault.cut.kind == "integers" and not gradient_is_used(analysis, fault):
            text = message("grad.integers", cut=f"`{text_of(fault.cut.site)}`")
            at, backward = fault.cut.site, fault.at
        else:
            continue
        places = (backward.span.related(message("grad.backward")),)
        soft = fault.kind == "zero_gradient"
        repairs = _soft(analysis, at) if soft else chain(as_loss(analysis, fault), uncut(analysis, fault.cut))
        yield Finding(at.span, text, places, repairs)
    yield from _dead_terms(analysis)
    yield from _judged_detached(analysis)
    yield from _dead_numbers(analysis)
    yield from _within(analysis)
    yield from drawn(analysis)


def _within(analysis: Analysis) -> Iterator[Finding]:
    """Step functions inside of a network: what is trained in front of them gets no gradient on any other way."""
    passes_back = [event for event in analysis.events("backward") if event.node is not None]
    if any(event.node is None or any(node.open for node in event.node.members) for event in passes_back):
        return
    alive = {id(part) for event in passes_back if event.node is not None for part in _alive(event.node)}
    choices = [
        (operation, operation.nodes[0])
        for operation in analysis.trace.operations
        if operation.target.endswith(_CHOICES) and operation.nodes and operation.nodes[0] is not None
    ]
    # A choice that leaves PyTorch as numbers, for slices or branches, is meant as one.
    used = {
        operand.origin.site.span
        for operation in analysis.trace.operations
        if choices and not operation.target.endswith(_AS_NUMBERS)
        for operand in operation.operands
        if operand.origin is not None
    }
    choices = [(operation, scores) for operation, scores in choices if operation.site.span in used]
    seen: set[Span] = set()
    for event in passes_back:
        nodes = event.node.reachable(passes) if event.node is not None and event.certain else ()
        flat = [node for node in nodes if not passes(node)]
        chosen = [pair for pair in choices if event.certain and _same_round(pair[0], event)]
        if not flat and not chosen:
            continue
        stepping = [step.subject for step in analysis.events("step") if step.certain and step.index > event.index]
        trained = {id(part) for one in of_kind(stepping, LibraryObject) for part in trained_parts(one)}
        for node in flat:
            starved = (node.reached[0] & trained) - alive
            if not starved or node.site.span in seen or flat_step(event.node or node) is not None:
                continue
            if changes_gradients(analysis):
                return
            seen.add(node.site.span)
            text = message("grad.zero.within", operation=f"`{text_of(node.site)}`")
            places = (event.site.span.related(message("grad.backward")),)
            yield Finding(node.site.span, text, places, reversed(list(_soft(analysis, node.site))))
        for operation, scores in chosen if trained else ():
            if scores is None or operation.site.span in seen:
                continue
            reached, known = scores.reached
            if known and (reached & trained) - alive and not changes_gradients(analysis):
                seen.add(operation.site.span)
                text = message("grad.integers.within", operation=f"`{text_of(operation.site)}`")
                places = (event.site.span.related(message("grad.backward")),)
                yield Finding(operation.site.span, text, places, past_lookup(analysis, operation.site))


def _same_round(operation: Operation, event: Event) -> bool:
    """Whether both happen in one loop."""
    return bool({point.execution for point in operation.loops} & {point.execution for point in event.loops})


def _alive(root: GraphNode) -> Iterator[object]:
    """The modules and leaves in front of which there is a way without step functions."""
    for node in root.reachable(passes):
        if passes(node):
            yield from (node.module, *node.leaves, *(leaf.owner for leaf in node.leaves))


def _learning(analysis: Analysis) -> Iterator[tuple[Event, Tensor]]:
    """The calls of backward() for a loss that has a gradient, each with the loss."""
    for event in analysis.events("backward"):
        if event.tensor is not None and event.tensor.spec.requires_grad is True:
            yield event, event.tensor


def _dead_terms(analysis: Analysis) -> Iterator[Finding]:
    """Terms that are added to a loss and have no gradient themselves."""
    seen: set[Span] = set()
    for event, loss in _learning(analysis):
        terms = list(_terms(loss))
        for term in terms:
            node = node_of(term) if len(terms) > 1 else None
            step = flat_step(node) if node is not None else None
            # `x - x.floor()` has the gradient of x.
            others = [other for other in terms if other is not term]
            if step is not None and any(node_of(one) in step.inputs or one in step.leaves for one in others):
                continue
            if step is not None and step.site.span not in seen:
                seen.add(step.site.span)
                text = message("grad.term.zero", operation=f"`{text_of(step.site)}`")
                places = (event.site.span.related(message("grad.backward")),)
                yield Finding(step.site.span, text, places, _soft(analysis, step.site))
            if len(terms) > 1 and term.origin is not None and _compares_constants(analysis, term):
                if term.origin.site.span not in seen:
                    seen.add(term.origin.site.span)
                    text = message("grad.term.constant", term=f"`{text_of(term.origin.site)}`")
                    places = (event.site.span.related(message("grad.backward")),)
                    yield Finding(term.origin.site.span, text, places, _with_gradient(analysis, term))
                continue
            cut = _cut_of_term(term)
            if cut is None or cut.kind not in ("first_order", "integers"):
                continue
            if cut.site.span not in seen:
                seen.add(cut.site.span)
                text = message(f"grad.term.{cut.kind}", cut=f"`{text_of(cut.site)}`")
                places = (event.site.span.related(message("grad.backward")),)
                repairs = uncut(analysis, cut) if cut.kind == "first_order" else _mended(analysis, event.site, cut)
                yield Finding(cut.site.span, text, places, repairs)


def _cut_of_term(term: Tensor) -> Cut | None:
    """Where a term lost its graph, or the tensor in it that is multiplied with a number of which nothing is known."""
    cut = cut_of(term)
    known = term.spec.requires_grad is False or (cut is not None and cut.kind == "first_order")
    return cut if known and term.spec.requires_grad is not True else None


def _compares_constants(analysis: Analysis, term: Tensor) -> bool:
    """Whether a term is a loss of two tensors that were both kept out of the graph: of a teacher and itself. What is frozen for
    a while is no such thing."""
    origin = term.origin
    name = origin.name if origin is not None else ""
    if origin is None or name not in LOSSES | _OTHERS or term.spec.requires_grad is not False:
        return False
    cuts = [cut_of(source) for source in origin.sources]
    own = cut_of(term)
    known = all(source.spec.requires_grad is False for source in origin.sources) and len(cuts) == 2
    apart = own is None or own.site.span != origin.site.span
    kept_out = any(cuts) and all(cut is None or cut.kind in _KEPT_OUT for cut in cuts)
    return known and apart and kept_out and not any(_passes_frozen(analysis, one) for one in origin.sources)


def _passes_frozen(analysis: Analysis, tensor: Tensor, depth: int = 12) -> bool:
    """Whether a tensor was computed by a layer although gradients were recorded: one that is frozen."""
    origin = tensor.origin
    if origin is None or depth == 0:
        return False
    cut, operation = cut_of(tensor), analysis.operation_of(origin)
    if cut is None or cut.kind == "no_grad" or operation is None:
        return False
    layer = operation.module
    if layer is not None and hierarchy.has_own_parameters(layer):
        return True
    return any(_passes_frozen(analysis, source, depth - 1) for source in origin.sources)


def _with_gradient(analysis: Analysis, term: Tensor) -> Iterator[Candidate]:
    """The first operand computed from what has a gradient and the same shape."""
    made = term.origin.sources[0].origin if term.origin is not None else None
    statement = statement_of(analysis, made.site) if made is not None else None
    if made is None or statement is None:
        return
    names = made.site.scene.names
    source = made.site.source
    for node in ast.walk(statement):
        given = as_kind(names.get(node.id), Tensor) if isinstance(node, ast.Name) and loads(node) else None
        if not isinstance(node, ast.Name) or given is None or given.spec.requires_grad is not False:
            continue
        for name, other in names.items():
            if not isinstance(other, Tensor) or other.spec.requires_grad is not True or other.parameter:
                continue
            if other.spec.shape == given.spec.shape:
                title = message("fix.replace", old=node.id, new=str(name))
                yield Candidate(title, (edits.replace(source, node, str(name)),), safe=False)


def _judged_detached(analysis: Analysis) -> Iterator[Finding]:
    """Terms in which another network judges what is trained, detached: the generator's loss of ``D(fake.detach())``."""
    seen: set[Span] = set()
    for event, loss in _learning(analysis):
        terms = list(_terms(loss))
        for term in terms:
            cut = cut_adversary(analysis, event, term) if len(terms) > 1 else None
            if cut is not None and cut.site.span not in seen:
                seen.add(cut.site.span)
                text = message("grad.term.judged", cut=f"`{text_of(cut.site)}`")
                places = (event.site.span.related(message("grad.backward")),)
                yield Finding(cut.site.span, text, places, uncut(analysis, cut))


def _dead_numbers(analysis: Analysis) -> Iterator[Finding]:
    """Numbers taken out of the graph, and scalars cut off from it, that are added to a loss."""
    seen: set[Span] = set()
    for event, loss in _learning(analysis):
        for operation in _additions(analysis, loss):
            for value in operation.args:
                cut = value.cut if isinstance(value, Scalar) else None
                if isinstance(value, Tensor) and value.spec.requires_grad is False and value.spec.shape == ():
                    cut = cut_of(value)
                if not isinstance(cut, Cut) or cut.kind not in _TAKEN_OUT or cut.site.span in seen:
                    continue
                if _is_compensated(analysis, operation, cut):
                    continue
                seen.add(cut.site.span)
                text = message("grad.term.taken", cut=f"`{text_of(cut.site)}`")
                places = (event.site.span.related(message("grad.backward")),)
                yield Finding(cut.site.span, text, places, uncut(analysis, cut))


def _additions(analysis: Analysis, tensor: Tensor, depth: int = 12) -> Iterator[Operation]:
    """The additions that a loss is the result of, through factors and signs."""
    origin = tensor.origin
    name = origin.bare_name if origin is not None else ""
    operation = analysis.operation_of(origin)
    if origin is None or depth == 0 or not (name in _SUMS or (name in _FACTORS and len(origin.sources) == 1)):
        return
    if operation is not None and name in _SUMS:
        yield operation
    for source in origin.sources:
        yield from _additions(analysis, source, depth - 1)


def _is_compensated(analysis: Analysis, operation: Operation, cut: Cut) -> bool:
    """Whether what is cut off is added to, or taken from, the same value with its gradient: ``x - x.detach()``."""
    node = cut.site.node
    inner = node.func.value if is_method_call(node) else None
    if is_function_call(node) and node.args:
        inner = node.args[0]
    whole = operation.site.node
    if inner is None or cut.site.span.path != operation.site.span.path:
        return False
    wanted = ast.dump(inner)
    index = analysis.index(cut.site.span.path)
    statement = statement_of(analysis, operation.site) or whole
    own = index.same(inner) if isinstance(inner, ast.expr) else None
    parts = [part for part in nodes_in(statement, ast.expr) if part is not own]
    return any(ast.dump(part) == wanted for part in parts)


def _mended(analysis: Analysis, backward: Site, cut: Cut) -> Iterator[Candidate]:
    """A soft form of what has no gradient, or the loss without that term."""
    yield from soft_one_hot(analysis, cut.site)
    yield from without_term(analysis, backward, cut.site)


def _terms(tensor: Tensor, depth: int = 12) -> Iterator[Tensor]:
    """The terms of a sum, through factors and signs."""
    origin = tensor.origin
    name = origin.bare_name if origin is not None else ""
    if origin is None or depth == 0 or not (name in _SUMS or (name in _FACTORS and len(origin.sources) == 1)):
        yield tensor
        return
    for source in origin.sources:
        yield from _terms(source, depth - 1)


def _soft(analysis: Analysis, site: Site) -> Iterator[Candidate]:
    """The operand itself, or the straight-through form."""
    node, source = site.node, site.source
    if not is_method_call(node):
        return
    whole = source.segment(node)
    # `x.round()` or `torch.round(x)`
    function = is_name(node.func.value, "torch", "th")
    soft = node.args[0] if node.args and function else node.func.value
    operand = source.segment(soft)
    yield Candidate(message("fix.replace", old=whole, new=operand), (edits.replace(source, node, operand),), safe=False)
    title = message("fix.straight_through")
    statement = statement_of(analysis, site)
    around = analysis.trail(site.span.path, node)
    if statement is None or any_are(around[around.index(statement) :], *_LATER):
        return
    apart = contains(soft, ast.Call)
    if apart and is_simple(statement, analysis, site.span.path):
        # What it is computed by is not called twice.
        name = free_name(analysis, site.span.path, "soft")
        line = edits.insert_line_before(source, statement, f"{name} = {operand}")
        through = edits.replace(source, node, f"({name} + ({whole.replace(operand, name, 1)} - {name}).detach())")
        yield Candidate(title, (line, through), safe=False)
    elif not apart:
        term = written(source, soft)
        through = edits.replace(source, node, f"({operand} + ({whole} - {term}).detach())")
        yield Candidate(title, (through,), safe=False)


RULE = Rule(FAULTS[CODE], find)
