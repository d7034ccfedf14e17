"""All entries in the order in which they are tried, and the look-up of a message."""

from __future__ import annotations

import re

from torchsleuth.errors import (
    absent,
    asked,
    autograd,
    built,
    callbacks,
    carried,
    converted,
    data,
    devices,
    dtypes,
    explained,
    exported,
    fields,
    inputs,
    keys,
    layers,
    losses,
    memoryless,
    modules,
    packed,
    plain,
    processes,
    sent_back,
    several,
    shapes,
)
from torchsleuth.errors.case import Case, CrashFrame, Sources
from torchsleuth.errors.entry import ErrorEntry, entry
from torchsleuth.explanations import BY_FAMILY
from torchsleuth.schema import Json

CATALOGUE: tuple[ErrorEntry, ...] = (
    *processes.ENTRIES,
    *memoryless.ENTRIES,
    *absent.ENTRIES,
    *asked.ENTRIES,
    *packed.ENTRIES,
    *carried.ENTRIES,
    *exported.ENTRIES,
    *sent_back.ENTRIES,
    *several.ENTRIES,
    *devices.ENTRIES,
    *losses.ENTRIES,
    *callbacks.ENTRIES,
    *fields.ENTRIES,
    *built.ENTRIES,
    *converted.ENTRIES,
    *inputs.ENTRIES,
    *explained.ENTRIES,
    *data.ENTRIES,
    *shapes.ENTRIES,
    *layers.ENTRIES,
    *autograd.ENTRIES,
    *dtypes.ENTRIES,
    *modules.ENTRIES,
    *keys.ENTRIES,
    *plain.ENTRIES,
)

OPERATOR_ERROR = entry(BY_FAMILY, r"", "error.generic")
"""An error of PyTorch's that no entry knows."""
SCRIPT_ERROR = entry("TS918", r"", "error.script")
"""An error that has nothing to do with PyTorch."""


def find(crash: Json, sources: Sources) -> tuple[ErrorEntry, Case]:
    """The first entry that a crash belongs to, and the crash as that entry reads it."""
    for candidate in CATALOGUE:
        match = candidate.pattern.search(crash["message"] or crash["type"])
        if match is not None:
            case = Case(crash, sources, match)
            if candidate.applies(case):
                return candidate, case
    fallback = OPERATOR_ERROR if from_torch(crash, CrashFrame(crash["frames"][0], sources)) else SCRIPT_ERROR
    match = fallback.pattern.search("")
    assert match is not None
    return fallback, Case(crash, sources, match)


def from_torch(crash: Json, frame: CrashFrame) -> bool:
    """Whether torch raised the exception, or einops: from its Python frames, or from an operator in the user's own line."""
    if any(re.search(r"[\\/](?:torch|einops)[\\/]", call["path"]) for call in crash["calls"][:1]):
        return True
    if crash["type"] not in ("RuntimeError", "IndexError", "TypeError", "ValueError"):
        return False
    if crash["type"] == "RuntimeError" and re.search(r"\bvmap\b|\btorch\.|[Tt]ensors?\b", crash["message"]):
        return True
    operands = crash["frames"][0]["operands"]
    called = re.match(r"(?:torch|nn|F)\.[\w.]*\w", frame.text(frame.node)) if frame.node is not None else None
    return called is not None or any(operand["value"]["kind"] == "tensor" for operand in operands)
