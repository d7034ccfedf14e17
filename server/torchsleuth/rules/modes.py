"""Which layers compute something else in training than in evaluation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.interp.library.modules import descendants
from torchsleuth.interp.values import Instance, LibraryModule, Site, Value
from torchsleuth.rules.rule import Analysis

_SWITCHED = frozenset(
    "Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout BatchNorm1d BatchNorm2d BatchNorm3d "
    "SyncBatchNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d RReLU".split()
)
_DROPOUT_INSIDE = {
    "TransformerEncoderLayer": (3, 0.1),
    "TransformerDecoderLayer": (3, 0.1),
    "Transformer": (5, 0.1),
    "MultiheadAttention": (2, 0.0),
    "RNN": (5, 0.0),
    "LSTM": (5, 0.0),
    "GRU": (5, 0.0),
}
"""Where the rate of their dropout stands among the arguments, and what it is by default."""
_STACKS = frozenset({"TransformerEncoder", "TransformerDecoder"})
_FUNCTIONAL = "torch.nn.functional."


@dataclass(frozen=True)
class ModeDependent:
    """`name`: what a message calls it. `site`: where it is made or called. `training`: its mode, None if not known."""

    name: str
    site: Site
    training: bool | None


def mode_dependent(analysis: Analysis, module: Value) -> Iterator[ModeDependent]:
    """The layers of a module, and the dropouts in its methods, that depend on its mode."""
    parts = list(descendants(module))
    for part in parts:
        if isinstance(part, LibraryModule) and part.site is not None and _switched(part):
            inside = part.type_name not in _SWITCHED
            name = f"the dropout of {part.type_name}" if inside else part.type_name
            yield ModeDependent(name, part.site, part.slots["training"])
    instances = {id(part): part for part in parts if isinstance(part, Instance)}
    dropouts = [path for path in analysis.calls if path.startswith(_FUNCTIONAL) and "dropout" in path]
    for call in (call for path in dropouts for call in analysis.calls[path]):
        if call.get(1, "p", 0.5) != 0:
            owner = instances.get(id(call.site.frame.instance()))
            if owner is not None and _asks_for_mode(call.site.node):
                yield ModeDependent(call.path.rpartition(".")[2], call.site, owner.state["training"])


def _switched(module: LibraryModule) -> bool:
    name = module.type_name
    if name in _STACKS:
        layer = module.kwargs.get("encoder_layer", module.kwargs.get("decoder_layer", (*module.args, None)[0]))
        return isinstance(layer, LibraryModule) and _switched(layer)
    if name in _DROPOUT_INSIDE:
        position, default = _DROPOUT_INSIDE[name]
        given = module.args[position] if position < len(module.args) else default
        rate = module.kwargs.get("dropout", given)
        return isinstance(rate, int | float) and rate > 0
    if name not in _SWITCHED:
        return False
    if "Norm" in name:
        return module.kwargs.get("track_running_stats") is not False
    return module.kwargs.get("p", module.args[0] if module.args else None) != 0


def _asks_for_mode(node: ast.AST) -> bool:
    """Whether a call passes the mode on: ``F.dropout(x, training=self.training)``."""
    return any(isinstance(part, ast.Attribute) and part.attr == "training" for part in ast.walk(node))


__all__ = ["ModeDependent", "mode_dependent"]
