"""The report of a run, folded from its events."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from torchsleuth.errors.agreement import explained
from torchsleuth.errors.diagnose import crash_diagnostic
from torchsleuth.errors.nonfinite import with_source
from torchsleuth.runtime import page, together, where
from torchsleuth.runtime.crashes import in_order, located, merged
from torchsleuth.runtime.lines import Span, reached_lines
from torchsleuth.runtime.project import Project
from torchsleuth.runtime.secrets import Secrets
from torchsleuth.schema import Diagnostic, Json, Position, RunLine, Sample, TensorFact, Values
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.syntax.text import SourceText
from torchsleuth.training import Training
from torchsleuth.verdicts.judge import OF_ABSENCE, verdicts_of_ranks

Sources = Callable[[str], SourceText]
MAX_ANALYSED = 8
"""Files that are analysed for a training that nothing failed in."""


@dataclass(frozen=True)
class RunReport:
    """The record of a run. `exit_code` is the script's own; negative is the signal that ended it.

    `loaded` are the user's files that took part; `training` is None for a script that did not train, else
    {losses: [first, last], finite, change: largest change of a parameter since the first optimizer step, or None}.
    """

    script: str
    exit_code: int
    cancelled: bool
    crash: Json | None
    diagnostics: tuple[Diagnostic, ...]
    facts: tuple[TensorFact, ...]
    seconds: float = 0.0
    loaded: tuple[str, ...] = ()
    training: Json | None = None
    environment: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Variables of a script that crashed; `to_json` leaves their values out."""
    ended: str = "exit"
    """How: ``exit``, ``signal``, ``interrupted`` (Ctrl-C), ``cancelled``, or the limit that was reached: ``timeout``,
    ``max-steps``, ``smoke``."""
    processes: tuple[Json, ...] = ()
    """The processes that it started and that had something to say: {pid, parent, rank, name, time, training}."""
    lines: tuple[RunLine, ...] = ()
    """The lines of the user's files that it has reached, and those that it certainly has not."""
    crashes: tuple[tuple[Diagnostic, str], ...] = field(default=(), repr=False)
    """The diagnostics as they are before they say where they were: in a thread, in a process, at a sample."""
    recorded: Training | None = field(default=None, repr=False)
    """The record of the training in the script's own process."""
    ranks: Json | None = None
    """The ranks of a distributed training, compared; see `together.merged_ranks`."""
    versions: Json | None = None
    """The environment: {python, executable, platform, processors, threads?, cuda?, devices?, libraries: {name: version}}."""

    arguments: tuple[str, ...] = field(default=(), repr=False)
    """Those of the script; they are not kept."""

    @property
    def analysed_files(self) -> tuple[str, ...]:
        """The user's files in whose text there may be more to say about the run: of a crash, those that it came through, the one
        that raised first, and the one that all began in, which no `script` tells that is a module or a folder; of a training, all
        that were loaded."""
        paths = [diagnostic.path for diagnostic in self.diagnostics]
        paths += [frame["path"] for frame in (self.crash or {}).get("frames", ())[-1:]]
        if self._ended_well:
            paths += self.loaded[:MAX_ANALYSED]
        return tuple(dict.fromkeys([*paths, self.script])) if paths else ()

    @property
    def _ended_well(self) -> bool:
        return self.recorded is not None and self.crash is None

    def explained(self, analysis: Iterable[Diagnostic]) -> RunReport:
        """The report with what the analysis of those files says about the crash, and about what the run has found."""
        known = list(analysis)
        found = tuple(located(explained(diagnostic, known), where) for diagnostic, where in self.crashes)
        silent = (_confirmed(diagnostic, known) for diagnostic in self.diagnostics[len(self.crashes) :])
        return replace(self, diagnostics=(*found, *silent))

    def with_text(self, analysis: Iterable[Diagnostic]) -> RunReport:
        """The report of a training with what the analysis warns of on lines that it may have reached. What the run has found is
        said once; that something would fail on a line which did not is no longer said. That the labels do not belong to the inputs is
        only said where no shape, loss or graph is known to be wrong, from which the same would follow."""
        if not self._ended_well:
            return self
        missed = {(line.path, line.start.line) for line in self.lines if not line.reached}
        added = {
            (other.path, other.start, other.code): other  # one file may be met in several analyses
            for other in analysis
            if other.severity == "warning"
            and (other.path, other.start.line) not in missed
            and not any(_is_same(one, other) for one in self.diagnostics)
        }
        causes = [one for one in added.values() if one.code.startswith(_EXPLAINING)]
        kept = [one for one in self.diagnostics if not (causes and one.code in _FOLLOWS)]
        return replace(self, diagnostics=(*kept, *added.values()))

    @property
    def trained_soundly(self) -> bool:
        """It ended well and, if it trained, its losses are finite and its parameters moved."""
        if self.exit_code != 0 or self.crash is not None:
            return False
        return self.training is None or bool(self.training["finite"] and self.training["change"] != 0)

    def to_json(self) -> Json:
        """The report as it is kept: without the values of the environment."""
        secrets = Secrets(self.environment)
        return {
            "script": self.script,
            "exit_code": self.exit_code,
            "cancelled": self.cancelled,
            "ended": self.ended,
            "seconds": self.seconds,
            "crash": secrets.without(self.crash),
            "training": self.training,
            "diagnostics": [secrets.without(diagnostic.to_json()) for diagnostic in self.diagnostics],
            "facts": [fact.to_json() for fact in self.facts],
            "loaded": list(self.loaded),
            "processes": list(self.processes),
            "lines": _lines_json(self.lines),
            "recorded": None if self.recorded is None else self.recorded.to_json(),
            "ranks": self.ranks,
            "versions": self.versions,
        }


