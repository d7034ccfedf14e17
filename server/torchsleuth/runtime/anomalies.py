"""Where anomaly detection says that the forward of a function was, whose gradient is not a number.

It keeps the stack of each forward in the graph, and prints the one of the function that failed as a warning. The text of a
warning stays with the module that gave it; where warnings are shown again and again, or never, the graph is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from torchsleuth.runtime.graphs import Graph

_FAILED = re.compile(r"Function '(\w+)' returned nan values")
_STACK = "traceback_"


def forward_of(message: str, frames: Iterable[FrameType]) -> str | None:
    """The stack of the forward as text, None where it is not known. `frames`: those of the failing ``backward()``."""
    found = _FAILED.search(message)
    if found is None:
        return None
    name = found[1]
    stacks = []
    for frame in frames:
        stacks += list(_warned(frame, name)) or list(_kept(frame, name))
    return stacks[-1] if len(set(stacks)) == 1 else None


def _warned(frame: FrameType, name: str) -> Iterator[str]:
    known = frame.f_globals.get("__warningregistry__")
    texts = [key[0] for key in list(known) if isinstance(key, tuple) and key] if isinstance(known, dict) else []
    begin = f"Error detected in {name}. Traceback of forward call"
    yield from (text for text in texts if isinstance(text, str) and text.startswith(begin))


def _kept(frame: FrameType, name: str) -> Iterator[str]:
    outputs: Any = frame.f_locals.get("t_outputs")
    for output in outputs if isinstance(outputs, tuple) else ():
        root = getattr(output, "grad_fn", None)
        for node in Graph(root).nodes if root is not None else ():
            if node.name == name and _STACK in node.function.metadata:
                yield "".join(node.function.metadata[_STACK])
