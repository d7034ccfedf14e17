"""Facts that other files of the workspace know of open documents, since they call what is in these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torchsleuth.lsp.documents import Document
from torchsleuth.schema import FileAnalysis, TensorFact


@dataclass(frozen=True)
class _Known:
    """The facts about a text. `read`: digests of the files that call it, then."""

    text: str
    facts: tuple[TensorFact, ...]
    read: Mapping[str, str]


class Callers:
    """Those of all open documents. `digest`: of a file as it is now."""

    def __init__(self, digest: Callable[[str], str]) -> None:
        self._digest = digest
        self._known: dict[str, _Known] = {}

    def lacks(self, document: Document) -> bool:
        """Whether nothing is known of the texts of now."""
        known = self._known.get(document.path)
        return (
            known is None
            or known.text != document.text
            or any(self._digest(one) != was for one, was in known.read.items())
        )

    def keep(self, document: Document, answer: FileAnalysis) -> None:
        read = {one: self._digest(one) for one in answer.stats.get("read") or ()}
        self._known[document.path] = _Known(document.text, answer.facts, read)

    def facts(self, document: Document) -> Sequence[TensorFact]:
        """The facts about a document, as long as all the texts are the same."""
        known = self._known.get(document.path)
        return known.facts if known is not None and not self.lacks(document) else ()

    def of(self, path: str) -> list[str]:
        """The documents that a file may call."""
        return [one for one, known in self._known.items() if path in known.read]

    def forget(self, path: str) -> None:
        self._known.pop(path, None)

    def clear(self) -> None:
        self._known.clear()


def called(facts: Sequence[TensorFact], by_others: Sequence[TensorFact]) -> list[TensorFact]:
    """The facts of a document; of code that nothing in it calls, those of the calls in other files."""
    others = {(fact.start, fact.end): fact for fact in by_others}
    own = [fact for fact in facts if fact.layer != "static" or not (fact.uncalled and (fact.start, fact.end) in others)]
    known = {(fact.start, fact.end) for fact in own if fact.layer == "static"}
    own += (fact for place, fact in others.items() if place not in known)
    return sorted(own, key=lambda fact: (fact.start, fact.end, fact.layer))
