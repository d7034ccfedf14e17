"""divergence-outweighs: a divergence that is summed, beside a reconstruction that is averaged.

What it finds
    A variational autoencoder whose reconstruction loss is the mean over all elements of an image or another large sample, while the
    divergence is the sum over the dimensions of its code, both with weight 1.
Why it hurts
    The bound that is maximised sums both. Here, the divergence counts as many times too much as a sample has elements: it goes to
    zero, the code says nothing about the input, and each output is the mean of the data. Nothing is raised.
Example
    rec = F.binary_cross_entropy_with_logits(logits, x)          # (64, 784)
    kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    loss = rec + kld
Use instead
    rec = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.size(0)
Fix safety
    Unsafe: the loss has another scale then. Where the weight is meant, write it: `loss = rec + 0.005 * kld`.
References
    Kingma and Welling, "Auto-Encoding Variational Bayes", section 3
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Event, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import operands
from torchsleuth.rules.evidence.terms import REDUCING, Term, terms_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import all_are, only
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_reference, keyword_of

CODE = "TS349"
_RECONSTRUCTIONS = frozenset(
    "mse_loss MSELoss l1_loss L1Loss smooth_l1_loss SmoothL1Loss binary_cross_entropy BCELoss "
    "binary_cross_entropy_with_logits BCEWithLogitsLoss".split()
)
_SQUARES = frozenset("pow square mul".split())
_LEAST = 32
"""Elements of a sample from which on the divergence outweighs all else."""


def find(analysis: Analysis) -> Iterator[Finding]:
    found: dict[Span, tuple[Operation, int] | None] = {}
    for event in analysis.events("backward"):
        outweighed = _outweighed(analysis, event)
        before = found.get(event.site.span, outweighed)
        same = before is not None and outweighed is not None and before[1] == outweighed[1]
        found[event.site.span] = outweighed if same else None  # A weight may grow from step to step.
    places = {one[0].site.span: one for one in found.values() if one is not None}
    for operation, count in places.values():
        text = message("divergence.outweighs", count=count)
        yield Finding(operation.site.span, text, (), tuple(_summed(operation)))


def _outweighed(analysis: Analysis, backward: Event) -> tuple[Operation, int] | None:
    """The reconstruction in a loss of two terms, averaged over the elements of a sample, and how many these are; where the other one is
    a divergence that is summed."""
    terms = terms_of(analysis, backward) or []
    averaged = [term for term in terms if term.operation is not None and term.operation.name in _RECONSTRUCTIONS]
    reconstruction = only(averaged)
    if reconstruction is None or reconstruction.operation is None or reconstruction.factor != 1:
        return None
    operation = reconstruction.operation
    others = [term for term in terms if term is not reconstruction]
    shape = operation.specs[0].shape if operation.specs else None
    if reconstruction.reductions or not _is_mean(operation) or not shape or not all_are(shape[1:], int):
        return None
    count = prod(size for size in shape[1:] if isinstance(size, int))
    batch = shape[0] if isinstance(shape[0], int) else None
    is_unit = _divergence(others) in ((1.0,) if batch is None else (1.0, 1.0 / batch))
    return (operation, count) if count >= _LEAST and is_unit else None


def _is_mean(loss: Operation) -> bool:
    """Whether a loss is the mean of all elements, each of which counts the same."""
    given = loss.module.kwargs if loss.module is not None else loss.kwargs
    arguments = len(loss.module.args) if loss.module is not None else len(loss.args) - 2
    plain = not arguments and not given.keys() - {"input", "target", "reduction"}
    return plain and given.get("reduction", "mean") == "mean"


def _divergence(terms: list[Term]) -> float | None:
    """The weight of a divergence from the standard normal distribution that is summed over the dimensions of the code, which these
    terms make; None of others."""
    only_one = only(terms)
    if only_one is not None and only_one.operation is not None and only_one.operation.name == "kl_divergence":
        shape = only_one.part.tensor.spec.shape
        summed = _is_summed(only_one) or (shape is not None and len(shape) == 1)
        return only_one.factor if summed else None
    weights = {
        "exp": [term for term in terms if _name(term) == "exp"],
        "square": [term for term in terms if _name(term) in _SQUARES],
        "plain": [term for term in terms if _name(term) not in _SQUARES | {"exp"}],
    }
    variance, mean, logarithm = (only(one) for one in weights.values())
    if variance is None or mean is None or logarithm is None or None in (variance.factor, logarithm.factor):
        return None
    alike = variance.factor == mean.factor == -(logarithm.factor or 0) and variance.reductions == mean.reductions
    of_one = variance.operation is not None and logarithm.part.tensor in variance.operation.operands
    summed = alike and of_one and all(map(_is_summed, terms))
    return 2 * (variance.factor or 0) if summed else None


def _name(term: Term) -> str:
    return term.operation.bare_name if term.operation is not None else ""


def _is_summed(term: Term) -> bool:
    """Whether all but the first dimension are summed: ``.sum(1).mean()``, ``.sum()``, ``.mean(0).sum()``."""
    kinds = [(one.bare_name, one.given(1, "dim")) for one in reversed(term.reductions) if one.bare_name in REDUCING]
    if not kinds or kinds[0][0] == "mean":
        return len(kinds) > 1 and kinds[0][1] == 0 and kinds[1][0] == "sum"
    dims = kinds[0][1]
    shape = term.part.tensor.spec.shape
    whole = dims is None or dims in (-1, (-1,), [1], (1,), 1)
    return whole and shape is not None and (len(shape) == 2 or dims is None)


def _summed(loss: Operation) -> Iterator[Candidate]:
    """The sum of each sample, averaged over the batch."""
    call, source = loss.site.call, loss.site.source
    target = operands(loss)[1].node if len(operands(loss)) > 1 else None
    if call is None or loss.module is not None or target is None or not is_reference(target):
        return
    if keyword_of(call, "reduction") is None:
        suffix = f" / {source.segment(target)}.size(0)"
        changes = (edits.add_argument(source, call, 'reduction="sum"'), edits.insert_after_node(source, call, suffix))
        title = message("fix.replace", old=source.on_one_line(call), new=f'… reduction="sum"){suffix}')
        yield Candidate(title, changes, safe=False)


RULE = Rule(FAULTS[CODE], find)
