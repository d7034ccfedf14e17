"""mask-inverted: an attention mask that says the opposite of what the attention reads in it.

What it finds
    Boolean masks whose origin tells what True stands for (`tokens == pad`, `arange < lengths`, `torch.triu(ones, 1)`), given
    to what reads them the other way round: `key_padding_mask` and the masks of nn.MultiheadAttention and nn.Transformer leave
    out what is True; `scaled_dot_product_attention` attends to nothing else. Also masks by which a position attends to
    nothing, zeros and ones as floats, which are added to the scores and mask nothing, and masks of padding along the queries,
    where they are to leave out keys, or a mask of padding for each sample in the place of one of positions (the second argument
    of nn.TransformerEncoder).
Why it hurts
    The model attends to padding, or to the future, and to nothing else. Nothing is raised, the loss even falls.
Example
    padding = tokens == 0
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=padding[:, None, None, :])
Use instead
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=~padding[:, None, None, :])
Fix safety
    Safe: what is padding, or later, is what a mask is made for.
References
    torch.nn.MultiheadAttention, torch.nn.functional.scaled_dot_product_attention
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.masks import Masks, Meaning
from torchsleuth.rules.evidence.operands import Operand, operand, replaced, suffixed, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_unary, keyword_of
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_number
from torchsleuth.tensors.operators import is_in_place
from torchsleuth.values import Scalar, Tensor

CODE = "TS318"
_LEAVE_OUT = {
    "MultiheadAttention": {"key_padding_mask": 3, "attn_mask": 5},
    "TransformerEncoderLayer": {"src_mask": 1, "src_key_padding_mask": 2},
    "TransformerEncoder": {"mask": 1, "src_key_padding_mask": 2},
    "TransformerDecoderLayer": {
        "tgt_mask": 2,
        "memory_mask": 3,
        "tgt_key_padding_mask": 4,
        "memory_key_padding_mask": 5,
    },
    "TransformerDecoder": {"tgt_mask": 2, "memory_mask": 3, "tgt_key_padding_mask": 4, "memory_key_padding_mask": 5},
    "Transformer": {
        "src_mask": 2,
        "tgt_mask": 3,
        "memory_mask": 4,
        "src_key_padding_mask": 5,
        "tgt_key_padding_mask": 6,
        "memory_key_padding_mask": 7,
    },
}
"""Parameters that take a mask of what is left out, with their places."""
_OF_PADDING = {
    "attn_mask": "key_padding_mask",
    "mask": "src_key_padding_mask",
    "src_mask": "src_key_padding_mask",
    "tgt_mask": "tgt_key_padding_mask",
    "memory_mask": "memory_key_padding_mask",
}
"""Parameters that take a mask of positions, (T, T), and those beside them for one of padding, (N, T)."""
_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
_FILLS = ("Tensor.masked_fill", "Tensor.masked_fill_", "torch.masked_fill")
_SOFTMAX = frozenset({"softmax", "Softmax"})
_BETWEEN = frozenset(
    "add mul div truediv dropout Dropout float to view reshape squeeze unsqueeze clamp contiguous".split()
)
_KEEPS_SHAPE = frozenset("invert logical_not bitwise_not bool to cuda cpu contiguous clone detach".split())
_LOW = -1000
_MAX_STEPS = 6


@dataclass(frozen=True)
class _Use:
    """A mask where it is used. `by`: what reads it. `leaves_out`: what is True is left out, otherwise nothing else is attended
    to. `hard`: a row of which nothing is left gives no numbers. `rows`: the last dimension is that of the keys, and the
    one in front of it that of the queries."""

    operation: Operation
    mask: Operand
    by: str
    leaves_out: bool
    hard: bool = True
    rows: bool = False


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[Span, str]] = set()
    masks: Masks | None = None
    for operation in analysis.trace.operations:
        for use in _uses(analysis, operation):
            masks = masks or Masks(analysis)
            meaning = masks.meaning(use.mask.tensor)
            fault = None if meaning is None else _fault(use, meaning)
            if fault == "mask.of_queries" and _is_one_of_several(analysis, operation):
                continue  # The other one may leave out the keys.
            if meaning is not None and fault is not None and (operation.site.span, use.by) not in seen:
                seen.add((operation.site.span, use.by))
                yield _finding(use, meaning, fault)


def _is_one_of_several(analysis: Analysis, fill: Operation) -> bool:
    """Whether a function fills something by another mask, too."""
    function = fill.site.scene.function
    return any(
        other.target in _FILLS and other.site.span != fill.site.span and other.site.scene.function is function
        for other in analysis.trace.operations
    )


def _uses(analysis: Analysis, operation: Operation) -> Iterator[_Use]:
    name = operation.name
    if name in _LEAVE_OUT and operation.module is not None:
        for parameter, place in _LEAVE_OUT[name].items():
            mask = operand(operation, place, parameter)
            if mask is not None:
                yield _Use(operation, mask, parameter, True)
    elif operation.target == _ATTENTION:
        mask = operand(operation, 3, "attn_mask")
        if mask is not None:
            yield _Use(operation, mask, name, False)
    elif operation.target in _FILLS and (softmax := _softmax_of(analysis, operation)) is not None:
        mask = operand(operation, 1, "mask")
        value = operation.given(2, "value")
        if mask is not None and _is_low(operation, value):
            yield _Use(operation, mask, "masked_fill", True, value == float("-inf"), _over_last(softmax))


def _is_low(operation: Operation, value: object) -> bool:
    """Whether nothing is left of a score that has this value."""
    if isinstance(value, int | float):
        return value <= _LOW
    call = operation.site.call
    return isinstance(value, Scalar) and call is not None and any(is_attribute(part, "min") for part in ast.walk(call))


def _softmax_of(analysis: Analysis, fill: Operation) -> Operation | None:
    """The softmax that the scores go into which are filled."""
    scores = fill.args[0] if fill.args else None
    for operation in analysis.trace.operations:
        if operation.name not in _SOFTMAX or not operation.tensors:
            continue
        current: Tensor = operation.tensors[0]
        for _ in range(_MAX_STEPS):
            origin = current.origin
            if current is scores and is_in_place(fill.target) or (origin is not None and origin.site is fill.site):
                return operation
            if origin is None or not origin.sources or origin.bare_name not in _BETWEEN:
                break
            current = origin.sources[0]
    return None


def _over_last(softmax: Operation) -> bool:
    """Whether it is one over the last dimension of several, of which there is more than one element."""
    given = softmax.module
    dim = given.given(0, "dim") if given is not None else softmax.kwargs.get("dim", softmax.args[1:2])
    dim = dim[0] if isinstance(dim, tuple) and dim else dim
    shape = softmax.specs[0].shape
    return shape is not None and len(shape) > 2 and dim in (-1, len(shape) - 1) and shape[-1] != 1


def _fault(use: _Use, meaning: Meaning) -> str | None:
    """The message of what is wrong, None where nothing is."""
    dtype, inverted = use.mask.spec.dtype, meaning.kept is use.leaves_out
    if _is_of_padding_for_positions(use, meaning):
        return "mask.padding.for_positions"
    if dtype is not None and dtype.startswith(("float", "bfloat")) and use.by != "masked_fill":
        return "mask.added"
    if dtype not in ("bool", "uint8"):
        return None
    if meaning.kind == "padding":
        if use.rows and not inverted and use.mask.shape[-1:] == (1,) and use.mask.shape[-2:-1] != (1,):
            return "mask.of_queries"
        return {(True, True): "mask.content.left_out", (True, False): "mask.padding.attended"}.get(
            (inverted, use.leaves_out)
        )
    nothing = meaning.full_row if use.leaves_out else meaning.empty_row
    if not nothing:
        return None
    if inverted:
        return "mask.earlier.left_out" if use.leaves_out else "mask.later.attended"
    return "mask.row" if use.hard else None


def _is_of_padding_for_positions(use: _Use, meaning: Meaning) -> bool:
    """Whether a mask with a row for each sample, as the comparison made it, is taken for one with a row for each position."""
    if use.by not in _OF_PADDING or meaning.kind != "padding" or len(use.mask.shape) != 2:
        return False
    origin = use.mask.tensor.origin
    while origin is not None and origin is not meaning.origin:
        if origin.bare_name not in _KEEPS_SHAPE or not origin.sources:
            return False
        origin = origin.sources[0].origin
    # Where both sizes are known, the operator itself refuses it, and that is told.
    rows, columns = use.mask.shape
    return origin is not None and not (is_number(rows) and is_number(columns)) and dims.equal(rows, columns) is not True


def _finding(use: _Use, meaning: Meaning, fault: str) -> Finding:
    text = message(fault, mask=use.mask.text("the mask"), by=use.by, right=_OF_PADDING.get(use.by, ""))
    origin = meaning.origin.site
    places = [*call_trail(use.operation.site.scene, limit=1)]
    if origin.span != use.operation.site.span:
        places.insert(0, origin.span.related(message("mask.origin")))
    return Finding(use.operation.site.span, text, tuple(places), _candidates(use, meaning, fault))


def _candidates(use: _Use, meaning: Meaning, fault: str) -> Iterator[Candidate]:
    if fault == "mask.row":
        yield from _moved(meaning)
        return
    node, site = use.mask.node, use.operation.site
    if node is None:
        return
    source = site.source
    if fault == "mask.padding.for_positions":
        yield from _as_padding(use, meaning)
    elif fault == "mask.of_queries":
        yield from suffixed(use.mask, ".transpose(-2, -1)", safe=False)
    elif fault == "mask.added":
        opposite = meaning.kept is use.leaves_out
        text = f"{written(source, node)} == 0" if opposite else f"{written(source, node)}.bool()"
        yield replaced(site, node, text)
    elif is_unary(node, ast.Invert):
        yield replaced(site, node, source.segment(node.operand))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        sign = "!=" if isinstance(node.ops[0], ast.Eq) else "=="
        yield replaced(site, node, f"{source.segment(node.left)} {sign} {source.segment(node.comparators[0])}")
    else:
        yield replaced(site, node, f"~{written(source, node)}")


def _as_padding(use: _Use, meaning: Meaning) -> Iterator[Candidate]:
    """The mask under the name of the parameter that is for padding."""
    node, site, call = use.mask.node, use.operation.site, use.operation.site.call
    given = next((one for one in call.keywords if one.value is node), None) if call is not None else None
    last = call is not None and call.args and call.args[-1] is node
    if node is None or call is None or not (given or last) or keyword_of(call, _OF_PADDING[use.by]) is not None:
        return
    mask = f"~{written(site.source, node)}" if meaning.kept is use.leaves_out else site.source.segment(node)
    text = f"{_OF_PADDING[use.by]}={mask}"
    title = message("fix.replace", old=site.source.segment(given or node), new=text)
    yield Candidate(title, (edits.replace(site.source, given or node, text),))


def _moved(meaning: Meaning) -> Iterator[Candidate]:
    """The diagonal beside the one that the triangle begins at."""
    site = meaning.origin.site
    call = site.call
    if call is None:
        return
    source = site.source
    upper = meaning.origin.name.startswith("triu")
    wanted = "diagonal=1" if upper else "diagonal=0"
    place = 1 if meaning.origin.operator.startswith("torch.") else 0
    given = keyword_of(call, "diagonal")
    old: ast.AST | None = given if given is not None else call.args[place] if len(call.args) > place else None
    edit = edits.add_argument(source, call, wanted) if old is None else edits.replace(source, old, wanted)
    yield Candidate(message("fix.add_argument", argument=wanted), (edit,))


RULE = Rule(FAULTS[CODE], find)
