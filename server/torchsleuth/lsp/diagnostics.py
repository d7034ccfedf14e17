"""Diagnostics: what the store holds about a file, published when it looks different."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from torchsleuth.faults import FAULTS
from torchsleuth.lsp import protocol
from torchsleuth.lsp.client import Client
from torchsleuth.lsp.convert import to_range
from torchsleuth.lsp.documents import Documents
from torchsleuth.lsp.store import Finding, Note
from torchsleuth.messages import message
from torchsleuth.schema import Diagnostic, Related, RunLine, Severity, TensorFact

# Information, not Hint: VS Code shows a Hint as three faint dots and leaves it out of the list of problems.
_SEVERITY: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "hint": types.DiagnosticSeverity.Information,
}


class Publisher:
    """Tells the client what is to be shown in a file, whenever that is something else than before."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._published: dict[str, tuple[list[types.Diagnostic], int | None]] = {}
        """By URI, what the client shows."""
        self._marked: dict[str, tuple[list[Finding], list[TensorFact], list[RunLine]]] = {}
        """By URI, the failures of runs, and the values and the lines of the file that the client was told of."""

    def publish(self, path: str) -> None:
        """Send everything that is to be shown in one file. A client that minds versions is told once for each of them."""
        client = self._client
        document = client.documents.at(path)
        found = [to_lsp(finding, client.documents) for finding in client.store.findings(path)]
        if document is not None or _in_workspace(path, client.roots()):
            found += [note_to_lsp(note, client.documents) for note in client.store.notes(path)]
        version = document.version if document is not None and self._minds_versions() else None
        uri, shown = client.documents.uri(path), (found, version)
        # The first time, nothing found is news, too: the document was analysed.
        if shown != self._published.get(uri, None if document is not None else ([], None)):
            self._published[uri] = shown
            client.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))
        if document is None and not found:
            self._published.pop(uri, None)
        self.mark(path)

    def mark(self, path: str) -> None:
        """Say that what runs left beside the lines is to be asked for again, if something of it has changed."""
        uri = self._client.documents.uri(path)
        seen = [fact for fact in self._client.store.observed() if fact.path == path and fact.values is not None]
        shown = (self._client.store.failures(), seen, self._client.store.lines(path))
        if (any(shown) or uri in self._marked) and self._marked.get(uri) != shown:
            self._marked[uri] = shown
            self._client.protocol.notify(protocol.MARKS_CHANGED, {"uri": uri})

    def _minds_versions(self) -> bool:
        documents = self._client.client_capabilities.text_document
        diagnostics = documents.publish_diagnostics if documents is not None else None
        return diagnostics is not None and bool(diagnostics.version_support)


def _in_workspace(path: str, roots: Sequence[str]) -> bool:
    """Whether a file is the user's own."""
    place = Path(path)
    return any(place.is_relative_to(root) for root in roots) and "site-packages" not in place.parts


def to_lsp(finding: Finding, documents: Documents) -> types.Diagnostic:
    """The diagnostic that shows a finding. Its fixes are not in it: they come later, and change nothing that is seen."""
    diagnostic = finding.diagnostic
    return types.Diagnostic(
        range=_location(diagnostic, documents).range,
        message=text_of(finding),
        severity=types.DiagnosticSeverity.Information if finding.stale else _SEVERITY[diagnostic.severity],
        code=diagnostic.code,
        code_description=types.CodeDescription(protocol.RULE_PAGE.format(code=diagnostic.code)),
        source=protocol.SOURCE,
        related_information=[
            types.DiagnosticRelatedInformation(_location(related, documents), related.message)
            for related in diagnostic.related
        ],
        tags=_tags(diagnostic),
        data={"layer": diagnostic.layer, "name": diagnostic.name},
    )


def note_to_lsp(note: Note, documents: Documents) -> types.Diagnostic:
    """The note that shows a finding in another file, where a call there leads to it."""
    finding, place = note.finding, note.place
    diagnostic = finding.diagnostic
    where = f"{os.path.basename(diagnostic.path)}:{diagnostic.start.line}"
    return types.Diagnostic(
        range=_location(place, documents).range,
        message=message("editor.note", here=place.message, place=where, message=text_of(finding)),
        severity=types.DiagnosticSeverity.Information,
        code=diagnostic.code,
        code_description=types.CodeDescription(protocol.RULE_PAGE.format(code=diagnostic.code)),
        source=protocol.SOURCE,
        related_information=[types.DiagnosticRelatedInformation(_location(diagnostic, documents), diagnostic.message)],
        data={"layer": diagnostic.layer, "name": diagnostic.name, "note": True},
    )


def _tags(diagnostic: Diagnostic) -> list[types.DiagnosticTag] | None:
    """The tags by which the editor strikes a text through."""
    fault = FAULTS.get(diagnostic.code)
    return [types.DiagnosticTag.Deprecated] if fault is not None and fault.deprecated else None


def _location(place: Diagnostic | Related, documents: Documents) -> types.Location:
    where = to_range(documents.source(place.path), place.start, place.end, documents.encoding)
    return types.Location(documents.uri(place.path), where)


def text_of(finding: Finding) -> str:
    """The message, saying what a run has to do with it."""
    if finding.confirmed:
        return message("editor.confirmed", message=finding.diagnostic.message)
    if finding.stale:
        return message("editor.stale", message=finding.diagnostic.message)
    return finding.diagnostic.message
