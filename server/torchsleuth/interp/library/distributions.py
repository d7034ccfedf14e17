"""torch.distributions: samples, probabilities and statistics of a distribution are what torch makes of its parameters."""

from __future__ import annotations

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.values import LibraryObject, Tensor, Value
from torchsleuth.values.frames import Frame

PREFIX = "torch.distributions."
_STATISTICS = frozenset("mean variance stddev mode probs logits loc scale batch_shape event_shape total_count".split())


def is_distribution(value: Value) -> bool:
    return isinstance(value, LibraryObject) and value.path.startswith(PREFIX)


def construct(interp: Interpreter, path: str, call: Arguments) -> LibraryObject:
    return LibraryObject(path, call.args, call.kwargs, interp.site(call.node, call.frame))


def attribute(interp: Interpreter, owner: LibraryObject, name: str, node: object, frame: Frame) -> Value | None:
    """A statistic such as ``mean``; None for a method."""
    if name not in _STATISTICS:
        return None
    return interp.operate(f"{owner.path}.{name}", (owner,), {}, node, frame)  # type: ignore[arg-type]


def method(interp: Interpreter, receiver: LibraryObject, name: str, call: Arguments) -> Value:
    value = interp.operate(f"{receiver.path}.{name}", (receiver, *call.args), call.kwargs, call.node, call.frame)
    if isinstance(value, Tensor) and name == "log_prob" and value.spec.requires_grad is None:
        interp.escape(call.args)
    return value
