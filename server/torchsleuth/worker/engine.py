"""One document in, diagnostics with verified fixes and tensor facts out: interpreter, rules and repair together."""

from __future__ import annotations

import contextlib
import itertools
import re
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torchsleuth.interp.budget import Budget, OutOfTime, Withdrawn
from torchsleuth.interp.contracts import Inference
from torchsleuth.interp.fitting import fitting_operand
from torchsleuth.interp.imports import Workspace
from torchsleuth.interp.interpreter import Execution
from torchsleuth.interp.observed import Observations
from torchsleuth.interp.reasons import Watch
from torchsleuth.interp.relevance import irrelevant
from torchsleuth.interp.tape import Complete, Tape
from torchsleuth.interp.trace import Place, Sighting, Trace
from torchsleuth.messages import message
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.repair.verify import Checked, Found, T, Trials, for_cause, together, verified_fixes
from torchsleuth.rules.evidence.causes import by_cause, shown
from torchsleuth.rules.evidence.passed import at_the_call
from torchsleuth.rules.registry import RULES
from torchsleuth.rules.rule import Analysis, Candidates, Finding, Rule
from torchsleuth.schema import SEVERITIES, Contract, Diagnostic, DimJson, FileAnalysis, Fix, Span, TensorFact
from torchsleuth.syntax.dependence import definitions
from torchsleuth.syntax.parse import parses
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size
from torchsleuth.tensors.program import Program
from torchsleuth.tensors.requirements import size_text
from torchsleuth.tensors.spec import TensorSpec
from torchsleuth.values import ClassValue, Function
from torchsleuth.worker.bounded import Bounded
from torchsleuth.worker.contracts import facts_of_contract
from torchsleuth.worker.contracts import shown as shown_contract
from torchsleuth.worker.explain import chain, explanations
from torchsleuth.worker.memory import Estimator
from torchsleuth.worker.progress import Progress
from torchsleuth.worker.request import Analyze, Called, Estimate, Explain, Infer, Repair, Request, Served
from torchsleuth.worker.times import Times
from torchsleuth.worker.users import in_users_code

CONTRACT_STEPS = 150_000
"""Nodes evaluated in one run for a contract: a whole model and what makes it."""
CONTRACTS_WORK = 12_000_000
"""Work for the contracts of a document, in nodes."""
RECORDING_STEPS = 4_000_000
"""Nodes evaluated for the memory of a document."""
MOST_CALLERS = 4
"""Other files that are run for the calls in them."""
MAX_INTERNAL_ERRORS = 20
"""Internal errors that are told of one analysis."""
MAX_UNREPAIRED = 8
"""Analyses that are kept until their fixes are asked for."""


