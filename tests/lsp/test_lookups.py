"""Modules that an analysis misses are looked for in the background, and the document is analysed again."""

from __future__ import annotations

import pytest

from tests.lsp.editor import Editor
from tests.unit.test_lookup import NET, TRAIN

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_module_beside_the_roots_is_found_and_the_script_analysed_again(editor: Editor) -> None:
    editor.write("libs/mylib/__init__.py", "from .net import *\n")
    net = editor.write("libs/mylib/net.py", NET).as_uri()
    editor.open("scripts/train.py", TRAIN)
    await editor.until(lambda: net in editor.client.published and editor.client.published[net].diagnostics)
    assert [item.code for item in editor.client.published[net].diagnostics] == ["TS101"]
