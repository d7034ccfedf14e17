"""Sizes of operands: products, broadcasting, view and reshape, concatenation, dimensions and indices."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from itertools import islice

from torchsleuth.errors.case import Case
from torchsleuth.errors.constructor import change_argument
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import add_argument, append, append_in, convert_argument, fitted, rename_method, replace
from torchsleuth.explanations import BY_FAMILY
from torchsleuth.messages import message
from torchsleuth.schema import Fix
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import argument_of, is_binary, is_display, is_method_call, is_name, last_sizes, nodes_in
from torchsleuth.synthesis.shapes import transposed, widened

_CREATORS = ("randn", "rand", "zeros", "ones", "empty", "Tensor", "FloatTensor")


def _is_linear(case: Case) -> bool:
    return case.module is not None and "in_features" in case.module["attributes"] and case.input is not None


def _product_text(case: Case) -> str:
    if _is_linear(case):
        return "error.linear.flat" if _lost_batch(case) else "error.linear"
    return "error.matmul"


def _lost_batch(case: Case) -> bool:
    """One row (or none) that holds a whole batch: a bad flatten, not a wrong in_features."""
    if not _is_linear(case) or case.input is None or case.module is None:
        return False
    shape, wanted = case.input["shape"], case.module["attributes"]["in_features"]
    return bool((len(shape) == 1 or shape[0] == 1) and shape[-1] > wanted and shape[-1] % wanted == 0)


def _product_fixes(case: Case) -> Iterator[Fix]:
    if not _is_linear(case):
        yield from _transpose_to_fit(case)
        yield from _born_to_fit(case)
        return
    assert case.input is not None and case.module is not None
    shape, wanted = case.input["shape"], case.module["attributes"]["in_features"]
    if len(shape) == 1 or shape[0] == 1:
        yield from _flatten_keeping_batch(case)
    if _lost_batch(case):
        return
    if len(shape) == 3 and shape[1] == wanted and case.given is not None:
        yield append(case.frame, case.given[0], ".transpose(1, 2)")
    if len(shape) == 4 and shape[-1] != wanted and shape[1] * shape[2] * shape[3] == wanted and case.given is not None:
        yield append(case.frame, case.given[0], ".flatten(1)")
    yield from change_argument(case, shape[-1], "in_features", "in1_features")


def _flatten_keeping_batch(case: Case) -> Iterator[Fix]:
    """The flatten above the failing line in the same function, told to keep the first dimension."""
    frame = case.frame
    calls = [node for node in nodes_in(frame.enclosing, ast.Call) if node.lineno <= frame.line]
    for call in sorted(calls, key=lambda node: -node.lineno):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else None
        plain_function = isinstance(call.func, ast.Attribute) and is_name(call.func.value, "torch")
        given = len(call.args) + len(call.keywords) - (1 if plain_function else 0)
        if name == "flatten" and (given == 0 or _starts_at_zero(call)):
            if given:
                yield replace(frame, call.args[-1], "1")
            else:
                yield add_argument(
                    frame.source, call, "1" if not plain_function else "start_dim=1", message("fix.flatten")
                )
            return
        if name in ("view", "reshape") and not plain_function and isinstance(call.func, ast.Attribute):
            if [frame.text(item) for item in call.args] in (["-1"], ["1", "-1"]):
                receiver = frame.text(call.func.value)
                yield replace(frame, call, f"{receiver}.flatten(1)")
                return


def _starts_at_zero(call: ast.Call) -> bool:
    return len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0


def _transpose_to_fit(case: Case) -> Iterator[Fix]:
    """The operand of a product that fits when its last two dimensions change places."""
    found = case.frame.tensor_operands()
    if len(found) < 2:
        return
    (left, a), (right, b) = found[-2:]
    if len(a["shape"]) < 2 or len(b["shape"]) < 2:
        return
    inner, outer = a["shape"][-1], b["shape"][-2]
    yield from islice(fitted(case.frame, right, b, lambda shape: shape[-2] == inner, transposed), 1)
    yield from islice(fitted(case.frame, left, a, lambda shape: shape[-1] == outer, transposed), 1)


def _born_to_fit(case: Case) -> Iterator[Fix]:
    """The inner size of a product where one of its operands is created: ``torch.randn(256, 10)``."""
    found = case.frame.tensor_operands()
    if len(found) < 2 or len(found[-2][1]["shape"]) < 2 or len(found[-1][1]["shape"]) < 2:
        return
    (left, a), (right, b) = found[-2:]
    inner_left, inner_right = a["shape"][-1], b["shape"][-2]
    for node, dim, old, new in ((right, -2, inner_right, inner_left), (left, -1, inner_left, inner_right)):
        size = _created_with(case, node, dim, old)
        if size is not None:
            yield replace(case.frame, size, str(new))


def _created_with(case: Case, node: ast.expr, dim: int, size: int) -> ast.expr | None:
    """The literal size in the call that creates the value of a variable."""
    if not isinstance(node, ast.Name):
        return None
    for assignment in nodes_in(case.frame.enclosing, ast.Assign):
        if any(is_name(target, node.id) for target in assignment.targets):
            for call in ast.walk(assignment.value):
                if is_method_call(call, *_CREATORS):
                    first = call.args[0] if call.args else None
                    sizes = first.elts if is_display(first) else call.args
                    wanted = as_kind(sizes[dim], ast.Constant) if len(sizes) >= 2 else None
                    if wanted is not None and wanted.value == size:
                        return wanted
    return None


def _sizes(case: Case) -> str:
    return "error.broadcast" if len(case.frame.tensor_operands()) >= 2 else "error.generic"


def _broadcast_fixes(case: Case) -> Iterator[Fix]:
    """A missing dimension of size 1, or a transposition, that makes two operands broadcast."""
    found = case.frame.tensor_operands()
    if len(found) != 2:
        return
    (left, a), (right, b) = found
    for node, small, large in ((right, b["shape"], a["shape"]), (left, a["shape"], b["shape"])):
        for suffix in islice(widened(tuple(small), tuple(large)), 1):
            yield append(case.frame, node, suffix)
    yield from fitted(case.frame, right, b, lambda shape: shape == tuple(a["shape"]), transposed)


def _view_fixes(case: Case) -> Iterator[Fix]:
    """The sizes the tensor really has: the batch kept, the hard-coded number computed anew."""
    frame, node = case.frame, case.frame.node
    if not is_method_call(node):
        return
    receiver, tensor = node.func.value, frame.tensor(node.func.value)
    sizes = [int(part) for part in case.match[1].split(",") if part.strip()]
    written = node.args[0].elts if len(node.args) == 1 and is_display(node.args[0]) else node.args
    if tensor is None or len(sizes) != len(written):
        return
    shape, text, count = tensor["shape"], frame.text(receiver), math.prod(tensor["shape"])
    if len(sizes) > 1 and shape and sizes[0] not in (-1, shape[0]) and isinstance(written[0], ast.Constant | ast.Name):
        rest = math.prod(size for size in sizes[1:] if size != -1)
        if -1 in sizes[1:] or (rest and count == shape[0] * rest):
            yield replace(frame, written[0], f"{text}.size(0)")
    if len(sizes) == 2 and len(shape) > 2:
        yield replace(frame, node, f"{text}.flatten(1)")
    for index in range(len(sizes) - 1, 0, -1):
        rest = math.prod(size for place, size in enumerate(sizes) if place != index and size != -1)
        free = -1 in sizes[:index] + sizes[index + 1 :]
        if free and shape and count // shape[0] != sizes[index] and len(sizes) == 2:
            yield replace(frame, written[index], str(count // shape[0]))
        elif not free and rest and count % rest == 0 and count // rest != sizes[index]:
            yield replace(
                frame, written[index], str(count // rest) if isinstance(written[index], ast.Constant) else "-1"
            )


def _reshape(case: Case) -> Iterator[Fix]:
    if case.frame.method() == "view":
        yield from rename_method(case.frame, "reshape", message("fix.reshape"))


def _cat_fixes(case: Case) -> Iterator[Fix]:
    """The one dimension in which the tensors differ."""
    frame, call = case.frame, case.frame.call
    shapes = [tensor["shape"] for _, tensor in frame.tensor_operands()]
    if call is None or len(shapes) < 2 or len({len(shape) for shape in shapes}) != 1:
        return
    differing = [dim for dim, sizes in enumerate(zip(*shapes)) if len(set(sizes)) > 1]
    if len(differing) != 1:
        return
    written = argument_of(call, 1, "dim", "axis")
    if written is not None:
        yield replace(frame, written, str(differing[0]))
    else:
        yield add_argument(frame.source, call, f"dim={differing[0]}")


def _cat_rank_fixes(case: Case) -> Iterator[Fix]:
    found = case.frame.tensor_operands()
    highest = max((len(tensor["shape"]) for _, tensor in found), default=0)
    for node, tensor in found:
        if len(tensor["shape"]) == highest - 1:
            yield append(case.frame, node, ".unsqueeze(0)")
            yield append(case.frame, node, ".unsqueeze(1)")
            return


def _dim_fixes(case: Case) -> Iterator[Fix]:
    """``dim=-1``, in the call or where the layer was built."""
    wrong = case.match[3]
    for node in nodes_in(case.frame.node, ast.Constant, ast.UnaryOp) if case.frame.node is not None else ():
        if case.frame.text(node) == wrong:
            yield replace(case.frame, node, "-1")
            return
    if case.module is not None and str(case.module["attributes"].get("dim")) == wrong:
        yield from change_argument(case, -1, "dim")


def _gather_fixes(case: Case) -> Iterator[Fix]:
    """Dimensions of size 1 at the end of the index, as many as are missing."""
    node = case.frame.argument(1, "index")
    if case.frame.call is not None and case.frame.tensor(getattr(case.frame.call.func, "value", None)) is None:
        node = case.frame.argument(2, "index")
    found = case.frame.tensor_operands()
    index = case.frame.tensor(node)
    if node is None or index is None or not found:
        return
    missing = len(found[0][1]["shape"]) - len(index["shape"])
    if missing == 1:
        yield append(case.frame, node, ".unsqueeze(1)" if len(index["shape"]) == 1 else ".unsqueeze(-1)")


def _embedding_range(case: Case) -> list[float] | None:
    found = case.input or {}
    return found.get("whole_range") or found.get("range")


def _embedding_text(case: Case) -> str:
    bounds = _embedding_range(case)
    if case.module is None or bounds is None:
        return "error.index_range"
    return "error.embedding.negative" if bounds[0] < 0 else "error.embedding"


def _embedding_fixes(case: Case) -> Iterator[Fix]:
    bounds = _embedding_range(case)
    if case.module is not None and bounds is not None and bounds[0] >= 0:
        yield from change_argument(case, int(bounds[1]) + 1, "num_embeddings")


def _unpacked(case: Case) -> bool:
    """Unpacking is ours only where a tensor, a shape, a loader or a model's result is unpacked."""
    statement = case.frame.statement
    value = getattr(statement, "value", None) or getattr(statement, "iter", None)
    text = case.frame.text(value) if isinstance(value, ast.expr) else ""
    return ".shape" in text or ".size(" in text or case.frame.tensor(value) is not None or "loader" in text


