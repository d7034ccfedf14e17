"""The contracts of open documents are kept as long as they may be shown again, and no longer."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from torchsleuth.lsp.contracts import MAX_PAST, Contracts
from torchsleuth.schema import FileAnalysis
from torchsleuth.syntax.dependence import Definition
from torchsleuth.syntax.text import SourceText

PATH = "model.py"
TEXT = """import torch


def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * {number}


def half(x: torch.Tensor) -> torch.Tensor:
    return x / 2
"""


def test_many_edits_leave_few_contracts() -> None:
    asked: list[str] = []
    document: Any = SimpleNamespace(path=PATH, source=None)
    documents = SimpleNamespace(at=lambda path: document, source=lambda path: document.source)
    client: Any = SimpleNamespace(
        documents=documents, settings_of=lambda path: SimpleNamespace(contracts=True), roots=tuple
    )

    async def ask(document: Any, definition: Definition | None) -> FileAnalysis:
        if definition is not None:  # else it is asked what other files call
            asked.append(definition.node.name)
        return FileAnalysis(PATH)

    async def idle() -> None:
        await asyncio.sleep(0)

    async def edit(count: int) -> int:
        contracts = Contracts(client, idle, ask, lambda: None)
        for number in range(count):
            document.source = SourceText(PATH, TEXT.format(number=number))
            document.text = document.source.text
            contracts.request(PATH)
            while contracts.busy:
                await asyncio.sleep(0)
        return len(contracts)

    assert asyncio.run(edit(3 * MAX_PAST)) == MAX_PAST + 2
    assert asked.count("half") == 1 and asked.count("scaled") == 3 * MAX_PAST
