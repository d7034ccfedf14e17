"""``torchsleuth fix``: the repair loop on a copy, with its log and closing status."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from torchsleuth.cli.explained import Explainer
from torchsleuth.cli.files import is_script
from torchsleuth.cli.output import complain, line, lines
from torchsleuth.cli.render import source_reader
from torchsleuth.messages import message
from torchsleuth.repair.rerun import repair
from torchsleuth.syntax.files import Unreadable
from torchsleuth.syntax.notebooks import shown


def fix(script: Path, arguments: list[str], copy: Path, python: str | None) -> int:
    if not is_script(script):
        return 2
    interpreter = python or sys.executable
    try:
        with Explainer(interpreter) as explainer:
            outcome = repair(script, tuple(arguments), copy, interpreter, lines, explainer.explain)
    except OSError as error:
        reason = error.strerror or error
        if error.filename in (None, interpreter):
            complain(message("cli.cannot_start", python=interpreter, error=reason))
        else:
            complain(message("cli.cannot_copy", path=error.filename, error=reason))
        return 2
    except (ValueError, Unreadable) as error:
        complain(str(error))
        return 2
    left = outcome.remaining
    if left is not None:
        path, number = shown(os.path.relpath(left.path), source_reader({})(left.path).text, left.start.line)
        where = {"path": path, "line": number}
        line(message("cli.remaining", code=left.code, message=left.message, **where))
    files = ", ".join(sorted(os.path.relpath(path) for path in outcome.modified)) or "none"
    status = "SUCCESS" if outcome.success else "FAILED"
    line(message("cli.status", status=status, count=len(outcome.repairs), files=files))
    return 0 if outcome.success else 1
