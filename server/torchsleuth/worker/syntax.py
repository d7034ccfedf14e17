"""The engine without PyTorch: the rules that read names and text, with fixes verified by asking those rules again.

The stand-in for the engine before PyTorch is imported, where there is none, and where nothing of the workspace may be
started. It reads the one document and no other file. Only a tenth of the rules is loaded, so that it answers at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from torchsleuth.faults import FAULTS
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.trace import Trace
from torchsleuth.messages import message
from torchsleuth.repair.verify import Checked, Found, T, Trials, together, verified_fixes
from torchsleuth.rules.rule import Analysis, Candidates, Rule, load_rule
from torchsleuth.schema import Diagnostic, FileAnalysis, Fix
from torchsleuth.syntax.parse import parses
from torchsleuth.syntax.text import SourceText
from torchsleuth.worker.request import Analyze, Repair, Request, Served

VERIFY_SECONDS = 2.0
"""Time of the processor that the fixes of one document may take."""


class SyntaxEngine(Served):
    """Answers as if nothing were known of any value."""

    unrepaired = False

    def __init__(self) -> None:
        self._rules = {code: load_rule(fault) for code, fault in FAULTS.items() if fault.syntactic}

    def ask(self, request: Request) -> FileAnalysis:
        if not isinstance(request, Analyze | Repair):
            return FileAnalysis(request.path, stats={"internal_errors": [], "incomplete": message("worker.syntax")})
        path, codes = request.path, request.codes
        rules = [rule for code, rule in self._rules.items() if (rule.fault.default if codes is None else code in codes)]
        analysis = _unknown(path, request.text)
        checked = Checked(tuple(_diagnose(analysis, rules)), analysis)
        verify = isinstance(request, Repair) or request.verify
        found = _repaired(checked, rules) if verify else (diagnostic for diagnostic, _ in checked.found)
        return FileAnalysis(
            path,
            tuple(found),
            stats={"internal_errors": analysis.trace.internal_errors, "incomplete": message("worker.syntax")},
        )

    def vocabulary(self) -> list[str]:
        return []

    def save(self) -> None:
        pass


def _unknown(path: str, text: str) -> Analysis:
    """An analysis in which nothing was seen."""
    return Analysis(SourceText(path, text), Trace(), Workspace({path: text}, ()))


def _diagnose(analysis: Analysis, rules: Sequence[Rule]) -> list[Found]:
    found: list[Found] = []
    for rule in rules:

        def failed(error: Exception, code: str = rule.code) -> None:
            analysis.trace.internal_errors.append(f"{code}: {type(error).__name__}: {error}")

        try:
            for item in rule.find(analysis):
                at, severity = item.at, item.severity or rule.fault.severity
                diagnostic = Diagnostic(
                    at.path, rule.code, rule.fault.name, severity, item.message, at.start, at.end, item.related
                )
                found.append((diagnostic, Candidates(item.candidates, failed)))
        except Exception as error:
            failed(error)
    return sorted(found, key=lambda pair: (pair[0].path, pair[0].start, pair[0].code))


def _repaired(before: Checked, rules: Sequence[Rule]) -> Iterator[Diagnostic]:
    path, began = before.analysis.source.path, time.process_time()

    def recheck(texts: Mapping[str, str]) -> Checked | None:
        if set(texts) != {path} or time.process_time() - began > VERIFY_SECONDS or not parses(texts[path]):
            return None
        analysis = _unknown(path, texts[path])
        return Checked(tuple(_diagnose(analysis, rules)), analysis)

    fixes: dict[Diagnostic, tuple[Fix, ...]] = {}
    shared: dict[Diagnostic, list[Fix]] = {}
    for diagnostic, candidates in before.found:
        fixes[diagnostic] = _finished(verified_fixes(diagnostic, candidates, before, recheck, shared))
    fixes = _finished(together(fixes, before, recheck))
    return (diagnostic.with_fixes(fixes[diagnostic]) for diagnostic, _ in before.found)


def _finished(trials: Trials[T]) -> T:
    """The result of trials, without pauses."""
    while True:
        try:
            next(trials)
        except StopIteration as end:
            found: T = end.value
            return found
