"""matmul-shape-mismatch: a matrix product whose inner sizes differ.

What it finds
    Linear, mm, bmm, matmul, addmm or einsum applied to operands whose contracted sizes are not equal, with the
    sizes followed from where they are known to the failing line.
Why it hurts
    PyTorch stops with "mat1 and mat2 shapes cannot be multiplied", far from the line that is wrong.
Example
    fc = nn.Linear(8192, 10)
    fc(torch.randn(64, 16384))
Use instead
    fc = nn.Linear(16384, 10)
Fix safety
    Changing `in_features` where the layer is built is safe: the weights have to have that size. A transposition is
    offered only where it makes the product fit.
References
    torch.nn.Linear, torch.matmul
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from itertools import combinations, islice, permutations, product

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import place_in_list
from torchsleuth.rules.evidence.constructors import change_argument, names_for
from torchsleuth.rules.evidence.describe import expression_text, layer_text, shape_text
from torchsleuth.rules.evidence.extents import divided_otherwise
from torchsleuth.rules.evidence.operands import (
    Operand,
    appended,
    batched_by_callers,
    exchanged,
    fitted,
    layers_behind,
    lineage,
    operand,
    operands,
    replaced,
    resized,
    reversed_alone,
    suffixed,
    suffixed_at_birth,
    written,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.evidence.orders import permuted_before
from torchsleuth.rules.evidence.results import both_directions, state_unpacked
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.rules.shapes.cat_mismatch import joined_otherwise
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.syntax.text import SourceText
from torchsleuth.synthesis.shapes import Shape, fitting, same, squeezed, transposed
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.values import LibraryModule, Tensor

CODE = "TS101"
_UNBATCHED = {"Conv1d": 2, "Conv2d": 3, "Conv3d": 4}
"""Convolutions, and the dimensions of what they take without a batch."""
_FLATTENS = ("flatten", "view", "reshape", "ravel")


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        operation = failure.operation
        given = operands(operation)
        known = bool(given) and all(used.spec.shape for used in given[:2])
        if known and operation.module is not None and operation.module.path == "torch.nn.Linear":
            yield _linear(analysis, failure, operation.module, given[0])
        elif known and operation.target == "torch.einsum":
            text = _of_letters(operation, given) or plain.message
            yield Finding(plain.at, text, plain.related, _equations(operation, given))
        elif known and operation.module is not None and operation.module.type_name == "MultiheadAttention":
            widths = _key_widths(operation.module, given)
            yield Finding(plain.at, plain.message, plain.related, widths)
        elif known and len(given) >= 2 and operation.module is None:
            yield _product(analysis, failure, *given[-2:])
        else:
            yield plain


# -- layers ----------------------------------------------------------------------------------------


def _linear(analysis: Analysis, failure: OperatorFailure, layer: LibraryModule, used: Operand) -> Finding:
    replacement = as_kind(layer.slots["attributes"].get("weight"), Tensor)
    if replacement is not None:
        return _other_weight(analysis, failure, layer, used, replacement)
    got, wanted = used.shape[-1], layer.given(0, "in_features")
    text = message(
        "matmul.linear",
        tensor=expression_text(used.node, "the input"),
        shape=shape_text(used.spec),
        got=dims.text(got),
        layer=layer_text(layer),
        wanted=wanted if is_number(wanted) else "another size",
    )
    candidates = _for_linear(analysis, failure, layer, used, wanted)
    return Finding(failure.operation.site.span, text, trail(analysis, failure, "in_features", wanted), candidates)


def _other_weight(
    analysis: Analysis, failure: OperatorFailure, layer: LibraryModule, used: Operand, weight: Tensor
) -> Finding:
    """A layer whose weight was replaced, as by that of an embedding: the embedding with vectors of the layer's width."""
    got, owner = used.shape[-1], weight.owner
    text = message(
        "matmul.replaced_weight",
        tensor=expression_text(used.node, "the input"),
        shape=shape_text(used.spec),
        got=dims.text(got),
        layer=layer_text(layer),
        weight=shape_text(weight.spec),
    )
    candidates: Iterator[Candidate] = iter(())
    if owner is not None and owner.path == "torch.nn.Embedding" and is_number(got):
        candidates = change_argument(analysis, owner, 1, "embedding_dim", got)
    return Finding(failure.operation.site.span, text, trail(analysis, failure), candidates)


