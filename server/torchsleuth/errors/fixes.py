"""The edits that errors share: append to an expression, wrap it, replace it, change how it is called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Json
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, last_word
from torchsleuth.syntax.text import SourceText
from torchsleuth.synthesis.shapes import Fits, Way, fitting

FixBuilder = Callable[[Case], Iterator[Fix]]
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Tuple)


def no_fix(case: Case) -> Iterator[Fix]:
    """No edit follows from the numbers alone."""
    return iter(())


def append(frame: CrashFrame, node: ast.expr, suffix: str, safe: bool = True) -> Fix:
    """``x`` → ``x.float()``, ``a + b`` → ``(a + b).float()``."""
    return append_in(frame.source, node, suffix, safe)


def append_in(source: SourceText, node: ast.expr, suffix: str, safe: bool = True) -> Fix:
    atom = isinstance(node, _ATOMS)
    text = source.segment(node) if atom else f"({source.segment(node)})"
    title = message("fix.append", expression=" ".join(text.split())[:60], suffix=suffix)
    edit = edits.insert_after_node(source, node, suffix) if atom else edits.replace(source, node, f"{text}{suffix}")
    return Fix(title, (edit,), safe)


def fitted(frame: CrashFrame, node: ast.expr | None, found: Json | None, fits: Fits, *ways: Way) -> Iterator[Fix]:
    """A tensor of the failing line, rewritten so that its shape fits."""
    for made in fitting(tuple(found["shape"]), fits, *ways) if node is not None and found is not None else ():
        assert node is not None
        yield append(frame, node, made.suffix, made.whole)


def replace(frame: CrashFrame, node: ast.AST, new: str, safe: bool = True) -> Fix:
    title = message("fix.replace", old=frame.source.on_one_line(node)[:60], new=" ".join(new.split())[:60])
    return Fix(title, (edits.replace(frame.source, node, new),), safe)


def rename_method(frame: CrashFrame, new: str, title: str) -> Iterator[Fix]:
    """``x.view(…)`` → ``x.reshape(…)``."""
    node = frame.node
    if is_method_call(node):
        end = frame.source.end_of(node.func)
        start = frame.source.position(frame.source.offset(end) - len(node.func.attr))
        yield Fix(title, (Edit(frame.path, start, end, new),))


def add_argument(source: SourceText, call: ast.Call, text: str, title: str | None = None, safe: bool = True) -> Fix:
    """An argument more, at the end of a call."""
    return Fix(title or message("fix.add_argument", argument=text), (edits.add_argument(source, call, text),), safe)


def remove_keyword(source: SourceText, call: ast.Call, name: str) -> Iterator[Fix]:
    """``DataLoader(d, sampler=s, shuffle=True)`` → without ``shuffle=True``, and its comma."""
    for keyword in call.keywords:
        if keyword.arg == name:
            title = message("fix.remove_argument", argument=source.segment(keyword))
            yield Fix(title, (edits.remove_keyword(source, call, keyword),))


def convert_input(suffix: str) -> FixBuilder:
    """The layer's input, or the first tensor of the operation, converted."""

    def build(case: Case) -> Iterator[Fix]:
        target = case.given or next(iter(case.frame.tensor_operands()), None)
        if target is not None:
            yield append(case.frame, target[0], suffix)

    return build


def convert_argument(suffix: str, position: int, *names: str) -> FixBuilder:
    """``criterion(out, y)`` → ``criterion(out, y.long())``; where the call stands in a caller, there."""

    def build(case: Case) -> Iterator[Fix]:
        node = case.frame.argument(position, *names)
        if node is not None:
            yield append(case.frame, node, suffix)

    return build


def convert_receiver(suffix: str) -> FixBuilder:
    """``x.method()`` → ``x.suffix.method()``."""

    def build(case: Case) -> Iterator[Fix]:
        node = case.frame.node
        if is_method_call(node) and case.frame.tensor(node.func.value):
            yield append(case.frame, node.func.value, suffix)
        elif isinstance(node, ast.Call) and node.args:
            if (case.frame.value(node.args[0]) or {}).get("kind", "tensor") == "tensor":
                yield append(case.frame, node.args[0], suffix)
        elif isinstance(node, ast.Attribute):
            yield append(case.frame, node.value, suffix)

    return build


def loaders(case: Case, without: str) -> list[tuple[SourceText, ast.Call]]:
    """The ``DataLoader(…)`` calls in the files of the crash's frames that lack an option."""
    return [
        (frame.source, node)
        for frame in {frame.path: frame for frame in case.frames}.values()
        for node in frame.all(ast.Call)
        if last_word(node.func) == "DataLoader" and not any(keyword.arg == without for keyword in node.keywords)
    ]
