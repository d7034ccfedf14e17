"""Keeps only those repairs that, applied to the text in memory and re-analysed, make the finding go away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from torchsleuth.messages import message
from torchsleuth.rules.rule import Candidate
from torchsleuth.schema import Diagnostic, Edit, Fix
from torchsleuth.syntax import edits
from torchsleuth.syntax.text import SourceText

T = TypeVar("T")
MAX_FIXES = 3
"""Fixes offered for one diagnostic."""
MAX_TRIALS = 12
"""Candidates tried for one diagnostic."""
MAX_TOGETHER = 6
"""Findings of one code that are repaired together."""


@dataclass(frozen=True)
class Checked:
    """The diagnostics of one analysis, and how many operators it could not decide."""

    diagnostics: tuple[Diagnostic, ...]
    undecided: int


Recheck = Callable[[Mapping[str, str]], Checked]
"""The result of analysing again with the texts of these files replaced."""
Trials = Generator[None, None, T]
"""Work that pauses after each text it has analysed again, so that more urgent things can be done in between."""


def verified_fixes(
    diagnostic: Diagnostic,
    candidates: tuple[Candidate, ...],
    before: Checked,
    source_of: Callable[[str], SourceText],
    recheck: Recheck,
) -> Trials[tuple[Fix, ...]]:
    """The candidates that work, as verified fixes: the safe ones first, then those that leave fewer findings, in order."""
    kept: list[tuple[int, Fix]] = []
    different = {candidate.edits: candidate for candidate in reversed(candidates)}
    tried = [candidate for candidate in candidates if different[candidate.edits] is candidate]
    for candidate in tried[:MAX_TRIALS]:
        if len(kept) == MAX_FIXES:
            break
        texts = {path: source_of(path).apply(candidate.edits) for path in {edit.path for edit in candidate.edits}}
        after = recheck(texts)
        yield
        if repaired(diagnostic, before, after):
            left = sum(item.severity != "hint" for item in after.diagnostics)
            kept.append((left, Fix(candidate.title, candidate.edits, candidate.safe, verified=True)))
    return tuple(fix for _, fix in sorted(kept, key=lambda item: (not item[1].safe, item[0])))


def repaired(diagnostic: Diagnostic, before: Checked, after: Checked) -> bool:
    """One finding of this code less, none of any code more, and nothing hidden: as much is decided as before."""
    old, new = (Counter(item.code for item in checked.diagnostics) for checked in (before, after))
    fewer = new[diagnostic.code] < old[diagnostic.code] and all(count <= old[code] for code, count in new.items())
    return fewer and after.undecided <= before.undecided


def together(
    found: list[Diagnostic], before: Checked, source_of: Callable[[str], SourceText], recheck: Recheck
) -> Trials[list[Diagnostic]]:
    """The diagnostics, with one fix more where several of one code have their own: all of these at once, as the script
    still fails with only one of them."""
    groups: dict[str, list[Diagnostic]] = {}
    for diagnostic in found:
        if diagnostic.fixes:
            groups.setdefault(diagnostic.code, []).append(diagnostic)
    more: dict[str, tuple[Edit, ...]] = {}
    for code, members in groups.items():
        changes = tuple(dict.fromkeys(edit for diagnostic in members for edit in diagnostic.fixes[0].edits))
        if not 1 < len(members) <= MAX_TOGETHER or len(changes) == len(members[0].fixes[0].edits):
            continue
        if any(edits.meet(one, other) for one, other in combinations(changes, 2)):
            continue
        after = recheck({path: source_of(path).apply(changes) for path in {edit.path for edit in changes}})
        yield
        old, new = (Counter(item.code for item in checked.diagnostics) for checked in (before, after))
        gone = new[code] == old[code] - len(members) and all(count <= old[other] for other, count in new.items())
        if gone and after.undecided <= before.undecided:
            more[code] = changes
    return [_with(diagnostic, groups, more) for diagnostic in found]


def _with(
    diagnostic: Diagnostic, groups: Mapping[str, list[Diagnostic]], more: Mapping[str, tuple[Edit, ...]]
) -> Diagnostic:
    if diagnostic.code not in more or not diagnostic.fixes:
        return diagnostic
    members = groups[diagnostic.code]
    title = message("fix.together", title=diagnostic.fixes[0].title, count=len(members) - 1)
    safe = all(member.fixes[0].safe for member in members)
    fix = Fix(title, more[diagnostic.code], safe, verified=True)
    return diagnostic.with_fixes((*diagnostic.fixes, fix))