def _lines_json(lines: tuple[RunLine, ...]) -> Json:
    found: dict[str, dict[str, list[int]]] = {}
    for line in lines:
        of = found.setdefault(line.path, {"reached": [], "missed": []})
        of["reached" if line.reached else "missed"].append(line.start.line)
    return found


_TAKEN: dict[str, Callable[[Collector, Json], None]] = {}
"""The method for each kind of event."""
_TAKEN_OF_PROCESS: dict[str, Callable[[Collector, Json, Json], None]] = {}
"""The same for those of processes that the script has started, where it is something else."""
_Taking = TypeVar("_Taking", bound=Callable[..., None])


def _takes(kind: str) -> Callable[[_Taking], _Taking]:
    def register(method: _Taking) -> _Taking:
        _TAKEN[kind] = method
        return method

    return register


def _takes_of_process(kind: str) -> Callable[[_Taking], _Taking]:
    def register(method: _Taking) -> _Taking:
        _TAKEN_OF_PROCESS[kind] = method
        return method

    return register


class Collector:
    """Keeps the latest of each kind of event, so that a run without end does not grow."""

    def __init__(self) -> None:
        self._facts: dict[tuple[Any, ...], Json] = {}
        self._loaded: dict[str, int] = {}
        """The user's files, with the number of recorded places before those of each."""
        self._crashes: list[Json] = []
        self._caught: list[Json] = []
        """Errors that the script caught itself, and that undid its training."""
        self._processes: list[Json] = []
        self._training: Json | None = None
        self._recorded: Training | None = None
        self._records_of: list[tuple[Json, Training]] = []
        """Those of processes that the script has started."""
        self._ended: str | None = None
        self._reached: dict[str, set[Span]] = {}
        self._missed: dict[str, set[Span]] = {}
        self._completed: set[str | None] = set()
        """Main programs that came to their end."""
        self._lines_of = 0
        """The processes that have said which lines they reached."""
        self._stopped: Json | None = None
        self._ranks: Json | None = None
        self._versions: Json | None = None

    def add(self, event: Json) -> None:
        take = _TAKEN.get(str(event.get("event")))
        if take is not None:
            take(self, event)

    @_takes("facts")
    def _add_facts(self, event: Json) -> None:
        for item in event["facts"]:
            key = (item["path"], *item["span"])
            self._facts[key] = item

    @_takes("loaded")
    def _add_file(self, event: Json) -> None:
        self._loaded[event["path"]] = event.get("first", 0)

    @_takes("crash")
    def _add_crash(self, event: Json) -> None:
        self._crashes.append({**event, "process": None})

    @_takes("caught")
    def _add_caught(self, event: Json) -> None:
        self._caught.append({**event, "process": None})

    @_takes("ended")
    def _add_end(self, event: Json) -> None:
        self._ended = event["why"]

    @_takes("training")
    def _add_training(self, event: Json) -> None:
        self._training = _without_kind(event)

    @_takes("lines")
    def _add_lines(self, event: Json) -> None:
        self._lines_of += 1
        self._completed.add(event["completed"])
        for path, places in event["files"].items():
            self._reached.setdefault(path, set()).update(map(_span, places["reached"]))
            self._missed.setdefault(path, set()).update(map(_span, places["missed"]))

    @_takes("recorded")
    def _add_record(self, event: Json) -> None:
        self._recorded = _training(event["training"])

    @_takes("versions")
    def _add_versions(self, event: Json) -> None:
        self._versions = event["versions"]

    def add_process(self, events: list[Json]) -> None:
        """The events of a process that the script has started; the first one says which it is."""
        process = _without_kind(events[0])
        self._processes.append(process)
        for event in events[1:]:
            take = _TAKEN_OF_PROCESS.get(str(event.get("event")))
            if take is not None:
                take(self, event, process)
            else:
                self.add(event)

    @_takes_of_process("crash")
    def _add_crash_of(self, event: Json, process: Json) -> None:
        self._crashes.append({**event, "process": process})

    @_takes_of_process("training")
    def _add_training_of(self, event: Json, process: Json) -> None:
        process["training"] = _without_kind(event)

    @_takes_of_process("recorded")
    def _add_record_of(self, event: Json, process: Json) -> None:
        if (found := _training(event["training"])) is not None:
            self._records_of.append((process, found))

    @_takes_of_process("versions")
    def _add_versions_of(self, event: Json, process: Json) -> None:
        """It runs on what the script runs on."""

    @_takes_of_process("rank")
    def _add_rank(self, event: Json, process: Json) -> None:
        process["rank"] = event["rank"]
        process.setdefault("ranks", []).append(_without_kind(event))

    def look_together(self, folder: str, project: Project, exit_code: int, stopped: float | None) -> None:
        """The reports that the processes of a run left in its folder, compared. `stopped`: after how many seconds without progress
        the run was stopped."""
        pages = list(page.read(folder))
        stacks = list(where.read(folder))
        processes = {process["pid"]: process for process in self._processes}
        for stack in stacks:
            if stack["reason"] is not None:
                found = together.death(stack, project.owns)
                self._crashes.append({**found, "process": processes.get(stack["pid"])})
        known = {pid: process["rank"] for pid, process in processes.items() if process["rank"] is not None}
        if stopped is not None and (hang := together.hang(stacks, known, project.owns, stopped)) is not None:
            self._stopped = hang
        main = next((item for item in pages if item.pid not in processes), None)
        if (death := together.killed(exit_code, main, self._loaded)) is not None and not self._stopped:
            self._crashes.append(death)
        self._ranks = together.merged_ranks(self._processes, self._crashes, pages)

    def report(
        self, script: str, exit_code: int, cancelled: bool, seconds: float, ended: str | None = None
    ) -> RunReport:
        """`ended` is what the one who ran it knows of the end."""
        crashes = [] if cancelled else in_order(self._crashes, exit_code)
        crashes += [self._stopped] if self._stopped is not None else []
        seen = [*together.rank_findings(self._ranks), *(() if crashes else map(dict, self._caught))]
        described = [*crashes, *seen]
        sources = read_sources({path: text for crash in described for path, text in crash.pop("sources", {}).items()})
        environment = [item for crash in described for item in crash.pop("environment", [])]
        facts = {
            (fact.path, fact.start, fact.end): fact
            for item in self._facts.values()
            for fact in observed_facts(item, sources)
        }
        told = [(crash, crash_diagnostic(crash, sources)) for crash in described]
        found = merged([(crash, item and with_source(item, crash, facts.values(), sources)) for crash, item in told])
        ended = ended or self._ended or _how_it_ended(exit_code, cancelled)
        trainings = self._trainings()
        recorded = next(iter(trainings.values()), None)
        judged = {} if crashes else dict(zip(trainings, _judged([*trainings.values()], sources, ended)))
        silent = together.merged_verdicts(judged)
        return RunReport(
            script,
            exit_code,
            cancelled,
            crashes[0] if crashes else None,
            (*(located(diagnostic, where) for diagnostic, where in found), *silent),
            tuple(facts[key] for key in sorted(facts)),
            seconds,
            tuple(self._loaded),
            self._training,
            tuple(dict.fromkeys((name, value) for name, value in environment)),
            ended,
            tuple({name: value for name, value in process.items() if name != "ranks"} for process in self._processes),
            tuple(self._lines(sources, crashes)),
            tuple(found),
            recorded,
            together.with_findings(self._ranks, judged, told),
            self._versions,
        )

    def _trainings(self) -> dict[int | None, Training]:
        """The trainings of the run by rank: that of the script itself, else those of its ranks, else of the first of its processes."""
        if self._recorded is not None:
            return {None: self._recorded}
        ranks = {process["rank"]: training for process, training in self._records_of if process["rank"] is not None}
        return dict(sorted(ranks.items()) or [(None, training) for _, training in self._records_of[:1]])

    def _lines(self, sources: Sources, crashes: list[Json]) -> Iterator[RunLine]:
        """A process that was killed has not said what it reached: nothing is told about the rest then."""
        whole = self._lines_of == 1 + len(self._processes)
        for path, reached in self._reached.items():
            source = sources(path)
            left = {frame["line"] for crash in crashes for frame in crash["frames"] if frame["path"] == path}
            missed = self._missed[path] - reached if whole else set()
            for line, was in sorted(reached_lines(source.text, reached, missed, left, path in self._completed).items()):
                end = len(source.line(line)) + 1
                yield RunLine(path, Position(line, 1), Position(line, end), was)


