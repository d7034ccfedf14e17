"""likelihood-parameter: a likelihood gets its rate or variance in another form than it takes.

What it finds
    PoissonNLLLoss of a rate (the result of softplus or exp) where it takes the logarithm of the rate, or of the raw output
    of a layer with `log_input=False`; GaussianNLLLoss with the raw output of a layer for its variance; a distribution of
    torch.distributions whose scale, rate or concentration is the raw output of a layer, perhaps clamped between bounds of
    both signs, or a parameter filled with numbers that are not positive, such as the logarithm of a deviation.
Why it hurts
    The Poisson loss takes exp() of a rate once more, and fits another rate. A variance may not be negative: the Gaussian
    loss stops with "var has negative entry/entries" as soon as one is, and a distribution with "Expected parameter scale …
    to satisfy the constraint GreaterThan(lower_bound=0.0)".
Example
    loss = nn.GaussianNLLLoss()(mean, y, log_variance)
Use instead
    loss = nn.GaussianNLLLoss()(mean, y, log_variance.exp())
Fix safety
    Safe for the Poisson loss. Unsafe for a variance and a distribution: the layer may have been meant for the value itself
    or for its logarithm. exp() comes first where a name says that it is a logarithm, softplus() otherwise.
References
    torch.nn.PoissonNLLLoss, torch.nn.GaussianNLLLoss, torch.distributions
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.marks import KEPT_BY
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import layer_places, losses, written_call
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import operand, steps, suffixed
from torchsleuth.rules.evidence.spreads import not_positive
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import keyword_of
from torchsleuth.values import Tensor

CODE = "TS314"
_POISSON = ("torch.nn.PoissonNLLLoss", "torch.nn.functional.poisson_nll_loss")
_GAUSSIAN = ("torch.nn.GaussianNLLLoss", "torch.nn.functional.gaussian_nll_loss")
_RATES = ("softplus", "Softplus", "exp")


def find(analysis: Analysis) -> Iterator[Finding]:
    for operation, rate in losses(analysis, _POISSON):
        logarithm, made = _takes_logarithm(operation), _made_by(analysis, rate, _RATES)
        if logarithm and made is not None:
            yield _of_rate(operation, made)
        elif logarithm is False and "logits" in rate.tags:
            yield _of_logits(analysis, operation, rate)
    for operation, _ in losses(analysis, _GAUSSIAN):
        variance = operand(operation, 2, "var")
        if variance is not None and "logits" in variance.tensor.tags:
            places, layer = layer_places(analysis, variance.tensor)
            text = message("likelihood.variance", variance=variance.text("the variance"), layer=layer)
            candidates = suffixed(variance, ".exp()", safe=False)
            trail = (*places, *call_trail(operation.site.scene, limit=1))
            yield Finding(operation.site.span, text, trail, candidates)
    yield from not_positive(analysis)


def _takes_logarithm(operation: Operation) -> bool | None:
    """Whether the loss takes the logarithm of the rate, None where that is not known."""
    module = operation.module
    options, given, place = (
        (module.kwargs, module.args, 0) if module is not None else (operation.kwargs, operation.args, 2)
    )
    value = options.get("log_input", given[place] if place < len(given) else True)
    return as_kind(value, bool)


def _made_by(analysis: Analysis, tensor: Tensor, names: tuple[str, ...]) -> Operation | None:
    """The operation of one of these names whose very values a tensor holds."""
    for _, origin in steps(tensor):
        if origin.name in names:
            return analysis.operation_of(origin)
        if origin.name not in KEPT_BY:
            return None
    return None


def _of_rate(operation: Operation, made: Operation) -> Finding:
    rate, name, span = operand(operation, 0, "input"), made.name, made.site.span
    text = message(
        "likelihood.rate",
        rate=rate.text("the prediction") if rate is not None else "the prediction",
        function=name,
        loss=operation.name,
    )
    here = span.related(message("activation.here", activation=name))
    trail = (here, *call_trail(operation.site.scene, limit=1))
    return Finding(operation.site.span, text, trail, _option(operation, "log_input=False"))


def _of_logits(analysis: Analysis, operation: Operation, rate: Tensor) -> Finding:
    places, layer = layer_places(analysis, rate)
    used = operand(operation, 0, "input")
    text = message(
        "likelihood.logits",
        rate=used.text("the prediction") if used is not None else "the prediction",
        layer=layer,
        loss=operation.name,
    )
    trail = (*places, *call_trail(operation.site.scene, limit=1))
    return Finding(operation.site.span, text, trail, _without_option(operation))


def _option(operation: Operation, text: str) -> Iterator[Candidate]:
    site = written_call(operation)
    if site is None or site.call is None:
        return
    call, source = site.call, site.source
    name, _, value = text.partition("=")
    if keyword_of(call, name) is not None or len(call.args) <= (0 if operation.module is not None else 2):
        yield Candidate(message("fix.insert", text=text), (edits.set_keyword(source, call, name, value),))


def _without_option(operation: Operation) -> Iterator[Candidate]:
    site = written_call(operation)
    for keyword in site.call.keywords if site is not None and site.call is not None else ():
        if keyword.arg == "log_input" and site is not None and site.call is not None:
            edit = edits.remove_keyword(site.source, site.call, keyword)
            yield Candidate(message("fix.remove", text="log_input=False"), (edit,))


RULE = Rule(FAULTS[CODE], find)
