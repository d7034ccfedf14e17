"""attention-size-mismatch: sizes of attention that do not fit.

What it finds
    embed_dim that num_heads does not divide, embeddings of another width than the layer was built for, masks of another
    shape than the sequences, such as those of padding in the place of those from step to step, and masks of integers.
Why it hurts
    PyTorch stops while the layer is built, or in its forward.
Example
    nn.MultiheadAttention(embed_dim=130, num_heads=8)
Use instead
    nn.MultiheadAttention(embed_dim=130, num_heads=10)
Fix safety
    Safe where a size follows from the others. The number of heads is the author's choice: the nearest ones that divide
    embed_dim are offered as unsafe, and so is what a mask of integers is read as.
References
    torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain, islice

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import change_argument
from torchsleuth.rules.evidence.describe import layer_text
from torchsleuth.rules.evidence.operands import (
    Operand,
    birth,
    layers_behind,
    lineage,
    operand,
    operands,
    replaced,
    resized,
    size_texts,
    sized_otherwise,
    suffixed,
    written,
)
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Edit
from torchsleuth.sifting import all_are, as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_plain_call, nodes_in
from torchsleuth.synthesis.shapes import same
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryModule

CODE = "TS111"
_NAMES = {"MultiheadAttention": ("embed_dim", "num_heads")}
_WIDTH = ("d_model", "nhead")
_TAKE_BATCH_FIRST = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer")
_SHAPES = re.compile(r"is torch\.Size\(\[(.+?)\]\), but should be \((.+?)\)")
_PADDING = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask")
_MASKS = {
    "MultiheadAttention": {5: "attn_mask"},
    "TransformerEncoder": {1: "mask"},
    "TransformerEncoderLayer": {1: "src_mask"},
    "TransformerDecoder": {2: "tgt_mask", 3: "memory_mask"},
    "TransformerDecoderLayer": {2: "tgt_mask", 3: "memory_mask"},
    "Transformer": {2: "src_mask", 3: "tgt_mask", 4: "memory_mask"},
}
"""Layer → the positions and names of its masks from step to step."""
_FOR_PADDING = {
    "attn_mask": "key_padding_mask",
    **dict.fromkeys(("mask", "src_mask"), "src_key_padding_mask"),
    "tgt_mask": "tgt_key_padding_mask",
    "memory_mask": "memory_key_padding_mask",
}
"""A mask from step to step → the one that says which steps are padding."""
_LEFT_OUT = frozenset({"eq", "triu", "logical_not", "invert", "bitwise_not"})
"""Operators that make a mask of what is to be left out, where others make one of what is to be seen."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        module, given = failure.operation.module, operands(failure.operation)
        error = failure.failure.message
        if module is None:
            yield plain
        elif not given:
            yield _heads(analysis, failure, module, plain)
        elif (pair := _batches(module, given)) is not None:
            yield _of_batches(analysis, failure, module, *pair)
        elif "only bool and floating types of" in error:
            yield Finding(plain.at, plain.message, plain.related, _of_integers(analysis, failure, module))
        elif "mask" in error and "shape" in error:
            yield Finding(plain.at, plain.message, plain.related, _for_mask(analysis, failure, module))
        elif given[0].spec.shape:
            yield _width(analysis, failure, module, given, plain)
        else:
            yield plain


def _heads(analysis: Analysis, failure: OperatorFailure, module: LibraryModule, plain: Finding) -> Finding:
    """A width that the number of heads does not divide."""
    names = _NAMES.get(module.type_name, _WIDTH)
    width, heads = (module.given(position, name) for position, name in enumerate(names))
    if not is_number(width) or not is_number(heads) or width < 1 or heads < 1:
        return plain
    text = message("attention.heads", layer=layer_text(module), width=names[0], size=width, heads=names[1], count=heads)
    candidates = _dividing(analysis, module, width, heads)
    return Finding(failure.operation.site.span, text, plain.related, candidates)


