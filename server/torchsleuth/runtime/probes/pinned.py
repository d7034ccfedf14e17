"""Holds batches still that a script takes out of tensors or arrays by itself, as in ``x[i : i + size]``.

What is indexed in the user's code, has no gradient, and belongs to a tensor that stays from step to step, is a part of a batch.
Once a step has been trained, the same place gives what it gave in that step; random numbers repeat from the second step on.
"""

from __future__ import annotations

import ast
import os
import random
import sys
from typing import Any

from torchsleuth.runtime.probes.desk import Desk
from torchsleuth.runtime.rewrite import Span, span_of
from torchsleuth.runtime.values import evaluate

MAX_ELEMENTS = 50_000_000
"""Of one part of a batch."""
MAX_TIMES = 4096
"""Times that one place may give a part of the same batch."""


class Pinned:
    """The batch of the first step, by the places where its parts are taken."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._torch: Any = None
        self._nodes: dict[int, ast.Subscript | None] = {}
        self._trees: dict[str, dict[Span, ast.Subscript]] = {}
        self._seen: dict[int, list[tuple[Any, Any]]] = {}
        """The indexed tensor and the result, in the first step."""
        self._times: dict[int, int] = {}
        """How often each place was evaluated in the step that goes on."""
        self._first = True
        self._random: list[Any] | None = None
        self._input: tuple[int, int] | None = None
        self._asked = False
        self.same = False
        """Whether the first tensor that a module gets is the same one in each step."""

    @property
    def count(self) -> int:
        """Places that are held still."""
        return len(self._seen)

    def install(self, torch: Any) -> None:
        self._torch = torch
        self._desk.record(self._record)
        torch.nn.modules.module.register_module_forward_pre_hook(self._called)

    def trained(self) -> None:
        """A step has been made."""
        self._first = self._asked = False
        self._times.clear()
        if self._random is None:
            self._random = [self._torch.get_rng_state(), random.getstate()]
            if "numpy" in sys.modules:
                self._random.append(sys.modules["numpy"].random.get_state())
            return
        self._torch.set_rng_state(self._random[0])
        random.setstate(self._random[1])
        if len(self._random) > 2:
            sys.modules["numpy"].random.set_state(self._random[2])

    def _called(self, module: Any, given: Any) -> None:
        if self._asked or not self._torch.is_grad_enabled() or not given:
            return
        self._asked = True
        value = given[0]
        if type(value) is self._torch.Tensor:
            now = (id(value), value._version)
            self.same = self._input == now
            self._input = now

    def _record(self, site: int, value: Any) -> Any:
        if not self._is_data(value) or not self._torch.is_grad_enabled() or os.getpid() != self._desk.process:
            return value
        node = self._node(site)
        if node is None:
            return value
        known, data = evaluate(node.value, sys._getframe(1))
        if not known or not self._is_data(data):
            return value
        if (value.numel() if hasattr(value, "numel") else value.size) > MAX_ELEMENTS:
            return value
        times = self._times[site] = self._times.get(site, -1) + 1
        held = self._seen.setdefault(site, []) if self._first else self._seen.get(site, [])
        if self._first:
            if times < MAX_TIMES:
                held.append((data, _copy(value)))
            return value
        return _copy(held[times][1]) if times < len(held) and held[times][0] is data else value

    def _is_data(self, value: Any) -> bool:
        if type(value) is self._torch.Tensor:
            return not value.requires_grad
        return type(value).__name__ in ("ndarray", "memmap")

    def _node(self, site: int) -> ast.Subscript | None:
        """The indexing at a place."""
        if site not in self._nodes:
            where = self._desk.sites[site]
            if where.path not in self._trees:
                self._trees[where.path] = _indexings(self._desk.texts.get(where.path, b""))
            self._nodes[site] = self._trees[where.path].get(where.span)
        return self._nodes[site]


def _copy(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


def _indexings(text: bytes) -> dict[Span, ast.Subscript]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    return {span_of(node): node for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
