"""adversary-agrees: a generator that is trained to be told from what is real.

What it finds
    Two losses of a discriminator's judgement with one and the same label (ones, or zeros): one of detached samples, which
    trains the discriminator, and one of the samples with their graph, which trains the generator.
Why it hurts
    The generator is to make the discriminator err, and here both want the same: it learns to make samples that are easy to
    tell from real ones. Nothing is raised.
Example
    d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    g_loss = bce(D(fake), zeros)
Use instead
    d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    g_loss = bce(D(fake), ones)
Fix safety
    Safe: the generator gets the label of what is real.
References
    "Generative Adversarial Nets" (Goodfellow et al.), section 3
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import Operand, made_by, operand, replaced, tensors_above
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax.forms import is_attribute
from torchsleuth.values import Tensor
from torchsleuth.values.graph import cut_of

CODE = "TS340"
_LOSSES = frozenset(
    "BCELoss binary_cross_entropy BCEWithLogitsLoss binary_cross_entropy_with_logits MSELoss mse_loss".split()
)
_LABELS = {"ones": "zeros", "zeros": "ones", "ones_like": "zeros_like", "zeros_like": "ones_like"}
"""Functions that make labels of one kind, and those that make the others."""
_KEEPS = frozenset("to view squeeze unsqueeze expand requires_grad_ float".split())
_MAX_STEPS = 200


class _Judged(NamedTuple):
    """A loss of what a discriminator says of samples. `direct`: what it goes back to with a graph; `cut`: without one."""

    loss: Operation
    label: Operand
    kind: str
    direct: set[int]
    cut: set[int]


def find(analysis: Analysis) -> Iterator[Finding]:
    judged = [one for loss in analysis.trace.operations if (one := _judged(analysis, loss)) is not None]
    seen: set[Span] = set()
    for critic in judged:
        for generator in judged:
            both = generator.direct & critic.cut and generator.kind == critic.kind
            if both and not critic.direct & generator.cut and generator.loss.site.span not in seen:
                other = any(
                    one.kind != generator.kind and not one.cut and not one.direct & critic.cut for one in judged
                )
                if other:
                    seen.add(generator.loss.site.span)
                    yield _finding(analysis, critic, generator)


def _judged(analysis: Analysis, loss: Operation) -> _Judged | None:
    scores, label = (operand(loss, 0, "input"), operand(loss, 1, "target")) if loss.name in _LOSSES else (None, None)
    if scores is None or label is None:
        return None
    made = made_by(analysis, label.tensor, _LABELS, _KEEPS)
    if made is None:
        return None
    direct, cut = _behind(scores.tensor)
    return _Judged(loss, label, made.name.removesuffix("_like"), direct, cut)


def _behind(scores: Tensor) -> tuple[set[int], set[int]]:
    """The sites of all that scores are computed from, by identity: with a graph, and in front of a detach()."""
    pending, direct, cut = [scores], set[int](), set[int]()
    for _ in range(_MAX_STEPS):
        if not pending:
            break
        current = pending.pop()
        origin, ended = current.origin, cut_of(current)
        if origin is None or id(origin.site) in direct:
            continue
        if ended is not None and ended.kind == "detach":
            cut.add(id(origin.site))
            continue
        direct.add(id(origin.site))
        pending += origin.sources
    return direct, cut


def _finding(analysis: Analysis, critic: _Judged, generator: _Judged) -> Finding:
    text = message("adversary.agrees", label=generator.label.text("this label"))
    place = critic.loss.site.span.related(message("adversary.critic"))
    return Finding(generator.loss.site.span, text, (place,), tuple(_turned(analysis, generator)))


def _turned(analysis: Analysis, generator: _Judged) -> Iterator[Candidate]:
    """The labels of what is real: another tensor at hand, or the other function."""
    node, site = generator.label.node, generator.loss.site
    if isinstance(node, ast.Call) and is_attribute(node.func, *_LABELS):
        package = ast.unparse(node.func.value)
        yield replaced(site, node.func, f"{package}.{_LABELS[node.func.attr]}")
    elif isinstance(node, ast.Name):
        wanted = _LABELS[generator.kind]
        for name in tensors_above(site.scene, node):
            tensor = site.scene.names[name]
            made = made_by(analysis, tensor, _LABELS, _KEEPS) if isinstance(tensor, Tensor) else None
            if made is not None and made.name.removesuffix("_like") == wanted:
                yield replaced(site, node, name)


RULE = Rule(FAULTS[CODE], find)
