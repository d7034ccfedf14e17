"""target-with-gradient: a value that is to be learned towards, and that is trained to come to the other side, too.

What it finds
    A distance between what a network gives and `reward + gamma * network(next_state)`, where gradients go into both. The
    advantage that log-probabilities are multiplied with, where its gradient goes into the values that it was computed from.
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

import ast
import re
from collections.abc import Iterable, Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import appended, behind, operand, recorded, suffixed
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import is_binary
from torchsleuth.values import UNKNOWN, LibraryModule, Site, Tensor, is_unknown
from torchsleuth.values.graph import PRODUCTS, GraphNode, node_of

CODE = "TS416"
_SHOWN = 3
"""Places where a target was computed that are shown."""
_DISTANCES = frozenset("mse_loss MSELoss smooth_l1_loss SmoothL1Loss huber_loss HuberLoss l1_loss L1Loss".split())
_SQUARES = frozenset({"pow", "square"})
_RESHAPES = frozenset("view reshape squeeze unsqueeze flatten ravel sum mean neg stack cat concat getitem".split())
_OF_RATIOS = frozenset("exp sub".split())
"""What a ratio of probabilities is computed by from their logarithms."""
_DISCOUNT = re.compile("gamma|discount")
_SUMS = frozenset({"add", "sub", "radd", "rsub"})


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _targets(analysis)
    yield from _advantages(analysis)


# -- bootstrapped targets --------------------------------------------------------------------------


def _targets(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for loss in analysis.trace.operations:
        if loss.name not in _DISTANCES or loss.site.span in seen:
            continue
        scores, target = operand(loss, 0, "input"), operand(loss, 1, "target")
        if scores is None or target is None or not (target.spec.requires_grad and scores.spec.requires_grad):
            continue
        behind, made = _members(target.tensor), _members(scores.tensor)
        if not _modules(behind) & _modules(made) or any(_discounts(analysis, one) for one in made):
            continue
        if any(_discounts(analysis, one) for one in behind) and any(map(_adds, behind)):
            seen.add(loss.site.span)
            text = message("target.gradient", target=target.text("the target"))
            asked = [one.site.span for one in behind if one.module is not None or _discounts(analysis, one)]
            spans = {span.start.line: span for span in asked if span.path == loss.site.span.path}
            places = tuple(span.related(message("target.gradient.made")) for _, span in sorted(spans.items())[:_SHOWN])
            yield Finding(loss.site.span, text, places, tuple(suffixed(target, ".detach()", safe=False)))


def _members(tensor: Tensor) -> frozenset[GraphNode]:
    node = node_of(tensor)
    return frozenset() if node is None else node.members


def _modules(nodes: Iterable[GraphNode]) -> set[int]:
    return {id(node.module) for node in nodes if node.module is not None}


def _discounts(analysis: Analysis, node: GraphNode) -> bool:
    """Whether it multiplies with a number that is a little less than 1, or with something unknown that is named like one."""
    if node.operator not in PRODUCTS:
        return False
    operation = analysis.operation_of(node)
    args = operation.args if operation is not None else (UNKNOWN,)
    named = any(map(is_unknown, args)) and _DISCOUNT.search(ast.unparse(node.site.node)) is not None
    return named or any(0.5 <= one < 1 for one in of_kind(args, float))


def _adds(node: GraphNode) -> bool:
    """Whether something without a gradient is added: the reward."""
    return node.operator in _SUMS and len(node.inputs) == 1


# -- advantages ------------------------------------------------------------------------------------


def _advantages(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    errors = [one for one in analysis.trace.operations if one.name in _DISTANCES | _SQUARES]
    learned = {id(layer) for error in errors for tensor in error.tensors for layer, _ in _layers(analysis, tensor)}
    for product in analysis.trace.operations if learned else ():
        used = _advantage(analysis, product) if product.site.span not in seen else None
        if used is not None and id(used[1]) in learned:
            seen.add(product.site.span)
            factor, _, made = used
            text = message("advantage.gradient", advantage=product.site.source.on_one_line(factor))
            places = (made.span.related(message("advantage.values")),)
            yield Finding(product.site.span, text, places, (appended(product.site, factor, ".detach()"),))


def _advantage(analysis: Analysis, product: Operation) -> tuple[ast.expr, LibraryModule, Site] | None:
    """The factor of ``log_prob * (returns - values)`` that is an advantage, and the layer that gave the values, with its call."""
    node = product.site.node
    if not isinstance(node, ast.BinOp) or not is_binary(node, ast.Mult) or len(product.tensors) != 2:
        return None
    one, other = product.tensors
    for factor, policy, advantage in ((node.right, one, other), (node.left, other, one)):
        chosen = behind(analysis, policy, _RESHAPES | _OF_RATIOS).origin
        if chosen is None or chosen.name != "log_prob" or not policy.spec.requires_grad:
            continue
        layer = next(_layers(analysis, advantage), None)
        if layer is not None and _differs(advantage):
            return factor, *layer
    return None


def _layers(analysis: Analysis, tensor: Tensor) -> Iterator[tuple[LibraryModule, Site]]:
    """The layers with something to train that a tensor comes from with its graph, and their calls."""
    for part in recorded(tensor):
        yield from ((node.module, node.site) for node in _members(part) if node.module is not None)
        made = analysis.operation_of(part.origin)
        if made is not None and made.module is not None and made.module.requires_grad:
            yield made.module, made.site


def _differs(tensor: Tensor) -> bool:
    """Whether it was computed by a subtraction."""
    return any(node.operator == "sub" for part in recorded(tensor) for node in _members(part))


RULE = Rule(FAULTS[CODE], find)
