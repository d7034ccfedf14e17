"""The tables of old names, held to the installed PyTorch: what is gone raises, and what takes its place is there."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest
import torch

from torchsleuth.rules.api import deprecated_autocast, deprecated_function, non_public_function, removed_function
from torchsleuth.tensors.legacy import DTYPES


def load(path: str) -> Any:
    """The object at a dotted path, an attribute before a module of that name. Raises AttributeError or ImportError."""
    first, *rest = path.split(".")
    value, here = importlib.import_module(first), first
    for part in rest:
        here = f"{here}.{part}"
        value = getattr(value, part) if hasattr(value, part) else importlib.import_module(here)
    return value


@pytest.mark.parametrize("path", removed_function._FUNCTIONS)
def test_removed_functions_raise(path: str) -> None:
    matrix = torch.eye(2)
    with pytest.raises((RuntimeError, ImportError, TypeError)):
        load(path)(*([matrix] * (2 if path.endswith(("solve", "lstsq")) else 1)))
    (name,) = [word for word in removed_function._FUNCTIONS[path].instead.replace("(", " ").split() if "torch" in word][
        :1
    ]
    assert callable(load(name.rstrip(",")))


@pytest.mark.parametrize("path", removed_function._MODULES)
def test_removed_modules_are_gone(path: str) -> None:
    with pytest.raises((ImportError, AttributeError)):
        load(path)


@pytest.mark.parametrize("path", deprecated_function._FUNCTIONS | non_public_function._PUBLIC)
def test_deprecated_functions_are_still_there_and_so_are_the_others(path: str) -> None:
    old = (deprecated_function._FUNCTIONS | non_public_function._PUBLIC)[path]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert callable(load(path))
    if old.moved is not None:
        assert callable(load(old.moved))


@pytest.mark.parametrize("path", deprecated_autocast._NEW)
def test_mixed_precision_has_moved(path: str) -> None:
    new, _ = deprecated_autocast._NEW[path]
    assert callable(load(path)) and callable(load(new))


@pytest.mark.parametrize("name", DTYPES)
def test_tensor_types_have_these_dtypes(name: str) -> None:
    kind = getattr(torch, name)
    assert kind([1]).dtype == getattr(torch, DTYPES[name])


A = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
REPLACED = {
    "torch.norm(A, p=2, dim=1)": "torch.linalg.vector_norm(A, ord=2, dim=1)",
    "torch.norm(A, 'fro')": "torch.linalg.vector_norm(A, 2)",
    "torch.cholesky(A, upper=True)": "torch.linalg.cholesky(A).mH",
    "torch.chain_matmul(A, A, A)": "torch.linalg.multi_dot([A, A, A])",
    "torch.range(1, 9, 2)": "torch.arange(1, 11, 2)",
    "torch.range(5, -1, -1)": "torch.arange(5, -2, -1)",
    "torch.lu(A)[0]": "torch.linalg.lu_factor(A)[0]",
    "torch.lu_solve(A, *torch.linalg.lu_factor(A))": "torch.linalg.lu_solve(*torch.linalg.lu_factor(A), A)",
    "torch.nn.UpsamplingBilinear2d(scale_factor=2)(A[None, None])": (
        "torch.nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)(A[None, None])"
    ),
    "torch.qr(A, some=False)[1]": 'torch.linalg.qr(A, mode="complete")[1]',
}


@pytest.mark.parametrize("old", REPLACED)
def test_the_replacement_computes_the_same(old: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = eval(old, {"torch": torch, "A": A})
    after = eval(REPLACED[old], {"torch": torch, "A": A})
    torch.testing.assert_close(before.float(), after.float())