def _for_linear(
    analysis: Analysis, failure: OperatorFailure, layer: LibraryModule, used: Operand, wanted: object
) -> Iterator[Candidate]:
    shape, got = used.shape, used.shape[-1]
    yield from _one_sample(analysis, used)
    if is_number(wanted):
        yield from divided_otherwise(analysis, used, wanted)
        yield from _before_parts(analysis, used.tensor, wanted)
        if not is_number(got) or wanted > got:
            yield from joined_otherwise(analysis, used.tensor)
    if is_number(wanted) and same(dims.multiply(got, 2), wanted):
        yield from both_directions(analysis, used.tensor)
    if is_number(wanted):
        if len(shape) == 1 or shape[0] == 1:
            yield from _keep_batch(analysis, layer, used)
        if len(shape) > 2 and same(dims.product(shape[1:]), wanted):
            yield from _flattened(analysis, layer, used)
        if len(shape) > 2 and same(shape[1], wanted):
            last = (0, *range(2, len(shape)), 1)
            yield from permuted_before(analysis, used, last)
            if len(shape) > 3:  # Channels last; exchanged with one of height and width, they would turn the image.
                yield from suffixed(used, f".permute{last}", safe=False)
        for turned in fitting(shape, lambda other: same(other[-1], wanted), transposed):
            yield from suffixed(used, turned.suffix, safe=False)
            yield from suffixed_at_birth(used, turned.suffix)
        yield from fitted(analysis, used, lambda other: same(other[-1], wanted), squeezed)
        if same(dims.multiply(got, 2), wanted):
            yield from both_directions(analysis, used.tensor)
    if is_number(got):
        yield from change_argument(analysis, layer, 0, "in_features", got)
    if is_number(wanted):
        if len(shape) == 4 and same(shape[1], wanted):
            yield from suffixed(used, ".mean(dim=(2, 3))", safe=False)
        yield from _previous_layer(analysis, used.tensor, wanted)
    yield from state_unpacked(analysis, failure)
    if len(shape) == 4:
        features = as_kind(dims.product(shape[1:]), int)
        for flat in _flattened(analysis, layer, used):
            for made in change_argument(analysis, layer, 0, "in_features", features) if features is not None else ():
                yield Candidate(f"{flat.title}; {made.title}", (*flat.edits, *made.edits))


def _one_sample(analysis: Analysis, used: Operand) -> Iterator[Candidate]:
    """Images or signals without a batch, which convolutions take, and a flatten that keeps the first dimension does not."""
    convolved = [
        item
        for _, item in lineage(analysis, used.tensor)
        if item.module is not None and item.module.type_name in _UNBATCHED
    ]
    if convolved and convolved[-1].module is not None:
        given = operand(convolved[-1], 0, "input")
        if given is None or len(given.shape) != _UNBATCHED[convolved[-1].module.type_name]:
            return
        site, node = given.site, given.node
        if node is None and site.call is not None and len(site.call.args) == 1:
            node = site.call.args[0]  # Of a Sequential.
        method = site.scene.function is not None and site.scene.function.name == "forward"
        if node is not None and not method:
            yield appended(site, node, ".unsqueeze(0)")
        yield from batched_by_callers(node, site.scene, safe=True)


def _before_parts(analysis: Analysis, tensor: Tensor, wanted: int) -> Iterator[Candidate]:
    """Features that are divided into parts, such as means and variances: the layer in front gives all the parts."""
    parts = [item for _, item in lineage(analysis, tensor) if item.name in ("chunk", "tensor_split")]
    whole = operand(parts[0], 0, "input") if parts else None
    count = as_kind(parts[0].args[1], int) if whole is not None and len(parts[0].args) > 1 else None
    if whole is not None and whole.shape and count is not None and not same(whole.shape[-1], count * wanted):
        for layer in islice(layers_behind(analysis, whole.tensor, "Linear"), 1):
            yield from islice(change_argument(analysis, layer, 1, "out_features", count * wanted), 2)


def _flattened(analysis: Analysis, layer: LibraryModule, used: Operand) -> Iterator[Candidate]:
    """The input flattened where it is written, or by a layer in front where the layers stand in a list."""
    yield from suffixed(used, ".flatten(1)")
    place = place_in_list(analysis, layer)
    if place is not None and used.node is None:
        source, elements, index = place
        element = elements[index]
        if is_method_call(element):
            text = f"{source.segment(element.func.value)}.Flatten()"
            before = source.text[: source.offset(source.start_of(element))]
            alone = not before[before.rfind("\n") + 1 :].strip()
            indent = before[before.rfind("\n") + 1 :] if alone else ""
            separator = f",\n{indent}" if alone else ", "
            edit = edits.insert(source, source.start_of(element), text + separator)
            yield Candidate(message("fix.insert", text=text), (edit,))


