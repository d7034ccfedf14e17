"""Functions that nothing calls: what is found in them, when their parameters are known by their use alone?

python -m benchmarks.roles [--only TEXT]

`scripts/roles/faulty.md` has functions with one fault each, which is found with a finding on one of the lines marked
`# fault`; `correct.md` has others, about which nothing may be said but hints.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torchsleuth.faults import FAULTS
from torchsleuth.schema import Diagnostic
from torchsleuth.worker.engine import Engine

SCRIPTS = Path(__file__).parent / "scripts" / "roles"
_SCRIPT = re.compile(r"^## (.+?)\n+```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Script:
    """`lines`: those on which the fault may be said to be, none for a correct one."""

    title: str
    text: str
    lines: frozenset[int]


def scripts(name: str) -> Iterator[Script]:
    """The scripts of one file, in order."""
    for title, text in _SCRIPT.findall((SCRIPTS / f"{name}.md").read_text(encoding="utf-8")):
        marked = frozenset(at for at, line in enumerate(text.splitlines(), 1) if line.endswith("# fault"))
        yield Script(title, re.sub(r" +# fault$", "", text, flags=re.MULTILINE), marked)


def found_in(engine: Engine, script: Script) -> list[Diagnostic]:
    """What is said of a script, of the hints that are off only that a loop waits for the accelerator."""
    codes = [code for code, fault in FAULTS.items() if fault.default or code == "TS702"]
    analysis = engine.analyze("/roles/script.py", script.text, verify=False, codes=codes)
    if analysis.stats["internal_errors"] or analysis.stats["incomplete"]:
        print("      ", analysis.stats["internal_errors"], analysis.stats["incomplete"])
    return list(analysis.diagnostics)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="scripts whose titles contain this")
    only: str = parser.parse_args().only
    engine = Engine()
    counts = {"faulty": [0, 0], "correct": [0, 0]}
    for name, count in counts.items():
        for script in scripts(name):
            if only not in script.title:
                continue
            found = found_in(engine, script)
            if name == "faulty":
                good = any(item.start.line in script.lines for item in found)
                said = [item for item in found if item.start.line not in script.lines]
            else:
                said = [item for item in found if item.severity != "hint"]
                good = not said
            count[0] += good
            count[1] += 1
            if not good or (only and found):
                verdict = "found " if name == "faulty" else "silent"
                print(f"{verdict if good else 'missed' if name == 'faulty' else 'WRONG '} {script.title}")
                for item in found if only else said:
                    print(f"       {item.start.line}: {item.code} {item.message}")
            elif name == "faulty" and any(item.severity != "hint" for item in said):
                print(f"beside {script.title}")
                for item in said:
                    print(f"       {item.start.line}: {item.code} {item.message}")
    engine.save()
    (found_count, faulty), (silent, correct) = counts["faulty"], counts["correct"]
    print(f"\nfound {found_count} of {faulty}; silent on {silent} of {correct}")


if __name__ == "__main__":
    main()
