"""Data that was read, filtered, padded or counted far from where it fails: indices from one, columns of objects, samples that are
empty, sides that do not halve, sizes of a configuration, words that a vocabulary has left out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.constructor import build_sites
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.errors.fixes import add_argument, append_in, replace
from torchsleuth.errors.provenance import defined, made_from
from torchsleuth.errors.reached import Filled, around, bound, note
from torchsleuth.errors.settings import written_at
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    given_to,
    is_binary,
    is_constant,
    is_method_call,
    keyword_of,
    names_in,
    nodes_in,
    plain_name,
)

_SPARSE = ("sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor")
_READ = ("from_numpy", "tensor", "as_tensor", "LongTensor")
_ARRAYS = ("to_numpy", "array", "asarray", "stack", "vstack", "hstack", "concatenate", "column_stack")
_Filter = ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp
MAX_SHOWN = 2
"""Places that are shown of one kind."""


def _operands_made_from(case: Case) -> Iterator[Filled]:
    """Everything that the operands of the failing expression were made from, one after the other."""
    for node in case.frame.operands():
        yield from made_from(case, case.frame, node)


def _indices_read(case: Case, found: re.Match[str]) -> list[Filled]:
    """Where the indices of a sparse matrix became a tensor, of which the largest is one too large."""
    if int(found[1]) != int(found[2]):
        return []
    made = [(case.frame, case.frame.node), *_operands_made_from(case)]
    for file, call in made:
        given = argument_of(call, 0, "indices") if isinstance(call, ast.Call) and called(call) in _SPARSE else None
        if given is not None:
            reads = [(place, part) for place, part in made_from(case, file, given) if called(part) in _READ]
            return [
                (place, part) for place, part in reads if "float" not in place.text(part) and not _counts(place, part)
            ][:1]
    return []


def _counts(file: CrashFrame, node: ast.expr) -> bool:
    """``torch.tensor([0, 1, 2])``, which begins at 0 as is written."""
    return isinstance(node, ast.Call) and any(is_constant(part, int) and part.value == 0 for part in ast.walk(node))


def _indices_here(case: Case) -> Iterator[Related]:
    found = re.search(_INDEX, case.crash["message"])
    for file, node in _indices_read(case, found) if found is not None else ():
        yield note(file.source, node, "error.one_too_large")


def _indices_from_zero(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.from_numpy(rows).t()`` → ``(torch.from_numpy(rows) - 1).t()``"""
    for file, node in _indices_read(case, found):
        yield replace(file, node, f"({file.text(node)} - 1)", safe=False)


def _of_objects(case: Case) -> list[Filled]:
    """Where columns of several types became one array: the columns of ones and zeros that are truths, and the array."""
    given = case.frame.argument(0, "data")
    made = list(made_from(case, case.frame, given)) if given is not None else []
    dummies = [(file, node) for file, node in made if called(node) == "get_dummies"]
    arrays = [
        (file, node)
        for file, node in made
        if called(node) in _ARRAYS or isinstance(node, ast.Attribute) and node.attr == "values"
    ]
    return [*dummies[:MAX_SHOWN], *arrays[:MAX_SHOWN]]


def _objects_here(case: Case) -> Iterator[Related]:
    for file, node in _of_objects(case):
        dummies = called(node) == "get_dummies"
        yield note(file.source, node, "error.dummies" if dummies else "error.objects")


