"""What the editor asks for is answered at once, from what is held; what it is told is told once; fixes fit the text of then."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import Editor

Start = Callable[..., Awaitable[Editor]]

BAD = "# fix\nx = bad\ny = x\n"
IGNORE = "Ignore TS101 on this line"


def line(number: int) -> types.Range:
    return types.Range(types.Position(number, 0), types.Position(number, 100))


def no_resolve(capabilities: types.ClientCapabilities) -> None:
    capabilities.text_document.code_action.resolve_support = None


async def titles(editor: Editor, uri: str, number: int) -> list[str]:
    return [action.title for action in await editor.actions(uri, line(number))]


async def test_what_looks_as_before_is_not_published_again(start: Start, double: str) -> None:
    editor = await start(interpreter=double, versions=False)
    uri = editor.open("a.py", BAD)
    await editor.repaired(uri)
    assert await titles(editor, uri, 1) == ["Write good", IGNORE]
    assert editor.client.publications[uri] == 1
    editor.replace(uri, "y = x\n", "y = x + 1\n")
    await editor.settled(uri)
    assert editor.client.publications[uri] == 1
    editor.replace(uri, "x = bad", "\nx = bad")
    await editor.repaired(uri)
    assert editor.client.publications[uri] == 2
    assert editor.client.published[uri].diagnostics[0].range.start == types.Position(2, 4)
    assert editor.client.published[uri].version is None


async def test_a_client_that_minds_versions_is_told_once_for_each(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", BAD)
    await editor.repaired(uri)
    editor.replace(uri, "y = x\n", "y = x + 1\n")
    await editor.repaired(uri)
    assert editor.client.publications[uri] == 2 and editor.client.published[uri].version == 2


async def test_the_menu_opens_while_the_analysis_is_on_its_way_and_the_edit_waits_for_it(
    start: Start, double: str, tmp_path: Path
) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", BAD)
    await editor.repaired(uri)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    editor.replace(uri, "# fix\n", f"# after {pipe}\n\n")
    actions = await editor.actions(uri, line(2))
    assert [action.title for action in actions] == ["Write good", IGNORE]
    assert await editor.hover(uri, 2, 4) and await editor.hints(uri) == []
    chosen = asyncio.ensure_future(editor.choose(actions[0]))
    await asyncio.to_thread(pipe.write_text, "")
    await chosen
    assert editor.texts[uri] == f"# after {pipe}\n\nx = good\ny = x\n"


async def test_no_edit_where_the_text_has_changed_meanwhile(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", BAD)
    await editor.repaired(uri)
    fix, ignore = await editor.actions(uri, line(1))
    editor.replace(uri, "bad", "fine")
    for action in (fix, ignore):
        with pytest.raises(JsonRpcException, match="the text has changed"):
            await editor.resolve(action)
    assert "Write good" in editor.client.messages[0].message
    assert editor.texts[uri] == BAD.replace("bad", "fine")


async def test_the_edit_is_that_of_the_newer_finding(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", BAD)
    await editor.repaired(uri)
    fix, ignore = await editor.actions(uri, line(1))
    editor.replace(uri, "y = x\n", "z = bad\ny = x\n")
    editor.replace(uri, "# fix\n", "# fix\n\n\n")
    await editor.choose(fix)
    assert editor.texts[uri] == "# fix\n\n\nx = good\nz = bad\ny = x\n"


async def test_a_document_without_a_worker_has_its_menu(start: Start, double: str) -> None:
    editor = await start(interpreter=double)
    uri = editor.open("a.py", BAD)
    await editor.repaired(uri)
    editor.replace(uri, "# fix\n", "# die\n")
    assert await titles(editor, uri, 1) == ["Write good", IGNORE]


async def test_clients_that_resolve_nothing_get_edits_in_the_menu(start: Start, double: str) -> None:
    editor = await start(interpreter=double, adapt=no_resolve)
    uri = editor.open("a.py", BAD + "z = 2\n")
    await editor.diagnostics(uri)
    await editor.actions(uri, line(0), only=["source.fixAll"])
    editor.replace(uri, "# fix\n", "# fix\n\n")
    fix, ignore = await editor.actions(uri, line(2))
    assert fix.data is None and ignore.edit is not None
    editor.apply(fix.edit)
    assert editor.texts[uri] == "# fix\n\nx = good\ny = x\nz = 2\n"
    editor.replace(uri, "good", "bad")
    (together,) = await editor.actions(uri, line(0), only=["source.fixAll"])
    editor.apply(together.edit)
    assert "good" in editor.texts[uri]


MODEL = """from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 10)

    def forward(self, x):
        return self.inner(x)

    def inner(self, x):
        return self.middle(x)

    def middle(self, x):
        return self.fc(x)
"""
TRAIN = """import torch
from model import Net