class Engine(Served):
    """Holds the oracle, whose memo is shared by all documents and kept across edits."""

    def __init__(
        self, oracle: Oracle | None = None, progress: Progress | None = None, times: Times | None = None
    ) -> None:
        self.oracle = oracle or Oracle()
        self.progress = progress or Progress()
        self.times = times or Times()
        self._repairs: dict[str, Repairs] = {}
        """Those used last are the last."""
        self._inferring: Inferring | None = None
        """The document that was asked last for contracts, for the others of it."""
        self._bounded = Bounded(self.progress.beat)

    def ask(self, request: Request) -> FileAnalysis:
        answer = _ANSWERS[type(request)]
        return self._bounded.run(lambda: answer(self, request))

    def _analyze(self, request: Analyze) -> FileAnalysis:
        started, began = time.perf_counter(), time.process_time()
        self._inferring = None
        hits, misses = self.oracle.hits, self.oracle.misses
        path, files, roots, codes = request.path, request.files, request.roots, request.codes
        observed = Observations.from_json(request.observed)
        analysis = self.interpret(path, files, roots)
        rules = [rule for rule in RULES.values() if (rule.fault.default if codes is None else rule.code in codes)]
        found = self._diagnose(analysis, rules)
        groups = by_cause(analysis, [diagnostic for diagnostic, _ in found])
        diagnostics = tuple(map(shown, groups))
        facts = facts_of(analysis, path, self._supposed(analysis, path, files, roots, observed))
        stats = {
            "analysis_ms": round((time.perf_counter() - started) * 1000, 2),
            "verification_ms": 0.0,
            "hits": self.oracle.hits - hits,
            "misses": self.oracle.misses - misses,
            "facts": len(facts),
            "incomplete": self._left_out() or analysis.trace.incomplete or analysis.trace.overdue,
            "missing": _missing(analysis),
            "internal_errors": analysis.trace.internal_errors[:MAX_INTERNAL_ERRORS],
            "unverified": any(candidates.possible for _, candidates in found),
        }
        result = FileAnalysis(path, diagnostics, facts, stats)
        self._repairs.pop(path, None)
        if stats["unverified"]:
            trials = self._trials(analysis, found, groups, path, files, roots, rules)
            left = self.times.document - (time.process_time() - began)
            self._repairs[path] = Repairs(result, files, trials, analysis.trace.internal_errors, self._bounded, left)
            if len(self._repairs) > MAX_UNREPAIRED:
                del self._repairs[next(iter(self._repairs))]
        repairable = request.verify and path in self._repairs
        return self._repair(request.also(Repair, codes=codes)) if repairable else result

    def _repair(self, request: Repair) -> FileAnalysis:
        path = request.path
        repairs = self._repairs.get(path)
        if repairs is None or repairs.files != request.files:
            result = self._analyze(request.also(Analyze, verify=False, codes=request.codes))
            repairs = self._repairs.get(path)
            if repairs is None:
                return result
        del self._repairs[path]
        with self.progress.step(SourceText(path, request.text), "fixes") as wanted:
            done = repairs.proceed(request.seconds) if wanted else repairs.end(self._left_out())
        if not done:
            self._repairs[path] = repairs
        return repairs.result

    def _explain(self, request: Explain) -> FileAnalysis:
        source, budget = SourceText(request.path, request.text), Budget(seconds=self.times.execution)
        watch = Watch(request.path, request.first, request.last)
        interpreter = Execution(self.oracle, Workspace(request.files, request.roots), budget, self.progress)
        interpreter.watch = watch
        with self._bounded.limit(budget.seconds + self.times.grace):
            trace = interpreter.run_document(source)
        trace.internal_errors += self.oracle.told()
        stats = {
            "incomplete": self._left_out() or trace.incomplete or trace.overdue,
            "internal_errors": trace.internal_errors[:MAX_INTERNAL_ERRORS],
        }
        return FileAnalysis(request.path, stats=stats, explanations=explanations(interpreter, watch, source))

    def _contracts(self, request: Infer) -> FileAnalysis:
        path, files, roots = request.path, request.files, request.roots
        source = SourceText(path, request.text)
        kept, self._inferring = self._inferring, None
        errors: list[str] = []
        found: list[Contract] = []
        facts: list[TensorFact] = []
        overdue, withdrawn, inferring = None, False, None
        try:
            with self._bounded.limit(self.times.contracts + self.times.grace):
                fits = kept is not None and kept.is_for(files, roots)
                inferring = kept if fits else self._infer(source, files, roots)
                if inferring is not None:
                    for owner, function in inferring.between(request.first, request.last):
                        with self._bounded.limit(self.times.contract + self.times.grace):
                            one = inferring.inference.contract(owner, function, self.times.contract)
                        found.append(shown_contract(one, owner, function, source))
                        facts += facts_of_contract(one, owner, function, source)
        except OutOfTime:
            overdue = message("analysis.time")
        except Withdrawn:
            withdrawn = True
        else:
            self._inferring = inferring if inferring is not None and not inferring.interpreter.overdue else None
        if inferring is not None:
            trace = inferring.interpreter.trace
            errors, overdue = list(trace.internal_errors), overdue or trace.overdue
            trace.internal_errors.clear()
        errors += self.oracle.told()
        stats = {
            "incomplete": self._left_out() or overdue,
            "internal_errors": errors[:MAX_INTERNAL_ERRORS],
            "read": [one.path for one in inferring.interpreter.workspace.read] if inferring is not None else [],
            "withdrawn": withdrawn,
            "work": inferring.interpreter.work if inferring is not None else 0,
        }
        return FileAnalysis(path, facts=tuple(facts), stats=stats, contracts=tuple(found))

    def _infer(self, source: SourceText, files: Mapping[str, str], roots: tuple[str, ...]) -> Inferring | None:
        """The means to find the contracts of a document; None where it has nothing to do with PyTorch."""
        workspace = Workspace(files, roots)
        if irrelevant(source, workspace) is not None:
            return None
        budget = Budget(self.times.contracts, CONTRACTS_WORK, CONTRACTS_WORK, CONTRACT_STEPS)
        interpreter = Execution(self.oracle, workspace, budget, self.progress)
        inference = Inference(interpreter, source)
        return Inferring(dict(files), roots, interpreter, inference)

    def _called(self, request: Called) -> FileAnalysis:
        path, files, roots = request.path, request.files, request.roots
        source, workspace, seen = SourceText(path, request.text), Workspace(files, roots), Trace()
        names = [one.node.name for one in definitions(source)]
        users = {user.path: user for name in names for user in workspace.mentioning(name, path)}
        withdrawn = False
        try:
            for user in itertools.islice(users.values(), MOST_CALLERS):
                trace = self.interpret(user.path, {**files, user.path: user.text}, roots, again=True).trace
                seen.obscure |= trace.obscure
                for place, one in trace.facts.items():
                    if place[0] == path:
                        seen.facts[place] = seen.facts[place].met(one) if place in seen.facts else one
        except OutOfTime:
            seen = Trace()
        except Withdrawn:
            withdrawn, seen = True, Trace()
        facts = facts_of(Analysis(source, seen, workspace, self.oracle.version), path)
        return FileAnalysis(path, facts=facts, stats={"read": list(users), "withdrawn": withdrawn})

    def _estimate(self, request: Estimate) -> FileAnalysis:
        memory = Estimator(self.oracle, self._record, request).estimate()
        errors = self.oracle.told()
        return FileAnalysis(request.path, stats={"internal_errors": errors[:MAX_INTERNAL_ERRORS]}, memory=memory)

    def _record(self, path: str, files: Mapping[str, str], roots: tuple[str, ...]) -> Program:
        """The training of a document up to the second step of its optimizers."""
        budget = Budget(seconds=self.times.recording, steps=RECORDING_STEPS)
        interpreter = Execution(self.oracle, Workspace(files, roots), budget, self.progress)
        interpreter.tape = tape = Tape()
        with contextlib.suppress(Complete), self._bounded.limit(budget.seconds + self.times.grace):
            interpreter.run_document(SourceText(path, files[path]))
        return tape.finish()

    @property
    def unrepaired(self) -> bool:
        return bool(self._repairs) or self._inferring is not None

    def vocabulary(self) -> list[str]:
        return self.oracle.vocabulary()

    def save(self) -> None:
        self.oracle.save()

    def interpret(self, path: str, files: Mapping[str, str], roots: tuple[str, ...], again: bool = False) -> Analysis:
        """The interpreter's record; `files` has the text of the document and of others that are open. `again`: only for what is
        found, to verify a fix."""
        workspace = Workspace(files, roots)
        source = SourceText(path, files[path])
        nothing = irrelevant(source, workspace)
        if nothing is not None:
            return Analysis(source, nothing, workspace, self.oracle.version)
        budget = Budget(seconds=self.times.execution)
        interpreter = Execution(self.oracle, workspace, budget, self.progress)
        interpreter.checks_calls = not again
        with self._bounded.limit(budget.seconds + self.times.grace):
            trace: Trace = interpreter.run_document(source)
        trace.internal_errors += self.oracle.told()
        return Analysis(source, trace, workspace, self.oracle.version)

    def _left_out(self) -> str | None:
        """The sentence about parts that have been left out."""
        parts = sorted(self.progress.met, key=lambda part: (part.path, part.line))
        names = [message(f"worker.part.{part.kind}", name=part.name, line=part.line) for part in parts]
        return message("worker.left_out", parts=", ".join(dict.fromkeys(names))) if names else None

    def _supposed(
        self,
        analysis: Analysis,
        path: str,
        files: Mapping[str, str],
        roots: tuple[str, ...],
        observed: Observations | None,
    ) -> dict[Place, Sighting]:
        """The sightings where layers that do not fit are taken to be given what they are made for, so that the hints go on
        behind them, and what is unknown is what a run has seen there. Nothing is found in that way."""
        trace = analysis.trace
        misfits = any(fitting_operand(one.operation) for one in trace.failures)
        if trace.incomplete or trace.overdue or not (misfits or observed):
            return {}
        budget = Budget(seconds=self.times.behind)
        interpreter = Execution(self.oracle, Workspace(files, roots), budget, self.progress)
        interpreter.fitting = True
        interpreter.observed = observed or Observations()
        try:
            with self._bounded.limit(budget.seconds + self.times.grace):
                supposed = interpreter.run_document(SourceText(path, files[path]))
        except OutOfTime:
            return {}
        if supposed.incomplete or supposed.overdue:
            return {}
        return {place: seen for place, seen in supposed.facts.items() if place not in supposed.obscure}

    def _diagnose(self, analysis: Analysis, rules: Sequence[Rule]) -> list[Found]:
        found: dict[tuple[str, str, int, int], Found] = {}
        trace, end = analysis.trace, time.process_time() + self.times.rules
        slow: list[str] = []
        for rule in rules:
            if rule.of_absence and trace.incomplete:
                continue

            def failed(error: Exception, code: str = rule.code) -> None:
                analysis.trace.internal_errors.append(f"{code}: {type(error).__name__}: {error}")

            try:
                with self._bounded.limit(min(self.times.rule, end - time.process_time())):
                    for finding in filter(None, map(in_users_code, self._findings(rule, analysis))):
                        at = finding.at
                        severity = finding.severity or rule.fault.severity
                        diagnostic = Diagnostic(
                            at.path,
                            rule.code,
                            rule.fault.name,
                            severity,
                            finding.message,
                            at.start,
                            at.end,
                            finding.related,
                        )
                        key = (rule.code, at.path, at.start.line, at.start.column)
                        at_call = at_the_call(analysis, finding) if at in trace.broken else ()
                        found.setdefault(key, (diagnostic, Candidates(finding.candidates, failed, at_call)))
            except OutOfTime:
                slow.append(rule.code)
            except Exception as error:
                failed(error)
        if slow:
            trace.overdue = message("analysis.rules", codes=", ".join(slow))
        return sorted(found.values(), key=lambda item: (item[0].path, item[0].start, item[0].code))

    def _findings(self, rule: Rule, analysis: Analysis) -> Iterator[Finding]:
        with self.progress.step(analysis.source, "rule", rule.code) as wanted:
            if wanted:
                yield from rule.find(analysis)

    def _trials(
        self,
        analysis: Analysis,
        found: list[Found],
        groups: list[list[Diagnostic]],
        path: str,
        files: Mapping[str, str],
        roots: tuple[str, ...],
        rules: Sequence[Rule],
    ) -> Iterator[tuple[Diagnostic, ...]]:
        """One diagnostic for each cause, with the fixes verified so far, after each trial."""
        fixes: dict[Diagnostic, tuple[Fix, ...]] = {}
        before = Checked(tuple(found), analysis)
        spent, allowed = 0.0, self.times.candidates
        shared: dict[Diagnostic, list[Fix]] = {}

        def recheck(texts: Mapping[str, str]) -> Checked | None:
            nonlocal spent
            if spent > allowed or analysis.trace.overdue or any(not parses(text) for text in texts.values()):
                return None
            began = time.process_time()
            again = self.interpret(path, {**files, **texts}, roots, again=True)
            checked = Checked(tuple(self._diagnose(again, rules)), again)
            spent += time.process_time() - began
            # Of what was not done in time, nothing can be said to be gone.
            return None if again.trace.overdue else checked

        def so_far() -> tuple[Diagnostic, ...]:
            return tuple(shown(group).with_fixes(fixes.get(group[0], ())) for group in groups)

        for diagnostic, candidates in sorted(found, key=lambda pair: SEVERITIES.index(pair[0].severity)):
            allowed = max(self.times.candidates, min(spent, self.times.fixes))
            trials = verified_fixes(diagnostic, candidates, before, recheck, shared)
            fixes[diagnostic] = yield from _paused(trials, so_far)
        allowed = self.times.candidates
        fixes = yield from _paused(together(fixes, before, recheck), so_far)
        for group in groups:
            fixes[group[0]] = yield from _paused(for_cause(group, fixes, shared, before, recheck), so_far)
        yield so_far()


