"""Says where the first value that is not finite was born, of what, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable

from torchsleuth.messages import ENGLISH, message
from torchsleuth.numbers import number
from torchsleuth.probing.result import Place, Result
from torchsleuth.schema import Json

_ADVICE = {
    "log": "log", "log2": "log", "log10": "log", "div": "divide", "reciprocal": "divide", "exp": "overflow",
    "expm1": "overflow", "cosh": "overflow", "sinh": "overflow", "sqrt": "bounds", "rsqrt": "divide", "pow": "overflow",
    "_softmax": "softmax", "_log_softmax": "softmax", "acos": "bounds", "asin": "bounds", "atanh": "bounds",
    "log1p": "log", "logit": "bounds", "linalg_vector_norm": "overflow", "square": "overflow", "std": "one", "var": "one", "var_mean": "one",
    "mul": "overflow", "mm": "overflow", "addmm": "overflow",
    "sum": "overflow", "bmm": "overflow",
}  # fmt: skip
"""Remedies by operator."""
GREW = 1e3
"""Times the first loss that the last finite one has to be for a training that diverges."""
_STEEP = ("Sqrt", "Norm", "Pow", "Rsqrt", "Log", "Div", "Reciprocal", "Acos", "Asin", "Std")
"""Functions whose derivative is infinite somewhere in or at the end of their domain."""


def nonfinite(measured: Json, places: Callable[[Json | None], Place | None]) -> Result:
    """Passed where no loss and no gradient was infinite or NaN."""
    found = measured["found"]
    if found is None:
        steps = measured["steps"]
        if not measured["backwards"]:
            return Result("nonfinite", "passed", message("probe.nonfinite.nothing_run"), measured=measured)
        return Result("nonfinite", "passed", message("probe.nonfinite.passed", steps=steps), measured=measured)
    reached = message(f"probe.nonfinite.reached.{found['reached']}")
    if found["born"] is None:
        text = message("probe.nonfinite.unseen", reached=reached, step=measured["steps"] + 1)
        return Result("nonfinite", "found", text, places(found["reached_at"]), measured=measured)
    details = [_operand(operand, found["index"]) for operand in found["operands"]]
    related: tuple[tuple[str, Place], ...] = ()
    place, at = places(found["place"]), places(found["reached_at"])
    if at is not None and (place is None or (at.path, at.start.line) != (place.path, place.start.line)):
        related = ((message("probe.nonfinite.at", reached=reached), at),)
    if found["reached"] == "value":
        related = ()
    function = found["function"].strip("_")
    values = {"value": found["value"], "step": found["step"], "reached": reached}
    name = found["born"]
    if found["node"] is not None and name == "born":
        name, function = "gradient", found["node"].removesuffix("0").removesuffix("Backward")
    if name == "born" and any(operand["bad"] for operand in found["operands"]):
        name = "made_nan"
    text = message(f"probe.nonfinite.{name}", function=function, advice=_advice(found, measured["losses"]), **values)
    return Result("nonfinite", "found", text, place, tuple(details), related, measured=measured)


def _advice(found: Json, losses: list[float]) -> str:
    node = found["node"] or ""
    helps = "root" if node.startswith(_STEEP) else _ADVICE.get(found["function"].removesuffix("_"), "")
    grew = len(losses) > 1 and losses[-1] > GREW * abs(losses[0])
    if found["function"].startswith(("_foreach", "_fused")) or grew and helps in ("overflow", "root", ""):
        helps = "rate"
    text = f"probe.advice.{helps}"
    return message(text) if text in ENGLISH else message("probe.advice.other")


def _operand(operand: Json, index: list[int]) -> str:
    """``x (self) [32, 10] float32, from 0 to 0.93, 0 at [3, 7]``."""
    name = operand["name"] if operand["variable"] is None else f"{operand['variable']} ({operand['name']})"
    text = message("probe.operand", name=name, shape=operand["shape"], dtype=operand["dtype"])
    if operand["low"] is not None:
        text += message("probe.operand.range", low=number(operand["low"]), high=number(operand["high"]))
    if operand["bad"]:
        text += message("probe.operand.bad", count=operand["bad"])
    if operand["at"] is not None:
        at = operand["at"]
        text += message("probe.operand.at", value=at if isinstance(at, str) else number(at), index=index)
    return text
