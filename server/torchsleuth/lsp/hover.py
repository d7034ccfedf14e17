"""Hover: the tensor under the cursor, and the rule behind a diagnostic there."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from torchsleuth.control.pages import sections
from torchsleuth.faults import FAULTS
from torchsleuth.lsp import protocol
from torchsleuth.lsp.callers import called
from torchsleuth.lsp.contracts import completed
from torchsleuth.lsp.convert import from_position, to_range
from torchsleuth.lsp.documents import Document
from torchsleuth.lsp.session import TorchSleuthServer
from torchsleuth.messages import message
from torchsleuth.numbers import share, size
from torchsleuth.schema import Cause, Contract, MemoryEstimate, Position, Sample, TensorFact, Values
from torchsleuth.syntax.referred import referred
from torchsleuth.syntax.text import SourceText
from torchsleuth.worker.phrases import conditions, doubts

_BACKWARD = re.compile(r"\.\s*(backward)\s*\(")
MOST_CALLS = 4
"""Calls whose shapes a hover names."""
MOST_KINDS = 4
"""Kinds of memory that a hover names."""
_CODE_SECTIONS = frozenset({"Example", "Use instead"})


def register(server: TorchSleuthServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        markup = markup_of(server.client_capabilities)
        position = from_position(document.source, params.position, server.documents.encoding)
        facts = facts_at(known_facts(server, document), position)
        parts = [fact_text(facts, markup, server.documents.uri)] if facts else []
        parts += [contract_text(one, markup) for one in contracts_at(server, document, position)]
        codes = {
            finding.diagnostic.code: None
            for finding in server.store.findings(document.path)
            if finding.diagnostic.start <= position <= finding.diagnostic.end
        }
        parts += [page for code in codes if (page := rule_text(code, markup))]
        if calls_backward(document.source, position) and (memory := await server.analysis.memory(document.path)):
            parts.append(memory_text(memory, markup))
        if not parts:
            return None
        where = None
        if facts:
            where = to_range(document.source, facts[0].start, facts[0].end, server.documents.encoding)
        return types.Hover(markup.content("\n\n---\n\n".join(parts)), where)


def known_facts(server: TorchSleuthServer, document: Document) -> list[TensorFact]:
    """The facts about the expressions of a document, by its calls and those in other files, by runs and by contracts."""
    contracts = server.analysis.contracts
    facts = called(server.store.facts(document.path), contracts.callers.facts(document))
    return completed(facts, contracts.facts(document), contracts.varied(document))


def contracts_at(server: TorchSleuthServer, document: Document, position: Position) -> list[Contract]:
    """The contract of the class or function that is defined, called or named at a position: of this document, or of the one that
    it is imported from. Where it is only named, one that says nothing is left out."""
    found = referred(document.source, position)
    if found is None:
        return []
    places = [document]
    if found.module is not None:
        places = server.analysis.contracts.documents_of(found.module, document)
    for place in places:
        for definition, contract in server.analysis.contracts.of(place):
            if definition.node.name == found.name and (found.defined or contract.told):
                return [contract]
    return []


def contract_text(contract: Contract, markup: Markup) -> str:
    """A contract in its complete form, with what is open."""
    stated = [contract.signature(), *conditions(contract)]
    lines = [markup.block("\n    ".join((contract.heading(), *stated)))]
    lines += [plain(text) if markup.markdown else text for text in doubts(contract)]
    kind = "inferred" if contract.examples else "uncertain"
    lines.append(markup.mild(message(f"editor.contract.{kind}", count=contract.examples)))
    return "\n\n".join(lines)


def calls_backward(source: SourceText, position: Position) -> bool:
    """Whether a position is in the name of a ``.backward()``."""
    lines = source.text.split("\n")
    line = lines[position.line - 1] if position.line <= len(lines) else ""
    return any(
        match.start(1) + 1 <= position.column <= match.end(1) + 1 for match in _BACKWARD.finditer(line.split("#")[0])
    )


def memory_text(found: MemoryEstimate, markup: Markup) -> str:
    """The estimate in two or three lines: the peak, what it is made of, and what would take most from it."""
    if found.size is None:
        return markup.mild(message("memory.unknown", reason=found.reason))
    phase = message(f"memory.phase.{found.phase}")
    values = {"size": size(found.size), "phase": phase, "line": found.line}
    if found.batch is None:
        lines = [markup.strong(message("memory.peak", **values))]
    else:
        lines = [markup.strong(message("memory.peak.of", **values, batch=found.batch, device=found.device))]
    sums = list(found.sums().items())[:MOST_KINDS]
    kinds = (message("memory.sum", size=size(total), kind=message(f"memory.kind.{kind}")) for kind, total in sums)
    lines.append(" · ".join(kinds))
    for remedy in found.remedies[:1]:
        change = "−" + share((found.size - remedy.size) / found.size)
        about = {"size": size(remedy.size), "change": change, "about": remedy.about}
        lines.append(markup.mild(message(f"memory.remedy.{remedy.name}", **about)))
    return "\n\n".join(lines)


@dataclass(frozen=True)
class Markup:
    """How texts are set: in Markdown, or plainly for clients that want them so."""

    markdown: bool

    def content(self, text: str) -> types.MarkupContent:
        return types.MarkupContent(types.MarkupKind.Markdown if self.markdown else types.MarkupKind.PlainText, text)

    def block(self, text: str) -> str:
        """Several lines of code."""
        return f"```python\n{text}\n```" if self.markdown else text

    def code(self, text: str) -> str:
        return f"`{text}`" if self.markdown else text

    def mild(self, text: str) -> str:
        return f"*{text}*" if self.markdown else text

    def strong(self, text: str) -> str:
        return f"**{text}**" if self.markdown else text

    def link(self, text: str, target: str) -> str:
        return f"[{text}]({target})" if self.markdown else f"{text} ({target})"


def markup_of(capabilities: types.ClientCapabilities) -> Markup:
    """The markup that the client prefers, Markdown if it does not say."""
    documents = capabilities.text_document
    liked = documents.hover.content_format if documents is not None and documents.hover is not None else None
    return Markup(not liked or liked[0] != types.MarkupKind.PlainText)


def facts_at(facts: Sequence[TensorFact], position: Position) -> list[TensorFact]:
    """The facts about the smallest expression around a position: at most one fact a layer, observed first."""
    around = [fact for fact in facts if fact.start <= position <= fact.end]
    if not around:
        return []
    # Of `f(x)` and `x` the inner one; between two that touch, the one that begins here.
    inner = max(around, key=lambda fact: (fact.start, _reverse(fact.end)))
    same = [fact for fact in around if (fact.start, fact.end) == (inner.start, inner.end)]
    by_layer = {fact.layer: fact for fact in same}
    return [by_layer[layer] for layer in ("run", "static") if layer in by_layer]


def fact_text(facts: Sequence[TensorFact], markup: Markup, uri: Callable[[str], str]) -> str:
    """The tensor of an expression. `uri`: of a file, for links."""
    name = " ".join(facts[0].expression.split())
    lines = [markup.block(f"{textwrap.shorten(name, 80, placeholder=' …')}: {shape_text(facts[0])}")]
    for fact in facts:
        grad = None
        if fact.requires_grad is not None:
            grad = message("editor.requires_grad" if fact.requires_grad else "editor.no_grad")
        shape = shape_text(fact) if shape_text(fact) != shape_text(facts[0]) else None
        known = [markup.code(part) for part in (shape, fact.dtype, fact.device) if part]
        parts = [*known, *([grad] if grad else []), markup.mild(_origin(fact))]
        lines.append(" · ".join(parts))
        if fact.variants:
            more = [" …"] if len(fact.variants) > MOST_CALLS else []
            lines.append(message("editor.calls", shapes=", ".join((*_of_calls(fact, markup, uri), *more))))
    if facts[0].values is not None:
        lines += _history(facts[0].values)
    causes = next((fact.causes for fact in facts if fact.layer == "static" and len(facts) == 1), ())
    if causes:
        lines.append(markup.mild(message("editor.why")) + " " + _why(causes))
    return "\n\n".join(lines)


def _of_calls(fact: TensorFact, markup: Markup, uri: Callable[[str], str]) -> Iterator[str]:
    """The shapes that the calls of the code around an expression give it, each with links to these."""
    calls = fact.calls or ((),) * len(fact.variants)
    for shape, spans in itertools.islice(zip(fact.variants, calls), MOST_CALLS):
        links: dict[str, None] = {}
        for span in spans:
            line = message("editor.line", line=span.start.line)
            name = line if span.path == fact.path else f"{Path(span.path).name}, {line}"
            links[markup.link(name, f"{uri(span.path)}#L{span.start.line},{span.start.column}")] = None
        shown = list(links)[:MOST_CALLS]
        text = markup.code(f"[{', '.join(map(str, shape))}]")
        yield f"{text} ({', '.join(shown)})" if shown else text


def _origin(fact: TensorFact) -> str:
    """How it is known."""
    if fact.contract:
        kind = "editor.contract.given" if fact.given else "editor.contract"
        return message(kind, name=fact.contract, given=fact.given)
    return message(
        "editor.observed" if fact.layer == "run" else "editor.supposed" if fact.supposed else "editor.inferred"
    )


def _history(values: Values) -> Iterator[str]:
    """The values that a run looked at: all of them together, then the first and the last."""
    overall = Sample(values.low, values.high, None, values.bad)
    yield message("editor.values", span=span_text(overall), count=values.count, bad=values.bad)
    if values.count > 1:
        first, last = (
            message("editor.values.one", span=span_text(one), mean=number_text(one.mean))
            for one in (values.first, values.last)
        )
        yield message("editor.values.change", first=first, last=last)


def span_text(sample: Sample) -> str:
    """``−2.1 … 3.4``; one number where all are the same."""
    if sample.low is None or sample.high is None:
        return message("editor.values.none")
    low, high = number_text(sample.low), number_text(sample.high)
    return low if low == high else f"{low} … {high}"


def number_text(number: float | None) -> str:
    return "?" if number is None else f"{number:.4g}".replace("-", "−", 1) if number < 0 else f"{number:.4g}"


def _why(causes: Sequence[Cause]) -> str:
    """The nearest reason and the first cause, with their lines."""
    told = dict.fromkeys((causes[0], causes[-1]))
    return "; ".join(message("editor.cause", text=cause.text, line=cause.start.line) for cause in told)


def shape_text(fact: TensorFact) -> str:
    """``Tensor[64, 3, 32, 32]``."""
    return "scalar Tensor" if fact.shape == () else f"Tensor{fact.sizes()}"


def rule_text(code: str, markup: Markup) -> str | None:
    """The page of a fault in the catalogue; None for a code that it does not have."""
    fault = FAULTS.get(code)
    if fault is None:
        return None
    link = markup.link(code, protocol.RULE_PAGE.format(code=code))
    parts = [_section(heading, text, markup) for heading, text in sections(fault.explanation)]
    return "\n\n".join([markup.strong(f"{link} {fault.name}: {fault.title}"), *parts])


def plain(text: str) -> str:
    """Text in which nothing is markup."""
    return "".join(f"\\{character}" if character in "\\*_[]<>#|!`" else character for character in text)


def _section(heading: str, text: str, markup: Markup) -> str:
    if heading in _CODE_SECTIONS:
        return f"{markup.mild(heading)}\n{markup.block(text)}"
    return f"{markup.mild(heading)}: {text}"


def _reverse(position: Position) -> tuple[int, int]:
    return -position.line, -position.column
