"""The state of a recurrent layer that is kept from batch to batch, where the last batch of the loader is smaller."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder, shape_in
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import add_argument
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, note
from torchsleuth.explanations import BY_FAMILY
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_dotted,
    is_literal,
    keyword_of,
    nodes_in,
    stands_on,
)

_HIDDEN = r"Expected hidden(?:\[\d\])? size \(([\d, ]+)\), got \[([\d, ]+)\]"
_CELL = r"Input batch size (\d+) doesn't match hidden\d? batch size (\d+)"


def _smaller_batch(case: Case) -> tuple[int, int] | None:
    """The sizes of this batch and of the one that the state is of, where that is the larger one."""
    found = re.search(_HIDDEN, case.crash["message"])
    if found is not None:
        wanted, got = shape_in(found[1]), shape_in(found[2])
        if len(wanted) != len(got) or len(wanted) != 3 or wanted[::2] != got[::2]:
            return None
        batch, state = wanted[1], got[1]
    elif (cell := re.search(_CELL, case.crash["message"])) is not None:
        batch, state = int(cell[1]), int(cell[2])
    else:
        return None
    return (batch, state) if batch < state else None


def is_of_state(case: Case) -> bool:
    """Whether a crash is about the state that a recurrent layer was given."""
    return re.search(f"{_HIDDEN}|{_CELL}", case.crash["message"]) is not None


def _loaders(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The loaders whose last batch may be smaller, those first that the operands come from."""
    reached = [(file, node) for operand in case.frame.operands() for file, node in made_from(case, case.frame, operand)]
    known = [(file, node) for file in case.files for node in file.all(ast.Call)]
    found: dict[int, tuple[CrashFrame, ast.Call]] = {}
    for file, node in [*reached, *known] if _smaller_batch(case) is not None else ():
        if isinstance(node, ast.Call) and called(node) == "DataLoader" and keyword_of(node, "drop_last") is None:
            found.setdefault(id(node), (file, node))
    first = [item for item in found.values() if any(item[1] is node for _, node in reached)]
    return first or list(found.values())


def _kept(case: Case) -> list[Filled]:
    """Where the state is kept in the object: ``self.state = h.detach()``."""
    names = {part.attr for part in case.frame.operands() if is_dotted(part, "self")}
    return [
        (case.frame, value)
        for kind in case.frame.all(ast.ClassDef)
        if stands_on(kind, case.frame.line)
        for node in nodes_in(kind, ast.Assign)
        for target, value in assigned_pairs(node)
        if is_dotted(target, "self")
        and target.attr in names
        and not is_literal(value, None)
        and node.lineno >= case.frame.line
    ]


def _carried_here(case: Case) -> Iterator[Related]:
    for file, node in _loaders(case)[:2]:
        yield note(file.source, node, "error.last_batch")
    if _smaller_batch(case) is not None:
        for file, value in _kept(case)[:1]:
            yield note(file.source, value, "error.state_kept")


def _whole_batches(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``DataLoader(rows, batch_size=32)`` → ``…, drop_last=True)``, where the state is that of a whole batch."""
    for file, node in _loaders(case):
        yield add_argument(file.source, node, "drop_last=True", safe=False)


def _sizes(case: Case) -> dict[str, str]:
    batch, state = _smaller_batch(case) or (0, 0)
    return {"batch": str(batch), "state": str(state)}


ENTRIES = (
    entry(
        BY_FAMILY,
        f"{_HIDDEN}|{_CELL}",
        "error.smaller_batch",
        applies=lambda case: bool(_loaders(case)),
        values=_sizes,
    ),
)
BUILDERS: tuple[tuple[str, Builder], ...] = ((f"{_HIDDEN}|{_CELL}", _whole_batches),)
PLACES = ((f"{_HIDDEN}|{_CELL}", _carried_here),)
