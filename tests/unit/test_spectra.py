"""The shape of a spectrum of a signal of unknown length, against torch.stft for several lengths."""

from __future__ import annotations

import pytest
import torch

from tests.check import analyze

PROGRAM = """
import numpy as np
import torch

def spectrum(data):
    x = torch.from_numpy(np.frombuffer(data, dtype="<i2").astype(np.float32))
    return torch.stft(x, {options}, return_complex=True)
"""
OPTIONS = [
    "256, 128, window=torch.hann_window(256)",
    "200",
    "256, hop_length=100, center=False",
]


@pytest.mark.parametrize("options", OPTIONS)
def test_spectrum(options: str) -> None:
    analysis = analyze(PROGRAM.format(options=options))
    (shape,) = {fact.shape for fact in analysis.facts if fact.expression.startswith("torch.stft")}
    assert shape is not None
    for length in (400, 513, 1024):
        x = torch.randn(length)
        made = eval(f"torch.stft(x, {options}, return_complex=True)", {"torch": torch, "x": x})
        assert [eval(str(size), {"n": length}) for size in shape] == list(made.shape)