_ANSWERS: dict[type[Request], Callable[[Engine, Any], FileAnalysis]] = {
    Analyze: Engine._analyze,
    Repair: Engine._repair,
    Explain: Engine._explain,
    Infer: Engine._contracts,
    Called: Engine._called,
    Estimate: Engine._estimate,
}


@dataclass(frozen=True)
class Inferring:
    """A document that was executed for its contracts."""

    files: Mapping[str, str]
    roots: tuple[str, ...]
    interpreter: Execution
    inference: Inference

    def between(self, first: int, last: float) -> Iterator[tuple[ClassValue | None, Function]]:
        """The entries that begin in some lines, or go on in the first of them."""
        for owner, function in self.inference.entries:
            begins = (owner or function).node.lineno
            if begins <= last and (function.node.end_lineno or begins) >= first:
                yield owner, function

    def is_for(self, files: Mapping[str, str], roots: tuple[str, ...]) -> bool:
        return self.roots == roots and self.files == files and self.interpreter.workspace.is_current()


class Repairs:
    """The fixes of one analysis, verified one trial after another. `result`: the analysis with those verified so far.
    `internal_errors`: its own, which making the candidates may add to. `left`: time of the processor that they may take."""

    def __init__(
        self,
        result: FileAnalysis,
        files: Mapping[str, str],
        trials: Iterator[tuple[Diagnostic, ...]],
        internal_errors: list[str],
        bounded: Bounded,
        left: float,
    ) -> None:
        self.result = result
        self.files = files
        self._trials = trials
        self._internal_errors = internal_errors
        self._bounded = bounded
        self._left = left

    def end(self, reason: str | None) -> bool:
        """Leave it at the fixes that were verified so far."""
        self.result = replace(self.result, stats={**self.result.stats, "unverified": False, "incomplete": reason})
        return True

    def proceed(self, seconds: float) -> bool:
        """Go on until about so much time has passed; whether that was all."""
        began, since = time.perf_counter(), time.process_time()
        done, latest = False, self.result.diagnostics
        try:
            with self._bounded.limit(self._left):
                while not done and time.perf_counter() - began < seconds:
                    following = next(self._trials, None)
                    done, latest = following is None, following or latest
        except OutOfTime:
            done = True  # what was verified so far stands
        self._left -= time.process_time() - since
        taken = self.result.stats["verification_ms"] + (time.perf_counter() - began) * 1000
        stats = {
            **self.result.stats,
            "verification_ms": round(taken, 2),
            "unverified": not done,
            "internal_errors": self._internal_errors[:MAX_INTERNAL_ERRORS],
        }
        self.result = replace(self.result, diagnostics=latest, stats=stats)
        return done


