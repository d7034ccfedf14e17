"""``torchsleuth hints``: what is known about each tensor expression of a file."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from torchsleuth.cli.files import Unreadable, complain, read_source
from torchsleuth.cli.render import console
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable


def hints(file: Path, output_format: str, python: str | None) -> int:
    if not file.is_file():
        complain(f"{file} does not exist")
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
        complain(f"{file}: {analysis.stats['incomplete']}")
    if output_format == "json":
        print(json.dumps([fact.to_json() for fact in analysis.facts], indent=2, ensure_ascii=False))
        return 0
    out = console()
    for fact in analysis.facts:
        name = " ".join(fact.expression.split())
        out.print(f"{file}:{fact.start.line}:{fact.start.column}: {name}: {fact.describe()}", markup=False)
    return 0
