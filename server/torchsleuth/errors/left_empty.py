"""Lists that stayed empty, since what a loop goes through had nothing in it: a part of a whole that begins behind its end."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.provenance import made_from, straight
from torchsleuth.errors.reached import Filled, around, bound, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import is_binary, is_function_call, is_method_call, nodes_in, plain_name

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def _gone_through(case: Case) -> Iterator[Filled]:
    """The things that the loops go through which fill the list that the failing call got."""
    given = case.frame.argument(0, "tensors", "arrays", "objs", "sequences")
    if given is None:
        return
    for file, node in [(case.frame, given), *straight(case, case.frame, given)]:
        if isinstance(node, _Comprehension):
            yield from ((file, part.iter) for part in node.generators)
        name = plain_name(node)
        for loop in nodes_in(around(file.tree, node), ast.For) if name is not None else ():
            fills = (part for part in nodes_in(loop, ast.Call) if is_method_call(part, "append", "extend"))
            if any(plain_name(part.func.value) == name for part in fills if is_method_call(part)):
                yield file, loop.iter


def _parts(case: Case) -> list[tuple[CrashFrame, ast.Subscript, ast.Slice]]:
    """The parts of a whole that such a loop goes through: ``paths[number * each : (number + 1) * each]``."""
    return [
        (file, node, node.slice)
        for place, whole in _gone_through(case)
        for file, node in made_from(case, place, whole)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        if not all(part is None or isinstance(part, ast.Constant) for part in (node.slice.lower, node.slice.upper))
    ][:1]


def _parts_here(case: Case) -> Iterator[Related]:
    for file, node, _ in _parts(case):
        yield note(file.source, node, "error.empty_part")


def _dealt_out(case: Case, found: object) -> Iterator[Fix]:
    """``paths[number * each : (number + 1) * each]`` → ``paths[number::count]``, where ``each`` is the length divided by the count:
    each then gets one at least, as long as there are as many."""
    for file, node, part in _parts(case):
        if not (is_binary(part.lower, ast.Mult) and is_binary(part.upper, ast.Mult)):
            continue
        for number, each in ((part.lower.left, part.lower.right), (part.lower.right, part.lower.left)):
            ends = {file.text(part.upper.left).strip("() "), file.text(part.upper.right).strip("() ")}
            count = _count(file, bound(file, each), file.text(node.value))
            if count is not None and ends == {f"{file.text(number)} + 1", file.text(each)}:
                yield replace(
                    file, node, f"{file.text(node.value)}[{file.text(number)}::{file.text(count)}]", safe=False
                )
                return


def _count(file: CrashFrame, each: ast.expr, whole: str) -> ast.expr | None:
    """``count`` of ``math.ceil(len(whole) / count)`` and ``len(whole) // count``."""
    for node in nodes_in(each, ast.BinOp):
        if is_binary(node, ast.Div) or is_binary(node, ast.FloorDiv):
            if is_function_call(node.left, "len") and [file.text(part) for part in node.left.args] == [whole]:
                return node.right
    return None


_NOTHING = r"at least one array|expect(?:s|ed) a non-empty|empty list of sequences|No objects to concatenate"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_NOTHING, _dealt_out),)
PLACES = ((_NOTHING, _parts_here),)
