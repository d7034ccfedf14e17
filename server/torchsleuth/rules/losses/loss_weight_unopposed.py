"""loss-weight-unopposed: a learned weight of a loss that nothing keeps from going to zero.

What it finds
    A parameter that is in the loss only as the weight of losses that are never negative: `torch.exp(-log_var) * loss`,
    `loss / sigma**2`, `torch.sigmoid(w) * loss`, without a term that holds against it.
Why it hurts
    The quickest way to a small sum is a small weight. It falls towards zero, the total loss falls with it, and the task that it
    belongs to is learned less and less.
Example
    total = total + torch.exp(-log_var) * loss
Use instead
    total = total + torch.exp(-log_var) * loss + log_var
Fix safety
    Unsafe: it weighs the task by its uncertainty. Weights that sum to one (a softmax over them) do it, too.
References
    "Multi-Task Learning Using Uncertainty to Weigh Losses for Scene Geometry and Semantics" (Kendall et al.)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import changes_gradients, feeds
from torchsleuth.rules.evidence.spreads import is_rewritten
from torchsleuth.rules.evidence.terms import KEEPING, NEVER_NEGATIVE, Part, Term, parts_of, terms, terms_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import only
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_binary, is_unary, nodes_in
from torchsleuth.values import LibraryObject, Site, Tensor
from torchsleuth.values.graph import GraphNode

CODE = "TS348"
_PRODUCTS = frozenset("mul imul multiply".split())
_QUOTIENTS = frozenset("div idiv truediv itruediv".split())
_GROWING = KEEPING | frozenset("getitem neg exp softplus relu abs pow square mul".split())
"""Operators between a parameter and a weight that can come as near to zero as one likes, as a factor or below a loss."""
_FALLING = frozenset("sigmoid reciprocal div truediv".split())
"""Those that can do so as a factor only."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for optimizer in analysis.trace.optimizers:
        found = list(_unopposed(analysis, optimizer)) if not _ascends(optimizer) else []
        for site, weight in found if found and not changes_gradients(analysis) else ():
            if site.span not in seen:
                seen.add(site.span)
                yield Finding(site.span, message("weight.unopposed", weight=weight), (), tuple(_opposed(site)))


def _ascends(optimizer: LibraryObject) -> bool:
    """Whether an optimizer may make its losses larger."""
    return optimizer.kwargs.get("maximize", False) is not False


def _unopposed(analysis: Analysis, optimizer: LibraryObject) -> Iterator[tuple[Site, str]]:
    """Where losses are multiplied with parameters of an optimizer that are in no other term, and these as text."""
    backwards = [one for one in analysis.events("backward") if feeds(one, optimizer) is not False]
    if not analysis.events_of(optimizer, "step") or optimizer.identity in analysis.trace.escaped:
        return
    trained = {id(part) for part in trained_parts(optimizer)}
    weighed: dict[int, list[tuple[Tensor, Site, str]]] = {}
    others: set[int] = set()
    for event in backwards:
        found = terms_of(analysis, event)
        if found is None:
            return
        for term in found:
            part = _weight(analysis, term)
            weight = _parameter(part) if part is not None else None
            if weight is None or part is None or term.operation is None:
                others |= _leaves(term)
            elif {id(weight), id(weight.owner)} & trained:
                weighed.setdefault(id(weight), []).append((weight, term.operation.site, _text(part)))
    for number, places in weighed.items():
        if number not in others and not is_rewritten(analysis, places[0][0]):
            yield from ((site, text) for _, site, text in places)


def _leaves(term: Term) -> set[int]:
    """The tensors that a term starts from, by identity."""
    inner = (
        {id(leaf) for node in term.part.node.members for leaf in node.leaves} if term.part.node is not None else set()
    )
    return inner | {id(term.part.tensor)}


def _weight(analysis: Analysis, term: Term) -> Part | None:
    """The weight of a term whose other factor is a loss, where it is made of parameters by operators that let it go to zero."""
    operation = term.operation
    given = parts_of(operation) if operation is not None else []
    if operation is None or term.factor is None or term.factor <= 0 or len(given) != 2:
        return None
    name = operation.bare_name
    for weight, loss in ((given[0], given[1]), (given[1], given[0])):
        below = name in _QUOTIENTS and weight is given[1]
        if (below or name in _PRODUCTS) and _is_loss(analysis, loss):
            return weight if _is_plain(weight, _GROWING if below else _GROWING | _FALLING) else None
    return None


def _is_loss(analysis: Analysis, part: Part) -> bool:
    """Whether a part is a sum of losses that are never negative."""
    found = terms(analysis, part) if part.node is not None else None
    return bool(found) and all(
        term.operation is not None
        and term.operation.name in NEVER_NEGATIVE
        and term.factor is not None
        and term.factor > 0
        for term in found or ()
    )


def _is_plain(part: Part, operators: frozenset[str]) -> bool:
    """Whether a weight is computed from leaves by these operators alone."""
    nodes = part.node.members if part.node is not None else ()
    return part.learns and all(_name(node) in operators and node.module is None and not node.open for node in nodes)


def _parameter(part: Part) -> Tensor | None:
    """The one parameter that a weight is computed from."""
    nodes = part.node.members if part.node is not None else ()
    leaf = only({id(leaf): leaf for node in nodes for leaf in node.leaves}.values()) if nodes else part.tensor
    return leaf if leaf is not None and leaf.parameter else None


def _name(node: GraphNode) -> str:
    return node.operator.rpartition(".")[2].strip("_")


def _text(weight: Part) -> str:
    """The weight as it is written where it is computed."""
    return (
        f"`{weight.node.site.source.on_one_line(weight.node.site.node)}`" if weight.node is not None else "this weight"
    )


def _logarithm(node: ast.expr) -> ast.expr | None:
    """``s`` of ``torch.exp(-s)`` and ``(-s).exp()``"""
    for part in nodes_in(node, ast.Call):
        given = part.args[0] if part.args else part.func.value if isinstance(part.func, ast.Attribute) else None
        if called(part) == "exp" and is_unary(given, ast.USub):
            return given.operand
    return None


def _opposed(site: Site) -> Iterator[Candidate]:
    """``torch.exp(-s) * loss + s``"""
    node, source = site.node, site.source
    if is_binary(node, ast.Mult):
        logarithm = only([one for side in (node.left, node.right) if (one := _logarithm(side)) is not None])
        if logarithm is not None:
            text = f" + {source.segment(logarithm)}"
            title = message("fix.append", expression=source.on_one_line(node), suffix=text)
            yield Candidate(title, (edits.insert_after_node(source, node, text),), safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
