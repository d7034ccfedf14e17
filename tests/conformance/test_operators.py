"""The analyzer against PyTorch's own databases of operator and module calls: the fast part of benchmarks/conformance.py."""

import itertools

import pytest
import torch

from benchmarks.conformance import Case, Databases, Replay, runs

OPERATORS = (
    "add", "sub", "mul", "matmul", "mm", "bmm", "addmm", "einsum", "cat", "stack", "chunk", "split", "tensor_split", "reshape",
    "view", "permute", "transpose", "squeeze", "unsqueeze", "expand", "repeat", "flatten", "unflatten", "movedim", "gather",
    "scatter", "index_select", "__getitem__", "masked_fill", "masked_select", "where", "nonzero", "sum", "mean", "var", "max",
    "argmax", "topk", "sort", "cumsum", "norm", "clamp", "softmax", "log_softmax", "normal", "meshgrid", "tril", "roll", "flip",
    "unfold", "nn.functional.linear", "nn.functional.conv2d", "nn.functional.conv_transpose2d", "nn.functional.embedding",
    "nn.functional.layer_norm", "nn.functional.batch_norm", "nn.functional.max_pool2d", "nn.functional.interpolate",
    "nn.functional.pad", "nn.functional.cross_entropy", "nn.functional.nll_loss", "nn.functional.mse_loss",
    "nn.functional.binary_cross_entropy_with_logits", "nn.functional.scaled_dot_product_attention", "nn.functional.gelu",
)  # fmt: skip
MODULES = ("nn.Linear", "nn.Conv2d", "nn.LSTM", "nn.GRU", "nn.BatchNorm2d", "nn.LayerNorm", "nn.CrossEntropyLoss")


@pytest.fixture(scope="module")
def replay() -> Replay:
    """Three samples of each kind, and as many calls that PyTorch rejects."""
    databases = Databases(",".join((*OPERATORS, *MODULES)), 3)
    replay = Replay()
    for _, valid, invalid in itertools.chain(databases.operators(), databases.modules()):
        replay.valid(valid)
        replay.invalid(invalid)
    return replay


def test_results_are_those_of_pytorch(replay: Replay) -> None:
    assert replay.counts["total"] > 200
    assert not replay.wrong, "\n".join(replay.wrong)


def test_nothing_valid_is_flagged(replay: Replay) -> None:
    assert not replay.flagged, "\n".join(replay.flagged)


def test_nearly_every_call_is_decided(replay: Replay) -> None:
    undecided = [example for examples in replay.undecided.values() for example in examples]
    assert len(undecided) <= 0.01 * replay.counts["total"], "\n".join(undecided)


def test_calls_that_pytorch_rejects_are_flagged(replay: Replay) -> None:
    """All of them but those that write into their own input: that two arguments are one tensor is not told."""
    missed = [example for examples in replay.missed.values() for example in examples]
    assert replay.errors["flagged"] > 25
    assert not [example for example in missed if "single memory location" not in example]


def _of_python() -> list[Case]:
    """Python's own operators, for each pair of dtypes that PyTorch accepts there, over operands that are broadcast."""
    cases = []
    symbols = "+ - * / // % ** & | ^ << >> == != < <= > >=".split()
    for symbol, left, right in itertools.product(
        symbols, (torch.bool, torch.int64, torch.float32), (torch.bool, torch.int64)
    ):
        case = Case(f"{left} {symbol} {right}", prefix=f"c{len(cases)}")
        first, second = case.literal(torch.ones(3, 1, dtype=left)), case.literal(torch.ones(1, 4, dtype=right))
        case.call = f"{first} {symbol} {second}"
        cases.append(case)
    return [case for case in cases if runs(case)]


def test_operators_of_python_give_what_pytorch_gives_and_leave_their_operands_alone() -> None:
    replay = Replay()
    cases = _of_python()
    replay.valid(cases)
    assert len(cases) > 80 and not replay.wrong, "\n".join(replay.wrong)
    assert replay.counts["equal"] == replay.counts["total"] and not replay.flagged
