"""``torchsleuth run``: run a script under instrumentation, then show what failed on the source."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console

from torchsleuth.cli.files import complain
from torchsleuth.cli.render import print_diagnostic
from torchsleuth.runtime.session import read_sources, run as execute


def run(script: Path, arguments: list[str], report: Path | None, python: str | None) -> int:
    if not script.is_file():
        complain(f"{script} does not exist")
        return 2
    try:
        result = execute(str(script), tuple(arguments), interpreter=python or sys.executable)
    except OSError as error:
        complain(f"{python or sys.executable} cannot be started: {error.strerror or error}")
        return 2
    if report is not None:
        report.write_text(json.dumps(result.to_json(), indent=2))
    if result.diagnostics:
        # The script's own output stays untouched: the diagnosis goes to standard error.
        out = Console(stderr=True, highlight=False, soft_wrap=True)
        out.print()
        for diagnostic in result.diagnostics:
            print_diagnostic(out, diagnostic, read_sources())
    code = result.exit_code
    return 128 - code if code < 0 else code
