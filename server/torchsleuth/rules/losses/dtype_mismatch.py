"""dtype-mismatch: operands of different dtypes where the operator wants one.

What it finds
    float32 against float64, half or integer operands of matmul, Linear, convolutions and recurrent layers; integers where
    a mean or a softmax is taken; a mask of numbers where one of booleans is wanted; integers that shall require a gradient.
Why it hurts
    PyTorch stops with "mat1 and mat2 must have the same dtype, but got Double and Float". Arrays of NumPy are float64,
    and so is what is made of them.
Example
    x = torch.from_numpy(np.random.rand(8, 4))
    nn.Linear(4, 2)(x)
Use instead
    x = torch.from_numpy(np.random.rand(8, 4)).float()
    nn.Linear(4, 2)(x)
Fix safety
    Safe: the tensor is converted to the dtype of the others, where it is made or where it is used.
References
    torch.Tensor.to, torch.from_numpy
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.explanations import BY_INDEX, WANTS_FLOATS
from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence import kinds
from torchsleuth.rules.evidence.activations import losses
from torchsleuth.rules.evidence.casts import METHODS, born_as, casts
from torchsleuth.rules.evidence.constructors import argument_node, constructor_related
from torchsleuth.rules.evidence.describe import call_trail, dtype_trail, expression_text, layer_text, operator_text
from torchsleuth.rules.evidence.operands import (
    Operand,
    appended,
    operand,
    operands,
    replaced,
    short,
    suffixed,
    written,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import argument_of, is_binary, literal
from torchsleuth.values import AnyModule, LibraryModule, Tensor

CODE = "TS301"
_MASKED = re.compile(r"boolean|bitwise|integer and Boolean")
_FLOATING = {"float64", "float32", "float16", "bfloat16"}
_RANK = {
    "bool": 0,
    "uint8": 1,
    "int8": 1,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "float64": 4,
    "float16": 5,
    "bfloat16": 5,
}
"""How likely an operand is the one to convert, where float32 (not listed) is none; lower is likelier."""


_BOUNDED = frozenset(f"Tensor.{name}_" for name in "clamp clamp_min clamp_max clip".split())
"""Methods that keep a tensor between bounds, which are what is to be converted."""
_WEIGHTED = tuple(f"torch.nn.{name}" for name in ("CrossEntropyLoss", "NLLLoss"))
"""Losses that want the weights of the classes in the dtype of the scores."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for operation, scores in losses(analysis, _WEIGHTED):
        weight = _odd_weight(operation, scores)
        if weight is not None and operation.site.span not in seen:
            seen.add(operation.site.span)
            yield _of_weight(operation, scores, weight)
    for failure, plain in reported(analysis, CODE):
        given = [used for used in operands(failure.operation) if used.spec.dtype is not None]
        if "without overflow" in failure.failure.message:
            yield _of_number(failure, plain)
        elif failure.operation.site.span not in seen and given:
            yield _finding(analysis, failure, given)
        elif failure.operation.site.span not in seen:
            text = kinds.explained(analysis, failure) or plain.message
            places = (*kinds.mixed_here(failure), *plain.related)
            yield Finding(plain.at, text, places, tuple(kinds.converted(analysis, failure)))


def _of_number(failure: OperatorFailure, plain: Finding) -> Finding:
    """A number that the dtype of a tensor cannot hold, such as -1e9 for a mask in half precision."""
    site, given = failure.operation.site, operands(failure.operation)
    values = of_kind(failure.operation.args, int, float)
    call = site.call
    if not given or len(values) != 1 or call is None or given[0].node is None:
        return plain
    value, dtype = values[0], given[0].spec.dtype
    text = message("dtype.number", value=f"{value:g}", tensor=given[0].text(), dtype=dtype)
    written_value = argument_of(call, None, "value") or call.args[-1]
    tensor = written(site.source, given[0].node)
    limit = f"torch.finfo({tensor}.dtype).{'min' if value < 0 else 'max'}"
    return Finding(plain.at, text, plain.related, [replaced(site, written_value, limit)])


def _odd_weight(operation: Operation, scores: Tensor) -> Tensor | None:
    """The weights of the classes that a loss of class indices was built with, if they have another floating dtype."""
    module, target = operation.module, operand(operation, 1, "target")
    weight = (
        as_kind(module.given(0, "weight"), Tensor) if module is not None and module.slots["dtype"] is None else None
    )
    if target is None or target.spec.dtype != "int64" or weight is None:
        return None
    dtypes = weight.spec.dtype, scores.spec.dtype
    return weight if None not in dtypes and dtypes[0] != dtypes[1] and set(dtypes) <= _FLOATING else None


def _of_weight(operation: Operation, scores: Tensor, weight: Tensor) -> Finding:
    module, wanted = operation.module, scores.spec.dtype or ""
    node = argument_node(module, 0, "weight") if module is not None else None
    text = message(
        "dtype.weight",
        weight=expression_text(node, "the weight"),
        dtype=weight.spec.dtype,
        loss=layer_text(module) if module is not None else operator_text(operation),
        wanted=wanted,
        cast=f"{METHODS[wanted]}()",
    )
    candidates: list[Candidate] = []
    if node is not None and module is not None and module.site is not None:
        candidates.append(appended(module.site, node, f".{METHODS[wanted]}()"))
    candidates += born_as(weight, wanted)
    places = constructor_related(module, None, None) if isinstance(module, LibraryModule) else []
    return Finding(operation.site.span, text, (*places, *call_trail(operation.site.scene, limit=1)), candidates)


