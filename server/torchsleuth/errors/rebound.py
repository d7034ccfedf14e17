"""A name that a result takes from the function which made it: ``loss = loss(prediction, target)`` in a loop."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, enclosing_function
from torchsleuth.messages import message
from torchsleuth.schema import Fix
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_function_call
from torchsleuth.syntax.rebound import renamed_result


def _own_name(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """The result gets a name of its own, wherever it is read."""
    node, frame = case.frame.node, case.frame
    if is_function_call(node):
        scope = enclosing_function(frame.tree, frame.line) or frame.tree
        name, places = renamed_result(scope, node.func.id)
        if places:
            title = message("fix.own_name", name=name, old=node.func.id)
            yield Fix(title, tuple(edits.replace(frame.source, place, name) for place in places))


BUILDERS: tuple[tuple[str, Builder], ...] = ((r"'\w+' object is not callable", _own_name),)
