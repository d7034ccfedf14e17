"""Run and Diagnose: starts the script, passes its output on, and puts what it showed into the run layer."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from torchsleuth.lsp import protocol
from torchsleuth.lsp.client import Client
from torchsleuth.lsp.convert import range_json, to_range
from torchsleuth.lsp.documents import difference, path_of, read_source
from torchsleuth.lsp.progress import WorkDone
from torchsleuth.messages import message
from torchsleuth.probing.result import EXIT_STATUS, Result
from torchsleuth.probing.session import KINDS, Request
from torchsleuth.probing.shown import for_page
from torchsleuth.probing.shown import lines as probe_lines
from torchsleuth.report.history import Kept, earlier, remember
from torchsleuth.report.page import page
from torchsleuth.report.view import verdict
from torchsleuth.runtime.session import Run, RunReport
from torchsleuth.schema import Diagnostic, Json
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.syntax import files
from torchsleuth.syntax.notebooks import is_notebook, place, shown
from torchsleuth.syntax.text import SourceText

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")
Analysis = Callable[[Sequence[str]], Awaitable[list[Diagnostic]]]
Wanted = Callable[[Iterable[Diagnostic]], list[Diagnostic]]


@dataclass(frozen=True)
class RunOptions:
    """How a script is run. `cwd` None: in the workspace folder that holds it. `environment`: put over the server's own; a
    variable that is None is taken away. `module`: the name of what runs instead of the script, as with ``python -m``."""

    arguments: tuple[str, ...] = ()
    cwd: str | None = None
    environment: Mapping[str, str | None] = field(default_factory=dict)
    module: str | None = None

    @classmethod
    def of(cls, options: Any) -> RunOptions:
        """The options that a client asks for. Raises ValueError, with the form that is expected."""
        given: Json = options if isinstance(options, dict) else {"args": [None]}
        arguments, cwd, environment = (
            given.get("args") or [],
            given.get("cwd") or None,
            as_kind(given.get("env") or {}, dict),
        )
        module = given.get("module") or None
        if isinstance(arguments, str):
            arguments = shlex.split(arguments)
        if (
            isinstance(arguments, list)
            and all_are(arguments, str)
            and isinstance(cwd, str | None)
            and isinstance(module, str | None)
            and environment is not None
            and all(isinstance(value, str | None) for value in environment.values())
        ):
            return cls(tuple(arguments), cwd, environment, module)
        raise ValueError('{"args": [string…] | string, "cwd": string, "env": {name: string | null}, "module": string}')

    def variables(self) -> dict[str, str]:
        """The environment of the script."""
        changed = {**os.environ, **self.environment}
        return {name: value for name, value in changed.items() if value is not None}


class _NotRun(Exception):
    """Nothing was run; the text says why."""


class _Going:
    """The runs of one request, one after the other; what is asked of them reaches the next one, too."""

    def __init__(
        self,
        number: int,
        name: str,
        interpreter: str,
        cwd: str,
        on_output: Callable[[str], None],
        environment: dict[str, str],
    ) -> None:
        self.number = number
        self.name = name
        self.interpreter = interpreter
        self.cwd = cwd
        self.on_output = on_output
        self._environment = environment
        self._job: Run | None = None
        self._stopped = self._killed = False

    def begin(self, job: Run) -> None:
        """Called with each run before it is executed."""
        job.on_output, job.environment, job.folded = self.on_output, self._environment, True
        self._job = job
        if self._killed:
            job.kill()
        elif self._stopped:
            job.cancel()

    def stop(self) -> None:
        self._stopped = True
        if self._job is not None:
            self._job.cancel()

    def kill(self) -> None:
        self._killed = True
        if self._job is not None:
            self._job.kill()

    def send_input(self, text: str) -> None:
        if self._job is not None:
            self._job.send_input(text)


@dataclass(frozen=True)
class _Shown:
    """A report with the files that ran, the runs before, and the answers of the probes of that script since."""

    report: RunReport
    sources: Callable[[str], SourceText]
    before: tuple[Kept, ...]
    probes: tuple[Result, ...] = ()


class Runs:
    """At most one run, or probe, at a time."""

    def __init__(self, client: Client, on_observed: Callable[[], None], analysis_of: Analysis, wanted: Wanted) -> None:
        """`on_observed` is called where tensors have been seen, or are forgotten. `analysis_of`: what the analysis says of
        files; `wanted`: those of it that the user wants to see."""
        self._client = client
        self._analysis_of = analysis_of
        self._wanted = wanted
        self._on_observed = on_observed
        self._current: _Going | None = None
        self._count = 0
        self._last: _Shown | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="torchsleuth-run")

    async def run(self, uri: str, options: RunOptions | None = None) -> Json:
        """Run a script to its end. See `protocol` for the answer."""
        path, options = path_of(uri), options or RunOptions()

        texts = self._texts()
        try:
            async with self._going(path, options, "editor.running") as going:
                job = Run(options.module or path, options.arguments, going.interpreter, going.cwd)
                job.module = options.module is not None
                going.begin(job)
                report = await self._in_thread(job.execute)
                if report.analysed_files:
                    found = await self._analysis_of(report.analysed_files)
                    report = report.explained(found).with_text(self._wanted(found))
        except _NotRun as refusal:
            return {"ok": False, "summary": str(refusal)}
        self._last = await self._in_thread(partial(_keep, report))
        self._show(path, report, texts)
        result = self._finished(going, uri, report.exit_code, report.cancelled, summary(report))
        trained = report.recorded is not None and report.recorded.steps > 0
        said = verdict(report)[1] if (trained or report.crashes) and not report.cancelled else None
        return {"ok": True, **result, "failure": self._failure(report), "verdict": said}

    async def probe(self, uri: str, kind: str, options: RunOptions | None = None) -> Json:
        """Ask a question about a script, which runs as often as the answer needs. See `protocol` for the answer."""
        path, options = path_of(uri), options or RunOptions()
        if kind not in KINDS:
            return {"ok": False, "summary": message("editor.probe.wrong", kind=kind, kinds=", ".join(KINDS))}
        texts = self._texts()
        try:
            async with self._going(path, options, "editor.probing", kind=kind) as going:
                script, module = options.module or path, options.module is not None
                request = Request(kind, script, options.arguments, going.interpreter, module, cwd=going.cwd)
                request.start = going.begin
                result = await self._in_thread(request.answer)
                if result.diagnosis is not None and request.report is not None:
                    result = request.explained(result, await self._analysis_of(request.report.analysed_files))
        except _NotRun as refusal:
            return {"ok": False, "summary": str(refusal)}
        report, failure = request.report, None
        assert report is not None
        if result.diagnosis is not None:
            self._show(path, report, texts)
            failure = self._failure(report)
        known = self._last if self._last is not None and self._last.report.script == report.script else None
        if known is None:
            known = await self._in_thread(partial(_seen, report))
        others = tuple(other for other in known.probes if other.kind != kind)
        self._last = replace(known, probes=(result, *others))
        told = list(probe_lines(result))
        going.on_output("".join(f"{line}\n" for line in told[1:]))
        finished = self._finished(going, uri, EXIT_STATUS[result.outcome], report.cancelled, told[0])
        return {"ok": True, **finished, "outcome": result.outcome, "failure": failure, "verdict": told[0]}

    @asynccontextmanager
    async def _going(self, path: str, options: RunOptions, title: str, **values: str) -> AsyncIterator[_Going]:
        """The time in which a script runs, and nothing else does. Raises _NotRun."""
        refusal = self._refusal(path, options)
        if refusal is not None:
            raise _NotRun(refusal)
        self._count += 1
        name = options.module or os.path.basename(path)
        interpreter = self._client.settings_of(path).interpreter or sys.executable
        loop, number = asyncio.get_running_loop(), self._count

        def on_output(text: str) -> None:
            loop.call_soon_threadsafe(self._notify, protocol.RUN_OUTPUT, {"runId": number, "text": text})

        folder = options.cwd or self._folder(path)
        going = self._current = _Going(number, name, interpreter, folder, on_output, options.variables())
        # A client with a command of its own for runs shows there that one goes on.
        progress = WorkDone(self._client, self.stop) if self._client.settings.run_command is None else None
        try:
            if progress is not None:
                await progress.begin(message(title, script=name, **values))
            yield going
        except OSError as error:
            text = message("worker.cannot_start", python=interpreter, error=error.strerror or error)
            raise _NotRun(text) from None
        except asyncio.CancelledError:
            going.kill()  # the server is about to end, or the client withdrew its request
            raise
        except Exception as error:
            logger.exception("the run of %s", path)
            raise _NotRun(message("editor.run.failed", script=name, error=error)) from None
        finally:
            if self._current is going:
                self._current = None
            if progress is not None:
                progress.end()

    async def _in_thread(self, work: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _texts(self) -> dict[str, SourceText]:
        """The files of the open documents as they are on disk."""
        return {document.path: read_source(document.path) for document in self._client.documents}

    def _finished(self, going: _Going, uri: str, code: int, cancelled: bool, told: str) -> Json:
        """How it went, as the client is told of it."""
        result: Json = {"runId": going.number, "exitCode": code, "cancelled": cancelled, "summary": told}
        self._notify(protocol.RUN_FINISHED, {**result, "uri": uri})
        return result

    def page(self) -> Json | None:
        """The report of the last run, for the editor to show."""
        if self._last is None:
            return None
        last = self._last
        probes = [partial(for_page, result) for result in last.probes]
        html = page(last.report, last.sources, last.before, probes)
        return {"title": os.path.basename(last.report.script), "html": html}

    def stop(self) -> bool:
        """End the run and all its processes; a script that does not listen is killed a little later."""
        if self._current is None:
            return False
        self._current.stop()
        return True

    def send_input(self, text: str) -> None:
        if self._current is not None:
            self._current.send_input(text)

    def clear(self, uri: str | None = None) -> None:
        before = self._client.store.observed()
        self._client.store.clear("run", path_of(uri) if uri is not None else None)
        self._client.refresh_hints()
        if before:
            self._on_observed()

    def kill(self) -> None:
        """End everything at once, for the server is about to end."""
        if self._current is not None:
            self._current.kill()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _refusal(self, path: str, options: RunOptions) -> str | None:
        if not self._client.settings.trusted:
            return message("editor.untrusted")
        if self._current is not None:
            return message("editor.run.busy", script=self._current.name)
        if options.module is None and not os.path.isfile(path):
            return message("editor.run.missing", path=path)
        if options.module is None and is_notebook(path):
            try:
                files.read_source(path)
            except files.Unreadable as error:
                return str(error)
        return None

    def _folder(self, path: str) -> str:
        """The workspace folder that holds the script, as a terminal in the editor would have it; else its own folder."""
        roots = [root for root in self._client.roots() if Path(path).is_relative_to(root)]
        return max(roots, key=len, default=path if os.path.isdir(path) else os.path.dirname(path))

    def _show(self, path: str, report: RunReport, texts: dict[str, SourceText]) -> None:
        """The file on disk is what ran; what was typed since, or not saved, moves or outdates the results."""
        since = {
            document.path: difference(texts[document.path], document.source)
            for document in self._client.documents
            if document.path in texts
        }
        before = self._client.store.observed()
        found = [
            _without_edits_of_notebooks(diagnostic) for diagnostic in report.diagnostics if diagnostic.layer == "run"
        ]
        self._client.store.replace("run", path, found, report.facts, since=since, lines=report.lines)
        self._client.refresh_hints()
        if self._client.store.observed() != before:
            self._on_observed()

    def _failure(self, report: RunReport) -> Json | None:
        """The first thing that a run showed, as it is to be shown now, and the fix that is offered first."""
        client, places = self._client, {(found.path, found.start.line) for found in report.diagnostics[:1]}
        shown = (finding for finding in client.store.failures() if finding.diagnostic.severity == "error")
        finding = next((f for f in shown if (f.diagnostic.path, f.diagnostic.start.line) in places), None)
        if finding is None or finding.stale:
            return None
        diagnostic, source = finding.diagnostic, client.documents.source(finding.diagnostic.path)
        where = to_range(source, diagnostic.start, diagnostic.end, client.documents.encoding)
        cell = {}
        if is_notebook(diagnostic.path):
            number, line = place(source.text, diagnostic.start.line)
            by = line - diagnostic.start.line
            start, end = where.start, where.end
            start.line, end.line = start.line + by, end.line + by
            cell = {"cell": number}
        return {
            **cell,
            "number": finding.number,
            "uri": client.documents.uri(diagnostic.path),
            "range": range_json(where),
            "message": diagnostic.message,
            "fix": finding.preferred.title if finding.preferred is not None else None,
        }

    def _notify(self, method: str, params: Json) -> None:
        self._client.protocol.notify(method, params)


def _keep(report: RunReport) -> _Shown:
    """A run, after it was put to those before."""
    shown = _seen(report)
    remember(report, shown.sources)
    return shown


def _seen(report: RunReport) -> _Shown:
    """A run with the files that ran, and the runs before."""
    texts = {path: read_source(path) for path in report.loaded}
    return _Shown(report, lambda path: texts.get(path) or read_source(path), earlier(report.script))


def _without_edits_of_notebooks(diagnostic: Diagnostic) -> Diagnostic:
    """A notebook's cells are documents of their own, which edits of the text that they are together do not fit."""
    fixes = tuple(fix for fix in diagnostic.fixes if not any(is_notebook(edit.path) for edit in fix.edits))
    return replace(diagnostic, fixes=fixes)


def summary(report: RunReport) -> str:
    """How a run went, in one line."""
    script = os.path.basename(report.script)
    if report.cancelled:
        return message("editor.run.cancelled", script=script)
    if report.diagnostics:
        first = report.diagnostics[0]
        text = read_source(first.path).text if is_notebook(first.path) else ""
        name, line = shown(os.path.basename(first.path), text, first.start.line)
        place = f"{name}:{line}"
        return message("editor.run.found", code=first.code, place=place, message=first.message)
    if report.crash is not None:
        error = str(report.crash.get("message", "")).split("\n")[0]
        return message("editor.run.crashed", script=script, error=f"{report.crash.get('type')}: {error}")
    if report.exit_code == 0:
        return message("editor.run.finished", script=script)
    return message("editor.run.status", script=script, status=report.exit_code)
