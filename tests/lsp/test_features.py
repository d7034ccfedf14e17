"""The editor's features against the real server with the real engine: text in, what the editor shows out."""

from __future__ import annotations

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, children

pytestmark = pytest.mark.asyncio(loop_scope="module")

LINEAR = """import torch
from torch import nn

fc = nn.Linear(8192, 10)
x = torch.randn(64, 16384)
"😋 中文", fc(x)
"""


async def test_a_diagnostic_says_what_where_why_and_what_to_read(editor: Editor) -> None:
    uri = editor.open("linear.py", LINEAR)
    (found,) = await editor.repaired(uri)
    assert found.code == "TS101" and found.source == "TorchSleuth"
    assert found.severity == types.DiagnosticSeverity.Error
    assert found.code_description is not None and found.code_description.href.endswith("/docs/rules/TS101.md")
    assert found.range == types.Range(types.Position(5, 9), types.Position(5, 14))
    built = [item for item in found.related_information or () if "in_features=8192" in item.message]
    assert built[0].location.uri == uri and built[0].location.range.start == types.Position(3, 5)
    assert found.data == {"layer": "static", "name": "matmul-shape-mismatch"}


async def test_the_fix_applied_gives_a_text_that_analyses_clean(editor: Editor) -> None:
    uri = editor.open("fix.py", LINEAR)
    (found,) = await editor.repaired(uri)
    actions = await editor.actions(uri, found.range)
    assert actions[0].title == "Change in_features of Linear from 8192 to 16384"
    assert [action.is_preferred for action in actions] == [True] + [False] * (len(actions) - 1)
    assert actions[0].kind == types.CodeActionKind.QuickFix
    assert list(actions[0].diagnostics) == [found]
    assert actions[0].edit is None and actions[0].command is None
    await editor.choose(actions[0])
    assert editor.texts[uri] == LINEAR.replace("8192", "16384")
    assert await editor.codes(uri) == []


async def test_actions_are_about_the_text_on_screen_even_right_after_typing(editor: Editor) -> None:
    uri = editor.open("typing.py", LINEAR)
    await editor.repaired(uri)
    editor.replace(uri, "import torch\n", "import torch\n# one line more\n")
    moved = types.Range(types.Position(6, 9), types.Position(6, 14))
    (action, *_) = await editor.actions(uri, moved)
    await editor.choose(action)
    assert editor.texts[uri] == LINEAR.replace("8192", "16384").replace("torch\n", "torch\n# one line more\n", 1)


async def test_no_action_elsewhere_or_of_another_kind(editor: Editor) -> None:
    uri = editor.open("elsewhere.py", LINEAR)
    (found,) = await editor.diagnostics(uri)
    start = types.Position(0, 0)
    assert await editor.actions(uri, types.Range(start, start)) == []
    assert await editor.actions(uri, found.range, only=["refactor"]) == []
    assert len(await editor.actions(uri, found.range, only=["quickfix"])) >= 1


