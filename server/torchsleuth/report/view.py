"""The contents of a run's page, as data: its verdict, findings, check-list, plots, modules and environment, in words and numbers.

The page itself (`extension/page`) only lays this out. It shows nothing of the environment's variables.
"""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torchsleuth.messages import message, messages_of, word
from torchsleuth.numbers import amount, large, number, seconds, share
from torchsleuth.report.checklist import checklist
from torchsleuth.report.losses import by_place, course
from torchsleuth.report.summary import doubts, nothing_seen, worst
from torchsleuth.runtime.report import RunReport
from torchsleuth.runtime.secrets import Secrets
from torchsleuth.schema import SEVERITIES, Diagnostic, Json
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.notebooks import is_notebook, shown
from torchsleuth.syntax.text import SourceText
from torchsleuth.training import Parameter, Place, Series, Training

Sources = Callable[[str], SourceText]
MAX_ROWS = 400
"""Rows of a table or a heat map."""
MAX_POINTS = 600
AROUND = 2
"""Lines of the source that are shown before and after that of a finding."""


class View:
    """Makes the data of a page. `sources` gives the files as they ran."""

    def __init__(self, report: RunReport, sources: Sources) -> None:
        self._report = report
        self._sources = sources
        self._root = os.path.dirname(_main_file(report))

    def to_json(self, probes: Sequence[Callable[[View], Json]] = ()) -> Json:
        """`probes` make what is shown of the answers of probes."""
        report, secrets = self._report, Secrets(self._report.environment)
        training = report.recorded
        told: Json = {
            "probes": [made(self) for made in probes],
            "offers": [
                {"kind": kind, "name": name, "command": self._command(kind)}
                for kind, name in messages_of("page.probe.").items()
            ],
            "verdict": dict(zip(("state", "text"), verdict(report))),
            "findings": self._findings(),
            "checklist": self._checklist(),
        }
        return {
            **secrets.without(told),
            "version": 1,
            "title": _named(report),
            "labels": messages_of("page.label."),
            "plots": [] if training is None else plots(training),
            "maps": [] if training is None else list(_maps(training)),
            "bars": [] if training is None else list(_bars(training)),
            "tables": [table for table in self._tables(training) if table["rows"]],
            "environment": _environment(report),
        }

    def _command(self, kind: str) -> str:
        """How a probe is asked for at a terminal."""
        script = self._report.script
        module = [] if os.path.isabs(script) else ["-m"]
        return shlex.join(["torchsleuth", "probe", "--kind", kind, *module, script, *self._report.arguments])

    def _checklist(self) -> list[Json]:
        return [
            {
                "name": message(f"page.point.{point.name}"),
                "state": point.state,
                "evidence": list(point.evidence),
                "place": self._place(point.place),
            }
            for point in checklist(self._report)
        ]

    def _findings(self) -> list[Json]:
        order = {severity: rank for rank, severity in enumerate(SEVERITIES)}
        crashed = len(self._report.crashes)
        indexed = list(enumerate(self._report.diagnostics))
        indexed.sort(key=lambda item: (item[0] >= crashed, order[item[1].severity]))
        return [self.finding(diagnostic) for _, diagnostic in indexed]

    def finding(self, diagnostic: Diagnostic) -> Json:
        place = Place(diagnostic.path, diagnostic.start.line)
        return {
            "code": diagnostic.code,
            "name": diagnostic.name,
            "severity": diagnostic.severity,
            "message": diagnostic.message,
            "place": self._place(place, diagnostic.start.column),
            "lines": self._lines(diagnostic),
            "operands": list(diagnostic.operands),
            "related": [
                {
                    "message": related.message,
                    "place": self._place(Place(related.path, related.start.line), related.start.column),
                }
                for related in diagnostic.related
            ],
            "fixes": [{"title": fix.title, "verified": fix.verified} for fix in diagnostic.fixes],
        }

    def _lines(self, diagnostic: Diagnostic) -> list[Json]:
        """The line of a finding and those around it."""
        source, line = self._sources(diagnostic.path), diagnostic.start.line
        count = len(source.text.rstrip().split("\n"))
        if not source.text or line > count:
            return []
        numbers = range(max(1, line - AROUND), min(count, line + AROUND) + 1)
        shift = shown("", source.text, line)[1] - line if is_notebook(diagnostic.path) else 0
        return [
            {"number": at + shift, "text": source.line(at)[:240], "here": at == line}
            for at in numbers
            if at + shift > 0
        ]

    def _place(self, place: Place | None, column: int | None = None) -> Json | None:
        if place is None:
            return None
        if column is None:
            column = place.span[1] + 1 if place.span is not None else 1
        return self.place(place.path, place.line, column)

    def place(self, path: str, line: int, column: int) -> Json:
        """A reference to a line: where it is, and as it is shown."""
        name = os.path.relpath(path, self._root) if path.startswith(self._root + os.sep) else path
        found = {"path": path, "line": line, "column": column}
        if is_notebook(path):
            name, line = shown(name, self._sources(path).text, line)
        return {**found, "text": f"{name}:{line}"}

    # tables

    def _tables(self, training: Training | None) -> Iterator[Json]:
        if self._report.ranks is not None:
            yield _table("ranks", self._rank_rows(self._report.ranks), right=(0, 1, 2, 3))
        if training is None:
            return
        yield _table("modules", self._module_rows(training), right=(3, 4, 5, 6))
        yield _table("batches", self._batch_rows(training), right=(3, 4, 5, 6))
        yield _table("loaders", self._loader_rows(training), right=(1, 2, 3, 4, 5))
        yield _table("kept", self._kept_rows(training), right=(1, 2))

    def _rank_rows(self, ranks: Json) -> Iterator[list[Any]]:
        """A row for each rank of a distributed training: what it takes, what of that it does alone, and what was found in it."""
        for rank in ranks["ranks"]:
            batches = [", ".join(map(str, item["batches"][-4:])) for item in rank["passes"]]
            found = [f"{one['code']} {self.place(one['path'], one['line'], 1)['text']}" for one in rank["findings"]]
            yield [
                str(rank["rank"]),
                amount(rank["steps"]),
                "–" if rank["step_ms"] is None else seconds(rank["step_ms"] / 1000),
                "–" if rank["local_ms"] is None else seconds(rank["local_ms"] / 1000),
                "; ".join(batches) or "–",
                ", ".join(found) or "–",
            ]

    def _module_rows(self, training: Training) -> Iterator[list[Any]]:
        shapes: dict[int, list[str]] = {}
        for parameter in training.parameters:
            if parameter.module is not None:
                shapes.setdefault(parameter.module, []).append(
                    f"{parameter.name.rpartition('.')[2]} {_sizes(parameter.shape)}"
                )
        order = _in_order(training)
        flops = {index: training.modules[index].flops for index in order}
        for index in reversed(order):
            parent = training.modules[index].parent
            if parent is not None:
                flops[parent] += flops[index]
        for index in order:
            module = training.modules[index]
            text = ", ".join(shapes.get(index, ()))
            yield [
                {"text": "\u00a0\u00a0" * _depth(training, index) + module.name, "place": self._place(module.place)},
                module.type,
                text,
                amount(module.elements) if module.elements else "",
                amount(module.trainable) if module.elements else "",
                large(flops[index]) if flops[index] else "",
                amount(module.calls) if module.calls else "",
            ]

    def _batch_rows(self, training: Training) -> Iterator[list[Any]]:
        seen = set()
        for batches in training.batches:
            if not batches.samples:
                continue
            last = batches.samples[-1]
            key = (batches.role, batches.place and (batches.place.path, batches.place.span))
            row = [
                {"text": word("page.role.", batches.role), "place": self._place(batches.place)},
                _sizes(last.shape),
                last.dtype,
                f"{number(last.low)} … {number(last.high)}",
                number(last.mean),
                number(last.std),
            ]
            if key not in seen:
                seen.add(key)
                yield row

    def _loader_rows(self, training: Training) -> Iterator[list[Any]]:
        for loader in training.loaders:
            yield [
                {"text": loader.dataset, "place": self._place(loader.place)},
                "–" if loader.size is None else amount(loader.size),
                "–" if loader.batch_size is None else amount(loader.batch_size),
                amount(loader.workers),
                amount(loader.batches),
                seconds(loader.seconds / loader.batches) if loader.batches else "–",
            ]

    def _kept_rows(self, training: Training) -> Iterator[list[Any]]:
        for kept in training.kept:
            text = kept.holder or message("page.kept_graph" if kept.grows else "page.kept_tensors")
            yield [{"text": text, "place": self._place(kept.place)}, amount(kept.alive), amount(kept.steps)]


