"""Keeps the static layer of the store up to date: worker, schedule, staleness, status and first-time progress."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from torchsleuth.lsp import protocol
from torchsleuth.lsp.documents import Document
from torchsleuth.lsp.lookups import Lookups
from torchsleuth.lsp.progress import WorkDone
from torchsleuth.lsp.scheduling import Scheduler, Turns
from torchsleuth.messages import message
from torchsleuth.schema import FileAnalysis
from torchsleuth.syntax.unfinished import Analysed
from torchsleuth.worker.async_client import Asked, AsyncWorkerClient
from torchsleuth.worker.client import WorkerUnavailable

if TYPE_CHECKING:
    from torchsleuth.lsp.server import TorchSleuthServer

logger = logging.getLogger(__name__)

TYPING_PAUSE_S = 0.15
"""Pause in typing after which a document is analysed."""
DEPENDENT_PAUSE_S = 0.5
"""The same for documents that import the one being typed in."""
BUSY_SHOWN_AFTER_S = 0.3
"""Time after which an analysis shows in the status."""
SETTLING_PAUSE_S = 1.0
"""The same where a name is read that nothing binds, and that may yet grow into another."""
REPAIR_SLICE_S = 0.2
"""Time after which the verification of fixes asks whether something else is to be done."""
BUDGET_S = 30.0
"""Time one document may take before its worker is replaced."""


class StaticAnalysis:
    """Analyses open documents in the background."""

    def __init__(self, server: TorchSleuthServer) -> None:
        self._server = server
        self._scheduler = Scheduler(self._analyze)
        self._turns = Turns()
        self._lookups = Lookups(self.request_all)
        self._worker: AsyncWorkerClient | None = None
        self._welcomed = False
        self._cancelled: set[tuple[str, int]] = set()
        self._analysed: dict[str, Analysed] = {}
        """The texts that the results in the store are about, but for a statement that is being typed."""
        self._unserved: set[str] = set()
        """Documents that were not analysed since there was no worker."""
        self._outdated: set[str] = set()
        """Documents of which something else than the text has changed since their analysis began."""
        self._settling: set[str] = set()
        self._incomplete: dict[str, str] = {}
        self._busy_timer: asyncio.TimerHandle | None = None
        self._announced = ("", "")
        self.status = ("stopped", "")
        """State and detail of the worker."""

    def restart(self) -> None:
        """A new worker with the settings of now; open documents are analysed again."""
        self.stop()
        self._welcomed = False
        self._analysed.clear()
        if not self._server.settings.trusted:
            self._server.store.clear("static")
            self._set_status("restricted", message("editor.untrusted"))
            return
        self._worker = AsyncWorkerClient(self._server.settings.interpreter, self._set_status)
        self._scheduler.request(_START, 0.0)
        self.request_all()

    def stop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()

    def close(self) -> None:
        self._scheduler.close()
        self._lookups.close()
        if self._busy_timer is not None:
            self._busy_timer.cancel()
        self.stop()

    def request(self, document: Document, delay_s: float = 0.0) -> None:
        """Analyse a document soon, and open documents that import it a little later."""
        if self._worker is None:
            return
        self._settling.discard(document.path)
        self._scheduler.request(document.path, delay_s)
        self._request_dependents(document.path)

    def request_all(self) -> None:
        if self._worker is not None:
            for document in self._server.documents:
                self._outdate(document.path)
                self._scheduler.request(document.path, 0.0)

    def forget(self, path: str) -> None:
        """The document was closed: what is on disk counts for those that import it."""
        self._note_incomplete(path, None)
        self._analysed.pop(path, None)
        self._outdated.discard(path)
        self._cancelled = {(of, version) for of, version in self._cancelled if of != path}
        self._scheduler.forget(path)
        if self._worker is not None:
            self._request_dependents(path)

    def _request_dependents(self, path: str) -> None:
        for dependent in self._server.documents.importing(path):
            self._outdate(dependent.path)
            self._scheduler.request(dependent.path, DEPENDENT_PAUSE_S)

    def _outdate(self, path: str) -> None:
        """What was found in a document does not hold any more, whatever its text; neither does what is being found."""
        self._analysed.pop(path, None)
        self._outdated.add(path)

    async def settled(self, path: str, timeout_s: float) -> bool:
        """Whether results are those of the current text, waiting for them a while if not."""
        return await self._scheduler.settled(path, timeout_s)

    async def _analyze(self, path: str) -> None:
        worker = self._worker
        if worker is None:
            return
        if path == _START:
            await self._start(worker)
            return
        progress = None
        document = self._server.documents.at(path)
        if document is not None and not self._welcomed:
            self._welcomed = True
            progress = WorkDone(self._server, lambda: self._cancel(path))
            await progress.begin(message("editor.analyzing"), message("editor.starting", python=worker.interpreter))
        try:
            await worker.start()
            document = self._server.documents.at(path)  # the newest text, not that of the request
            if document is None or (path, document.version) in self._cancelled:
                return
            if self._still_holds(document):
                return
            self._outdated.discard(path)
            overlay = {other.path: other.text for other in self._server.documents if other.path != path}
            roots = (*self._server.roots(), *self._lookups.folders)
            await self._server.control.prepare()
            codes = self._server.control.codes(path)
            asked = Asked(path, document.text, overlay, roots, codes)
            analysis = await worker.analyze(asked, BUDGET_S)
            accepted = self._accept(worker, document, analysis)
            if accepted:
                self._analysed.pop(path, None)
                if not analysis.stats.get("incomplete") and path not in self._outdated:
                    self._analysed[path] = Analysed(document.source, worker.vocabulary)
            if progress is not None:
                progress.end()
                progress = None
            missing = analysis.stats.get("missing") or []
            self._lookups.ask(missing, self._text_of, worker.interpreter, self._server.roots())
            turn = self._turns.announce()
            while accepted and analysis.stats.get("unverified"):
                # What is found is shown already; the fixes follow, and give way to the next keystroke. The worker keeps
                # only a few analyses whose fixes are being verified: one after the other.
                async with self._turns.turn(turn):
                    accepted = self._is_current(worker, document)
                    if accepted:
                        analysis = await worker.repair(asked, REPAIR_SLICE_S, BUDGET_S)
                        accepted = "unverified" in analysis.stats and self._accept(worker, document, analysis)
            if analysis.stats.get("died"):
                self._scheduler.request(path, 0.0)
            elif accepted and path in self._analysed:
                self._analysed[path].whole = True
        except WorkerUnavailable as error:
            logger.info("no analysis: %s", error)
            if worker is self._worker:
                self._unserved.add(path)
                self._start_later(worker)
        finally:
            if progress is not None:
                progress.end()

    def _still_holds(self, document: Document) -> bool:
        """Whether what was found before, which has moved along with the text, is all there is to say: a statement is being
        typed. What may yet turn out to be meant that way is analysed after a longer pause."""
        before = self._analysed.get(document.path)
        change = before.unfinished(document.text) if before is not None else None
        if before is None or change is None:
            return False
        if change == "same" and not (before.whole and self._server.store.is_whole("static", document.path)):
            return False
        if change == "unbound":
            if document.path in self._settling:
                return False
            self._settling.add(document.path)
            self._scheduler.request(document.path, SETTLING_PAUSE_S)
        self._server.store.keep("static", document.path, document.version)
        return True

    def _text_of(self, path: str) -> str:
        return self._server.documents.source(path).text

    async def _start(self, worker: AsyncWorkerClient) -> None:
        try:
            await worker.start()
        except WorkerUnavailable as error:
            logger.info("no analysis: %s", error)
            self._start_later(worker)

    def _start_later(self, worker: AsyncWorkerClient) -> None:
        """A worker that is unavailable is tried again as long as it is wanted, unless only the user can help."""
        seconds = worker.retry_seconds
        if worker is self._worker and seconds is not None:
            self._scheduler.request(_START, seconds)

    def _accept(self, worker: AsyncWorkerClient, document: Document, analysis: FileAnalysis) -> bool:
        """Results for a text that is no longer the current one are dropped: newer ones are on their way. So they are where the
        worker died: what was found before is still there."""
        if not self._is_current(worker, document) or analysis.stats.get("died"):
            return False
        if analysis.stats.get("traceback"):
            logger.error("the analysis of %s failed:\n%s", document.path, analysis.stats["traceback"])
        self._note_incomplete(document.path, analysis.stats.get("incomplete"))
        found = [] if self._server.control.excludes(document.path) else self._server.control.shown(analysis)
        self._server.store.replace("static", document.path, found, analysis.facts, document.version)
        self._server.refresh_hints()
        return True

    def _is_current(self, worker: AsyncWorkerClient, document: Document) -> bool:
        current = self._server.documents.at(document.path)
        return current is not None and current.version == document.version and worker is self._worker

    def _cancel(self, path: str) -> None:
        document = self._server.documents.at(path)
        if document is not None and self._worker is not None:
            self._cancelled.add((path, document.version))
            self._worker.interrupt()

    def _note_incomplete(self, path: str, reason: str | None) -> None:
        """A document that could not be analysed to its end shows in the status, and nowhere else."""
        before = dict(self._incomplete)
        self._incomplete.pop(path, None)
        if reason:
            self._incomplete[path] = reason
        if self._incomplete != before and self.status[0] == "ready":
            self._set_status(*self.status)

    def _set_status(self, state: str, detail: str) -> None:
        self.status = (state, detail)
        if state == "restarting":
            self._scheduler.request(_START, 0.0)  # be ready again before the next keystroke
        if state == "ready":
            unserved, self._unserved = self._unserved, set()
            for path in unserved:
                self._scheduler.request(path, 0.0)
        if state == "ready" and self._incomplete:
            path, reason = next(reversed(self._incomplete.items()))
            detail = message("editor.incomplete", document=os.path.basename(path), reason=reason)
        if self._busy_timer is not None:
            self._busy_timer.cancel()
            self._busy_timer = None
        if state == "busy":
            # Most analyses take milliseconds: no flicker for those.
            self._busy_timer = asyncio.get_running_loop().call_later(BUSY_SHOWN_AFTER_S, self._announce, state, detail)
        else:
            self._announce(state, detail)

    def _announce(self, state: str, detail: str) -> None:
        if (state, detail) != self._announced:
            self._announced = (state, detail)
            self._server.protocol.notify(protocol.STATUS, {"state": state, "detail": detail})


_START = "\0start"
"""Key under which the scheduler starts the worker; no path looks like it."""
