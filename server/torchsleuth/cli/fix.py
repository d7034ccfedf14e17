"""``torchsleuth fix``: the repair loop on a copy, with its log and closing status."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from torchsleuth.cli.files import complain
from torchsleuth.repair.rerun import repair


def fix(script: Path, arguments: list[str], copy: Path, python: str | None) -> int:
    if not script.is_file():
        complain(f"{script} does not exist")
        return 2
    try:
        outcome = repair(script, tuple(arguments), copy, python or sys.executable, print)
    except (OSError, ValueError) as error:
        complain(str(error))
        return 2
    if outcome.remaining is not None:
        left = outcome.remaining
        print(f"[REMAINING] {os.path.relpath(left.path)}:{left.start.line}  {left.code} {left.message}")
    status = "SUCCESS" if outcome.success else "FAILED"
    files = ", ".join(sorted(os.path.relpath(path) for path in outcome.modified)) or "none"
    print(f"Status: {status} | Errors Fixed: {len(outcome.repairs)} | Files Modified: {files}")
    return 0 if outcome.success else 1
