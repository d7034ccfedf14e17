"""Scripts run plainly and under instrumentation: exit status, standard output and error, and files written, byte for byte.

    python -m benchmarks.transparent [PATH…] [--python INTERPRETER]

PATH are scripts or folders of them, `benchmarks/scripts/transparent` by default. Each script runs in a folder of its own,
which is made anew under the same name for each run, with the same standard input, arguments and order of sets.

What differs between two plain runs cannot be compared. So where a plain and an instrumented run differ, the script runs
plainly once more, and lines and files that differ between the plain runs too are left out; addresses in memory (0x7f…) are
always. Nothing else is.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "benchmarks" / "scripts" / "transparent"
INPUT = b"first\nsecond\nthird\nno newline"
TIMEOUT_SECONDS = 300
_ADDRESS = re.compile(rb"0x[0-9a-f]{6,}")
_ENTRY = """
import sys
sys.path.insert(0, sys.argv[1])
from torchsleuth.runtime.session import Run
status, interpreter, script, *arguments = sys.argv[2:]
report = Run(script, tuple(arguments), interpreter).execute()
with open(status, "w") as file:
    file.write(str(report.exit_code))
"""


@dataclass(frozen=True)
class Outcome:
    """What a run left: `files` are the contents, modes and targets of what stands in its folder, by path."""

    status: int
    out: bytes
    err: bytes
    files: dict[str, bytes]


def run(script: Path, folder: Path, python: str, instrumented: bool) -> Outcome:
    """Run a script in a folder that is made for it."""
    work = folder / "work"
    if work.exists():
        shutil.rmtree(work)
    work.mkdir()
    copy = work / script.name
    shutil.copyfile(script, copy)
    os.utime(copy, (1, 1))
    status = folder / "status"
    command = [python, script.name, "--flag", "two words"]
    if instrumented:
        command = [sys.executable, "-c", _ENTRY, str(ROOT / "server"), str(status), *command]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "_")}
    environment["PYTHONHASHSEED"] = "0"
    with open(folder / "out", "wb+") as out, open(folder / "err", "wb+") as err:
        done = subprocess.run(
            command, input=INPUT, stdout=out, stderr=err, cwd=work, env=environment, timeout=TIMEOUT_SECONDS
        )
        out.seek(0)
        err.seek(0)
        code = int(status.read_text()) if instrumented and status.exists() else done.returncode
        status.unlink(missing_ok=True)
        return Outcome(code, out.read(), err.read(), _files(work))


def _files(folder: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        mode = oct(stat.S_IMODE(path.lstat().st_mode)).encode()
        if path.is_symlink():
            content = b"-> " + os.readlink(path).encode()
        else:
            content = path.read_bytes() if path.is_file() else b"folder"
        found[str(path.relative_to(folder))] = mode + b" " + content
    return found


def differences(plain: Outcome, ours: Outcome, again: Outcome) -> list[str]:
    """What an instrumented run does otherwise than two plain ones, in words and as a diff."""
    found = []
    if ours.status not in (plain.status, again.status):
        found.append(f"exit status {plain.status}, instrumented {ours.status}")
    for name in ("out", "err"):
        expected, got, second = (
            _ADDRESS.sub(b"0x", getattr(outcome, name)).splitlines(keepends=True) for outcome in (plain, ours, again)
        )
        if len(expected) == len(second) == len(got):
            unstable = {index for index, pair in enumerate(zip(expected, second)) if pair[0] != pair[1]}
            expected, got = (
                [line for index, line in enumerate(lines) if index not in unstable] for lines in (expected, got)
            )
        if expected != got:
            texts = ([line.decode(errors="backslashreplace") for line in lines] for lines in (expected, got))
            found.append(f"standard {name}:\n" + "".join(difflib.unified_diff(*texts, "plain", "instrumented", n=1)))
    for path in sorted(plain.files.keys() | ours.files.keys() | again.files.keys()):
        values = [outcome.files.get(path) for outcome in (plain, ours, again)]
        if values[0] == values[2] != values[1]:
            state = "missing" if values[1] is None else "new" if values[0] is None else "different"
            found.append(f"file {path}: {state}")
    return found


def compare(script: Path, python: str) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(os.path.realpath(name))
        plain, ours = (run(script, folder, python, instrumented) for instrumented in (False, True))
        if plain == ours:
            return []
        return differences(plain, ours, run(script, folder, python, False))


def scripts(paths: list[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths or [SCRIPTS]:
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    different = 0
    chosen = scripts(options.paths)
    for script in chosen:
        try:
            found = compare(script.resolve(), options.python)
        except subprocess.TimeoutExpired as error:
            found = [f"no end after {error.timeout} s: {error.cmd[:2]}"]
        different += bool(found)
        print(f"{script.stem:24} {'DIFFERENT' if found else 'same'}", *found, sep="\n    ", flush=True)
    print(f"{len(chosen)} scripts, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
