"""Quick fixes, all safe ones at once, comments that silence, and contracts to be written: from what is held. Nothing is analysed, nothing waited for.

A fix of the analysis is offered only if it was verified. One of a run is offered as such: its numbers were measured, but the
repaired script has not been run.

What was found moves along with the text while it is typed in, so that a menu can open at once, also right after an edit. The
edit itself is made when the action was chosen (``codeAction/resolve``), where the client can do that: from what was found in
the text of then. Where that is not known yet, it is waited for; where it is something else, nothing is changed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from torchsleuth.lsp import protocol
from torchsleuth.lsp.convert import from_position, range_json, to_range
from torchsleuth.lsp.diagnostics import note_to_lsp, to_lsp
from torchsleuth.lsp.documents import Document
from torchsleuth.lsp.requests import wrong
from torchsleuth.lsp.session import TorchSleuthServer
from torchsleuth.lsp.store import Finding, preferred
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Json, Position
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.annotating import written
from torchsleuth.syntax.edits import meet
from torchsleuth.syntax.parse import parses
from torchsleuth.syntax.text import SourceText

FIX_ALL = "source.fixAll.torchsleuth"
REWRITE = "refactor.rewrite"
SETTLE_S = 10.0
"""How long an action that was chosen waits for the analysis of the text it is about."""


@dataclass(frozen=True)
class Offer:
    """An action before it is one of the protocol's. `fix`: None where it is still to be made. `number`: of its finding; None
    for all at once."""

    title: str
    kind: types.CodeActionKind | str
    fix: Fix | None
    number: int | None = None
    diagnostics: tuple[types.Diagnostic, ...] = ()
    preferred: bool | None = None
    contract: str | None = None
    """The digest of the definition whose contract it writes."""


def register(server: TorchSleuthServer) -> None:
    actions = CodeActions(server)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(
            code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, FIX_ALL],
            resolve_provider=True,
        ),
    )
    async def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await actions.offer(params)

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        return await actions.resolve(action)

    @server.command(protocol.APPLY_FIX)
    async def apply_fix(*arguments: Any) -> bool:
        if len(arguments) != 1 or not isinstance(arguments[0], int):
            raise wrong("[number]")
        return await actions.apply(arguments[0])

    @server.command(protocol.SHOW_FIXED)
    async def show_fixed(*arguments: Any) -> None:
        await actions.show(*arguments)


class CodeActions:
    """The actions of one client."""

    def __init__(self, server: TorchSleuthServer) -> None:
        self._server = server

    async def offer(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        server, only = self._server, kinds(params.context.only)
        document = server.documents.get(params.text_document.uri)
        lazy = self._resolves_edits()
        if document is not None and not lazy and wants_fix_all([kind for kind in only if kind != "source"]):
            # No menu shows it: it is asked for when a file is saved, and its edit has to be about that text.
            await self._settled(document)
            document = server.documents.get(params.text_document.uri)
        if document is None:
            return []
        offers: list[Offer] = []
        if wants_fix_all(only):
            together = self._fix_all(document)
            if together is not None or (lazy and not await server.analysis.settled(document.path, 0.0)):
                offers.append(Offer(message("editor.fix_all"), FIX_ALL, together))
        if "" in only or "quickfix" in only:
            quick = list(self._at(document, params.range, lazy))
            invoked = params.context.trigger_kind != types.CodeActionTriggerKind.Automatic
            certain = any(offer.preferred is not False for offer in quick) or (quick and invoked)
            if not certain and self._is_found(document, params.range):
                # Fixes may be on their way, and there is nothing else to offer. Or nobody has asked yet: the editor wants to
                # know what its lightbulb would show, and keeps the answer.
                await self._settled(document)
                document = server.documents.get(params.text_document.uri)
                quick = list(self._at(document, params.range, lazy)) if document is not None else []
            if document is None:
                return []
            offers += quick
        if any(REWRITE.startswith(kind) for kind in only):
            offers += self._contracts(document, params.range)
        return [self._action(offer, document, lazy) for offer in offers]

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """The action with its edit, for the texts of now. Raises JsonRpcContentModified where it does not fit them."""
        data = as_kind(action.data, dict) or {}
        document = self._server.documents.get(str(data.get("uri")))
        if document is not None and action.kind == FIX_ALL:
            await self._settled(document)
            document = self._server.documents.get(document.uri)
            together = self._fix_all(document) if document is not None else None
            action.edit = self._edit(together) if together is not None else types.WorkspaceEdit()
            return action
        if document is not None and isinstance(data.get("contract"), str):
            fix = self._contract_of(document, data["contract"])
        else:
            fix = await self._fix_of(data) if document is not None else None
        document = self._server.documents.get(str(data.get("uri")))
        if document is None or fix is None:
            changed = message("editor.fix.changed", title=action.title)
            self._server.window_show_message(types.ShowMessageParams(types.MessageType.Info, changed))
            raise JsonRpcContentModified(changed)
        action.edit, action.command = self._edit(fix), self._showing(fix, document)
        return action

    async def apply(self, number: int) -> bool:
        """Make the fix of a finding that would be offered first. False where there is none, or the client did not make it."""
        finding = self._server.store.finding(number)
        fix = finding.preferred if finding is not None else None
        if fix is not None:
            fix = await self._fix_of({"number": number, "fix": name_of(fix)})
        if fix is None:
            return False
        done = await self._server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(self._edit(fix), fix.title))
        return done.applied

    async def show(self, uri: Any = None, where: Any = None, *_: Any) -> None:
        """Show what was changed in a file that is not the one on the screen."""
        if not isinstance(uri, str) or not self._shows_documents():
            return
        place = [where.get(side, {}) if isinstance(where, dict) else {} for side in ("start", "end")]
        start, end = (types.Position(int(at.get("line", 0)), int(at.get("character", 0))) for at in place)
        shown = types.ShowDocumentParams(uri=uri, take_focus=True, selection=types.Range(start, end))
        await self._server.window_show_document_async(shown)

    # -- what there is -----------------------------------------------------------------------------

    def _at(self, document: Document, where: types.Range, lazy: bool) -> Iterator[Offer]:
        """The actions offered in a range: fixes, then comments that silence."""
        start, end = self._span(document, where)
        yield from self._quick_fixes(document, start, end, lazy)
        yield from self._silencing(document, start, end)

    def _span(self, document: Document, where: types.Range) -> tuple[Position, Position]:
        source, encoding = document.source, self._server.documents.encoding
        return from_position(source, where.start, encoding), from_position(source, where.end, encoding)

    def _quick_fixes(self, document: Document, start: Position, end: Position, lazy: bool) -> Iterator[Offer]:
        """The fixes of the diagnostics that overlap a range, each once; the first safe one is preferred, or the only one."""
        store = self._server.store
        offered: set[tuple[Edit, ...]] = set()
        for finding, shown in self._shown(document, start, end):
            if not (lazy or self._is_current(finding) or store.is_whole("static", finding.owner)):
                continue  # The text has changed in what was known of it, and there is no asking again when it is chosen.
            offerable = finding.offerable
            if lazy and not offerable:
                # Most likely these are found again; when one is chosen, it is that of the newer analysis, or none.
                offerable = [fix for fix in finding.expected if fix.verified]
            best = preferred(offerable)
            for fix in offerable:
                if fix.edits not in offered:
                    offered.add(fix.edits)
                    title = fix.title if fix.verified else message("editor.fix.measured", title=fix.title)
                    yield Offer(
                        placed(title, fix, document.path),
                        types.CodeActionKind.QuickFix,
                        fix,
                        finding.number,
                        (shown,),
                        fix is best,
                    )

    def _shown(self, document: Document, start: Position, end: Position) -> Iterator[tuple[Finding, types.Diagnostic]]:
        """The findings that are seen in a range, here or from here, and how they are published."""
        documents = self._server.documents
        for finding in self._server.store.findings(document.path):
            if not finding.stale and finding.diagnostic.end >= start and end >= finding.diagnostic.start:
                yield finding, to_lsp(finding, documents)
        for note in self._server.store.notes(document.path):
            if note.place.end >= start and end >= note.place.start:
                yield note.finding, note_to_lsp(note, documents)

    def _is_found(self, document: Document, where: types.Range) -> bool:
        return next(self._shown(document, *self._span(document, where)), None) is not None

    def _silencing(self, document: Document, start: Position, end: Position) -> Iterator[Offer]:
        """For each code found in a range, the comment that silences it; what a run has seen cannot be silenced."""
        offered: set[str] = set()
        for finding, shown in self._shown(document, start, end):
            diagnostic = finding.diagnostic
            if diagnostic.path == document.path and diagnostic.code not in offered:
                comment = _comment(finding, document.source)
                if comment is not None:
                    offered.add(diagnostic.code)
                    kind = types.CodeActionKind.QuickFix
                    yield Offer(comment.title, kind, comment, finding.number, (shown,), False)

    def _fix_all(self, document: Document) -> Fix | None:
        """The first safe fix of each finding that changes nothing but this document, and nothing that another one changes."""
        taken: list[Edit] = []
        for finding in self._server.store.findings(document.path):
            if not self._is_current(finding) or finding.stale:
                continue
            for fix in finding.diagnostic.fixes:
                if fix.verified and fix.safe and all(edit.path == document.path for edit in fix.edits):
                    if not any(meet(edit, other) for edit in fix.edits for other in taken):
                        taken += [edit for edit in fix.edits if edit not in taken]
                    break
        if not taken or not parses(document.source.apply(taken)):
            return None
        return Fix(message("editor.fix_all"), tuple(taken))

    def _contracts(self, document: Document, where: types.Range) -> Iterator[Offer]:
        """Contracts that are known and not written down yet, on the lines of the class and of its function."""
        first, last = where.start.line + 1, where.end.line + 1
        for definition, contract in self._server.analysis.contracts.of(document):
            named = (definition.first, definition.function.lineno)
            fix = written(document.source, contract) if any(first <= line <= last for line in named) else None
            if fix is not None:
                kind = types.CodeActionKind.RefactorRewrite
                yield Offer(fix.title, kind, fix, contract=definition.digest)

    def _contract_of(self, document: Document, digest: str) -> Fix | None:
        """The edit that writes the contract of a definition, for the text of now."""
        found = (one for definition, one in self._server.analysis.contracts.of(document) if definition.digest == digest)
        contract = next(found, None)
        return written(document.source, contract) if contract is not None else None

    async def _settled(self, document: Document) -> None:
        """Wait for everything that finds something in a document."""
        owners = {finding.owner for finding in self._server.store.findings(document.path)}
        await asyncio.gather(
            *(self._server.analysis.settled(owner, SETTLE_S) for owner in sorted(owners | {document.path}))
        )

    # -- what of it holds --------------------------------------------------------------------------

    async def _fix_of(self, data: Json) -> Fix | None:
        """The fix that an action stands for, as it is for the texts of now."""
        number, wanted = data.get("number"), data.get("fix")
        finding = self._server.store.finding(number) if isinstance(number, int) else None
        if finding is None:
            return None
        found = self._like(finding, wanted)
        if found is None or not self._is_current(finding):
            owner = self._server.documents.at(finding.owner)
            if owner is not None and finding.version is None:
                self._server.analysis.request(owner)
            # What was found in the text of now is on its way, or its fixes are being verified.
            await self._server.analysis.settled(finding.owner, SETTLE_S)
            finding = self._server.store.finding(finding.number)
            found = self._like(finding, wanted) if finding is not None and self._is_current(finding) else None
        return found

    def _like(self, finding: Finding, wanted: Any) -> Fix | None:
        """The fix of a finding that has this name, or the comment that silences it."""
        comment = _comment(finding, self._server.documents.source(finding.diagnostic.path))
        offerable = finding.offerable
        return next((fix for fix in (*offerable, comment) if fix is not None and name_of(fix) == wanted), None)

    def _is_current(self, finding: Finding) -> bool:
        """Whether it was found in the texts of now; a run's, whether it has not been marked as stale."""
        if finding.diagnostic.layer == "run":
            return not finding.stale
        owner = self._server.documents.at(finding.owner)
        return owner is not None and finding.version == owner.version

    # -- as the protocol has it --------------------------------------------------------------------

    def _action(self, offer: Offer, document: Document, lazy: bool) -> types.CodeAction:
        fix = offer.fix
        return types.CodeAction(
            title=offer.title,
            kind=offer.kind,
            diagnostics=list(offer.diagnostics) or None,
            is_preferred=offer.preferred,
            edit=self._edit(fix) if fix is not None and not lazy else None,
            command=self._showing(fix, document) if fix is not None and not lazy else None,
            data={
                "uri": document.uri,
                "number": offer.number,
                "fix": fix and name_of(fix),
                **({"contract": offer.contract} if offer.contract is not None else {}),
            }
            if lazy
            else None,
        )

    def _edit(self, fix: Fix) -> types.WorkspaceEdit:
        """The edit, for exactly the versions of the documents that are open."""
        documents = self._server.documents
        edits: dict[str, list[types.TextEdit]] = {}
        for edit in fix.edits:
            where = to_range(documents.source(edit.path), edit.start, edit.end, documents.encoding)
            edits.setdefault(edit.path, []).append(types.TextEdit(where, edit.new_text))
        if not self._understands_versions():
            return types.WorkspaceEdit(changes={documents.uri(path): changes for path, changes in edits.items()})
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(
                    types.OptionalVersionedTextDocumentIdentifier(documents.uri(path), self._version(path)),
                    list(changes),
                )
                for path, changes in edits.items()
            ]
        )

    def _showing(self, fix: Fix, document: Document) -> types.Command | None:
        """The command that shows what the edit changed, where that is in another file only."""
        first = min(fix.edits, key=lambda edit: (edit.path, edit.start))
        if any(edit.path == document.path for edit in fix.edits) or not self._shows_documents():
            return None
        documents = self._server.documents
        source = documents.source(first.path)
        after = SourceText(first.path, source.apply([first]))
        end = after.position(source.offset(first.start) + len(first.new_text))
        where = to_range(after, first.start, end, documents.encoding)
        return types.Command(
            message("editor.fix.show"), protocol.SHOW_FIXED, arguments=[documents.uri(first.path), range_json(where)]
        )

    def _version(self, path: str) -> int | None:
        document = self._server.documents.at(path)
        return document.version if document is not None else None

    def _understands_versions(self) -> bool:
        workspace = self._server.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace is not None else None
        return edit is not None and bool(edit.document_changes)

    def _resolves_edits(self) -> bool:
        documents = self._server.client_capabilities.text_document
        actions = documents.code_action if documents is not None else None
        resolved = actions.resolve_support.properties if actions is not None and actions.resolve_support else ()
        return actions is not None and bool(actions.data_support) and "edit" in resolved

    def _shows_documents(self) -> bool:
        window = self._server.client_capabilities.window
        return window is not None and window.show_document is not None and window.show_document.support


