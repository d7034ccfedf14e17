"""Shapes that the author wrote down: comments such as ``# (B, T, C)`` and annotations such as ``Float[Tensor, "b t c"]``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchsleuth.syntax.text import SourceText

Key = tuple[int, int]
"""Line and column of a node, in the units of `ast`."""


@dataclass(frozen=True)
class Dimension:
    """One declared size: a number, a name, or None for any. `start`, `end`: where it stands in the text. `may_be_one`:
    a size that broadcasts."""

    size: int | str | None
    start: int
    end: int
    may_be_one: bool = False


@dataclass(frozen=True)
class Declared:
    """A declared shape.

    `kind`: comment or annotation. `dims`: in order, without the part that stands for any number of dimensions; `spread`:
    how many of them come before that part. `start`, `end`: where the list of sizes stands in the text, between its
    brackets. `named`: the comment says that this is a shape. `exact`: nothing else is said that may qualify it.
    """

    kind: str
    dims: tuple[Dimension, ...]
    spread: int | None
    start: int
    end: int
    named: bool = True
    exact: bool = True
    separator: str = ", "

    def aligned(self, rank: int) -> tuple[Dimension | None, ...] | None:
        """For each dimension of a tensor what is declared of it; None if the ranks do not agree."""
        if self.spread is None:
            return self.dims if rank == len(self.dims) else None
        missing = rank - len(self.dims)
        if missing < 0:
            return None
        return (*self.dims[: self.spread], *(None,) * missing, *self.dims[self.spread :])


@dataclass(frozen=True)
class Declarations:
    """The declared shapes of a file: of the values of assignments and returns, of parameters, of what functions return."""

    statements: dict[Key, Declared] = field(default_factory=dict)
    parameters: dict[Key, Declared] = field(default_factory=dict)
    results: dict[Key, Declared] = field(default_factory=dict)


NOTHING = Declarations()


def key(node: ast.AST) -> Key:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def declarations(source: SourceText, tree: ast.Module) -> Declarations:
    """Every declared shape of a file."""
    found = Declarations({}, {}, {})
    heads = _heads(tree) if "jaxtyping" in source.text or "torchtyping" in source.text else {}
    comments = _LIKELY.search(source.text) is not None
    if not heads and not comments:
        return NOTHING
    aliases = {
        node.targets[0].id: node.value
        for node in tree.body
        if heads and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    reader = _Annotations(source, heads, aliases)
    for node in _statements(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument in _arguments(node.args):
                declared = reader.read(argument.annotation) if heads else None
                if declared is not None:
                    found.parameters[key(argument)] = declared
            declared = reader.read(node.returns) if heads else None
            if declared is not None:
                found.results[key(node)] = declared
            if comments:
                for argument, declared in _parameter_comments(source, node):
                    found.parameters.setdefault(key(argument), declared)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return) and node.value is not None:
            declared = reader.read(node.annotation) if heads and isinstance(node, ast.AnnAssign) else None
            if declared is None and comments:
                declared = _statement_comment(source, node)
            if declared is not None:
                found.statements[key(node)] = declared
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at any depth. Expressions, which are most of a tree, are not looked into."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, name, []))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _statements(part.body)


def _arguments(spec: ast.arguments) -> Iterator[ast.arg]:
    yield from (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)


# -- comments ------------------------------------------------------------------------------------------

_LIKELY = re.compile(r"#[^\r\n]*[(\[][^()\[\]\r\n]*[)\]]")
_LIST = re.compile(r"(?P<open>[(\[])(?P<inner>[^()\[\]]*)[)\]]")
_ARROW = re.compile(r"[-=]+>|→|⇒")
_SAYS_SHAPE = frozenset("shape size dims torch.size".split())
_FILLERS = frozenset("of has with is now becomes be out output result the tensor a".split())
_QUALIFIERS = frozenset("or if when else unless before for in not without except was instead at per".split())
_DIMENSION = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>\d+)|(?P<number>\d+)|(?P<word>[A-Za-z_]\w*)")
_ARITHMETIC = re.compile(r"[\w\s+\-*/%^.]+")
_ANY_NUMBER = ("...", "…", "*")


def _statement_comment(source: SourceText, node: ast.stmt) -> Declared | None:
    """The shape beside an assignment to one variable or attribute, or a return."""
    target: ast.expr | None = None
    if isinstance(node, ast.Assign):
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        target = node.target
    if target is not None and not isinstance(target, ast.Name | ast.Attribute):
        return None
    begin = _comment_after(source, node)
    name = "" if target is None else source.segment(target)
    return None if begin is None else _read_comment(source, begin, (name,) if name else ())


def _comment_after(source: SourceText, node: ast.AST, between: str = "") -> int | None:
    """Where the comment behind a node begins, on its last line; `between`: characters that may come first."""
    offset = source.offset(source.end_of(node))
    text = source.text
    while offset < len(text) and text[offset] in " \t" + between:
        offset += 1
    return offset + 1 if text[offset : offset + 1] == "#" else None


def _parameter_comments(
    source: SourceText, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[tuple[ast.arg, Declared]]:
    """Shapes beside parameters, each on a line of its own, and ``# x: (B, T)`` above the first statement."""
    arguments = list(_arguments(function.args))
    by_line: dict[int, list[ast.arg]] = {}
    for argument in arguments:
        by_line.setdefault(argument.lineno, []).append(argument)
    defaults = [value for value in (*function.args.defaults, *function.args.kw_defaults) if value is not None]
    first = function.body[0]
    own = [argument for argument in arguments if argument.arg not in ("self", "cls")]
    for line, here in by_line.items():
        last: ast.AST = here[-1]
        for default in defaults:
            if default.lineno == line and default.end_lineno == line and default.col_offset > here[-1].col_offset:
                last = default
        if line == function.lineno and len(own) != 1:
            continue
        begin = _comment_after(source, last, "" if line == function.lineno else ",")
        if begin is not None and len(here) == 1:
            declared = _read_comment(source, begin, (here[0].arg,))
            if declared is not None:
                yield here[0], declared
    named = {argument.arg: argument for argument in own}
    header = max((part.end_lineno or 0 for part in (*arguments, *defaults) if hasattr(part, "end_lineno")), default=0)
    for number in range(max(header, function.lineno), first.lineno):
        text = source.line(number)
        stripped = text.lstrip()
        at = text.rfind("#") if number <= header or not stripped.startswith("#") else len(text) - len(stripped)
        if at < 0:
            continue
        name = re.match(r"#\s*([A-Za-z_]\w*)\s*[:=]", text[at:])
        argument_of = named.get(name[1]) if name is not None else None
        if argument_of is not None:
            begin = source._starts[number - 1] + at + 1
            declared = _read_comment(source, begin, (argument_of.arg,))
            if declared is not None:
                yield argument_of, declared


