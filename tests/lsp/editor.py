"""A small editor for the tests: speaks to a real server process and waits for what it announces."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import default_converter
from pygls.uris import to_fs_path
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from torchsleuth.worker.wire import SYNTAX

PATIENCE_S = 300.0
"""Only so that a broken server fails a test instead of hanging it."""
SERVER = str(Path(__file__).resolve().parents[2] / "server")


def make_client() -> LanguageClient:
    """A test client whose `published`, `states`, `output`, `finished` and `lens_refreshes` hold what the server has sent."""
    client = LanguageClient(converter_factory=default_converter)
    mine = (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, types.WINDOW_SHOW_DOCUMENT, types.WORKSPACE_APPLY_EDIT)
    register_lsp_features(client, {name: f for name, f in DEFAULT_CLIENT_FEATURES.items() if name not in mine})
    client.published = {}
    client.publications = {}
    client.shown = []
    client.states = []
    client.output = ""
    client.finished = []
    client.marked = []
    client.registered = []
    client.lens_refreshes = 0
    client.news = asyncio.Condition()

    async def announce() -> None:
        async with client.news:
            client.news.notify_all()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    async def _published(params: types.PublishDiagnosticsParams) -> None:
        client.published[params.uri] = params
        client.publications[params.uri] = client.publications.get(params.uri, 0) + 1
        await announce()

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    async def _registered(params: types.RegistrationParams) -> None:
        client.registered += params.registrations
        await announce()

    @client.feature("torchsleuth/status")
    async def _status(params: Any) -> None:
        client.states.append((params.state, params.detail))
        await announce()

    @client.feature("torchsleuth/runOutput")
    async def _output(params: Any) -> None:
        client.output += params.text
        await announce()

    @client.feature("torchsleuth/marksChanged")
    async def _marks(params: Any) -> None:
        client.marked.append(params.uri)
        await announce()

    @client.feature(types.WORKSPACE_APPLY_EDIT)
    async def _apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        client.apply(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    @client.feature("torchsleuth/runFinished")
    async def _finished(params: Any) -> None:
        client.finished.append(params)
        await announce()

    @client.feature(types.WINDOW_SHOW_DOCUMENT)
    async def _show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        client.shown.append(params)
        await announce()
        return types.ShowDocumentResult(success=True)

    @client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
    async def _refresh(params: None) -> None:
        await announce()

    @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    async def _refresh_lenses(params: None) -> None:
        client.lens_refreshes += 1
        await announce()

    return client


class Editor:
    """One client and the folder it works in."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        client.apply = self.apply
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}

    async def initialize(
        self,
        *,
        workspace: bool = True,
        folders: tuple[str, ...] = ("",),
        versions: bool = True,
        adapt: Callable[[types.ClientCapabilities], None] | None = None,
        **options: Any,
    ) -> types.InitializeResult:
        """As VS Code does. `versions`: the client minds for which version diagnostics are, so that the tests can wait for
        them; VS Code does not. `adapt`: what else this client can do, or cannot. `folders`: those of the workspace, inside
        of ours."""
        uris = [(self.folder / name).as_uri() for name in folders]
        listed = [types.WorkspaceFolder(uri=uri, name="work") for uri in uris] if workspace else None
        capabilities = client_capabilities("visual-studio-code")
        capabilities.text_document.publish_diagnostics.version_support = versions
        if adapt is not None:
            adapt(capabilities)
        parameters = types.InitializeParams(
            capabilities=capabilities, workspace_folders=listed, initialization_options=options
        )
        self.initialized = await self.client.initialize_session(parameters)
        return self.initialized

    @property
    def server_pid(self) -> int:
        return self.client._server.pid

    async def until(self, condition: Any) -> Any:
        """Wait until `condition()` is true, looking again whenever the server says something."""

        async def wait() -> Any:
            async with self.client.news:
                while not (value := condition()):
                    await self.client.news.wait()
                return value

        return await asyncio.wait_for(wait(), PATIENCE_S)

    async def state(self, wanted: str) -> str:
        """Wait for a state (again), and return its detail."""
        seen = len(self.client.states)
        found = await self.until(lambda: [item for item in self.client.states[seen:] if item[0] == wanted])
        return str(found[0][1])

    async def ever(self, wanted: str) -> str:
        """The detail of a state that the server is or has been in."""
        found = await self.until(lambda: [item for item in self.client.states if item[0] == wanted])
        return str(found[-1][1])

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def open(self, name: str, text: str, *, saved: bool = True) -> str:
        """Open a document; `saved`: it lies on disk like that."""
        path = self.write(name, text) if saved else self.folder / name
        return self.open_uri(path.as_uri(), text)

    def open_uri(self, uri: str, text: str) -> str:
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def replace(self, uri: str, old: str, new: str) -> None:
        """Type `new` over the first `old`, as one incremental change."""
        text = self.texts[uri]
        start = text.index(old)
        where = types.Range(utf16(text, start), utf16(text, start + len(old)))
        self.texts[uri] = text[:start] + new + text[start + len(old) :]
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangePartial(where, new)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def retype(self, uri: str, text: str) -> None:
        """Replace the whole text, without saying which part changed."""
        self.texts[uri] = text
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self.versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def close(self, uri: str) -> None:
        document = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """What is published for the current version of a document."""
        await self.until(lambda: uri in self.client.published and self._current(uri))
        return list(self.client.published[uri].diagnostics)

    async def repaired(self, uri: str) -> list[types.Diagnostic]:
        """The same, once their fixes are verified."""
        await self.diagnostics(uri)
        await self.settled(uri)
        return list(self.client.published[uri].diagnostics)

    async def settled(self, uri: str) -> None:
        """Wait until the analysis of a document has come to its end: all safe fixes at once are those of its present text."""
        nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
        for action in await self.actions(uri, nowhere, only=["source.fixAll"]):
            await self.resolve(action)

    def _current(self, uri: str) -> bool:
        return self.client.published[uri].version in (None, self.versions.get(uri))

    async def codes(self, uri: str) -> list[str]:
        return [str(item.code) for item in await self.diagnostics(uri)]

    async def shows(self, uri: str, *codes: str) -> None:
        """Wait until exactly these are on screen: what needs only syntax comes first."""
        shown = self.client.published
        await self.until(lambda: uri in shown and [str(item.code) for item in shown[uri].diagnostics] == list(codes))

    async def hover(self, uri: str, line: int, character: int) -> str:
        parameters = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
        found = await self.client.text_document_hover_async(parameters)
        return found.contents.value if found is not None else ""

    async def hints(self, uri: str) -> list[tuple[int, int, str]]:
        whole = types.Range(types.Position(0, 0), types.Position(self.texts[uri].count("\n") + 1, 0))
        parameters = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
        found = await self.client.text_document_inlay_hint_async(parameters)
        return [(hint.position.line, hint.position.character, hint.label) for hint in found or ()]

    async def actions(self, uri: str, where: types.Range, only: list[str] | None = None) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=only)
        parameters = types.CodeActionParams(types.TextDocumentIdentifier(uri), where, context)
        return list(await self.client.text_document_code_action_async(parameters) or ())

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """The action with its edit, as when it was chosen."""
        return await self.client.code_action_resolve_async(action)

    async def choose(self, action: types.CodeAction) -> None:
        """Do what an action does, as VS Code does it: its edit, then its command."""
        resolved = await self.resolve(action)
        self.apply(resolved.edit)
        if resolved.command is not None:
            parameters = types.ExecuteCommandParams(resolved.command.command, resolved.command.arguments)
            await self.client.workspace_execute_command_async(parameters)

    async def lenses(self, uri: str) -> list[tuple[int, str, str]]:
        parameters = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        found = await self.client.text_document_code_lens_async(parameters)
        return [(lens.range.start.line, lens.command.title, lens.command.command) for lens in found or ()]

    async def marks(self, uri: str) -> list[Any]:
        """What runs left beside the lines of a document of now."""
        found = await self.client.protocol.send_request_async("torchsleuth/marks", {"uri": uri})
        assert found.version == self.versions[uri]
        return list(found.marks)

    async def command(self, name: str, *arguments: Any) -> Any:
        parameters = types.ExecuteCommandParams(f"torchsleuth.server.{name}", list(arguments))
        return await self.client.workspace_execute_command_async(parameters)

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Take a versioned edit as VS Code does: refused unless every version is the one on screen."""
        for change in edit.document_changes:
            uri = change.text_document.uri
            assert change.text_document.version == self.versions.get(uri)
            if uri not in self.texts:
                path = Path(to_fs_path(uri))
                self.open_uri(uri, path.read_text())
            text = self.texts[uri]
            for item in sorted(change.edits, key=lambda item: -offset(text, item.range.start)):
                start, end = offset(text, item.range.start), offset(text, item.range.end)
                text = text[:start] + item.new_text + text[end:]
            self.retype(uri, text)


def utf16(text: str, place: int) -> types.Position:
    """The LSP position of a code-point offset; lines end at line feeds, carriage returns or both."""
    before = text[:place].replace("\r\n", "\n").replace("\r", "\n")
    line = before.rsplit("\n", 1)[-1]
    return types.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)


def offset(text: str, position: types.Position) -> int:
    """The inverse, for texts with line feeds only."""
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[: position.line])
    units = lines[position.line].encode("utf-16-le")[: 2 * position.character]
    return start + len(units.decode("utf-16-le"))


def children(pid: int) -> dict[int, str]:
    """Processes below a process that always executes another program in those it starts, with their command lines.
    A child that has not executed its program yet has the command line of its parent: then they are read again."""
    own = _command(pid)
    until = time.monotonic() + PATIENCE_S
    while own in (found := _below(pid)).values() and time.monotonic() < until:
        os.sched_yield()
    return found


def _below(pid: int) -> dict[int, str]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(") ", 1)[1].split()
            except (OSError, IndexError):
                continue
            if fields[0] != "Z":
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found: dict[int, str] = {}
    waiting = list(parents.get(pid, []))
    while waiting:
        child = waiting.pop()
        command = _command(child)
        if command is not None:
            found[child] = command
            waiting += parents.get(child, [])
    return found


def _command(pid: int) -> str | None:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None


def worker_of(pid: int) -> int:
    (found,) = [
        child for child, command in children(pid).items() if "torchsleuth.worker" in command and SYNTAX not in command
    ]
    return found


async def gone(pids: list[int]) -> None:
    """Wait until none of these processes is left. Their ends are not announced to us: they are another's children."""
    loop = asyncio.get_running_loop()
    for pid in pids:
        await asyncio.wait_for(loop.run_in_executor(None, _wait_for_end, pid), PATIENCE_S)


def _wait_for_end(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        import select

        select.select([descriptor], [], [], PATIENCE_S)
    finally:
        os.close(descriptor)
