"""What values have become on their way: floating point numbers where indices belong, tensors where numbers do, labels that are to be
ignored where each is looked up, gradients of what the loss has not used."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import add_argument, append_in, replace
from torchsleuth.errors.provenance import made_from, straight
from torchsleuth.errors.reached import Filled, bound, keys_of, note
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    given_to,
    is_function_call,
    is_literal,
    is_method_call,
    keyword_of,
    last_word,
    literal,
    nodes_in,
    plain_name,
)
from torchsleuth.syntax.trees import index

MAX_SHOWN = 2
_MAKES = ("zeros", "ones", "empty", "full", "rand", "randn", "array", "tensor", "FloatTensor", "as_tensor", "asarray")
_WHOLE = re.compile(r"(?:u?int\d*|long|int_|LongTensor)$")

# indices


def _floats(case: Case) -> list[Filled]:
    """Where the indices became floating point numbers: by their dtype, by the default one, by a conversion."""
    found: dict[int, Filled] = {}
    for operand, tensor in case.frame.tensor_operands():
        is_index = "float" in tensor["dtype"] and operand is not _receiver(case)
        for file, node in made_from(case, case.frame, operand) if is_index else ():
            if isinstance(node, ast.Call) and (_is_float(file, node) or is_method_call(node, "float", "double")):
                found[id(node)] = (file, node)
    return list(found.values())


def _receiver(case: Case) -> ast.expr | None:
    """The tensor that is looked up in, where the line names it."""
    call = case.frame.call
    if call is None:
        return case.frame.node.value if isinstance(case.frame.node, ast.Subscript) else None
    method = isinstance(call.func, ast.Attribute) and case.frame.tensor(call.func.value) is not None
    return call.func.value if method and isinstance(call.func, ast.Attribute) else argument_of(call, 0, "input")


def _is_float(file: CrashFrame, node: ast.Call) -> bool:
    """Whether a call makes an array of floating point numbers: that is said by its dtype, or is what there is without one."""
    if called(node) not in _MAKES:
        return False
    given = keyword_of(node, "dtype")
    kinds = [last_word(part) for part in node.args[1:]]
    kind = last_word(given.value) if given is not None else next((part for part in kinds if part), "")
    if given is not None or any(re.match(r"(?:float|u?int)\d*$", part) for part in kinds):
        return kind.startswith(("float", "double", "half"))
    return called(node) in ("zeros", "ones", "empty", "rand", "randn", "FloatTensor")


def _floats_here(case: Case) -> Iterator[Related]:
    for file, node in _floats(case)[:MAX_SHOWN]:
        yield note(file.source, node, "error.float_here")


# labels that are ignored


def _ignored(case: Case) -> list[tuple[ast.expr, ast.expr]]:
    """The index that has negative numbers which the function compares it with elsewhere, to leave them out: with that comparison."""
    found: list[tuple[ast.expr, ast.expr]] = []
    for node in case.frame.operands()[1:]:
        root = node
        while is_method_call(root) or isinstance(root, ast.Subscript):
            root = root.value if isinstance(root, ast.Subscript) else root.func.value
        known = [case.frame.tensor(node), case.frame.tensor(root), case.frame.named.get(plain_name(root) or "")]
        bounds = next((tensor["range"] for tensor in known if tensor is not None and tensor.get("range")), None)
        if plain_name(root) is None or not bounds or bounds[0] >= 0:
            continue
        for part in nodes_in(case.frame.enclosing, ast.Compare):
            if plain_name(part.left) == plain_name(root) and isinstance(part.ops[0], ast.NotEq | ast.Eq | ast.GtE):
                found.append((node, part))
    return found


def _ignored_here(case: Case) -> Iterator[Related]:
    for _, part in _ignored(case)[:1]:
        yield note(case.frame.source, part, "error.left_out_here")
    for node, _ in _ignored(case)[:1]:
        for file, part in made_from(case, case.frame, node):
            minus = isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub)
            if minus and isinstance(part, ast.UnaryOp) and is_literal(part.operand, 100):
                yield note(file.source, part, "error.ignored_made")
                return


def _looked_up_as_first(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``logps.gather(2, labels.unsqueeze(2))`` → ``… labels.unsqueeze(2).clamp(min=0)``, where a mask leaves out what that gives."""
    for node, _ in _ignored(case)[:1]:
        yield append_in(case.frame.source, node, ".clamp(min=0)", safe=False)


# numbers

_REDUCES = ("sum", "mean", "max", "min", "norm", "std", "var", "prod", "amax", "amin", "median")


def _kept_tensors(case: Case, value: Filled) -> list[Filled]:
    """The sums that a value is made from and that are kept as tensors: ``self.correct += (guess == target).sum()``."""
    found: dict[int, Filled] = {}
    for file, node in made_from(case, *value):
        if is_method_call(node, *_REDUCES) and not given_to(node) and _is_kept(file, node):
            found[id(node)] = (file, node)
    return list(found.values())


