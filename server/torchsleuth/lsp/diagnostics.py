"""Diagnostics: what the store holds about a file, published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from torchsleuth.lsp import protocol
from torchsleuth.lsp.convert import to_range
from torchsleuth.lsp.documents import Documents
from torchsleuth.lsp.store import Finding
from torchsleuth.messages import message
from torchsleuth.schema import Severity

if TYPE_CHECKING:
    from torchsleuth.lsp.server import TorchSleuthServer

# Information, not Hint: VS Code shows a Hint as three faint dots and leaves it out of the list of problems.
_SEVERITY: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "hint": types.DiagnosticSeverity.Information,
}


def publish(server: TorchSleuthServer, path: str) -> None:
    """Send everything that is to be shown in one file."""
    document = server.documents.at(path)
    found = [to_lsp(finding, server.documents) for finding in server.store.findings(path)]
    version = document.version if document is not None else None
    uri = server.documents.uri(path)
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))


def to_lsp(finding: Finding, documents: Documents) -> types.Diagnostic:
    diagnostic = finding.diagnostic
    source = documents.source(diagnostic.path)
    return types.Diagnostic(
        range=to_range(source, diagnostic.start, diagnostic.end),
        message=text_of(finding),
        severity=types.DiagnosticSeverity.Information if finding.stale else _SEVERITY[diagnostic.severity],
        code=diagnostic.code,
        code_description=types.CodeDescription(protocol.RULE_PAGE.format(code=diagnostic.code)),
        source=protocol.SOURCE,
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(
                    documents.uri(related.path), to_range(documents.source(related.path), related.start, related.end)
                ),
                related.message,
            )
            for related in diagnostic.related
        ],
        data={
            "layer": diagnostic.layer,
            "name": diagnostic.name,
            "fixes": [fix.to_json() for fix in diagnostic.fixes],
        },
    )


def text_of(finding: Finding) -> str:
    """The message, saying what a run has to do with it."""
    if finding.confirmed:
        return message("editor.confirmed", message=finding.diagnostic.message)
    if finding.stale:
        return message("editor.stale", message=finding.diagnostic.message)
    return finding.diagnostic.message