def _paused(
    trials: Trials[T], so_far: Callable[[], tuple[Diagnostic, ...]]
) -> Generator[tuple[Diagnostic, ...], None, T]:
    """The result of trials; at each of their pauses, the diagnostics as they are."""
    while True:
        try:
            next(trials)
        except StopIteration as end:
            found: T = end.value
            return found
        yield so_far()


def facts_of(analysis: Analysis, path: str, supposed: Mapping[Place, Sighting] | None = None) -> tuple[TensorFact, ...]:
    """The facts about each tensor expression of a file; where executions differ, what they agree on. `supposed`: what is
    supposed of those of which no shape is known."""
    source = analysis.source_of(path)
    facts: list[TensorFact] = []
    known = {place: seen for place, seen in analysis.trace.facts.items() if place not in analysis.trace.obscure}
    lacking = {
        place: replace(seen, supposed=True)
        for place, seen in (supposed or {}).items()
        if place not in known or any(spec.shape is None for spec in known[place].specs)
    }
    for place, seen in (known | lacking).items():
        if place[0] != path or not seen.specs:
            continue
        specs = seen.specs
        first, kinds = specs[0], dict.fromkeys((_shape(spec), spec.dtype) for spec in specs)
        shape = _common_shape([shape for shape, _ in kinds])
        dtype = first.dtype if all(spec.dtype == first.dtype for spec in specs) else None
        variants = tuple((shape, kind) for shape, kind in kinds if shape is not None)
        variants = variants if len(kinds) > 1 and len(variants) == len(kinds) else ()
        if shape is None and dtype is None and not variants:
            continue
        sizes = shape or ()
        demanded = tuple(axis for axis in sorted(seen.demanded) if axis < len(sizes) and sizes[axis] != "?")
        facts.append(
            TensorFact(
                path,
                seen.site.span.start,
                seen.site.span.end,
                source.segment(seen.site.node),
                shape,
                dtype,
                _device(first) if all(spec.device == first.device for spec in specs) else None,
                first.requires_grad if all(spec.requires_grad == first.requires_grad for spec in specs) else None,
                seen.binding,
                variants=tuple(shape for shape, _ in variants),
                dtypes=tuple(kind for _, kind in variants),
                calls=_calls(seen, variants),
                # What was not executed any more may give other sizes.
                supposed=seen.supposed
                or analysis.trace.incomplete is not None
                or bool(seen.demanded and (demanded or variants)),
                uncalled=seen.uncalled,
                demanded=demanded,
                causes=chain(seen.obscured) if seen.obscured and (shape is None or "?" in shape) else (),
            )
        )
    return tuple(sorted(facts, key=lambda fact: (fact.start, fact.end)))


def _calls(seen: Sighting, variants: Sequence[object]) -> tuple[tuple[Span, ...], ...]:
    """The calls that gave each of several tensors."""
    found: dict[object, dict[Span, None]] = {variant: {} for variant in variants}
    for spec, calls in seen.calls.items():
        for source, node in calls.values():
            found.get((_shape(spec), spec.dtype), {})[source.span(node)] = None
    return tuple(tuple(spans) for spans in found.values())


def _device(spec: TensorSpec) -> str | None:
    """``cuda?`` is the accelerator of a machine that has one."""
    return None if spec.device is None else f"{spec.device}?" if spec.device.symbolic else str(spec.device)


def _shape(spec: TensorSpec) -> tuple[DimJson, ...] | None:
    if spec.shape is None:
        return None
    return dims.texts(spec.shape, _size)


def _size(size: Size) -> str:
    """The size as contracts say it; one that is computed from something unknown says nothing."""
    told = size_text(size)
    return told if "?" not in told or _MULTIPLE.fullmatch(told) else "?"


_MULTIPLE = re.compile(r"(\d+\*)?\?")
"""Unknown sizes of which it is known what they are a multiple of."""


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