def _as_numbers(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``pd.get_dummies(rows)`` → ``…, dtype=float)``; ``table.to_numpy()`` → ``table.astype("float32").to_numpy()``"""
    for file, node in _of_objects(case):
        if isinstance(node, ast.Call) and keyword_of(node, "dtype") is None:
            kind = "float" if called(node) == "get_dummies" else '"float32"'
            if called(node) in ("get_dummies", "to_numpy", "array", "asarray"):
                yield add_argument(file.source, node, f"dtype={kind}", safe=False)
                continue
        if not isinstance(node, ast.Call) or keyword_of(node, "dtype") is None:
            yield append_in(file.source, node, '.astype("float32")', safe=False)


def _filters(case: Case) -> list[tuple[CrashFrame, ast.ListComp]]:
    """The filters that each sequence went through, which may leave nothing of it."""
    given = case.frame.argument(1, "lengths")
    return [
        (file, node)
        for file, node in (made_from(case, case.frame, given) if given is not None else ())
        if isinstance(node, ast.ListComp) and any(part.ifs and not _drops_empty(part) for part in node.generators)
        if _is_for_each(case, file, node)
    ][:MAX_SHOWN]


def _drops_empty(loop: ast.comprehension) -> bool:
    """``for row in rows if row``, ``if row.strip()``, ``if len(row) > 0``, which leave empty ones out."""
    name = plain_name(loop.target)
    for test in loop.ifs:
        match test:
            case ast.Name(id=read) | ast.Call(func=ast.Attribute(ast.Name(read), "strip")) if read == name:
                return True
            case ast.Compare(ast.Call(func=ast.Name("len"), args=[ast.Name(read)]), [ast.Gt()], [ast.Constant(0)]):
                return read == name
    return False


def _is_for_each(case: Case, file: CrashFrame, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression is computed once for each sample: in a loop, or in a function that is called in one."""
    trail = edits.path_to(file.tree, node)
    scope = around(file.tree, node)
    if getattr(scope, "name", "") == "__getitem__":
        return True
    inner = trail[trail.index(scope) + 1 : -1] if scope in trail else []
    if any(isinstance(part, ast.For | ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.Lambda) for part in inner):
        return True
    return depth < 2 and any(
        _is_for_each(case, other, call, depth + 1)
        for other in case.files
        for call in other.all(ast.Call)
        if called(call) == getattr(scope, "name", None)
    )


def _filters_here(case: Case) -> Iterator[Related]:
    for file, node in _filters(case):
        yield note(file.source, node, "error.may_be_empty")


