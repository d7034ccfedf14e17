"""Keeps only those repairs that, applied to the text in memory and re-analysed, make the finding go away."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, islice
from typing import TypeVar

from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Candidates
from torchsleuth.schema import Diagnostic, Edit, Fix, Related, Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.text import SourceText

T = TypeVar("T")
MAX_FIXES = 3
"""Fixes offered for one diagnostic."""
MAX_AT_CALL = 2
"""Fixes offered besides at the call that leads to it."""
MAX_TRIALS = 12
"""Candidates tried for one diagnostic."""
MAX_LINKS = 5
"""Repairs that build on each other."""
MAX_CHAINED = 24
"""Candidates tried for what the repairs of one diagnostic uncover."""
MAX_BRANCHES = 6
"""Candidates tried for an error that a repair uncovered."""
MAX_TOGETHER = 6
"""Findings of one code that are repaired together."""
_APART = (
    (r"TS1(?!15)", r"TS2|TS30[1-79]|TS[457]"),  # sizes are neither devices nor dtypes, nor the order of a loop
    (r"TS2", r"TS[1357]"),
    (r"TS30[127]", r"TS[1257]"),  # a conversion changes no size
)
"""Findings that a repair does not cause: codes of repairs, and of the findings that it can only uncover."""

_OF_ALL_KINDS = frozenset({"TS199", "TS825"})
"""Codes whose findings have nothing in common."""

Place = tuple[str, str, int]
"""The message, its file, and the offset in it."""


Found = tuple[Diagnostic, Candidates]
"""A finding, with the candidates for it."""


@dataclass(frozen=True)
class Checked:
    """One analysis, and what was found in it."""

    found: tuple[Found, ...]
    analysis: Analysis

    @cached_property
    def undecided(self) -> frozenset[Span]:
        """The operators whose outcome it could not decide."""
        return frozenset(span for span, count in self.analysis.trace.undecided.items() if count > 0)

    @property
    def times_undecided(self) -> int:
        """How often, as one operator is met in several executions."""
        return self.analysis.trace.undecided.total()

    def source_of(self, path: str) -> SourceText:
        return self.analysis.source_of(path)

    def place(self, item: Diagnostic | Related | Span, what: str = "") -> Place:
        return what, item.path, self.source_of(item.path).offset(item.start)

    def ends(self, item: Diagnostic | Span) -> tuple[Place, Place]:
        return self.place(item), ("", item.path, self.source_of(item.path).offset(item.end))

    def places(self, item: Diagnostic) -> list[Place]:
        """The message of a finding, and its places. What is said of a call that leads to it is only known of the first analysis."""
        related = (self.place(part, "" if part.call else part.message) for part in item.related)
        return [self.place(item, item.code + item.message), *related]

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each code was found."""
        return Counter(item.code for item, _ in self.found)

    @cached_property
    def settled(self) -> frozenset[Span]:
        """The operations that worked, on operands whose sizes were all known, in every execution."""
        trace = self.analysis.trace
        clear = (seen for place, seen in trace.facts.items() if place not in trace.obscure)
        worked = {seen.site.span for seen in clear if all(spec.shape is not None for spec in seen.specs)}
        for part in trace.operations:
            shapes = [("?",) if spec.shape is None else spec.shape for spec in part.specs]
            if not shapes or not all(isinstance(size, int) for shape in shapes for size in shape):
                worked.discard(part.site.span)
        return frozenset(worked - {failure.operation.site.span for failure in trace.failures})

    @cached_property
    def faults(self) -> Counter[str]:
        """The same without hints."""
        return Counter(item.code for item, _ in self.found if item.severity != "hint")


Recheck = Callable[[Mapping[str, str]], Checked | None]
"""The result of analysing again with the texts of these files replaced; None where that cannot be done."""
Trials = Generator[None, None, T]
"""Work that pauses after each text it has analysed again, so that more urgent things can be done in between."""


