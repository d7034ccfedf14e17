"""Code actions: the verified fixes that diagnostics carry. Nothing is analysed here."""

from __future__ import annotations

from lsprotocol import types

from torchsleuth.lsp import convert
from torchsleuth.lsp.session import Session
from torchsleuth.schema import Diagnostic


def code_actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    snapshot = session.documents.get(params.text_document.uri)
    if snapshot is None:
        return []
    start = convert.our_position(snapshot.source, params.range.start)
    end = convert.our_position(snapshot.source, params.range.end)
    actions: list[types.CodeAction] = []
    for diagnostic in session.store.diagnostics(snapshot.path):
        if diagnostic.start <= end and start <= diagnostic.end:
            actions += _actions(session, diagnostic)
    return actions


def _actions(session: Session, diagnostic: Diagnostic) -> list[types.CodeAction]:
    """Fixes from a run are offered as such: their numbers were measured, but the copy has not been run again."""
    source = session.source(diagnostic.path)
    shown = convert.lsp_diagnostic(diagnostic, source, session.source)
    actions: list[types.CodeAction] = []
    preferred = True
    for fix in diagnostic.fixes:
        if not fix.verified and diagnostic.layer != "run":
            continue
        edit = convert.workspace_edit(fix, session.source, session.version)
        title = fix.title if fix.verified else f"{fix.title} (from the run)"
        best = preferred and fix.safe
        actions.append(types.CodeAction(title, types.CodeActionKind.QuickFix, [shown], best, edit=edit))
        preferred = preferred and not best
    return actions
