"""hard-coded-batch: code that works for full batches only.

What it finds
    Views, hidden states, targets and masks made for the batch size of the loader, where the number of samples is known
    and the last batch is smaller: `x.view(32, -1)`, `torch.zeros(1, batch_size, hidden)`, `torch.ones(batch_size, 1)`.
Why it hurts
    The script runs through an epoch and stops in its last step.
Example
    loader = DataLoader(samples, batch_size=32)          # 100 samples
    for x in loader:
        x = x.view(32, -1)
Use instead
    for x in loader:
        x = x.view(x.size(0), -1)
Fix safety
    Safe where the size is taken from the tensor. Dropping the last batch is offered as unsafe: its samples are never used.
References
    torch.utils.data.DataLoader
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import passed_for
from torchsleuth.rules.evidence.operands import birth, operands, replaced, size_nodes, tensors_above
from torchsleuth.rules.evidence.operators import family_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Edit
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import Value, is_object_named
from torchsleuth.values.frames import Scene

CODE = "TS117"


def find(analysis: Analysis) -> Iterator[Finding]:
    always = {failure.operation.site.span for failure in analysis.trace.failures if not failure.last_batch}
    for failure in analysis.trace.failures:
        if failure.last_batch and failure.operation.site.span not in always:
            plain = _plain(analysis, failure)
            if plain is not None:
                yield _finding(analysis, failure, plain)


def _plain(analysis: Analysis, failure: OperatorFailure) -> Finding | None:
    """The finding of the failure as if it came with every batch."""
    from torchsleuth.rules.registry import RULES

    family = family_of(failure)
    # A batch of one sample is found by itself.
    rule = RULES.get(family) if family != "TS609" else None
    if rule is None:
        return None
    alone = replace(analysis.trace, failures=[replace(failure, last_batch=False)])
    return next(rule.find(replace(analysis, trace=alone)), None)


def _finding(analysis: Analysis, failure: OperatorFailure, plain: Finding) -> Finding:
    # The size of the last batch, as a number, is what no batch was meant to have.
    own = (made for made in plain.candidates if not any(edit.new_text.isdigit() for edit in made.edits))
    candidates = chain(_from_tensor(failure), islice(own, 4), _dropped(analysis), own)
    return Finding(plain.at, message("batch.last", error=plain.message), plain.related, candidates)


def _from_tensor(failure: OperatorFailure) -> Iterator[Candidate]:
    """Operands that were made for a full batch, made for the batch at hand: with ``x.size(0)`` of a tensor above; several
    of one function, such as both states of an LSTM, at once."""
    given = [used for used in operands(failure.operation) if used.spec.shape]
    batches = {used.shape[0] for used in given if is_number(used.shape[0])}
    found: dict[tuple[int, int, str], Candidate] = {}
    alike: dict[tuple[Scene, str, object], dict[tuple[int, int, str], Edit]] = {}
    for used in given:
        born = birth(used.tensor)
        for node in size_nodes(born) if born is not None else []:
            frame = born.site.scene if born is not None else None
            while frame is not None:
                value = _value(frame, node)
                for name in tensors_above(frame, node) if is_number(value) and value > min(batches) else ():
                    new = f"{name}.size(0)"
                    key = (node.lineno, node.col_offset, new)
                    if key not in found:
                        found[key] = replaced(frame.site(node), node, new)
                        alike.setdefault((frame, new, value), {})[key] = found[key].edits[0]
                outer = passed_for(node, frame)
                if outer is None:
                    break
                node, frame = outer
    for changes in alike.values():
        if len(changes) > 1:
            yield Candidate(found[next(iter(changes))].title, tuple(changes.values()))
    yield from found.values()


def _value(frame: Scene, node: ast.expr) -> Value:
    """The number that an expression stands for: a constant, a variable, an attribute of self."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return next((names[node.id] for names in (frame.names, frame.globals) if node.id in names), None)
    receiver = frame.instance()
    return receiver.slots.get(node.attr) if isinstance(node, ast.Attribute) and receiver is not None else None


def _dropped(analysis: Analysis) -> Iterator[Candidate]:
    """The loaders told to leave out a batch that is not full."""
    for call in analysis.trace.calls:
        node = call.site.call
        if not is_object_named(call.result, "DataLoader"):
            continue
        if node is not None and "drop_last" not in call.kwargs:
            yield added_argument(call.site.source, node, "drop_last=True", safe=False)


RULE = Rule(FAULTS[CODE], find)
