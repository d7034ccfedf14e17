"""One crash, readable: the failing expression as a syntax tree, the values around it, the layer that failed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from torchsleuth.numbers import size
from torchsleuth.schema import Json, Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax.forms import argument_of, is_display, last_word, nodes_in, stands_on
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.trees import Node, index

Sources = Callable[[str], SourceText]
MAX_TEXT = 160
"""Characters of a message after which no further line of it is shown."""
_ADVICE = re.compile(
    r"Hint:|Developer debug context|For more details|Compile with|CUDA kernel errors|from user code|Set TORCH"
)

MAX_MEASURED = 60
"""Characters of an operand with its sizes, beyond which it is not listed."""


class CrashFrame:
    """One of the user's frames: where it stood, and the values of the expressions there."""

    def __init__(self, frame: Json, sources: Sources) -> None:
        self.path: str = frame["path"]
        self.line: int = frame["line"]
        self.function: str = frame["function"]
        self.source = sources(self.path)
        self.direct: bool = frame.get("direct", True)
        """Whether the next frame's expression is the call of this one, rather than of a library that called it."""
        self._span: list[int] | None = frame["span"]
        self._operands: list[Json] = frame["operands"]
        self.named: dict[str, Json] = frame.get("named") or {}
        """The tensors in the variables of the innermost frame, and in the attributes of its ``self``."""

    @cached_property
    def tree(self) -> ast.Module:
        return parse(self.source)

    def all(self, kind: type[Node]) -> list[Node]:
        """The nodes of a class in the whole file, in the order of `ast.walk`."""
        return index(self.tree).of_type(kind)

    @cached_property
    def node(self) -> ast.expr | None:
        """The failing expression; without columns (Python 3.10) the outermost one of the statement."""
        if self._span is not None:
            for node in nodes_in(self.tree, ast.expr):
                if node_span(node) == tuple(self._span):
                    return node
            return None
        value = getattr(self.statement, "value", None)
        return as_kind(value, ast.expr)

    @cached_property
    def statement(self) -> ast.stmt | None:
        """The innermost statement at the failing line."""
        found: ast.stmt | None = None
        for node in nodes_in(self.tree, ast.stmt):
            if stands_on(node, self.line):
                if found is None or node_span(node)[:2] >= node_span(found)[:2]:
                    found = node
        return found

    @cached_property
    def enclosing(self) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Module:
        """The function around the failing line, else the module."""
        return enclosing_function(self.tree, self.line) or self.tree

    @property
    def span(self) -> Span:
        """The span of the diagnostic: the failing expression, else the statement."""
        marked = self.node or self.statement
        if self._span is not None:
            line, column, end_line, end_column = self._span
            return Span(self.path, self.source.from_utf8(line, column), self.source.from_utf8(end_line, end_column))
        if marked is not None and marked.lineno <= self.line:
            return self.source.span(marked)
        text = self.source.line(self.line)
        start = self.source.from_utf8(self.line, len(text) - len(text.lstrip()))
        return Span(self.path, start, self.source.from_utf8(self.line, len(text.encode())))

    def value(self, node: ast.AST | None) -> Json | None:
        """The value of an expression of the failing line as the crash reports it, None if it does not."""
        if node is None:
            return None
        wanted = node_span(node)
        return next((item["value"] for item in self._operands if tuple(item["span"]) == wanted), None)

    def tensor(self, node: ast.AST | None) -> Json | None:
        found = self.value(node)
        return found if found is not None and found["kind"] == "tensor" else None

    def tensors(self) -> Iterator[tuple[ast.expr, Json]]:
        """Expressions of the failing line that are tensors, the widest first."""
        root = self.node or self.statement
        for node in nodes_in(root, ast.expr) if root is not None else ():
            if (found := self.tensor(node)) is not None:
                yield node, found

    def text(self, node: ast.AST) -> str:
        return self.source.segment(node)

    def operands(self) -> list[ast.expr]:
        """The operands of the failing operation: both sides, or receiver and arguments; lists are opened."""
        node = self.node
        match node:
            case ast.BinOp():
                return [node.left, node.right]
            case ast.Compare():
                return [node.left, *node.comparators]
            case ast.Subscript():
                return [node.value, node.slice]
            case ast.Attribute():
                return [node.value]
        if not isinstance(node, ast.Call):
            return []
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) and self.tensor(node.func.value) else []
        given = [*receiver, *node.args, *(keyword.value for keyword in node.keywords)]
        return [part for item in given for part in (item.elts if is_display(item) else [item])]

    def tensor_operands(self) -> list[tuple[ast.expr, Json]]:
        return [(node, found) for node in self.operands() if (found := self.tensor(node)) is not None]

    def argument(self, position: int, *names: str) -> ast.expr | None:
        """An argument of the failing call by position or name."""
        return argument_of(self.call, position, *names) if self.call is not None else None

    @property
    def call(self) -> ast.Call | None:
        """The failing call, None where something else failed."""
        return as_kind(self.node, ast.Call)

    def method(self) -> str | None:
        """Name of the function or method that the failing call calls."""
        if self.call is None:
            return None
        return last_word(self.call.func)