def verdict(report: RunReport) -> tuple[str, str]:
    """How a run went, in a sentence: ``good``, ``warning``, ``bad`` or ``unknown``, and the sentence."""
    script = _named(report)
    if report.crashes:
        first = report.crashes[0][0]
        return "bad", message("page.crashed", script=script, place=_where(first), message=first.message)
    if report.cancelled:
        return "unknown", message("page.cancelled", script=script)
    known = worst(report.diagnostics)
    if known is not None:
        first, more = known
        said = message("page.found", script=script, place=_where(first), message=first.message)
        if more:
            said += " " + message("page.more" if more > 1 else "page.one_more", count=more)
        return ("bad" if first.severity == "error" else "warning"), said
    if report.exit_code != 0:
        return "bad", message("page.status", script=script, status=report.exit_code)
    training = report.recorded
    if training is not None and nothing_seen(training):
        return "unknown", message("page.unseen", script=script)
    if training is None or not training.steps:
        return "unknown", message("page.no_training", script=script)
    losses = by_place(training)
    if not losses:
        return "good", message("page.sound", steps=amount(training.steps))
    values = losses[0].values
    if values.bad:
        return "bad", message("page.verdict.not_finite", step=values.first_bad, count=amount(values.bad))
    went = course(values)
    ends = {"first": number(went.begin), "last": number(went.end)}
    said = message(f"page.ended.{went.kind}", steps=amount(training.steps), **ends)
    points = doubts(report)
    if points:
        return "warning", f"{said} {message('page.look', points=points)}"
    return ("warning" if went.kind in ("flat", "rising") else "good"), said


