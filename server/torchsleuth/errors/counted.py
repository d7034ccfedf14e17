"""Numbers that are counted wrongly where labels, weights and indices are made: from one, without the classes that do not occur, one
too far, by the elements of something else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import add_argument, append_in, replace
from torchsleuth.errors.losses import one_based, prediction_and_target
from torchsleuth.errors.provenance import made_from, straight
from torchsleuth.errors.reached import Filled, around, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    given_to,
    is_binary,
    is_display,
    is_function_call,
    is_literal,
    is_method_call,
    keyword_of,
    nodes_in,
    plain_name,
)

MAX_SHOWN = 2
_ARRAYS = (
    "arange",
    "linspace",
    "array",
    "asarray",
    "tensor",
    "as_tensor",
    "from_numpy",
    "astype",
    "stack",
    "concatenate",
    "cat",
)
"""Calls that make arrays."""

# labels


def _numbered_from_one(case: Case) -> list[tuple[CrashFrame, ast.expr, ast.expr, str]]:
    """The expression that numbers the things which labels are made from, beginning at 1; its part that is the 1, and one that begins at 0:
    ``enumerate(names, start=1)``, or ``place + 1`` of ``enumerate(names)``."""
    target = prediction_and_target(case)[1] if one_based(case) else None
    found: list[tuple[CrashFrame, ast.expr, ast.expr, str]] = []
    for file, node in made_from(case, case.frame, target) if target is not None else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            first = argument_of(node, 1, "start") if node.func.id == "enumerate" else None
            if node.func.id == "count":
                first = argument_of(node, 0, "start")
            if is_literal(first, 1):
                found.append((file, node, first, "0"))
        elif is_binary(node, ast.Add) and is_literal(node.right, 1) and _counts_from_zero(file, node.left):
            found.append((file, node, node, file.text(node.left)))
    return found


def _counts_from_zero(file: CrashFrame, node: ast.expr) -> bool:
    """Whether a name is the number that ``enumerate(names)`` gives in a comprehension around it."""
    for part in edits.path_to(file.tree, node):
        for loop in getattr(part, "generators", ()):
            if called(loop.iter) == "enumerate" and is_display(loop.target) and isinstance(loop.iter, ast.Call):
                if plain_name(loop.target.elts[0]) == plain_name(node) is not None:
                    return argument_of(loop.iter, 1, "start") is None
    return False


def _read_from_one(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The one call that makes the labels numbers, of a text that they were read from: ``int(row["kind"])``."""
    target = prediction_and_target(case)[1] if one_based(case) else None
    found = {
        id(node): (file, node)
        for file, node in (made_from(case, case.frame, target) if target is not None else ())
        if is_function_call(node, "int") and len(node.args) == 1 and isinstance(node.args[0], ast.Subscript)
    }
    return list(found.values()) if len(found) == 1 else []


def _from_one_here(case: Case) -> Iterator[Related]:
    for file, node in [(file, node) for file, node, *_ in _numbered_from_one(case)] or _read_from_one(case):
        yield note(file.source, node, "error.from_one")