@dataclass(frozen=True)
class State:
    """The state that a candidate, or several one after another, have led to. `texts`: those that are changed. `start`: the first
    analysis, and which of its findings is repaired. `moved`: where an offset of the text before is here, `since` that
    of the first one."""

    texts: Mapping[str, str]
    checked: Checked
    start: tuple[Checked, Diagnostic]
    titles: tuple[str, ...] = ()
    safe: bool = True
    moved: Callable[[Place], Place] = lambda place: place
    since: Callable[[Place], Place] = lambda place: place
    inserted: frozenset[tuple[str, int, int]] = frozenset()
    """The parts that are only in the text since: the file, and from which offset to which."""

    def after(self, candidate: Candidate, recheck: Recheck) -> State | None:
        sources = {path: self.checked.source_of(path) for path in {edit.path for edit in candidate.edits}}
        texts = {**self.texts, **{path: source.apply(candidate.edits) for path, source in sources.items()}}
        checked = recheck(texts)
        if checked is None:
            return None

        def moved(place: Place) -> Place:
            what, path, offset = place
            return what, path, edits.moved(sources[path], candidate.edits, offset) if path in sources else offset

        titles, safe = (*self.titles, candidate.title), self.safe and candidate.safe
        inserted = {
            (path, moved(("", path, start))[2], moved(("", path, end))[2]) for path, start, end in self.inserted
        }
        for edit in candidate.edits:
            # What is put around something is as unknown as that is.
            if sources[edit.path].slice(edit.start, edit.end) in edit.new_text:
                end = moved(("", edit.path, sources[edit.path].offset(edit.end)))[2]
                inserted.add((edit.path, end - len(edit.new_text), end))

        def since(place: Place) -> Place:
            return moved(self.since(place))

        return State(texts, checked, self.start, titles, safe, moved, since, frozenset(inserted))

    @property
    def hides(self) -> bool:
        """Whether more is undecided than before, and not only what was put in."""
        before = self.start[0]
        if self.checked.times_undecided <= before.times_undecided:
            return False
        known = {self.since(before.place(span)) for span in before.undecided}
        for span in self.checked.undecided:
            place = self.checked.place(span)
            inserted = any(path == place[1] and start <= place[2] < end for path, start, end in self.inserted)
            if place not in known and not inserted:
                return True
        return False

    @cached_property
    def new(self) -> list[Found]:
        """The faults that the first analysis did not find."""
        before, repaired = self.start
        known = {self.since(before.place(item, item.code)) for item, _ in before.found if item != repaired}
        found = [pair for pair in self.checked.found if pair[0].severity != "hint"]
        return [pair for pair in found if self.checked.place(pair[0], pair[0].code) not in known]

    @property
    def gone(self) -> list[Diagnostic]:
        """The other findings of the first analysis that are no more."""
        before, repaired = self.start
        left = {self.checked.place(item, item.code) for item, _ in self.checked.found}
        others = [item for item, _ in before.found if item != repaired]
        return [item for item in others if self.since(before.place(item, item.code)) not in left]

    @cached_property
    def uncovers(self) -> bool:
        """Whether there are new faults, and none of them at an operation that worked in the first analysis: the execution
        ended before it came there."""
        worked = (
            {tuple(map(self.since, self.start[0].ends(span))) for span in self.start[0].settled} if self.new else ()
        )
        return bool(self.new) and not any(self.checked.ends(item) in worked for item, _ in self.new)

    def fails_with(self, diagnostic: Diagnostic, before: State) -> bool:
        """Whether what was found in the state before is still there: the same is said of the same places. Of two layers
        in one call, each is another finding."""
        same = [self.moved(place) for place in before.checked.places(diagnostic)]
        return any(self.checked.places(item) == same for item, _ in self.new)

    @property
    def fix(self) -> Fix:
        source_of = self.start[0].source_of
        changes = [edit for path, text in self.texts.items() for edit in edits.between(source_of(path), text)]
        titles = list(dict.fromkeys(self.titles))
        title, more = "; ".join(titles[:2]), len(titles) - 2
        title = message("fix.chain", title=title, count=more) if more > 0 else title
        return Fix(title, tuple(changes), self.safe, verified=True)


