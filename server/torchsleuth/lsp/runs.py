"""Run and Diagnose: starts the script, passes its output on, and puts what it showed into the run layer."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from torchsleuth.lsp import protocol
from torchsleuth.lsp.client import Client
from torchsleuth.lsp.convert import range_json, to_range
from torchsleuth.lsp.documents import difference, path_of, read_source
from torchsleuth.lsp.progress import WorkDone
from torchsleuth.messages import message
from torchsleuth.report.history import Kept, earlier, remember
from torchsleuth.report.page import page
from torchsleuth.report.view import verdict
from torchsleuth.runtime.session import Run, RunReport
from torchsleuth.schema import Diagnostic, Json
from torchsleuth.syntax import files
from torchsleuth.syntax.notebooks import is_notebook, place, shown
from torchsleuth.syntax.text import SourceText

logger = logging.getLogger(__name__)

Analysis = Callable[[Sequence[str]], Awaitable[list[Diagnostic]]]


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
        arguments, cwd, environment = given.get("args") or [], given.get("cwd") or None, given.get("env") or {}
        module = given.get("module") or None
        if isinstance(arguments, str):
            arguments = shlex.split(arguments)
        if (
            isinstance(arguments, list)
            and all(isinstance(one, str) for one in arguments)
            and isinstance(cwd, str | None)
            and isinstance(module, str | None)
            and isinstance(environment, dict)
            and all(isinstance(value, str | None) for value in environment.values())
        ):
            return cls(tuple(arguments), cwd, environment, module)
        raise ValueError('{"args": [string…] | string, "cwd": string, "env": {name: string | null}, "module": string}')

    def variables(self) -> dict[str, str]:
        """The environment of the script."""
        changed = {**os.environ, **self.environment}
        return {name: value for name, value in changed.items() if value is not None}


class Runs:
    """At most one run at a time."""

    def __init__(self, client: Client, on_observed: Callable[[], None], analysis_of: Analysis) -> None:
        """`on_observed` is called where tensors have been seen, or are forgotten. `analysis_of`: what the analysis says of
        files."""
        self._client = client
        self._analysis_of = analysis_of
        self._on_observed = on_observed
        self._current: Run | None = None
        self._count = 0
        self._last: tuple[RunReport, Callable[[str], SourceText], tuple[Kept, ...]] | None = None
        """The report of the last run, with the files that ran, and the runs before."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="torchsleuth-run")

    async def run(self, uri: str, options: RunOptions | None = None) -> Json:
        """Run a script to its end. See `protocol` for the answer."""
        path, options = path_of(uri), options or RunOptions()
        refusal = self._refusal(path, options)
        if refusal is not None:
            return {"ok": False, "summary": refusal}
        self._count += 1
        number, name = self._count, options.module or os.path.basename(path)
        interpreter = self._client.settings_of(path).interpreter or sys.executable
        loop = asyncio.get_running_loop()

        def on_output(text: str) -> None:
            loop.call_soon_threadsafe(self._notify, protocol.RUN_OUTPUT, {"runId": number, "text": text})

        run = self._current = Run(
            options.module or path,
            options.arguments,
            interpreter,
            options.cwd or self._folder(path),
            on_output=on_output,
            environment=options.variables(),
            module=options.module is not None,
            folded=True,
        )
        # A client with a command of its own for runs shows there that one goes on.
        progress = WorkDone(self._client, self.stop) if self._client.settings.run_command is None else None
        texts = {document.path: read_source(document.path) for document in self._client.documents}
        try:
            if progress is not None:
                await progress.begin(message("editor.running", script=name))
            report = await loop.run_in_executor(self._thread, run.execute)
            if report.crashes:
                report = report.explained(await self._analysis_of(report.crashed_files))
        except OSError as error:
            return {
                "ok": False,
                "summary": message("worker.cannot_start", python=interpreter, error=error.strerror or error),
            }
        except asyncio.CancelledError:
            run.kill()  # the server is about to end, or the client withdrew its request
            raise
        except Exception as error:
            logger.exception("the run of %s", path)
            return {"ok": False, "summary": message("editor.run.failed", script=name, error=error)}
        finally:
            if self._current is run:
                self._current = None
            if progress is not None:
                progress.end()
        self._last = await loop.run_in_executor(self._thread, _keep, report)
        self._show(path, report, texts)
        result: Json = {
            "runId": number,
            "exitCode": report.exit_code,
            "cancelled": report.cancelled,
            "summary": summary(report),
        }
        self._notify(protocol.RUN_FINISHED, {**result, "uri": uri})
        trained = report.recorded is not None and report.recorded.steps > 0
        said = verdict(report)[1] if trained and not report.cancelled else None
        return {"ok": True, **result, "failure": self._failure(report), "verdict": said}

    def page(self) -> Json | None:
        """The report of the last run, for the editor to show."""
        if self._last is None:
            return None
        report, sources, before = self._last
        html = page(report, sources, before)
        return {"title": os.path.basename(report.script), "html": html}

    def stop(self) -> bool:
        """End the run and all its processes; a script that does not listen is killed a little later."""
        if self._current is None:
            return False
        self._current.cancel()
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
            return message("editor.run.busy", script=os.path.basename(self._current.script))
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
        found = [_without_edits_of_notebooks(diagnostic) for diagnostic in report.diagnostics]
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


def _keep(report: RunReport) -> tuple[RunReport, Callable[[str], SourceText], tuple[Kept, ...]]:
    """A run with the files that ran and the runs before, after it was put to those."""
    texts = {path: read_source(path) for path in report.loaded}
    before = earlier(report.script)
    remember(report, texts.__getitem__)
    return report, lambda path: texts.get(path) or read_source(path), before


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
