"""rank-mismatch: a tensor with a dimension too many or too few.

What it finds
    Layers, products, permutations and indices that want another number of dimensions than the tensor has: an image
    without channels for Conv2d, BatchNorm1d after a Conv2d, `permute` with too many numbers, `gather` with an index
    vector, three indices into a matrix.
Why it hurts
    PyTorch stops with "Expected 3D (unbatched) or 4D (batched) input to conv2d" or "too many indices for tensor of
    dimension 2".
Example
    q_values.gather(1, actions)                          # (64, 4) and (64,)
Use instead
    q_values.gather(1, actions.unsqueeze(1)).squeeze(1)
Fix safety
    Inserting a dimension of size 1 is safe where all that follows still fits; dropping an index is offered as unsafe.
References
    torch.Tensor.unsqueeze, torch.gather, torch.Tensor.permute
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import layer_text, operator_text
from torchsleuth.rules.evidence.operands import (
    Operand,
    append,
    appended,
    fitted,
    made_wider,
    operands,
    package_name,
    replaced,
    suffixed,
    written,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_attribute, is_display, is_literal, is_spread, last_sizes
from torchsleuth.synthesis.shapes import same, squeezed
from torchsleuth.tensors.dims import is_number

CODE = "TS108"
_BY_INDEX = ("gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "take_along_dim")
_OF_NONE = {
    "Tensor.__iter__": "rank.iterated",
    "Tensor.__len__": "rank.counted",
    "operator.getitem": "rank.indexed",
}
"""Messages about a tensor without dimensions."""
_DIMENSIONS = re.compile(r"\dd$")


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        given = operands(failure.operation)
        if not given or given[0].spec.shape is None:
            yield plain
            continue
        operation = failure.operation
        user = layer_text(operation.module) if operation.module is not None else operator_text(operation)
        single = _OF_NONE.get(operation.target) if given[0].shape == () else None
        if single is not None:
            text = message(single, tensor=given[0].text())
            yield Finding(operation.site.span, text, trail(analysis, failure), _candidates(analysis, failure, given))
            continue
        text = message(
            "rank.wrong",
            tensors=", ".join(used.described() for used in given[:2] if used.spec.shape is not None),
            user=user,
            error=_reason(failure),
        )
        candidates = _candidates(analysis, failure, given)
        yield Finding(operation.site.span, text, trail(analysis, failure), candidates)


def _reason(failure: OperatorFailure) -> str:
    """PyTorch's message without the name of the operator and without advice."""
    text = failure.failure.message.strip().split("\n")[0]
    return re.split(r" i\.e\. |\. Please ", re.sub(r"^\w+(\(\w*\))?: ", "", text))[0]


def _candidates(analysis: Analysis, failure: OperatorFailure, given: list[Operand]) -> Iterator[Candidate]:
    operation = failure.operation
    name = operation.name
    node = operation.site.node
    if name in _BY_INDEX:
        yield from _index(failure, given)
    elif name == "getitem" and isinstance(node, ast.Subscript):
        yield from _subscript(failure, node, given[0])
    elif name == "permute" and isinstance(node, ast.Call):
        yield from _permutation(failure, node, given[0])
    elif name == "interpolate" and isinstance(node, ast.Call):
        yield from _spatial_part(failure, node, given[0])
    elif name == "repeat" and isinstance(node, ast.Call):
        yield from _repeats(failure, node, given[0])
        return
    elif operation.module is not None:
        yield from _maps(failure, given[0])
        yield from _layer(failure, given[0])
    else:
        yield from _product(failure, name, given)
    if not operation.written and isinstance(node, ast.Call) and len(node.args) == 1:
        for index in (0, 1):
            yield appended(operation.site, node.args[0], f".unsqueeze({index})", safe=False)
    for used in given[:2]:
        rank = len(used.shape)
        for index in (1, 0, -1) if rank else (0,):
            yield from suffixed(used, f".unsqueeze({index})", index == 1)
        yield from fitted(analysis, used, lambda shape: True, squeezed)
        if rank > 2:
            yield from suffixed(used, ".flatten(1)", safe=False)


def _spatial_part(failure: OperatorFailure, call: ast.Call, used: Operand) -> Iterator[Candidate]:
    """``size=x.shape[2:]`` for ``size=x.shape[1:]``, as many as the input has spatial dimensions."""
    size = argument_of(call, 1, "size")
    wanted = last_sizes(size, len(used.shape) - 2)
    if size is not None and wanted is not None:
        yield replaced(failure.operation.site, size, ast.unparse(wanted))


