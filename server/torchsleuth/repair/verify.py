"""Keeps only those repairs that, applied to the text in memory and re-analysed, make the finding go away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torchsleuth.rules.rule import Candidate
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.syntax.text import SourceText

MAX_FIXES = 3
"""Fixes offered for one diagnostic."""
MAX_TRIALS = 12
"""Candidates tried for one diagnostic."""


@dataclass(frozen=True)
class Checked:
    """The diagnostics of one analysis, and how many operators it could not decide."""

    diagnostics: tuple[Diagnostic, ...]
    undecided: int


Recheck = Callable[[Mapping[str, str]], Checked]
"""The result of analysing again with the texts of these files replaced."""


def verified_fixes(
    diagnostic: Diagnostic,
    candidates: tuple[Candidate, ...],
    before: Checked,
    source_of: Callable[[str], SourceText],
    recheck: Recheck,
) -> tuple[Fix, ...]:
    """The candidates that work, as verified fixes: the safe ones first, then those that leave fewer findings, in order."""
    kept: list[tuple[int, Fix]] = []
    for candidate in candidates[:MAX_TRIALS]:
        if len(kept) == MAX_FIXES:
            break
        texts = {path: source_of(path).apply(candidate.edits) for path in {edit.path for edit in candidate.edits}}
        after = recheck(texts)
        if repaired(diagnostic, before, after):
            left = sum(item.severity != "hint" for item in after.diagnostics)
            kept.append((left, Fix(candidate.title, candidate.edits, candidate.safe, verified=True)))
    return tuple(fix for _, fix in sorted(kept, key=lambda item: (not item[1].safe, item[0])))


def repaired(diagnostic: Diagnostic, before: Checked, after: Checked) -> bool:
    """One finding of this code less, none of any code more, and nothing hidden: as much is decided as before."""
    old, new = (Counter(item.code for item in checked.diagnostics) for checked in (before, after))
    fewer = new[diagnostic.code] < old[diagnostic.code] and all(count <= old[code] for code, count in new.items())
    return fewer and after.undecided <= before.undecided