def verified_fixes(
    diagnostic: Diagnostic,
    candidates: Candidates,
    before: Checked,
    recheck: Recheck,
    shared: dict[Diagnostic, list[Fix]],
) -> Trials[tuple[Fix, ...]]:
    """The candidates that work, as verified fixes: the safe ones first, then those that leave fewer findings, in order.
    Where none does alone: one that works together with repairs of what it uncovers, if the execution ended here. Then those at
    the call that leads to the finding.
    `shared` gets the fixes for the other findings that they repair."""
    start, opened = State({}, before, (before, diagnostic)), list[State]()
    kept = yield from _working(candidates, MAX_FIXES, start, recheck, shared, opened)
    if not kept and opened:
        chain = yield from _chained(diagnostic, before, opened, recheck)
        alone = next((state for state in opened if _harmless(diagnostic, before, state)), None)
        kept = tuple(state.fix for state in (chain, alone) if state is not None)
    at_call = yield from _working(candidates.at_call, MAX_AT_CALL, start, recheck, shared, [])
    return (*kept, *at_call)


def _working(
    candidates: Iterable[Candidate],
    most: int,
    start: State,
    recheck: Recheck,
    shared: dict[Diagnostic, list[Fix]],
    opened: list[State],
) -> Trials[tuple[Fix, ...]]:
    """The candidates that work alone. `opened` gets the states of those that uncover other faults."""
    before, diagnostic = start.start
    kept: list[tuple[int, Fix]] = []
    different: dict[tuple[Edit, ...], Candidate] = {}
    for candidate in candidates:
        different.setdefault(candidate.edits, candidate)
    for candidate in islice(different.values(), MAX_TRIALS):
        if len(kept) == most:
            break
        state = start.after(candidate, recheck)
        yield
        if state is None:
            continue
        if repaired(diagnostic, state):
            left = state.checked.faults.total()
            kept.append((left, Fix(candidate.title, candidate.edits, candidate.safe, verified=True)))
            for item in state.gone:
                shared.setdefault(item, []).append(kept[-1][1])
        elif state.uncovers and not state.fails_with(diagnostic, start):
            opened.append(state)
    return tuple(fix for _, fix in sorted(kept, key=lambda item: (not item[1].safe, item[0])))


def repaired(diagnostic: Diagnostic, state: State) -> bool:
    """One finding of this code less, no other fault more, and nothing hidden: as much is decided as before."""
    before, after = state.start[0], state.checked
    fewer = after.counts[diagnostic.code] < before.counts[diagnostic.code]
    return fewer and after.faults <= before.faults and not state.hides


def _chained(diagnostic: Diagnostic, before: Checked, opened: list[State], recheck: Recheck) -> Trials[State | None]:
    """From one of these states, repair what was uncovered, and so on, until all is repaired.

    What was preferred everywhere is followed to its end first, then what was second best at one place, and so on; a state
    in which the same call fails again is second best."""
    own = diagnostic.code, diagnostic.path
    ways: list[tuple[int, int, int, State]] = []
    for rank, state in enumerate(opened):
        again = any((item.code, item.path) == own for item, _ in state.new)
        heapq.heappush(ways, (rank + again, -1, len(ways), state))
    trials = 0
    while ways:
        cost, depth, _, state = heapq.heappop(ways)
        item, candidates = state.new[0]
        for rank, candidate in enumerate(islice(candidates, MAX_BRANCHES)):
            if trials == MAX_CHAINED:
                return None
            trials += 1
            reached = state.after(candidate, recheck)
            yield
            if reached is None or reached.fails_with(item, state):
                continue
            if repaired(diagnostic, reached):
                return reached
            if depth > 1 - MAX_LINKS and reached.uncovers:
                heapq.heappush(ways, (cost + rank, depth - 1, trials, reached))
    return None


