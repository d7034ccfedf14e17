"""``torchsleuth diagnose``: what the log of a training shows."""

from __future__ import annotations

import json
from pathlib import Path

from torchsleuth.cli.output import complain, data, line
from torchsleuth.messages import message
from torchsleuth.report.diagnose import signs, understood
from torchsleuth.report.logs import NoLog, read


def diagnose(path: Path, output_format: str) -> int:
    """0: nothing was found; 1: something was; 2: there is no log."""
    try:
        logs = read(path)
    except NoLog as error:
        complain(str(error))
        return 2
    found = {name: signs(series) for name, series in logs.items()}
    if output_format == "json":
        shown = [
            {"path": name, "series": list(understood(logs[name])), "signs": [sign.to_json() for sign in item]}
            for name, item in found.items()
        ]
        data(json.dumps(shown, indent=2))
        return 1 if any(found.values()) else 0
    for name, item in found.items():
        if not understood(logs[name]):
            line(message("cli.diagnose.nothing_known", path=name, names=", ".join(list(logs[name])[:8])))
        elif not item:
            line(message("cli.diagnose.sound", path=name, names=", ".join(understood(logs[name])[:8])))
        for sign in item:
            line(message("cli.diagnose.sign", path=name, severity=sign.severity, code=sign.code, message=sign.message))
    return 1 if any(found.values()) else 0
