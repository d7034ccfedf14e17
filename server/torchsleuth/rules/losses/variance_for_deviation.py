"""variance-for-deviation: noise that is scaled by a variance where a standard deviation belongs.

What it finds
    `mean + noise * log_var.exp()` with standard normal noise, where the same logarithm stands for a variance in the divergence
    that the loss has: `1 + log_var - mean.pow(2) - log_var.exp()`.
Why it hurts
    A variance of 0.01 asks for noise of 0.1, and gets 0.01. The samples are not those of the distribution that the divergence is
    computed for: reconstructions look too good, and what is drawn from the prior does not.
Example
    std = log_var.exp()
    z = mean + std * torch.randn_like(std)
Use instead
    std = (0.5 * log_var).exp()
    z = mean + std * torch.randn_like(std)
Fix safety
    Safe: the divergence says what the logarithm is of.
References
    Kingma and Welling, Auto-Encoding Variational Bayes, appendix B
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, ancestry, operand, steps, written
from torchsleuth.rules.evidence.squares import Uses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.values import Tensor

CODE = "TS326"
_NOISE = frozenset("randn randn_like normal_".split())
_SUMS = frozenset("add sub rsub".split())
_KEEPS_NOISE = frozenset({"to", "type_as", "float", "view", "expand"})
_MAX_STEPS = 12


def find(analysis: Analysis) -> Iterator[Finding]:
    exponentials = [one for one in analysis.trace.operations if one.bare_name == "exp"]
    uses = Uses(analysis) if exponentials else None
    if uses is None:
        return
    scaling = [one for one in exponentials if any(_scales_noise(use, one) for use in uses.of(one))]
    reported: set[Span] = set()
    for operation in scaling:
        used = operand(operation, 0, "input", "self")
        others = [
            one
            for one in exponentials
            if used is not None and any(_same(given, used.tensor) for given in one.operands[:1])
        ]
        span = operation.site.span
        if used is None or span in reported:
            continue
        divergence = next((use for one in others for use in _sums(uses, one) if _has_term(use, used)), None)
        if divergence is None:
            continue
        reported.add(span)
        text = message("variance.scales", tensor=used.text("its logarithm"))
        places = (
            divergence.site.span.related(message("variance.divergence")),
            *call_trail(operation.site.scene, limit=1),
        )
        candidates: tuple[Candidate, ...] = ()
        if used.node is not None:
            source = operation.site.source
            old = source.segment(used.node)
            new = f"(0.5 * {old})" if _is_receiver(operation, used.node) else f"0.5 * {written(source, used.node)}"
            title = message("fix.replace", old=old, new=new)
            candidates = (Candidate(title, (edits.replace(source, used.node, new),)),)
        yield Finding(span, text, places, candidates)


def _is_receiver(operation: Operation, node: ast.AST) -> bool:
    call = operation.site.call
    return call is not None and isinstance(call.func, ast.Attribute) and call.func.value is node


def _same(one: Tensor, other: Tensor) -> bool:
    return one.is_one_with(other)


def _scales_noise(use: Operation, exponential: Operation) -> bool:
    """Whether a product has the exponential and standard normal noise as its factors."""
    if use.bare_name not in ("mul", "imul") or len(use.operands) != 2:
        return False
    others = [one for one in use.operands if one.origin is None or one.origin.site is not exponential.site]
    return any(_is_noise(one) for one in others)


def _is_noise(tensor: Tensor) -> bool:
    names = (origin.name for _, origin in steps(tensor))
    return next((name for name in names if name not in _KEEPS_NOISE), "") in _NOISE


def _sums(uses: Uses, operation: Operation) -> Iterator[Operation]:
    """The sums and differences that a tensor is a term of."""
    pending = [operation]
    for _ in range(_MAX_STEPS):
        if not pending:
            return
        found = [use for use in uses.of(pending.pop()) if use.bare_name in _SUMS]
        yield from found
        pending += found


def _has_term(total: Operation, used: Operand) -> bool:
    """Whether a sum has a tensor as a term."""
    sums = (one for part in total.operands for one in ancestry(part, _SUMS.__contains__) if one.bare_name in _SUMS)
    terms = (*total.operands, *(term for one in sums for term in one.sources))
    return any(_same(term, used.tensor) for term in terms)


RULE = Rule(FAULTS[CODE], find)
