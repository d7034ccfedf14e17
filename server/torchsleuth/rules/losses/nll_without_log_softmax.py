"""nll-without-log-softmax: a negative log likelihood of values that are not log probabilities.

What it finds
    NLLLoss or F.nll_loss of the raw output of a layer, or of softmax probabilities; KLDivLoss, CTCLoss and their functions
    with either in the place of the prediction, whose logarithm they want. KLDivLoss with log probabilities for its target, but
    without `log_target`, with probabilities and `log_target`, or with the raw output of a layer for its target.
Why it hurts
    The loss only picks the entry of the true class and changes its sign. On raw scores it falls without a bound, on
    probabilities it is not a likelihood; either way, the model does not learn what it should, and no error is raised.
Example
    loss = F.nll_loss(model(x), y)
Use instead
    loss = F.cross_entropy(model(x), y)
Fix safety
    Safe: cross_entropy is log_softmax and nll_loss in one; kl_div takes the logarithm of the prediction.
References
    torch.nn.NLLLoss, torch.nn.CrossEntropyLoss, torch.nn.LogSoftmax
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.marks import ACTIVATIONS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import applied, layer_places, losses, renamed, written_call
from torchsleuth.rules.evidence.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.evidence.operands import operand, suffixed
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind
from torchsleuth.values import Tensor

CODE = "TS305"
_LOSSES = ("torch.nn.NLLLoss", "torch.nn.functional.nll_loss", "torch.nn.NLLLoss2d")
_DIVERGENCES = ("torch.nn.KLDivLoss", "torch.nn.functional.kl_div")
_SEQUENCES = ("torch.nn.CTCLoss", "torch.nn.functional.ctc_loss")
_WHOLE = {"NLLLoss": "CrossEntropyLoss", "nll_loss": "cross_entropy", "NLLLoss2d": "CrossEntropyLoss"}
_LOGARITHM = {"softmax": "log_softmax", "Softmax": "LogSoftmax"}


def find(analysis: Analysis) -> Iterator[Finding]:
    for operation, scores in losses(analysis, _LOSSES):
        if scores.tags & {"logits", "activation"}:
            yield _of_scores(analysis, operation, scores)
        elif "softmax" in scores.tags:
            yield _of_probabilities(analysis, operation, scores)
    for operation, _ in losses(analysis, _DIVERGENCES):
        yield from _of_target(analysis, operation)
    for operation, scores in losses(analysis, _DIVERGENCES + _SEQUENCES):
        if scores.tags & {"logits", "activation"}:
            yield _of_scores(analysis, operation, scores)
        elif "softmax" in scores.tags:
            yield _of_probabilities(analysis, operation, scores)


def _of_target(analysis: Analysis, operation: Operation) -> Iterator[Finding]:
    """The target of the divergence: probabilities, or, with `log_target`, their logarithm."""
    target = operand(operation, 1, "target")
    options = operation.kwargs if operation.module is None else operation.module.kwargs
    log = as_kind(options.get("log_target", False), bool)
    if target is None or log is None:
        return
    name, text = operation.name, target.described("the target")
    fixes: list[Candidate] = []
    if "log_softmax" in target.tensor.tags and not log:
        made = operation.site if operation.module is None else operation.module.site
        if made is not None and made.call is not None:
            fixes.append(added_argument(made.source, made.call, "log_target=True"))
        yield Finding(operation.site.span, message("nll.target.log", target=text, loss=name), (), fixes)
    elif "softmax" in target.tensor.tags and log:
        yield Finding(operation.site.span, message("nll.target.plain", target=text, loss=name), ())
    elif "logits" in target.tensor.tags:
        places, layer = layer_places(analysis, target.tensor)
        suffix = ".log_softmax(dim=-1)" if log else ".softmax(dim=-1)"
        said = message("nll.target.logits", target=text, layer=layer, loss=name)
        yield Finding(operation.site.span, said, tuple(places), suffixed(target, suffix))


def _of_scores(analysis: Analysis, operation: Operation, scores: Tensor) -> Finding:
    activation = applied(analysis, scores, tuple(ACTIVATIONS)) if "activation" in scores.tags else None
    places, layer = layer_places(analysis, scores)
    places += call_trail(operation.site.scene, limit=1)
    name = operation.name
    whole = _WHOLE.get(name, "log_softmax")
    tensor = expression_text(operand_node(operation, 0), "the input")
    fixes = _normalised(operation, name)
    if activation is None:
        text = message("nll.logits", tensor=tensor, layer=layer, loss=name, whole=whole)
    else:
        text = message("nll.activation", tensor=tensor, activation=activation.name, loss=name, whole=whole)
    return Finding(operation.site.span, text, tuple(places), fixes)


def _normalised(operation: Operation, name: str) -> Iterator[Candidate]:
    """The loss that takes the raw scores, where there is one; else their log_softmax over the classes, the last dimension."""
    if name in _WHOLE:
        site = written_call(operation)
        edit = renamed(site, _WHOLE[name]) if site is not None else None
        if edit is not None:
            yield Candidate(message("fix.replace", old=name, new=_WHOLE[name]), (edit,))
        return
    scores = operand(operation, 0, "input", "log_probs")
    if scores is not None:
        yield from suffixed(scores, ".log_softmax(dim=-1)")


def _of_probabilities(analysis: Analysis, operation: Operation, scores: Tensor) -> Finding:
    places: list[Related] = []
    fixes: list[Candidate] = []
    softmax = applied(analysis, scores, tuple(_LOGARITHM))
    if softmax is not None:
        span = softmax.site.span
        places.append(span.related(message("softmax.here", softmax="softmax")))
        old, site = softmax.name, written_call(softmax)
        edit = renamed(site, _LOGARITHM[old]) if site is not None and old in _LOGARITHM else None
        if edit is not None:
            fixes.append(Candidate(message("fix.replace", old=old, new=_LOGARITHM[old]), (edit,)))
    places += call_trail(operation.site.scene, limit=1)
    tensor = expression_text(operand_node(operation, 0), "the input")
    text = message("nll.probabilities", tensor=tensor, loss=operation.name)
    return Finding(operation.site.span, text, tuple(places), tuple(fixes))


RULE = Rule(FAULTS[CODE], find)
