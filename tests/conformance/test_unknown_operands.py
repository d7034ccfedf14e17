"""What the analysis says of results whose operands are not known, against PyTorch's database of operators: one tensor, and its gradient."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo

from torchsleuth.interp.tensors import never_differentiable
from torchsleuth.oracle.gate import known
from torchsleuth.oracle.overloads import gives_tensor


def results(info: OpInfo) -> Iterator[object]:
    """What an operator gives for its samples, where it takes a tensor on the CPU with a gradient."""
    for sample in list(info.sample_inputs("cpu", torch.float32, requires_grad=info.supports_autograd))[:4]:
        if isinstance(sample.input, torch.Tensor) and not {"return_indices", "as_tuple"} & set(sample.kwargs):
            try:
                yield info.op(sample.input, *sample.args, **sample.kwargs)
            except (RuntimeError, TypeError, ValueError):
                continue


def is_asked(info: OpInfo) -> bool:
    """Whether an operator is a function of PyTorch's, and the analysis expects one tensor of it."""
    path = f"torch.{info.name}"
    if info.name.startswith(("_", "special.")) or info.name.endswith("_") or info.variant_test_name:
        return False
    try:
        known(path)
    except LookupError:
        return False
    return torch.float32 in info.dtypes and gives_tensor(path)


@pytest.mark.parametrize("info", filter(is_asked, op_db), ids=lambda info: info.name)
def test_one_tensor(info: OpInfo) -> None:
    given = list(results(info))
    assert all(isinstance(one, torch.Tensor) for one in given)
    grads = {one.requires_grad for one in given if isinstance(one, torch.Tensor) and one.is_floating_point()}
    if grads:
        assert (True in grads) is not never_differentiable(f"torch.{info.name}")
