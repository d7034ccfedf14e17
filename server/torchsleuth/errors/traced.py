"""Where what a message tells of is written: sizes that do not agree, lists of unequal lengths, conversions to a type, the keys and
objects of a file that was saved, parameters that were frozen."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import add_argument, replace
from torchsleuth.errors.provenance import made_from, straight
from torchsleuth.errors.reached import Filled, around, bound, note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    is_attribute,
    is_binary,
    is_constant,
    is_dotted,
    is_literal,
    is_method_call,
    is_name,
    is_text,
    keyword_of,
    last_word,
    nodes_in,
    parts_of_key,
    plain_name,
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
            given = keyword_of(node, "dtype")
            parts = [*node.args, *([given.value] if given is not None else [])]
            types = {called(node), *(last_word(part) for part in parts)}
            named = _named_type(case, file, parts, wanted) if called(node) in _BY_TYPE else None
            if types & set(wanted) or named is not None:
                assert tensor is not None
                if named is not None:
                    yield note(named[0].source, named[1], "error.type_here", dtype=tensor["dtype"])
                yield note(file.source, node, "error.becomes", dtype=tensor["dtype"])
                break
            if called(node) in _OTHERS and not isinstance(node.func, ast.Name):
                break


_BY_TYPE = ("to", "type", "astype", "array", "asarray", "tensor", "zeros", "ones", "empty", "full", "arange", "randint")
"""Calls that are told a type."""


def _named_type(case: Case, file: CrashFrame, parts: list[ast.expr], wanted: tuple[str, ...]) -> Filled | None:
    """Where a type is written that a call has by a name: ``np.int32`` of ``dtype = np.int32`` and ``rows.astype(dtype)``."""
    for part in parts:
        if isinstance(part, ast.Name | ast.Attribute) and last_word(part) not in wanted:
            for place, made in straight(case, file, part):
                if last_word(made) in wanted or is_text(made) and made.value in wanted:
                    return place, made
    return None


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
    """Where the dictionary of the failing expression gets its keys: the one that is written out with them, or made of others."""
    node = case.frame.node
    if case.crash["type"] != "KeyError" or not isinstance(node, ast.Subscript):
        return
    held = case.frame.value(node.value) or {}
    keys = set(of_kind(held.get("keys", ()), str))
    made = [
        (file, part)
        for file in case.files
        for part in file.all(ast.Dict)
        if keys
        and held.get("length", len(keys)) == len(keys)
        and {key.value for key in part.keys if is_text(key)} == keys
    ]
    if len(made) == 1:
        yield note(made[0][0].source, made[0][1], "error.keys_here")
        return
    for file, part in made_from(case, case.frame, node.value):
        if isinstance(part, ast.DictComp):
            yield note(file.source, part, "error.keys_here")
            listed = made_from(case, file, part.generators[0].iter)
            sets = [(place, item) for place, item in listed if isinstance(item, ast.SetComp) or called(item) == "set"]
            yield from (note(place.source, item, "error.keys_here") for place, item in sets[:1])
            return


def _fills_here(case: Case) -> Iterator[Related]:
    """Where a dictionary is filled with the keys that it has, one after the other."""
    node = case.frame.node
    if case.crash["type"] != "KeyError" or not isinstance(node, ast.Subscript):
        return
    text = case.frame.text(node.value)
    calls = [part for part in case.frame.all(ast.Call) if is_method_call(part, "setdefault") and part.args]
    filled = [part for part in calls if is_method_call(part) and case.frame.text(part.func.value) == text]
    if len(filled) == 1:
        yield note(case.frame.source, filled[0], "error.keys_here")


def _numbers_here(case: Case) -> Iterator[Related]:
    """Where the numbers are written of which one has to be a multiple of the other."""
    for operand in case.frame.operands():
        number = (case.frame.value(operand) or {}).get("value")
        if type(number) is int and not isinstance(operand, ast.Constant):
            made = made_from(case, case.frame, operand)
            places = [(file, node) for file, node in made if _is_number(node, number)]
            if number > 1 and len(places) == 1:
                yield note(places[0][0].source, places[0][1], "error.written_here", number=number)


def _cuts(case: Case) -> list[tuple[CrashFrame, ast.Slice, ast.BinOp]]:
    """The pieces ``x[i : i + n]`` that samples are, which are shorter where they begin too late."""
    given = case.frame.node or next(iter(case.frame.operands()), None)
    found = []
    for file, node in made_from(case, case.frame, given) if given is not None else ():
        for part in parts_of_key(node):
            if isinstance(part, ast.Slice) and part.lower is not None and is_binary(part.upper, ast.Add):
                if file.text(part.upper.left) == file.text(part.lower):
                    found.append((file, part, part.upper))
    return found


def _cuts_here(case: Case) -> Iterator[Related]:
    for file, part, _ in _cuts(case)[:1]:
        yield note(file.source, part, "error.cut_here")
        if (made := _drawn(file, part.lower)) is not None and called(made) in _DRAWS:
            yield note(file.source, made, "error.begins_here")
        for place, counted in _counted_through(case, file, part):
            yield note(place.source, counted, "error.begins_through")


def _counted_through(case: Case, file: CrashFrame, piece: ast.Slice) -> list[tuple[CrashFrame, ast.Call]]:
    """The ``range`` through which the beginnings of pieces are counted: the nearest."""
    made = made_from(case, file, piece.lower) if piece.lower is not None else []
    ranges = [(place, part) for place, part in made if isinstance(part, ast.Call) and called(part) == "range"]
    return [(place, part) for place, part in ranges if part.args][:1]


def _counted_early(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``range(0, len(signal), stride)`` → ``range(0, len(signal) - self.length + 1, stride)``"""
    for file, piece, upper in _cuts(case)[:1]:
        for place, counted in _counted_through(case, file, piece):
            length = _known_there(file, upper.right, place, counted)
            stop = counted.args[min(1, len(counted.args) - 1)]
            if length is not None:
                text = f"{place.text(stop)} - {length} + 1"
                yield replace(place, stop, text, safe=False)