def _keep_batch(analysis: Analysis, layer: LibraryModule, used: Operand) -> Iterator[Candidate]:
    """A flatten that swallowed the batch: flatten(1) instead, with the layer's size where that is wrong too."""
    for _, operation in lineage(analysis, used.tensor):
        name, node = operation.name, operation.site.call
        given = operand(operation, 0, "input")
        if operation.module is not None and operation.module.type_name == "Flatten":
            return
        if name not in _FLATTENS or operation.module is not None or node is None:
            continue
        if given is None or given.node is None or len(given.shape) < 2:
            return
        source = operation.site.source
        edit = edits.replace(
            source, node, _flat_text(operation, written(source, given.node), source.segment(node.func))
        )
        yield Candidate(message("fix.flatten"), (edit,))
        features = as_kind(dims.product(given.shape[1:]), int)
        if features is not None:
            for made in change_argument(analysis, layer, 0, "in_features", features):
                yield Candidate(f"{message('fix.flatten')}; {made.title}", (edit, *made.edits))
        return


def _flat_text(operation: Operation, tensor: str, function: str) -> str:
    return f"{function}({tensor}, 1)" if operation.target == "torch.flatten" else f"{tensor}.flatten(1)"


def _previous_layer(analysis: Analysis, tensor: Tensor, wanted: int) -> Iterator[Candidate]:
    """Where the input is the output of another layer: that one may have the wrong size."""
    for layer in layers_behind(analysis, tensor, "Linear", "Embedding"):
        name = "out_features" if layer.type_name == "Linear" else "embedding_dim"
        for made in list(change_argument(analysis, layer, 1, name, wanted))[:2]:
            yield made.unsafe()
        return


def _key_widths(layer: LibraryModule, given: list[Operand]) -> Iterator[Candidate]:
    """Attention to what has another width than the queries: ``kdim`` and ``vdim``."""
    site, built = layer.site, as_kind(layer.given(0, "embed_dim"), int)
    widths = [used.shape[-1] for used in given[1:3]]
    if site is None or site.call is None or len(widths) != 2 or {"kdim", "vdim"} & set(layer.kwargs):
        return
    if not same(given[0].shape[-1], built if built is not None else -1):
        return
    if is_number(widths[0]) and is_number(widths[1]):
        names = [next(names_for(site.scene, width), str(width)) for width in of_kind(widths, int)]
        text = f"kdim={names[0]}, vdim={names[1]}"
        yield added_argument(site.source, site.call, text)


# -- products --------------------------------------------------------------------------------------


def _product(analysis: Analysis, failure: OperatorFailure, left: Operand, right: Operand) -> Finding:
    inner = _inner(right.shape)
    text = message(
        "matmul.operands",
        left=left.text("the left operand"),
        left_shape=shape_text(left.spec),
        right=right.text("the right operand"),
        right_shape=shape_text(right.spec),
        a=dims.text(left.shape[-1]),
        b=dims.text(right.shape[inner]),
    )
    candidates = _for_product(analysis, left, right)
    return Finding(failure.operation.site.span, text, trail(analysis, failure), candidates)


def _inner(shape: Shape) -> int:
    return -2 if len(shape) > 1 else -1


def _has(place: int, wanted: Size, shape: Shape) -> bool:
    return same(shape[place], wanted)


def _for_product(analysis: Analysis, left: Operand, right: Operand) -> Iterator[Candidate]:
    inner = left.shape[-1], right.shape[_inner(right.shape)]
    for used in (right, left):
        yield from reversed_alone(used)
    for used, mine, wanted in ((left, *inner), (right, *inner[::-1])):
        if same(dims.multiply(mine, 2), wanted):
            yield from both_directions(analysis, used.tensor)
    if len(left.shape) > 1 < len(right.shape) and same(right.shape[-1], left.shape[-2]):
        yield from exchanged(left, right)
    for used, other, mine, wanted in (
        (right, left, right.shape[-1], left.shape[-1]),
        (left, right, left.shape[_inner(left.shape)], right.shape[_inner(right.shape)]),
    ):
        if len(used.shape) > 1 and same(mine, wanted) and other.shape:
            yield from suffixed(used, ".T" if len(used.shape) == 2 else ".transpose(-2, -1)", safe=False)
    if is_number(left.shape[-1]) and is_number(right.shape[_inner(right.shape)]):
        yield from resized(right.tensor, _inner(right.shape), left.shape[-1])
        yield from resized(left.tensor, -1, right.shape[_inner(right.shape)])
        for used, wanted in ((left, right.shape[_inner(right.shape)]), (right, left.shape[-1])):
            if is_number(wanted):
                yield from _previous_layer(analysis, used.tensor, wanted)
    for used, other in ((right, left), (left, right)):
        if len(used.shape) > 2:
            place, wanted = (
                (_inner(used.shape), other.shape[-1]) if used is right else (-1, other.shape[_inner(other.shape)])
            )
            yield from fitted(analysis, used, partial(_has, place, wanted), transposed, safe=False)


