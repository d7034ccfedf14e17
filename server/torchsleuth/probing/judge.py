"""Judgements of the measurements of each probe: one function for each kind."""

from __future__ import annotations

from collections.abc import Callable

from torchsleuth.probing.data import determinism, workers
from torchsleuth.probing.functions import gradcheck, independence
from torchsleuth.probing.learning import overfit, rates
from torchsleuth.probing.nonfinite import nonfinite
from torchsleuth.probing.result import Place, Result
from torchsleuth.schema import Json

Places = Callable[[Json | None], Place | None]
Judge = Callable[[Json, Places], Result]
JUDGES: dict[str, Judge] = {
    "nonfinite": nonfinite,
    "overfit": overfit,
    "lr": rates,
    "gradcheck": gradcheck,
    "independence": independence,
    "determinism": determinism,
    "workers": workers,
}