def _is_kept(file: CrashFrame, node: ast.expr) -> bool:
    """Whether an expression is the whole of what a statement adds to a variable, or gives it."""
    return any(isinstance(part, ast.AugAssign | ast.Assign) and part.value is node for part in index(file.tree).nodes)


def tensors_here(case: Case, value: Filled) -> Iterator[Related]:
    for file, node in _kept_tensors(case, value)[:MAX_SHOWN]:
        yield note(file.source, node, "error.tensor_here")


def as_number(case: Case, value: Filled) -> Iterator[Fix]:
    """``self.correct += (guess == target).sum()`` → ``….sum().item()``"""
    made = _kept_tensors(case, value)
    for file, node in made if len(made) == 1 else ():
        yield append_in(file.source, node, ".item()")


# gradients


def _unused(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.autograd.grad(loss, weights)`` → ``…, materialize_grads=True``: zeros for what the loss has not used."""
    call = case.frame.call
    if called(call) == "grad" and call is not None and keyword_of(call, "allow_unused") is None:
        yield add_argument(case.frame.source, call, "materialize_grads=True", safe=False)


# filters


def _never(case: Case) -> list[tuple[CrashFrame, ast.Call, ast.Dict]]:
    """The conditions that ask whether a dictionary is empty which is written out with its keys, where a tensor has no elements."""
    if not any(0 in tensor["shape"] for _, tensor in case.frame.tensors()):
        return []
    found = []
    for file in case.files:
        for node in file.all(ast.Compare):
            given = node.left.args[0] if is_function_call(node.left, "len") and node.left.args else None
            if given is None or not isinstance(node.ops[0], ast.Eq) or literal(node.comparators[0]) != 0:
                continue
            made = next((part for _, part in reversed(straight(case, file, given)) if isinstance(part, ast.Dict)), None)
            if made is not None and made.keys and None not in made.keys and isinstance(given, ast.Name):
                assert isinstance(node.left, ast.Call)
                found.append((file, node.left, made))
    return found


def _never_here(case: Case) -> Iterator[Related]:
    for file, call, made in _never(case)[:1]:
        name = file.text(call.args[0])
        yield note(file.source, call, "error.never_true", name=name, count=len(made.keys))


def _really_empty(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``len(objects) == 0`` → ``len(objects["boxes"]) == 0``"""
    for file, call, made in _never(case)[:1]:
        texts = [str(literal(key)) for key in made.keys if isinstance(literal(key), str)]
        read = [key for key in keys_of(case) if key in texts]
        of_lists = [
            str(literal(key))
            for key, value in zip(made.keys, made.values)
            if isinstance(bound(file, value), ast.List | ast.ListComp) and isinstance(literal(key), str)
        ]
        for key in [*read, *of_lists][:1]:
            given = call.args[0]
            yield replace(file, given, f'{file.text(given)}["{key}"]', safe=False)


# lengths, and values that are missing


def _longest(case: Case) -> list[Filled]:
    """Where the length was taken from some sequences of what a longer one does not fit into: ``max(len(row) for row in left)``."""
    statement = case.frame.statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    whole = target.value if isinstance(target, ast.Subscript) else None
    return [
        (file, node)
        for file, node in (made_from(case, case.frame, whole) if whole is not None else ())
        if is_function_call(node, "max") and any(is_function_call(part, "len") for part in nodes_in(node, ast.Call))
    ]


def _longest_here(case: Case) -> Iterator[Related]:
    for file, node in _longest(case)[:1]:
        yield note(file.source, node, "error.longest_here")


def _missing_here(case: Case) -> Iterator[Related]:
    """Where a value of the failing expression was left None: ``float(text) if text else None``."""
    for operand in case.frame.operands():
        if (case.frame.value(operand) or {}).get("type") != "NoneType":
            continue
        for file, node in made_from(case, case.frame, operand):
            if isinstance(node, ast.IfExp) and (is_literal(node.orelse, None) or is_literal(node.body, None)):
                yield note(file.source, node, "error.left_none")
                return


_EXPANDED = r"The expanded size of the tensor \(\d+\) must match the existing size"
_NONE = r"NoneType"
_INDEX_TYPE = r"tensors used as indices must be long|Expected dtype int(?:32/int)?64 for index|scalar types?: Long, Int"
_NEGATIVE = r"index -\d+ is out of bounds for dimension|Class values must be non-negative"
_UNUSED = r"appears? to not have been used in the graph"
_EMPTY = r"too many indices for tensor|expected reduction dim|at least one|non-empty|non-zero|dimension"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_NEGATIVE, _looked_up_as_first),
    (_UNUSED, _unused),
    (_EMPTY, _really_empty),
)
PLACES = (
    (_INDEX_TYPE, _floats_here),
    (_NEGATIVE, _ignored_here),
    (_EMPTY, _never_here),
    (_EXPANDED, _longest_here),
    (_NONE, _missing_here),
)
