"""rnn-size-mismatch: a recurrent layer whose input or hidden state has another size.

What it finds
    RNN, LSTM and GRU, and their cells, whose `input_size` is not the last size of the input, or whose hidden state has
    another batch size, number of layers or width.
Why it hurts
    PyTorch stops with "input.size(-1) must be equal to input_size" or "Expected hidden size (2, 32, 64), got [1, 32, 64]".
Example
    nn.GRU(128, 64)(torch.randn(10, 4, 96))
Use instead
    nn.GRU(96, 64)
Fix safety
    Safe: the layer is given the size that its input has, or the hidden state the size that the layer wants.
References
    torch.nn.GRU
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import change_argument
from torchsleuth.rules.evidence.describe import expression_text, layer_text, shape_text
from torchsleuth.rules.evidence.operands import Operand, fitted, layers_behind, operands, resized, suffixed
from torchsleuth.rules.evidence.operators import reported, trail
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.synthesis.shapes import Shape, same, same_shape, squeezed
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Size, is_number
from torchsleuth.values import LibraryModule

CODE = "TS110"
_HIDDEN = re.compile(r"[Ee]xpected hidden(?:\[(\d)\])? size \((.+?)\), got")


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in reported(analysis, CODE):
        module, given = failure.operation.module, operands(failure.operation)
        if module is None or not given or any(used.spec.shape is None for used in given):
            yield plain
        elif len(given) > 1 and not re.search(r"input_?size", failure.failure.message.replace(".size(-1)", "")):
            yield _state(analysis, failure, module, given)
        else:
            yield _input(analysis, failure, module, given[0])


def _input(analysis: Analysis, failure: OperatorFailure, module: LibraryModule, used: Operand) -> Finding:
    built, got = as_kind(module.given(0, "input_size"), int), used.shape[-1]
    text = message(
        "rnn.input",
        tensor=expression_text(used.node, "the input"),
        shape=shape_text(used.spec),
        got=dims.text(got),
        layer=layer_text(module),
        built=built if built is not None else "another size",
    )
    if len(used.shape) > 3:
        text = message("rnn.rank", tensor=used.described("the input"), layer=layer_text(module))
    places = trail(analysis, failure, "input_size", built if built is not None else "?")
    return Finding(failure.operation.site.span, text, places, _for_input(analysis, module, used))


def _for_input(analysis: Analysis, module: LibraryModule, used: Operand) -> Iterator[Candidate]:
    built, got = as_kind(module.given(0, "input_size"), int), used.shape[-1]
    if len(used.shape) > 3:
        yield from fitted(analysis, used, lambda shape: same(shape[-1], got), squeezed)
        yield from suffixed(used, ".flatten(2)", safe=False)
        yield from suffixed(used, ".flatten(0, 1)", safe=False)
    elif is_number(got):
        if len(used.shape) == 3 and built is not None and same(used.shape[1], built):
            yield from suffixed(used, ".transpose(1, 2)")
        yield from change_argument(analysis, module, 0, "input_size", got)
        for layer in layers_behind(analysis, used.tensor, "Linear", "Embedding", "Conv1d"):
            name = {"Linear": "out_features", "Embedding": "embedding_dim"}.get(layer.type_name, "out_channels")
            if built is not None:
                for made in change_argument(analysis, layer, 1, name, built):
                    yield made.unsafe()
            break


def _state(analysis: Analysis, failure: OperatorFailure, module: LibraryModule, given: list[Operand]) -> Finding:
    """A hidden state of another size than layer and input want."""
    wanted = _wanted(failure, module, given[0])
    state = next((used for used in given[1:] if not same_shape(used.shape, wanted)), given[1])
    text = message(
        "rnn.state",
        state=state.described("the hidden state"),
        layer=layer_text(module),
        input=given[0].described("the input"),
        wanted=f"({', '.join(dims.text(size) for size in wanted)})",
    )
    candidates = _for_state(analysis, module, state, wanted)
    return Finding(failure.operation.site.span, text, trail(analysis, failure), candidates)


def _for_state(analysis: Analysis, module: LibraryModule, state: Operand, wanted: Shape) -> Iterator[Candidate]:
    if (
        len(wanted) == 3
        and len(state.shape) == 3
        and same_shape((state.shape[1], state.shape[0], state.shape[2]), wanted)
    ):
        yield from suffixed(state, ".transpose(0, 1)")
    for axis in range(len(wanted)):
        if len(state.shape) == len(wanted) and not same(state.shape[axis], wanted[axis]):
            yield from resized(state.tensor, axis, wanted[axis])
            if axis == 2 and is_number(state.shape[2]):
                yield from change_argument(analysis, module, 1, "hidden_size", state.shape[2])
    if len(state.shape) == len(wanted) + 1 and state.shape[0] == 1:
        yield from suffixed(state, ".squeeze(0)")
    if len(state.shape) == len(wanted) + 1:
        yield from suffixed(state, "[-1]", safe=False)
    if len(wanted) == 3 and same_shape(state.shape[1:], wanted[1:]) and _is_more(state.shape[0], wanted[0]):
        yield from suffixed(state, f"[-{wanted[0]}:]", safe=False)
    if len(state.shape) == len(wanted) - 1:
        yield from suffixed(state, ".unsqueeze(0)")


def _is_more(size: Size, wanted: Size) -> bool:
    return is_number(size) and is_number(wanted) and size > wanted


def _wanted(failure: OperatorFailure, module: LibraryModule, used: Operand) -> Shape:
    """The shape of the hidden state: (layers · directions, batch, hidden), or (batch, hidden) for a cell."""
    found = _HIDDEN.search(failure.failure.message)
    if found is not None and all(part.strip().isdigit() for part in found[2].split(",")):
        return tuple(int(part) for part in found[2].split(","))
    hidden = as_kind(module.given(1, "hidden_size"), int)
    width = hidden if hidden is not None else 1
    if module.type_name.endswith("Cell"):
        return (used.shape[0], width)
    layers = as_kind(module.given(2, "num_layers"), int)
    count = (layers if layers is not None else 1) * (2 if module.kwargs.get("bidirectional") is True else 1)
    batch = used.shape[0 if module.kwargs.get("batch_first") is True else 1] if len(used.shape) == 3 else 1
    return (count, batch, width)


RULE = Rule(FAULTS[CODE], find)
