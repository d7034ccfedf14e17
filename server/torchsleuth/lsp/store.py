"""The one place that knows what was found: diagnostics and facts by (layer, owner).

The owner is the document whose analysis, or the script whose run, found them; they may lie in other files too. Owners
and places are paths as `documents` spells them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torchsleuth.lsp.documents import TextChange
from torchsleuth.schema import Diagnostic, Edit, Fix, Layer, Position, Related, RunLine, TensorFact

_UNNAMED = ("TS199", "TS918")
"""Codes that a run reports for an exception that nothing in its catalogue explains."""


@dataclass(frozen=True)
class Finding:
    """A diagnostic as it is to be shown now.

    `confirmed`: analysis and run agree. `measured`: edits of those fixes whose sizes a run measured, but that have not
    been verified by analysis. `stale`: found by a run before its line changed. `version` is the version of
    the owner's text that the diagnostic was found in; None for runs, which read the file on disk, and where another file
    that it is about has changed since. `number`: it is the same in newer results that have the same finding. `expected`: the
    fixes that it had in older results, while those of the newer ones are being verified.
    """

    diagnostic: Diagnostic
    owner: str
    version: int | None = None
    number: int = 0
    confirmed: bool = False
    measured: frozenset[tuple[Edit, ...]] = frozenset()
    stale: bool = False
    expected: tuple[Fix, ...] = ()

    @property
    def offerable(self) -> list[Fix]:
        """The fixes that were verified, and those whose sizes a run measured."""
        return [fix for fix in self.diagnostic.fixes if fix.verified or fix.edits in self.measured]

    @property
    def preferred(self) -> Fix | None:
        """The fix that is offered first."""
        return preferred(self.offerable)


@dataclass(frozen=True)
class Note:
    """A finding as it is seen from another file: `place` is the call there that leads to it, or what explains it."""

    finding: Finding
    place: Related


@dataclass(frozen=True)
class _Entry:
    generation: int
    findings: tuple[Finding, ...]
    facts: tuple[TensorFact, ...]
    lines: tuple[RunLine, ...] = ()
    whole: bool = True
    """No change of a text has reached into something."""
    places: frozenset[str] = frozenset()
    """Files in which findings are on screen: edits take findings away, but not off the screen."""


class ResultStore:
    """Holds the newest results and says which files look different: `publish` is called with each such path, `mark` where
    that is only what a run left beside the lines."""

    def __init__(self, publish: Callable[[str], None], mark: Callable[[str], None]) -> None:
        self._publish = publish
        self._mark = mark
        self._entries: dict[tuple[Layer, str], _Entry] = {}
        self._generation = 0
        self._numbers = itertools.count(1)

    def replace(
        self,
        layer: Layer,
        owner: str,
        diagnostics: Sequence[Diagnostic],
        facts: Sequence[TensorFact],
        version: int | None = None,
        since: Mapping[str, Sequence[TextChange]] | None = None,
        pending: bool = False,
        lines: Sequence[RunLine] = (),
    ) -> int:
        """Put newer results in the place of those before. Returns their generation.

        `since`: by path, how texts have changed since the one that the results are about. `pending`: fixes are still being
        verified.
        """
        self._generation += 1
        before = self._places(layer, owner)
        findings = tuple(Finding(diagnostic, owner, version) for diagnostic in diagnostics)
        entry = _Entry(self._generation, findings, tuple(facts), tuple(lines))
        for path, changes in (since or {}).items():
            if changes and path in self._mentioned(entry):
                entry = _unsure(_moved_entry(entry, path, changes))
        numbered = self._numbered(layer, owner, entry.findings, pending)
        self._entries[layer, owner] = replace(entry, findings=numbered, places=_shown_in(diagnostics))
        observed = _observed_in(entry) if layer == "run" else set()
        self._publish_all(before | self._places(layer, owner) | observed | {owner})
        return self._generation

    def _numbered(self, layer: Layer, owner: str, findings: Sequence[Finding], pending: bool) -> tuple[Finding, ...]:
        """Findings with the numbers of those before that are the same: at the same place, or with the same words; with
        `pending` also with the fixes that these had."""
        entry = self._entries.get((layer, owner))
        before = list(entry.findings) if entry is not None else []
        alike: dict[int, Finding] = {}
        for same in (_place, _words):
            for index, finding in enumerate(findings):
                if index not in alike:
                    old = next((other for other in before if same(other) == same(finding)), None)
                    if old is not None:
                        before.remove(old)
                        alike[index] = old
        known = []
        for index, finding in enumerate(findings):
            old = alike.get(index)
            had = (old.diagnostic.fixes or old.expected) if old is not None and pending else ()
            number = old.number if old is not None else next(self._numbers)
            known.append(replace(finding, number=number, expected=() if finding.diagnostic.fixes else had))
        return tuple(known)

    def keep(self, layer: Layer, owner: str, version: int) -> None:
        """Take the findings, moved along with the text, as valid for this version too."""
        entry = self._entries.get((layer, owner))
        if entry is not None:
            findings = tuple(replace(finding, version=version) for finding in entry.findings)
            self._entries[layer, owner] = replace(entry, findings=findings)
            self._publish_all(self._places(layer, owner) | {owner})

    def clear(self, layer: Layer, owner: str | None = None) -> None:
        """Forget a layer, of one owner or of all."""
        keys = [key for key in self._entries if key[0] == layer and owner in (None, key[1])]
        places = {place for key in keys for place in self._places(*key)} | ({owner} if owner is not None else set())
        if layer == "run":
            places |= {path for key in keys for path in _observed_in(self._entries[key])}
        for key in keys:
            del self._entries[key]
        self._publish_all(places)

    def generation(self, layer: Layer, owner: str) -> int:
        """Counts up with each replacement; 0 where there is nothing."""
        entry = self._entries.get((layer, owner))
        return entry.generation if entry is not None else 0

    def is_whole(self, layer: Layer, owner: str) -> bool:
        """Whether all that was found is still there: no change of a text has reached into it."""
        entry = self._entries.get((layer, owner))
        return entry is not None and entry.whole

    def text_changed(self, path: str, changes: Sequence[TextChange], layer: Layer | None = None) -> None:
        """Move everything in `path` along with its text; drop or mark what a change reached into.

        Nothing is published unless a run's diagnostic went stale: editors move their markers themselves. `layer`: only
        what that layer holds.
        """
        republish: set[str] = set()
        marked = False
        for key, entry in self._entries.items():
            if layer not in (None, key[0]) or not changes or path not in self._mentioned(entry):
                continue
            moved = _moved_entry(entry, path, changes)
            if key[0] == "run" and _standing(moved) != _standing(entry):
                republish |= self._places(*key) | {path}
            marked = marked or (key[0] == "run" and _beside_lines(moved) != _beside_lines(entry))
            self._entries[key] = moved if key == ("static", path) else _unsure(moved)
        self._publish_all(republish)
        if marked and path not in republish:
            self._mark(path)

    def findings(self, path: str) -> list[Finding]:
        """The findings to show in one file, each thing once: a run's diagnostic that the analysis shares confirms it."""
        static = _distinct(self._findings("static", path))
        run = [_measured(finding) for finding in _distinct(self._findings("run", path))]
        merged = []
        for finding in static:
            same = [other for other in run if _agree(finding.diagnostic, other.diagnostic)]
            run = [other for other in run if other not in same]
            fresh = [other for other in same if not other.stale]
            merged.append(_confirmed(finding, fresh) if fresh else finding)
        return sorted([*merged, *run], key=lambda finding: (finding.diagnostic.start, finding.diagnostic.code))

    def notes(self, path: str) -> list[Note]:
        """The notes in one file about findings in others: one note a line and code, and none where that is found
        on the line itself."""
        found: dict[tuple[int, str], Note] = {}
        for other in sorted(self._noted(path) - {path}):
            for finding in self.findings(other):
                place = _seen_from(path, finding.diagnostic)
                if place is not None and not finding.stale:
                    found.setdefault((place.start.line, finding.diagnostic.code), Note(finding, place))
        for finding in self.findings(path):
            for line in range(finding.diagnostic.start.line, finding.diagnostic.end.line + 1):
                found.pop((line, finding.diagnostic.code), None)
        return [note for _, note in sorted(found.items(), key=lambda item: item[0])]

    def finding(self, number: int) -> Finding | None:
        """The finding with a number, as it is to be shown now."""
        paths = {
            finding.diagnostic.path
            for entry in self._entries.values()
            for finding in entry.findings
            if finding.number == number
        }
        return next((found for path in paths for found in self.findings(path) if found.number == number), None)

    def observed(self) -> list[TensorFact]:
        """The facts of all runs that still stand, one for each place."""
        facts = (fact for (layer, _), entry in self._entries.items() if layer == "run" for fact in entry.facts)
        return list({(fact.path, fact.start, fact.end): fact for fact in facts}.values())

    def failures(self) -> list[Finding]:
        """The findings of runs in all files, as they are to be shown now."""
        paths = {
            finding.diagnostic.path
            for (layer, _), entry in self._entries.items()
            if layer == "run"
            for finding in entry.findings
        }
        return [
            finding
            for path in sorted(paths)
            for finding in self.findings(path)
            if finding.confirmed or finding.diagnostic.layer == "run"
        ]

    def facts(self, path: str) -> list[TensorFact]:
        """Static and observed facts about one file, in the order of their places."""
        found = [fact for entry in self._entries.values() for fact in entry.facts if fact.path == path]
        return sorted(found, key=lambda fact: (fact.start, fact.end, fact.layer))

    def lines(self, path: str) -> list[RunLine]:
        """The lines of one file of which runs have told whether they reached them, in order."""
        found: dict[Position, RunLine] = {}
        for entry in self._entries.values():
            for line in entry.lines:
                if line.path == path and (line.reached or line.start not in found):
                    found[line.start] = line
        return [found[start] for start in sorted(found)]

    def _findings(self, layer: Layer, path: str) -> Iterator[Finding]:
        for (of, _), entry in sorted(self._entries.items(), key=lambda item: item[0][1] != path):
            if of == layer:
                yield from (finding for finding in entry.findings if finding.diagnostic.path == path)

    def _noted(self, path: str) -> set[str]:
        """The files with findings that something in this one explains."""
        return {
            finding.diagnostic.path
            for entry in self._entries.values()
            for finding in entry.findings
            if any(related.path == path for related in finding.diagnostic.related)
        }

    def _places(self, layer: Layer, owner: str) -> set[str]:
        """The files in which something is shown of what an owner has: findings, and notes of them."""
        entry = self._entries.get((layer, owner))
        return set(entry.places) if entry is not None else set()

    def _mentioned(self, entry: _Entry) -> set[str]:
        mentioned = _observed_in(entry)
        for finding in entry.findings:
            mentioned |= {path for path, _, _ in _places_of(finding.diagnostic)}
        return mentioned

    def _publish_all(self, paths: set[str]) -> None:
        for path in sorted(paths):
            self._publish(path)


