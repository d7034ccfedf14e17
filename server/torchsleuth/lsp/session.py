"""The state of one client: open documents as frozen snapshots, settings, the worker, the store, the current run."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from torchsleuth.lsp import convert, protocol
from torchsleuth.lsp.store import DiagnosticStore
from torchsleuth.runtime.session import Run, read_sources
from torchsleuth.schema import FileAnalysis
from torchsleuth.syntax.text import SourceText
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable

DEBOUNCE_SECONDS = 0.15
BUDGET_SECONDS = 30.0
"""Time one document's analysis may take before the worker is replaced."""


@dataclass(frozen=True)
class Snapshot:
    """One version of an open document."""

    uri: str
    path: str
    version: int
    source: SourceText


@dataclass
class Settings:
    interpreter: str | None = None
    trusted: bool = True
    inlay_hints: bool = True


@dataclass
class Session:
    """Lives on the event loop; only `_analyze` runs in a thread of its own."""

    server: LanguageServer
    settings: Settings = field(default_factory=Settings)
    store: DiagnosticStore = field(default_factory=DiagnosticStore)
    documents: dict[str, Snapshot] = field(default_factory=dict)
    worker: WorkerClient | None = None
    run: Run | None = None
    run_ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _generations: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _executor: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "torchsleuth-analysis"))
    run_texts: dict[str, SourceText] = field(default_factory=dict)

    # -- configuration -----------------------------------------------------------------------------

    def configure(self, options: Any) -> None:
        given = options if isinstance(options, dict) else {}
        self.settings = Settings(
            given.get("interpreter") or None, given.get("trusted", True) is not False, given.get("inlayHints", True) is not False
        )

    def start_worker(self) -> None:
        """Start the analysis in the background, so that torch is imported before it is needed."""
        if not self.settings.trusted:
            self.status("restricted", "the workspace is not trusted")
            return
        loop = asyncio.get_running_loop()

        def listener(state: str, detail: str) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
                loop.call_soon_threadsafe(self.status, state, detail)

        self.worker = WorkerClient(self.settings.interpreter, listener)
        worker = self.worker

        def start() -> None:
            try:
                worker.start()
            except WorkerUnavailable:
                return  # the listener has told the client

        self._executor.submit(start)

    def restart_worker(self, interpreter: str | None) -> None:
        if self.worker is not None:
            self.worker.close()
        if interpreter:
            self.settings.interpreter = interpreter
        self.start_worker()
        for uri in list(self.documents):
            self.schedule(uri, delay=0)

    def close(self) -> None:
        """End every process of this session."""
        for task in self._tasks.values():
            task.cancel()
        if self.run is not None:
            self.run.cancel()
        if self.worker is not None:
            self.worker.close()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def status(self, state: str, detail: str) -> None:
        self.server.protocol.notify(protocol.STATUS, {"state": state, "detail": detail})

    # -- documents ---------------------------------------------------------------------------------

    def remember(self, uri: str) -> Snapshot:
        """Freeze the present text of a document."""
        document = self.server.workspace.get_text_document(uri)
        path = convert.to_path(uri)
        snapshot = Snapshot(uri, path, document.version or 0, SourceText(path, document.source))
        self.documents[uri] = snapshot
        return snapshot

    def forget(self, uri: str) -> None:
        snapshot = self.documents.pop(uri, None)
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()
        if snapshot is not None:
            self.publish(self.store.drop("static", snapshot.path) | {snapshot.path})

    def source(self, path: str) -> SourceText:
        """The open document at a path, else the file."""
        for snapshot in self.documents.values():
            if snapshot.path == path:
                return snapshot.source
        return read_sources()(path)

    def version(self, uri: str) -> int | None:
        snapshot = self.documents.get(uri)
        return snapshot.version if snapshot is not None else None

    def roots(self) -> tuple[str, ...]:
        return tuple(convert.to_path(folder.uri) for folder in self.server.workspace.folders.values())

    # -- analysis ----------------------------------------------------------------------------------

    def schedule(self, uri: str, delay: float = DEBOUNCE_SECONDS) -> None:
        """Analyse a document once it has been quiet for `delay` seconds; the newest request wins."""
        task = self._tasks.pop(uri, None)
        if task is not None:
            task.cancel()
        if self.worker is not None and self.settings.trusted:
            self._tasks[uri] = asyncio.ensure_future(self._analyze_later(uri, delay))

    async def _analyze_later(self, uri: str, delay: float) -> None:
        if delay:
            await asyncio.sleep(delay)
        snapshot, worker = self.documents.get(uri), self.worker
        if snapshot is None or worker is None:
            return
        generation = next(self._generations)
        overlay = {other.path: other.source.text for other in self.documents.values()}
        loop = asyncio.get_running_loop()
        try:
            analysis = await loop.run_in_executor(
                self._executor, _analyze, worker, snapshot, overlay, self.roots()
            )
        except WorkerUnavailable:
            return
        current = self.documents.get(uri)
        if current is None or current.version != snapshot.version or worker is not self.worker:
            return
        if analysis.stats.get("incomplete"):
            self.status("ready", f"{snapshot.path}: {analysis.stats['incomplete']}")
        changed = self.store.put("static", snapshot.path, generation, list(analysis.diagnostics), list(analysis.facts))
        if changed is not None:
            self.publish(changed)
            self.refresh_hints()
            self._analyze_importers(uri)

    def _analyze_importers(self, uri: str) -> None:
        """Other open documents may import this one: they are analysed again when its text has changed."""
        changed = self.documents[uri]
        for other in self.documents.values():
            name = changed.path.rsplit("/", 1)[-1].removesuffix(".py")
            pending = self._tasks.get(other.uri)
            if other.uri != uri and name in other.source.text and (pending is None or pending.done()):
                known = self._analyzed_imports.get(other.uri)
                if known != (uri, changed.version):
                    self._analyzed_imports[other.uri] = (uri, changed.version)
                    self.schedule(other.uri)

    _analyzed_imports: dict[str, tuple[str, int]] = field(default_factory=dict)

    # -- publishing --------------------------------------------------------------------------------

    def publish(self, paths: set[str]) -> None:
        """Send the merged diagnostics of these documents: the only place that does."""
        for path in sorted(paths):
            source, uri = self.source(path), self._uri(path)
            diagnostics = [convert.lsp_diagnostic(item, source, self.source) for item in self.store.diagnostics(path)]
            self.server.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, diagnostics, self.version(uri))
            )

    def _uri(self, path: str) -> str:
        for snapshot in self.documents.values():
            if snapshot.path == path:
                return snapshot.uri
        return convert.to_uri(path)

    def refresh_hints(self) -> None:
        capabilities = self.server.client_capabilities.workspace
        if capabilities is not None and capabilities.inlay_hint is not None and capabilities.inlay_hint.refresh_support:
            self.server.workspace_inlay_hint_refresh(None)


def _analyze(
    worker: WorkerClient, snapshot: Snapshot, overlay: dict[str, str], roots: tuple[str, ...]
) -> FileAnalysis:
    return worker.analyze(snapshot.path, snapshot.source.text, overlay, roots, budget_s=BUDGET_SECONDS)
