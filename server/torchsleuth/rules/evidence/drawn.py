"""Samples that a loss is computed from, drawn without a gradient: what TS407 says of distributions."""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.values import LibraryObject, Site, Tensor, Value
from torchsleuth.values.graph import node_of

_DISTRIBUTIONS = "torch.distributions."
_REPARAMETRIZED = frozenset(
    "Normal LogNormal MultivariateNormal LowRankMultivariateNormal Laplace Cauchy Gumbel StudentT Gamma Beta Dirichlet "
    "RelaxedBernoulli RelaxedOneHotCategorical LogisticNormal Kumaraswamy".split()
)
"""Distributions that have rsample()."""


def drawn(analysis: Analysis) -> Iterator[Finding]:
    """Samples of a distribution that a network has computed, and that a loss is computed from, though sample() has no
    gradient. Where probabilities of samples are asked for, or gradients are cut on purpose, it is meant so."""
    calls = [call for call in analysis.trace.calls if call.path.startswith(_DISTRIBUTIONS)]
    names = {call.name for call in calls}
    if "sample" not in names or names & {"log_prob", "rsample"}:
        return
    seen: set[Span] = set()
    for call in calls:
        base = _base(call.receiver)
        if base is None or base.type_name not in _REPARAMETRIZED:
            continue
        if call.name != "sample" or call.grad is not True or call.site.span in seen:
            continue
        nodes = [node_of(part) for part in of_kind((*base.args, *base.kwargs.values()), Tensor)]
        reached = {one for node in nodes if node is not None for one in node.reached[0]}
        backward = _trained_on(analysis, call.result, reached) if isinstance(call.result, Tensor) else None
        if backward is None:
            continue
        seen.add(call.site.span)
        source = call.site.source
        text = message("grad.sampled", text=source.segment(call.site.node), distribution=f"the {base.type_name}")
        fixes: list[Candidate] = []
        if is_method_call(call.site.node):
            function = call.site.node.func
            new = f"{edits.owner(source, function)}.rsample"
            title = message("fix.replace", old="sample", new="rsample")
            fixes.append(Candidate(title, (edits.replace(source, function, new),)))
        places = (backward.span.related(message("grad.backward")),)
        yield Finding(call.site.span, text, places, tuple(fixes))


def _base(distribution: Value) -> LibraryObject | None:
    """A distribution, or the one whose dimensions it takes for those of one event."""
    while isinstance(distribution, LibraryObject) and distribution.type_name == "Independent":
        distribution = distribution.given(0, "base_distribution")
    return as_kind(distribution, LibraryObject)


def _trained_on(analysis: Analysis, sample: Tensor, reached: set[int]) -> Site | None:
    """A backward() from a loss that was computed from a sample by a network, before a step of an optimizer that trains what
    the distribution was computed with."""
    for event in analysis.events("backward"):
        steps = [step for step in analysis.events("step") if step.index > event.index]
        trained = {id(part) for step in steps[:1] for part in trained_parts(step.subject)} if steps else set()
        pending, seen = [event.tensor], set[int]()
        if not trained & reached:
            continue
        while pending:
            tensor = pending.pop()
            if tensor is sample:
                return event.site
            if tensor is not None and id(tensor) not in seen and tensor.origin is not None:
                seen.add(id(tensor))
                pending.extend(tensor.origin.sources)
    return None
