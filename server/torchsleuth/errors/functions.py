"""Repairs of the user's own autograd.Function: the gradients that it returns, and what it saves for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import combinations

from torchsleuth.errors.calls import Builder, files_of, shape_in
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import append, append_in, replace
from torchsleuth.errors.reached import bound, note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    is_attribute,
    is_method_call,
    names_in,
    nodes_in,
    parts_of_tuple,
    plain_name,
    stands_on,
)


def _all_gradients(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``return grad * scale`` → ``return grad * scale, None``: a gradient, or None, for each argument of forward."""
    missing = int(found[2]) - int(found[3])
    for frame, returned in _returned_gradients(case, found[1]):
        text = frame.text(returned)
        if missing > 0:
            yield replace(frame, returned, text + ", None" * missing)
        elif isinstance(returned, ast.Tuple) and len(returned.elts) > -missing > 0:
            yield replace(frame, returned, ", ".join(frame.text(item) for item in returned.elts[:missing]))


def _gradient_of_shape(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``return grad`` → ``return grad.unsqueeze(1).expand(4, 5)``: of the shape of the argument."""
    got, wanted = shape_in(found[3]), shape_in(found[4])
    for frame, returned in _returned_gradients(case, found[1]):
        items = parts_of_tuple(returned)
        index = int(found[2])
        if index >= len(items):
            continue
        node = bound(frame, items[index])
        if (summed := _summed(got, wanted)) is not None:
            yield append_in(frame.source, node, summed)
        if len(got) == len(wanted) and sorted(got) == sorted(wanted) and len(got) == 2:
            yield append_in(frame.source, node, ".T")
        elif len(got) < len(wanted):
            for dimension in range(len(wanted)):
                if len(got) + 1 == len(wanted) and got == [*wanted[:dimension], *wanted[dimension + 1 :]]:
                    sizes = [-1] * len(wanted)
                    sizes[dimension] = wanted[dimension]
                    yield append_in(frame.source, node, f".unsqueeze({dimension}).expand({', '.join(map(str, sizes))})")


def _summed(got: list[int], wanted: list[int]) -> str | None:
    """``.sum(1)`` for a gradient of ``[48, 10]`` where one of ``[48]`` is wanted: over the dimensions that were broadcast."""
    if len(got) == len(wanted):
        dims = [place for place, (one, other) in enumerate(zip(got, wanted)) if one != other]
        over = ", ".join(map(str, dims)) if len(dims) == 1 else str(tuple(dims))
        return f".sum({over}, keepdim=True)" if dims and all(wanted[place] == 1 for place in dims) else None
    if len(got) < len(wanted):
        return None
    if not wanted:
        return ".sum()"
    count = len(got) - len(wanted)
    ways = [
        dims
        for dims in combinations(range(len(got)), count)
        if [size for place, size in enumerate(got) if place not in dims] == wanted
    ]
    if not ways:
        return None
    dims = list(ways[0])  # those in front, as broadcasting adds them, where several would do
    return f".sum({dims[0] if count == 1 else tuple(dims)})"


def _gradient_here(case: Case) -> Iterator[Related]:
    """Where the gradient is computed that does not fit."""
    found = re.search(_INVALID, case.crash["message"])
    for frame, returned in _returned_gradients(case, found[1]) if found is not None else ():
        items = parts_of_tuple(returned)
        if (
            found is not None
            and int(found[2]) < len(items)
            and (made := bound(frame, items[int(found[2])])) is not returned
        ):
            yield note(frame.source, made, "error.gradient_here", got=found[3], wanted=found[4])


def _returned_gradients(case: Case, name: str) -> Iterator[tuple[CrashFrame, ast.expr]]:
    """The results of the ``backward`` of a class."""
    for frame in files_of(case):
        for node in frame.all(ast.ClassDef):
            if node.name == name:
                for method in of_kind(node.body, ast.FunctionDef):
                    if method.name == "backward":
                        returns = list(nodes_in(method, ast.Return))
                        yield from ((frame, part.value) for part in returns if part.value is not None)


def saved_values(case: Case) -> list[tuple[CrashFrame, ast.ClassDef, ast.Call]]:
    """The ``save_for_backward`` of the Function that was applied at the failing line, with its class."""
    node = case.frame.node
    name = node.func.value if is_method_call(node) else None
    wanted = plain_name(name)
    found = []
    for frame in files_of(case):
        for kind in frame.all(ast.ClassDef):
            for part in nodes_in(kind, ast.Call):
                if is_attribute(part.func, "save_for_backward"):
                    found.append((frame, kind, part))
    return [item for item in found if item[1].name == wanted] or found[:1]


def saved_here(case: Case) -> list[Related]:
    spans = [frame.source.span(call) for frame, _, call in saved_values(case)]
    return [Related(span.path, span.start, span.end, message("error.saved_here")) for span in spans]


def saved_on_context(case: Case) -> Iterator[Fix]:
    """``ctx.save_for_backward(x, n)`` → ``ctx.save_for_backward(x)`` and ``ctx.n = n``; ``backward`` reads it from there."""
    for frame, kind, call in saved_values(case):
        index = int(case.match[1])
        number = as_kind(call.args[index], ast.Name) if index < len(call.args) else None
        context = frame.text(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        reads = [
            part
            for part in nodes_in(kind, ast.Assign)
            if is_attribute(part.value, "saved_tensors")
            and isinstance(part.targets[0], ast.Tuple)
            and len(part.targets[0].elts) == len(call.args)
        ]
        save = edits.enclosing_statement(frame.tree, call)
        if number is None or len(reads) != 1 or save is None:
            continue
        read, source = reads[0], frame.source
        names = as_kind(read.targets[0], ast.Tuple)
        assert names is not None and isinstance(read.value, ast.Attribute)
        left = [source.segment(item) for place, item in enumerate(names.elts) if place != index]
        target, owner = source.segment(names.elts[index]), source.segment(read.value.value)
        changes: list[Edit] = [
            edits.remove_element(source, call.args, index),
            edits.insert_line_before(source, save, f"{context}.{number.id} = {number.id}"),
            edits.replace(source, names, f"{', '.join(left)}," if len(left) == 1 else ", ".join(left)),
            edits.insert_line_before(source, read, f"{target} = {owner}.{number.id}"),
        ]
        yield Fix(message("fix.save_on_context", name=number.id, context=context), tuple(changes))


def applied(case: Case) -> Iterator[Fix]:
    """``self.sign(x)`` → ``self.sign.apply(x)``: what its class has, an object of it has too."""
    if isinstance(case.frame.node, ast.Call):
        yield append(case.frame, case.frame.node.func, ".apply")


def _saved_too(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``ctx.save_for_backward(x)`` → ``ctx.save_for_backward(x, low)``, where ``backward`` takes the variables ``x`` and ``low`` of
    ``forward`` from there."""
    statement, frame = as_kind(case.frame.statement, ast.Assign), case.frame
    if statement is None or not is_attribute(statement.value, "saved_tensors"):
        return
    wanted = [frame.text(item) for item in parts_of_tuple(statement.targets[0])]
    for kind in frame.all(ast.ClassDef):
        if not stands_on(kind, frame.line):
            continue
        for method in nodes_in(kind, ast.FunctionDef):
            for call in nodes_in(method, ast.Call):
                saved = [frame.text(item) for item in call.args]
                known = {*names_in(method), *(part.arg for part in nodes_in(method, ast.arg))}
                left = [name for name in wanted if name in saved]
                if is_attribute(call.func, "save_for_backward") and saved and left == saved and known >= set(wanted):
                    text = ", ".join(wanted)
                    edit = edits.replace_between(frame.source, call.args[0], call.args[-1], text)
                    yield Fix(message("fix.out_of_place", text=f"{frame.text(call.func)}({text})"), (edit,))


_INVALID = (
    r"unction (\w+)Backward returned an invalid gradient at index (\d+) - got \[([\d, ]*)\] but expected shape "
    r"compatible with \[([\d, ]*)\]"
)

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (r"unction (\w+)Backward returned an incorrect number of gradients \(expected (\d+), got (\d+)\)", _all_gradients),
    (_INVALID, _gradient_of_shape),
    (r"not enough values to unpack \(expected (\d+), got (\d+)\)", _saved_too),
)
PLACES = ((_INVALID, _gradient_here),)
