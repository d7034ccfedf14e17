"""Written contracts: is every body found that contradicts its annotations, comments or docstring, and nothing said of the others?

python -m benchmarks.contracts [--only TEXT]

`scripts/contracts/pairs.md` has annotated functions that hold; each change below one of them makes a contradicted function
of it. `correct.md` has functions that hold and look as if they might not.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchsleuth.schema import Diagnostic
from torchsleuth.worker.engine import Engine

SCRIPTS = Path(__file__).parent / "scripts" / "contracts"
_SCRIPT = re.compile(r"^## (.+?)\n+```python\n(.*?)^```$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_CHANGE = re.compile(r"^- `(.*?)` → `(.*?)`$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Script:
    """One text. `contradicted`: whether something is to be found in it."""

    title: str
    text: str
    contradicted: bool


def scripts() -> Iterator[Script]:
    for name in ("pairs", "correct"):
        for title, text, below in _SCRIPT.findall((SCRIPTS / f"{name}.md").read_text(encoding="utf-8")):
            yield Script(title, text, False)
            for number, (old, new) in enumerate(_CHANGE.findall(below), 1):
                if old not in text:
                    raise ValueError(f"{title}: no {old!r}")
                head, _, tail = text.rpartition(old)
                yield Script(f"{title}, change {number}", head + new + tail, True)


def found_in(engine: Engine, script: Script) -> list[Diagnostic]:
    analysis = engine.analyze("/contracts/script.py", script.text, verify=False)
    if analysis.stats["internal_errors"] or analysis.stats["incomplete"]:
        print("      ", analysis.stats["internal_errors"], analysis.stats["incomplete"])
    return [item for item in analysis.diagnostics if item.severity != "hint"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="scripts whose titles contain this")
    only: str = parser.parse_args().only
    engine = Engine()
    counts = {True: [0, 0], False: [0, 0]}
    for script in scripts():
        if only not in script.title:
            continue
        found = found_in(engine, script)
        good = bool(found) == script.contradicted
        counts[script.contradicted][0] += good
        counts[script.contradicted][1] += 1
        if not good or only:
            verdict = ("found " if good else "missed") if script.contradicted else ("silent" if good else "WRONG ")
            print(f"{verdict} {script.title}")
            for item in found:
                print(f"       {item.start.line}: {item.code} {item.message}")
    engine.save()
    (there, contradicted), (silent, correct) = counts[True], counts[False]
    print(f"\nfound {there} of {contradicted}; silent on {silent} of {correct}")


if __name__ == "__main__":
    main()