def _scalar_item(case: Case) -> Iterator[Fix]:
    node = case.frame.node
    if is_method_call(node, "item"):
        yield append_in(case.frame.source, node.func.value, ".mean()")


def _integer_division(case: Case) -> Iterator[Fix]:
    """``/`` → ``//`` in a size."""
    for node in ast.walk(case.frame.node) if case.frame.node is not None else ():
        if is_binary(node, ast.Div):
            left, right = case.frame.text(node.left), case.frame.text(node.right)
            yield replace(case.frame, node, f"{left} // {right}")
            return
        if isinstance(node, ast.Name) and (case.frame.value(node) or {}).get("type") == "float":
            yield replace(case.frame, node, f"int({node.id})")
            return


def _spatial_part(case: Case) -> Iterator[Fix]:
    """``size=x.shape[1:]`` → ``size=x.shape[2:]``, as many sizes as there are spatial dimensions."""
    size = case.frame.argument(1, "size")
    wanted = last_sizes(size, case.match[1].count(",") + 1)
    if size is not None and wanted is not None:
        yield replace(case.frame, size, ast.unparse(wanted))


def _tensors(case: Case) -> str:
    return "error.cat" if len(case.frame.tensor_operands()) >= 2 else "error.generic"


ENTRIES = (
    entry(
        BY_FAMILY,
        r"mat1 and mat2 shapes cannot be multiplied|size mismatch, got input|a and b must have same reduction dim|size mismatch, m1",
        _product_text,
        _product_fixes,
        example="from torch import nn\nnet = nn.Linear(8, 4)\nnet(torch.zeros(2, 6))",
    ),
    entry(
        BY_FAMILY,
        r"Expected size for first two dimensions of batch2|Expected batch2_sizes",
        "error.matmul",
        _transpose_to_fit,
        example="q, k = torch.zeros(2, 5, 8), torch.zeros(2, 5, 8)\nq @ k",
    ),
    entry(BY_FAMILY, r"einsum\(\):", "error.einsum", example="a = torch.zeros(2, 3)\ntorch.einsum('ij,jk->ik', a, a)"),
    entry(
        BY_FAMILY,
        r"inconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\]",
        "error.dot",
        example="a, b = torch.zeros(3), torch.zeros(4)\ntorch.dot(a, b)",
    ),
    entry(
        BY_FAMILY,
        r"self must be a matrix|batch\d must be a 3D tensor|1D tensors expected|vector \+ matrix @|^[ab] must be \dD",
        "error.rank.product",
        example="a = torch.zeros(2, 3, 4)\ntorch.mm(a, a)",
    ),
    entry(
        BY_FAMILY,
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        _sizes,
        _broadcast_fixes,
        example="a, b = torch.zeros(4, 3), torch.zeros(4)\na + b",
    ),
    entry(
        BY_FAMILY,
        r"output with shape (?:torch\.Size\()?\[(.+?)\]\)? doesn't match the broadcast shape [\[(](.+?)[\])]",
        lambda case: "error.copy_shape" if case.frame.method() == "copy_" else "error.inplace_grows",
        example="a, b = torch.zeros(3), torch.zeros(2, 3)\na += b",
    ),
    entry(
        "TS103",
        r"Attempting to broadcast a dimension of length (\d+) at (-?\d+)!",
        lambda case: "error.broadcast.compiled" if len(case.frame.tensor_operands()) >= 2 else "error.generic",
        _broadcast_fixes,
    ),
    entry(
        BY_FAMILY,
        r"expand\(|number of sizes provided",
        "error.expand",
        example="a = torch.zeros(2, 3)\na.expand(4)",
    ),
    entry(
        BY_FAMILY,
        r"The expanded size of the tensor \((-?\d+)\) must match the existing size \((\d+)\) at non-singleton dimension (\d+)",
        "error.expanded",
        example="a = torch.zeros(2, 3)\na.expand(4, 3)",
    ),
    entry(
        BY_FAMILY,
        r"shape '\[(.+?)\]' is invalid for input of size (\d+)",
        "error.view_size",
        _view_fixes,
        example="a = torch.zeros(4, 3, 5)\na.view(4, 12)",
    ),
    entry(
        BY_FAMILY,
        r"only one dimension can be inferred",
        "error.two_unknown",
        example="a = torch.zeros(4, 3)\na.view(-1, -1)",
    ),
    entry(
        BY_FAMILY,
        r"view size is not compatible with input tensor's size and stride|Cannot view a tensor with shape .* and strides",
        "error.not_contiguous",
        _reshape,
        example="a = torch.zeros(4, 3).t()\na.view(12)",
    ),
    entry(
        BY_FAMILY,
        r"permute\((?:sparse_coo)?\): (?:number of dimensions|duplicate dims)",
        "error.permute",
        example="a = torch.zeros(4, 3)\na.permute(0, 2, 1)",
    ),
    entry(
        BY_FAMILY,
        r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)",
        "error.dim",
        _dim_fixes,
        example="a = torch.zeros(4)\ntorch.softmax(a, dim=1)",
    ),
    entry(
        BY_FAMILY,
        r"got input with spatial dimensions of \[(.*?)\] and output size of (?:torch\.Size\()?[(\[]([\d, ]*)",
        "error.output_size",
        _spatial_part,
        example="from torch.nn import functional as F\nx = torch.zeros(1, 2, 8)\nF.interpolate(x, size=x.shape[1:])",
    ),
    entry(
        BY_FAMILY,
        r"Sizes of tensors must match except in dimension (\d+)\.",
        _tensors,
        _cat_fixes,
        example="a, b = torch.zeros(4, 3), torch.zeros(4, 5)\ntorch.cat([a, b])",
    ),
    entry(
        BY_FAMILY,
        r"Tensors must have same number of dimensions: got (\d+) and (\d+)|zero-dimensional tensor \(at position|"
        r"Number of dimensions of tensors must match",
        _tensors,
        _cat_rank_fixes,
        example="a, b = torch.zeros(4, 3), torch.zeros(3)\ntorch.cat([a, b])",
    ),
    entry(
        BY_FAMILY,
        r"stack expects each tensor to be equal size, but got (?:torch\.Size\()?\[(.*?)\]\)? at entry (\d+) and "
        r"(?:torch\.Size\()?\[(.*?)\]\)? at entry (\d+)",
        "error.stack",
        applies=lambda case: not _collating(case),
        example="a, b = torch.zeros(4), torch.zeros(3)\ntorch.stack([a, b])",
    ),
    entry(
        BY_FAMILY,
        r"split_with_sizes expects split_sizes to sum exactly to (\d+)",
        "error.split",
        example="a = torch.zeros(5)\na.split([2, 2])",
    ),
    entry(
        "TS115",
        r"(not enough|too many) values to unpack \(expected (\d+)",
        "error.unpack",
        applies=_unpacked,
        example="x = torch.zeros(2, 3, 4)\nb, c, h, w = x.shape",
    ),
    entry(
        BY_FAMILY,
        r"The shape of the mask \[(.+?)\] at index (\d+) does not match the shape of the indexed tensor \[(.+?)\]",
        "error.mask",
        example="a = torch.zeros(4, 3)\na[torch.ones(3, dtype=torch.bool)]",
    ),
    entry(
        BY_FAMILY,
        r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)",
        "error.index",
        example="a = torch.zeros(4, 3)\na[5]",
    ),
    entry("TS310", r"^index (-?\d+) is out of bounds for axis (\d+) with size (\d+)", "error.index"),
    entry(
        BY_FAMILY,
        r"too many indices for tensor of dimension (\d+)",
        "error.indices",
        example="a = torch.zeros(4)\na[:, 0]",
    ),
    entry(
        BY_FAMILY,
        r"invalid index of a 0-dim tensor|(?:iteration over|len\(\) of) a 0-d tensor",
        "error.scalar_index",
        example="a = torch.zeros(())\na[0]",
    ),
    entry(
        BY_FAMILY,
        r"shape mismatch: indexing tensors could not be broadcast together",
        "error.indexing",
        example="a = torch.zeros(4, 3)\na[torch.arange(4), torch.arange(3)]",
    ),
    entry(
        BY_FAMILY,
        r"index out of range in self",
        _embedding_text,
        _embedding_fixes,
        example="from torch import nn\ntable = nn.Embedding(5, 2)\ntable(torch.tensor([1, 7]))",
    ),
    entry(
        BY_FAMILY,
        r"Index tensor must have the same number of dimensions as (?:input|self|src) tensor",
        "error.gather",
        _gather_fixes,
        example="q, action = torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)\nq.gather(1, action)",
    ),
    entry(
        BY_FAMILY,
        r"Class values must be (?:smaller than num_classes|non-negative)",
        "error.one_hot",
        example="from torch.nn import functional as F\ny = torch.tensor([1, 5])\nF.one_hot(y, 3)",
    ),
    entry(
        "TS309",
        r"tensors used as indices must be long|one_hot is only applicable to index tensor|indices' to have one of the following scalar types: Long, Int|Expected dtype int(?:32/int)?64 for index|"
        r"expected scalar type Long but found",
        "error.index_dtype",
        lambda case: _index_fixes(case),
        example="from torch import nn\ntable = nn.Embedding(5, 2)\nids = torch.tensor([1.0, 2.0])\ntable(ids)",
    ),
    entry(
        BY_FAMILY,
        r"must be (?:tuple of )?[Ii]nts?.*float|received an invalid combination of arguments - got \([^)]*float",
        "error.float_size",
        _integer_division,
        applies=lambda case: case.crash["type"] == "TypeError",
        example="torch.randn(4 / 2)",
    ),
    entry(
        "TS312",
        r"should be a positive integer value, but got \w+=\d+\.\d",
        "error.float_size",
        _integer_division,
        example="from torch.utils.data import WeightedRandomSampler\nWeightedRandomSampler([1.0, 2.0, 3.0, 4.0], 4 / 2)",
    ),
    entry(
        "TS199",
        r"a Tensor with (\d+) elements cannot be converted to Scalar|only one element tensors can be converted to Python scalars",
        "error.scalar",
        _scalar_item,
        example="loss = torch.zeros(4)\nloss.item()",
    ),
)


def _index_fixes(case: Case) -> Iterator[Fix]:
    """Indices as int64, wherever the line names them."""
    if case.given is not None:
        yield append(case.frame, case.given[0], ".long()")
        return
    for node, tensor in case.frame.tensor_operands()[::-1]:
        if tensor["dtype"].startswith(("float", "double", "half", "bfloat", "int")) and tensor["dtype"] != "int64":
            yield append(case.frame, node, ".long()")
            return
    yield from convert_argument(".long()", 0)(case)


def _collating(case: Case) -> bool:
    """Whether the failure came from a DataLoader that made a batch."""
    paths = [call["path"].replace("\\", "/") for call in case.crash["calls"]]
    return case.crash["worker"] or any("torch/utils/data/" in path for path in paths)
