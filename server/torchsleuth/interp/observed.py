"""Tensors that a run has seen, in the place of what the text does not tell: from files, configurations, command lines, callers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from torchsleuth.schema import Json, Position, TensorFact
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import Tensor, Value, is_unknown
from torchsleuth.values.frames import Frame

Place = tuple[str, Position, Position]


class Observations:
    """The observed facts by the places of their expressions, and of the names that these bind."""

    def __init__(self, facts: Iterable[TensorFact] = ()) -> None:
        self._facts: dict[Place, TensorFact] = {(fact.path, fact.start, fact.end): fact for fact in facts}
        self._paths = frozenset(path for path, _, _ in self._facts)

    @classmethod
    def from_json(cls, facts: Iterable[Json]) -> Observations:
        """Those of facts as `TensorFact.to_json` gives them."""
        return cls(
            TensorFact(
                fact["path"],
                Position(**fact["start"]),
                Position(**fact["end"]),
                fact["expression"],
                tuple(fact["shape"]),
                fact["dtype"],
                fact["device"],
                fact["requires_grad"],
                layer="run",
                later=tuple(fact["later"]) if fact.get("later") is not None else None,
            )
            for fact in facts
        )

    def __bool__(self) -> bool:
        return bool(self._facts)

    def instead(self, value: Value, node: ast.AST, frame: Frame, fresh: Callable[[], Size]) -> Value:
        """The tensor that was seen at a node, where its value or its shape is unknown; else the value. `fresh` gives the sizes that
        were different ones."""
        if frame.path not in self._paths or not (
            is_unknown(value) or (isinstance(value, Tensor) and value.spec.shape is None)
        ):
            return value
        span = frame.source.span(node)
        fact = self._facts.get((frame.path, span.start, span.end))
        spec = _spec(fact, fresh) if fact is not None else None
        return Tensor(spec) if spec is not None else value


def _spec(fact: TensorFact, fresh: Callable[[], Size]) -> TensorSpec | None:
    """None where the executions had different ranks."""
    first, later = fact.shape, fact.later if fact.later is not None else fact.shape
    if first is None or later is None or len(first) != len(later):
        return None
    sizes = tuple(one if isinstance(one, int) and one == other else fresh() for one, other in zip(first, later))
    return TensorSpec(sizes, fact.dtype, _device(fact.device), fact.requires_grad)


def _device(text: str | None) -> Device | None:
    if text is None:
        return None
    kind, _, index = text.partition(":")
    return Device(kind, int(index) if index.isdigit() else None)