def kinds(only: Sequence[types.CodeActionKind | str] | None) -> list[str]:
    """The kinds that are asked for; they are hierarchical: asking for ``quickfix``, or for everything, includes ours."""
    return [""] if only is None else [str(getattr(kind, "value", kind)) for kind in only]


def wants_fix_all(only: Sequence[str]) -> bool:
    """Only on demand, as when a file is saved: never among the quick fixes of a place."""
    return any(kind and FIX_ALL.startswith(kind) for kind in only)


def placed(title: str, fix: Fix, path: str) -> str:
    """The title of a fix, saying where it is where that is another file."""
    elsewhere = dict.fromkeys(
        f"{os.path.basename(edit.path)}:{edit.start.line}" for edit in fix.edits if edit.path != path
    )
    if not elsewhere:
        return title
    key = "editor.fix.also" if any(edit.path == path for edit in fix.edits) else "editor.fix.elsewhere"
    return message(key, title=title, places=", ".join(elsewhere))


def name_of(fix: Fix) -> list[str]:
    """The identity of a fix among the others of its finding, also when it is found again: its title, and the files that it is in."""
    return [fix.title, *dict.fromkeys(edit.path for edit in fix.edits)]


def _comment(finding: Finding, source: SourceText) -> Fix | None:
    """The comment that silences a finding."""
    diagnostic = finding.diagnostic
    if diagnostic.layer == "run" or finding.stale:
        return None
    from torchsleuth.control.suppression import UNUSED, ignoring

    edit = ignoring(source, diagnostic) if diagnostic.code != UNUSED else None
    return Fix(message("fix.ignore", code=diagnostic.code), (edit,)) if edit is not None else None