def _known_there(file: CrashFrame, length: ast.expr, place: CrashFrame, there: ast.Call) -> str | None:
    """How a length is written at another place: the same attribute, if it is bound by then, or a parameter or variable of its name."""
    scope = around(place.tree, there)
    if isinstance(length, ast.Constant) or place is file and scope is around(file.tree, length):
        return file.text(length)
    if place is file and is_dotted(length, "self") and getattr(scope, "name", "") != "__init__":
        return file.text(length)
    earlier = [node for node in nodes_in(scope, ast.Assign) if node.lineno < there.lineno]
    if any(file.text(length) == place.text(target) for node in earlier for target in targets_of(node)):
        return file.text(length)
    names = {part.arg for part in nodes_in(scope, ast.arg)}
    return last_word(length) if last_word(length) in names else None


def _begun_early(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``top = random.randrange(0, height)`` → ``height - size + 1``, so that ``x[top : top + size]`` is never shorter."""
    changes: dict[object, Edit] = {}
    for file, part, upper in _cuts(case):
        made = _drawn(file, part.lower)
        if made is None or called(made) not in _DRAWS or not made.args:
            continue
        last = (
            made.args[0]
            if called(made) == "randrange" and len(made.args) == 1
            else made.args[min(1, len(made.args) - 1)]
        )
        one = "" if file.text(made.func) in ("random.randint", "randint") else " + 1"
        changes[last] = edits.insert_after_node(file.source, last, f" - {file.text(upper.right)}{one}")
    if changes:
        yield Fix(message("fix.begun_early"), tuple(changes.values()), safe=False)


def _drawn(file: CrashFrame, node: ast.expr | None) -> ast.Call | None:
    """The call that draws where a piece begins: a name by what it is bound to, one by one where several are bound at once."""
    name = node.id if isinstance(node, ast.Name) else None
    for statement in nodes_in(around(file.tree, node), ast.Assign) if node is not None and name is not None else ():
        for target, value in assigned_pairs(statement):
            while isinstance(value, ast.Call) and called(value) in ("int", "item") and called(value) not in _DRAWS:
                value = value.args[0] if value.args else getattr(value.func, "value", value.func)
            if is_name(target, name) and isinstance(value, ast.Call):
                return value
    return None


_DRAWS = ("randrange", "randint", "integers")


def _guards_here(case: Case) -> Iterator[Related]:
    """The condition under which something is put into the list that stayed empty."""
    name = plain_name(case.frame.argument(0, "tensors"))
    scope = case.frame.enclosing
    for test in nodes_in(scope, ast.If) if name is not None else ():
        for part in test.body:
            value = part.value if isinstance(part, ast.Expr) else None
            if is_method_call(value, "append", "extend") and plain_name(value.func.value) == name:
                yield note(case.frame.source, test.test, "error.only_where", name=name)


def _filters(case: Case) -> list[tuple[CrashFrame, ast.ListComp]]:
    """The filter that left nothing of the samples of a batch."""
    given = case.frame.argument(0, "sequences", "tensors")
    made = made_from(case, case.frame, given) if given is not None else []
    return [(file, node) for file, node in made if isinstance(node, ast.ListComp) and node.generators[0].ifs][:1]


def _filters_here(case: Case) -> Iterator[Related]:
    for file, node in _filters(case):
        yield note(file.source, node, "error.may_leave_nothing")


def _one_at_least(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``rows = [row for row in rows if …]`` → ``… or rows[:1]``, so that something is left."""
    for file, node in _filters(case):
        whole = node.generators[0].iter
        if isinstance(whole, ast.Name) and plain_name(node.elt) == plain_name(node.generators[0].target):
            yield replace(file, node, f"{file.text(node)} or {whole.id}[:1]", safe=False)


def _larger_masks(case: Case) -> Iterator[tuple[ast.expr, list[int], ast.expr]]:
    """A mask that was made for a larger batch, with the tensor that it is for."""
    node = case.frame.node
    mask = case.frame.tensor(node.slice) if isinstance(node, ast.Subscript) else None
    whole = case.frame.tensor(node.value) if isinstance(node, ast.Subscript) else None
    if isinstance(node, ast.Subscript) and mask is not None and whole is not None:
        one, other = mask["shape"], whole["shape"]
        if len(one) <= len(other) and one != other[: len(one)] and all(a >= b for a, b in zip(one, other)):
            yield node.slice, [place for place, (a, b) in enumerate(zip(one, other)) if a > b], node.value


def _cut_mask(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``similar[self.mask]`` → ``similar[self.mask[: similar.size(0), : similar.size(1)]]``"""
    for mask, dims, whole in _larger_masks(case):
        text = case.frame.text(whole)
        parts = [f": {text}.size({place})" if place in dims else ":" for place in range(max(dims) + 1)]
        yield replace(case.frame, mask, f"{case.frame.text(mask)}[{', '.join(parts)}]", safe=False)


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


def _counted(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The counts of classes that the weights of a loss were made from, which end with the largest class that there is."""
    return [
        (file, node)
        for file in case.files
        for node in file.all(ast.Call)
        if called(node) == "bincount" and keyword_of(node, "minlength") is None and len(node.args) < 3
    ]


def _counted_here(case: Case) -> Iterator[Related]:
    for file, node in _counted(case)[:1]:
        yield note(file.source, node, "error.counted_here")


def _all_counted(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.bincount(y)`` → ``torch.bincount(y, minlength=4)``, where there are four classes and the last has no sample."""
    places = _counted(case) if int(found[1]) > int(found[2]) else []
    for file, node in places if len(places) == 1 else ():
        yield add_argument(file.source, node, f"minlength={found[1]}", safe=False)


_SIZES = (
    r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)|mat1 and mat2 shapes cannot be multiplied "
    r"\(\d+x(\d+) and (\d+)x\d+\)|expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)"
)
_RAGGED = r"expected sequence of length (\d+) at dim \d+ \(got (\d+)\)"
_TYPES = r"dtype|scalar type|[Ee]xpected .*(?:Long|Float|Double|Half|Int\b)|data ?type|not implemented for"
_OBJECT = r"Unsupported global: GLOBAL (?:[\w.]+\.)?(\w+) was not an allowed global"
_CLASSES = r"defined either for all (\d+) classes .* of shape: \[(\d+)\]"
_MULTIPLE = r"divisible by|multiple of"
_UNEQUAL = r"stack expects each tensor to be equal size"
_NOTHING = r"expect(?:s|ed) a non-empty"
_NO_GRADIENT = r"does not require grad"

_NO_SEQUENCES = r"received an empty list of sequences|expect(?:s|ed) a non-empty"
_MASK = r"shape of the mask \[[\d, ]+\] at index \d+ does not match"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_NO_SEQUENCES, _one_at_least),
    (_MASK, _cut_mask),
    (_NO_GRADIENT, _taken_out),
    (_UNEQUAL, _begun_early),
    (_UNEQUAL, _counted_early),
    (_CLASSES, _all_counted),
)
PLACES = (
    (_SIZES, _size_here),
    (_RAGGED, _ragged_here),
    (_TYPES, _converted_here),
    (_OBJECT, _saved_here),
    (r"", _keys_here),
    (r"", _fills_here),
    (_MULTIPLE, _numbers_here),
    (_UNEQUAL, _cuts_here),
    (_NOTHING, _guards_here),
    (_NO_SEQUENCES, _filters_here),
    (_CLASSES, _counted_here),
    (_NO_GRADIENT, _frozen_here),
)