def _observed_in(entry: _Entry) -> set[str]:
    """The files that facts and lines are about."""
    return {fact.path for fact in entry.facts} | {line.path for line in entry.lines}


def preferred(fixes: Sequence[Fix]) -> Fix | None:
    """The first safe fix, or the only one."""
    return next((fix for fix in fixes if fix.safe or len(fixes) == 1), None)


def _place(finding: Finding) -> tuple[str, str, Position]:
    return finding.diagnostic.path, finding.diagnostic.code, finding.diagnostic.start


def _words(finding: Finding) -> tuple[str, str, str]:
    return finding.diagnostic.path, finding.diagnostic.code, finding.diagnostic.message


def _seen_from(path: str, diagnostic: Diagnostic) -> Related | None:
    """The place in another file by which a diagnostic is noted there: the call that leads to it, else the first one."""
    if diagnostic.path == path or diagnostic.severity == "hint":
        return None
    places = [related for related in diagnostic.related if related.path == path]
    return next((place for place in places if place.call), places[0] if places else None)


def _shown_in(diagnostics: Sequence[Diagnostic]) -> frozenset[str]:
    """The files in which something is shown of findings: they themselves, and notes of them."""
    return frozenset(path for item in diagnostics for path in (item.path, *(related.path for related in item.related)))