net = Net(128)
out = net(torch.randn(4, 64))
"""
FIX = "Change in_features of `fc` (Linear) from 128 to 64"


async def test_what_is_found_in_another_file_is_seen_and_repaired_from_both(start: Start) -> None:
    editor = await start(interpreter=sys.executable)
    model, train = editor.open("model.py", MODEL), editor.open("train.py", TRAIN)
    await editor.diagnostics(train)
    (found,) = await editor.until(lambda: editor.client.published[model].diagnostics)
    await editor.settled(model)
    assert found.severity == types.DiagnosticSeverity.Error and found.range.start.line == 15
    (note,) = editor.client.published[train].diagnostics
    assert note.severity == types.DiagnosticSeverity.Information and note.code == found.code
    assert note.range.start == types.Position(4, 6) and note.data["note"]
    why = "x.shape[1] = 64 is not width = 128, which Linear at model.py:16 needs"
    assert note.message == f"{found.message} (in model.py:16; reached by this call: {why})"
    assert [item.location.uri for item in note.related_information] == [model]
    offered = await titles(editor, train, 4)
    assert FIX in offered and IGNORE not in offered
    actions = {action.title: action for action in await editor.actions(model, found.range)}
    there = actions[f"{FIX} (in train.py:4)"]
    assert any(title.startswith("Change in_features") and "(in" not in title for title in actions)
    await editor.choose(there)
    assert editor.texts[train] == TRAIN.replace("128", "64")
    (shown,) = editor.client.shown
    assert shown.uri == train and shown.take_focus
    assert shown.selection == types.Range(types.Position(3, 10), types.Position(3, 12))
    await editor.until(lambda: not editor.client.published[train].diagnostics)
    assert not editor.client.published[model].diagnostics


async def test_clients_that_show_no_documents_are_not_asked_to(start: Start) -> None:
    def blind(capabilities: types.ClientCapabilities) -> None:
        capabilities.window.show_document = None

    editor = await start(interpreter=sys.executable, adapt=blind)
    model, train = editor.open("model.py", MODEL), editor.open("train.py", TRAIN)
    await editor.diagnostics(train)
    await editor.until(lambda: editor.client.published[model].diagnostics)
    await editor.settled(model)
    await editor.settled(train)
    (action,) = [item for item in await editor.actions(model, line(15)) if "train.py:4" in item.title]
    assert (await editor.resolve(action)).command is None


WIDE = 'import torch\nfrom torch import nn\n\nfc = nn.Linear(8192, 10)\nx = torch.randn(64, 16384)\n"é😋 中", fc(x)\n'


@pytest.mark.parametrize(
    ("offered", "encoding"),
    [
        (["utf-8", "utf-16"], "utf-8"),
        (["utf-32", "utf-8"], "utf-32"),
        (["utf-16", "utf-8"], "utf-16"),
        (["utf-7", "utf-32"], "utf-32"),
        (["utf-7"], "utf-16"),
        (None, "utf-16"),
    ],
)
async def test_columns_are_counted_as_the_client_likes_best(
    start: Start, offered: list[str] | None, encoding: str
) -> None:
    def counting(capabilities: types.ClientCapabilities) -> None:
        capabilities.general.position_encodings = offered

    editor = await start(interpreter=sys.executable, adapt=counting)
    assert editor.initialized.capabilities.position_encoding == encoding
    uri = editor.open("wide.py", WIDE)
    (found,) = await editor.repaired(uri)
    name = f"{encoding}-le" if encoding != "utf-8" else encoding
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    column = len('"é😋 中", '.encode(name)) // width
    assert found.range == types.Range(types.Position(5, column), types.Position(5, column + 5))
    assert "in_features" in (await editor.actions(uri, found.range))[0].title
    assert "Tensor[64, 16384]" in await editor.hover(uri, 5, column + 3)
    # `fc` becomes `fo`, which is not bound: only right if the change is placed in the client's units.
    where = types.Range(types.Position(5, column + 3), types.Position(5, column + 4))
    document = types.VersionedTextDocumentIdentifier(2, uri)
    change = types.TextDocumentContentChangePartial(where, "x[:, :8192]")
    editor.versions[uri] = 2
    editor.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
    assert await editor.codes(uri) == []
    assert "x[:, :8192]: Tensor[64, 8192]" in await editor.hover(uri, 5, column + 6)


async def test_hovers_are_plain_where_the_client_likes_that_better(start: Start) -> None:
    def plain(capabilities: types.ClientCapabilities) -> None:
        capabilities.text_document.hover.content_format = [types.MarkupKind.PlainText, types.MarkupKind.Markdown]

    editor = await start(interpreter=sys.executable, adapt=plain)
    uri = editor.open("wide.py", WIDE)
    await editor.diagnostics(uri)
    where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(5, 10))
    found = await editor.client.text_document_hover_async(where)
    assert found.contents.kind == types.MarkupKind.PlainText
    assert "TS101 (https://github.com/" in found.contents.value
    assert not any(mark in found.contents.value for mark in ("```", "**", "]("))
    whole = types.Range(types.Position(0, 0), types.Position(6, 0))
    hints = await editor.client.text_document_inlay_hint_async(types.InlayHintParams(where.text_document, whole))
    assert {hint.tooltip.kind for hint in hints} == {types.MarkupKind.PlainText}


async def test_the_lens_works_in_every_client(start: Start) -> None:
    editor = await start(interpreter=sys.executable)
    uri = editor.open("script.py", "import torch\n\nprint(torch.ones(2) + 1)\n")
    (lens,) = await editor.lenses(uri)
    assert lens[2] in editor.initialized.capabilities.execute_command_provider.commands
    parameters = types.ExecuteCommandParams(lens[2], [uri])
    assert (await editor.client.workspace_execute_command_async(parameters))["exitCode"] == 0
    assert [(item.type, item.message) for item in editor.client.messages] == [
        (types.MessageType.Info, "script.py finished")
    ]
