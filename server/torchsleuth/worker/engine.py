"""One document in, diagnostics with verified fixes and tensor facts out: interpreter, rules and repair together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from torchsleuth.interp.budget import Budget
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.interpreter import Interpreter
from torchsleuth.interp.trace import Trace
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.repair.verify import Checked, together, verified_fixes
from torchsleuth.rules.registry import RULES
from torchsleuth.rules.rule import Analysis, Candidate, Rule
from torchsleuth.schema import Diagnostic, DimJson, FileAnalysis, TensorFact
from torchsleuth.syntax.parse import parses
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.spec import TensorSpec

VERIFY_SECONDS = 4.0
"""Time of the processor after which remaining candidates are no longer tried; unverified ones are never offered."""


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
        analysis = self.interpret(path, files, roots)
        rules = [rule for rule in RULES.values() if (rule.default if codes is None else rule.code in codes)]
        found = self._diagnose(analysis, rules)
        analyzed = time.perf_counter()
        diagnostics = [diagnostic for diagnostic, _ in found]
        if verify:
            diagnostics = self._repair(analysis, found, path, files, roots, rules)
        facts = facts_of(analysis, path)
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

    def save(self) -> None:
        """Keep what the oracle found out for the workers to come."""
        self.oracle.save()

    def interpret(self, path: str, files: Mapping[str, str], roots: tuple[str, ...]) -> Analysis:
        """What the interpreter saw; `files` has the text of the document and of others that are open."""
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
        deadline = time.process_time() + VERIFY_SECONDS

        def recheck(texts: Mapping[str, str]) -> Checked:
            if time.process_time() > deadline:
                return before
            if any(not parses(text) for text in texts.values()):
                return before
            again = self.interpret(path, {**files, **texts}, roots)
            return Checked(tuple(diagnostic for diagnostic, _ in self._diagnose(again, rules)), again.trace.undecided)

        repaired = [
            diagnostic.with_fixes(verified_fixes(diagnostic, candidates, before, analysis.source_of, recheck))
            for diagnostic, candidates in found
        ]
        return together(repaired, before, analysis.source_of, recheck)


def facts_of(analysis: Analysis, path: str) -> tuple[TensorFact, ...]:
    """What is known about each tensor expression of a file; where executions differ, what they agree on."""
    source = analysis.source_of(path)
    facts: list[TensorFact] = []
    for place, seen in analysis.trace.facts.items():
        if place[0] != path or place in analysis.trace.obscure:
            continue
        specs = seen.specs
        first, kinds = specs[0], dict.fromkeys((_shape(spec), spec.dtype) for spec in specs)
        shape = _common_shape([shape for shape, _ in kinds])
        dtype = first.dtype if all(spec.dtype == first.dtype for spec in specs) else None
        variants = tuple((shape, kind) for shape, kind in kinds if shape is not None)
        variants = variants if len(kinds) > 1 and len(variants) == len(kinds) else ()
        if shape is None and dtype is None and not variants:
            continue
        facts.append(
            TensorFact(
                path,
                seen.site.span.start,
                seen.site.span.end,
                source.segment(seen.site.node),
                shape,
                dtype,
                str(first.device) if first.device and all(spec.device == first.device for spec in specs) else None,
                first.requires_grad if all(spec.requires_grad == first.requires_grad for spec in specs) else None,
                seen.binding,
                variants=tuple(shape for shape, _ in variants),
                dtypes=tuple(kind for _, kind in variants),
                supposed=seen.supposed,
            )
        )
    return tuple(sorted(facts, key=lambda fact: (fact.start, fact.end)))


def _shape(spec: TensorSpec) -> tuple[DimJson, ...] | None:
    if spec.shape is None:
        return None
    return dims.texts(spec.shape)


def _common_shape(shapes: list[tuple[DimJson, ...] | None]) -> tuple[DimJson, ...] | None:
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or len({len(shape) for shape in known}) != 1:
        return None
    return tuple(column[0] if len(set(column)) == 1 else "?" for column in zip(*known))


def _missing(analysis: Analysis) -> list[tuple[str, str, int]]:
    """Imports that nothing was found for: name, file and line; of a package only the first."""
    found: dict[tuple[str, str], tuple[str, str, int]] = {}
    for (name, path), node in analysis.trace.missing.items():
        found.setdefault((name.partition(".")[0], path), (name, path, getattr(node, "lineno", 1)))
    return list(found.values())
