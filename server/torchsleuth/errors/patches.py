"""Pictures and sequences that are cut into pieces which do not go into them: cropped to whole pieces."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case
from torchsleuth.messages import message
from torchsleuth.schema import Fix
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_binary, is_display, is_method_call


def _cropped(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``x.reshape(b, c, h // p, p, w // p, p)`` → ``x[:, :, : h // p * p, : w // p * p].reshape(…)``."""
    node, frame = case.frame.node, case.frame
    if not is_method_call(node):
        return
    receiver = node.func.value
    tensor = frame.tensor(receiver)
    given = node.args[0].elts if len(node.args) == 1 and is_display(node.args[0]) else node.args
    pieces = list(_dimensions(list(given)))
    if tensor is None or len(pieces) != len(tensor["shape"]) or not any(pieces):
        return
    slices = ", ".join(":" if part is None else f": {frame.text(part)} * {frame.text(part.right)}" for part in pieces)
    text = frame.text(receiver)
    new = f"{text}[{slices}]"
    title = message("fix.crop", tensor=text)
    yield Fix(title, (edits.replace(frame.source, receiver, new),), safe=False)


def _dimensions(sizes: list[ast.expr]) -> Iterator[ast.BinOp | None]:
    """For each dimension the number of its pieces, None where it stays whole: ``h // p, p`` is one of them."""
    index = 0
    while index < len(sizes):
        size = sizes[index]
        following = sizes[index + 1] if index + 1 < len(sizes) else None
        if is_binary(size, ast.FloorDiv) and following is not None:
            if ast.dump(size.right) == ast.dump(following):
                yield size
                index += 2
                continue
        yield None
        index += 1


BUILDERS: tuple[tuple[str, Builder], ...] = ((r"is invalid for input of size", _cropped),)
