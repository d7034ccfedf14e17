"""Inlay hints: shape and dtype behind every name that a tensor is bound to."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from torchsleuth.lsp.convert import from_position, to_position
from torchsleuth.lsp.hover import fact_text, known_facts, markup_of
from torchsleuth.lsp.session import TorchSleuthServer
from torchsleuth.messages import message
from torchsleuth.schema import Position, TensorFact


def register(server: TorchSleuthServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions(resolve_provider=False))
    async def inlay_hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.documents.get(params.text_document.uri)
        if document is None or not server.settings_of(document.path).inlay_hints:
            return []
        encoding, markup = server.documents.encoding, markup_of(server.client_capabilities)
        start = from_position(document.source, params.range.start, encoding)
        end = from_position(document.source, params.range.end, encoding)
        return [
            types.InlayHint(
                position=to_position(document.source, known[0].end, encoding),
                label=label(known[0]),
                kind=types.InlayHintKind.Type,
                tooltip=markup.content(fact_text(known, markup, server.documents.uri)),
                padding_left=False,
                padding_right=False,
            )
            for known in bindings(known_facts(server, document), start, end)
        ]


def bindings(facts: Sequence[TensorFact], start: Position, end: Position) -> list[list[TensorFact]]:
    """The facts about each binding in a range; where a run saw it, first what the run saw."""
    found: dict[Position, dict[str, TensorFact]] = {}
    for fact in facts:
        told = fact.shape is not None or fact.dtype is not None
        if told and fact.binding is not None and start <= fact.end <= end:
            found.setdefault(fact.end, {})[fact.layer] = fact
    return [[layers[layer] for layer in ("run", "static") if layer in layers] for _, layers in sorted(found.items())]


def label(fact: TensorFact) -> str:
    """``: [64, 16384] float32``; the device only where it is not the default."""
    text = f": {fact.describe(devices=False)}"
    return message("editor.hint.observed", hint=text) if fact.layer == "run" else text
