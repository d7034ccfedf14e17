"""Working scripts with a part changed: what such a change is, and those of shapes, which crash."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from torchsleuth.schema import Edit, Position
from torchsleuth.syntax import edits
from torchsleuth.syntax.names import Names
from torchsleuth.syntax.text import SourceText

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"


@dataclass(frozen=True)
class Script:
    """A working script; `files` are the texts of its folder, by path, where it has several."""

    name: str
    path: Path
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Mutant:
    """A script with the text of one file changed. `kind`: what was changed. `expected`: codes that name the fault, empty
    for whatever the crash is."""

    script: Script
    kind: str
    file: Path
    line: int
    text: str
    change: str
    expected: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind} {self.script.name}:{self.line} {self.change}"


def scripts(folders: list[Path]) -> list[Script]:
    """Each file of a folder, and each folder in it with a main.py, is a script."""
    found: list[Script] = []
    for folder in folders:
        found += [Script(path.stem, path, (path,)) for path in sorted(folder.glob("*.py"))]
        for main in sorted(folder.glob("*/main.py")):
            found.append(Script(main.parent.name, main, tuple(sorted(main.parent.rglob("*.py")))))
    return found


# -- making mutants --------------------------------------------------------------------------------

Change = tuple[int, str, tuple[Edit, ...]]
"""Line, what it is in words, and the edits."""


def mutants(
    script: Script, kind: str, change_all: Callable[[Tree], Iterator[Change]], expected: tuple[str, ...] = ()
) -> Iterator[Mutant]:
    for path in script.files:
        tree = _tree(script, path)
        for line, words, changes in change_all(tree):
            text = tree.source.apply(changes)
            try:
                ast.parse(text)
            except SyntaxError:
                continue
            yield Mutant(script, kind, path, line, text, words, expected)


@lru_cache(maxsize=64)
def _tree(script: Script, path: Path) -> Tree:
    return Tree(SourceText(str(path), path.read_text(encoding="utf-8")), script)


class Tree:
    """A parsed file with what the changes ask of it."""

    def __init__(self, source: SourceText, script: Script) -> None:
        self.source = source
        self.script = script
        self.root = ast.parse(source.text)
        self.names = Names(self.root)
        self.paths = {id(use.call): use.path for use in self.names.uses if use.call is not None}

    def says(self, *words: str) -> bool:
        """Whether all of these words are in the script's files."""
        text = "".join(path.read_text(encoding="utf-8") for path in self.script.files)
        return all(word in text for word in words)

    def calls(self) -> Iterator[ast.Call]:
        return (node for node in ast.walk(self.root) if isinstance(node, ast.Call))

    def methods(self, *names: str) -> Iterator[tuple[ast.Call, ast.Attribute]]:
        """Calls of methods with these names, of anything but a package."""
        for call in self.calls():
            if isinstance(call.func, ast.Attribute) and call.func.attr in names and id(call) not in self.paths:
                yield call, call.func

    def statements(self) -> Iterator[tuple[list[ast.stmt], int]]:
        """Each statement, as its block and its place in it."""
        for node in ast.walk(self.root):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield from ((block, index) for index in range(len(block)))

    def text(self, node: ast.AST) -> str:
        return " ".join(self.source.segment(node).split())

    def operand(self, node: ast.expr) -> str:
        """An expression as it can stand before a dot."""
        plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        return self.source.segment(node) if plain else f"({self.source.segment(node)})"

    def put(self, node: ast.AST, new: str) -> Change:
        return node.lineno, f"{self.text(node)} → {new}", (edits.replace(self.source, node, new),)  # type: ignore[attr-defined]

    def more(self, node: ast.expr) -> str:
        """One more than a size."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(node.value + 1)
        return f"({self.source.segment(node)}) + 1"

    def without(self, block: list[ast.stmt], index: int) -> tuple[Edit, ...]:
        """The edits that take a statement out of its block."""
        statement = block[index]
        if len(block) == 1:
            return (edits.replace(self.source, statement, "pass"),)
        return (_removed(self.source, statement),)


def _removed(source: SourceText, statement: ast.stmt) -> Edit:
    last = statement.end_lineno or statement.lineno
    return Edit(source.path, Position(statement.lineno, 1), Position(last + 1, 1), "")


# -- shapes ----------------------------------------------------------------------------------------

_SIZES: dict[str, tuple[tuple[int, str], ...]] = {
    "Linear": ((0, "in_features"), (1, "out_features")),
    "Bilinear": ((0, "in1_features"), (1, "in2_features")),
    "Embedding": ((1, "embedding_dim"),),
    "MultiheadAttention": ((0, "embed_dim"), (1, "num_heads")),
    **dict.fromkeys(("Conv1d", "Conv2d", "Conv3d"), ((0, "in_channels"), (1, "out_channels"))),
    **dict.fromkeys(("ConvTranspose1d", "ConvTranspose2d"), ((0, "in_channels"), (1, "out_channels"))),
    **dict.fromkeys(("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm2d"), ((0, "num_features"),)),
    "LayerNorm": ((0, "normalized_shape"),),
    "GroupNorm": ((1, "num_channels"),),
    **dict.fromkeys(("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"), ((0, "input_size"), (1, "hidden_size"))),
}
"""Constructors of torch.nn, and which of their arguments are sizes that other parts depend on."""
_WITH_DIM = {
    "cat": 1, "stack": 1, "sum": 0, "mean": 0, "softmax": 0, "log_softmax": 0, "argmax": 0, "unsqueeze": 0, "squeeze": 0,
    "chunk": 1, "split": 1, "flatten": 0, "gather": 0, "max": 0, "topk": 1, "size": 0,
}  # fmt: skip
"""Operators with a dimension, and its place among the arguments behind the tensor."""
_FACTORIES = frozenset(f"torch.{name}" for name in "randn rand zeros ones empty".split())


def shape_mutants(script: Script) -> Iterator[Mutant]:
    yield from mutants(script, "size of a layer", _layer_sizes)
    yield from mutants(script, "dim", _dims)
    yield from mutants(script, "permutation", _permutations)
    yield from mutants(script, "reshape", _reshapes)
    yield from mutants(script, "batch", _batches)
    yield from mutants(script, "dropped operator", _dropped)


def sample(mutants: Iterator[Mutant], count: int) -> list[Mutant]:
    """At most `count` of them, of each kind about as many as of the others; always the same ones."""
    kinds: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        kinds.setdefault(mutant.kind, []).append(mutant)
    chance = random.Random(0)
    for group in kinds.values():
        chance.shuffle(group)
    chosen: list[Mutant] = []
    while len(chosen) < count and any(kinds.values()):
        chosen += [group.pop() for group in kinds.values() if group]
    return chosen[:count]


def _layer_sizes(tree: Tree) -> Iterator[Change]:
    for call in tree.calls():
        package, _, name = tree.paths.get(id(call), "").rpartition(".")
        for position, keyword in _SIZES.get(name, ()) if package.startswith("torch.nn") else ():
            given = [part.value for part in call.keywords if part.arg == keyword] or call.args[position : position + 1]
            if given and not isinstance(given[0], ast.Starred | ast.List | ast.Tuple):
                yield tree.put(given[0], tree.more(given[0]))


def _dims(tree: Tree) -> Iterator[Change]:
    for call in tree.calls():
        path, method = tree.paths.get(id(call), ""), isinstance(call.func, ast.Attribute)
        name = path.rpartition(".")[2] if path else call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name not in _WITH_DIM or (path and not path.startswith("torch")) or not (path or method):
            continue
        place = _WITH_DIM[name] + (0 if not path else 0 if name in ("cat", "stack", "chunk", "split", "topk") else 1)
        given = [part.value for part in call.keywords if part.arg == "dim"] or call.args[place : place + 1]
        number = _integer(given[0]) if given else None
        if number is not None:
            yield tree.put(given[0], str(number + 1 if number >= 0 else number - 1))


def _permutations(tree: Tree) -> Iterator[Change]:
    for call, _ in tree.methods("permute"):
        if len(call.args) >= 3 and not any(isinstance(part, ast.Starred) for part in call.args):
            first, last = call.args[0], call.args[-1]
            words = f"{tree.text(call)}: first and last swapped"
            source = tree.source
            changes = (
                edits.replace(source, first, source.segment(last)),
                edits.replace(source, last, source.segment(first)),
            )
            yield call.lineno, words, changes
    for call, function in tree.methods("transpose", "t", "swapaxes"):
        yield tree.put(call, tree.operand(function.value))
    for node in ast.walk(tree.root):
        if isinstance(node, ast.Attribute) and node.attr in ("T", "mT") and isinstance(node.ctx, ast.Load):
            yield tree.put(node, tree.operand(node.value))


def _reshapes(tree: Tree) -> Iterator[Change]:
    for call, _ in tree.methods("view", "reshape", "unflatten", "expand"):
        for part in call.args:
            number = _integer(part)
            if number is not None and number > 1:
                yield tree.put(part, str(number + 1))
            elif isinstance(part, ast.Name | ast.Attribute) and len(call.args) > 1:
                yield tree.put(part, tree.more(part))


def _batches(tree: Tree) -> Iterator[Change]:
    for call in tree.calls():
        path = tree.paths.get(id(call), "")
        size: ast.expr | None = None
        if path in _FACTORIES and call.args:
            size = call.args[0].elts[0] if isinstance(call.args[0], ast.Tuple) and call.args[0].elts else call.args[0]
        elif path == "torch.randint":
            sizes = [part for part in call.args if isinstance(part, ast.Tuple)]
            size = sizes[0].elts[0] if sizes and sizes[0].elts else None
        if size is not None and not isinstance(size, ast.Starred | ast.Tuple | ast.List):
            yield tree.put(size, tree.more(size))


def _dropped(tree: Tree) -> Iterator[Change]:
    for call, function in tree.methods("unsqueeze", "squeeze", "flatten", "view", "reshape"):
        yield tree.put(call, tree.operand(function.value))


def _integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
