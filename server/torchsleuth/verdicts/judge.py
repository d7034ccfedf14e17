"""The findings about a training that did not crash: signals are joined, and one cause is named where it explains the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torchsleuth.faults import FAULTS
from torchsleuth.schema import Diagnostic, Position, Severity
from torchsleuth.training import Place, Training
from torchsleuth.verdicts import data, evaluation, finite, numbers, reach, structure
from torchsleuth.verdicts.evidence import Evidence, Finding, Sources
from torchsleuth.verdicts.remedies import remedied

_PARTS: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    structure.findings,
    reach.findings,
    data.findings,
    numbers.findings,
    finite.findings,
    evaluation.findings,
)
_EXPLAINED_BY = {"TS936": frozenset({"TS555", "TS952", "TS956"})}
"""What a finding follows from that explains nothing else: a validation loss that rises, from how its inputs are made."""
OF_ABSENCE = frozenset({"TS503", "TS938"})
"""Findings that say that something never came, which it may still have in a run that was ended early, or seen in parts."""


def verdicts(training: Training, sources: Sources) -> tuple[Diagnostic, ...]:
    """The findings about a training, in the order of their harm, one for each place and code."""
    return verdicts_of_ranks([training], sources)[0]


def verdicts_of_ranks(trainings: Sequence[Training], sources: Sources) -> list[tuple[Diagnostic, ...]]:
    """The findings about trainings that go on together: what is measured in one of them may follow from what is wrong in another."""
    known = [Evidence(training, sources) for training in trainings]
    findings = [[one for part in _PARTS for one in part(evidence)] for evidence in known]
    return [_told(of_one, evidence) for of_one, evidence in zip(chosen(findings), known)]


def _told(findings: list[Finding], evidence: Evidence) -> tuple[Diagnostic, ...]:
    found: dict[object, Diagnostic] = {}
    for finding in findings:
        if finding.place is not None:
            diagnostic = _diagnostic(finding, finding.place, evidence)
            found.setdefault((diagnostic.code, diagnostic.path, diagnostic.start.line), diagnostic)
    return tuple(found.values())


def chosen(findings: Sequence[Sequence[Finding]]) -> list[list[Finding]]:
    """Those of each training that are told, the ones that explain most first."""
    causes = [[one for one in of_training if not one.rank and not one.mild] for of_training in findings]
    first = min((one.rank for of_training in findings for one in of_training if one.rank), default=0)
    told = []
    for of_training, explaining in zip(findings, causes):
        measured = [one for one in of_training if one.rank and one.rank == first and not any(causes)]
        found = {one.code for one in of_training}
        mild = [one for one in of_training if one.mild and not found & _EXPLAINED_BY.get(one.code, frozenset())]
        told.append([*explaining, *measured[:1], *mild])
    return told


def _diagnostic(finding: Finding, place: Place, evidence: Evidence) -> Diagnostic:
    source = evidence.sources(place.path)
    if place.span is not None:
        start, end = (source.from_utf8(*place.span[index : index + 2]) for index in (0, 2))
    else:
        line = source.line(place.line)
        start = Position(place.line, len(line) - len(line.lstrip()) + 1)
        end = Position(place.line, len(line) + 1)
    fault = FAULTS[finding.code]
    severity: Severity = "error" if fault.severity == "error" else "warning"  # what was measured is no hint
    related, fixes = remedied(evidence, finding)
    return Diagnostic(
        place.path, finding.code, fault.name, severity, finding.text, start, end, related, fixes, layer="run"
    )
