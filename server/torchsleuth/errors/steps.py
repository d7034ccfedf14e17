"""Time steps and tokens that are counted in two ways: lengths in front of layers that shorten, sequences that are unpacked only as
far as the longest goes, a class token that a grid has no place for, indices that are counted from one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace as replaced

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import add_argument, append, append_in, replace
from torchsleuth.errors.origin import followed_operands
from torchsleuth.errors.provenance import is_result_of, straight
from torchsleuth.errors.reached import Filled, around, given_by_model, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    names_in,
    nodes_in,
    plain_name,
)
from torchsleuth.syntax.packing import Unpacking, unpackings

_STRIDES = (2, 3, 4, 8, 16)


def _made_lengths(case: Case) -> Filled | None:
    """The expression in a model's ``forward`` that gives the lengths which a loss gets, where the model passes them on."""
    given = case.frame.argument(2, "input_lengths")
    way = straight(case, case.frame, given) if given is not None else []
    results = [(file, node) for file, node in way if is_result_of(file, node, "forward")]
    return given_by_model(case, given) or next(iter(results), None)


def _lengths_here(case: Case) -> Iterator[Related]:
    made = _made_lengths(case)
    if made is not None:
        yield note(made[0].source, made[1], "error.lengths_here")


def _shortened(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``lengths`` → ``(lengths + 1) // 2``, where that makes of the longest one the number of time steps."""
    lengths = case.frame.argument(2, "input_lengths")
    told = case.frame.tensor(lengths)
    longest = int(told["range"][1]) if told is not None and told.get("range") else 0
    steps = int(found[1])
    place = _made_lengths(case) or ((case.frame, lengths) if lengths is not None else None)
    for stride in _STRIDES if longest and place is not None else ():
        assert place is not None
        file, node = place
        text = file.text(node)
        if not isinstance(node, ast.Name | ast.Attribute | ast.Call):
            text = f"({text})"
        if -(-longest // stride) == steps:
            yield replace(file, node, f"({text} + {stride - 1}) // {stride}", safe=False)
        elif longest // stride == steps:
            yield replace(file, node, f"{text} // {stride}", safe=False)


def _unpacked(case: Case) -> Iterator[tuple[CrashFrame, Unpacking]]:
    """The sequences that are unpacked without a length, with what was packed."""
    for file in case.files:
        scopes = {id(scope): scope for scope in (around(file.tree, node) for node in file.all(ast.Call))}
        for scope in scopes.values():
            yield from ((file, one) for one in unpackings(scope) if around(file.tree, one.call) is scope)


def _too_short(case: Case, axis: int) -> bool:
    """Whether two sizes differ in the dimension of the time steps."""
    dimension = re.search(r"(?:non-singleton dimension|at index) (\d+)", case.crash["message"])
    return dimension is not None and int(dimension[1]) == axis


def _unpacked_here(case: Case) -> Iterator[Related]:
    for file, one in _unpacked(case):
        if _too_short(case, one.axis):
            yield note(file.source, one.call, "error.unpacked_here")


def _total_length(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``pad_packed_sequence(out, batch_first=True)`` → ``…, total_length=tokens.shape[1])``"""
    for file, one in _unpacked(case):
        text = one.total_length() if _too_short(case, one.axis) else None
        if text is not None:
            yield add_argument(file.source, one.call, text)


def _token_too_many(case: Case) -> int | None:
    """The number of patches, where there is one token more: 64 of 65, which a grid cannot be made of."""
    found = re.search(r"can't divide axis of length (\d+) in chunks of (\d+)", case.crash["message"])
    if found is not None:
        length, chunk = int(found[1]), int(found[2])
        return length - 1 if length > 1 and (length - 1) % chunk == 0 else None
    found = re.search(r"shape '\[([-\d, ]+)\]' is invalid for input of size (\d+)", case.crash["message"])
    if found is None:
        return None
    wanted, count = [int(part) for part in found[1].split(",")], int(found[2])
    for _, tensor in case.frame.tensor_operands():
        shape: list[int] = tensor["shape"]
        for index in (1, 2) if len(shape) == 3 else ():
            patches = shape[index] - 1
            rest = count // shape[index] * patches if shape[index] else 0
            sides = [side for side in wanted if side * side == patches]
            if patches > 1 and len(sides) > 1 and _holds(wanted, rest):
                return patches
    return None


def _holds(wanted: list[int], count: int) -> bool:
    known = 1
    for size in wanted:
        known *= size if size != -1 else 1
    return known == count if -1 not in wanted else known > 0 and count % known == 0


def _joins_token(case: Case) -> list[Filled]:
    """Where a script puts one more token in front of others."""
    return [
        (file, node)
        for file in case.files
        for node in file.all(ast.Call)
        if called(node) in ("cat", "concat", "concatenate", "pack")
        and any("cls" in name or "class" in name or "token" in name for name in _words(node))
    ]


def _words(node: ast.AST) -> set[str]:
    return {part.lower() for part in names_in(node)} | {part.attr.lower() for part in nodes_in(node, ast.Attribute)}


def _without_token(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.pixels(tokens)`` → ``self.pixels(tokens[:, 1:])``, else the same where it fails: a grid is made of patches alone."""
    patches = _token_too_many(case)
    if patches is None or not _joins_token(case):
        return
    frame = case.frame
    for node, tensor in frame.tensor_operands():
        if tensor["shape"][1:2] != [patches + 1]:
            continue
        place, given = _argument_passed(case, node) or (frame, node)
        yield append(place, given, "[:, 1:]", safe=False)


def _argument_passed(case: Case, node: ast.expr) -> Filled | None:
    """The argument of the next frame's call that a parameter of the failing function got, if it is only passed on."""
    function, name = case.frame.enclosing, plain_name(node)
    if len(case.frames) < 2 or not case.frame.direct or isinstance(function, ast.Module) or name is None:
        return None
    names = [item.arg for item in function.args.args]
    outer = case.frames[1]
    stores = [part for part in nodes_in(function, ast.Name) if part.id == name and isinstance(part.ctx, ast.Store)]
    if outer.call is None or name not in names or stores:
        return None
    given = argument_of(outer.call, names.index(name) - (names[0] == "self"), name)
    return (outer, given) if isinstance(given, ast.Name | ast.Attribute) else None


def _token_here(case: Case) -> Iterator[Related]:
    if _token_too_many(case) is None:
        return
    for file, node in _joins_token(case)[:1]:
        yield note(file.source, node, "error.token_here")


def _counted_from_one(case: Case) -> list[Filled]:
    """Where indices get their values that go from 1 to one more than there are: of those in the failing function and its object."""
    found = []
    read = " ".join([source.segment(place) for _, source, place in followed_operands(case)])
    for name, tensor in case.frame.named.items():
        bounds = tensor.get("range")
        if (
            not bounds
            or re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", read) is None
            or "int" not in tensor["dtype"]
            or bounds[0] != 1
            or len(tensor["shape"]) != 1
        ):
            continue
        found += [(case.frame, value) for value in _values_of(case, name)]
    return found


def _values_of(case: Case, name: str) -> Iterator[ast.expr]:
    scope: ast.AST = case.frame.enclosing
    if name.startswith("self."):
        kinds = [kind for kind in case.frame.all(ast.ClassDef) if kind.lineno <= case.frame.line]
        scope = kinds[-1] if kinds else case.frame.tree
    for node in nodes_in(scope, ast.Assign):
        if any(case.frame.text(target) == name for target in node.targets) and isinstance(node.value, ast.Call):
            yield node.value


def _one_based_here(case: Case) -> Iterator[Related]:
    if re.search(_TOO_LARGE, case.crash["message"]):
        for file, value in _counted_from_one(case):
            yield note(file.source, value, "error.from_one")


def _from_zero(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.item = torch.tensor(…)`` → ``… - 1``, where the largest index is one too large."""
    if int(found[1]) == int(found[2]):
        made = dict.fromkeys(_counted_from_one(case))
        fixes = [append_in(file.source, value, " - 1", safe=False) for file, value in made]
        if fixes:
            yield replaced(fixes[0], edits=tuple(edit for fix in fixes for edit in fix.edits))


_TOO_LARGE = r"size is (\d+) but found index (\d+)"
_MISMATCH = (
    r"must match the size of tensor|doesn't match|size mismatch|must match|cannot be broadcast|shape of the mask"
)
_TOKENS = r"can't divide axis of length|is invalid for input of size"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (r"Expected input_lengths to have value at most (\d+)", _shortened),
    (_MISMATCH, _total_length),
    (_TOKENS, _without_token),
    (_TOO_LARGE, _from_zero),
)
PLACES = (
    (r"Expected input_lengths to have value at most", _lengths_here),
    (_MISMATCH, _unpacked_here),
    (_TOKENS, _token_here),
    (_TOO_LARGE, _one_based_here),
)
