"""SciPy's filters and spectra: arrays, of which mostly no more is known than that."""

from __future__ import annotations

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import arrays
from torchsleuth.interp.models import models
from torchsleuth.sifting import as_kind
from torchsleuth.values import UNKNOWN, Array, Value

_FILTERS = (
    "resample resample_poly decimate medfilt savgol_filter filtfilt sosfiltfilt lfilter sosfilt hilbert detrend".split()
)
_ANSWERING = frozenset({"zi", "t"})
"""Options with which a filter gives something beside the filtered signal."""
_SPECTRA = {"stft": 3, "spectrogram": 3, "istft": 2, "welch": 2, "periodogram": 2}
"""How many arrays each one gives, the axes first."""
_LOCAL = "gaussian_filter gaussian_filter1d median_filter uniform_filter uniform_filter1d maximum_filter minimum_filter shift".split()
"""Filters of images that keep the shape and the dtype."""
_RESIZING = "zoom rotate map_coordinates affine_transform".split()


@models(*(f"scipy.signal.{name}" for name in _FILTERS), *(f"scipy.ndimage.{name}" for name in _RESIZING))
def _filtered(interp: Interpreter, call: Arguments) -> Value:
    """A signal or an image of a size that is not followed."""
    return arrays.make(None, None) if call.exact and not _ANSWERING & call.kwargs.keys() else UNKNOWN


@models(*(f"scipy.signal.{name}" for name in _SPECTRA))
def _spectrum(interp: Interpreter, call: Arguments) -> Value:
    """The axes, and the spectrum over them."""
    return tuple(arrays.make(None, None) for _ in range(_SPECTRA[call.name]))


@models(*(f"scipy.ndimage.{name}" for name in _LOCAL))
def _local(interp: Interpreter, call: Arguments) -> Value:
    """An array of the same shape and dtype."""
    given = as_kind(call.given(0, "input", UNKNOWN), Array)
    if given is None or "output" in call.kwargs:
        return arrays.make(None, None)
    return arrays.make(arrays.shape_of(interp, given), given.spec.dtype)
