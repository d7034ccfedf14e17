"""divergence-averaged: a divergence that is averaged over the classes as well as over the samples.

What it finds
    `kl_div` and `KLDivLoss` with the reduction that they have by default, "mean", of distributions in batches. A warning where the
    result is multiplied with the square of a temperature, which makes up for what that takes from the gradient of a sample.
Why it hurts
    The divergence of a sample is the sum over its classes. "mean" divides by their number, too, so that the term is that many times
    smaller than it is meant to be: beside a cross entropy it hardly counts. PyTorch warns of it when the line is reached.
Example
    soft = F.kl_div(F.log_softmax(student / T, -1), F.softmax(teacher / T, -1))
Use instead
    soft = F.kl_div(F.log_softmax(student / T, -1), F.softmax(teacher / T, -1), reduction="batchmean")
Fix safety
    Unsafe: the loss grows by the number of classes, and its weight may have been chosen for it as it is.
References
    torch.nn.KLDivLoss
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Severity, Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_binary, keyword_of, literal, nodes_in
from torchsleuth.values import Tensor

CODE = "TS360"
_PLACES = {"torch.nn.functional.kl_div": 4, "torch.nn.KLDivLoss": 2}
"""Where the reduction stands among their arguments."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for path, place in _PLACES.items():
        for call in analysis.calls.get(path, ()):
            asked = call.given(place, "reduction", "mean")
            others = [call.given(number, name) for number, name in ((place - 2, "size_average"), (place - 1, "reduce"))]
            plain = asked == "mean" and others == [None, None] and not _is_of_one(call)
            if plain and call.site.call is not None and call.site.span not in seen:
                seen.add(call.site.span)
                text = message("divergence.averaged", function=call.name)
                severity: Severity | None = "warning" if _is_balanced(analysis, call, call.site.call) else None
                yield Finding(call.site.span, text, (), tuple(_per_sample(call)), severity)


def _is_balanced(analysis: Analysis, call: LibraryCall, node: ast.Call) -> bool:
    """Whether the divergence is multiplied with a square, as ``soft * T**2``: its weight is chosen for a sample then."""
    tree = analysis.tree(call.site.span.path)
    statement = edits.enclosing_statement(tree, node)
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is node else []
    names = {ast.unparse(target) for target in targets}
    for product in nodes_in(tree, ast.BinOp):
        factors = list(_factors(product))
        texts = [ast.unparse(factor) for factor in factors]
        ours = any(factor is node or factor.func is node for factor in of_kind(factors, ast.Call))
        named = any(ast.unparse(getattr(factor, "func", factor)) in names for factor in factors)
        squared = [factor for factor in factors if is_binary(factor, ast.Pow) and literal(factor.right) == 2]
        if (ours or named) and (squared or len(set(texts)) < len(texts)):
            return True
    return False


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if is_binary(node, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


def _is_of_one(call: LibraryCall) -> bool:
    """Whether there is one distribution, and no batch."""
    given = as_kind(call.given(0, "input"), Tensor)
    return given is not None and given.spec.rank is not None and given.spec.rank < 2


def _per_sample(call: LibraryCall) -> Iterator[Candidate]:
    node, source = call.site.call, call.site.source
    written = keyword_of(node, "reduction") if node is not None else None
    text = 'reduction="batchmean"'
    if node is not None and written is not None:
        edit = edits.replace(source, written.value, '"batchmean"')
        yield Candidate(message("fix.replace", old="mean", new="batchmean"), (edit,), safe=False)
    elif node is not None:
        yield Candidate(message("fix.add", text=text), (edits.add_argument(source, node, text),), safe=False)


RULE = Rule(FAULTS[CODE], find)