def _dividing(analysis: Analysis, module: LibraryModule, width: int, heads: int) -> Iterator[Candidate]:
    """The nearest numbers of heads that divide the width, and the nearest widths that these heads divide."""
    names = _NAMES.get(module.type_name, _WIDTH)
    divisors = sorted((number for number in range(1, width + 1) if width % number == 0), key=lambda n: abs(n - heads))
    widths = [wanted for wanted in (width // heads * heads, (width // heads + 1) * heads) if wanted]
    for place, options, count in ((1, divisors[:2], 2), (0, widths, 1)):
        for wanted in options:
            for made in islice(change_argument(analysis, module, place, names[place], wanted), count):
                yield made.unsafe()


def _batches(module: LibraryModule, given: list[Operand]) -> tuple[Operand, Operand, int] | None:
    """Two sequences of different numbers of samples, the one of a single sample first, and the dimension of those."""
    axis = 0 if module.kwargs.get("batch_first", _inner_batch_first(module)) is True else 1
    sequences = [used for used in given if len(used.shape) == 3]
    single = next((used for used in sequences if used.shape[axis] == 1), None)
    other = next((used for used in sequences if used.shape[axis] != 1), None)
    return None if single is None or other is None else (single, other, axis)


def _inner_batch_first(module: LibraryModule) -> object:
    """`batch_first` of the layer that a stack of them was built with."""
    layer = as_kind(module.first, LibraryModule)
    return layer.kwargs.get("batch_first") if layer is not None else None


def _of_batches(
    analysis: Analysis, failure: OperatorFailure, module: LibraryModule, single: Operand, other: Operand, axis: int
) -> Finding:
    """One sample, such as learned queries, that meets a batch."""
    text = message(
        "attention.batch",
        single=single.described("the input"),
        other=other.described("the other input"),
        size=dims.text(other.shape[axis]),
        layer=layer_text(module),
    )
    turned = _turned(failure, module, operands(failure.operation))
    candidates = chain(_expanded(single, other, axis), turned)
    return Finding(failure.operation.site.span, text, trail(analysis, failure), candidates)


def _expanded(single: Operand, other: Operand, axis: int) -> Iterator[Candidate]:
    """``queries.expand(memory.size(0), -1, -1)``."""
    names = [f"{other.node.id}.size({axis})"] if isinstance(other.node, ast.Name) else []
    texts = [*names, *size_texts(single.site.scene, other.shape[axis], single.node or single.site.node)]
    for text in texts[:1]:
        yield from suffixed(single, f".expand({text}, -1, -1)" if axis == 0 else f".expand(-1, {text}, -1)")


def _width(
    analysis: Analysis, failure: OperatorFailure, module: LibraryModule, given: list[Operand], plain: Finding
) -> Finding:
    """Embeddings of another width than the layer was built for, or batches of two sizes."""
    name = _NAMES.get(module.type_name, _WIDTH)[0]
    built = as_kind(module.given(0, name), int)
    odd = next(
        (used for used in given if used.shape and not same(used.shape[-1], built if built is not None else -1)),
        None,
    )
    if built is None or odd is None or "mask" in failure.failure.message or "batch" in failure.failure.message:
        return Finding(plain.at, plain.message, plain.related, _turned(failure, module, given))
    text = message(
        "attention.width",
        tensor=odd.described("the input"),
        got=odd.shape[-1],
        layer=layer_text(module),
        argument=name,
        built=built,
    )
    places = trail(analysis, failure, name, built)
    return Finding(failure.operation.site.span, text, places, _as_wide(analysis, module, odd, name, built))


def _turned(failure: OperatorFailure, module: LibraryModule, given: list[Operand]) -> Iterator[Candidate]:
    """Batch and sequence the other way round: of the mask, in the layer, of one of the inputs."""
    mask = operand(failure.operation, 3, *_PADDING)
    if mask is not None and len(mask.shape) == 2:
        yield from suffixed(mask, ".T")
    yield from _batch_first(module)
    for used in given[1:]:
        if len(used.shape) == 3:
            yield from suffixed(used, ".transpose(0, 1)")


def _as_wide(analysis: Analysis, module: LibraryModule, odd: Operand, name: str, built: int) -> Iterator[Candidate]:
    """The input, or the layer, given the width of the other."""
    got = as_kind(odd.shape[-1], int)
    if len(odd.shape) == 3 and same(odd.shape[1], built):
        yield from suffixed(odd, ".transpose(1, 2)")
    if got is not None:
        yield from change_argument(analysis, module, 0, name, got)
    for layer in layers_behind(analysis, odd.tensor, "Linear", "Embedding", "Conv"):
        other = {"Linear": "out_features", "Embedding": "embedding_dim"}.get(layer.type_name, "out_channels")
        for made in change_argument(analysis, layer, 1, other, built):
            yield made.unsafe()
        break


def _heads_text(module: LibraryModule, call: ast.AST, count: int) -> str:
    """The number of heads, as the layer that is called keeps it."""
    written = is_plain_call(call)
    kept = module.type_name == "MultiheadAttention" and module.given(1, "num_heads") == count
    return f"{ast.unparse(call.func)}.num_heads" if isinstance(call, ast.Call) and written and kept else str(count)


def _for_mask(analysis: Analysis, failure: OperatorFailure, module: LibraryModule) -> Iterator[Candidate]:
    """Repairs of a mask of another size than the sequences."""
    yield from _of_padding(analysis, failure, module)
    found = _SHAPES.search(failure.failure.message)
    mask = operand(failure.operation, 5, "attn_mask", "mask", "src_mask", "tgt_mask")
    key = operand(failure.operation, 3, *_PADDING)
    if "key_padd" in failure.failure.message and key is not None and len(key.shape) == 2:
        yield from suffixed(key, ".T")
    wanted = [int(part) for part in found[2].split(",") if part.strip().isdigit()] if found is not None else []
    square = mask is not None and len(mask.shape) == len(wanted) == 2
    if square and mask is not None and module.kwargs.get("batch_first") is True:
        yield from sized_otherwise(mask.tensor, mask.shape[0], wanted[0])
    yield from _batch_first(module)
    if wanted and mask is not None:
        if len(mask.shape) == len(wanted) == 3 and is_number(mask.shape[0]) and wanted[0] > mask.shape[0] > 0:
            times, call = wanted[0] // mask.shape[0], failure.operation.site.node
            yield from suffixed(mask, f".repeat_interleave({_heads_text(module, call, times)}, dim=0)")
        if square:
            yield from _cut(mask, wanted, operands(failure.operation))
            yield from sized_otherwise(mask.tensor, mask.shape[0], wanted[0])
            for axis in (0, 1) if not _of_sequence(mask, operands(failure.operation)) else ():
                yield from resized(mask.tensor, axis, wanted[axis])
            yield from _squares(mask, wanted)
            if mask.node is not None and all_are(mask.shape, int):
                yield from suffixed(mask, f"[:{wanted[0]}, :{wanted[1]}]", safe=False)


def _of_padding(analysis: Analysis, failure: OperatorFailure, module: LibraryModule) -> Iterator[Candidate]:
    """A mask of each sample's padding under the name of one from step to step, under its own."""
    operation = failure.operation
    names, call = _MASKS.get(module.type_name, {}), operation.site.call
    given = operands(operation)
    for mask in given:
        name = names.get(mask.name, "") if is_number(mask.name) else mask.name
        node = mask.node
        sequences = {tuple(map(dims.text, used.shape[:2])) for used in given if len(used.shape) == 3}
        shape = tuple(map(dims.text, mask.shape))
        if name not in _FOR_PADDING or node is None or len(shape) != 2 or not {shape, shape[::-1]} & sequences:
            continue
        source, new = operation.site.source, f"{_FOR_PADDING[name]}="
        keyword = next((part for part in call.keywords if part.value is node), None) if call is not None else None
        if keyword is None and not (call is not None and call.args and call.args[-1] is node):
            continue
        start = source.start_of(node if keyword is None else keyword)
        named = Edit(source.path, start, source.start_of(node), new)
        title = message("fix.replace", old=name, new=_FOR_PADDING[name])
        if mask.spec.dtype == "bool":
            yield Candidate(title, (named,))
        else:
            for text in _booleans(analysis, mask, node):
                yield Candidate(title, (named, edits.replace(source, node, text)), safe=False)


def _of_integers(analysis: Analysis, failure: OperatorFailure, module: LibraryModule) -> Iterator[Candidate]:
    """A mask of zeros and ones where booleans are wanted."""
    yield from _of_padding(analysis, failure, module)
    for mask in operands(failure.operation):
        if mask.node is not None and not (mask.spec.dtype or "bool").startswith(("bool", "float", "bfloat")):
            for text in _booleans(analysis, mask, mask.node):
                yield replaced(mask.site, mask.node, text, safe=False)


def _booleans(analysis: Analysis, mask: Operand, node: ast.expr) -> tuple[str, ...]:
    """A mask of numbers as one that is True for what is left out: its zeros, as of a tokenizer, unless it was made as its
    ones, such as by a comparison with the padding."""
    made = {operation.name for _, operation in lineage(analysis, mask.tensor)}
    text = written(mask.site.source, node)
    texts = f"{text} == 0", f"{text}.bool()"
    return texts[::-1] if made & _LEFT_OUT else texts


def _of_sequence(mask: Operand, given: list[Operand]) -> bool:
    """Whether a mask was computed of a sequence, such as of its padding: it has no size of its own."""
    born = birth(mask.tensor)
    others = (birth(used.tensor) for used in given if used.tensor is not mask.tensor)
    return born is not None and any(other is not None and other.call is born.call for other in others)


def _cut(mask: Operand, wanted: list[int], given: list[Operand]) -> Iterator[Candidate]:
    """A mask for the longest sequences, cut to the length of these: ``self.mask[:x.size(1), :x.size(1)]``."""
    longer = all(is_number(size) and size > short for size, short in zip(mask.shape, wanted))
    if mask.node is None or not longer:
        return
    texts = []
    for short in wanted:
        sizes = (
            f"{used.node.id}.size({used.shape.index(short)})"
            for used in given
            if used is not mask and isinstance(used.node, ast.Name) and short in used.shape
        )
        texts.append([*sizes, *size_texts(mask.site.scene, short, mask.node), str(short)][0])
    yield from suffixed(mask, f"[:{texts[0]}, :{texts[1]}]")


def _squares(mask: Operand, wanted: list[int]) -> Iterator[Candidate]:
    """A square mask whose call holds the side: once, or once for each dimension."""
    born = birth(mask.tensor)
    if born is None or wanted[0] != wanted[1]:
        return
    sides = [node for node in nodes_in(born.call, ast.Constant) if node.value == mask.shape[0]]
    source = born.site.source
    if sides:
        changes = tuple(edits.replace(source, node, str(wanted[0])) for node in sides)
        yield Candidate(message("fix.size", old=mask.shape[0], new=wanted[0]), changes, safe=False)


def _batch_first(module: LibraryModule) -> Iterator[Candidate]:
    """The layer told that the batch comes first."""
    site = module.site
    if site is None or site.call is None or module.type_name not in _TAKE_BATCH_FIRST:
        return
    written = argument_of(site.call, None, "batch_first")
    if written is None:
        text = "batch_first=True"
        yield added_argument(site.source, site.call, text)
    elif isinstance(written, ast.Constant):
        yield replaced(site, written, str(not written.value), safe=False)


RULE = Rule(FAULTS[CODE], find)
