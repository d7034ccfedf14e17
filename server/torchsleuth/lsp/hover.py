"""Hover: what is known about the tensor under the cursor, and the rule behind a diagnostic."""

from __future__ import annotations

from lsprotocol import types

from torchsleuth.lsp import convert
from torchsleuth.lsp.session import Session
from torchsleuth.rules.registry import RULES
from torchsleuth.schema import Position, TensorFact


def hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    snapshot = session.documents.get(params.text_document.uri)
    if snapshot is None:
        return None
    at = convert.our_position(snapshot.source, params.position)
    facts = [fact for fact in session.store.facts(snapshot.path) if fact.start <= at <= fact.end]
    sections: list[str] = []
    span: types.Range | None = None
    if facts:
        narrowest = min(facts, key=lambda fact: (fact.end.line - fact.start.line, fact.end.column - fact.start.column))
        sections.append(_tensor(narrowest))
        span = convert.lsp_range(snapshot.source, narrowest.start, narrowest.end)
    sections += [_rule(code) for code in _codes(session, snapshot.path, at)]
    if not sections:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(sections)), span)


def _tensor(fact: TensorFact) -> str:
    shape = "unknown rank" if fact.shape is None else "[" + ", ".join(map(str, fact.shape)) + "]"
    rows = [("shape", shape), ("dtype", fact.dtype), ("device", fact.device)]
    if fact.requires_grad is not None:
        rows.append(("requires_grad", str(fact.requires_grad)))
    source = "observed in the last run" if fact.layer == "run" else "inferred"
    name = " ".join(fact.expression.split())
    lines = [f"**Tensor** `{name if len(name) < 60 else name[:57] + '…'}` — {source}", ""]
    lines += [f"- {label}: `{value}`" for label, value in rows if value is not None]
    return "\n".join(lines)


def _codes(session: Session, path: str, at: Position) -> list[str]:
    return [item.code for item in session.store.diagnostics(path) if item.start <= at <= item.end]


def _rule(code: str) -> str:
    rule = RULES.get(code)
    if rule is None:
        return f"**{code}**"
    title, _, body = rule.documentation.strip().partition("\n")
    return f"**{code}** {title}\n\n```text\n{body.strip()}\n```"