def _of_letters(operation: Operation, given: list[Operand]) -> str | None:
    """The message about an equation that names more or fewer dimensions than an operand has."""
    equation = as_kind(operation.first, str)
    terms = equation.replace(" ", "").partition("->")[0].split(",") if equation is not None else []
    for term, used in zip(terms, given):
        if len(terms) == len(given) and term.isalpha() and len(term) != len(used.shape):
            operand = used.described("the operand")
            return message("matmul.letters", operand=operand, rank=len(used.shape), letters=term, count=len(term))
    return None


def _equations(operation: Operation, given: list[Operand]) -> Iterator[Candidate]:
    """The equation of einsum with the letters of one operand in another order, so that all sizes agree."""
    node = operation.site.call
    equation = as_kind(operation.first, str)
    if equation is None or node is None or not isinstance(node.args[0], ast.Constant):
        return
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(given):
        return
    if any(len(term) != len(used.shape) for term, used in zip(terms, given)):
        for changed, result in (*_shortened(terms, given, output, bool(arrow)), *_lengthened(terms, given, output)):
            text = _quoted(operation.site.source, node.args[0], ",".join(changed) + arrow + result)
            yield replaced(operation.site, node.args[0], text, safe=False)
        return
    for index in range(len(terms) - 1, -1, -1):
        for letters in _letters(terms, given, index, output if arrow else ""):
            changed = [*terms[:index], letters, *terms[index + 1 :]]
            if _agree(changed, given):
                text = _quoted(operation.site.source, node.args[0], ",".join(changed) + arrow + output)
                yield replaced(operation.site, node.args[0], text, safe=False)


def _quoted(source: SourceText, node: ast.expr, text: str) -> str:
    quote = source.segment(node)[0]
    return f"{quote}{text}{quote}"


def _shortened(terms: list[str], given: list[Operand], output: str, arrow: bool) -> Iterator[tuple[list[str], str]]:
    """The terms of an equation without the letters that operands have no dimension for, where the result still can be."""
    if not "".join(terms).isalpha() or any(len(term) < len(used.shape) for term, used in zip(terms, given)):
        return
    for kept in product(*(combinations(term, len(used.shape)) for term, used in zip(terms, given))):
        changed = ["".join(letters) for letters in kept]
        if _agree(changed, given) and set(output) <= set("".join(changed)) and (output or not arrow):
            yield changed, output


def _lengthened(terms: list[str], given: list[Operand], output: str) -> Iterator[tuple[list[str], str]]:
    """The terms of an equation with one letter more where an operand has one dimension more, and its result. That is
    rather a small dimension behind the batch, as that of heads is."""
    missing = [len(used.shape) - len(term) for term, used in zip(terms, given)]
    free = next((letter for letter in "hnsacdefgijklmopqrtuvwxyz" if letter not in "".join(terms) + output), None)
    if free is None or set(missing) - {0, 1} or not "".join(terms).isalpha():
        return
    ways: list[list[str]] = []
    for term, lacks, used in zip(terms, missing, given):
        sizes = [size if is_number(size) else 0 for size in used.shape]
        places = sorted(range(len(term) + 1), key=lambda place: (place == 0, sizes[place])) if lacks else []
        ways.append([term[:place] + free + term[place:] for place in places] or [term])
    for changed in product(*ways):
        if _agree(list(changed), given):
            for place in (min(1, len(output)), *range(2, len(output) + 1)):
                yield list(changed), output[:place] + free + output[place:]
            yield list(changed), output


def _letters(terms: list[str], given: list[Operand], index: int, output: str) -> Iterator[str]:
    """Letters for one operand: its own in another order, or those that dimensions of these sizes have elsewhere, the
    fewest of them changed first. A letter of the result stays."""
    term = terms[index]
    if len(term) > 5 or not term.isalpha():
        return
    yield from ("".join(letters) for letters in permutations(term))
    others = [(part, used) for place, (part, used) in enumerate(zip(terms, given)) if place != index]
    choices: list[list[str]] = []
    for letter, size in zip(term, given[index].shape):
        fitting = [
            name
            for part, used in others
            for name, other in zip(part, used.shape)
            if name.isalpha() and same(other, size)
        ]
        choices.append(list(dict.fromkeys([letter, *fitting])))
    options = ["".join(letters) for letters in product(*choices) if len(set(letters)) == len(letters)]
    kept = "".join(part for part, _ in others)
    whole = [text for text in options if all(letter in kept + text for letter in output)]
    yield from sorted(whole, key=lambda text: sum(old != new for old, new in zip(term, text)))


def _agree(terms: list[str], given: list[Operand]) -> bool:
    sizes: dict[str, dims.Size] = {}
    return all(
        same(sizes.setdefault(letter, size), size)
        for term, used in zip(terms, given)
        for letter, size in zip(term, used.shape)
    )


RULE = Rule(FAULTS[CODE], find)
