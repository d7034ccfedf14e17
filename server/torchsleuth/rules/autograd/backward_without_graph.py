"""backward-without-graph: backward() on a value with no path to a parameter.

What it finds
    backward() on a tensor, or a number, that was cut off from the model on its way: by item(), float(), detach(), .data,
    numpy(), torch.no_grad(), argmax or a comparison; parameters that are all frozen; a second differentiation of a
    gradient that was computed without create_graph. Also the quiet form, where requires_grad is switched on again
    after the cut: that runs, and trains nothing. And tensors made under inference_mode() that a recorded operator has to keep.
Why it hurts
    PyTorch raises "element 0 of tensors does not require grad and does not have a grad_fn", far from the cause.
Example
    total = 0.0
    for name in tasks:
        total += criterion(out[name], y[name]).item()
    total.backward()
Use instead
    total = 0.0
    for name in tasks:
        total += criterion(out[name], y[name])
    total.backward()
Fix safety
    Removing item() or detach() is safe: backward() was meant to go through. Dissolving a no_grad block, unfreezing
    parameters and leaving out a comparison are offered as unsafe, for they change more than that.
References
    torch.Tensor.backward, torch.Tensor.detach, torch.no_grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import (
    cut_places,
    cut_text,
    faults,
    gradient_is_used,
    name_of,
    started_from,
    uncut,
)
from torchsleuth.rules.evidence.inference import kept_from_inference
from torchsleuth.rules.evidence.loops import is_simple, name_in, statement_of
from torchsleuth.rules.evidence.operands import ancestry
from torchsleuth.rules.evidence.rewrites import as_loss, as_tensors
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related, Severity
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, names_in, nodes_in, plain_name, stored_in, targets_of
from torchsleuth.values import Site, Tensor
from torchsleuth.values.graph import AutogradFault, node_of

CODE = "TS401"
_KEYS = {"frozen": "grad.frozen", "first_order": "grad.first_order"}
_CUTTING = frozenset("detach data item tolist numpy float".split())
"""Cuts that are made by an expression of their own."""
_DEPTH, _SHOWN = 3, 3
"""Assignments that are followed from one value to the next, and places that are shown."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "no_graph", "severed"):
        cut = fault.cut
        severed = fault.kind == "severed"
        if cut is not None and (cut.kind == "rewrapped" or (cut.kind == "integers" and severed)):
            continue
        if severed and (gradient_is_used(analysis, fault) or not _had_model(fault)):
            continue
        tensor = name_of(fault)
        severity: Severity | None = "warning" if severed else None  # backward() runs.
        if cut is None:
            places = tuple(_written_cuts(fault))
            yield Finding(fault.at.span, message("grad.no_graph.plain", tensor=tensor), places, severity=severity)
            continue
        wanted = next(_optimised(analysis), None) if not severed and cut.kind == "frozen" else None
        if wanted is not None:
            optimizer, name = wanted
            yield _not_required(analysis, fault, optimizer, name)
            continue
        key = "grad.severed" if severed else _KEYS.get(cut.kind, "grad.no_graph")
        text = message(key, tensor=tensor, cut=cut_text(analysis, cut))
        repairs = chain(as_loss(analysis, fault), uncut(analysis, cut), as_tensors(analysis, fault))
        if severed and cut.kind in _CUTTING:
            # What is to be changed is the expression that took the graph away.
            places = (fault.at.span.related(message("grad.severed.backward")),)
            text = message("grad.severed.here", cut=cut_text(analysis, cut), line=fault.at.span.start.line)
            yield Finding(cut.site.span, text, places, repairs, severity=severity)
        else:
            yield Finding(fault.at.span, text, cut_places(analysis, cut), repairs, severity=severity)
    yield from kept_from_inference(analysis)


def _had_model(fault: AutogradFault) -> bool:
    """Whether a tensor that was cut off, and then made to require grad, was computed by something that is trained."""
    sources = [source for leaf in fault.leaves for origin in ancestry(leaf) for source in origin.sources]
    if any(source.parameter or source.owner is not None for source in sources):
        return True
    passed = (part for source in sources if (node := node_of(source)) is not None for part in node.reachable())
    trained = (part.open or part.module is not None or any(leaf.parameter for leaf in part.leaves) for part in passed)
    return not fault.leaves or any(trained)


def _written_cuts(fault: AutogradFault) -> Iterator[Related]:
    """Where values leave a graph on the way to a tensor, by the text of the function: ``.item()`` of what is summed or kept."""
    scope, source, start = fault.at.scene.scope, fault.at.source, started_from(fault)
    names, found = names_in(start) if start is not None else set[str](), dict[int, ast.Call]()
    for _ in range(_DEPTH):
        for node in ast.walk(scope):
            values: list[ast.expr] = []
            if isinstance(node, ast.Assign | ast.AugAssign) and names & stored_in(*targets_of(node)):
                values = [node.value]
            elif is_method_call(node, "append") and plain_name(node.func.value) in names:
                values = node.args
            for call in (part for value in values for part in nodes_in(value, ast.Call)):
                if is_method_call(call, *_CUTTING) and call.lineno < fault.at.span.start.line:
                    found[call.lineno] = call
            names |= names_in(*values)
    for call in list(found.values())[:_SHOWN]:
        text = f"`{source.on_one_line(call)}`"
        yield source.span(call).related(message("grad.cut", cut=text))


def _optimised(analysis: Analysis) -> Iterator[tuple[Site, str]]:
    """The tensors that an optimizer was given although they do not require grad, by their names, and where."""
    for optimizer in analysis.trace.optimizers:
        for part in of_kind(trained_parts(optimizer), Tensor):
            if not part.parameter and part.spec.requires_grad is False:
                name = name_in(optimizer.site.scene, part) if optimizer.site is not None else None
                if name is not None and optimizer.site is not None:
                    yield optimizer.site, name


def _not_required(analysis: Analysis, fault: AutogradFault, optimizer: Site, name: str) -> Finding:
    """A loss of frozen parameters and of a tensor that was to be changed instead of them."""
    source, statement = optimizer.source, statement_of(analysis, optimizer)
    text = message("grad.not_required", tensor=name_of(fault), name=f"`{name}`")
    places = (optimizer.span.related(message("grad.not_required.given", name=f"`{name}`")),)
    fixes: list[Candidate] = []
    if statement is not None and is_simple(statement, analysis, source.path):
        line = f"{name}.requires_grad_()"
        fixes.append(Candidate(message("fix.insert", text=line), (edits.insert_line_before(source, statement, line),)))
    return Finding(fault.at.span, text, places, fixes)


RULE = Rule(FAULTS[CODE], find)
