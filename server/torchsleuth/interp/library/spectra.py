"""Spectra of signals whose length is not known: torch.stft computes with the number itself, so PyTorch cannot be asked."""

from __future__ import annotations

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import torch_calls
from torchsleuth.interp.models import models
from torchsleuth.sifting import as_kind
from torchsleuth.tensors import dims
from torchsleuth.tensors.dims import Dim, Size
from torchsleuth.values import Tensor, Value, is_int

_OPTIONS = "input n_fft hop_length win_length window center pad_mode normalized onesided return_complex".split()
_COMPLEX = {"float32": "complex64", "float64": "complex128"}


@models("torch.stft")
def _stft(interp: Interpreter, call: Arguments) -> Value:
    """(…, length) → (…, n_fft // 2 + 1, frames) of complex numbers: torch.stft."""
    shape, dtype = _spectrum(interp, call)
    signal = as_kind(call.given(0, "input"), Tensor)
    if signal is None or shape is None:
        return torch_calls.apply(interp, call)
    spec = interp.resolved_spec(signal.spec).with_(shape=shape, dtype=dtype, strides=None)
    return interp.gathered(call.path, spec, call)


def _spectrum(interp: Interpreter, call: Arguments) -> tuple[tuple[Size, ...] | None, str | None]:
    """The shape and the dtype, where the length of a real signal is not known and everything else is."""
    given = {name: interp.resolved(call.given(place, name, None)) for place, name in enumerate(_OPTIONS)}
    signal, size = as_kind(given["input"], Tensor), given["n_fft"]
    spec = interp.resolved_spec(signal.spec) if signal is not None else None
    if spec is None or not spec.shape or len(spec.shape) > 2 or not isinstance(spec.shape[-1], Dim):
        return None, None
    hop = dims.floor_divide(size, 4) if given["hop_length"] is None and is_int(size) else given["hop_length"]
    centred, dtype = given["center"] in (None, True), _COMPLEX.get(spec.dtype or "")
    plain = given["onesided"] in (None, True) and given["return_complex"] is True
    if not call.exact or not plain or dtype is None or not is_int(size) or not is_int(hop) or hop == 0:
        return None, None
    covered = spec.shape[-1] if centred else dims.subtract(spec.shape[-1], size)
    frames = dims.add(dims.floor_divide(covered, hop), 1)
    bins = dims.add(dims.floor_divide(size, 2), 1)
    return (*spec.shape[:-1], bins, frames), dtype
