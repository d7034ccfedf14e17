"""noise-not-normal: a latent sample whose noise is uniform, or one number for all of it.

What it finds
    `mean + noise * exp(…)` of two outputs of a model, where the noise is that of rand(), from 0 to 1, or is drawn once and
    stretched over the batch or the latent dimensions.
Why it hurts
    The divergence of a variational autoencoder supposes independent samples of a normal distribution. Uniform noise is never
    negative, and with one number for all of them, the latent space has a single direction. Nothing is raised.
Example
    noise = torch.rand_like(std)
    z = mean + noise * std
Use instead
    noise = torch.randn_like(std)
    z = mean + noise * std
Fix safety
    Safe: standard normal noise of the size of the deviation.
References
    "Auto-Encoding Variational Bayes" (Kingma and Welling), section 2.4
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.operands import Operand, made_by, operands, replaced
from torchsleuth.rules.evidence.squares import Uses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.synthesis.shapes import same
from torchsleuth.values import Tensor

CODE = "TS335"
_UNIFORM = frozenset({"rand", "rand_like"})
_NORMAL = frozenset({"randn", "randn_like"})
_EXPONENTIALS = ("exp", "exp_")
_KEEPS = frozenset("to float type_as view unsqueeze expand".split())
_SCALES = frozenset("mul clamp add to float".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    if not any(one.name in _EXPONENTIALS for one in analysis.trace.operations):
        return
    uses, seen = Uses(analysis), set[Span]()
    for product in analysis.trace.operations:
        if product.name != "mul" or len(product.operands) != 2:
            continue
        for noise, scale in (operands(product), operands(product)[::-1]):
            drawn = made_by(analysis, noise.tensor, _UNIFORM | _NORMAL, _KEEPS)
            if drawn is None or drawn.site.span in seen or not _is_deviation(analysis, scale.tensor):
                continue
            shared = not _is_whole(noise, scale)
            if (drawn.name in _UNIFORM or shared) and _shifts_mean(uses, product, scale.tensor):
                seen.add(drawn.site.span)
                yield _finding(drawn, noise, scale, product)


def _is_deviation(analysis: Analysis, scale: Tensor) -> bool:
    """Whether a model has put out the logarithm of a deviation, or of a variance."""
    return scale.spec.requires_grad is True and made_by(analysis, scale, _EXPONENTIALS, _SCALES) is not None


def _is_whole(noise: Operand, scale: Operand) -> bool:
    """Whether there is a number of its own for each of those that are scaled, as far as is known."""
    if noise.spec.shape is None or scale.spec.shape is None:
        return True
    given = (1,) * (len(scale.shape) - len(noise.shape)) + tuple(noise.shape)
    return not any(one == 1 and other != 1 and not same(one, other) for one, other in zip(given, scale.shape))


def _shifts_mean(uses: Uses, product: Operation, scale: Tensor) -> bool:
    """Whether what a model has put out is added to a product, element by element."""
    sums = [use for use in uses.of(product) if use.name == "add" and len(use.operands) == 2]
    return any(all(term.spec.requires_grad is True for term in total.operands) for total in sums) and (
        scale.spec.shape is not None
    )


def _finding(drawn: Operation, noise: Operand, scale: Operand, product: Operation) -> Finding:
    key = "noise.uniform" if drawn.name in _UNIFORM else "noise.shared"
    text = message(key, noise=noise.described("this noise"), scale=scale.described("the deviation"))
    places = (product.site.span.related(message("noise.scaled")), *call_trail(drawn.site.scene, limit=1))
    return Finding(drawn.site.span, text, places, tuple(_normal(drawn, scale)))


def _normal(drawn: Operation, scale: Operand) -> Iterator[Candidate]:
    """Normal noise of the size of the deviation."""
    call = drawn.site.call
    if call is None or not isinstance(call.func, ast.Attribute):
        return
    package = ast.unparse(call.func.value)
    if drawn.name == "rand_like":
        yield replaced(drawn.site, call.func, f"{package}.randn_like")
    elif isinstance(scale.node, ast.Name) and scale.site.scene == drawn.site.scene:
        yield replaced(drawn.site, call, f"{package}.randn_like({scale.node.id})")
    elif drawn.name == "rand":
        yield replaced(drawn.site, call.func, f"{package}.randn")


RULE = Rule(FAULTS[CODE], find)
