"""Inlay hints: the shape and dtype behind each name that is bound to a tensor."""

from __future__ import annotations

from lsprotocol import types

from torchsleuth.lsp import convert
from torchsleuth.lsp.session import Session
from torchsleuth.schema import TensorFact


def inlay_hints(session: Session, params: types.InlayHintParams) -> list[types.InlayHint]:
    snapshot = session.documents.get(params.text_document.uri)
    if snapshot is None or not session.settings.inlay_hints:
        return []
    first, last = params.range.start.line + 1, params.range.end.line + 1
    hints: list[types.InlayHint] = []
    for fact in session.store.facts(snapshot.path):
        if fact.binding and fact.shape is not None and first <= fact.end.line <= last:
            observed = fact.layer == "run"
            hints.append(
                types.InlayHint(
                    position=convert.lsp_position(snapshot.source, fact.end),
                    label=label(fact),
                    kind=types.InlayHintKind.Type,
                    tooltip="observed in the last run" if observed else "inferred by TorchSleuth",
                    padding_left=False,
                )
            )
    return hints


def label(fact: TensorFact) -> str:
    """``: [64, 16384] float32``; a value that a run observed is marked with a circle."""
    shape = "[" + ", ".join(map(str, fact.shape or ())) + "]"
    mark = " ◉" if fact.layer == "run" else ""
    return f": {shape}{' ' + fact.dtype if fact.dtype else ''}{mark}"
