"""Mistakes in the use of libraries around PyTorch: how many are found, and whether their corrected twins are silent.

    python -m benchmarks.libraries [NAME…]

`scripts/libraries` has a short program, or notebook, for each, its corrected twin, and a line in `index.tsv`: the name, whether it
crashes or is silent, the lines to blame, and the mistake. Found are those with an error or a warning that the twin has not. The
packages (transformers, lightning, accelerate, torchmetrics, torchvision, timm, einops, scikit-learn, pandas) have to be installed
beside torch; nothing is executed.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from torchsleuth.faults import FAULTS
from torchsleuth.schema import Diagnostic
from torchsleuth.syntax import notebooks
from torchsleuth.worker.engine import Engine

FOLDER = Path(__file__).parent / "scripts" / "libraries"
CODES = tuple(code for code, fault in FAULTS.items() if fault.default)
LOUD = ("error", "warning")


@dataclass(frozen=True)
class Pair:
    """One line of the index."""

    name: str
    kind: str
    lines: str
    mistake: str

    @property
    def files(self) -> tuple[Path, Path]:
        """The program with the mistake, and the corrected one."""
        suffix = next(end for end in (".py", notebooks.SUFFIX) if (FOLDER / f"{self.name}{end}").exists())
        return FOLDER / f"{self.name}{suffix}", FOLDER / f"{self.name}.fixed{suffix}"


def pairs() -> list[Pair]:
    rows = (FOLDER / "index.tsv").read_text(encoding="utf-8").splitlines()
    return [Pair(*row.split("\t")) for row in rows]


def said(engine: Engine, path: Path) -> list[Diagnostic]:
    """All that is said of a program."""
    text = notebooks.read(path.read_bytes()).text if notebooks.is_notebook(path) else path.read_text(encoding="utf-8")
    return list(engine.analyze(str(path), text, {}, codes=CODES).diagnostics)


def main(names: list[str]) -> None:
    engine, counts = Engine(), Counter[str]()
    for pair in pairs():
        if names and pair.name not in names:
            continue
        wrong, fixed = (said(engine, path) for path in pair.files)
        known = {(one.code, one.message) for one in fixed}
        new = [one for one in wrong if (one.code, one.message) not in known]
        loud = [one for one in new if one.severity in LOUD]
        accused = [one for one in fixed if one.severity in LOUD]
        verdict = "found" if loud else "hint" if new else "missed"
        counts.update([f"{pair.kind} {verdict}", verdict, *(["accused"] if accused else [])])
        print(f"{verdict:7}{pair.name} ({pair.kind}, line {pair.lines}): {pair.mistake}")
        for one in loud or new:
            print(f"       {one.code} {one.start.line}: {one.message}")
        for one in accused:
            print(f"       ACCUSED {one.code} {one.start.line}: {one.message}")
    total = counts["found"] + counts["hint"] + counts["missed"]
    print(f"{counts['found']} of {total} found ({counts['crash found']} that crash, {counts['silent found']} silent), "
          f"{counts['hint']} only by a hint; {counts['accused']} corrected programs accused")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])