def _where(diagnostic: Diagnostic) -> str:
    return f"{os.path.basename(diagnostic.path)}:{diagnostic.start.line}"


def _environment(report: RunReport) -> list[list[str]]:
    versions = report.versions or {}
    training = report.recorded
    rows = [
        ("script", report.script),
        ("ended", word("page.end.", report.ended) if report.exit_code == 0 else f"{report.exit_code}"),
        ("took", seconds(report.seconds)),
        ("python", " ".join(str(versions.get(name, "")) for name in ("python", "executable")).strip()),
        ("platform", str(versions.get("platform", ""))),
        ("libraries", ", ".join(f"{name} {version}" for name, version in versions.get("libraries", {}).items())),
        ("device", ", ".join(versions.get("devices", ())) or (training.device if training is not None else "")),
        ("threads", str(versions.get("threads", ""))),
        ("cost", "" if training is None else seconds(training.cost)),
    ]
    return [[message(f"page.label.{name}"), text] for name, text in rows if text]


# plots


def plots(training: Training) -> list[Json]:
    """A plot over the steps."""
    return [plot for plot in _plots(training) if plot is not None]


def _plots(training: Training) -> Iterator[Json | None]:
    losses = by_place(training)[:6]
    named = [(_loss_name(loss, losses), loss.values) for loss in losses]
    yield _plot("loss", named, logarithmic=_spans_decades(named))
    rates = [
        (f"{optimizer.type}" + (f" {index}" if len(optimizer.groups) > 1 else ""), group.rates)
        for optimizer in training.optimizers
        for index, group in enumerate(optimizer.groups[:4])
    ]
    yield _plot("rate", rates[:6], logarithmic=_spans_decades(rates))
    norm = [(message("page.norm"), training.gradient_norm)]
    yield _plot("norm", norm, logarithmic=_spans_decades(norm))
    yield _plot("scale", [(message("page.scale"), training.scale)], logarithmic=True)
    memory = [(message("page.of_process"), training.memory), (message("page.of_device"), training.device_memory)]
    yield _plot("memory", memory, unit="bytes")
    yield _plot("step", [(message("page.step"), training.step_seconds)], unit="seconds")


