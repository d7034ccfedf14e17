"""Operands whose dtypes do not go together."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.errors.case import Case
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import append, convert_input, convert_receiver, replace
from torchsleuth.explanations import BY_FAMILY, WANTS_FLOATS
from torchsleuth.schema import Fix
from torchsleuth.sifting import as_kind

_SUFFIX = {
    "float32": ".float()",
    "float64": ".double()",
    "float16": ".half()",
    "bfloat16": ".bfloat16()",
    "int64": ".long()",
}


def _weight_dtype(case: Case) -> str | None:
    """The dtype that the failing layer computes in."""
    tensors = (case.module or {}).get("tensors", {})
    first = next(iter(tensors.values()), None)
    return first["dtype"] if first is not None else None


_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})


def _match_fixes(case: Case) -> Iterator[Fix]:
    """The layer's input in the dtype of its weights; of two operands, the one that is not float32."""
    wanted = _weight_dtype(case)
    if wanted is not None and case.given is not None and case.given[1]["dtype"] != wanted:
        yield append(case.frame, case.given[0], _SUFFIX.get(wanted, ".float()"))
        return
    found = case.frame.tensor_operands()
    floats = [(node, tensor) for node, tensor in found if tensor["dtype"] in _FLOATS]
    if len({tensor["dtype"] for _, tensor in floats}) > 1:
        found = floats  # Indices among the operands have nothing to do with it.
    if case.module is None and len({tensor["dtype"] for _, tensor in found}) > 1:
        common = "float32" if any(tensor["dtype"] == "float32" for _, tensor in found) else found[0][1]["dtype"]
        for node, tensor in found:
            if tensor["dtype"] != common:
                yield append(case.frame, node, _SUFFIX.get(common, f".to(torch.{common})"))
        return
    # The layer sits inside another one: what the user's line passes in is the place to convert, if it is odd itself.
    for node, tensor in found:
        if wanted is not None and tensor["dtype"] != wanted:
            yield append(case.frame, node, _SUFFIX.get(wanted, ".float()"))
            return


def _text(case: Case) -> str:
    return "error.dtype.layer" if _weight_dtype(case) is not None and case.input is not None else "error.dtype"


def _not_devices(case: Case) -> bool:
    """ "Input type (X) and weight type (Y)" also tells of a layer on another device."""
    return "cuda" not in "".join(part or "" for part in case.match.groups())


def _invert(case: Case) -> Iterator[Fix]:
    """``1 - mask`` and ``-mask`` → ``~mask``."""
    node = case.frame.node
    match node:
        case ast.BinOp() if isinstance(node.left, ast.Constant):
            yield replace(case.frame, node, f"~{case.frame.text(node.right)}")
        case ast.UnaryOp():
            yield replace(case.frame, node, f"~{case.frame.text(node.operand)}")


def _mask_fixes(case: Case) -> Iterator[Fix]:
    for node, tensor in case.frame.tensor_operands():
        if tensor["dtype"] != "bool":
            method = case.frame.method() or ""
            is_receiver = case.frame.call is not None and node is getattr(case.frame.call.func, "value", None)
            if not (method.startswith("masked_fill") and is_receiver):
                yield append(case.frame, node, ".bool()")
                return


def _source_fixes(case: Case) -> Iterator[Fix]:
    """``table[i] = value`` → ``value.to(table.dtype)``."""
    statement = as_kind(case.frame.statement, ast.Assign)
    if statement is not None and isinstance(statement.targets[0], ast.Subscript):
        target = case.frame.text(statement.targets[0].value)
        yield append(case.frame, statement.value, f".to({target}.dtype)")


def _grow_fixes(case: Case) -> Iterator[Fix]:
    """``count += 0.5`` on integers → ``count = count + 0.5``."""
    statement = as_kind(case.frame.statement, ast.AugAssign)
    operators = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
    if statement is not None and type(statement.op) in operators:
        target, value = case.frame.text(statement.target), case.frame.text(statement.value)
        yield replace(case.frame, statement, f"{target} = {target} {operators[type(statement.op)]} {value}")


