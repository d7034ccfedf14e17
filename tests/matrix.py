"""`make test-matrix`: the suite in an environment of its own for each supported Python and PyTorch, and a table of the outcomes.

    python tests/matrix.py [--only 3.10] [TEST…]

The oldest and the newest of both, paired: a difference that only one of the four other pairs shows is rare, and an environment
takes gigabytes. Environments are kept in `.matrix/`. A Python that is not installed is an error: nothing is skipped in silence.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAIRS = (("3.10", "2.4.1", "numpy<2.3"), ("3.13", "2.15.0", "numpy"))
"""Python, PyTorch, and the NumPy that both go with."""
TESTS = (
    "tests/conformance",
    "tests/unit/test_corpus.py",
    "tests/unit/test_oracle.py",
    "tests/unit/test_examples.py",
    "tests/runtime",
)


def interpreter(version: str) -> str:
    """The Python of a version. Raises SystemExit where there is none that starts (a shim may stand for none)."""
    name = shutil.which(f"python{version}")
    if name is None or subprocess.run([name, "--version"], capture_output=True, check=False).returncode != 0:
        sys.exit(f"Python {version} is not installed: put python{version} on the PATH")
    return name


def environment(python: str, torch: str, numpy: str) -> Path:
    """The Python of an environment with these versions and this package, made where it does not exist."""
    folder = ROOT / ".matrix" / f"python{python}-torch{torch}"
    own = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if (folder / "installed").exists():
        return own
    subprocess.run([interpreter(python), "-m", "venv", "--clear", folder], check=True)
    install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, f"torch=={torch}", numpy], check=True)
    subprocess.run([*install, f"torch=={torch}", numpy, "--editable", f"{ROOT}[dev]"], check=True)
    (folder / "installed").touch()
    return own


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", default=TESTS)
    parser.add_argument("--only", help="this Python alone")
    options = parser.parse_args()
    rows = []
    for python, torch, numpy in PAIRS:
        if options.only not in (None, python):
            continue
        own = environment(python, torch, numpy)
        print(f"Python {python}, PyTorch {torch}", flush=True)
        done = subprocess.run([own, "-m", "pytest", *options.tests, "-n", "auto"], cwd=ROOT, env={**os.environ})
        rows.append((python, torch, done.returncode))
    for python, torch, status in rows:
        print(f"Python {python:5} PyTorch {torch:7} {'passed' if status == 0 else 'FAILED'}")
    return int(any(status for *_, status in rows))


if __name__ == "__main__":
    sys.exit(main())
