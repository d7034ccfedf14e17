"""term-without-graph: a part of a loss that nothing learns from, since what it is computed from was detached.

What it finds
    A sum of losses that goes backward, one term of which is a loss of PyTorch's without a graph: what the model put out was
    detached on its way into it.
Why it hurts
    The term is in the number that is printed, and in no gradient: a distillation that does not distil, a penalty that does not
    weigh. Nothing is raised.
Example
    distance = F.kl_div(F.log_softmax(student(x).detach(), -1), teacher_scores)
    loss = F.cross_entropy(student(x), y) + distance
    loss.backward()
Use instead
    distance = F.kl_div(F.log_softmax(student(x), -1), teacher_scores)
    loss = F.cross_entropy(student(x), y) + distance
    loss.backward()
Fix safety
    Unsafe: the term counts from then on.
References
    torch.Tensor.detach
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import lineage, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.values import Tensor
from torchsleuth.values.graph import Cut, cut_of

CODE = "TS415"
_SUMS = frozenset("add iadd sub mul imul div truediv mean sum".split())
_MAX_TERMS = 24


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for event in analysis.events("backward"):
        loss = event.tensor if event.certain else None
        for term in _terms(loss) if loss is not None and loss.spec.requires_grad is True else ():
            cut = _cut(analysis, term)
            if cut is not None and cut.site.span not in seen:
                seen.add(cut.site.span)
                yield _finding(term, cut)


def _terms(loss: Tensor) -> Iterator[Tensor]:
    """The terms of a sum, with weights or without."""
    pending = [loss]
    for _ in range(_MAX_TERMS):
        if not pending:
            return
        current = pending.pop()
        origin = current.origin
        if origin is not None and origin.bare_name in _SUMS:
            pending += origin.sources
        elif origin is not None:
            yield current


def _cut(analysis: Analysis, term: Tensor) -> Cut | None:
    """The detach() that took the graph from a term: of what was computed with a graph."""
    origin = term.origin
    if term.spec.requires_grad is not False or origin is None or not origin.operator.startswith("torch.nn."):
        return None
    if not origin.operator.lower().rpartition(".")[2].endswith(("loss", "cross_entropy", "kl_div", "logits")):
        return None
    made = analysis.operations.get(id(origin.site))
    given = [one for one in made.operands if not _is_of_frozen(analysis, one)] if made is not None else []
    cuts = [cut_of(operand) for operand in given]
    return next((cut for cut in cuts if cut is not None and cut.kind in ("detach", "data")), None)


def _is_of_frozen(analysis: Analysis, tensor: Tensor) -> bool:
    """Whether a layer that does not learn now, and may learn at other times, has computed a tensor."""
    modules = [operation.module for _, operation in lineage(analysis, tensor)]
    return any(module is not None and module.slots.get("requires_grad") is False for module in modules)


def _finding(term: Tensor, cut: Cut) -> Finding:
    site = term.origin.site if term.origin is not None else cut.site
    source = cut.site.source
    places = (site.span.related(message("term.loss")), *call_trail(cut.site.scene, limit=1))
    text = source.on_one_line(cut.site.node)
    return Finding(cut.site.span, message("term.cut", text=text), places, tuple(_attached(cut)))


def _attached(cut: Cut) -> Iterator[Candidate]:
    node = cut.site.node
    if isinstance(node, ast.Call) and is_method_call(node, "detach"):
        new = cut.site.source.segment(node.func.value)
        yield replaced(cut.site, node, new, safe=False)


RULE = Rule(FAULTS[CODE], find)
