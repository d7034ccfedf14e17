"""``torchsleuth hints``: what is known about each tensor expression of a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from torchsleuth.cli.files import is_script, not_python
from torchsleuth.cli.output import complain, data, line
from torchsleuth.cli.render import source_reader, to_json
from torchsleuth.messages import message
from torchsleuth.syntax.files import Unreadable, read_source
from torchsleuth.syntax.notebooks import shown
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable


def hints(file: Path, output_format: str, python: str | None) -> int:
    if not is_script(file):
        return 2
    worker = WorkerClient(python or sys.executable)
    try:
        text = read_source(file)
        analysis = worker.analyze(str(file), text, roots=(os.getcwd(),), verify=False)
    except (Unreadable, WorkerUnavailable) as error:
        complain(str(error))
        return 2
    finally:
        worker.close()
    reason = not_python(file, text)
    if reason is not None:
        complain(reason)
    if analysis.stats.get("incomplete"):
        complain(message("cli.incomplete", path=file, reason=analysis.stats["incomplete"]))
    if output_format == "json":
        data(to_json(analysis.facts, source_reader({str(file): text})))
        return 0 if reason is None else 2
    for fact in analysis.facts:
        expression = " ".join(fact.expression.split())
        path, number = shown(str(file), text, fact.start.line)
        line(f"{path}:{number}:{fact.start.column}: {expression}: {fact.describe()}")
    return 0 if reason is None else 2
