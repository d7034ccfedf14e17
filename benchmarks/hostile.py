"""Looks for a way from the text of a program to something that runs: random compositions of everything that is reachable.

    python -m benchmarks.hostile [--count 100000] [--seed 0] [--each 40]

Every composition calls something: a callable that is reached by a dotted path from the libraries that the analysis knows
(also through what they import, through globals, classes and dictionaries), in one of many ways (directly, as a decorator, a
hook, a key, a metaclass, a default, by name …), with arguments that would touch a file. They are written into documents and
analysed by the engine behind the wall of the worker.

Prints how many were analysed, how many touched the file (executed), and how many were stopped by the second wall alone
(refused): both are to be 0. Exit status 1 if one is not.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import random
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOTS = "torch math operator functools itertools os sys subprocess builtins importlib pathlib shutil socket ctypes json".split()
"""Modules from which paths begin. Only those of torch, math and operator lead to objects of a library for the analysis."""
FUNNELS = ("torch", "math", "operator")
DANGEROUS = frozenset(
    "Popen system popen run call check_call check_output spawnl spawnv execv execvp fork posix_spawn exec eval compile open "
    "import_module __import__ load loads load_library CDLL LoadLibrary socket connect urlopen touch mkdir write_text unlink "
    "remove rename rmtree copy move exit _exit kill abort setattr delattr clear update pop from_file save download_url_to_file "
    "load_state_dict_from_url spawn start_new_thread breakpoint input".split()
)
"""Names of what would be worth reaching."""
DEPTH = 4
MAX_PATHS = 60_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=40, help="compositions in a document")
    parser.add_argument("--folder", type=Path, help="where the file would be touched; for the process that searches")
    options = parser.parse_args()
    if options.folder is None:
        # The wall cannot be opened again: the search has a process of its own.
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.hostile", *sys.argv[1:], "--folder", folder]
            return subprocess.run(command, check=False).returncode
    result = search(options.count, options.seed, options.each, options.folder)
    print(", ".join(f"{name} {value}" for name, value in result.items() if name != "told"))
    for line in result["told"]:
        print(f"  {line}")
    return 1 if result["executed"] or result["refused"] else 0


def search(count: int, seed: int, each: int, folder: Path) -> dict[str, Any]:
    """Analyse so many compositions. The wall of the calling process is closed from then on."""
    from torchsleuth import wall
    from torchsleuth.oracle.oracle import Oracle
    from torchsleuth.worker.engine import Engine

    engine = Engine(Oracle())
    engine.analyze("warm.py", "import torch\nx = torch.nn.Linear(3, 4)(torch.zeros(2, 3))\n")
    draw = random.Random(seed)
    canary = folder / "canary"
    compositions = composed(draw, str(canary))
    wall.close(None)
    began, executed, refused, internal, left = time.perf_counter(), 0, 0, 0, count
    told: list[str] = []
    while left > 0:
        chosen = [next(compositions) for _ in range(min(each, left))]
        left -= len(chosen)
        analysis = engine.analyze("hostile.py", document(chosen))
        internal_errors = analysis.stats["internal_errors"]
        refusals = [*wall.refusals(), *(text for text in internal_errors if "was refused" in text)]
        internal += len(internal_errors)
        if canary.exists() or refusals:
            executed += canary.exists()
            refused += bool(refusals)
            told += [*refusals[:3], *chosen] if len(told) < 100 else []
            break
    seconds = time.perf_counter() - began
    return {
        "compositions": count - left,
        "executed": executed,
        "refused": refused,
        "internal errors": internal,
        "seconds": round(seconds),
        "told": told,
    }


def document(chosen: list[str]) -> str:
    """A program of them, in which a fault of one does not end the others: half of them at its top, half in functions."""
    lines = [
        "import builtins, functools, importlib, itertools, math, operator, os, pathlib, subprocess, sys",
        "import torch",
    ]
    lines += ["from torch import nn", "import torch.nn.functional as F", "x = torch.zeros(2, 3, requires_grad=True)"]
    for number, text in enumerate(chosen):
        head = f"def function{number}(x=x):" if number % 2 else "try:"
        lines += [head, *(f"    {line}" for line in text.splitlines())]
        lines += [] if number % 2 else ["except Exception:", "    pass"]
    return "\n".join(lines) + "\n"


def composed(draw: random.Random, canary: str) -> Iterator[str]:
    """Endless compositions."""
    paths = list(reachable(draw))
    worth = [path for path in paths if path.rpartition(".")[2] in DANGEROUS]
    while True:
        path = draw.choice(worth) if worth and draw.random() < 0.6 else draw.choice(paths)
        yield draw.choice(WAYS)(spelled(draw, path), arguments(draw, canary), draw)


def reachable(draw: random.Random) -> Iterator[str]:
    """Dotted paths to callables, breadth first, not the same object twice below the same root."""
    for root in ROOTS:
        todo: list[tuple[str, Any, int]] = [(root, importlib.import_module(root), 0)]
        seen: set[int] = set()
        found = 0
        while todo and found < MAX_PATHS // (1 if root in FUNNELS else 20):
            path, owner, depth = todo.pop(0)
            for name in dir(owner):
                try:
                    value = inspect.getattr_static(owner, name)
                except AttributeError:
                    continue
                if id(value) in seen and name not in DANGEROUS:
                    continue
                seen.add(id(value))
                if callable(value):
                    found += 1
                    yield f"{path}.{name}"
                inner = isinstance(value, types.ModuleType | type) or (callable(value) and depth < 2)
                if inner and depth < DEPTH and len(todo) < 4 * MAX_PATHS:
                    todo.append((f"{path}.{name}", value, depth + 1))
                if isinstance(value, types.FunctionType) and draw.random() < 0.05:
                    used = [key for key, part in value.__globals__.items() if isinstance(part, types.ModuleType)]
                    for key in used[:3]:
                        attribute = draw.choice(sorted(DANGEROUS))
                        yield f"{path}.{name}.__globals__[{key!r}].{attribute}"


def spelled(draw: random.Random, path: str) -> str:
    """The expression of a path: as it is, or with names that are computed."""
    if "[" in path or draw.random() < 0.5:
        return path
    first, *rest = path.split(".")
    ways = [
        lambda owner, name: f"{owner}.{name}",
        lambda owner, name: f"getattr({owner}, {name!r})",
        lambda owner, name: f"vars({owner})[{name!r}]",
        lambda owner, name: f"{owner}.__dict__[{name!r}]",
        lambda owner, name: f"operator.attrgetter({name!r})({owner})",
        lambda owner, name: f"{owner}.__getattribute__({name!r})",
        lambda owner, name: f"getattr({owner}, {name[:1]!r} + {name[1:]!r})",
    ]
    text = first if draw.random() < 0.8 else f"importlib.import_module({first!r})"
    for name in rest:
        text = draw.choice(ways if draw.random() < 0.4 else ways[:1])(text, name)
    return text


def arguments(draw: random.Random, canary: str) -> str:
    """Arguments, one of which would touch the file if it came to the right place."""
    touch = f"touch {canary}"
    code = f"open({canary!r}, 'w')"
    plain = [
        repr(["touch", canary]), repr(touch), repr(canary), repr(code), f"{canary!r}, 'w'", repr(("touch", canary)),
        f"{touch!r}, shell=True", f"['sh', '-c', {touch!r}]", f"pathlib.Path({canary!r})", f"compile({code!r}, 'c', 'exec')",
        f"lambda *given: open({canary!r}, 'w')", f"x, {canary!r}", f"0, 'touch', 'touch', {canary!r}", "x", "x, x", "",
        f"x, lambda *given: os.system({touch!r})", "'os'", "'subprocess'", f"{{'args': {touch!r}}}", "x, 'system'", "nn.Linear(3, 3)",
        "nn.Linear(3, 3), x", "os.system, x", f"subprocess.Popen, ['touch', {canary!r}]", f"os.system, {touch!r}", f"*[{touch!r}]",
        f"**{{'args': ['touch', {canary!r}]}}", f"os.open, {canary!r}, 65", "'/tmp'", f"torch.device('cpu'), {touch!r}",
    ]  # fmt: skip
    return draw.choice(plain)


WAYS = [
    lambda f, a, draw: f"{f}({a})",
    lambda f, a, draw: f"{f}({a})",
    lambda f, a, draw: f"operator.call({f}, {a})",
    lambda f, a, draw: f"list(map({f}, [{a}]))" if a and "**" not in a and "=" not in a else f"{f}()",
    lambda f, a, draw: f"functools.partial({f}, {a})()",
    lambda f, a, draw: f"functools.reduce({f}, [x, x, 'touch'])",
    lambda f, a, draw: f"sorted(['touch', 'x'], key={f})",
    lambda f, a, draw: f"@{f}\ndef decorated(): pass\ndecorated()",
    lambda f, a, draw: f"class Made(metaclass={f}): pass\nMade()",
    lambda f, a, draw: f"class Derived({f}):\n    def __init__(self): super().__init__({a})\nDerived()",
    lambda f, a, draw: f"x.apply_({f})",
    lambda f, a, draw: f"x.map_(x, {f})",
    lambda f, a, draw: f"x.register_hook({f}); x.sum().backward()",
    lambda f, a, draw: f"nn.Linear(3, 3).register_forward_hook({f})\nnn.Linear(3, 3)(x)",
    lambda f, a, draw: f"nn.Sequential(nn.Linear(3, 3)).apply({f})",
    lambda f, a, draw: f"torch.vmap({f})({a})",
    lambda f, a, draw: f"torch.func.grad({f})(x)",
    lambda f, a, draw: f"torch.utils.checkpoint.checkpoint({f}, {a})" if a else f"{f}()",
    lambda f, a, draw: f"torch.compile({f})({a})",
    lambda f, a, draw: f"torch.jit.trace({f}, x)",
    lambda f, a, draw: f"nn.TransformerEncoderLayer(4, 2, activation={f})(torch.zeros(1, 2, 4))",
    lambda f, a, draw: f"nn.TripletMarginWithDistanceLoss(distance_function={f})(x, x, x)",
    lambda f, a, draw: f"nn.utils.parametrize.register_parametrization(nn.Linear(2, 2), 'weight', {f})",
    lambda f, a, draw: f"torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD([x], 0.1), {f}).step()",
    lambda f, a, draw: f"next(iter(torch.utils.data.DataLoader([1, 2], collate_fn={f})))",
    lambda f, a, draw: f"'{{0.__globals__}} {{0.__class__.__init__.__globals__}}'.format({f})",
    lambda f, a, draw: f"print(f'{{{f}({a})}}')" if "'" not in f + a and '"' not in a else f"{f}({a})",
    lambda f, a, draw: f"module = nn.Module()\nmodule.forward = {f}\nmodule({a})",
    lambda f, a, draw: f"nn.Module.forward = {f}\nnn.Linear(3, 3)(x)",
    lambda f, a, draw: f"F.relu = {f}\nF.relu({a})",
    lambda f, a, draw: f"def generated():\n    yield {f}({a})\nnext(generated())",
    lambda f, a, draw: f"def defaulted(value={f}({a})): return value\ndefaulted()",
    lambda f, a, draw: f"with {f}({a}) as held: held.read()",
    lambda f, a, draw: f"[made({a}) for made in [{f}]]",
    lambda f, a, draw: f"{{'key': {f}}}['key']({a})",
    lambda f, a, draw: f"(lambda called: called({a}))({f})",
    lambda f, a, draw: f"torch.nn.init.{draw.choice(['uniform_', 'normal_', 'constant_'])}({f}({a}))",
    lambda f, a, draw: f"torch.{draw.choice(['zeros', 'tensor', 'as_tensor', 'cat', 'full'])}({f}({a}))",
    lambda f, a, draw: f"{f}.__call__({a})",
    lambda f, a, draw: f"{f}.__init__.__globals__.clear()",
    lambda f, a, draw: f"type('Made', (), {{'__call__': {f}}})()({a})",
    lambda f, a, draw: f"operator.methodcaller('__call__', {a})({f})" if a else f"{f}()",
    lambda f, a, draw: f"torch.ops.aten.add({f}, {a})" if a else f"{f}()",
    lambda f, a, draw: f"isinstance(x, {f}) or {f}({a})",
    lambda f, a, draw: f"x.to({f}({a}))",
    lambda f, a, draw: f"x[{f}({a})]",
    lambda f, a, draw: f"del {f}" if "(" not in f and "[" not in f else f"{f}({a})",
    lambda f, a, draw: f"{f} = {f}\n{f}({a})" if "(" not in f and "[" not in f else f"{f}({a})",
]
"""How something is called: an expression for it and the text of its arguments in, statements out."""


if __name__ == "__main__":
    sys.exit(main())