def _unfiltered(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``[w for w in words if w not in STOP]`` → ``… or words``; else lengths of one at least, of padding alone."""
    for file, node in _filters(case):
        whole = node.generators[0]
        if (
            len(node.generators) == 1
            and isinstance(whole.iter, ast.Name)
            and plain_name(node.elt) == plain_name(whole.target)
        ):
            yield replace(file, node, f"({file.text(node)} or {whole.iter.id})", safe=False)
    lengths = case.frame.argument(1, "lengths")
    if lengths is not None and case.frame.tensor(lengths) is not None:
        yield append_in(case.frame.source, lengths, ".clamp(min=1)", safe=False)


def _differs_in_sides(case: Case) -> bool:
    """Whether pictures meet of which the sides differ by the rest of a halving."""
    shapes = [found["shape"] for _, found in case.frame.tensor_operands() if len(found["shape"]) == 4]
    if len(shapes) != 2:
        return False
    rests: list[int] = [abs(one - other) for one, other in zip(shapes[0][2:], shapes[1][2:])]
    return 0 < max(rests) < 8


def _multiples(case: Case) -> list[Filled]:
    """The number whose multiple a padding makes the sides, where it is computed."""
    for file, node in _operands_made_from(case) if _differs_in_sides(case) else ():
        if called(node) in ("pad", "Pad"):
            for given in given_to(node):
                for part in nodes_in(given, ast.BinOp):
                    if is_binary(part, ast.Mod):
                        return [(file, bound(file, part.right))]
    return []


_SIZED = ("Resize", "resize", "CenterCrop", "RandomCrop", "RandomResizedCrop", "pad", "Pad", "rand", "randn")


def _sides_here(case: Case) -> Iterator[Related]:
    made = _multiples(case)
    for file, node in made:
        yield note(file.source, node, "error.multiple_of")
    for file, node in _operands_made_from(case) if _differs_in_sides(case) and not made else ():
        if called(node) in _SIZED and getattr(around(file.tree, node), "name", "") != "forward":
            yield note(file.source, node, "error.sides_here")
            yield from written_at(case, file, given_to(node))
            return


def _doubled(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``stride = 2 ** (depth - 1)`` → ``2 ** depth``, where one halving more is gone through than the padding is for."""
    for file, node in _multiples(case):
        match node:
            case ast.BinOp(ast.Constant(2), ast.Pow(), ast.BinOp(levels, ast.Sub(), ast.Constant(1))):
                new = f"2 ** {file.text(levels)}"
            case ast.Constant(int(number)):
                new = str(2 * number)
            case _:
                new = f"2 * ({file.text(node)})"
        yield replace(file, node, new, safe=False)


def _written(case: Case, number: int, of_tensor: bool) -> list[tuple[CrashFrame, ast.Constant]]:
    """Where a number of the message is written that the tensor, or another operand, was made from: the nearest place."""
    for operand in case.frame.operands():
        if (case.frame.tensor(operand) is not None) is of_tensor:
            for file, node in made_from(case, case.frame, operand):
                if is_constant(node, int) and type(node.value) is int and node.value == number:
                    return [(file, node)]
    return []


def _written_here(case: Case) -> Iterator[Related]:
    told = re.search(_PIECES, case.crash["message"])
    places = [*_written(case, int(told[1]), True), *_written(case, int(told[2]), False)] if told is not None else []
    for file, node in places:
        if file.source.span(node).start.line != case.frame.line or file is not case.frame:
            yield note(file.source, node, "error.written_here", number=node.value)


def _whole_pieces(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``crop: int = 60`` → ``56``, the next size below that goes into pieces of 8."""
    whole, piece = int(found[1]), int(found[2])
    for file, node in _written(case, whole, True):
        if 0 < piece < whole:
            yield replace(file, node, str(whole // piece * piece), safe=False)


def _loaded_size(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """Where the objects were made whose sizes the model that does not fit was built with, and the model that was saved: vocabularies
    that were built twice."""
    sites = build_sites(case)
    receiver = (
        case.frame.node.func.value
        if isinstance(case.frame.node, ast.Call) and isinstance(case.frame.node.func, ast.Attribute)
        else None
    )
    kind = ""
    if receiver is not None:
        kind = called(bound(case.frame, receiver)) or (case.crash["module"] or {}).get("type", "")
    calls = [
        (file, node) for file in case.files for node in file.all(ast.Call) if called(node) == kind and given_to(node)
    ]
    if not sites and not calls or len(calls) > 4:
        return []
    found = []
    for file, call in calls:
        for given in given_to(call):
            places = [
                (place, part)
                for place, part in made_from(case, file, given)
                if isinstance(part, ast.Call) and _is_users(case, part) and _is_assigned(place, part)
            ]
            found += places[:1]
    return list({(place.path, part.lineno): (place, part) for place, part in found}.values())


def _is_users(case: Case, call: ast.Call) -> bool:
    """Whether a call is that of a function, method or class of the user's."""
    name = called(call)
    classes = any(kind.name == name for file in case.files for kind in file.all(ast.ClassDef))
    return classes or bool(defined(case, name))


def _is_assigned(file: CrashFrame, node: ast.expr) -> bool:
    statement = edits.enclosing_statement(file.tree, node)
    return isinstance(statement, ast.Assign) and statement.value is node


def _loaded_size_here(case: Case) -> Iterator[Related]:
    places = _loaded_size(case)
    names = {called(part) for _, part in places}
    for file, call in places if len(places) == 2 and len(names) == 1 else ():
        yield note(file.source, call, "error.size_from_here", name=called(call))


def _dropped(case: Case) -> list[tuple[CrashFrame, _Filter]]:
    """The filter that the keys of a dictionary went through, where one is missing: its own, or that of the list of them."""
    node = case.frame.node
    if case.crash["type"] != "KeyError" or not isinstance(node, ast.Subscript):
        return []
    for file, part in made_from(case, case.frame, node.value):
        if isinstance(part, ast.DictComp):
            if part.generators[0].ifs:
                return [(file, part)]
            keys = part.generators[0].iter
            listed = made_from(case, file, keys) if not is_method_call(keys, "items", "keys", "values") else ()
            filters = ((place, item) for place, item in listed if isinstance(item, _Filter))
            return [(place, item) for place, item in filters if item.generators[0].ifs][:1]
    return []


def _dropped_here(case: Case) -> Iterator[Related]:
    for file, part in _dropped(case):
        yield note(file.source, part.generators[0].ifs[0], "error.left_out")


def _kept_word(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``if count >= least`` → ``if count >= least or word in specials``, where the file names such words; a word that the script does
    not write out is looked up as the one for unknown words."""
    missing = found[2]
    for file, part in _dropped(case):
        named = _names_of(case, file, part, missing)
        word = part.key if isinstance(part, ast.DictComp) else part.elt
        loop = part.generators[0]
        if named is not None and isinstance(word, ast.Name) and len(loop.ifs) == 1:
            edit = edits.insert_after_node(file.source, loop.ifs[0], f" or {word.id} {named}")
            title = message("fix.append", expression=file.text(loop.ifs[0])[:60], suffix=f" or {word.id} {named}")
            yield Fix(title, (edit,), safe=False)
    node, frame = case.frame.node, case.frame
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        held = (frame.value(node.value) or {}).get("keys", ())
        unknown = next((key for key in held if isinstance(key, str) and key.strip("<[]>").lower() in _UNKNOWN), None)
        if unknown is not None and unknown != missing and not isinstance(node.slice, ast.Constant):
            whole = frame.text(node.value)
            yield replace(frame, node, f"{whole}.get({frame.text(node.slice)}, {whole}[{unknown!r}])", safe=False)


_UNKNOWN = ("unk", "unknown", "oov")


def _names_of(case: Case, file: CrashFrame, part: ast.expr, missing: str) -> str | None:
    """How a filter may say that a word stays: ``in specials``, a variable there that has it, or ``== UNK``."""
    scope = around(file.tree, part)
    constants = {
        target.id
        for node in file.all(ast.Assign)
        for target, value in assigned_pairs(node)
        if isinstance(target, ast.Name) and is_constant(value, str) and value.value == missing
    }
    arguments = getattr(scope, "args", None)
    placed = [*arguments.posonlyargs, *arguments.args] if arguments is not None else []
    for item, default in zip(reversed(placed), reversed(arguments.defaults)) if arguments is not None else ():
        if names_in(default) & constants or missing in [part.value for part in nodes_in(default, ast.Constant)]:
            return f"in {item.arg}" if isinstance(default, ast.Tuple | ast.List | ast.Name) else None
    for node in file.all(ast.Assign):
        if isinstance(node.value, ast.Tuple | ast.List) and isinstance(node.targets[0], ast.Name):
            if missing in [getattr(item, "value", None) for item in node.value.elts]:
                return f"in {plain_name(node.targets[0])}"
    return f"== {min(constants)}" if constants else None


_INDEX = r"index out of (?:row|column) bound: ?(\d+) not between 1 and (\d+)"
_OBJECTS = r"can't convert np\.ndarray of type numpy\.object_"
_EMPTY = r"Length of all samples has to be greater than 0"
_SIDES = r"Sizes of tensors must match except|must match the size of tensor"
_PIECES = r"can't divide axis of length (\d+) in chunks of (\d+)"
_STATE = r"size mismatch for \S+?: copying a param"
_MISSING = r"^(['\"])([^'\"\n]+)\1$"

ENTRIES = (
    ErrorEntry(
        "TS199",
        _INDEX,
        "error.sparse_index",
        applies=lambda case: int(case.match[1]) >= int(case.match[2]),
        values=lambda case: {"last_place": str(int(case.match[2]) - 1)},
        example="places = torch.tensor([[0, 1], [1, 2]])\n"
        "matrix = torch.sparse_coo_tensor(places, torch.ones(2), (2, 2), check_invariants=False)\n"
        "torch.sparse.mm(matrix, torch.ones(2, 3))",
        plain=True,
    ),
)

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_INDEX, _indices_from_zero),
    (_OBJECTS, _as_numbers),
    (_EMPTY, _unfiltered),
    (_SIDES, _doubled),
    (_PIECES, _whole_pieces),
    (_MISSING, _kept_word),
)
PLACES = (
    (_INDEX, _indices_here),
    (_OBJECTS, _objects_here),
    (_EMPTY, _filters_here),
    (_SIDES, _sides_here),
    (_PIECES, _written_here),
    (_STATE, _loaded_size_here),
    (_MISSING, _dropped_here),
)
