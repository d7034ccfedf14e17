"""weights-summed-away: an einsum that sums the weights of a softmax by themselves.

What it finds
    `einsum("bhij,bhid->bhid", att, v)` where `att` went through a softmax along `j`: that index stands in no other operand and
    not in the result, so the weights are summed before anything is weighted with them.
Why it hurts
    Their sum is 1: the result is the values as they were, as if there were no attention. The shapes fit where both sequences are of
    one length, and nothing is raised.
Example
    att = scores.softmax(dim=-1)
    out = torch.einsum("bhij,bhid->bhid", att, v)
Use instead
    att = scores.softmax(dim=-1)
    out = torch.einsum("bhij,bhjd->bhid", att, v)
Fix safety
    Safe: the index that is summed is that of the values then.
References
    torch.einsum
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import steps
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_text
from torchsleuth.values import Tensor

CODE = "TS352"
_SOFTMAX = ("softmax", "Softmax")
_KEEPS = frozenset("dropout Dropout to float half contiguous clone".split())
"""Operators that leave each weight where it is."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        call = operation.site.call if operation.target == "torch.einsum" else None
        node = call.args[0] if call is not None and call.args else None
        if call is None or not is_text(node) or operation.site.span in seen or len(operation.args) != 3:
            continue
        inputs, arrow, output = node.value.replace(" ", "").partition("->")
        terms = inputs.split(",")
        if not arrow or len(terms) != 2 or not all(term.isalpha() for term in (*terms, output)):
            continue
        for place, weights in enumerate(operation.args[1:]):
            found = _summed_alone(analysis, weights, terms[place], terms[1 - place], output)
            if found is not None:
                seen.add(operation.site.span)
                letter, softmax = found
                text = message("einsum.summed_away", index=letter, weights=f"`{ast.unparse(call.args[place + 1])}`")
                places = (softmax.site.span.related(message("softmax.here", softmax="softmax")),)
                yield Finding(
                    operation.site.span, text, places, _of_values(operation, node, terms, place, letter, output)
                )


def _summed_alone(
    analysis: Analysis, weights: object, own: str, other: str, output: str
) -> tuple[str, Operation] | None:
    """The index along which the weights add up to 1, if it stands in nothing else."""
    tensor = as_kind(weights, Tensor)
    for _, origin in steps(tensor) if tensor is not None else ():
        if origin.name in _SOFTMAX:
            softmax = analysis.operation_of(origin)
            module = softmax.module if softmax is not None else None
            dim = (
                None
                if softmax is None
                else softmax.given(1, "dim", None)
                if module is None
                else module.given(0, "dim", None)
            )
            if softmax is None or not isinstance(dim, int) or not -len(own) <= dim < len(own):
                return None
            letter = own[dim]
            return (letter, softmax) if letter not in other + output and own.count(letter) == 1 else None
        if origin.name not in _KEEPS:
            return None
    return None


def _of_values(
    operation: Operation, node: ast.expr, terms: list[str], place: int, letter: str, output: str
) -> Iterator[Candidate]:
    """The other operand with the summed index in the place of one that both have, and that the result keeps."""
    source = operation.site.source
    shared = [one for one in terms[place] if one in terms[1 - place] and one in output]
    if shared:
        changed = list(terms)
        changed[1 - place] = terms[1 - place].replace(shared[-1], letter)
        new = f'"{",".join(changed)}->{output}"'
        yield Candidate(message("fix.replace", old=source.segment(node), new=new), (edits.replace(source, node, new),))


RULE = Rule(FAULTS[CODE], find)
