"""Hover: the tensor under the cursor, and the rule behind a diagnostic there."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from torchsleuth.lsp import protocol
from torchsleuth.lsp.convert import from_position, to_range
from torchsleuth.messages import message
from torchsleuth.schema import Position, TensorFact

if TYPE_CHECKING:
    from torchsleuth.lsp.server import TorchSleuthServer

_CODE_SECTIONS = frozenset({"Example", "Use instead"})


def register(server: TorchSleuthServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        position = from_position(document.source, params.position)
        facts = facts_at(server.store.facts(document.path), position)
        parts = [fact_markdown(facts)] if facts else []
        codes = {
            finding.diagnostic.code: None
            for finding in server.store.findings(document.path)
            if finding.diagnostic.start <= position <= finding.diagnostic.end
        }
        parts += [page for code in codes if (page := rule_markdown(code))]
        if not parts:
            return None
        where = to_range(document.source, facts[0].start, facts[0].end) if facts else None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts)), where)


def facts_at(facts: Sequence[TensorFact], position: Position) -> list[TensorFact]:
    """What is known about the smallest expression around a position: at most one fact a layer, observed first."""
    around = [fact for fact in facts if fact.start <= position <= fact.end]
    if not around:
        return []
    # Of `f(x)` and `x` the inner one; between two that touch, the one that begins here.
    inner = max(around, key=lambda fact: (fact.start, _reverse(fact.end)))
    same = [fact for fact in around if (fact.start, fact.end) == (inner.start, inner.end)]
    by_layer = {fact.layer: fact for fact in same}
    return [by_layer[layer] for layer in ("run", "static") if layer in by_layer]


def fact_markdown(facts: Sequence[TensorFact]) -> str:
    name = " ".join(facts[0].expression.split())
    lines = [f"```python\n{textwrap.shorten(name, 80, placeholder=' …')}: {shape_text(facts[0])}\n```"]
    for fact in facts:
        grad = None
        if fact.requires_grad is not None:
            grad = message("editor.requires_grad" if fact.requires_grad else "editor.no_grad")
        shape = shape_text(fact) if shape_text(fact) != shape_text(facts[0]) else None
        known = [f"`{part}`" for part in (shape, fact.dtype, fact.device) if part] + [part for part in (grad,) if part]
        origin = "observed" if fact.layer == "run" else "supposed" if fact.supposed else "inferred"
        lines.append(" · ".join([*known, f"*{message(f'editor.{origin}')}*"]))
    return "\n\n".join(lines)


def shape_text(fact: TensorFact) -> str:
    """``Tensor[64, 3, 32, 32]``."""
    return "Tensor" + ("[…]" if fact.shape is None else f"[{', '.join(map(str, fact.shape))}]")


def rule_markdown(code: str) -> str | None:
    """The page of a rule or of a run-time error; None for a code without one."""
    from torchsleuth.control.pages import pages, sections  # imported at the first use: the server starts without it

    page = pages().get(code)
    if page is None:
        return None
    link = f"[{code}]({protocol.RULE_PAGE.format(code=code)})"
    parts = [_section(heading, text) for heading, text in sections(page.text)]
    return "\n\n".join([f"**{link} {page.name}: {page.summary}**", *parts])


def _section(heading: str, text: str) -> str:
    if heading in _CODE_SECTIONS:
        return f"*{heading}*\n```python\n{text}\n```"
    return f"*{heading}*: {text}"


def _reverse(position: Position) -> tuple[int, int]:
    return -position.line, -position.column
