"""One document in, diagnostics with verified fixes and tensor facts out: interpreter, rules and repair together."""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping, Sequence

from torchsleuth.interp.budget import Budget
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.interpreter import Interpreter
from torchsleuth.interp.trace import Trace
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.repair.verify import Checked, verified_fixes
from torchsleuth.rules.registry import RULES
from torchsleuth.rules.rule import Analysis, Candidate, Rule
from torchsleuth.schema import Diagnostic, DimJson, FileAnalysis, TensorFact
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.spec import TensorSpec

VERIFY_SECONDS = 4.0
"""Time after which remaining candidates are no longer tried; unverified ones are never offered."""


class Engine:
    """Holds the oracle, whose memo is shared by all documents and kept across edits."""

    def __init__(self, oracle: Oracle | None = None) -> None:
        self.oracle = oracle or Oracle()

    def analyze(
        self,
        path: str,
        text: str,
        overlay: Mapping[str, str] | None = None,
        roots: tuple[str, ...] = (),
        verify: bool = True,
        codes: Sequence[str] | None = None,
    ) -> FileAnalysis:
        """Analyse a document. `overlay`: texts of other open documents. `roots`: folders that imports start from.
        With `verify` false no fixes are computed. `codes`: the rules to ask, None for those on by default."""
        started = time.perf_counter()
        hits, misses = self.oracle.hits, self.oracle.misses
        files = {**(overlay or {}), path: text}
        analysis = self._run(path, files, roots)
        rules = [rule for rule in RULES.values() if (rule.default if codes is None else rule.code in codes)]
        found = self._diagnose(analysis, rules)
        analyzed = time.perf_counter()
        diagnostics = [diagnostic for diagnostic, _ in found]
        if verify:
            diagnostics = self._repair(analysis, found, path, files, roots, rules)
        facts = _facts(analysis, path)
        stats = {
            "analysis_ms": round((analyzed - started) * 1000, 2),
            "verification_ms": round((time.perf_counter() - analyzed) * 1000, 2),
            "hits": self.oracle.hits - hits,
            "misses": self.oracle.misses - misses,
            "facts": len(facts),
            "incomplete": analysis.trace.incomplete,
            "missing": _missing(analysis),
            "stumbles": analysis.trace.stumbles[:20],
        }
        return FileAnalysis(path, tuple(diagnostics), facts, stats)

    def _run(self, path: str, files: Mapping[str, str], roots: tuple[str, ...]) -> Analysis:
        workspace = Workspace(files, roots)
        source = SourceText(path, files[path])
        interpreter = Interpreter(self.oracle, workspace, Budget())
        trace: Trace = interpreter.run_document(source)
        return Analysis(source, trace, workspace, self.oracle.version)

    def _diagnose(self, analysis: Analysis, rules: Sequence[Rule]) -> list[tuple[Diagnostic, tuple[Candidate, ...]]]:
        found: dict[tuple[str, str, int, int], tuple[Diagnostic, tuple[Candidate, ...]]] = {}
        for rule in rules:
            try:
                findings = list(rule.find(analysis))
            except Exception as error:
                analysis.trace.stumbles.append(f"{rule.code}: {type(error).__name__}: {error}")
                continue
            for finding in findings:
                at = finding.at
                severity = finding.severity or rule.severity
                diagnostic = Diagnostic(
                    at.path, rule.code, rule.name, severity, finding.message, at.start, at.end, finding.related
                )
                found.setdefault((rule.code, at.path, at.start.line, at.start.column), (diagnostic, finding.candidates))
        return sorted(found.values(), key=lambda item: (item[0].path, item[0].start, item[0].code))

    def _repair(
        self,
        analysis: Analysis,
        found: list[tuple[Diagnostic, tuple[Candidate, ...]]],
        path: str,
        files: Mapping[str, str],
        roots: tuple[str, ...],
        rules: Sequence[Rule],
    ) -> list[Diagnostic]:
        before = Checked(tuple(diagnostic for diagnostic, _ in found), analysis.trace.undecided)
        deadline = time.perf_counter() + VERIFY_SECONDS

        def recheck(texts: Mapping[str, str]) -> Checked:
            if time.perf_counter() > deadline:
                return before
            if any(not _parses(text) for text in texts.values()):
                return before
            again = self._run(path, {**files, **texts}, roots)
            return Checked(tuple(diagnostic for diagnostic, _ in self._diagnose(again, rules)), again.trace.undecided)

        return [
            diagnostic.with_fixes(verified_fixes(diagnostic, candidates, before, analysis.source_of, recheck))
            for diagnostic, candidates in found
        ]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _facts(analysis: Analysis, path: str) -> tuple[TensorFact, ...]:
    """What is known about each tensor expression; where calls differ, the sizes they agree on."""
    facts: list[TensorFact] = []
    for entries in analysis.trace.facts.values():
        site, spec, _ = entries[0]
        if site.span.path != path:
            continue
        specs = [entry[1] for entry in entries]
        shape = _common_shape(specs)
        if shape is None and all(item.dtype is None for item in specs):
            continue
        first = specs[0]
        facts.append(
            TensorFact(
                path,
                site.span.start,
                site.span.end,
                analysis.source.segment(site.node),
                shape,
                first.dtype if all(item.dtype == first.dtype for item in specs) else None,
                str(first.device) if first.device and all(item.device == first.device for item in specs) else None,
                first.requires_grad if all(item.requires_grad == first.requires_grad for item in specs) else None,
                next((binding for _, _, binding in entries if binding), None),
            )
        )
    return tuple(sorted(facts, key=lambda fact: (fact.start, fact.end)))


def _common_shape(specs: list[TensorSpec]) -> tuple[DimJson, ...] | None:
    shapes = [spec.shape for spec in specs]
    if any(shape is None for shape in shapes):
        return None
    ranks = {len(shape) for shape in shapes if shape is not None}
    if len(ranks) != 1:
        return None
    columns = zip(*(shape for shape in shapes if shape is not None))
    return tuple(
        (column[0] if isinstance(column[0], int) else dims.text(column[0]))
        if all(size == column[0] for size in column)
        else "?"
        for column in columns
    )


def _missing(analysis: Analysis) -> list[tuple[str, str, int]]:
    """Imports that nothing was found for: name, file and line; of a package only the first."""
    found: dict[tuple[str, str], tuple[str, str, int]] = {}
    for (name, path), node in analysis.trace.missing.items():
        found.setdefault((name.partition(".")[0], path), (name, path, getattr(node, "lineno", 1)))
    return list(found.values())
