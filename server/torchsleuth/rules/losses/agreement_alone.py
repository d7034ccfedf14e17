"""agreement-alone: outputs that are only asked to agree with one another.

What it finds
    A loss that is a distance between outputs of networks that are both trained, or their negative cosine similarity, and nothing
    else: no detach(), no other samples to keep away from, no term for the variance.
Why it hurts
    An output that does not depend on the input agrees with any other one, and is the quickest way to the least loss. The loss
    looks as if all went well, and what is learned says nothing about the inputs.
Example
    p1, p2 = predictor(z1), predictor(z2)
    loss = -(F.cosine_similarity(p1, z2).mean() + F.cosine_similarity(p2, z1).mean()) / 2
Use instead
    loss = -(F.cosine_similarity(p1, z2.detach()).mean() + F.cosine_similarity(p2, z1.detach()).mean()) / 2
Fix safety
    Unsafe: with detach(), one side is the target of the other, as in SimSiam. Negative samples (InfoNCE) or a term for the
    variance (VICReg) do it, too.
References
    "Exploring Simple Siamese Representation Learning" (Chen and He), section 4.1
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import given_to, trained_parts
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds
from torchsleuth.rules.evidence.loops import common_loop
from torchsleuth.rules.evidence.operands import operands, suffixed
from torchsleuth.rules.evidence.terms import KEEPING, Part, Term, parts_of, terms, terms_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.values import LibraryObject, is_unknown
from torchsleuth.values.graph import GraphNode

CODE = "TS347"
_SIMILAR = frozenset({"cosine_similarity", "CosineSimilarity"})
_DISTANT = frozenset(
    "mse_loss MSELoss l1_loss L1Loss smooth_l1_loss SmoothL1Loss huber_loss HuberLoss pairwise_distance PairwiseDistance".split()
)
_POWERS = frozenset("pow square abs norm".split())
_UNITS = frozenset({"normalize"})
_ACTIVATIONS = frozenset("relu ReLU gelu GELU silu SiLU tanh Tanh leaky_relu LeakyReLU dropout Dropout".split())
_SELECTING = KEEPING | _UNITS | _ACTIVATIONS | frozenset("getitem chunk split unbind mean select transpose".split())
"""Operators that make a constant of a constant, and keep one that the layer before can give."""
_CENTRED = ("BatchNorm", "SyncBatchNorm", "InstanceNorm")


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for optimizer in analysis.trace.optimizers:
        pairs = _agreeing(analysis, optimizer)
        for operation, pair in pairs if pairs and not changes_gradients(analysis) else ():
            if operation.site.span not in seen:
                seen.add(operation.site.span)
                fixes = tuple(_cut(operation, pair))
                yield Finding(operation.site.span, message("agreement.alone"), (), fixes)


def _agreeing(analysis: Analysis, optimizer: LibraryObject) -> list[tuple[Operation, tuple[Part, Part]]]:
    """The terms of all that an optimizer follows, each with the two outputs that are to agree; none where there is anything else
    in it."""
    found: list[tuple[Operation, tuple[Part, Part]]] = []
    if any(map(is_unknown, given_to(optimizer))) or not analysis.events_of(optimizer, "step"):
        return []
    if optimizer.identity in analysis.trace.escaped or _is_helped(analysis, optimizer):
        return []
    trained = {id(part) for part in trained_parts(optimizer)}
    for event in analysis.events("backward"):
        followed = terms_of(analysis, event) if feeds(event, optimizer) is not False else []
        if followed is None:
            return []
        for term in followed:
            pair = _pair(analysis, term)
            if term.operation is None or pair is None or not _is_free(pair, trained):
                return []
            found.append((term.operation, pair))
    return found


def _is_helped(analysis: Analysis, optimizer: LibraryObject) -> bool:
    """Whether another optimizer trains some of the same parts, in the same loop."""
    trained = {id(part) for part in trained_parts(optimizer)}
    steps = analysis.events_of(optimizer, "step")
    for other in analysis.trace.optimizers:
        shares = other is not optimizer and any(id(part) in trained for part in trained_parts(other))
        for step in analysis.events_of(other, "step") if shares else ():
            if any(common_loop(step, own) is not None for own in steps):
                return True
    return False


def _pair(analysis: Analysis, term: Term) -> tuple[Part, Part] | None:
    """The two outputs whose agreement a term asks for."""
    operation, factor = term.operation, term.factor
    if operation is None or not factor:
        return None
    given, name = parts_of(operation), operation.bare_name
    if name in _POWERS and len(given) == 1 and factor > 0:
        return _difference(analysis, given[0])
    agrees = (name in _SIMILAR and factor < 0) or (name in _DISTANT and factor > 0)
    agrees = agrees or (name == "mul" and factor < 0 and all(_is_unit(analysis, part) for part in given))
    return (given[0], given[1]) if agrees and len(given) == 2 else None


def _difference(analysis: Analysis, part: Part) -> tuple[Part, Part] | None:
    """``a`` and ``b`` of ``a - b``"""
    both = terms(analysis, part) or []
    inside = [one for one in both if not one.reductions]
    opposite = len(both) == len(inside) == 2 and {one.factor for one in both} == {1.0, -1.0}
    return (both[0].part, both[1].part) if opposite else None


def _is_unit(analysis: Analysis, part: Part) -> bool:
    """Whether a tensor was scaled to length 1."""
    operation = analysis.operation_of(part.node)
    return operation is not None and operation.name in _UNITS


def _is_free(pair: tuple[Part, Part], trained: set[int]) -> bool:
    """Whether a training can make both outputs constant: they come from layers that it changes, and not both of them from
    normalisations over the batch."""
    ends = [_end(part.node, trained) for part in pair]
    return None not in ends and any(ends)


def _end(node: GraphNode | None, trained: set[int]) -> bool | None:
    """Whether an output comes from a layer that is trained, and is not centred behind it; None where it comes from elsewhere."""
    centred = False
    while node is not None:
        name = node.operator.rpartition(".")[2]
        centred = centred or name.startswith(_CENTRED)
        if node.module is not None and not node.module.type_name.startswith(_CENTRED):
            return not centred if id(node.module) in trained else None
        passing = name.startswith(_CENTRED) or name in _SELECTING
        node = node.inputs[0] if passing and len(node.inputs) == 1 else None
    return None


def _cut(operation: Operation, pair: tuple[Part, Part]) -> Iterator[Candidate]:
    """The side that fewer layers have computed without its graph, where the other one goes through a predictor."""
    sides = [{id(node.module) for node in part.node.members} if part.node is not None else set() for part in pair]
    for own, other, part in ((sides[0], sides[1], pair[0]), (sides[1], sides[0], pair[1])):
        if len(own) < len(other):
            used = next((one for one in operands(operation) if one.tensor is part.tensor), None)
            if used is not None:
                yield from suffixed(used, ".detach()", safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