def _places_of(diagnostic: Diagnostic) -> Iterator[tuple[str, Position, Position]]:
    yield diagnostic.path, diagnostic.start, diagnostic.end
    yield from ((related.path, related.start, related.end) for related in diagnostic.related)
    yield from ((edit.path, edit.start, edit.end) for fix in diagnostic.fixes for edit in fix.edits)


def _moved(
    place: tuple[str, Position, Position], path: str, changes: Sequence[TextChange]
) -> tuple[Position, Position] | None:
    of, start, end = place
    span: tuple[Position, Position] | None = (start, end)
    for change in changes if of == path else ():
        span = change.moved(*span) if span is not None else None
    return span


def _touched(place: tuple[str, Position, Position], path: str, changes: Sequence[TextChange]) -> bool:
    of, start, end = place
    if of != path:
        return False
    for change in changes:
        if change.touches_lines(start, end):
            return True
        span = change.moved(start, end)
        if span is None:
            return True
        start, end = span
    return False


def _moved_entry(entry: _Entry, path: str, changes: Sequence[TextChange]) -> _Entry:
    moved = (_moved_finding(finding, path, changes) for finding in entry.findings)
    findings = tuple(finding for finding in moved if finding is not None)
    facts = tuple(_moved_facts(entry.facts, path, changes))
    whole = entry.whole and len(facts) == len(entry.facts) and _parts(findings) == _parts(entry.findings)
    lines = tuple(_moved_lines(entry.lines, path, changes))
    return replace(entry, findings=findings, facts=facts, lines=lines, whole=whole)


