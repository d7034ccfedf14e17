"""What other tools say of the scripts of `benchmarks.silent`: those that need no calls in the code.

    python -m benchmarks.peers PYTHON [--only NAME…] [--run]

PYTHON is an interpreter with torch-preflight and runmedic. torch-preflight reads each script and each twin; with `--run`, each runs,
and runmedic reads what it printed. A fault is *found* if a tool says anything graver than a note of it, and *named* if it says
so at a marked line; runmedic knows no lines. torch-audit, torchmortem, sherlorch and TraceML want calls in the script, and are
not asked.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from benchmarks.silent import Script, scripts
from benchmarks.warm import execute, warm_up

Said = list[int | None]
"""Lines of what is said; None where none is told."""


def preflight(python: str, folder: Path) -> dict[str, Said]:
    """By the name of a file, what torch-preflight says of it."""
    command = [python, "-m", "torch_preflight", "check", "-f", "json", "-j", "1", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found: dict[str, Said] = {}
    for item in json.loads(done.stdout)["diagnostics"]:
        if item["severity"] in ("warning", "error"):
            found.setdefault(Path(item["path"]).name, []).append(item["line"])
    return found


def runmedic(python: str, text: str) -> Said:
    """What runmedic says of the output of a script."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder)) / "project"
        root.mkdir()
        (root / "train.py").write_text(text, encoding="utf-8")
        log = root.parent / "run.log"
        log.write_text(execute(root, "train.py")[1], encoding="utf-8")
        command = [str(Path(python).parent / "runmedic"), "diagnose", "--json", str(log)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout.strip():
        return []
    told = json.loads(done.stdout)
    runs = told if isinstance(told, list) else told.get("runs", [told])
    return [None for run in runs for item in run.get("findings", []) if item["severity"] in ("warning", "critical")]


def count(name: str, chosen: list[Script], said: Callable[[Script, str], Said]) -> None:
    found = named = accused = 0
    for script in chosen:
        if script.faults:
            lines = said(script, "")
            found += bool(lines)
            named += any(line == marked for line in lines for marked, _ in script.faults)
        accused += bool(said(script, ".twin" if script.faults else ""))
    faulty = sum(bool(script.faults) for script in chosen)
    print(f"{name}: {found} of {faulty} found, {named} named, {accused} of {len(chosen)} sound scripts accused")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("python", help="interpreter with the other tools")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="scripts with one of these in their name")
    parser.add_argument("--run", action="store_true", help="ask runmedic, too")
    options = parser.parse_args()
    chosen = scripts(options.only)
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        for script in chosen:
            for ending, text in (("", script.text), (".twin", script.twin)):
                (folder / f"{_file(script)}{ending}.py").write_text(text, encoding="utf-8")
        read = preflight(options.python, folder)
    count("torch-preflight", chosen, lambda script, ending: read.get(f"{_file(script)}{ending}.py", []))
    if options.run:
        warm_up()
        count(
            "runmedic", chosen, lambda script, ending: runmedic(options.python, script.twin if ending else script.text)
        )
    return 0


def _file(script: Script) -> str:
    return script.name.replace("/", "-")


if __name__ == "__main__":
    sys.exit(main())
