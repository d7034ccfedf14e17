"""Says which gradients are wrong, and whether samples of a batch mix."""

from __future__ import annotations

from collections.abc import Callable

from torchsleuth.messages import message
from torchsleuth.numbers import number
from torchsleuth.probing.result import Place, Result
from torchsleuth.schema import Json

Places = Callable[[Json | None], Place | None]


def gradcheck(measured: Json, places: Places) -> Result:
    """Passed where no backward() is wrong."""
    functions = measured["functions"]
    if not functions:
        text = message("probe.gradcheck.none", steps=measured["steps"])
        return Result("gradcheck", "impossible", text, measured=measured)
    details = [_told(item) for item in functions]
    for item in functions:
        if item["status"] in ("wrong", "fails"):
            factor = _factor(item)
            if factor is not None:
                details.append(message("probe.gradcheck.times", factor=number(factor)))
            text = message(f"probe.gradcheck.{item['status']}", **_values(item))
            return Result("gradcheck", "found", text, places(item["place"]), tuple(details), measured=measured)
    if all(item["status"] == "unchecked" for item in functions):
        text = message("probe.gradcheck.unchecked_all", **_values(functions[0]))
        return Result("gradcheck", "impossible", text, places(functions[0]["place"]), measured=measured)
    names = dict.fromkeys(item["name"] for item in functions if item["status"] == "right")
    text = message("probe.gradcheck.passed", names=", ".join(names)) if names else details[0]
    return Result("gradcheck", "passed", text, None, tuple(details), measured=measured)


def _values(item: Json) -> Json:
    found = {
        "element": 0,
        "input": "",
        "reason": "",
        **item,
        "shapes": "".join(f" {shape}" for shape in item["shapes"]),
    }
    return {**found, "analytic": number(found.get("analytic")), "numeric": number(found.get("numeric"))}


def _told(item: Json) -> str:
    return message(f"probe.gradcheck.of.{item['status']}", **_values(item))


def _factor(item: Json) -> float | None:
    """Between what is given and what should be, where it is a plain one: a sign, a power of 2."""
    if item["status"] != "wrong" or not item["numeric"]:
        return None
    factor: float = item["analytic"] / item["numeric"]
    return factor if any(abs(factor - plain) < 1e-3 * abs(plain) for plain in (-1, 2, 0.5, -2, 4, 0.25)) else None


def independence(measured: Json, places: Places) -> Result:
    """Passed where no output changes with another sample."""
    modes = measured["modes"]
    if not measured["called"]:
        return Result("independence", "impossible", message("probe.independence.none"), measured=measured)
    place, names = places(measured.get("call")), {"module": measured.get("module", ""), "batch": measured.get("batch")}
    if not modes:
        text = message("probe.independence.no_batch", **names)
        return Result("independence", "impossible", text, place, measured=measured)
    errors = [mode["error"] for mode in modes.values() if "error" in mode]
    if errors:
        text = message("probe.independence.error", error=errors[0], **names)
        return Result("independence", "impossible", text, place, measured=measured)
    if not any(mode["looked"] for mode in modes.values()):
        text = message("probe.independence.no_rows", **names)
        return Result("independence", "impossible", text, place, measured=measured)
    details = []
    if measured["batch_norm"]:
        details.append(message("probe.independence.norm", count=measured["batch_norm"]))
    if not any(mode["itself"] for mode in modes.values()):
        details.append(message("probe.independence.itself"))
    mixing = {name: mode for name, mode in modes.items() if mode["count"]}
    if not mixing:
        text = message("probe.independence.passed", **names)
        return Result("independence", "passed", text, place, tuple(details), measured=measured)
    name, first = next(iter(mixing.items()))
    told = message("probe.independence.mode.both" if len(mixing) == 2 else f"probe.independence.mode.{name}")
    sample, changed, _ = first["pairs"][0]
    for name, mode in mixing.items():
        tried = 3 if mode["size"] > 2 else 2
        values = {"count": mode["count"], "all": tried * (mode["size"] - 1) * max(mode["looked"] // tried, 1)}
        details.append(message("probe.independence.pairs", mode=message(f"probe.independence.mode.{name}"), **values))
    at = places(first["place"])
    if at is not None:
        details.insert(0, message("probe.independence.line", axis=measured["axis"]))
    text = message("probe.independence.found", output=sample, sample=changed, mode=told, **names)
    return Result("independence", "found", text, at or place, tuple(details), measured=measured)
