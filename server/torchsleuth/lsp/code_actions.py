"""Quick fixes, all safe ones at once, and comments that silence: from what came with the diagnostics. Nothing is analysed.

A fix of the analysis is offered only if it was verified. One of a run is offered as such: its numbers were measured, but the
repaired script has not been run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from torchsleuth.lsp.convert import from_position, to_range
from torchsleuth.lsp.diagnostics import to_lsp
from torchsleuth.lsp.documents import Document, Documents
from torchsleuth.lsp.store import Finding
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Position
from torchsleuth.syntax.edits import meet
from torchsleuth.syntax.parse import parses

if TYPE_CHECKING:
    from torchsleuth.lsp.server import TorchSleuthServer

FIX_ALL = "source.fixAll.torchsleuth"
SETTLE_S = 10.0
"""How long a request waits for the analysis of the text it is about."""


def register(server: TorchSleuthServer) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=False),
    )
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        document = server.documents.get(params.text_document.uri)
        quick, everything = wants_quick_fixes(params.context.only), wants_fix_all(params.context.only)
        if document is None or not (quick or everything):
            return []
        await server.analysis.settled(document.path, SETTLE_S)
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return []
        start = from_position(document.source, params.range.start)
        end = from_position(document.source, params.range.end)
        findings = server.store.findings(document.path)
        versioned = _understands_versions(server.client_capabilities)
        actions = list(fix_all(findings, document, server.documents, versioned)) if everything else []
        if quick:
            actions += quick_fixes(findings, document, start, end, server.documents, versioned)
            actions += suppressing(findings, document, start, end, server.documents, versioned)
        return actions


def wants_quick_fixes(only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Kinds are hierarchical: asking for ``quickfix``, or for everything, includes ours."""
    return only is None or any(str(getattr(kind, "value", kind)) in ("", "quickfix") for kind in only)


def wants_fix_all(only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """Only on demand, as when a file is saved: never among the quick fixes of a place."""
    return any(FIX_ALL.startswith(str(getattr(kind, "value", kind))) for kind in only or () if kind)


def quick_fixes(
    findings: Sequence[Finding],
    document: Document,
    start: Position,
    end: Position,
    documents: Documents,
    versioned: bool = True,
) -> Iterator[types.CodeAction]:
    """The fixes of the diagnostics that overlap a range, each once; the first safe one is preferred, or the only one."""
    offered: set[tuple[Edit, ...]] = set()
    for finding in findings:
        diagnostic = finding.diagnostic
        if not _is_current(finding, document) or finding.stale or diagnostic.end < start or end < diagnostic.start:
            continue
        offerable = [fix for fix in diagnostic.fixes if fix.verified or fix.edits in finding.measured]
        preferred = next((fix for fix in offerable if fix.safe or len(offerable) == 1), None)
        for fix in offerable:
            if fix.edits not in offered:
                offered.add(fix.edits)
                yield types.CodeAction(
                    title=fix.title if fix.verified else message("editor.fix.measured", title=fix.title),
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[to_lsp(finding, documents)],
                    is_preferred=fix is preferred,
                    edit=workspace_edit(fix, documents, versioned),
                )


def suppressing(
    findings: Sequence[Finding],
    document: Document,
    start: Position,
    end: Position,
    documents: Documents,
    versioned: bool = True,
) -> Iterator[types.CodeAction]:
    """For each code found in a range, the comment that silences it; what a run has seen cannot be silenced."""
    from torchsleuth.control.suppression import UNUSED, ignoring

    offered: set[str] = set()
    for finding in findings:
        diagnostic = finding.diagnostic
        if diagnostic.layer == "run" or finding.stale or diagnostic.code in (UNUSED, *offered):
            continue
        if not _is_current(finding, document) or diagnostic.end < start or end < diagnostic.start:
            continue
        edit = ignoring(document.source, diagnostic)
        if edit is not None:
            offered.add(diagnostic.code)
            fix = Fix(message("fix.ignore", code=diagnostic.code), (edit,))
            yield types.CodeAction(
                title=fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[to_lsp(finding, documents)],
                is_preferred=False,
                edit=workspace_edit(fix, documents, versioned),
            )


def fix_all(
    findings: Sequence[Finding], document: Document, documents: Documents, versioned: bool = True
) -> Iterator[types.CodeAction]:
    """The first safe fix of each finding that changes nothing but this document, and nothing that another one changes."""
    taken: list[Edit] = []
    for finding in findings:
        if not _is_current(finding, document) or finding.stale:
            continue
        for fix in finding.diagnostic.fixes:
            if fix.verified and fix.safe and all(edit.path == document.path for edit in fix.edits):
                if not any(meet(edit, other) for edit in fix.edits for other in taken):
                    taken += [edit for edit in fix.edits if edit not in taken]
                break
    if taken and parses(document.source.apply(taken)):
        together = Fix(message("editor.fix_all"), tuple(taken))
        yield types.CodeAction(title=together.title, kind=FIX_ALL, edit=workspace_edit(together, documents, versioned))


def _is_current(finding: Finding, document: Document) -> bool:
    """Whether it was found in this version of the document, or by the analysis of another one."""
    return finding.version in (None, document.version) or finding.owner != document.path


def workspace_edit(fix: Fix, documents: Documents, versioned: bool = True) -> types.WorkspaceEdit:
    """The edit, for exactly the versions of the documents that are open."""
    edits: dict[str, list[types.TextEdit]] = {}
    for edit in fix.edits:
        where = to_range(documents.source(edit.path), edit.start, edit.end)
        edits.setdefault(edit.path, []).append(types.TextEdit(where, edit.new_text))
    if not versioned:
        return types.WorkspaceEdit(changes={documents.uri(path): changes for path, changes in edits.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(documents.uri(path), _version(documents, path)),
                list(changes),
            )
            for path, changes in edits.items()
        ]
    )


def _version(documents: Documents, path: str) -> int | None:
    document = documents.at(path)
    return document.version if document is not None else None


def _understands_versions(capabilities: types.ClientCapabilities) -> bool:
    workspace = capabilities.workspace
    edit = workspace.workspace_edit if workspace is not None else None
    return edit is not None and bool(edit.document_changes)
