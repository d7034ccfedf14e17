"""``torchsleuth contract``: what each module and function of tensors asks of its inputs, and what it gives back."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from torchsleuth.cli.files import PathNames, not_python
from torchsleuth.cli.output import complain, data, line
from torchsleuth.cli.render import to_json
from torchsleuth.messages import message
from torchsleuth.schema import Contract
from torchsleuth.syntax.files import Unreadable, python_files, read_source
from torchsleuth.worker.client import WorkerClient, WorkerUnavailable
from torchsleuth.worker.phrases import sentences


def contract(paths: list[Path], output_format: str, python: str | None) -> int:
    """Print the contracts of files and folders. The exit status."""
    files = [file for path in paths for file in python_files(path, lambda path: False, complain)]
    found: list[Contract] = []
    names, status = PathNames(map(str, files)), 0
    worker = WorkerClient(python or sys.executable)
    try:
        for file in files:
            try:
                text = read_source(file)
            except Unreadable as error:
                complain(str(error))
                status = 2
                continue
            if (reason := not_python(file, text)) is not None:
                complain(reason)
                status = 2
            analysis = worker.contracts(str(file), text, roots=(os.getcwd(),))
            if analysis.stats.get("incomplete"):
                complain(message("cli.incomplete", path=file, reason=analysis.stats["incomplete"]))
            for internal_error in analysis.stats.get("internal_errors") or ():
                complain(message("cli.internal_error", error=internal_error))
            found += analysis.contracts
            if output_format != "json":
                for one in analysis.contracts:
                    (_markdown if output_format == "markdown" else _text)(one, names)
    except WorkerUnavailable as error:
        complain(str(error))
        return 2
    finally:
        worker.close()
    if output_format == "json":
        data(to_json(found))
    elif not found and status == 0:
        complain(message("cli.contract.none"))
    return status


def _text(one: Contract, names: PathNames) -> None:
    line(f"{names.shown(one.path)}:{one.start.line}: {one.heading()}")
    line(f"    {one.signature()}")
    for text in sentences(one):
        line(f"    {text}")


def _markdown(one: Contract, names: PathNames) -> None:
    line(f"### `{one.heading()}`")
    line("")
    line("```text")
    line(one.signature())
    line("```")
    line("")
    for text in sentences(one):
        line(f"- {text}")
    line(f"- `{names.shown(one.path)}:{one.start.line}`")
    line("")
