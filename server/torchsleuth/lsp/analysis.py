"""Keeps the static layer of the store up to date: workers, schedule, staleness, status and first-time progress."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from torchsleuth.lsp import protocol
from torchsleuth.lsp.client import Client
from torchsleuth.lsp.contracts import Contracts
from torchsleuth.lsp.control import Control
from torchsleuth.lsp.documents import Document, difference, read_source
from torchsleuth.lsp.lookups import Lookups
from torchsleuth.lsp.progress import WorkDone
from torchsleuth.lsp.scheduling import Scheduler, Turns
from torchsleuth.lsp.workers import Workers, WorkerState
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, FileAnalysis, MemoryEstimate
from torchsleuth.syntax.dependence import Definition
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.unfinished import Analysed
from torchsleuth.worker.async_client import AsyncWorkerClient
from torchsleuth.worker.client import WorkerUnavailable
from torchsleuth.worker.request import Analyze, Called, Estimate, Infer, R, Repair, Request

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
CONTRACT_BUDGET_S = 180.0
"""The same for one contract, which anything else that is asked interrupts."""


class StaticAnalysis:
    """Analyses open documents in the background. Where there is no analysis, not yet or not at all, the rules that need
    only syntax are asked."""

    def __init__(self, client: Client, control: Control) -> None:
        self._client = client
        self._control = control
        self._scheduler = Scheduler(self._analyze)
        self._syntax = Scheduler(self._analyze_syntax)
        self.contracts = Contracts(client, self._scheduler.idle, self._contract, self._contracts_found)
        self._turns = Turns()
        self._lookups = Lookups(self.request_all)
        self._workers = Workers(self._on_state, self._start_again)
        self._analysed_fully: set[str] = set()
        """Documents whose results in the store are those of an analysis."""
        self._welcomed = False
        self._cancelled: set[tuple[str, int]] = set()
        self._analysed: dict[str, Analysed] = {}
        self._memory: dict[str, tuple[str, MemoryEstimate | None]] = {}
        """By path the text that an estimate is of, and the estimate."""
        """The texts that the results in the store are about, but for a statement that is being typed."""
        self._unserved: set[str] = set()
        """Documents that were not analysed since there was no worker."""
        self._outdated: set[str] = set()
        """Documents of which something else than the text has changed since their analysis began."""
        self._settling: set[str] = set()
        self._incomplete: dict[str, str] = {}
        self._busy_timer: asyncio.TimerHandle | None = None
        self._announced: WorkerState | None = None
        self._greeted = False

    def greet(self) -> None:
        """The client listens from now on."""
        self._greeted = True
        self._show()

    def restart(self) -> None:
        """New workers with the settings of now; open documents are analysed again."""
        self._workers.end_all()
        self._welcomed = False
        self._analysed.clear()
        self.start()

    def start(self) -> None:
        """The workers that the settings of now ask for; those that are there already stay. Open documents are analysed
        again."""
        self.contracts.clear()
        if self._client.settings.trusted:
            self._workers.keep(self._wanted())
            for interpreter in self._wanted():
                self._request_start(self._workers.of(interpreter))
        else:
            self._workers.end_all()
            self._client.store.clear("static")
            self._analysed.clear()
            self._analysed_fully.clear()
        self._show()
        self.request_all()

    def close(self) -> None:
        self._scheduler.close()
        self._syntax.close()
        self._lookups.close()
        self.contracts.close()
        if self._busy_timer is not None:
            self._busy_timer.cancel()
        self._workers.end_all()

    def _wanted(self) -> set[str | None]:
        """The interpreters of the open documents; before there are any, that of the first folder."""
        settings = [self._client.settings_of(document.path) for document in self._client.documents]
        first = self._client.settings_of(next(iter(self._client.roots()), ""))
        return {item.interpreter for item in settings or [first]}

    def _worker_of(self, path: str) -> AsyncWorkerClient | None:
        """The worker for a document; None in a workspace that is not trusted."""
        if not self._client.settings.trusted:
            return None
        return self._workers.of(self._client.settings_of(path).interpreter)

    def _start_again(self, worker: AsyncWorkerClient) -> None:
        self._request_start(worker)
        self.request_all()

    def _request_start(self, worker: AsyncWorkerClient, delay_s: float = 0.0) -> None:
        self._scheduler.request(f"{_START}{worker.interpreter}", delay_s)

    def request(self, document: Document, delay_s: float = 0.0) -> None:
        """Analyse a document soon, and open documents that import it a little later."""
        self._settling.discard(document.path)
        self._request(document.path, delay_s)
        self._request_dependents(document.path)

    def request_all(self) -> None:
        for document in self._client.documents:
            self._outdate(document.path)
            self._request(document.path, 0.0)

    def _request(self, path: str, delay_s: float) -> None:
        self.contracts.postpone(path)
        worker = self._worker_of(path)
        if worker is not None:
            worker.withdraw()
        if self._client.settings.trusted:
            self._scheduler.request(path, delay_s)
        if self._is_up_to_syntax(path):
            self._syntax.request(path, delay_s)

    def forget(self, path: str) -> None:
        """The document was closed: what is on disk counts for those that import it."""
        self._note_incomplete(path, None)
        self.contracts.forget(path)
        self._memory.pop(path, None)
        self._analysed.pop(path, None)
        self._outdated.discard(path)
        self._cancelled = {(of, version) for of, version in self._cancelled if of != path}
        self._analysed_fully.discard(path)
        self._scheduler.forget(path)
        self._syntax.forget(path)
        self._request_dependents(path)

    def closed(self) -> None:
        """A document is no longer among the open ones: nor, perhaps, is its interpreter needed any more."""
        self._workers.keep({self._client.settings_of(document.path).interpreter for document in self._client.documents})
        self._show()

    def _request_dependents(self, path: str) -> None:
        for dependent in self._client.documents.importing(path):
            self._outdate(dependent.path)
            self._request(dependent.path, DEPENDENT_PAUSE_S)

    def _outdate(self, path: str) -> None:
        """Take the findings of a document as outdated, whatever its text, and those that are being made."""
        self._analysed.pop(path, None)
        self._outdated.add(path)
        self.contracts.check(path)

    async def settled(self, path: str, timeout_s: float) -> bool:
        """Whether results are those of the current text, waiting for them a while if not."""
        worker = self._worker_of(path)
        wait_for = self._scheduler if worker is not None and self._workers.is_ready(worker) else self._syntax
        return await wait_for.settled(path, timeout_s)

    # -- the rules that need only syntax -----------------------------------------------------------

    def _is_up_to_syntax(self, path: str) -> bool:
        """Whether there is nobody else to ask about a document now. What an analysis has found stays while its worker is
        started again."""
        worker = self._worker_of(path)
        if worker is None or self._workers.is_unavailable(worker):
            return True
        return not self._workers.is_ready(worker) and path not in self._analysed_fully

    async def _analyze_syntax(self, path: str) -> None:
        document, control = self._client.documents.at(path), self._control
        if document is None or not self._is_up_to_syntax(path):
            return
        await control.prepare()
        asked = Analyze(path, document.text, verify=False, codes=control.codes(path))
        worker = self._workers.syntax()
        try:
            analysis = await worker.ask(asked, BUDGET_S)
            if self._accept_syntax(document, analysis) and analysis.diagnostics:
                self._accept_syntax(document, await worker.ask(asked.also(Repair, codes=asked.codes), BUDGET_S))
        except WorkerUnavailable as error:
            logger.info("no syntax: %s", error)

    def _accept_syntax(self, document: Document, analysis: FileAnalysis) -> bool:
        current = self._client.documents.at(document.path) is document
        if not current or not self._is_up_to_syntax(document.path) or analysis.stats.get("died"):
            return False
        found = [] if self._control.excludes(document.path) else self._control.shown(analysis)
        if found or self._client.store.generation("static", document.path):
            self._client.store.replace("static", document.path, found, (), document.version)
        return True

    # -- the analysis ------------------------------------------------------------------------------

    async def _analyze(self, path: str) -> None:
        if path.startswith(_START):
            await self._start(path.removeprefix(_START))
            return
        worker = self._worker_of(path)
        if worker is None:
            return
        with self._workers.use(worker):
            await self._analyze_with(worker, path)

    async def _analyze_with(self, worker: AsyncWorkerClient, path: str) -> None:
        progress = None
        document = self._client.documents.at(path)
        if document is not None and not self._welcomed:
            self._welcomed = True
            progress = WorkDone(self._client, lambda: self._cancel(path))
            await progress.begin(message("editor.analyzing"), message("editor.starting", python=worker.interpreter))
        try:
            await worker.start()
            document = self._client.documents.at(path)  # the newest text, not that of the request
            if document is None or (path, document.version) in self._cancelled:
                return
            if self._still_holds(document):
                return
            self._outdated.discard(path)
            await self._control.prepare()
            observed = [fact.to_json() for fact in self._client.store.observed()]
            codes = self._control.codes(path)
            asked = self._about(document, Analyze, verify=False, codes=codes, observed=observed)
            analysis = await worker.ask(asked, BUDGET_S)
            accepted = self._accept(worker, document, asked, analysis)
            if accepted:
                self._analysed.pop(path, None)
                if not analysis.stats.get("incomplete") and path not in self._outdated:
                    self._analysed[path] = Analysed(document.source, worker.vocabulary)
            if progress is not None:
                progress.end()
                progress = None
            missing = analysis.stats.get("missing") or []
            self._lookups.ask(missing, self._text_of, worker.search_path, self._client.roots())
            turn = self._turns.announce()
            while accepted and analysis.stats.get("unverified"):
                # What is found is shown already; the fixes follow, and give way to the next keystroke. The worker keeps
                # only a few analyses whose fixes are being verified: one after the other.
                async with self._turns.turn(turn):
                    accepted = self._is_current(worker, document)
                    if accepted:
                        repair = asked.also(Repair, codes=codes, seconds=REPAIR_SLICE_S)
                        analysis = await worker.ask(repair, BUDGET_S)
                        accepted = "unverified" in analysis.stats and self._accept(worker, document, asked, analysis)
            if analysis.stats.get("died"):
                self._scheduler.request(path, 0.0)
            elif accepted:
                if path in self._analysed:
                    self._analysed[path].whole = True
                self.contracts.request(path)
        except WorkerUnavailable as error:
            logger.info("no analysis: %s", error)
            if worker in self._workers:
                self._unserved.add(path)
                self._start_later(worker)
        finally:
            if progress is not None:
                progress.end()

    async def of_files(self, paths: Sequence[str]) -> list[Diagnostic]:
        """The findings in files as they are on disk, with verified fixes. Nothing where there is no analysis."""
        worker = self._worker_of(paths[0]) if paths else None
        found: list[Diagnostic] = []
        if worker is None:
            return found
        roots = (*self._client.roots(), *self._lookups.folders)
        with self._workers.use(worker):
            try:
                await worker.start()
                for path in paths:
                    asked = Analyze(path, read_source(path).text, roots=roots, verify=False)
                    analysis = await worker.ask(asked, BUDGET_S)
                    if analysis.stats.get("unverified"):
                        async with self._turns.turn(self._turns.announce()):
                            analysis = await worker.ask(asked.also(Repair), BUDGET_S)
                    found += analysis.diagnostics
            except WorkerUnavailable as error:
                logger.info("no explanation: %s", error)
        return found

    async def memory(self, path: str) -> MemoryEstimate | None:
        """The memory that a step of the training in a document takes; None where nobody can be asked now. What was found out
        holds until the text is another."""
        document, worker = self._client.documents.at(path), self._worker_of(path)
        if document is None or worker is None or not self._workers.is_ready(worker):
            return None
        known = self._memory.get(path)
        if known is not None and known[0] == document.text:
            return known[1]
        with self._workers.use(worker):
            try:
                analysis = await worker.ask(self._about(document, Estimate), BUDGET_S)
            except WorkerUnavailable as error:
                logger.info("no estimate: %s", error)
                return None
        self._memory[path] = document.text, analysis.memory
        return analysis.memory

    async def _contract(self, document: Document, definition: Definition | None) -> FileAnalysis | None:
        """The contract of a class or function, or what calls in other files know of a document; or that this was given up for something
        else; None where nobody can be asked."""
        worker = self._worker_of(document.path)
        if worker is None or not self._workers.is_ready(worker):
            return None
        asked: Request
        if definition is None:
            asked = self._about(document, Called)
        else:
            asked = self._about(document, Infer, first=definition.first, last=definition.first)
        with self._workers.use(worker):
            return await worker.ask_withdrawably(asked, CONTRACT_BUDGET_S)

    def _about(self, document: Document, kind: type[R], **more: Any) -> R:
        """A request about a document as it is now."""
        overlay = {other.path: other.text for other in self._client.documents if other.path != document.path}
        return kind(document.path, document.text, overlay, (*self._client.roots(), *self._lookups.folders), **more)

    def _contracts_found(self) -> None:
        self._client.refresh_hints()
        if any(self._client.settings_of(document.path).contract_lenses for document in self._client.documents):
            self._client.refresh_lenses()

    def _still_holds(self, document: Document) -> bool:
        """Whether what was found before, which has moved along with the text, is all there is to say: a statement is being
        typed. What may yet turn out to be meant that way is analysed after a longer pause."""
        before = self._analysed.get(document.path)
        change = before.unfinished(document.text) if before is not None else None
        if before is None or change is None:
            return False
        if change == "same" and not (before.whole and self._client.store.is_whole("static", document.path)):
            return False
        if change == "unbound":
            if document.path in self._settling:
                return False
            self._settling.add(document.path)
            self._scheduler.request(document.path, SETTLING_PAUSE_S)
        self._client.store.keep("static", document.path, document.version)
        if change == "same":
            self.contracts.request(document.path)
        return True

    def _text_of(self, path: str) -> str:
        return self._client.documents.source(path).text

    async def _start(self, interpreter: str) -> None:
        worker = self._workers.running(interpreter)
        if worker is None:
            return
        try:
            await worker.start()
        except WorkerUnavailable as error:
            logger.info("no analysis: %s", error)
            self._start_later(worker)

    def _start_later(self, worker: AsyncWorkerClient) -> None:
        """A worker that is unavailable is tried again as long as it is wanted, unless only the user can help."""
        seconds = worker.retry_seconds
        if worker in self._workers and seconds is not None:
            self._request_start(worker, seconds)

    def _accept(self, worker: AsyncWorkerClient, document: Document, asked: Request, analysis: FileAnalysis) -> bool:
        """Results for a text that is no longer the current one are dropped: newer ones are on their way. So they are where the
        worker died: what was found before is still there."""
        if not self._is_current(worker, document) or analysis.stats.get("died"):
            return False
        if analysis.stats.get("traceback"):
            logger.error("the analysis of %s failed:\n%s", document.path, analysis.stats["traceback"])
        self._note_incomplete(document.path, analysis.stats.get("incomplete"))
        found = [] if self._control.excludes(document.path) else self._control.shown(analysis)
        self._analysed_fully.add(document.path)
        others = ((other.source, asked.overlay.get(other.path, other.text)) for other in self._client.documents)
        since = {now.path: difference(SourceText(now.path, then), now) for now, then in others if now.text != then}
        pending = bool(analysis.stats.get("unverified"))
        self._client.store.replace(
            "static", document.path, found, analysis.facts, document.version, since, pending=pending
        )
        self._client.refresh_hints()
        return True

    def _is_current(self, worker: AsyncWorkerClient, document: Document) -> bool:
        current = self._client.documents.at(document.path)
        return current is not None and current.version == document.version and worker is self._worker_of(current.path)

    def _cancel(self, path: str) -> None:
        document = self._client.documents.at(path)
        worker = self._worker_of(path)
        if document is not None and worker is not None:
            self._cancelled.add((path, document.version))
            worker.interrupt()

    def _note_incomplete(self, path: str, reason: str | None) -> None:
        """A document that could not be analysed to its end shows in the status, and nowhere else."""
        before = dict(self._incomplete)
        self._incomplete.pop(path, None)
        if reason:
            self._incomplete[path] = reason
        if self._incomplete != before and self._workers.state.state == "ready":
            self._show()

    def _on_state(self, worker: AsyncWorkerClient, state: WorkerState) -> None:
        if state.state == "restarting":
            self._request_start(worker)  # be ready again before the next keystroke
        elif state.state == "ready":
            unserved, self._unserved = self._unserved, set()
            for path in unserved:
                self._scheduler.request(path, 0.0)
            if self._workers.all_ready:
                self._workers.end_syntax()
        elif state.state == "unavailable":
            for document in self._client.documents:
                if self._worker_of(document.path) is worker:
                    self._analysed.pop(document.path, None)
                    self._analysed_fully.discard(document.path)
                    self._syntax.request(document.path, 0.0)
        self._show()

    def _show(self) -> None:
        """The status is that of the worker about which there is most to say."""
        if not self._greeted:
            return
        shown = self._workers.state
        if not self._client.settings.trusted:
            shown = WorkerState("restricted", message("editor.untrusted"))
        if shown.state == "ready" and self._incomplete:
            path, reason = next(reversed(self._incomplete.items()))
            shown = replace(shown, detail=message("editor.incomplete", document=os.path.basename(path), reason=reason))
        if self._busy_timer is not None:
            self._busy_timer.cancel()
            self._busy_timer = None
        if shown.state == "busy":
            # Most analyses take milliseconds: no flicker for those.
            self._busy_timer = asyncio.get_running_loop().call_later(BUSY_SHOWN_AFTER_S, self._announce, shown)
        else:
            self._announce(shown)

    def _announce(self, state: WorkerState) -> None:
        if state != self._announced:
            self._announced = state
            said = {name: value for name, value in asdict(state).items() if value is not None}
            self._client.protocol.notify(protocol.STATUS, said)


_START = "\0start"
"""Beginning of the keys under which the scheduler starts workers; no path looks like it."""
