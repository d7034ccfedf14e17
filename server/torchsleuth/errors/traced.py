"""Where what a message tells of is written: sizes that do not agree, lists of unequal lengths, conversions to a type, the keys and
objects of a file that was saved, parameters that were frozen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import replace
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, bound, note
from torchsleuth.schema import Fix, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_attribute,
    is_constant,
    is_literal,
    is_method_call,
    is_text,
    keyword_of,
    last_word,
    nodes_in,
    targets_of,
)

LEAST = 10
"""The least size that is looked for by its value: smaller numbers stand for too many things."""


def _size_here(case: Case) -> Iterator[Related]:
    """The one place where each of two sizes that do not agree is written, of those that their tensors were made from."""
    found = re.search(_SIZES, case.crash["message"])
    numbers = {int(part) for part in found.groups() if part is not None} if found is not None else set()
    for operand in case.frame.operands():
        tensor = case.frame.tensor(operand)
        wanted = numbers & set(tensor["shape"]) if tensor is not None else set()
        for number in sorted(wanted):
            places = [(file, node) for file, node in made_from(case, case.frame, operand) if _is_number(node, number)]
            if number >= LEAST and len(places) == 1:
                yield note(places[0][0].source, places[0][1], "error.written_here", number=number)


def _is_number(node: ast.expr, number: int) -> bool:
    return is_constant(node, int) and type(node.value) is int and node.value == number


def _ragged_here(case: Case) -> Iterator[Related]:
    """The lists of the two lengths that do not go into one tensor."""
    found = re.search(_RAGGED, case.crash["message"])
    given = case.frame.argument(0, "data")
    if found is None or given is None:
        return
    made: dict[int, tuple[CrashFrame, ast.List]] = {}
    for file, node in made_from(case, case.frame, given):
        if isinstance(node, ast.List) and not any(isinstance(part, ast.List | ast.Tuple) for part in node.elts):
            made.setdefault(len(node.elts), (file, node))
    lengths = {int(found[1]), int(found[2])}
    for length in sorted(lengths) if lengths <= set(made) else ():
        yield note(made[length][0].source, made[length][1], "error.list_here", length=length)


_CONVERSIONS = {
    "int64": ("long", "LongTensor", "int64", "randint", "argmax"),
    "int32": ("int", "IntTensor", "int32"),
    "float64": ("double", "DoubleTensor", "float64"),
    "float16": ("half", "HalfTensor", "float16"),
    "bfloat16": ("bfloat16",),
    "bool": ("bool", "BoolTensor"),
    "uint8": ("byte", "ByteTensor", "uint8"),
}
"""The names of what makes tensors of a type."""
_OTHERS = {name for names in _CONVERSIONS.values() for name in names} | {"float", "FloatTensor", "to", "type", "astype"}


def _converted_here(case: Case) -> Iterator[Related]:
    """The nearest conversion that a tensor of the failing expression went through, where that has given it its type."""
    for operand in case.frame.operands():
        tensor = case.frame.tensor(operand)
        wanted = _CONVERSIONS.get(tensor["dtype"], ()) if tensor is not None else ()
        for file, node in made_from(case, case.frame, operand) if wanted else ():
            if not isinstance(node, ast.Call):
                continue
            types = {called(node), *(last_word(part) for part in node.args)}
            given = keyword_of(node, "dtype")
            types |= {last_word(given.value)} if given is not None else set()
            if types & set(wanted):
                assert tensor is not None
                yield note(file.source, node, "error.becomes", dtype=tensor["dtype"])
                break
            if called(node) in _OTHERS:
                break


def _saved_objects(case: Case) -> Iterator[Filled]:
    """The values of a class of the user's in what is saved, which the message names."""
    found = re.search(_OBJECT, case.crash["message"])
    for file in case.files if found is not None else ():
        for call in file.all(ast.Call):
            if file.text(call.func) != "torch.save" or not call.args:
                continue
            given = bound(file, call.args[0])
            values = given.values if isinstance(given, ast.Dict) else [given]
            for value in values:
                made = made_from(case, file, value)
                if found is not None and any(called(part) == found[1] for _, part in made):
                    yield file, value


def _saved_here(case: Case) -> Iterator[Related]:
    found = re.search(_OBJECT, case.crash["message"])
    for file, value in _saved_objects(case) if found is not None else ():
        yield note(file.source, value, "error.object_saved", name=found[1] if found is not None else "")


def _keys_here(case: Case) -> Iterator[Related]:
    """The one dictionary of the script that is written out with the keys which that of the failing expression has."""
    node = case.frame.node
    held = case.frame.value(node.value) if isinstance(node, ast.Subscript) else None
    keys = set(of_kind((held or {}).get("keys", ()), str))
    made = [
        (file, part)
        for file in case.files
        for part in file.all(ast.Dict)
        if case.crash["type"] == "KeyError" and keys and {key.value for key in part.keys if is_text(key)} == keys
    ]
    if len(made) == 1 and (held or {}).get("length") == len(keys):
        yield note(made[0][0].source, made[0][1], "error.keys_here")


def _frozen_at(case: Case) -> Iterator[tuple[CrashFrame, ast.AST]]:
    for file in case.files:
        for node in nodes_in(file.tree, ast.Assign, ast.Call):
            if isinstance(node, ast.Assign):
                if any(is_attribute(target, "requires_grad") for target in targets_of(node)):
                    if not is_literal(node.value, True):
                        yield file, node
            elif is_method_call(node, "requires_grad_") and any(is_literal(part, False) for part in node.args):
                yield file, node


def _frozen_here(case: Case) -> Iterator[Related]:
    """Where parameters are frozen, if all of them are."""
    for file, node in list(_frozen_at(case))[:2] if case.crash.get("frozen") else ():
        yield note(file.source, node, "error.frozen_here")


def _taken_out(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``name.startswith("head")`` → ``"classifier"``, the last part of a model that has none of that name."""
    names = list(case.crash.get("frozen") or ())
    for file, node in _frozen_at(case) if names else ():
        trail = edits.path_to(file.tree, node)
        loops = [part for part in trail if isinstance(part, ast.For) and "named_parameters" in file.text(part.iter)]
        tests = [part.test for part in trail if isinstance(part, ast.If)]
        for place in [*tests, node] if loops else []:
            for part in nodes_in(place, ast.Constant):
                if isinstance(part.value, str) and not any(part.value in name for name in names):
                    yield replace(file, part, f'"{names[-1].split(".")[0]}"', safe=False)


_SIZES = (
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)|mat1 and mat2 shapes cannot be multiplied "
    r"\(\d+x(\d+) and (\d+)x\d+\)|expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"
)
_RAGGED = r"expected sequence of length (\d+) at dim \d+ \(got (\d+)\)"
_TYPES = r"dtype|scalar type|[Ee]xpected .*(?:Long|Float|Double|Half|Int\b)|data ?type|not implemented for"
_OBJECT = r"Unsupported global: GLOBAL (?:[\w.]+\.)?(\w+) was not an allowed global"
_NO_GRADIENT = r"does not require grad"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_NO_GRADIENT, _taken_out),)
PLACES = (
    (_SIZES, _size_here),
    (_RAGGED, _ragged_here),
    (_TYPES, _converted_here),
    (_OBJECT, _saved_here),
    (r"", _keys_here),
    (_NO_GRADIENT, _frozen_here),
)