async def test_incremental_typing_with_characters_of_every_width(editor: Editor) -> None:
    uri = editor.open("widths.py", LINEAR)
    await editor.diagnostics(uri)
    editor.replace(uri, '"😋 中文"', '"é", "😋😋 中"')
    editor.replace(uri, "randn(64,", "randn(32,")
    (found,) = await editor.diagnostics(uri)
    assert "(32, 16384)" in found.message
    assert found.range.start == types.Position(5, len('"é", "😋😋 中", '.encode("utf-16-le")) // 2)
    editor.replace(uri, "8192", "16384")
    assert await editor.codes(uri) == []


async def test_while_a_statement_is_being_typed_the_rest_stays_as_it_is(editor: Editor) -> None:
    uri = editor.open("typing.py", LINEAR)
    (found,) = await editor.repaired(uri)
    editor.replace(uri, "torch.randn(64, 16384)", "torch.randn(64, ")
    (kept,) = await editor.diagnostics(uri)
    assert (kept.code, kept.range, kept.message) == (found.code, found.range, found.message)
    editor.replace(uri, "torch.randn(64, ", "torch.randn(64, 8192)")
    assert await editor.codes(uri) == []


async def test_what_stays_unbound_is_analysed_after_a_pause(editor: Editor) -> None:
    uri = editor.open("pause.py", LINEAR)
    await editor.repaired(uri)
    editor.replace(uri, "x = torch.randn(64, 16384)", "x = tor")
    await editor.until(lambda: not editor.client.published[uri].diagnostics)


async def test_lines_end_where_the_editor_ends_them(editor: Editor) -> None:
    text = LINEAR.replace("import torch\n", "import torch\n# form\ffeed, \u2028 and \u0085\n", 1).replace("\n", "\r\n")
    uri = editor.open("endings.py", text)
    (found,) = await editor.diagnostics(uri)
    assert found.range.start == types.Position(6, 9)
    editor.replace(uri, "8192", "16384")
    assert await editor.codes(uri) == []


TRAINING = """import torch
from torch import nn

model = nn.Linear(100, 50)
optimizer = torch.optim.Adam(model.parameters())
for step in range(3):
    loss = model(torch.randn(8, 100)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


async def test_hover_tells_what_a_step_takes_of_memory(editor: Editor) -> None:
    uri = editor.open("train.py", TRAINING)
    await editor.diagnostics(uri)
    text = await editor.hover(uri, 8, 12)
    assert "at the peak" in text and "batch of 8" in text and "parameters" in text
    assert "at the peak" not in await editor.hover(uri, 7, 16)
    editor.replace(uri, "model(torch", "unknown(torch")
    await editor.diagnostics(uri)
    assert "memory of a step: unknown, as" in await editor.hover(uri, 8, 12)


async def test_hover_tells_what_is_known_about_the_tensor(editor: Editor) -> None:
    uri = editor.open("hover.py", '名 = "😋"\nimport torch\n"😋"; x = torch.randn(4, 8, requires_grad=True)\n')
    await editor.diagnostics(uri)
    text = await editor.hover(uri, 2, 6)
    for part in ("x: Tensor[4, 8]", "`float32`", "`cpu`", "requires grad", "inferred from the source"):
        assert part in text
    assert "torch.randn(4, 8, requires_grad=True): Tensor[4, 8]" in await editor.hover(uri, 2, 20)
    assert await editor.hover(uri, 0, 0) == ""


async def test_hover_says_why_a_size_is_unknown(editor: Editor) -> None:
    text = "import torch\nimport yaml\n\nwidth = yaml.safe_load('&a [*a')\ny = torch.nn.Linear(4, width)(torch.ones(2, 4))\n"
    uri = editor.open("why.py", text)
    await editor.diagnostics(uri)
    shown = await editor.hover(uri, 4, 0)
    assert "y: Tensor[2, ?]" in shown and "*why unknown?*" in shown
    assert shown.endswith("; the result of `yaml.safe_load` is not modelled, or depends on data (line 4)")


async def test_hover_on_a_diagnostic_explains_its_rule(editor: Editor) -> None:
    uri = editor.open("rule.py", LINEAR)
    await editor.diagnostics(uri)
    text = await editor.hover(uri, 5, 10)
    assert "[TS101](https://github.com/" in text and "*Why it hurts*" in text
    assert "*Use instead*\n```python\n" in text


async def test_inlay_hints_stand_behind_the_names(editor: Editor) -> None:
    text = 'import torch\n\n"😋"; x = torch.randn(4, 8)\nfor row in x:\n    y = row.long()\n'
    uri = editor.open("hints.py", text)
    await editor.diagnostics(uri)
    hints = await editor.hints(uri)
    assert (2, 7, ": [4, 8] float32") in hints and (4, 5, ": [8] int64") in hints


async def test_hints_move_while_one_types(editor: Editor) -> None:
    uri = editor.open("moving.py", "import torch\n\nx = torch.randn(4, 8)\n")
    await editor.diagnostics(uri)
    editor.replace(uri, "import torch\n", "import torch\nimport math\n")
    assert await editor.hints(uri) == [(3, 1, ": [4, 8] float32")]


async def test_broken_syntax_keeps_the_rest_alive(editor: Editor) -> None:
    uri = editor.open("broken.py", LINEAR + "\ndef half(:\n    x = (\n")
    assert await editor.codes(uri) == ["TS101"]
    for text in ("", "(", "\0", "def f(\n" * 30, "x = '\\N{'\n"):
        editor.retype(uri, text)
        assert await editor.codes(uri) == []
    editor.retype(uri, LINEAR)
    assert await editor.codes(uri) == ["TS101"]


async def test_open_documents_win_over_the_disk_and_reach_those_who_import_them(editor: Editor) -> None:
    editor.write("sizes_of_mine.py", "WIDTH = 16384\n")
    user = editor.open("uses_sizes.py", "from sizes_of_mine import WIDTH\n" + LINEAR.replace("8192", "WIDTH"))
    assert await editor.codes(user) == []
    sizes = editor.open("sizes_of_mine.py", "WIDTH = 100\n", saved=False)
    await editor.until(lambda: editor.client.published[user].diagnostics)
    (found,) = await editor.diagnostics(user)
    assert "in_features=100" in found.message
    editor.replace(sizes, "100", "16384")
    await editor.until(lambda: not editor.client.published[user].diagnostics)


async def test_closing_clears(editor: Editor) -> None:
    uri = editor.open("closing.py", LINEAR)
    assert await editor.codes(uri) == ["TS101"]
    editor.close(uri)
    await editor.until(lambda: not editor.client.published[uri].diagnostics)
    assert await editor.hover(uri, 5, 10) == ""


async def test_an_unsaved_document_is_analysed(editor: Editor) -> None:
    uri = editor.open_uri("untitled:Untitled-1", LINEAR)
    (found,) = await editor.repaired(uri)
    (action, *_) = await editor.actions(uri, found.range)
    await editor.choose(action)
    assert await editor.codes(uri) == []
    assert await editor.lenses(uri) == []


LENSES = {
    "guard": ("import torch\n\ndef main(): ...\n\nif __name__ == '__main__':\n    main()\n", 4),
    "guard_reversed": ("import torch\nif '__main__' == __name__:\n    pass\n", 1),
    "loop": ("import torch\nfor i in range(3):\n    print(i)\n", 0),
    "call": ("from torch import nn\nnn.Linear(1, 2)\n", 0),
    "own_call": ("import torch\ndef f(): ...\nx = f()\n", 0),
    "module": ("import torch\nfrom torch import nn\ndevice = torch.device('cpu')\nclass Net(nn.Module): ...\n", None),
    "no_torch": ("import json\nif __name__ == '__main__':\n    print(1)\n", None),
    "beside": ("from net_beside import Net\nif __name__ == '__main__':\n    Net()\n", 1),
    "broken": ("import torch\ndef f(:\nif __name__ == '__main__':\n    f()\n", 2),
    "empty": ("", None),
}


@pytest.mark.parametrize("name", LENSES)
async def test_the_code_lens_stands_above_what_is_run(editor: Editor, name: str) -> None:
    editor.write("net_beside.py", "import torch\n")
    text, line = LENSES[name]
    uri = editor.open(f"lens_{name}.py", text)
    expected = [] if line is None else [(line, "▶ Run and Diagnose", "torchsleuth.runAndDiagnose")]
    assert await editor.lenses(uri) == expected


async def test_requests_about_documents_that_are_not_open_are_answered(editor: Editor) -> None:
    uri = (editor.folder / "never_opened.py").as_uri()
    editor.texts[uri] = ""
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    assert await editor.hover(uri, 3, 3) == "" and await editor.lenses(uri) == []
    assert await editor.hints(uri) == [] and await editor.actions(uri, nowhere) == []


async def test_the_server_itself_never_loads_torch(editor: Editor) -> None:
    with open(f"/proc/{editor.server_pid}/maps") as maps:
        assert "libtorch" not in maps.read()
    await editor.diagnostics(editor.open("loads.py", LINEAR))  # the worker is up
    (worker,) = [pid for pid, command in children(editor.server_pid).items() if "torchsleuth.worker" in command]
    with open(f"/proc/{worker}/maps") as maps:
        assert "libtorch" in maps.read()


async def test_nothing_popped_up(editor: Editor) -> None:
    assert editor.client.messages == []