def _loss_name(loss: Any, losses: tuple[Any, ...]) -> str:
    name = loss.kind or message("page.loss")
    same = [other for other in losses if (other.kind or message("page.loss")) == name]
    if len(same) > 1 and loss.place is not None:
        return f"{name} ({os.path.basename(loss.place.path)}:{loss.place.line})"
    return str(name)


def _plot(name: str, series: list[tuple[str, Series]], unit: str = "", logarithmic: bool = False) -> Json | None:
    shown_series = [
        {"name": title, "points": _points(values), "bad": values.bad, "first_bad": values.first_bad}
        for title, values in series
        if values.count > 1 or values.bad
    ]
    if not shown_series:
        return None
    titles = {"title": message(f"page.plot.{name}"), "about": message(f"page.plot.{name}.about")}
    return {"name": name, **titles, "unit": unit, "logarithmic": logarithmic, "series": shown_series}


def _points(series: Series) -> list[list[float | None]]:
    points = series.points
    every = max(1, math.ceil(len(points) / MAX_POINTS))
    kept = [points[index] for index in range(0, len(points), every)]
    if points and kept[-1] is not points[-1]:
        kept.append(points[-1])
    return [[step, value] for step, value in kept]


def _spans_decades(series: Iterable[tuple[str, Series]]) -> bool:
    """Whether a logarithmic scale shows more: all values positive, and the highest far above the lowest."""
    values = [value for _, one in series for value in one.values]
    return bool(values) and min(values) > 0 and max(values) > 30 * min(values)


# heat maps


def _maps(training: Training) -> Iterator[Json]:
    by_hand = not training.optimizers
    weights = [item for item in training.parameters if item.samples and (item.optimizer is not None or by_hand)]
    if any(len(item.shape) > 1 for item in weights):
        weights = [item for item in weights if len(item.shape) > 1]  # biases and scales say the same, twice
    gradients = [
        (_name(item), [(s.step, s.gradient if s.finite else math.nan) for s in item.samples]) for item in weights
    ]
    yield from _map("gradients", gradients, logarithmic=True)
    updates = [(_name(item), [(s.step, s.update) for s in item.samples]) for item in weights]
    yield from _map("updates", updates, logarithmic=True)
    for measure in ("dead", "saturated", "zeros", "std"):
        rows = [
            (f"{item.after or '?'} → {item.function}", [(s.step, getattr(s, measure)) for s in item.samples])
            for item in sorted(training.activations, key=lambda item: item.order)
        ]
        rows = [row for row in rows if any(value is not None for _, value in row[1])]
        if measure == "zeros" and not any(value for _, points in rows for _, value in points):
            continue
        yield from _map(measure, rows, logarithmic=False)


