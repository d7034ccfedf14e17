"""rnn-size-mismatch: a recurrent layer built for another input size.

What it finds
    RNN, LSTM and GRU whose `input_size` is not the last size of the input, or whose hidden state does not fit.
Why it hurts
    PyTorch stops with "input.size(-1) must be equal to input_size".
Example
    nn.GRU(128, 64)(torch.randn(10, 4, 96))
Use instead
    nn.GRU(96, 64)
Fix safety
    Safe: the layer is given the size that its input has.
References
    torch.nn.GRU
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.rules.constructors import change_argument
from torchsleuth.rules.operators import failures, generic
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS110"
_ARGUMENT = {"RNN": ("input_size", -1), "LSTM": ("input_size", -1), "GRU": ("input_size", -1)}
"""Layer name prefix → the constructor argument at fault and the dimension of the input that it must equal."""
_POSITION = {"num_channels": 1}


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, finding in zip(failures(analysis, CODE), list(generic(analysis, CODE))):
        module, specs = failure.operation.module, failure.operation.specs
        argument = next(
            (pair for prefix, pair in _ARGUMENT.items() if module and module.type_name.startswith(prefix)), None
        )
        if module is not None and argument is not None and specs and specs[0].shape:
            name, axis = argument
            shape = specs[0].shape
            wanted = shape[axis] if axis < len(shape) else None
            if isinstance(wanted, int):
                candidates = tuple(change_argument(analysis, module, _POSITION.get(name, 0), name, wanted))
                finding = replace(finding, candidates=candidates)
        yield finding


RULE = Rule(CODE, "rnn-size-mismatch", "error", "shape", __doc__, find)
