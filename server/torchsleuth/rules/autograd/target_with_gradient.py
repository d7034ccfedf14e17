"""target-with-gradient: a value that is to be learned towards, and that is trained to come to the other side, too.

What it finds
    A distance between what a network gives and `reward + gamma * network(next_state)`, where gradients go into both.
Why it hurts
    The value of the next state is a target: it says where the other one should go. With its gradient it is moved towards the
    first one at the same time, and the values become a compromise that is not that of the rewards.
Example
    target = reward + 0.99 * q(next_state).max(1).values
    loss = F.mse_loss(q(state).gather(1, action), target)
Use instead
    with torch.no_grad():
        target = reward + 0.99 * q(next_state).max(1).values
    loss = F.mse_loss(q(state).gather(1, action), target)
Fix safety
    Unsafe: residual gradient methods train both sides on purpose.
References
    "Reinforcement Learning (DQN) Tutorial" in the PyTorch tutorials
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import ancestry, operand, suffixed
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.values import Tensor
from torchsleuth.values.graph import PRODUCTS

CODE = "TS416"
_DISTANCES = frozenset("mse_loss MSELoss smooth_l1_loss SmoothL1Loss huber_loss HuberLoss l1_loss L1Loss".split())
_SUMS = frozenset({"add", "sub", "radd", "rsub"})


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for loss in analysis.trace.operations:
        if loss.name not in _DISTANCES or loss.site.span in seen:
            continue
        scores, target = operand(loss, 0, "input"), operand(loss, 1, "target")
        if scores is None or target is None or not (target.spec.requires_grad and scores.spec.requires_grad):
            continue
        behind, made = _behind(analysis, target.tensor), _behind(analysis, scores.tensor)
        both = {id(one.module) for one in behind if one.module} & {id(one.module) for one in made if one.module}
        if both and any(map(_discounts, behind)) and not any(map(_discounts, made)) and _adds(behind):
            seen.add(loss.site.span)
            text = message("target.gradient", target=target.text("the target"))
            yield Finding(loss.site.span, text, (), tuple(suffixed(target, ".detach()", safe=False)))


def _behind(analysis: Analysis, tensor: Tensor) -> list[Operation]:
    """The operations that a tensor is computed by."""
    found = [analysis.operation_of(origin) for origin in ancestry(tensor)]
    return [one for one in found if one is not None]


def _discounts(operation: Operation) -> bool:
    """Whether it multiplies with a number that is a little less than 1."""
    numbers = of_kind(operation.args, float)
    return operation.bare_name in PRODUCTS and any(0.5 <= one < 1 for one in numbers)


def _adds(operations: list[Operation]) -> bool:
    """Whether something without a gradient is added: the reward."""
    return any(
        one.bare_name in _SUMS and any(not spec.requires_grad for spec in one.specs) and len(one.specs) == 2
        for one in operations
    )


RULE = Rule(FAULTS[CODE], find)