def _read_comment(source: SourceText, begin: int, names: tuple[str, ...]) -> Declared | None:
    """The shape that a comment states of the variable it stands beside, None where it states something else."""
    end = min(
        len(source.text),
        *(found for mark in "\r\n#" if (found := source.text.find(mark, begin)) >= 0),
        len(source.text),
    )
    text = source.text[begin:end]
    arrows = list(_ARROW.finditer(text))
    at = arrows[-1].end() if arrows else 0
    match = _LIST.search(text, at)
    if match is None:
        return None
    words = [word for word in re.split(r"[\s:=,]+", text[at : match.start()].strip().lower()) if word]
    known = {part for name in names for part in (name.lower(), f"{name.lower()}.shape", f"`{name.lower()}`")}
    says = any(word in _SAYS_SHAPE or word.endswith(".shape") for word in words)
    if not says and arrows and any(word not in known for word in words):
        return None
    if any(word not in known | _SAYS_SHAPE | _FILLERS for word in words):
        return None
    tail = text[match.end() :]
    if re.search(r"[()\[\]@×]|\s[x*+|/]\s", tail):
        return None
    exact = not _QUALIFIERS & set(re.findall(r"[a-z]+", tail.lower()))
    start = begin + match.start("inner")
    made = _listed(match["inner"], start)
    if made is None:
        return None
    dims, spread, comma = made
    if len(dims) < 2 and not says and not comma and spread is None:
        return None
    named = says or any(word in known for word in words)
    separator = ", " if "," in match["inner"] or len(dims) < 2 else " x "
    return Declared("comment", dims, spread, start, begin + match.end("inner"), named, exact, separator)


def _listed(text: str, start: int) -> tuple[tuple[Dimension, ...], int | None, bool] | None:
    """The sizes of a list, where any number of them may stand, and whether it ends with a comma."""
    splitter = r"," if "," in text else r"(?<=\s)[x×](?=\s)|×|(?<=\d)x(?=\d)"
    if "," not in text and re.search(r"[A-Z]x|[A-Za-z]x[A-Z\d]|\dx[A-Za-z]", text):
        return None  # ``NxCxHxW`` is no name of one size
    dims: list[Dimension] = []
    spread: int | None = None
    offset = 0
    pieces = re.split(f"({splitter})", text)
    for index in range(0, len(pieces), 2):
        piece = pieces[index]
        word = piece.strip()
        at = start + offset + len(piece) - len(piece.lstrip())
        offset += len(piece) + (len(pieces[index + 1]) if index + 1 < len(pieces) else 0)
        if not word and index == len(pieces) - 1 and index:
            return tuple(dims), spread, True
        if word in _ANY_NUMBER or (word.startswith("*") and word[1:].isidentifier()):
            if spread is not None:
                return None
            spread = len(dims)
            continue
        match = _DIMENSION.fullmatch(word)
        size: int | str | None = None
        if match is not None:
            number = match["number"] or match["value"]
            size = int(number) if number else match["word"]
        elif not word or not _ARITHMETIC.fullmatch(word) or len(word.split()) > 5 or "." in word:
            return None
        dims.append(Dimension(None if size in ("_", "None") else size, at, at + len(word)))
    return tuple(dims), spread, False


# -- annotations -----------------------------------------------------------------------------------------

