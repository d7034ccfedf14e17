"""Uses future statements."""
from __future__ import annotations

import typing

import torch

x: undefined_name = torch.ones(2)


def f(a: also_undefined, *, b: list[max(1, 2)] = 3) -> not_there:
    c: local_annotation = a * b
    return c


class A:
    field: max(1, 2) = 3


print(__annotations__ if "__annotations__" in globals() else None, f.__annotations__, A.__annotations__, f(x))
try:
    typing.get_type_hints(f)
except NameError as error:
    print(error)