def _index(failure: OperatorFailure, given: list[Operand]) -> Iterator[Candidate]:
    """An index vector as a column, and the column that is picked as a vector again."""
    table = given[0]
    index = next((used for used in given[1:] if used.name in (2, "index", "indices")), None)
    node = failure.operation.site.call
    if index is None or index.node is None or node is None:
        return
    missing = len(table.shape) - len(index.shape)
    source = failure.operation.site.source
    name = failure.operation.name
    values = next((used for used in given[1:] if used.name in (3, "src")), None)
    if missing > 0 and values is not None and len(values.shape) == len(table.shape):
        # Whole rows are added: each row's index for all its columns.
        row = ".unsqueeze(-1)" if missing == 1 else f"[..., {', '.join(['None'] * missing)}]"
        yield from suffixed(index, f"{row}.expand_as({values.text('').strip('`')})")
    elif missing == 1 and name == "gather" and len(index.shape) > 1 and table.node is not None:
        kept = ", ".join(["-1"] * len(index.shape))
        yield from suffixed(index, f".unsqueeze(-1).expand({kept}, {written(source, table.node)}.size(-1))")
    if missing == 1 and values is None:
        column = append(source, index.node, ".unsqueeze(1)")
        text = message("fix.append", expression=source.segment(index.node), suffix=".unsqueeze(1)")
        picked = message("fix.pick", index=source.segment(index.node))
        if not name.startswith("scatter"):
            yield Candidate(picked, (column, edits.insert_after_node(source, node, ".squeeze(1)")))
        yield Candidate(text, (column,))
        yield from suffixed(index, ".unsqueeze(-1)")


def _repeats(failure: OperatorFailure, call: ast.Call, used: Operand) -> Iterator[Candidate]:
    """``repeat`` with a number for each dimension: 1 for those that are left out, behind or in front."""
    numbers = call.args
    if len(numbers) == 1 and is_display(numbers[0]):
        numbers = numbers[0].elts
    source, missing = failure.operation.site.source, len(used.shape) - len(numbers)
    if missing > 0 and numbers and not is_spread(numbers):
        old, more = ", ".join(source.segment(number) for number in numbers), ", ".join(["1"] * missing)
        for new in (f"{old}, {more}", f"{more}, {old}"):
            edit = edits.replace_between(source, numbers[0], numbers[-1], new)
            yield Candidate(message("fix.replace", old=old, new=new), (edit,))


def _subscript(failure: OperatorFailure, node: ast.Subscript, used: Operand) -> Iterator[Candidate]:
    """The same indices without one that takes a whole dimension, or without the last ones."""
    key = node.slice
    source = failure.operation.site.source
    if used.shape == () and isinstance(key, ast.Constant) and isinstance(key.value, int):
        # What loss.data[0] was before there were tensors without dimensions.
        owner = node.value
        owner = owner.value if is_attribute(owner, "data") else owner
        yield replaced(failure.operation.site, node, f"{source.segment(owner)}.item()", safe=True)
    if not isinstance(key, ast.Tuple):
        return
    parts = list(key.elts)
    excess = sum(not is_literal(part, None) for part in parts) - len(used.shape)
    whole = [index for index, part in enumerate(parts) if isinstance(part, ast.Slice) and ast.unparse(part) == ":"]
    if len(whole) == len(used.shape):
        yield replaced(failure.operation.site, node, source.segment(node.value), safe=False)
    options: list[list[ast.expr]] = []
    if excess == 1 and not any(is_literal(part, ...) for part in parts):
        options += [parts[:index] + parts[index + 1 :] for index in reversed(whole)]
    if parts[: len(parts) - excess] not in options:
        options.append(parts[: len(parts) - excess])
    for option in options:
        if option:
            yield replaced(failure.operation.site, key, ", ".join(source.segment(part) for part in option), safe=False)
    yield replaced(failure.operation.site, node, source.segment(node.value), safe=False)


