"""Statements that do not parse right now: whatever they mention may have become anything there."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from torchsleuth.interp.frames import Frame
from torchsleuth.interp.trace import LOOP_METHODS
from torchsleuth.interp.values import UNKNOWN

if TYPE_CHECKING:
    from torchsleuth.interp.interpreter import Interpreter

_WORD = re.compile(r"(\.\s*)?([^\W\d]\w*)")


def pass_over(interp: Interpreter, node: ast.Pass, frame: Frame) -> None:
    """What a line may have done that was replaced by ``pass``: bind its names, and call its methods."""
    for dot, word in _WORD.findall(frame.source.line(node.lineno)):
        if dot and word in LOOP_METHODS:
            interp.event(word, UNKNOWN, node, frame)
        value = interp.lookup(word, frame)
        if not dot and value is not UNKNOWN:
            interp.escape((value,))
            if word in frame.names:
                interp.assign_name(word, UNKNOWN, frame)
