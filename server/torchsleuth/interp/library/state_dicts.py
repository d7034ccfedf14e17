"""The result of ``state_dict()``: the parameters of a module as they are, by name."""

from __future__ import annotations

import ast

from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.iteration import Iteration
from torchsleuth.interp.library import containers, dictionaries, parameters
from torchsleuth.interp.library.dictionaries import DictMethods
from torchsleuth.interp.library.hierarchy import STATE
from torchsleuth.interp.models import Result, models
from torchsleuth.values import UNKNOWN, Value
from torchsleuth.values.frames import Frame

_CHANGING = frozenset({"pop", "popitem", "update", "clear", "setdefault", "move_to_end"})
"""Methods of a dict that change it."""


@models(STATE)
class StateDict(Result):
    """The dict. Its entries are made when they are asked for."""

    def run(self, call: Arguments) -> Value:
        held = parameters.entries(self.interp, self.value, self.name in _CHANGING)
        return UNKNOWN if held is None else containers.call_method(self.interp, held, self.name, call, DictMethods)

    def lacks(self) -> bool:
        """Whether this is a part of the module: ``model.state_dict().fc1``."""
        return self.name in (key.partition(".")[0] for key in parameters.keys(self.interp, self.value))

    def iterate(self, node: ast.AST, frame: Frame) -> Iteration:
        held = parameters.entries(self.interp, self.value)
        return super().iterate(node, frame) if held is None else dictionaries.iteration(held)

    def item(self, key: Value, node: ast.AST, frame: Frame) -> Value:
        held = parameters.entries(self.interp, self.value) if isinstance(key, str) else None
        if held is None or held.items is None:
            return UNKNOWN
        misuse.lacks_entry(self.interp, held, key, node, frame)
        return held.items.get(key, UNKNOWN)
