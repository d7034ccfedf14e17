"""Numbers as a reader wants them: three digits, thousands apart, sizes and times with their unit."""

from __future__ import annotations

import math


def number(value: float | None) -> str:
    """Three significant digits; a dash for what is not known."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return str(value)
    return f"{value:.3g}"


def amount(value: int) -> str:
    """A count: ``1,234,567``."""
    return f"{value:,}"


def large(value: float) -> str:
    """A count with a prefix: ``1.2 M``."""
    for unit in ("", " k", " M", " G", " T"):
        if abs(value) < 999.5 or unit == " T":
            break
        value /= 1000
    return f"{value:.3g}{unit}"


def share(value: float) -> str:
    """A part of a whole: ``12 %``."""
    return f"{100 * value:.0f} %" if value >= 0.0095 or value == 0 else f"{100 * value:.1g} %"


def size(value: float) -> str:
    """Bytes: ``1.5 GiB``."""
    for unit in ("B", "KiB", "MiB"):
        if abs(value) < 1024:
            return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"
        value /= 1024
    if abs(value) < 1024:
        return f"{value:.2f}".removesuffix(".00") + " GiB"
    return f"{value / 1024:.3g} TiB" if abs(value) < 1000 * 1024 else f"{value / 1024**2:,.3g} PiB"


def seconds(value: float) -> str:
    """A time: ``3.2 ms``."""
    if value < 1e-3:
        return f"{1e6 * value:.3g} µs"
    if value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} s" if value < 120 else f"{value / 60:.3g} min"
