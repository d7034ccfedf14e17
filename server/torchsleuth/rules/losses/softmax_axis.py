"""softmax-axis: a softmax over a single score, or over the queries of an attention.

What it finds
    softmax along a dimension that holds the one output of a layer: the weights of an attention over a sequence taken along the
    scores' last dimension, a binary classifier with one output; cross entropy of one class. And attention whose softmax goes
    along the queries (the last dimension but one of their products with the keys), or along the heads, before the weights
    meet the values.
Why it hurts
    The softmax of one number is 1, whatever the number: the attention becomes a sum, the classifier always says 1, and nothing
    before it gets a gradient. Weights that sum to 1 over the queries are none of the keys. Nothing is raised.
Example
    weights = torch.softmax(self.score(hidden), dim=-1)      # (8, 12, 1)
Use instead
    weights = torch.softmax(self.score(hidden), dim=1)
Fix safety
    Safe for attention; a sigmoid in the place of a softmax is what one output is made for.
References
    torch.nn.functional.softmax, torch.nn.BCEWithLogitsLoss
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import losses, renamed, written_call
from torchsleuth.rules.evidence.constructors import constructor_related
from torchsleuth.rules.evidence.describe import call_trail, shape_text
from torchsleuth.rules.evidence.operands import Operand, operand, operands, replaced, steps
from torchsleuth.rules.evidence.scores import dim_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import argument_of
from torchsleuth.values import LibraryModule, Tensor

CODE = "TS319"
_SOFTMAX = frozenset("softmax log_softmax Softmax LogSoftmax".split())
_ELEMENTWISE = frozenset(
    "add sub mul div truediv masked_fill masked_fill_ float to clamp tanh relu leaky_relu Tanh ReLU LeakyReLU dropout Dropout "
    "contiguous detach clone where".split()
)
_AFTER = frozenset("dropout Dropout to float contiguous type_as nan_to_num masked_fill".split())
_PRODUCTS = frozenset("matmul bmm einsum".split())
_ONE_OUTPUT = {"Linear": -1, "Conv1d": 1, "Conv2d": 1, "Conv3d": 1}
"""Layers, and the dimension that their outputs are in."""
_ENTROPY = ("torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy")
_BINARY = {"CrossEntropyLoss": "BCEWithLogitsLoss", "cross_entropy": "binary_cross_entropy_with_logits"}
_SIGMOID = {"softmax": "sigmoid", "Softmax": "Sigmoid"}
_MAX_STEPS = 8


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation in analysis.trace.operations:
        if operation.name not in _SOFTMAX or operation.site.span in seen:
            continue
        used, dim = operand(operation, 0, "input", "self"), dim_of(operation)
        rank = used.spec.rank if used is not None else None
        if used is not None and rank is None and dim == -1:
            layer = _one_output(analysis, used.tensor, -1)  # in the last dimension, however many there are
            if layer is not None:
                seen.add(operation.site.span)
                yield _over_one(operation, used, layer)
            continue
        if used is None or rank is None or rank < 2 or type(dim) is not int or not -rank <= dim < rank:
            continue
        axis, layer = dim % rank, _one_output(analysis, used.tensor, dim % rank)
        if layer is not None and used.shape[axis] == 1:
            seen.add(operation.site.span)
            yield _over_one(operation, used, layer)
        elif rank > 2 and axis == rank - 2 and _weighs(analysis, operation, used.tensor):
            seen.add(operation.site.span)
            yield _over_others(operation, used, "softmax.queries")
        elif rank == 4 and axis == 1 and 1 not in used.shape[2:] and _weighs(analysis, operation, used.tensor):
            seen.add(operation.site.span)
            yield _over_others(operation, used, "softmax.heads")
    yield from _one_class(analysis)


def _one_output(analysis: Analysis, tensor: Tensor, axis: int) -> LibraryModule | None:
    """The layer with one output whose result, changed by nothing but elementwise functions, has it in this dimension."""
    for _ in range(_MAX_STEPS):
        origin = tensor.origin
        step = analysis.operation_of(origin)
        if origin is None or not origin.sources:
            return None
        name = origin.name
        if name in _ONE_OUTPUT:
            layer = step.module if step is not None else None
            rank = tensor.spec.rank
            outputs = None if layer is None else layer.kwargs.get("out_channels" if "Conv" in name else "out_features")
            if layer is not None and outputs is None and len(layer.args) > 1:
                outputs = layer.args[1]
            place = _ONE_OUTPUT[name] if rank is None else _ONE_OUTPUT[name] % rank
            return layer if outputs == 1 and place == axis else None
        if name not in _ELEMENTWISE:
            return None
        # The scores are the operand that has their shape.
        alike = [source for source in origin.sources if source.spec.shape == tensor.spec.shape]
        if not alike:
            return None
        tensor = alike[0]
    return None


def _weighs(analysis: Analysis, softmax: Operation, scores: Tensor) -> bool:
    """Whether the scores are products of queries and keys, and their softmax is then multiplied with values from the left."""
    origins = (origin for _, origin in steps(scores, _MAX_STEPS))
    product = next((origin for origin in origins if origin.name not in _ELEMENTWISE), None)
    if product is None or product.name not in _PRODUCTS:
        return False
    if len(product.sources) != 2 or any(source.parameter for source in product.sources):
        return False
    return any(
        operation.name in _PRODUCTS and _sums_over_last(operation) and _is_softmax_of(operation, softmax)
        for operation in analysis.trace.operations
        if len(operation.operands) == 2
    )


def _sums_over_last(product: Operation) -> bool:
    """Whether the last dimension of the first operand is what a product sums over."""
    if product.name != "einsum":
        return True
    equation = as_kind(product.first, str)
    terms, arrow, result = equation.replace(" ", "").partition("->") if equation is not None else ("", "", "")
    first, *others = terms.split(",")
    return bool(arrow and first) and first[-1] not in result and all(first[-1] in other for other in others)


def _is_softmax_of(product: Operation, softmax: Operation) -> bool:
    for _, origin in steps(product.operands[0], _MAX_STEPS):
        if origin.site is softmax.site:
            return True
        if origin.name not in _AFTER:
            return False
    return False


def _over_one(operation: Operation, used: Operand, layer: LibraryModule) -> Finding:
    text = message("softmax.one", softmax=operation.name, tensor=used.text("the input"), shape=shape_text(used.spec))
    places = [*constructor_related(layer, None, None), *call_trail(operation.site.scene, limit=1)]
    return Finding(operation.site.span, text, tuple(places), _repairs(operation, used))


def _repairs(operation: Operation, used: Operand) -> Iterator[Candidate]:
    site, name = written_call(operation), operation.name
    if used.spec.shape is None:
        return
    if len(used.shape) > 2:
        yield from _along(operation, 1)
        return
    if site is not None and name in _SIGMOID and site.call is not None:
        source, call = site.source, site.call
        edit = renamed(site, _SIGMOID[name])
        if name == "softmax" and isinstance(call.func, ast.Attribute):
            of_method = operation.target.startswith("Tensor.")
            inner = call.func.value if of_method else call.args[0] if call.args else None
            if inner is not None:
                new = f"{source.segment(inner)}.sigmoid()" if of_method else f"torch.sigmoid({source.segment(inner)})"
                yield replaced(site, call, new)
        elif edit is not None and isinstance(call.func, ast.Attribute):
            package = source.segment(call.func.value)
            yield replaced(site, call, f"{package}.{_SIGMOID[name]}()")
    for candidate in _along(operation, 0):
        yield candidate.unsafe()


def _over_others(operation: Operation, used: Operand, what: str) -> Finding:
    """A softmax along the queries, or the heads."""
    text = message(what, softmax=operation.name, tensor=used.text("the scores"), shape=shape_text(used.spec))
    return Finding(operation.site.span, text, tuple(call_trail(operation.site.scene, limit=1)), _along(operation, -1))


def _along(operation: Operation, dim: int) -> Iterator[Candidate]:
    """The softmax along another dimension, where it is written, or its layer is made."""
    site = written_call(operation)
    if site is None or site.call is None:
        return
    position = 0 if operation.module is not None or operation.target.startswith("Tensor.") else 1
    node = argument_of(site.call, None, "dim")
    if node is None and len(site.call.args) > position:
        node = site.call.args[position]
    if node is not None:
        yield replaced(site, node, str(dim))


def _one_class(analysis: Analysis) -> Iterator[Finding]:
    """Cross entropy over the one output of a layer."""
    for operation, scores in losses(analysis, _ENTROPY):
        given = operands(operation)
        shape = given[0].spec.shape if given else None
        if shape is None or len(shape) < 2 or shape[1] != 1 or len(given) < 2 or given[1].spec.shape != shape:
            continue
        layer = _one_output(analysis, scores, 1)
        if layer is not None:
            name = operation.name
            text = message("entropy.one", loss=name, shape=shape_text(given[0].spec), other=_BINARY[name])
            places = [*constructor_related(layer, None, None), *call_trail(operation.site.scene, limit=1)]
            yield Finding(operation.site.span, text, tuple(places), _binary(operation))


def _binary(operation: Operation) -> Iterator[Candidate]:
    site, name = written_call(operation), operation.name
    edit = renamed(site, _BINARY[name]) if site is not None else None
    if edit is not None:
        yield Candidate(message("fix.replace", old=name, new=_BINARY[name]), (edit,))


RULE = Rule(FAULTS[CODE], find)
