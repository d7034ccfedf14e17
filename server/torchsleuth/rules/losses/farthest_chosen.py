"""farthest-chosen: the class whose prototype is farthest away, taken for the answer.

What it finds
    `argmax` of distances, of `torch.cdist` or `pairwise_distance` and what grows with them, whose result is compared with labels.
Why it hurts
    The prediction is the class that a sample is least like. The accuracy is below that of a guess, while the loss, which takes the
    negative distances, falls. Nothing is raised.
Example
    pred = torch.cdist(query, prototypes).argmax(dim=1)
    right = (pred == labels).float().mean()
Use instead
    pred = torch.cdist(query, prototypes).argmin(dim=1)
    right = (pred == labels).float().mean()
Fix safety
    Unsafe: the predictions change, as they were meant to.
References
    Snell et al. 2017, "Prototypical Networks for Few-shot Learning"; torch.cdist
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import steps
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import called, is_method_call, is_plain_call

CODE = "TS350"
_DISTANCES = frozenset("cdist pairwise_distance PairwiseDistance".split())
_GROWING = frozenset(
    "pow square sqrt view reshape squeeze unsqueeze float to detach clone contiguous mean sum getitem".split()
)
"""Functions of distances that are the larger the larger these are."""
_SCALES = frozenset({"mul", "div", "truediv"})


def find(analysis: Analysis) -> Iterator[Finding]:
    chosen = {operation.site.span: operation for operation in analysis.trace.operations if operation.name == "argmax"}
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        if operation.bare_name != "eq":
            continue
        for answer in operation.operands:
            origin = answer.origin
            made = chosen.get(origin.site.span) if origin is not None and origin.name == "argmax" else None
            if made is not None and made.site.span not in seen and _are_distances(made):
                seen.add(made.site.span)
                node, source = made.site.node, made.site.source
                fixes = (
                    [replacement(source, node, _nearest(source.segment(node)))] if isinstance(node, ast.Call) else []
                )
                text = message("distance.farthest", labels=_written(operation))
                yield Finding(made.site.span, text, (), tuple(fixes))


def _are_distances(choice: Operation) -> bool:
    """Whether what is chosen from grows with distances, by nothing but functions that keep the order."""
    if not choice.operands:
        return False
    for _, origin in steps(choice.operands[0]):
        if origin.bare_name in _DISTANCES:
            return True
        scaled = origin.bare_name in _SCALES and len(origin.sources) == 1 and _is_positive(origin.site.node)
        if origin.bare_name not in _GROWING and not scaled:
            return False
    return False


def _is_positive(node: ast.AST) -> bool:
    """Whether a product or quotient has no minus in it."""
    return not any(isinstance(part, ast.USub) for part in ast.walk(node))


def _nearest(text: str) -> str:
    return text[::-1].replace("xamgra", "nimgra", 1)[::-1]


def _written(operation: Operation) -> str:
    """The labels, as they are written in the comparison."""
    node = as_kind(operation.site.node, ast.Compare)
    if node is None:
        return "labels"
    sides = [node.left, *node.comparators]
    plain = [
        side
        for side in sides
        if not (is_plain_call(side) and called(side) == "argmax") and not is_method_call(side, "argmax")
    ]
    return operation.site.source.segment(plain[-1]) if plain else "labels"


RULE = Rule(FAULTS[CODE], find)