def _map(name: str, rows: list[tuple[str, list[tuple[int, float | None]]]], logarithmic: bool) -> Iterator[Json]:
    rows = [row for row in rows if any(value is not None for _, value in row[1])][:MAX_ROWS]
    if not rows:
        return
    steps = sorted({step for _, points in rows for step, _ in points})
    cells = []
    for title, points in rows:
        values = dict(points)
        cells.append({"name": title, "values": [_cell(values, step) for step in steps]})
    finite = [value for row in cells for value in of_kind(row["values"], float) if value > 0]
    yield {
        "name": name,
        "title": message(f"page.map.{name}"),
        "about": message(f"page.map.{name}.about"),
        "logarithmic": logarithmic,
        "steps": steps,
        "rows": cells,
        "low": min(finite, default=0.0) if logarithmic else 0.0,
        "high": max(finite, default=1.0) if logarithmic or name == "std" else 1.0,
    }


def _cell(values: dict[int, float | None], step: int) -> float | str | None:
    """The value of a step; ``"bad"`` where it is not finite, None where there is none."""
    value = values.get(step)
    if value is None:
        return None
    return float(value) if math.isfinite(value) else "bad"


def _name(parameter: Parameter) -> str:
    return parameter.name or _sizes(parameter.shape)


# bars


def _bars(training: Training) -> Iterator[Json]:
    total = sum(training.phases.values())
    if total:
        parts = [
            {
                "name": word("page.phase.", name),
                "share": value / total,
                "text": f"{seconds(value)}, {share(value / total)}",
            }
            for name, value in training.phases.items()
            if value / total >= 0.001
        ]
        yield _bar("time", parts)
    labels: dict[str, int] = {}
    for batches in training.batches:
        for sample in batches.samples if batches.role == "target" else ():
            for label, count in (sample.labels or {}).items():
                labels[label] = labels.get(label, 0) + count
    if labels:
        most = sum(labels.values())
        ordered = sorted(labels.items(), key=lambda item: (len(item[0]), item[0]))[:24]
        yield _bar(
            "labels",
            [{"name": label, "share": n / most, "text": f"{amount(n)}, {share(n / most)}"} for label, n in ordered],
        )


def _bar(name: str, parts: list[Json]) -> Json:
    return {
        "name": name,
        "title": message(f"page.bar.{name}"),
        "about": message(f"page.bar.{name}.about"),
        "parts": parts,
    }


# tables


def _table(name: str, rows: Iterable[list[Any]], right: tuple[int, ...]) -> Json:
    found = list(rows)
    heads = [message(f"page.table.{name}.{index}") for index in range(len(found[0]))] if found else []
    return {
        "name": name,
        "title": message(f"page.table.{name}"),
        "heads": heads,
        "right": list(right),
        "rows": found[:MAX_ROWS],
        "left_out": max(0, len(found) - MAX_ROWS),
    }


def _named(report: RunReport) -> str:
    return os.path.basename(_main_file(report)) or report.script


def _main_file(report: RunReport) -> str:
    """The script of a run; of a module such as a launcher, the first of the user's files."""
    files = [report.script] if os.path.isabs(report.script) else [*report.loaded[:1], report.script]
    return files[0]


def _in_order(training: Training) -> list[int]:
    """The modules that take part, parents before their parts, in the order of their names."""
    inside: dict[int | None, list[int]] = {}
    for index, module in enumerate(training.modules):
        inside.setdefault(module.parent, []).append(index)
    found: list[int] = []
    waiting = list(reversed(inside.get(None, [])))
    while waiting and len(found) <= len(training.modules):
        index = waiting.pop()
        found.append(index)
        waiting += reversed(inside.get(index, []))
    taking = {index for index in found if training.modules[index].calls or training.modules[index].elements}
    for index in reversed(found):  # a ModuleList is never called itself
        parent = training.modules[index].parent
        if index in taking and parent is not None:
            taking.add(parent)
    return [index for index in found if index in taking]


def _depth(training: Training, index: int) -> int:
    depth, parent = 0, training.modules[index].parent
    while parent is not None and depth < 12:
        depth, parent = depth + 1, training.modules[parent].parent
    return depth


def _sizes(shape: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"