class Case:
    """A crash and the sources it happened in. `match` is how the entry's pattern matched the message."""

    def __init__(self, crash: Json, sources: Sources, match: re.Match[str]) -> None:
        self.crash = crash
        self.sources = sources
        self.match = match
        self.frames = [CrashFrame(frame, sources) for frame in crash["frames"]]
        self.frame = self.frames[0]

    @cached_property
    def files(self) -> list[CrashFrame]:
        """The user's files: those with frames in them, the innermost last, and then the others that were loaded."""
        own = {frame.path: frame for frame in reversed(self.frames)}
        others = [path for path in self.crash.get("loaded") or () if path not in own]
        whole = {"line": 0, "function": "<module>", "span": None, "operands": []}
        return [*own.values(), *(CrashFrame({"path": path, **whole}, self.sources) for path in others)]

    @property
    def module(self) -> Json | None:
        """The library's layer that raised, None if the user's own line did."""
        module: Json | None = self.crash["module"]
        return module if module is not None and module["library"] else None

    @property
    def input(self) -> Json | None:
        """The first tensor that the failing layer was given."""
        inputs = self.module["inputs"] if self.module is not None else []
        return next((item["value"] for item in inputs if item["value"]["kind"] == "tensor"), None)

    def call_input(self, *names: str) -> Json | None:
        """A local of the library's frames by name, the innermost frame first."""
        for call in self.crash["calls"]:
            for name in names:
                found: Json | None = call["inputs"].get(name)
                if found is not None:
                    return found
        return None

    @cached_property
    def given(self) -> tuple[ast.expr, Json] | None:
        """The user's expression that is the failing layer's input, if the line names it."""
        wanted = self.input
        if wanted is None:
            return None
        for node, found in self.frame.tensor_operands():
            if found["shape"] == wanted["shape"] and found["dtype"] == wanted["dtype"]:
                return node, found
        return None

    def is_below(self, part: str) -> bool:
        """Whether frames of a part of PyTorch, such as ``torch/optim/``, lie below the user's failing line."""
        return any(part in call["path"].replace("\\", "/") for call in self.crash["calls"])

    @property
    def holders(self) -> list[Json]:
        """The holders of memory when there was no more of it, see `runtime.holders`."""
        return list(self.crash.get("holders") or ())

    @property
    def held(self) -> str:
        """The names that held most of the memory, for the end of a message."""
        parts = [f"`{item['name']}` {size(item['bytes'])}" for item in self.holders]
        return f"; held by {', '.join(parts)}" if parts else ""

    @property
    def layer(self) -> str:
        """How a message names the failing layer: `` `net.fc` (Linear)``."""
        module = self.crash["module"]
        if module is None:
            return "this operation"
        path = module["path"]
        return f"`{path}` ({module['type']})" if path else module["type"]

    def named(self, node: ast.expr, found: Json) -> str:
        text = self.frame.source.on_one_line(node)
        return f"`{text if len(text) <= 40 else text[:37] + '…'}` {shape_text(found)}"

    @property
    def tensor(self) -> str:
        """How a message names the input of the failing layer, or else the first tensor of the line."""
        if self.given is not None:
            return self.named(*self.given)
        if self.input is not None:
            return f"the input {shape_text(self.input)}"
        first = next(iter(self.frame.tensor_operands()), None) or next(self.frame.tensors(), None)
        return self.named(*first) if first is not None else "the tensor"

    @property
    def described(self) -> str:
        """The tensors of the line with shape, dtype and device: `` `x` (4, 3) float32 cpu``."""
        found = self.frame.tensor_operands() or list(self.frame.tensors())
        seen: dict[str, str] = {}
        for node, value in found:
            text = self.named(node, value)
            seen.setdefault(text, f"{text} {value['dtype']} {value['device']}")
        if not seen and self.input is not None:
            return f"the input {shape_text(self.input)} {self.input['dtype']} {self.input['device']}"
        return ", ".join(list(seen.values())[:4])

    @property
    def measured(self) -> tuple[str, ...]:
        """The tensors that met where it failed, each once, with their sizes: ``x [64, 400]``, ``fc.weight [10, 256]``."""
        met = [(self.frame.text(node), found) for node, found in self.frame.tensor_operands() or self.frame.tensors()]
        module = self.module
        if module is not None:
            own = module["path"] or module["type"]
            met += [(f"{own}.{name}", found) for name, found in module["tensors"].items() if name == "weight"]
        texts = (f"{' '.join(name.split())} [{', '.join(map(str, found['shape']))}]" for name, found in met)
        return tuple(dict.fromkeys(text for text in texts if len(text) <= MAX_MEASURED))[:4]

    def values(self) -> dict[str, Any]:
        """The values that a message may name."""
        message = self.crash["message"].strip()
        groups = {f"g{index}": value for index, value in enumerate(self.match.groups(), 1)}
        attributes = {f"attr_{name}": value for name, value in ((self.module or {}).get("attributes") or {}).items()}
        shape = self.input["shape"] if self.input is not None else []
        described = self.described
        known = {"operands": described} if described else {}
        if "holders" in self.crash and groups.get("g1", "").isdigit():
            known["wanted"] = size(int(groups["g1"]))
        return {
            "type": self.crash["type"],
            "error": brief(message) if message else self.crash["type"],
            "layer": self.layer,
            "tensor": self.tensor,
            **known,
            "held": self.held,
            "here": f"; here {described}" if described else "",
            "last": shape[-1] if shape else "?",
            "channels": shape[1] if len(shape) > 1 else "?",
            **groups,
            **attributes,
        }


def brief(text: str) -> str:
    """The first lines of a message, as many as say what is wrong: what follows is advice, or for PyTorch's own people."""
    kept: list[str] = []
    for line in (line.strip() for line in text.splitlines()):
        if kept and (_ADVICE.match(line) or sum(map(len, kept)) > MAX_TEXT):
            break
        if line:
            kept.append(line)
    return " ".join(kept)


def shape_text(tensor: Json) -> str:
    shape = tensor["shape"]
    return f"({shape[0]},)" if len(shape) == 1 else "(" + ", ".join(map(str, shape)) + ")"


def node_span(node: Any) -> tuple[int, int, int, int]:
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def enclosing_function(tree: ast.Module, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The innermost function that contains a line."""
    found: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    for node in nodes_in(tree, ast.FunctionDef, ast.AsyncFunctionDef):
        if stands_on(node, line) and (found is None or node.lineno >= found.lineno):
            found = node
    return found
