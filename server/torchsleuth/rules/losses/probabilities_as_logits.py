"""probabilities-as-logits: what went through softmax or sigmoid, given to a distribution as its logits.

What it finds
    `Categorical(logits=...)` and its like with values that are probabilities: the network ends in a softmax or a sigmoid. The
    same for gumbel_softmax().
Why it hurts
    The distribution applies softmax itself. Of probabilities between 0 and 1 that makes nearly the same chance for each choice:
    with three actions, none gets more than 0.58, whatever is learned. Nothing is raised.
Example
    policy = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))
    dist = Categorical(logits=policy(obs))
Use instead
    policy = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=-1))
    dist = Categorical(probs=policy(obs))
Fix safety
    Safe: the probabilities are those of the network then.
References
    torch.distributions.Categorical, torch.nn.functional.gumbel_softmax
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import applied, losses, removals
from torchsleuth.rules.evidence.describe import expression_text, operand_node
from torchsleuth.rules.evidence.operands import short
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import keyword_of
from torchsleuth.values import Tensor

CODE = "TS351"
_SQUASHED = {
    **dict.fromkeys(("Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough"), "softmax"),
    **dict.fromkeys(("Bernoulli", "RelaxedBernoulli", "ContinuousBernoulli"), "sigmoid"),
}
"""Distributions with `logits`, and what they apply to them."""
_MADE_BY = {"softmax": ("softmax", "Softmax"), "sigmoid": ("sigmoid", "Sigmoid")}
_GUMBEL = ("torch.nn.functional.gumbel_softmax",)


def find(analysis: Analysis) -> Iterator[Finding]:
    for name, squashing in _SQUASHED.items():
        for call in analysis.calls_at_places(f"torch.distributions.{name}", f".{name.lower()}.{name}"):
            given = as_kind(call.kwargs.get("logits"), Tensor)
            if given is not None and squashing in given.tags:
                yield _finding(analysis, call, given, squashing)
    for operation, scores in losses(analysis, _GUMBEL):
        softmax = applied(analysis, scores, _MADE_BY["softmax"]) if "softmax" in scores.tags else None
        if softmax is not None:
            tensor = expression_text(operand_node(operation, 0), "the input")
            text = message("logits.squashed", tensor=tensor, squashing="softmax", taker=operation.name)
            places = (softmax.site.span.related(message("softmax.here", softmax="softmax")),)
            yield Finding(operation.site.span, text, places, removals(analysis, softmax, "softmax"))


def _finding(analysis: Analysis, call: LibraryCall, given: Tensor, squashing: str) -> Finding:
    squashed = applied(analysis, given, _MADE_BY[squashing])
    places = () if squashed is None else (squashed.site.span.related(message("softmax.here", softmax=squashing)),)
    source, keyword = call.site.source, keyword_of(call.site.call, "logits") if call.site.call is not None else None
    fixes: list[Candidate] = []
    shown = "the input"
    if keyword is not None:
        shown, text = f"`{short(source.segment(keyword.value))}`", source.segment(keyword)
        changed = text.replace("logits", "probs", 1)
        title = message("fix.replace", old=short(text), new=short(changed))
        fixes = [Candidate(title, (edits.replace(source, keyword, changed),))]
    return Finding(
        call.site.span,
        message("logits.squashed", tensor=shown, squashing=squashing, taker=call.name),
        places,
        fixes,
    )


RULE = Rule(FAULTS[CODE], find)
