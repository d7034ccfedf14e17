"""The report as one page that needs nothing but itself: what it shows is data in it, laid out by the script in it.

The policy of the page lets nothing else run and nothing be fetched. The data are text that the script puts into text nodes,
never markup; in the page, they cannot end their element.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torchsleuth.escaping import escape
from torchsleuth.messages import message
from torchsleuth.report.comparison import Comparison
from torchsleuth.report.history import Kept, of_report
from torchsleuth.report.view import Sources, View
from torchsleuth.runtime.report import RunReport
from torchsleuth.schema import Json

_FOLDER = Path(__file__).parent
_SCRIPT, _STYLE = "page.js", "page.css"
"""Built from ``extension/page`` by ``npm run page``."""


def page(
    report: RunReport,
    sources: Sources,
    before: Sequence[Kept] = (),
    probes: Sequence[Callable[[View], Json]] = (),
) -> str:
    """The page about a run. `before`: earlier runs of the script, the last one first. `probes` make what it shows of the answers
    of probes."""
    data = View(report, sources).to_json(probes)
    now = of_report(report, sources)
    if now is not None and before and (compared := Comparison.of(now, before)) is not None:
        data["compared"] = compared.to_json(os.path.dirname(report.script))
        compared.overlay(data["plots"])
    return page_of({"compared": None, **data})


def page_of(data: Json) -> str:
    """The page that shows data of the form of `View.to_json`."""
    script, style = _read(_SCRIPT), _read(_STYLE)
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    # Neither "</script>" nor "<!--" is left in it.
    text = (
        json.dumps(_finite(data), allow_nan=False)
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(str(data['title']))} – TorchSleuth</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<main id="report"></main>\n<noscript>{_text(message("page.noscript"))}</noscript>\n'
        f'<script type="application/json" id="data">{text}</script>\n<script>{script}</script>\n</body>\n</html>\n'
    )


def _finite(data: Any) -> Any:
    """The same, with None in the place of numbers that JSON does not have."""
    if isinstance(data, Mapping):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _text(text: str) -> str:
    return escape(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