def _harmless(diagnostic: Diagnostic, before: Checked, state: State) -> bool:
    """Whether all that a repair uncovers was there before: it is of a kind that such a repair does not cause."""
    fewer = state.checked.counts[diagnostic.code] < before.counts[diagnostic.code]
    apart = next((found for repairs, found in _APART if re.match(repairs, diagnostic.code)), "(?!)")
    known = all(re.match(apart, item.code) for item, _ in state.new)
    return fewer and known and not state.hides


def together(
    fixes: Mapping[Diagnostic, tuple[Fix, ...]], before: Checked, recheck: Recheck
) -> Trials[dict[Diagnostic, tuple[Fix, ...]]]:
    """The fixes, with one more where several findings of one code have their own: all of these at once, as the script
    still fails with only one of them."""
    groups: dict[str, list[Diagnostic]] = {}
    for diagnostic, own in fixes.items():
        if own and diagnostic.code not in _OF_ALL_KINDS:
            groups.setdefault(diagnostic.code, []).append(diagnostic)
    found = dict(fixes)
    for members in groups.values():
        whole = yield from _at_once([fixes[member][0] for member in members], members, before, recheck)
        if whole is not None:
            for member in members:
                title = message("fix.together", title=fixes[member][0].title, count=len(members) - 1)
                found[member] = (*fixes[member], replace(whole, title=title))
    return found


def _at_once(parts: list[Fix], members: list[Diagnostic], before: Checked, recheck: Recheck) -> Trials[Fix | None]:
    """Several fixes as one, if it repairs these findings and does what no fix may."""
    changes = edits.joined(edit for part in parts for edit in part.edits)
    if not 1 < len(parts) <= MAX_TOGETHER or set(changes) == set(parts[0].edits):
        return None
    if any(edits.meet(one, other) for one, other in combinations(changes, 2)):
        return None
    after = recheck({path: before.source_of(path).apply(changes) for path in {edit.path for edit in changes}})
    yield
    gone = Counter(member.code for member in members)
    if after is None or any(after.counts[code] != before.counts[code] - number for code, number in gone.items()):
        return None
    if not after.faults <= before.faults or after.times_undecided > before.times_undecided:
        return None
    return Fix(parts[0].title, changes, all(part.safe for part in parts), verified=True)


def for_cause(
    group: list[Diagnostic],
    fixes: Mapping[Diagnostic, tuple[Fix, ...]],
    shared: Mapping[Diagnostic, list[Fix]],
    before: Checked,
    recheck: Recheck,
) -> Trials[tuple[Fix, ...]]:
    """The fixes for findings of one cause: first those that repair all of them, then those for the first one."""
    first, *others = group
    own = fixes.get(first) or tuple(dict.fromkeys(shared.get(first, ())))[:MAX_FIXES]
    if not others:
        return own
    repairing = {
        member: {fix.edits: fix for fix in (*shared.get(member, ()), *fixes.get(member, ()))} for member in group
    }

    def of_all(fix: Fix) -> bool:
        return all(fix.edits in repairing[member] for member in group)

    whole = list(filter(of_all, own))
    if not whole:
        parts: list[Fix] = []
        for member in group:
            if not any(part.edits in repairing[member] for part in parts):
                parts += fixes.get(member, ())[:1]
        made = yield from _at_once(parts, group, before, recheck)
        if made is not None:
            whole = [replace(made, title=message("fix.together", title=made.title, count=len(parts) - 1))]
    whole += [fix for member in others for fix in fixes.get(member, ()) if of_all(fix)]
    different: dict[tuple[tuple[str, str], ...], Fix] = {}
    for fix in (*whole, *own):
        paths = sorted({edit.path for edit in fix.edits})
        different.setdefault(tuple((path, before.source_of(path).apply(fix.edits)) for path in paths), fix)
    return tuple(different.values())[:MAX_FIXES]
