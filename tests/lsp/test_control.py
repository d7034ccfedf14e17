"""What the editor shows of what is found: pyproject.toml, settings, comments; the actions that silence and that fix all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor

Start = Callable[..., Awaitable[Editor]]
SHAPES = "import torch\n\na, b = torch.ones(2, 3), torch.ones(4, 5)\nc = torch.mm(a, b)\n"
OLD = "import torch\n\nq, r = torch.qr(torch.eye(3))\nx = torch.LongTensor([1, 2])\n"
TABLE = "[tool.torchsleuth]\n"


def saved(editor: Editor, name: str) -> None:
    """What a client says when a file that it watches was saved."""
    change = types.FileEvent((editor.folder / name).as_uri(), types.FileChangeType.Changed)
    editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))


def configured(editor: Editor, **settings: object) -> None:
    parameters = types.DidChangeConfigurationParams({"torchsleuth": settings})
    editor.client.workspace_did_change_configuration(parameters)


async def shown(editor: Editor, uri: str, wanted: list[tuple[str, int]]) -> None:
    """Wait until exactly these codes, with these severities, are shown."""

    def now() -> bool:
        found = editor.client.published.get(uri)
        return found is not None and [(item.code, int(item.severity)) for item in found.diagnostics] == wanted

    await editor.until(now)


async def test_the_file_above_the_document_and_the_settings_over_it(start: Start) -> None:
    editor = await start()
    editor.write("pyproject.toml", TABLE + 'ignore = ["TS8"]\nseverity = {TS101 = "warning"}\n')
    old, shapes = editor.open("old.py", OLD), editor.open("sub/shapes.py", SHAPES)
    await shown(editor, shapes, [("TS101", 2)])
    await shown(editor, old, [])
    configured(editor, extendSelect=["TS802"])
    await shown(editor, old, [("TS802", 3)])
    assert list(editor.client.published[old].diagnostics[0].tags or ()) == [types.DiagnosticTag.Deprecated]
    assert editor.client.published[shapes].diagnostics[0].tags is None
    configured(editor, extendSelect=[], select=["TS810"], severity={"TS810": "error"})
    await shown(editor, old, [("TS810", 1)])
    await shown(editor, shapes, [])
    configured(editor, select=None, severity={}, ignore=["TS101"])
    await shown(editor, old, [])
    configured(editor, ignore=[], exclude=["sub"])
    await shown(editor, shapes, [])
    configured(editor, exclude=[])
    await shown(editor, shapes, [("TS101", 2)])
    editor.write("pyproject.toml", TABLE)
    saved(editor, "pyproject.toml")
    await shown(editor, old, [("TS802", 3), ("TS810", 3)])
    await shown(editor, shapes, [("TS101", 1)])


async def test_what_is_wrong_with_the_configuration_is_said_once(start: Start) -> None:
    editor = await start(ignore=["TS101", "E501"])
    editor.write("pyproject.toml", TABLE + "selekt = []\n")
    uri = editor.open("shapes.py", SHAPES)
    await shown(editor, uri, [("TS101", 1)])
    editor.replace(uri, "c = ", "d = ")
    await editor.diagnostics(uri)
    configured(editor, ignore=["TS101", "E501"])  # the settings that count already change nothing
    editor.replace(uri, "d = ", "c = ")
    await editor.diagnostics(uri)
    texts = [item.message for item in editor.client.messages]
    assert len(texts) == 2 and "E501" in texts[0] and "selekt" in texts[1]
    editor.write("pyproject.toml", TABLE + 'ignore = ["TS1"]\n')
    configured(editor, ignore=[])
    await shown(editor, uri, [])


async def test_comments_silence_and_an_action_writes_them(start: Start) -> None:
    editor = await start()
    uri = editor.open("shapes.py", SHAPES)
    (found,) = await editor.repaired(uri)
    actions = await editor.actions(uri, found.range)
    (action,) = [item for item in actions if item.title == "Ignore TS101 on this line"]
    assert action.kind == types.CodeActionKind.QuickFix and not action.is_preferred
    assert list(action.diagnostics) == [found]
    await editor.choose(action)
    assert editor.texts[uri].endswith("torch.mm(a, b)  # torchsleuth: ignore[TS101]\n")
    assert await editor.codes(uri) == []
    editor.replace(uri, "TS101]", "TS999]")
    assert await editor.codes(uri) == ["TS101"]


async def test_an_unused_comment_is_shown_when_selected_and_its_fix_removes_it(start: Start) -> None:
    editor = await start(extendSelect=["TS001"])
    text = "import torch\n\nx = torch.ones(2)  # torchsleuth: ignore[TS101]\n"
    uri = editor.open("unused.py", text)
    (found,) = await editor.diagnostics(uri)
    assert found.code == "TS001" and found.severity == types.DiagnosticSeverity.Information
    (action,) = await editor.actions(uri, found.range)
    await editor.choose(action)
    assert editor.texts[uri] == "import torch\n\nx = torch.ones(2)\n"
    assert await editor.codes(uri) == []


async def test_all_safe_fixes_of_a_document_at_once(start: Start) -> None:
    editor = await start()
    uri = editor.open("old.py", OLD + "n = torch.norm(x.float())\n")
    await editor.shows(uri, "TS802", "TS810", "TS802")
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    assert await editor.actions(uri, nowhere, only=["source.organizeImports"]) == []
    for only in ("source", "source.fixAll"):
        (action,) = await editor.actions(uri, nowhere, only=[only])
        assert action.kind == "source.fixAll.torchsleuth"
    await editor.choose(action)
    assert "torch.linalg.qr(" in editor.texts[uri] and "torch.linalg.vector_norm(" in editor.texts[uri]
    await editor.shows(uri)
    assert await editor.actions(uri, nowhere, only=["source.fixAll"]) == []


@pytest.mark.parametrize("select", [None, ["TS7"]])
async def test_rules_that_are_off_are_asked_only_when_selected(start: Start, select: list[str] | None) -> None:
    editor = await start(select=select)
    uri = editor.open("loader.py", "from torch.utils.data import DataLoader\n\nloader = DataLoader([1, 2])\n")
    assert await editor.codes(uri) == ([] if select is None else ["TS703"])
