"""Passes on what the client says about documents, files and settings."""

from __future__ import annotations

from lsprotocol import types

from torchsleuth.lsp.analysis import TYPING_PAUSE_S
from torchsleuth.lsp.documents import difference, read_source
from torchsleuth.lsp.session import TorchSleuthServer
from torchsleuth.lsp.settings import section


def register(server: TorchSleuthServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        server.analysis.request(server.documents.open(params.text_document))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        identifier = params.text_document
        changed = server.documents.change(identifier.uri, identifier.version, params.content_changes)
        if changed is not None:
            document, changes = changed
            server.store.text_changed(document.path, changes)
            server.analysis.request(document, TYPING_PAUSE_S)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: types.DidCloseTextDocumentParams) -> None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return
        server.analysis.forget(document.path)
        # What is on disk counts from now on: unsaved changes are undone in the results of runs too.
        server.store.text_changed(document.path, difference(document.source, read_source(document.path)), layer="run")
        server.store.clear("static", document.path)
        server.documents.close(document.uri)
        server.analysis.closed()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        if any(change.uri.endswith("/pyproject.toml") for change in params.changes):
            server.control.reset()
        server.analysis.request_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_workspace_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        if server.asks_for_settings:
            server.ask_for_settings()
        server.analysis.request_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        server.configure(section(params.settings))
