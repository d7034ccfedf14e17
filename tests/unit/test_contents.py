"""What NumPy is not asked: functions whose work a number decides, or that several arrays multiply."""

from __future__ import annotations

import numpy as np
import pytest

from torchsleuth.interp.library.contents import _takes_little
from torchsleuth.interp.library.plain import NotPlain

ROW = np.arange(1000)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("where", (ROW[:, None, None], ROW[None, :, None], ROW[None, None, :]), {}),
        ("diff", (ROW,), {"n": 10**9}),
        ("histogram", (ROW, 2 * 10**9), {}),
        ("ones_like", (ROW,), {"shape": (40_000, 40_000)}),
    ],
)
def test_numpy_is_asked_for_nothing_large(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    with pytest.raises(NotPlain):
        _takes_little(name, args, kwargs)


def test_numpy_is_asked_for_what_is_as_large_as_its_arguments() -> None:
    _takes_little("where", (ROW > 3, ROW, 0), {})
    _takes_little("diff", (ROW,), {"n": 2})