def _requires_grad_fixes(case: Case) -> Iterator[Fix]:
    node = case.frame.argument(0, "data")
    if node is not None and case.frame.tensor(node) is not None:
        yield append(case.frame, node, ".float()")


ENTRIES = (
    entry(
        BY_FAMILY,
        r"mat1 and mat2 must have the same dtype|expected m1 and m2 to have the same dtype|expected scalar type \w+ but found|"
        r"RNN input dtype|mixed dtype \(CPU\)|self and mat2 must have the same dtype|have the same dtype, but got|"
        r"expected .* to have the same dtype|expected dtype \w+ for `\w+` but got dtype",
        _text,
        _match_fixes,
        example="from torch import nn\nfc = nn.Linear(3, 2)\nx = torch.zeros(4, 3, dtype=torch.float64)\nfc(x)",
    ),
    entry(
        BY_FAMILY,
        r"Input type \((.+?)\) and (?:bias|weight) type \((.+?)\) should be the same",
        _text,
        _match_fixes,
        applies=_not_devices,
        example="from torch import nn\nconv = nn.Conv2d(3, 8, 3)\nx = torch.zeros(2, 3, 8, 8, dtype=torch.float64)\nconv(x)",
    ),
    entry(
        BY_FAMILY,
        r"mean\(\): could not infer output dtype|std and var only support floating point",
        "error.needs_float",
        convert_receiver(".float()"),
        example="hits = torch.tensor([1, 0, 1])\nhits.mean()",
    ),
    entry(
        BY_FAMILY,
        r"\"(\w+)\" not implemented for '(?:Long|Int|Bool|Byte|Short)'",
        "error.needs_float",
        convert_input(".float()"),
        example="x = torch.tensor([1, 2])\ntorch.softmax(x, dim=0)",
    ),
    entry("TS301", r"\"(\w+)\" not implemented for '(\w+)'", "error.not_implemented"),
    entry(
        BY_FAMILY,
        r"(?:Subtraction, the `-` operator, with|Negation, the `-` operator, on) .*bool tensor",
        "error.bool_minus",
        _invert,
        example="mask = torch.tensor([True, False])\n1 - mask",
    ),
    entry(
        BY_FAMILY,
        r"Index put requires the source and destination dtypes match, got (\w+) for the destination and (\w+) for the source",
        "error.index_put",
        _source_fixes,
        example="table = torch.zeros(4)\ntable[torch.tensor([0])] = torch.zeros(1, dtype=torch.float64)",
    ),
    entry(
        BY_FAMILY,
        r"masked_fill_? only supports boolean masks|where expected condition to be a boolean tensor|expected condition to be a boolean|expected predicate to be bool",
        "error.mask_dtype",
        _mask_fixes,
        example="x, mask = torch.zeros(3), torch.zeros(3)\nx.masked_fill(mask, 1.0)",
    ),
    entry(
        "TS301",
        r"result type (\w+) can't be cast to the desired output type (\w+)",
        "error.inplace_dtype",
        _grow_fixes,
        example="count = torch.zeros(3, dtype=torch.long)\ncount += 0.5",
    ),
    entry(
        BY_FAMILY,
        r"[Oo]nly Tensors of floating point(?: and complex)? dtype can require gradients",
        "error.integer_grad",
        _requires_grad_fixes,
        example="from torch import nn\nnn.Parameter(torch.tensor([1, 2]))",
    ),
    entry(
        BY_FAMILY,
        r"value cannot be converted to type .* without overflow",
        "error.overflow",
        example="x, mask = torch.zeros(3, dtype=torch.half), torch.ones(3, dtype=torch.bool)\nx.masked_fill(mask, -1e9)",
    ),
    entry(
        "TS301",
        r"can't convert np\.ndarray of type numpy\.(\w+)",
        "error.numpy_object",
        example="import numpy as np\na = np.array(['a', 1], dtype=object)\ntorch.from_numpy(a)",
    ),
    entry(
        BY_FAMILY,
        WANTS_FLOATS,
        "error.needs_float",
        convert_input(".float()"),
        example="torch.quantile(torch.zeros(4).half(), 0.5)",
    ),
)
