"""Keeps only those repairs that, applied to the text in memory and re-analysed, make the finding go away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from torchsleuth.rules.rule import Candidate
from torchsleuth.schema import Diagnostic, Fix
from torchsleuth.syntax.text import SourceText

MAX_FIXES = 3
"""Fixes offered for one diagnostic."""
MAX_TRIALS = 12
"""Candidates tried for one diagnostic."""

Recheck = Callable[[Mapping[str, str]], list[Diagnostic]]
"""The diagnostics after replacing the texts of these files."""


def verified_fixes(
    diagnostic: Diagnostic,
    candidates: tuple[Candidate, ...],
    before: list[Diagnostic],
    source_of: Callable[[str], SourceText],
    recheck: Recheck,
) -> tuple[Fix, ...]:
    """The candidates that work, in order, as verified fixes."""
    kept: list[Fix] = []
    for candidate in candidates[:MAX_TRIALS]:
        if len(kept) == MAX_FIXES:
            break
        texts = {path: source_of(path).apply(candidate.edits) for path in {edit.path for edit in candidate.edits}}
        if repaired(diagnostic, before, recheck(texts)):
            kept.append(Fix(candidate.title, candidate.edits, candidate.safe, verified=True))
    return tuple(kept)


def repaired(diagnostic: Diagnostic, before: list[Diagnostic], after: list[Diagnostic]) -> bool:
    """One finding of this code less, and none of any code more."""
    old, new = (Counter(item.code for item in found) for found in (before, after))
    return new[diagnostic.code] < old[diagnostic.code] and all(count <= old[code] for code, count in new.items())
