"""Inlay hints: shape and dtype behind every name that a tensor is bound to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from torchsleuth.lsp.convert import from_position, to_position
from torchsleuth.lsp.hover import fact_markdown
from torchsleuth.messages import message
from torchsleuth.schema import Position, TensorFact
from torchsleuth.syntax.text import SourceText

if TYPE_CHECKING:
    from torchsleuth.lsp.server import TorchSleuthServer


def register(server: TorchSleuthServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=False))
    async def inlay_hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.documents.get(params.text_document.uri)
        if document is None or not server.settings_of(document.path).inlay_hints:
            return []
        start = from_position(document.source, params.range.start)
        end = from_position(document.source, params.range.end)
        return hints(document.source, server.store.facts(document.path), start, end)


def hints(source: SourceText, facts: Sequence[TensorFact], start: Position, end: Position) -> list[types.InlayHint]:
    """One hint a binding; where a run saw it, what the run saw."""
    bindings: dict[Position, dict[str, TensorFact]] = {}
    for fact in facts:
        told = fact.shape is not None or fact.dtype is not None
        if told and fact.binding is not None and start <= fact.end <= end:
            bindings.setdefault(fact.end, {})[fact.layer] = fact
    return [_hint(source, layers) for _, layers in sorted(bindings.items())]


def _hint(source: SourceText, layers: dict[str, TensorFact]) -> types.InlayHint:
    known = [layers[layer] for layer in ("run", "static") if layer in layers]
    fact = known[0]
    return types.InlayHint(
        position=to_position(source, fact.end),
        label=label(fact),
        kind=types.InlayHintKind.Type,
        tooltip=types.MarkupContent(types.MarkupKind.Markdown, fact_markdown(known)),
        padding_left=False,
        padding_right=False,
    )


def label(fact: TensorFact) -> str:
    """``: [64, 16384] float32``; the device only where it is not the default."""
    shape = "[…]" if fact.shape is None else f"[{', '.join(map(str, fact.shape))}]"
    device = fact.device if fact.device != "cpu" else None
    text = ": " + " ".join(part for part in (shape, fact.dtype, device) if part)
    return message("editor.hint.observed", hint=text) if fact.layer == "run" else text
