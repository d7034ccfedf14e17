"""Marks: what a run left beside the lines: where it failed and with which tensors, the calls that led there, values, and which
lines it reached."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from torchsleuth.lsp import protocol
from torchsleuth.lsp.client import Client
from torchsleuth.lsp.convert import range_json, to_range
from torchsleuth.lsp.diagnostics import text_of
from torchsleuth.lsp.hover import Markup, fact_text, span_text
from torchsleuth.lsp.requests import wrong
from torchsleuth.lsp.session import TorchSleuthServer
from torchsleuth.lsp.store import Finding
from torchsleuth.messages import message
from torchsleuth.schema import Json, Position, Related, RunLine, TensorFact
from torchsleuth.sifting import as_kind

Kind = Literal["failed", "called", "value", "reached", "missed"]
MAX_NAMES = 3
"""Names of a line whose values stand behind it."""


@dataclass(frozen=True)
class Mark:
    """One mark. `text` stands behind the line, `details` in its hover, as Markdown. `stale`: a line that it is about has changed."""

    kind: Kind
    start: Position
    end: Position
    text: str
    details: str
    stale: bool


def register(server: TorchSleuthServer) -> None:
    @server.feature(protocol.MARKS)
    async def marks(params: Any) -> Json:
        uri = as_kind(getattr(params, "uri", None), str)
        if uri is None:
            raise wrong("{uri: string}")
        document = server.documents.get(uri)
        if document is None:
            return {"version": None, "marks": []}
        source, encoding = document.source, server.documents.encoding
        return {
            "version": document.version,
            "marks": [
                {
                    "kind": mark.kind,
                    "range": range_json(to_range(source, mark.start, mark.end, encoding)),
                    "text": mark.text,
                    "details": mark.details,
                    "stale": mark.stale,
                }
                for mark in marks_of(server, document.path)
            ],
        }


def marks_of(client: Client, path: str) -> list[Mark]:
    """The marks of one file, in the order of their places."""
    return sorted(_marks(client, path), key=lambda mark: (mark.start, mark.kind))


def _marks(client: Client, path: str) -> Iterator[Mark]:
    yield from _values(client, path)
    yield from _reached(client, path)
    called: set[int] = set()
    for finding in client.store.failures():
        diagnostic = finding.diagnostic
        details = _details(client, finding)
        if diagnostic.path == path:
            text = message("editor.mark.failed", message=diagnostic.message)
            if diagnostic.operands:
                text = message(
                    "editor.mark.operands", operands=" · ".join(diagnostic.operands), message=diagnostic.message
                )
            yield Mark("failed", diagnostic.start, diagnostic.end, text, details, finding.stale)
        for place in diagnostic.related:
            if place.call and place.path == path and place.start.line not in called:
                called.add(place.start.line)
                yield Mark("called", place.start, place.end, "", details, finding.stale)


def _reached(client: Client, path: str) -> Iterator[Mark]:
    """Stretches of lines that the last run has reached, and that it has not."""
    stretch: list[RunLine] = []
    for line in [*client.store.lines(path), None]:
        if line is not None and stretch and _continues(stretch[-1], line):
            stretch.append(line)
            continue
        if stretch:
            kind: Kind = "reached" if stretch[0].reached else "missed"
            yield Mark(kind, stretch[0].start, stretch[-1].end, "", message(f"editor.mark.{kind}"), False)
        stretch = [] if line is None else [line]


def _continues(before: RunLine, line: RunLine) -> bool:
    return line.reached == before.reached and line.start.line == before.start.line + 1


def _values(client: Client, path: str) -> Iterator[Mark]:
    """The values that the names of each line were given at last."""
    failed = {finding.diagnostic.start.line for finding in client.store.failures() if finding.diagnostic.path == path}
    lines: dict[int, list[TensorFact]] = {}
    for fact in client.store.facts(path):
        if fact.layer == "run" and fact.binding is not None and fact.values is not None:
            lines.setdefault(fact.start.line, []).append(fact)
    for line, facts in lines.items():
        if line not in failed:
            named = {fact.binding: fact for fact in facts}
            texts = [values_beside(fact) for fact in named.values()][:MAX_NAMES]
            details = "\n\n".join(
                fact_text([fact], Markup(markdown=True), client.documents.uri) for fact in named.values()
            )
            yield Mark("value", facts[0].start, facts[-1].end, "   ".join(texts), details, False)


def values_beside(fact: TensorFact) -> str:
    """``x −2.1 … 3.4``, ``loss 0.693``; with the shape where the last one was another than the first."""
    assert fact.values is not None
    last = fact.values.last
    shape = f" [{', '.join(map(str, fact.later))}]" if fact.later is not None else ""
    bad = " " + message("editor.values.bad", bad=last.bad) if last.bad else ""
    return f"{fact.binding}{shape} {span_text(last)}{bad}".rstrip()


def _details(client: Client, finding: Finding) -> str:
    """The message, the operands, and a link to each place on the way to the failure."""
    diagnostic, markup = finding.diagnostic, Markup(markdown=True)
    parts = [f"{markup.strong(diagnostic.code)} {_plain(text_of(finding))}"]
    parts += [markup.code(operand) for operand in diagnostic.operands]
    here = Related(diagnostic.path, diagnostic.start, diagnostic.end, message("editor.mark.here"))
    for place in (here, *diagnostic.related):
        name = f"{os.path.basename(place.path)}:{place.start.line}"
        target = f"{client.documents.uri(place.path)}#L{place.start.line},{place.start.column}"
        parts.append(f"{markup.link(_plain(name), target)} {_plain(place.message)}")
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    """Text in which nothing but code is markup."""
    return "".join(f"\\{character}" if character in "\\*_[]<>#|!" else character for character in text)