def _unsure(entry: _Entry) -> _Entry:
    """Findings of which it is open whether it holds for the newest text of another file."""
    return replace(entry, findings=tuple(replace(finding, version=None) for finding in entry.findings))


def _parts(findings: Sequence[Finding]) -> int:
    """How many findings there are, with the places that explain them and their fixes."""
    return sum(1 + len(finding.diagnostic.related) + len(finding.diagnostic.fixes) for finding in findings)


def _standing(entry: _Entry) -> list[bool]:
    """The properties of findings that an edit may change besides their places: which there are, and which are stale."""
    return [finding.stale for finding in entry.findings]


def _beside_lines(entry: _Entry) -> tuple[int, int]:
    """How much a run left beside the lines."""
    return len(entry.facts), len(entry.lines)


def _moved_finding(finding: Finding, path: str, changes: Sequence[TextChange]) -> Finding | None:
    """The finding after a change; None if it lost its place.

    A run's diagnostic whose repair was made (or whose place of repair changed) is gone until the next run; one whose
    own line, or a line that explains it, changed is stale.
    """
    diagnostic = finding.diagnostic
    run = diagnostic.layer == "run"
    repairs = [edit for fix in diagnostic.fixes for edit in fix.edits]
    if run and any(_touched((edit.path, edit.start, edit.end), path, changes) for edit in repairs):
        return None
    span = _moved((diagnostic.path, diagnostic.start, diagnostic.end), path, changes)
    if span is None:
        if not run:
            return None
        # The line was typed in: the marker stays on it as well as it can.
        span = (diagnostic.start, diagnostic.end)
    touched = any(_touched(place, path, changes) for place in _places_of(diagnostic))
    related = tuple(other for item in diagnostic.related if (other := _moved_related(item, path, changes)))
    fixes = (
        () if run and touched else tuple(fix for item in diagnostic.fixes if (fix := _moved_fix(item, path, changes)))
    )
    moved = replace(diagnostic, start=span[0], end=span[1], related=related, fixes=fixes)
    return replace(finding, diagnostic=moved, stale=finding.stale or (run and touched))


