"""Inferred contracts of published code: how many `forward` methods have one, and what the others lack.

python -m benchmarks.coverage [--every N] [--first K] [--files PATTERN] [--json FILE] FOLDER…

Each folder is a project of its own, analysed from its text: nothing of it is imported. Counted are the `forward` methods of
classes that have a body; those of autograd functions, which take a context, are none. Every Nth of them from the Kth is an
evenly spread sample. `ranked`: the ranks of all inputs and results are known, `sized`: every size, too. Of the others, the most
frequent first causes are printed.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchsleuth.schema import Contract
from torchsleuth.syntax.files import python_files
from torchsleuth.worker.engine import Engine
from torchsleuth.worker.phrases import doubts

MOST_CAUSES = 40
_POSITION = re.compile(r" \(line \d+\)|:\d+(:\d+)?|\bline \d+")


@dataclass(frozen=True)
class Method:
    """A `forward` method of a class in a text."""

    file: Path
    owner: ast.ClassDef
    node: ast.FunctionDef

    @property
    def name(self) -> str:
        return f"{self.file}:{self.node.lineno} {self.owner.name}"


def methods(folder: Path, pattern: str = "*.py") -> Iterator[Method]:
    for file in python_files(folder, lambda path: not fnmatch.fnmatch(Path(path).name, pattern), print):
        try:
            tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
        except (SyntaxError, ValueError):
            continue
        for owner in tree.body:
            for node in owner.body if isinstance(owner, ast.ClassDef) else ():
                if isinstance(node, ast.FunctionDef) and node.name == "forward" and _is_counted(node):
                    yield Method(file, owner, node)


def _is_counted(node: ast.FunctionDef) -> bool:
    """Whether it is no autograd function's, and not left to subclasses."""
    body = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    left = all(isinstance(one, ast.Pass | ast.Raise) for one in body)
    return not node.decorator_list and not left if _is_static(node) else not left


def _is_static(node: ast.FunctionDef) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list)


def root_of(folder: Path) -> str:
    """The folder from which its modules are imported."""
    root = folder.resolve() if folder.is_dir() else folder.resolve().parent
    while (root / "__init__.py").exists():
        root = root.parent
    return str(root)


def first_cause(contract: Contract | None) -> str:
    """The first thing that keeps a contract from being whole."""
    if contract is None:
        return "not seen as a module"
    told = doubts(contract)
    # Why a result is not known says more than that it is not.
    return _POSITION.sub("", told[-1] if told else "no reason")


def look(engine: Engine, folder: Path, method: Method) -> dict[str, Any]:
    """What is found about one method."""
    began = time.process_time()
    path, text = str(method.file.resolve()), method.file.read_text(encoding="utf-8", errors="replace")
    line = method.node.lineno
    analysis = engine.contracts(path, text, roots=(root_of(folder),), first=line, last=line)
    contract = next(iter(analysis.contracts), None)
    sized = contract is not None and contract.sized
    told = [] if contract is None else list(doubts(contract))
    told += [str(analysis.stats[name]) for name in ("incomplete", "internal_errors") if analysis.stats[name]]
    return {
        "method": method.name,
        "methods": 1,
        "ranked": contract is not None and contract.ranked,
        "sized": sized,
        "certain": contract is not None and sized and not contract.open,
        "seconds": round(time.process_time() - began, 2),
        "contract": "" if contract is None else f"{contract.heading()}: {contract.signature()}",
        "told": told,
        "cause": "" if sized else first_cause(contract),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--files", default="*.py", help="the names of the files that are looked at")
    parser.add_argument("--only", default="", help="methods whose names contain this")
    parser.add_argument("--json", type=Path, help="where the findings about each method are written")
    options = parser.parse_args()
    engine, total, causes, records = Engine(), Counter[str](), Counter[str](), []
    every = [(folder, method) for folder in options.folders for method in methods(folder, options.files)]
    for folder, method in every[options.first - 1 :: options.every]:
        if options.only not in method.name:
            continue
        record = look(engine, folder, method)
        total.update({name: int(record[name]) for name in ("methods", "ranked", "sized", "certain")})
        records.append(record)
        if record["cause"]:
            causes[record["cause"]] += 1
        mark = "sized" if record["sized"] else "ranked" if record["ranked"] else "-"
        print(f"{mark:7}{record['seconds']:5.1f} s  {method.name}  {record['contract'][:300]}", flush=True)
        for sentence in record["told"]:
            print(f"{'':16}{sentence}")
        if options.json:
            options.json.write_text(json.dumps(records, indent=1), encoding="utf-8")
    print(f"\nFirst causes of what is not known, {sum(causes.values())}:")
    for cause, count in causes.most_common(MOST_CAUSES):
        print(f"{count:5}  {cause}")
    print(f"together: {_shares(total)}")


def _shares(counts: Counter[str]) -> str:
    whole = max(1, counts["methods"])
    shares = ", ".join(
        f"{counts[name]} {words} ({100 * counts[name] / whole:.0f} %)"
        for name, words in (("ranked", "with all ranks"), ("sized", "with every size"), ("certain", "and nothing open"))
    )
    return f"{counts['methods']} methods, {shares}"


if __name__ == "__main__":
    main()
