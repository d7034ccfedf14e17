"""``torchsleuth hints``: what is known about each tensor expression of a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from torchsleuth.cli.files import is_script
from torchsleuth.cli.output import complain, data, line
from torchsleuth.cli.render import to_json
from torchsleuth.messages import message
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable


def hints(file: Path, output_format: str, python: str | None) -> int:
    if not is_script(file):
        return 2
    worker = WorkerClient(python or sys.executable)
    try:
        analysis = worker.analyze(str(file), read_source(file), roots=(os.getcwd(),), verify=False)
    except (Unreadable, WorkerUnavailable) as error:
        complain(str(error))
        return 2
    finally:
        worker.close()
    if analysis.stats.get("incomplete"):
        complain(message("cli.incomplete", path=file, reason=analysis.stats["incomplete"]))
    if output_format == "json":
        data(to_json(analysis.facts))
        return 0
    for fact in analysis.facts:
        expression = " ".join(fact.expression.split())
        line(f"{file}:{fact.start.line}:{fact.start.column}: {expression}: {fact.describe()}")
    return 0
