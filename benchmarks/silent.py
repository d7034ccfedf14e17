"""Trainings that go wrong without a crash: does a run name each fault at the right line, and accuse no sound training?

    python -m benchmarks.silent [--only NAME…] [--warm] [--show] [--reports FOLDER]

The scripts are in `benchmarks/scripts/silent/`. Comments in them say what is right, and make the corrected twin:

- ``CODE  # fault: TS501[/TS502…]``: a line at which the fault may be named, and by which codes,
- ``CODE  # fixed: OTHER``, also behind a fault (``# fault: TS501 | fixed: OTHER``): the line as it is in the twin,
- ``# fixed: CODE`` alone on a line: one that only the twin has.

Those in the folder `healthy/` have nothing wrong with them. Each runs as ``torchsleuth run --report`` runs it; with `--warm`,
as a fork of a process that has imported torch, and without what the analysis adds. A fault is *found* if something of severity
warning or error is said, and *named* if that is said at a marked line by one of its codes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from benchmarks.warm import SECONDS, execute, warm_up
from torchsleuth.schema import Json

SCRIPTS = Path(__file__).parent / "scripts" / "silent"
_COMMENT = re.compile(r"\s*# (?:fault: (?P<codes>TS\d+(?:/TS\d+)*))?(?: \| )?(?:fixed: (?P<fixed>.*))?$")
GRAVE = ("warning", "error")


@dataclass
class Script:
    """A script. `faults` are the lines and codes that are right for it; none for a healthy one, which has no twin."""

    name: str
    text: str
    twin: str = ""
    faults: set[tuple[int, str]] = field(default_factory=set)


def scripts(wanted: list[str], folder: Path = SCRIPTS) -> list[Script]:
    found = [
        read(str(path.relative_to(folder).with_suffix("")), path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.py"))
    ]
    return [script for script in found if not wanted or any(part in script.name for part in wanted)]


def read(name: str, text: str) -> Script:
    """A script and what its comments say; they stay in it, the twin has none."""
    script = Script(name, text)
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _COMMENT.search(line)
        if match is None or not (match["codes"] or match["fixed"]):
            lines.append(line)
            continue
        script.faults |= {(number, code) for code in (match["codes"] or "").split("/") if code}
        indentation = line[: len(line) - len(line.lstrip())]
        lines.append(line[: match.start()] if match["fixed"] is None else indentation + match["fixed"])
    assert bool(script.faults) == (not name.startswith("healthy")), f"{name}: what is expected of it?"
    if script.faults:
        script.twin = "\n".join(lines) + "\n"
    return script


def findings(
    text: str, name: str, warm: bool, reports: Path | None, python: str = sys.executable
) -> tuple[int, list[Json]]:
    """Exit status of a run, and its findings."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder)) / "project"
        root.mkdir()
        main, kept = root / "train.py", root.parent / "report.json"
        main.write_text(text, encoding="utf-8")
        if warm:
            report = execute(root, main.name)[0].to_json()
        else:
            command = [
                sys.executable,
                "-m",
                "torchsleuth",
                "run",
                "--output-format",
                "json",
                "--report",
                str(kept),
                "--python",
                python,
                main.name,
            ]
            # One thread: several wait for one another for ever where other processes have the cores.
            environment = {
                **os.environ,
                "PYTHONPATH": str(Path(__file__).parents[1] / "server"),
                "OMP_NUM_THREADS": "1",
            }
            subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=SECONDS, check=False)
            report = json.loads(kept.read_text(encoding="utf-8"))
    if reports is not None:
        reports.mkdir(parents=True, exist_ok=True)
        (reports / f"{name.replace('/', '-')}.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    return report["exit_code"], report["diagnostics"]


def described(found: Json) -> str:
    return f"{found['severity']:7} {found['code']} line {found['start']['line']}: {found['message']}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="scripts with one of these in their name")
    parser.add_argument("--warm", action="store_true", help="start the runs as forks")
    parser.add_argument("--show", action="store_true", help="all that is said of every script")
    parser.add_argument("--reports", type=Path, help="keep the reports in this folder")
    parser.add_argument(
        "--scripts", type=Path, default=SCRIPTS, metavar="FOLDER", help="other scripts of the same form"
    )
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs the scripts")
    options = parser.parse_args()
    chosen = scripts(options.only, options.scripts)
    if options.warm:
        warm_up()
    began, counts, sound = time.monotonic(), dict.fromkeys(("found", "named", "first"), 0), 0
    accused: list[str] = []
    for script in chosen:
        code, said = findings(script.text, script.name, options.warm, options.reports, options.python)
        grave = [item for item in said if item["severity"] in GRAVE]
        hits = [(item["start"]["line"], item["code"]) in script.faults for item in grave]
        if script.faults:
            counts["found"] += bool(grave)
            counts["named"] += any(hits)
            counts["first"] += bool(hits and hits[0])
            state = "named" if any(hits) else "found, not named" if grave else "MISSED"
            twin_code, of_twin = findings(
                script.twin, f"{script.name}.twin", options.warm, options.reports, options.python
            )
        else:
            state, twin_code, of_twin = "healthy", code, said
        false = [item for item in of_twin if item["severity"] in GRAVE]
        sound += 1
        accused += [script.name] if false else []
        print(f"{script.name}: {state}" + (f", exit status {code}, {twin_code}" if code or twin_code else ""))
        for hit, item in zip(hits, grave, strict=True):
            if script.faults and (options.show or not hit or not any(hits)):
                print(f"    {'' if hit else 'also ' if any(hits) else ''}{described(item)}")
        for item in of_twin if options.show else false:
            print(f"    {'FALSE ALARM: ' if item in false else 'on sound code: '}{described(item)}")
        sys.stdout.flush()
    faulty = sum(bool(script.faults) for script in chosen)
    print(f"\n{faulty} faults in {time.monotonic() - began:.0f} s")
    for label, number in counts.items():
        print(f"  {label:6} {number:4}  {number / max(1, faulty):6.1%}")
    print(f"  sound scripts that are accused: {len(accused)} of {sound} {' '.join(accused)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