def _permutation(failure: OperatorFailure, call: ast.Call, used: Operand) -> Iterator[Candidate]:
    """The same order for a tensor with a batch in front, or without one."""
    places = call.args
    if len(places) == 1 and is_display(places[0]):
        places = places[0].elts
    try:
        order = [ast.literal_eval(part) for part in places]
    except (ValueError, SyntaxError):
        return
    rank = len(used.shape)
    made: list[int] | None = None
    if len(order) == rank + 1 and order[0] == 0:
        made = [index - 1 if index > 0 else index for index in order[1:]]
    elif len(order) == rank - 1 and all(index >= 0 for index in order):
        made = [0, *(index + 1 for index in order)]
    if made is None:
        return
    source = failure.operation.site.source
    new = ", ".join(str(index) for index in made)
    old = source.slice(source.start_of(places[0]), source.end_of(places[-1]))
    edit = edits.replace_between(source, places[0], places[-1], new)
    yield Candidate(message("fix.replace", old=old, new=new), (edit,))
    for index in (0, 1):
        if len(order) == rank + 1 and used.node is not None:
            yield from suffixed(used, f".unsqueeze({index})", safe=False)


def _layer(failure: OperatorFailure, used: Operand) -> Iterator[Candidate]:
    """The layer of the same kind for as many dimensions as the input has: BatchNorm2d after a Conv2d."""
    layer = failure.operation.module
    assert layer is not None
    site = layer.site
    found = _DIMENSIONS.search(layer.type_name)
    if found is None or site is None or site.call is None:
        return
    wanted = f"{layer.type_name[:-2]}{max(len(used.shape) - 2, 1)}d"
    if wanted != layer.type_name and (2 if layer.type_name.startswith("BatchNorm") else 3) <= len(used.shape) <= 5:
        source = site.source
        old = source.segment(site.call.func)
        if old.endswith(layer.type_name) and not old.startswith(layer.type_name):
            yield replaced(site, site.call.func, old.removesuffix(layer.type_name) + wanted, safe=True)
    missing = int(found[0][0]) + 2 - len(used.shape)
    channels = as_kind(layer.given(0, "in_channels"), int)
    if missing > 1 and len(used.shape) == 2 and channels is not None and same(used.shape[1], channels):
        # Vectors as maps of one point, such as the noise of a generator.
        yield from made_wider(used, missing)
        yield from suffixed(used, f"[:, :{', None' * missing}]", safe=False)


def _maps(failure: OperatorFailure, used: Operand) -> Iterator[Candidate]:
    """Rows of 784 numbers for a Conv2d of one channel: pictures of 28 x 28."""
    operation, layer = failure.operation, failure.operation.module
    channels = as_kind(layer.given(0, "in_channels"), int) if layer is not None else None
    if layer is None or layer.type_name != "Conv2d" or channels is None or channels < 1:
        return
    size = used.shape[1] if len(used.shape) == 2 else None
    side = math.isqrt(size // channels) if is_number(size) else 0
    if side > 1 and channels * side * side == size:
        suffix = f".reshape(-1, {channels}, {side}, {side})"
        node = operation.site.call
        if not operation.written and node is not None and len(node.args) == 1:
            yield appended(operation.site, node.args[0], suffix)
        else:
            yield from suffixed(used, suffix)


def _product(failure: OperatorFailure, name: str, given: list[Operand]) -> Iterator[Candidate]:
    site = failure.operation.site
    node = site.call
    if node is None:
        return
    source = site.source
    if name in ("mm", "bmm", "dot", "mv"):
        torch = package_name(site, "torch")
        texts = [source.segment(used.node) for used in given[:2] if used.node is not None]
        if name == "bmm" and len(given) > 1 and same(given[0].shape[0], given[1].shape[0]):
            # One vector for each sample: what a product of matrices made of it would mix the samples.
            yield from _one_vector_each(*given[:2])
        elif torch and len(texts) == 2:
            yield replaced(site, node, f"{torch}.matmul({', '.join(texts)})")
    if name == "t" and isinstance(node.func, ast.Attribute):
        yield replaced(site, node, f"{edits.owner(source, node.func)}.transpose(-2, -1)")


def _one_vector_each(left: Operand, right: Operand) -> Iterator[Candidate]:
    if len(left.shape) == 2 and len(right.shape) == 3:
        yield from suffixed(left, ".unsqueeze(1)" if same(left.shape[1], right.shape[1]) else ".unsqueeze(2)")
    if len(right.shape) == 2 and len(left.shape) == 3:
        yield from suffixed(right, ".unsqueeze(2)" if same(right.shape[1], left.shape[2]) else ".unsqueeze(1)")


RULE = Rule(FAULTS[CODE], find)
