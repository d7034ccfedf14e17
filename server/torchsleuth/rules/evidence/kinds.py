"""Values of another kind than an operator takes: how that is said, and what they are made into."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import argument_nodes, operator_text, shape_text
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.evidence.operands import operands
from torchsleuth.rules.rule import Analysis, Candidate, added_argument
from torchsleuth.schema import Edit, Related
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of
from torchsleuth.values import Array, ListValue, MixedColumn, Scalar

DTYPES = frozenset(
    "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 bool complex64 half float double short int long".split()
)
"""Names of dtypes of PyTorch that people write as strings, or take from NumPy."""
_OPERANDS = re.compile(r"unsupported operand type\(s\) for \S+ '(\w+)' and '(\w+)'")
_ELEMENT = re.compile(r"expected Tensor as element (\d+) in argument 0, but got (\w+)")
_ARRAY = re.compile(r"expected np\.ndarray \(got (\w+)\)")
_OBJECTS = "can't convert np.ndarray of type numpy.object_"
_NUMBERS = ("int", "float", "bool")
_WORDS = {"NoneType": "None", "int": "an int", "numpy": "an array"}


def explained(analysis: Analysis, failure: OperatorFailure) -> str | None:
    """The message for one, None for other failures."""
    error, operation = failure.failure.message, failure.operation
    source, node = operation.site.source, operation.site.node
    text = source.on_one_line(node) if isinstance(node, ast.expr | ast.stmt) else ""
    if "must be Tensor, not" in error:
        return _of_strings(failure)
    odd = _odd_operand(failure)
    if odd is not None:
        given = source.on_one_line(odd[0])
        return message("kinds.operand", given=given, kind=odd[1], text=text)
    if "argument 'dtype' must be torch.dtype" in error and isinstance(node, ast.Call):
        written = argument_of(node, None, "dtype")
        return message("kinds.dtype", given=source.segment(written)) if written is not None else None
    found = _ELEMENT.search(error)
    if found is not None and isinstance(node, ast.Call) and node.args:
        name = source.on_one_line(node.args[0])
        kind = _WORDS.get(found[2], f"a {found[2]}")
        identifier = "kinds.element.list" if found[2] in ("list", "tuple") else "kinds.element"
        return message(identifier, operator=operator_text(operation), index=found[1], name=name, kind=kind)
    found = _ARRAY.search(error)
    if found is not None and isinstance(node, ast.Call) and node.args:
        return message("kinds.array", name=source.on_one_line(node.args[0]), kind=found[1].lower())
    if _OBJECTS in error and isinstance(node, ast.Call) and node.args:
        mixed, name = _mixed(failure), source.on_one_line(node.args[0])
        if mixed is None:
            return message("kinds.objects", name=name)
        kind = "kinds.objects.truths" if mixed.dtype == "bool" else "kinds.objects.text"
        return message(kind, name=name, column=mixed.name)
    if "of a single element" in error and operands(operation):
        several = operands(operation)[0]
        return message("kind.index.several", text=several.text().strip("`"), shape=shape_text(several.spec))
    if "invalid data type 'str'" in error and isinstance(node, ast.Subscript):
        held = operands(operation)[0]
        name, key = source.segment(node.value), source.segment(node.slice)
        return message("kinds.entry", name=name, shape=shape_text(held.spec), key=key)
    return None


def _of_strings(failure: OperatorFailure) -> str | None:
    """The message about labels that are names."""
    operation = failure.operation
    nodes = argument_nodes(operation) if operation.written else []
    for index, value in enumerate(operation.args):
        items = value.items if isinstance(value, ListValue) else None
        if items and all(isinstance(one, str) or (isinstance(one, Scalar) and one.type == "str") for one in items):
            given = f"`{ast.unparse(nodes[index])}`" if index < len(nodes) else "an argument"
            return message("kinds.strings", given=given, count=len(items), operator=operator_text(operation))
    return None


def converted(analysis: Analysis, failure: OperatorFailure) -> Iterator[Candidate]:
    """Replacements that are a tensor, a dtype, or a size."""
    error, site = failure.failure.message, failure.operation.site
    source, node = site.source, site.call
    odd = _odd_operand(failure)
    made, imports = spelled(analysis, source.path, "torch.tensor")
    if odd is not None and odd[1] in ("a list", "a tuple"):
        text = source.segment(odd[0])
        yield _replaced(text, f"{made}({text})", imports, edits.replace(source, odd[0], f"{made}({text})"))
    if node is None:
        return
    dtype = argument_of(node, None, "dtype")
    if "argument 'dtype' must be torch.dtype" in error and dtype is not None:
        name = str(dtype.value) if isinstance(dtype, ast.Constant) else getattr(dtype, "attr", "")
        plain = name.rpartition(".")[2].rstrip("_")
        if plain in DTYPES:
            new, wanted = spelled(analysis, source.path, f"torch.{plain}")
            yield _replaced(source.segment(dtype), new, wanted, edits.replace(source, dtype, new))
    weights = re.search(r"cannot assign '(?:list|tuple|float|int)' object to buffer '(\w+)'", error)
    given = argument_of(node, None, weights[1]) if weights is not None else None
    if given is not None:
        text = source.segment(given)
        new = f"{made}({text})" if isinstance(given, ast.List | ast.Tuple | ast.Name) else f"{made}([{text}])"
        yield _replaced(text, new, imports, edits.replace(source, given, new))
    if not node.args:
        return
    first, element, array = source.segment(node.args[0]), _ELEMENT.search(error), _ARRAY.search(error)
    if element is not None and element[2] in _NUMBERS and failure.operation.target == "torch.stack":
        new = f"{made}({first})"
        yield _replaced(source.segment(node), new, imports, edits.replace(source, node, new))
    if element is not None and element[2] in ("list", "tuple"):
        new = f"[part for parts in {first} for part in parts]"
        yield _replaced(first, new, (), edits.replace(source, node.args[0], new))
    if _OBJECTS in error:
        yield from _of_objects(failure, source.segment(node.args[0]))
    if array is not None:
        new = first if array[1] == "Tensor" else f"{made}({first})"
        wanted = () if array[1] == "Tensor" else imports
        yield _replaced(source.segment(node), new, wanted, edits.replace(source, node, new))
    place = re.search(r"\(position (\d+)\) must be tuple of ints, not int$", error)
    if place is not None:
        index = int(place[1]) - 1
        if index < len(node.args):
            text = source.segment(node.args[index])
            yield _replaced(text, f"({text},)", (), edits.replace(source, node.args[index], f"({text},)"))


def mixed_here(failure: OperatorFailure) -> tuple[Related, ...]:
    """Where the columns were made for which an array is one of objects."""
    mixed = _mixed(failure)
    return (mixed.site.span.related(message("related.truths")),) if mixed is not None and mixed.site is not None else ()


def _mixed(failure: OperatorFailure) -> MixedColumn | None:
    held = as_kind(failure.operation.first, Array)
    return as_kind(held.slots.get("mixed"), MixedColumn) if held is not None else None


def _of_objects(failure: OperatorFailure, given: str) -> Iterator[Candidate]:
    """Numbers in the place of truths: where the columns were made, or in the array."""
    mixed, site, node = _mixed(failure), failure.operation.site, failure.operation.site.call
    if mixed is None or mixed.dtype != "bool" or node is None:
        return
    if mixed.site is not None and mixed.site.call is not None:
        yield added_argument(mixed.site.source, mixed.site.call, "dtype=float")
    new = f'{given}.astype("float32")'
    yield _replaced(given, new, (), edits.replace(site.source, node.args[0], new))


def _odd_operand(failure: OperatorFailure) -> tuple[ast.expr, str] | None:
    """The side of ``+`` that is neither a number nor a tensor, and of which kind it is; the list that a tensor is to multiply."""
    found, node = _OPERANDS.search(failure.failure.message), failure.operation.site.node
    if "of a single element" in failure.failure.message and isinstance(node, ast.BinOp):
        pairs = zip((node.left, node.right), failure.operation.args)
        return next(((side, "a list") for side, value in pairs if isinstance(value, ListValue)), None)
    if found is None:
        return None
    match node:
        case ast.BinOp():
            sides = [node.left, node.right]
        case ast.AugAssign():
            sides = [node.target, node.value]
        case _:
            return None
    odd = 1 if found[1] == "Tensor" else 0
    return sides[odd], _WORDS.get(found[odd + 1], f"a {found[odd + 1]}")


def _replaced(old: str, new: str, imports: tuple[Edit, ...], edit: Edit) -> Candidate:
    return Candidate(message("fix.replace", old=" ".join(old.split()), new=" ".join(new.split())), (*imports, edit))
