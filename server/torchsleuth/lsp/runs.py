"""Run and Diagnose: starts the script, streams its output, and puts what it showed into the store."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import uuid

from lsprotocol import types

from torchsleuth.lsp import convert, protocol
from torchsleuth.lsp.session import Session
from torchsleuth.runtime.session import Run, RunReport

_generations = itertools.count(1)


async def run_and_diagnose(session: Session, uri: str) -> dict[str, object]:
    """Run the script of a document to its end. The result says how it went, in one line."""
    if not session.settings.trusted:
        return {"ok": False, "summary": "the workspace is not trusted: nothing is run"}
    if session.run is not None:
        return {"ok": False, "summary": "a run is in progress: stop it first"}
    path = convert.to_path(uri)
    if not os.path.isfile(path):
        return {"ok": False, "summary": f"{path} has not been saved"}
    loop = asyncio.get_running_loop()
    number = next(session.run_ids)

    def on_output(text: str) -> None:
        loop.call_soon_threadsafe(_notify, session, protocol.RUN_OUTPUT, {"runId": number, "text": text})

    interpreter = session.settings.interpreter or sys.executable
    cwd = next((root for root in session.roots() if path.startswith(root)), os.path.dirname(path))
    run = Run(path, (), interpreter, cwd, on_output=on_output)
    session.run = run
    token = await _begin(session, os.path.basename(path))
    watcher = asyncio.ensure_future(_cancel_on_request(session, token, run)) if token else None
    try:
        report = await loop.run_in_executor(None, run.execute)
    except OSError as error:
        return {"ok": False, "summary": f"{interpreter} cannot be started: {error.strerror or error}"}
    finally:
        session.run = None
        if watcher is not None:
            watcher.cancel()
        if token:
            session.server.work_done_progress.end(token, types.WorkDoneProgressEnd())
    summary = describe(report)
    show(session, path, report)
    result: dict[str, object] = {
        "runId": number,
        "exitCode": report.exit_code,
        "cancelled": report.cancelled,
        "summary": summary,
    }
    _notify(session, protocol.RUN_FINISHED, result)
    return {"ok": True, **result}


def show(session: Session, owner: str, report: RunReport) -> None:
    """Put a report into the store, and publish it."""
    session.run_texts = {fact.path: session.source(fact.path) for fact in report.facts}
    session.run_texts.update({item.path: session.source(item.path) for item in report.diagnostics})
    changed = session.store.drop("run", owner)
    more = session.store.put("run", owner, next(_generations), list(report.diagnostics), list(report.facts))
    session.publish(changed | (more or set()))
    session.refresh_hints()


def describe(report: RunReport) -> str:
    if report.cancelled:
        return "the run was stopped"
    if report.diagnostics:
        first = report.diagnostics[0]
        return f"{first.code} at {os.path.basename(first.path)}:{first.start.line}: {first.message}"
    return f"the script ended with exit status {report.exit_code}"


def stop(session: Session) -> None:
    if session.run is not None:
        session.run.cancel()


def clear(session: Session) -> None:
    session.run_texts = {}
    session.publish(session.store.drop("run"))
    session.refresh_hints()


def _notify(session: Session, method: str, params: dict[str, object]) -> None:
    session.server.protocol.notify(method, params)


async def _begin(session: Session, name: str) -> str | None:
    """A progress display with a cancel button, where the client has one."""
    window = session.server.client_capabilities.window
    if window is None or not window.work_done_progress:
        return None
    token = str(uuid.uuid4())
    await session.server.work_done_progress.create_async(token)
    begin = types.WorkDoneProgressBegin(title=f"Running {name}", cancellable=True)
    session.server.work_done_progress.begin(token, begin)
    return token


async def _cancel_on_request(session: Session, token: str, run: Run) -> None:
    future = session.server.work_done_progress.tokens[token]
    # pygls marks the token's future as cancelled when the client asks for it.
    try:
        await asyncio.wrap_future(future) if not isinstance(future, asyncio.Future) else await asyncio.shield(future)
    except asyncio.CancelledError:
        if future.cancelled():
            run.cancel()
        raise
