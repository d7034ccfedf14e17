"""reads-ahead: a model that is to predict the next token, and is shown it.

What it finds
    nn.TransformerDecoder, nn.TransformerEncoder, their layers and nn.Transformer on `tokens[:, :-1]` without a causal mask, where the
    loss compares the result with `tokens[:, 1:]`.
Why it hurts
    Each place attends to the ones behind it, among them its own target. The loss falls to nothing, and what is generated word by
    word, where nothing is behind, is rubbish.
Example
    hidden = self.decoder(embedded, memory)
Use instead
    mask = nn.Transformer.generate_square_subsequent_mask(embedded.size(1))
    hidden = self.decoder(embedded, memory, tgt_mask=mask)
Fix safety
    Safe: with targets that are the next tokens, no place may look further.
References
    torch.nn.Transformer.generate_square_subsequent_mask
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.describe import call_trail
from torchsleuth.rules.evidence.loaders import free_name, spelled
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.evidence.operands import Operand, ancestry, operand
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import parts_of_key
from torchsleuth.values import LibraryModule, Tensor

CODE = "TS327"
_MASKS = {
    "TransformerDecoder": ("tgt_mask", 2),
    "TransformerDecoderLayer": ("tgt_mask", 2),
    "TransformerEncoder": ("mask", 1),
    "TransformerEncoderLayer": ("src_mask", 1),
    "Transformer": ("tgt_mask", 3),
}
"""By layer the name and the place of its causal mask."""
_BATCH_FIRST = {"TransformerDecoderLayer": 6, "TransformerEncoderLayer": 6, "Transformer": 9}
_LOSSES = frozenset({"cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"})


def find(analysis: Analysis) -> Iterator[Finding]:
    layers = [one for one in analysis.trace.operations if one.module is not None and _is_open(one)]
    losses = [one for one in analysis.trace.operations if layers and one.name in _LOSSES]
    wanted = [(loss, whole) for loss in losses for whole in _parts(operand(loss, 1, "target"), _begins_late)]
    reported: set[Span] = set()
    for operation in layers if wanted else ():
        given = operand(operation, 1 if _type(operation) == "Transformer" else 0, "tgt", "src")
        shown = list(_parts(given, _ends_early))
        loss = next((loss for loss, whole in wanted if _is_shown(loss, whole, operation, shown)), None)
        if loss is None or given is None or operation.site.span in reported:
            continue
        reported.add(operation.site.span)
        name, _ = _MASKS[_type(operation)]
        text = message("ahead.no_mask", layer=_type(operation), mask=name)
        places = (
            loss.site.span.related(message("ahead.target")),
            *call_trail(operation.site.scene, limit=1),
        )
        yield Finding(operation.site.span, text, places, tuple(_masked(analysis, operation, given.node)))


def _type(operation: Operation) -> str:
    return operation.module.type_name if operation.module is not None else ""


def _is_open(operation: Operation) -> bool:
    """Whether a layer of a transformer is called without a causal mask."""
    name, place = _MASKS.get(_type(operation), ("", 0))
    causal = any(word.endswith("is_causal") and value is not False for word, value in operation.kwargs.items())
    given = operation.given(place, name, None)
    return bool(name) and given is None and not causal


def _is_shown(loss: Operation, whole: Tensor, operation: Operation, shown: list[Tensor]) -> bool:
    """Whether a layer sees what the loss compares its result with."""
    same = any(one.is_one_with(whole) for one in shown)
    prediction = operand(loss, 0, "input")
    made = ancestry(prediction.tensor) if same and prediction is not None else ()
    return any(origin.site is operation.site for origin in made)


def _parts(given: Operand | None, is_part: Callable[[ast.AST], bool]) -> Iterator[Tensor]:
    """The tensors of which an operand is computed from such a part."""
    for origin in ancestry(given.tensor) if given is not None else ():
        if origin.name == "getitem" and is_part(origin.site.node):
            yield from origin.sources


def _slices(node: ast.AST) -> list[ast.Slice]:
    return of_kind(parts_of_key(node), ast.Slice)


def _ends_early(node: ast.AST) -> bool:
    """``[:, :-1]``"""
    return any(one.lower is None and one.upper is not None and ast.unparse(one.upper) == "-1" for one in _slices(node))


def _begins_late(node: ast.AST) -> bool:
    """``[:, 1:]``"""
    return any(one.upper is None and one.lower is not None and ast.unparse(one.lower) == "1" for one in _slices(node))


def _masked(analysis: Analysis, operation: Operation, node: ast.expr | None) -> Iterator[Candidate]:
    """The mask for as many places as the input has; the input gets a name where it has none."""
    call, path = operation.site.call, operation.site.span.path
    statement, axis = statement_of(analysis, operation.site), _length_axis(operation.module)
    if node is None or call is None or axis is None or statement is None or not is_simple(statement, analysis, path):
        return
    source = analysis.source_of(path)
    layer, imports = spelled(analysis, path, "torch.nn.Transformer")
    given, changes = source.segment(node), list(imports)
    if not isinstance(node, ast.Name):
        name = free_name(analysis, path, "embedded")
        changes += [edits.insert_line_before(source, statement, f"{name} = {given}"), edits.replace(source, node, name)]
        given = name
    mask = f"{layer}.generate_square_subsequent_mask({given}.size({axis}), device={given}.device)"
    text = f"{_MASKS[_type(operation)][0]}={mask}"
    changes.append(edits.add_argument(source, call, text))
    yield Candidate(message("fix.add_argument", argument=text), tuple(changes))


def _length_axis(module: LibraryModule | None) -> int | None:
    """The dimension of the places, by the ``batch_first`` of the layer or of the layers in a stack."""
    if module is None:
        return None
    layer = module.given(0, "decoder_layer") if module.type_name == "TransformerDecoder" else module
    layer = module.given(0, "encoder_layer") if module.type_name == "TransformerEncoder" else layer
    place = _BATCH_FIRST.get(layer.type_name) if isinstance(layer, LibraryModule) else None
    first = (
        as_kind(layer.given(place, "batch_first", False), bool)
        if place is not None and isinstance(layer, LibraryModule)
        else None
    )
    return int(first) if first is not None else None


RULE = Rule(FAULTS[CODE], find)
