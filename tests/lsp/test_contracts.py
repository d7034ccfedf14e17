"""Contracts in the editor: when they are asked for, what hovers, hints and lenses say of them, and that none is out of date."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from lsprotocol import types

from tests.lsp.editor import Editor

Start = Callable[..., Awaitable[Editor]]

BLOCKS = """import torch
from torch import nn


class Down(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 3, padding=1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        y = self.conv(x)
        return self.pool(y)


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stages = nn.ModuleList([Down(3, 16), Down(16, 32)])
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((2, 3)))
"""
DOWN = """class Down(i, o)
    forward(x: [N, i, H, W]) -> [N, o, H//2, W//2]
    where H >= 2, W >= 2"""


async def _lenses(editor: Editor, uri: str, count: int) -> list[tuple[int, str]]:
    """The lenses of contracts, once there are so many."""
    while True:
        seen = editor.client.lens_refreshes
        found = [(line, title) for line, title, command in await editor.lenses(uri) if not command]
        if len(found) == count:
            return found
        await editor.until(lambda seen=seen: editor.client.lens_refreshes > seen)


async def _over(editor: Editor, uri: str, text: str, inside: str = "") -> str:
    """The hover over a part of a text: over `inside` of it, or its beginning."""
    before = editor.texts[uri].split(text)[0]
    lines = (before + text.split(inside)[0] if inside else before).split("\n")
    return await editor.hover(uri, len(lines) - 1, len(lines[-1]) + 1)


async def test_the_contract_of_a_class_is_seen_where_it_is_defined_and_called(start: Start) -> None:
    editor = await start(interpreter=sys.executable, contractLenses=True)
    uri = editor.open("blocks.py", BLOCKS)
    found = await _lenses(editor, uri, 2)
    assert found == [
        (4, "[N, i, H, W] → [N, o, H//2, W//2] where H >= 2, W >= 2"),
        (15, "[N, 3, H, W] → [N, classes] where H >= 4, W >= 4"),
    ]
    assert DOWN in await _over(editor, uri, "class Down", "Down")
    assert DOWN in await _over(editor, uri, "def forward", "forward")
    assert DOWN in await _over(editor, uri, "Down(3, 16)")
    assert DOWN in await _over(editor, uri, "stage(x)")
    assert DOWN not in await _over(editor, uri, "nn.Linear", "Linear")
    hints = {line: label for line, _, label in await editor.hints(uri)}
    assert hints[10] == ": [N, i, H, W] float32 ?"
    assert hints[11] == ": [N, o, H, W] float32 ?"
    # Lines above move it, and so does what it does not depend on.
    editor.replace(uri, "import torch\n", "import torch\n\n")
    editor.replace(uri, "self.head(x.mean((2, 3)))", "self.head(x.mean(dim=(2, 3)))")
    assert DOWN in await _over(editor, uri, "class Down", "Down")
    assert "class Net" not in await _over(editor, uri, "class Net", "Net")
    assert (await _lenses(editor, uri, 2))[1] == (16, found[1][1])
    # What is another text has no contract before it is inferred again.
    editor.replace(uri, "MaxPool2d(2)", "MaxPool2d(4)")
    assert "forward(x:" not in await _over(editor, uri, "class Down", "Down")
    assert "o, H//4, W//4]" in (await _lenses(editor, uri, 2))[0][1]


async def test_in_a_block_that_is_called_with_several_sizes_the_contract_fills_what_differs(start: Start) -> None:
    editor = await start(interpreter=sys.executable, contractLenses=True)
    called = BLOCKS + "\n\nNet(10)(torch.randn(8, 3, 32, 32))\n"
    uri = editor.open("called.py", called)
    await editor.settled(uri)
    await _lenses(editor, uri, 2)
    hints = {line: label for line, _, label in await editor.hints(uri)}
    assert hints[10] == ": [8, i, H, W] float32 ?"
    assert hints[11] == ": [8, o, H, W] float32 ?"
    text = await _over(editor, uri, "y = self.conv(x)")
    # Each size with a link to the call that gives it.
    call = f"([line 24]({uri}#L24,17))"
    assert f"at its calls: `[8, 16, 32, 32]` {call}, `[8, 32, 16, 16]` {call}" in text
    assert "by the contract of Down" in text


async def test_the_sizes_at_the_calls_of_a_function_have_links_without_a_contract_too(start: Start) -> None:
    editor = await start(interpreter=sys.executable)
    text = "import torch\n\n\ndef halve(x):\n    y = x[::2]\n    return y\n\n\nhalve(torch.zeros(8, 3))\nhalve(torch.zeros(4, 3))\n"
    uri = editor.open("calls.py", text)
    while "Tensor" not in (text := await _over(editor, uri, "x[::2]", "::2")):
        await asyncio.sleep(0.05)
    first, second = f"([line 9]({uri}#L9,1))", f"([line 10]({uri}#L10,1))"
    assert f"at its calls: `[4, 3]` {first}, `[2, 3]` {second}" in text


async def test_the_class_may_be_imported_from_another_open_document(start: Start) -> None:
    editor = await start(interpreter=sys.executable, contractLenses=True)
    model = editor.open("blocks.py", BLOCKS)
    main = "import blocks\nfrom blocks import Down as Half\n\nhalf = Half(3, 8)\nhalf(images)\nblocks.Net(10)\n"
    uri = editor.open("main.py", main)
    await _lenses(editor, model, 2)
    assert DOWN in await _over(editor, uri, "Half(3, 8)")
    assert DOWN in await _over(editor, uri, "half(images)")
    assert "class Net(classes)" in await _over(editor, uri, "blocks.Net", "Net")


async def test_the_class_may_be_imported_from_a_file_that_is_not_open(start: Start) -> None:
    editor = await start(interpreter=sys.executable, contractLenses=True)
    editor.write("parts/blocks.py", BLOCKS)
    main = "from parts.blocks import Down as Half, Net\n\n\ndef f(images):\n    half = Half(3, 8)\n    return half(images)\n"
    uri = editor.open("main.py", main)
    await editor.settled(uri)
    while DOWN not in await _over(editor, uri, "Half(3, 8)"):
        await asyncio.sleep(0.05)
    assert DOWN in await _over(editor, uri, "half(images)")


async def test_an_edit_of_what_it_imports_makes_a_contract_anew(start: Start) -> None:
    editor = await start(interpreter=sys.executable, contractLenses=True)
    sizes = editor.open("sizes.py", "WIDTH = 8\n")
    text = BLOCKS.replace("nn.Linear(32, classes)", "nn.Linear(32, WIDTH)").replace(
        "import torch\n", "from sizes import WIDTH\n"
    )
    uri = editor.open("net.py", text)
    assert (await _lenses(editor, uri, 2))[1][1].startswith("[N, 3, H, W] → [N, 8]")
    editor.replace(sizes, "8", "4")
    await editor.diagnostics(sizes)
    await editor.settled(uri)
    assert (await _lenses(editor, uri, 2))[1][1].startswith("[N, 3, H, W] → [N, 4]")


async def test_another_request_does_not_wait_for_a_contract(start: Start, double: str, tmp_path: Path) -> None:
    editor = await start(interpreter=double, contractLenses=True)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    begun = asyncio.get_running_loop().run_in_executor(None, pipe.read_bytes)
    slow = editor.open("slow.py", f"# infer-slowly {pipe}\ndef f(x): ...\n")
    assert await begun == b"begun"
    # The worker is busy with the contract until that is withdrawn.
    other = editor.open("other.py", "# infer\ndef g(x): ...\n")
    assert await editor.codes(other) == ["TS000"]
    editor.replace(slow, f"infer-slowly {pipe}", "infer")
    assert await editor.codes(slow) == ["TS000"]
    assert await _lenses(editor, other, 1) == [(1, "[n] → [n]")]
    assert await _lenses(editor, slow, 1) == [(1, "[n] → [n]")]


async def test_contracts_may_be_switched_off(start: Start, double: str) -> None:
    def no_questions(capabilities: types.ClientCapabilities) -> None:
        capabilities.workspace.configuration = False

    editor = await start(interpreter=double, contracts=False, contractLenses=True, adapt=no_questions)
    uri = editor.open("off.py", "# infer\ndef f(x): ...\n")
    await editor.settled(uri)
    assert await editor.lenses(uri) == [] and await editor.hover(uri, 1, 5) == ""
    changed = types.DidChangeConfigurationParams({"torchsleuth": {"contracts": True}})
    editor.client.workspace_did_change_configuration(changed)
    assert await _lenses(editor, uri, 1) == [(1, "[n] → [n]")]


async def test_a_contract_can_be_written_into_the_text(start: Start) -> None:
    editor = await start(interpreter=sys.executable, contractLenses=True)
    uri = editor.open("blocks.py", BLOCKS)
    await _lenses(editor, uri, 2)
    at = types.Range(types.Position(4, 0), types.Position(4, 0))
    (action,) = await editor.actions(uri, at, only=["refactor"])
    assert (action.title, action.kind, action.diagnostics) == ("Write the contract of Down", "refactor.rewrite", None)
    # The edit is made for the text in which it is chosen.
    editor.replace(uri, "import torch\n", "import torch\n\n")
    await editor.choose(action)
    lines = "        # x: (N, i, H, W)\n        # returns: (N, o, H//2, W//2)\n        # where H >= 2, W >= 2\n"
    assert f"def forward(self, x):\n{lines}        y = self.conv(x)" in editor.texts[uri]
    assert not await editor.actions(uri, at, only=["quickfix"])


async def test_a_model_in_a_file_of_its_own_has_the_hints_of_its_callers(start: Start) -> None:
    editor = await start(interpreter=sys.executable, contracts=True)
    model = """import torch.nn as nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(784, width)

    def forward(self, x):
        B, T, C = x.shape
        x = x.flatten(1)
        h = self.first(x)
        return h
"""
    train = "import torch\nfrom net import Net\n\nnet = Net(256)\nnet(torch.randn({size}, 28, 28))\n"
    other = editor.write("train.py", train.replace("{size}", "64"))
    uri = editor.open("net.py", model)
    await editor.settled(uri)

    async def hints(wanted: str) -> list[str]:
        while wanted not in (labels := [label for _, _, label in await editor.hints(uri)]):
            await asyncio.sleep(0.05)
        return labels

    assert (await hints(": [B=64, width=256] float32"))[0] == ": [B=64, T=28, C=28] float32"
    # Two callers with different sizes are two calls, with links to both.
    editor.write("test.py", train.replace("{size}", "8"))
    editor.replace(uri, "        return h\n", "        return h  # changed\n")
    await editor.settled(uri)
    await hints(": [B, width=256] float32 ?")
    text = await _over(editor, uri, "h = self.first(x)")
    assert "`[64, 256]` ([train.py, line 5]" in text and "`[8, 256]` ([test.py, line 5]" in text
    # What the document itself calls stays as it is.
    editor.replace(uri, "import torch.nn as nn\n", "import torch\nimport torch.nn as nn\n")
    editor.replace(uri, "return h  # changed\n", "return h\n\n\nNet(8)(torch.zeros(2, 28, 28))\n")
    await editor.settled(uri)
    assert (await hints(": [B=2, width=8] float32"))[0] == ": [B=2, T=28, C=28] float32"
    assert other.exists()