def _moved_related(related: Related, path: str, changes: Sequence[TextChange]) -> Related | None:
    span = _moved((related.path, related.start, related.end), path, changes)
    return None if span is None else replace(related, start=span[0], end=span[1])


def _moved_fix(fix: Fix, path: str, changes: Sequence[TextChange]) -> Fix | None:
    edits: list[Edit] = []
    for edit in fix.edits:
        span = _moved((edit.path, edit.start, edit.end), path, changes)
        if span is None:
            return None
        edits.append(replace(edit, start=span[0], end=span[1]))
    return replace(fix, edits=tuple(edits))


def _moved_facts(facts: Sequence[TensorFact], path: str, changes: Sequence[TextChange]) -> Iterator[TensorFact]:
    for fact in facts:
        if fact.path != path:
            yield fact
            continue
        if fact.layer == "run" and _touched((fact.path, fact.start, fact.end), path, changes):
            continue
        span = _moved((fact.path, fact.start, fact.end), path, changes)
        if span is not None:
            yield replace(fact, start=span[0], end=span[1])


def _moved_lines(lines: Sequence[RunLine], path: str, changes: Sequence[TextChange]) -> Iterator[RunLine]:
    for line in lines:
        if line.path != path:
            yield line
        elif not _touched((line.path, line.start, line.end), path, changes):
            span = _moved((line.path, line.start, line.end), path, changes)
            if span is not None:
                yield replace(line, start=span[0], end=span[1])


def _distinct(findings: Iterator[Finding]) -> list[Finding]:
    """Each diagnostic once, the file's own analysis before that of files which import it."""
    seen: dict[tuple[str, Position, Position], Finding] = {}
    for finding in findings:
        diagnostic = finding.diagnostic
        seen.setdefault((diagnostic.code, diagnostic.start, diagnostic.end), finding)
    return list(seen.values())


def _agree(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether a finding of the analysis and one of a run are the same fault: one code, on overlapping lines, or the run
    stopped at a place that the analysis names, too, or names what holds the place that the analysis found. What a run has no
    name for is what the analysis says of the line."""
    beside = one.start.line <= other.end.line and other.start.line <= one.end.line
    if one.code == other.code:
        stopped = any(
            item.path == other.path and other.start.line <= item.start.line <= other.end.line for item in one.related
        )
        named = any(item.path == one.path and item.start <= one.start and one.end <= item.end for item in other.related)
        return beside or stopped or named
    return beside and other.code in _UNNAMED and one.severity == other.severity == "error"


def _measured(finding: Finding) -> Finding:
    """A run's finding, with its fixes marked as measured by the run."""
    return replace(finding, measured=frozenset(fix.edits for fix in finding.diagnostic.fixes if not fix.verified))


def _confirmed(finding: Finding, run: list[Finding]) -> Finding:
    """The static diagnostic with what the run adds to it."""
    related, fixes = list(finding.diagnostic.related), list(finding.diagnostic.fixes)
    measured: frozenset[tuple[Edit, ...]] = frozenset()
    for other in run:
        known = {(item.path, item.start) for item in related}
        related += [item for item in other.diagnostic.related if (item.path, item.start) not in known]
        edits = {fix.edits for fix in fixes}
        fixes += [fix for fix in other.diagnostic.fixes if fix.edits not in edits]
        measured |= other.measured - edits
    operands = next((other.diagnostic.operands for other in run if other.diagnostic.operands), ())
    merged = replace(finding.diagnostic, related=tuple(related), fixes=tuple(fixes), operands=operands)
    return replace(finding, diagnostic=merged, confirmed=True, measured=measured)