def _judged(trainings: Sequence[Training], sources: Sources, ended: str) -> Iterator[tuple[Diagnostic, ...]]:
    """The findings about each; of one that was ended early, or not seen as a whole, not what may still have come."""
    for training, found in zip(trainings, verdicts_of_ranks(trainings, sources)):
        whole = ended == "exit" and not training.interrupted
        yield tuple(diagnostic for diagnostic in found if whole or diagnostic.code not in OF_ABSENCE)


def _training(found: Json) -> Training | None:
    """The record of a training; None for one that does not have the form."""
    try:
        return Training.of_json(found)
    except (TypeError, ValueError, KeyError):
        return None


def _without_kind(event: Json) -> Json:
    return {name: value for name, value in event.items() if name != "event"}


def _confirmed(diagnostic: Diagnostic, analysis: list[Diagnostic]) -> Diagnostic:
    """A finding about a training with the trail and the fixes of the analysis, where that says the same of the same lines."""
    same = next((other for other in analysis if _is_same(diagnostic, other)), None)
    return diagnostic if same is None else replace(diagnostic, related=same.related, fixes=same.fixes)


_FOLLOWS = ("TS933",)
"""The verdict on a loss that stays at that of a guess, for want of another cause."""
_EXPLAINING = ("TS1", "TS3", "TS4")
"""The families of faults in shapes, losses and graphs."""


