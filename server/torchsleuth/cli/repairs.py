"""Fixes applied to texts in memory, round by round, until nothing more can be repaired."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torchsleuth.escaping import escape
from torchsleuth.schema import Diagnostic, Edit, Fix
from torchsleuth.syntax.edits import meet
from torchsleuth.syntax.parse import parses
from torchsleuth.syntax.text import SourceText

MAX_ROUNDS = 50
"""Rounds of analysis and repair."""
Analyze = Callable[[Mapping[str, str], Mapping[str, str]], list[Diagnostic]]
"""The diagnostics of these texts, given those of others that are not on the disk yet."""


@dataclass(frozen=True)
class Done:
    path: str
    line: int
    code: str
    title: str


class Repairs:
    """Applies verified fixes to the given texts and to no other file. `unsafe`: also those that change behaviour."""

    def __init__(self, texts: Mapping[str, str], analyze: Analyze, unsafe: bool = False) -> None:
        self.texts = dict(texts)
        self.done: list[Done] = []
        self._before = dict(texts)
        self._analyze = analyze
        self._unsafe = unsafe

    def run(self) -> list[Diagnostic]:
        """Repair what can be repaired. Returns what is left.

        Each fix was verified on its own; several that go together are kept if the analysis of the result has fewer
        findings and none of another kind but hints, else the first one alone, by the same measure.
        """
        diagnostics = self._analyze(self.texts, {})
        refused: set[tuple[Edit, ...]] = set()
        for _ in range(MAX_ROUNDS):
            chosen = list(self._choose(diagnostics, refused))
            for attempt in (chosen, chosen[:1]) if len(chosen) > 1 else (chosen,):
                after = self._try(diagnostics, attempt)
                if after is not None:
                    diagnostics = after
                    break
            else:
                refused.add(chosen[0][1].edits)
                continue
            if not chosen:
                break
        return diagnostics

    def _choose(
        self, diagnostics: Sequence[Diagnostic], refused: set[tuple[Edit, ...]]
    ) -> Iterator[tuple[Diagnostic, Fix]]:
        """The first fix of each diagnostic that may be applied and does not touch what another one changes."""
        taken: list[Edit] = []
        for diagnostic in diagnostics:
            for fix in diagnostic.fixes:
                if not fix.verified or not (fix.safe or self._unsafe) or fix.edits in refused:
                    continue
                if not fix.edits or any(edit.path not in self.texts for edit in fix.edits):
                    continue
                if not any(meet(edit, other) for edit in fix.edits for other in taken):
                    taken += fix.edits
                    yield diagnostic, fix
                break

    def _try(self, before: Sequence[Diagnostic], chosen: Sequence[tuple[Diagnostic, Fix]]) -> list[Diagnostic] | None:
        """The diagnostics after these fixes, which are then in the texts; None where they do not help."""
        if not chosen:
            return list(before)
        edits = list(dict.fromkeys(edit for _, fix in chosen for edit in fix.edits))
        texts = dict(self.texts)
        for path in {edit.path for edit in edits}:
            texts[path] = _apply(path, texts[path], [edit for edit in edits if edit.path == path])
            if not parses(texts[path]):
                return None
        after = self._analyze(texts, {path: text for path, text in texts.items() if text != self._before[path]})
        old, new = (Counter(item.code for item in items if item.severity != "hint") for items in (before, after))
        fewer = (new.total(), len(after)) < (old.total(), len(before))
        if not fewer or not new <= old:
            return None
        self.texts = texts
        self.done += [Done(item.path, item.start.line, item.code, fix.title) for item, fix in chosen]
        return after


def _apply(path: str, text: str, edits: list[Edit]) -> str:
    """The text after the edits, with its own kind of line ends."""
    if "\r\n" in text:
        edits = [replace(edit, new_text="\r\n".join(edit.new_text.replace("\r\n", "\n").split("\n"))) for edit in edits]
    return SourceText(path, text).apply(edits)


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The change, as a unified diff."""
    parts: list[str] = []
    for path, old in before.items():
        if old == after[path]:
            continue
        lines = difflib.unified_diff(_lines(old), _lines(after[path]), f"a/{escape(path)}", f"b/{escape(path)}")
        parts += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Lines with their ends: line feeds only, as for every tool that applies a diff."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