_JAXTYPING = re.compile(r"(Float|Int|UInt|Complex|BFloat|Bool|Integer|Inexact|Real|Num|Shaped|Key)\d*")


def _heads(tree: ast.Module) -> dict[str, str]:
    """Names of imported types that declare shapes, and of their modules, with the library that each is from."""
    found: dict[str, str] = {}
    for node in _statements(tree.body):
        if isinstance(node, ast.ImportFrom) and node.module in ("jaxtyping", "torchtyping"):
            for alias in node.names:
                if node.module == "torchtyping" and alias.name == "TensorType":
                    found[alias.asname or alias.name] = "torchtyping"
                elif node.module == "jaxtyping" and _JAXTYPING.fullmatch(alias.name):
                    found[alias.asname or alias.name] = "jaxtyping"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in ("jaxtyping", "torchtyping"):
                    found[f"{alias.asname or alias.name}."] = alias.name
    return found


class _Annotations:
    """Reads the annotations of one file."""

    def __init__(self, source: SourceText, heads: dict[str, str], aliases: dict[str, ast.expr]) -> None:
        self.source = source
        self.heads = heads
        self.aliases = aliases

    def read(self, node: ast.expr | None, depth: int = 0) -> Declared | None:
        """The shape that an annotation declares; of a union, where only one of its types declares one."""
        if node is None or depth > 4:
            return None
        if isinstance(node, ast.Name) and node.id in self.aliases:
            return self.read(self.aliases[node.id], depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._only([node.left, node.right], depth)
        if not isinstance(node, ast.Subscript):
            return None
        library = self._library(node.value)
        if library == "jaxtyping":
            return self._jaxtyping(node)
        if library == "torchtyping":
            return self._torchtyping(node)
        name = ast.unparse(node.value).rpartition(".")[2]
        if name in ("Optional", "Union"):
            return self._only(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice], depth)
        return None

    def _only(self, nodes: list[ast.expr], depth: int) -> Declared | None:
        found = [self.read(node, depth + 1) for node in nodes if not _is_none(node)]
        return found[0] if len(found) == 1 else None

    def _library(self, head: ast.expr) -> str | None:
        if isinstance(head, ast.Name):
            return self.heads.get(head.id)
        if isinstance(head, ast.Attribute) and isinstance(head.value, ast.Name):
            library = self.heads.get(f"{head.value.id}.")
            fits = _JAXTYPING.fullmatch(head.attr) if library == "jaxtyping" else head.attr == "TensorType"
            return library if fits else None
        return None

    def _jaxtyping(self, node: ast.Subscript) -> Declared | None:
        """``Float[Tensor, "batch 3 *rest #channels name=4 _ ..."]``."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        if len(parts) != 2 or not isinstance(parts[1], ast.Constant) or not isinstance(parts[1].value, str):
            return None
        literal = self.source.segment(parts[1])
        inner = re.fullmatch(r"\w*(\"\"\"|'''|\"|')(.*)\1", literal, re.DOTALL)
        if inner is None or "\\" in literal or "{" in literal:
            return None
        start = self.source.offset(self.source.start_of(parts[1])) + inner.start(2)
        dims: list[Dimension] = []
        spread: int | None = None
        for match in re.finditer(r"\S+", inner[2]):
            word = match[0].lstrip("?")
            if word == "..." or word.lstrip("#").startswith("*"):
                if spread is not None:
                    return None
                spread = len(dims)
                continue
            may_be_one = word.startswith("#")
            found = _DIMENSION.fullmatch(word.lstrip("#"))
            size: int | str | None = None
            if found is not None:
                number = found["number"] or found["value"]
                size = int(number) if number else found["word"]
                size = None if isinstance(size, str) and size.startswith("_") else size
            dims.append(Dimension(size, start + match.start(), start + match.end(), may_be_one))
        return Declared("annotation", tuple(dims), spread, start, start + len(inner[2]), separator=" ")

    def _torchtyping(self, node: ast.Subscript) -> Declared | None:
        """``TensorType["batch", 3, "channels": 4, ..., float]``."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        dims: list[Dimension] = []
        spread: int | None = None
        for part in parts:
            size: int | str | None = None
            value: ast.expr | None = part
            if isinstance(part, ast.Slice):
                name, value = part.lower, part.upper
                size = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
            if isinstance(value, ast.Constant) and value.value is ...:
                if spread is not None:
                    return None
                spread = len(dims)
                continue
            if isinstance(value, ast.Constant) and isinstance(value.value, int | str):
                size = value.value
            elif isinstance(value, ast.UnaryOp) and ast.unparse(value) == "-1":
                size = size if isinstance(size, str) else None
            elif not isinstance(part, ast.Slice):
                continue  # a dtype, or is_named
            start, end = self.source.start_of(part), self.source.end_of(part)
            dims.append(Dimension(size, self.source.offset(start), self.source.offset(end)))
        if not dims and spread is None:
            return None
        start, end = self.source.start_of(node.slice), self.source.end_of(node.slice)
        return Declared("annotation", tuple(dims), spread, self.source.offset(start), self.source.offset(end))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