def _is_same(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether two findings say the same of the same lines."""
    beside = one.start.line <= other.end.line and other.start.line <= one.end.line
    return beside and (one.code, one.path) == (other.code, other.path)


def _how_it_ended(exit_code: int, cancelled: bool) -> str:
    if cancelled:
        return "cancelled"
    if exit_code == -signal.SIGINT:
        return "interrupted"
    return "signal" if exit_code < 0 else "exit"


def read_sources(known: Mapping[str, str | None] | None = None) -> Sources:
    """Sources by path: as they were when the run loaded them, else from disk, decoded as Python does."""
    cache = {path: SourceText(path, text) for path, text in (known or {}).items() if text is not None}

    def read(path: str) -> SourceText:
        if path not in cache:
            try:
                cache[path] = SourceText(path, read_source(path))
            except Unreadable:
                cache[path] = SourceText(path, "")
        return cache[path]

    return read


def _span(numbers: list[int]) -> Span:
    line, column, end_line, end_column = numbers
    return line, column, end_line, end_column


def _values(item: Json | None) -> Values | None:
    if item is None:
        return None
    return Values(
        item["count"], Sample(**item["first"]), Sample(**item["last"]), item["low"], item["high"], item["bad"]
    )


def observed_facts(item: Json, sources: Sources) -> list[TensorFact]:
    """The fact about an expression, and the one about the name or attribute that it is assigned to."""
    source = sources(item["path"])
    spans: list[tuple[list[int], str | None]] = [(item["span"], None)]
    if item["binding"] is not None:
        spans.append((item["binding"][1], item["binding"][0]))
    found: list[TensorFact] = []
    for span, binding in spans:
        start, end = source.from_utf8(span[0], span[1]), source.from_utf8(span[2], span[3])
        found.append(
            TensorFact(
                source.path,
                start,
                end,
                source.slice(start, end),
                tuple(item["shape"]),
                item["dtype"],
                item["device"],
                item["requires_grad"],
                binding,
                "run",
                None if item["later"] is None else tuple(item["later"]),
                values=_values(item.get("values")),
            )
        )
    return found