def _from_zero(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``enumerate(names, start=1)`` → ``enumerate(names, start=0)``, ``{name: place + 1 for …}`` → ``{name: place for …}``"""
    made = _numbered_from_one(case)
    for file, _, first, new in made if len(made) == 1 else ():
        yield replace(file, first, new, safe=False)
    for file, node in _read_from_one(case) if not made else ():
        yield append_in(file.source, node, " - 1", safe=False)


# weights


def _counts(case: Case) -> list[tuple[CrashFrame, ast.Call, int]]:
    """The calls that count the labels that occur, where weights are made of them for the larger number of classes."""
    sizes = [int(size) for size in re.findall(r"\((\d+)\)", case.crash["message"])[:2]]
    if len(sizes) != 2:
        return []
    few, all_of_them = sorted(sizes)
    found: dict[int, tuple[CrashFrame, ast.Call, int]] = {}
    for operand, tensor in case.frame.tensor_operands():
        for file, node in made_from(case, case.frame, operand) if tensor["shape"] == [few] else ():
            if called(node) == "bincount" and isinstance(node, ast.Call) and keyword_of(node, "minlength") is None:
                found[id(node)] = (file, node, all_of_them)
    return list(found.values())


def _counts_here(case: Case) -> Iterator[Related]:
    for file, node, _ in _counts(case)[:MAX_SHOWN]:
        yield note(file.source, node, "error.counts_occurring")


def _all_counted(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.bincount(labels)`` → ``torch.bincount(labels, minlength=6)``, or the constant of the file that is 6."""
    for file, node, wanted in _counts(case)[:MAX_SHOWN]:
        constants = [
            name
            for part in file.tree.body
            if isinstance(part, ast.Assign) and is_literal(part.value, wanted)
            if (name := plain_name(part.targets[0])) is not None and re.search("class", name, re.IGNORECASE)
        ]
        yield add_argument(file.source, node, f"minlength={constants[0] if len(constants) == 1 else wanted}")


# indices


def _one_further(case: Case, found: re.Match[str]) -> list[Filled]:
    """Where a whole array of indices is moved one further, of which the last one is one too far: ``steps + 1``."""
    index = case.frame.node.slice if isinstance(case.frame.node, ast.Subscript) else None
    if index is None or found[1] != found[2]:
        return []
    return [
        (file, node)
        for file, node in made_from(case, case.frame, index)
        if is_binary(node, ast.Add) and is_literal(node.right, 1) and _is_array(case, file, node.left)
    ]


def _is_array(case: Case, file: CrashFrame, node: ast.expr) -> bool:
    """Whether an expression is a whole array: what one of the calls that make one gives, in a variable."""
    made = [called(part) for _, part in [(file, node), *straight(case, file, node)]]
    return any(name in _ARRAYS for name in made)


def _one_further_here(case: Case) -> Iterator[Related]:
    found = re.search(_INDEX, case.crash["message"])
    for file, node in _one_further(case, found)[:1] if found is not None else ():
        yield note(file.source, node, "error.one_further")


def _not_further(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``steps + 1`` → ``steps``"""
    for file, node in _one_further(case, found)[:1]:
        assert isinstance(node, ast.BinOp)
        yield replace(file, node, file.text(node.left), safe=False)


_Moved = tuple[CrashFrame, ast.BinOp, ast.AugAssign, ast.For]
_OF_OTHERS = ("gather", "index_select", "index_add", "index_add_", "scatter_add", "scatter_add_")
"""Methods whose second argument is an index."""


def _moved(case: Case) -> list[_Moved]:
    """Where indices are moved by what a loop has counted of the elements of something: ``edges + offset``, ``offset += len(nodes)``."""
    index = case.frame.node.slice if isinstance(case.frame.node, ast.Subscript) else None
    index = case.frame.argument(1, "index") if is_method_call(case.frame.node, *_OF_OTHERS) else index
    found: dict[int, _Moved] = {}
    for file, node in made_from(case, case.frame, index) if index is not None else ():
        name = plain_name(node.right) if is_binary(node, ast.Add) else None
        loops = [part for part in edits.path_to(file.tree, node) if isinstance(part, ast.For)]
        for part in nodes_in(loops[-1], ast.AugAssign) if name is not None and loops else ():
            if plain_name(part.target) == name and _length_of(part.value) is not None and is_binary(node, ast.Add):
                found[id(node)] = (file, node, part, loops[-1])
    return list(found.values())


def _length_of(node: ast.expr) -> ast.expr | None:
    """``x`` of ``len(x)``, ``x.size(0)``, ``x.shape[0]``, or of another dimension."""
    if is_function_call(node, "len") and len(node.args) == 1:
        return node.args[0]
    if is_method_call(node, "size") and node.args:
        return node.func.value
    shape = node.value if isinstance(node, ast.Subscript) else None
    return shape.value if isinstance(shape, ast.Attribute) and shape.attr == "shape" else None


def _moved_here(case: Case) -> Iterator[Related]:
    for file, node, counted, _ in _moved(case)[:MAX_SHOWN]:
        yield note(file.source, node, "error.moved_by", count=file.source.on_one_line(counted.value)[:40])
        yield note(file.source, counted, "error.counted_for_index")


def _moved_by_its_own(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``offset += edges.shape[1]`` → ``nodes.shape[0]``, of which what is indexed is made up, in the same loop."""
    node = case.frame.node
    whole = node.value if isinstance(node, ast.Subscript) else None
    way = straight(case, case.frame, whole)[-1:] if whole is not None else []
    made = {id(part) for file, start in way for _, part in made_from(case, file, start)}
    for file, _, counted, loop in _moved(case)[:1]:
        filled = [part.args[0] for part in nodes_in(loop, ast.Call) if is_method_call(part, "append") and part.args]
        parts = [part for part in filled if id(part) in made]
        length = _length_of(counted.value)
        if len(parts) == 1 and length is not None and file.text(length) != file.text(parts[0]):
            yield replace(file, counted.value, f"{file.text(parts[0])}.shape[0]", safe=False)


def _moved_by_others(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``reverse + offset`` → ``reverse + offset_e``, which counts the elements of another list that the loop fills."""
    for file, node, counted, loop in _moved(case)[:1]:
        whole = _length_of(counted.value)
        name = plain_name(node.right)
        scope = around(file.tree, loop)
        starts = [
            part
            for part in nodes_in(scope, ast.Assign)
            if is_literal(part.value, 0) and part.lineno < loop.lineno and plain_name(part.targets[0]) == name
        ]
        filled = [part.args[0] for part in nodes_in(loop, ast.Call) if is_method_call(part, "append") and part.args]
        for other in of_kind(filled, ast.Attribute) if len(starts) == 1 else ():
            if not isinstance(whole, ast.Attribute) or file.text(other.value) != file.text(whole.value):
                continue
            if other.attr == whole.attr:
                continue
            new = f"{name}_{other.attr.lower()}"
            text = file.text(counted).replace(file.text(whole), file.text(other)).replace(str(name), new, 1)
            changes = (
                edits.insert_line_before(file.source, starts[0], f"{new} = 0"),
                edits.replace(file.source, node.right, new),
                edits.insert_line_before(file.source, counted, text),
            )
            yield Fix(message("fix.moved_by", index=file.text(node.left), count=file.text(other)), changes, safe=False)


# elements


def _largest_and_one(case: Case) -> list[tuple[CrashFrame, ast.BinOp, ast.Call]]:
    """Where things are counted by the largest index that names one: ``int(edges.max()) + 1``, which leaves out those that none names."""
    found: dict[int, tuple[CrashFrame, ast.BinOp, ast.Call]] = {}
    for operand in case.frame.operands():
        for file, node in made_from(case, case.frame, operand):
            if is_binary(node, ast.Add) and is_literal(node.right, 1) and isinstance(node, ast.BinOp):
                for part in nodes_in(node.left, ast.Call):
                    if called(part) in ("max", "amax") and len(given_to(part)) <= 1:
                        found[id(node)] = (file, node, part)
    return list(found.values())


def _largest_here(case: Case) -> Iterator[Related]:
    for file, node, _ in _largest_and_one(case)[:MAX_SHOWN]:
        yield note(file.source, node, "error.largest_and_one")


def _counted_themselves(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``int(graph["edges"].max()) + 1`` → ``graph["x"].size(0)``, of what the other operands were made from, out of the same whole."""
    for file, node, largest in _largest_and_one(case)[:MAX_SHOWN]:
        read = largest.func.value if isinstance(largest.func, ast.Attribute) and not largest.args else largest.args[0]
        owner = read.value if isinstance(read, ast.Subscript | ast.Attribute) else None
        scope = around(file.tree, node)
        others = {
            file.text(part): part
            for operand in case.frame.operands()
            for place, part in made_from(case, case.frame, operand)
            if isinstance(part, type(read)) and place is file and around(file.tree, part) is scope
            if isinstance(part, ast.Subscript | ast.Attribute) and owner is not None
            if file.text(part.value) == file.text(owner) and file.text(part) != file.text(read)
        }
        for text in list(others)[:1]:
            yield replace(file, node, f"{text}.size(0)", safe=False)


# steps


def _rounded_down(case: Case, found: re.Match[str]) -> list[tuple[CrashFrame, ast.BinOp]]:
    """The divisions that round down where the steps of a schedule are counted, of which it makes a few more."""
    made, wanted = int(found[1]), int(found[2])
    places: dict[int, tuple[CrashFrame, ast.BinOp]] = {}
    calls = [(file, call) for file in case.files for call in file.all(ast.Call) if keyword_of(call, "total_steps")]
    for file, call in calls if made == wanted + 1 else ():
        given = argument_of(call, None, "total_steps")
        for place, node in made_from(case, file, given) if given is not None else ():
            match node:
                case ast.BinOp(op=ast.FloorDiv(), left=ast.UnaryOp(op=ast.USub(), operand=inner)) if not is_binary(
                    inner, ast.FloorDiv
                ):  # -(-rows // batch)
                    continue
                case ast.BinOp(op=ast.FloorDiv()):
                    places[id(node)] = (place, node)
    return list(places.values())


def _rounded_down_here(case: Case) -> Iterator[Related]:
    found = re.search(_STEPS, case.crash["message"])
    for file, node in _rounded_down(case, found)[:MAX_SHOWN] if found is not None else ():
        yield note(file.source, node, "error.rounded_down")


def _rounded_up(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``batches // accumulate`` → ``-(-batches // accumulate)``, which counts the last update of fewer batches too."""
    for file, node in _rounded_down(case, found)[:MAX_SHOWN]:
        left = file.text(node.left)
        whole = left if isinstance(node.left, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({left})"
        yield replace(file, node, f"-(-{whole} // {file.text(node.right)})", safe=False)


_ELEMENTS = r"should be equal to source\.size|must match the size of tensor|doesn't match|out of bounds|out of range"
_STEPS = r"Tried to step (\d+) times\. The specified number of total steps is (\d+)"
_LABEL = r"Target \d+ is out of bounds"
_BROADCAST = r"size of tensor a \(\d+\) must match the size of tensor b \(\d+\)"
_INDEX = r"index (\d+) is out of bounds for (?:axis|dimension) \d+ with size (\d+)"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_LABEL, _from_zero),
    (_BROADCAST, _all_counted),
    (_INDEX, _not_further),
    (_INDEX, _moved_by_its_own),
    (_INDEX, _moved_by_others),
    (_ELEMENTS, _counted_themselves),
    (_STEPS, _rounded_up),
)
PLACES = (
    (_LABEL, _from_one_here),
    (_BROADCAST, _counts_here),
    (_INDEX, _one_further_here),
    (_INDEX, _moved_here),
    (_ELEMENTS, _largest_here),
    (_STEPS, _rounded_down_here),
)