def _finding(analysis: Analysis, failure: OperatorFailure, given: list[Operand]) -> Finding:
    operation = failure.operation
    module = operation.module
    error = failure.failure.message
    odd, wanted = _odd(failure, given)
    user = layer_text(module) if module is not None else operator_text(operation)
    if _MASKED.search(error):
        key = "dtype.mask"
    elif _is_whole(module) or module is None and (len(given) == 1 or re.search(WANTS_FLOATS, error)):
        key = "dtype.floating"
    else:
        key = "dtype.operand"
    if "destination dtypes" in error:
        return _of_assigned(analysis, failure, given, wanted)
    others = [used.text("the other operand") for used in given if used is not odd]
    text = message(
        key,
        tensor=_asked(operation)
        if "require" in error
        else odd.text(f"`{odd.name}`" if isinstance(odd.name, str) else "the input"),
        dtype=odd.spec.dtype,
        user=user,
        wanted=wanted,
        other=f"the weights of {user} are" if module is not None else f"{(others or ['the other operand'])[0]} is",
        cast="abs()"
        if (odd.spec.dtype or "").startswith("complex")
        else f"{METHODS[wanted]}()"
        if wanted in METHODS
        else f"to(torch.{wanted})",
    )
    candidates = _candidates(analysis, failure, given, odd, wanted)
    # Of the inputs of a whole model, the others are as they should be.
    own = (*dtype_trail(odd.tensor, odd.text(f"`{odd.name}`")), *call_trail(operation.site.scene))
    return Finding(operation.site.span, text, own if _is_whole(module) else trail(analysis, failure), candidates)


def _of_assigned(analysis: Analysis, failure: OperatorFailure, given: list[Operand], wanted: str) -> Finding:
    """``x[rows] = value`` of another dtype than that of `x`."""
    site, dtype = failure.operation.site, given[-1].spec.dtype
    source = site.source
    statement = next(
        (one for one in analysis.index(site.span.path).of_type(ast.Assign) if site.node in one.targets),
        None,
    )
    place, cast = (
        short(source.segment(site.node)),
        f"{METHODS[wanted]}()" if wanted in METHODS else f"to(torch.{wanted})",
    )
    value = short(source.segment(statement.value)) if statement is not None else "the value"
    text = message("dtype.assigned", value=value, dtype=dtype, place=place, wanted=wanted, cast=cast)
    fixes = [] if statement is None else [appended(site, statement.value, f".{cast}")]
    return Finding(site.span, text, trail(analysis, failure), fixes)


def _asked(operation: Operation) -> str:
    """The tensor that is to require gradients: what `requires_grad_()` is called on, or what is made so."""
    node = operation.site.node
    owner = as_kind(node.func if isinstance(node, ast.Call) else node, ast.Attribute)
    if owner is not None and owner.attr.startswith("requires_grad"):
        node = owner.value
    return f"`{short(operation.site.source.segment(node))}`"


def _candidates(
    analysis: Analysis, failure: OperatorFailure, given: list[Operand], odd: Operand, wanted: str
) -> Iterator[Candidate]:
    node = failure.operation.site.node
    if odd.spec.dtype == "bool" and is_binary(node, ast.Sub):
        if literal(node.left) == 1 and odd.node is node.right:
            source = odd.site.source
            yield replaced(odd.site, node, f"~{written(source, node.right)}")
    if "require" in failure.failure.message:
        yield from born_as(odd.tensor, "float32")
    else:
        yield from casts(analysis, odd, wanted)
    if failure.operation.module is None and odd.spec.dtype is not None and odd.node is not None:
        for used in given:
            if used is not odd:
                yield from suffixed(used, f".to({odd.text('').strip('`')}.dtype)", safe=False)


def _is_whole(module: AnyModule | None) -> bool:
    """Whether it is a model of a package, whose first weights say nothing of what its inputs are to be."""
    return isinstance(module, LibraryModule) and module.built is not None and bool(module.built.model.package)


def _odd(failure: OperatorFailure, given: list[Operand]) -> tuple[Operand, str]:
    """The operand to convert, and the dtype it should have."""
    module = failure.operation.module
    error = failure.failure.message
    if _MASKED.search(error):
        wrong = [used for used in given if used.spec.dtype != "bool"]
        name = failure.operation.target
        if "where" in name:
            return given[0], "bool"
        return (wrong[-1] if "masked_fill" in name else wrong[0]) if wrong else given[0], "bool"
    if "destination dtypes" in error:
        return given[-1], given[0].spec.dtype or "float32"
    labels = next((used for used in given if used.name == "labels"), None)
    if _is_whole(module) and labels is not None:
        return labels, "int64" if labels.spec.dtype in _FLOATING else "float32"
    if module is not None:
        wanted = module.slots["dtype"] or module.kwargs.get("dtype") or "float32"
        wanted = wanted if isinstance(wanted, str) else str(wanted).removeprefix("torch.")
        return next((used for used in given if used.spec.dtype != wanted), given[0]), wanted
    bounds = [used for used in given[1:] if used.spec.dtype != given[0].spec.dtype]
    if bounds and failure.operation.target in _BOUNDED and given[0].spec.dtype is not None:
        return bounds[0], given[0].spec.dtype
    if any(word in failure.operation.target for word in BY_INDEX):  # its index has a dtype of its own
        floats = [used for used in given if used.spec.dtype in _FLOATING]
        given = floats if len(floats) > 1 else given
    odd = min(given, key=lambda used: _RANK.get(used.spec.dtype or "", 6))
    others = [used.spec.dtype for used in given if used is not odd and used.spec.dtype != odd.spec.dtype]
    fitting = [dtype for dtype in others if dtype and dtype.startswith(("float", "bfloat"))]
    return odd, fitting[0] if fitting else "float32"


RULE = Rule(FAULTS[CODE], find)
