"""Findings told in the user's own code: what is found where a framework's source is followed has its cause there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from torchsleuth.interp.library.frameworks import is_ours
from torchsleuth.rules.rule import Candidate, Finding
from torchsleuth.schema import Span


def in_users_code(finding: Finding) -> Finding | None:
    """A finding without the places that the user does not have: told at the first of those that he has, if it stands at none of
    them itself; None where there is no such place."""
    if not is_ours(finding.at.path) and not any(is_ours(one.path) for one in finding.related):
        return finding
    related = tuple(one for one in finding.related if not is_ours(one.path))
    at = finding.at
    if is_ours(at.path):
        place = next((one for one in related if not one.call), None)
        if place is None:
            return None
        at, related = Span(place.path, place.start, place.end), tuple(one for one in related if one is not place)
    return replace(finding, at=at, related=related, candidates=_of_users_code(finding.candidates))


def _of_users_code(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    return (one for one in candidates if not any(is_ours(edit.path) for edit in one.edits))
