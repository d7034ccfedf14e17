"""Edits from the numbers of a crash: what to write instead, at which characters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix
from torchsleuth.syntax.edits import insert_after_node
from torchsleuth.syntax.text import SourceText

Crash = dict[str, Any]
Sources = Callable[[str], SourceText]
FixBuilder = Callable[[Crash, Sources], Iterator[Fix]]


def span_edit(source: SourceText, span: list[int], text: str) -> Edit:
    """Replace a span given as `ast` counts (line, UTF-8 column, end line, end column)."""
    return Edit(source.path, source.from_utf8(span[0], span[1]), source.from_utf8(span[2], span[3]), text)


def detach_none(crash: Crash, sources: Sources) -> Iterator[Fix]:
    """No edit can be derived from the crash alone."""
    return iter(())


def constructor_argument(name: str, position: int, axis: int) -> FixBuilder:
    """Give the layer the size that its input had: at its constructor, or where the value was passed from."""

    def build(crash: Crash, sources: Sources) -> Iterator[Fix]:
        module = crash.get("module") or {}
        constructor, given = module.get("constructor"), module.get("input")
        if not constructor or not given or not given["shape"]:
            return
        shape = given["shape"]
        if axis >= len(shape):
            return
        if name == "in_features" and len(shape) == 2 and shape[0] == 1:
            yield from _keep_batch(crash, sources)
        wanted = shape[axis]
        argument = _argument(constructor["arguments"], name, position)
        if argument is None:
            return
        layer = module.get("path") or module["type"]
        yield _replace(sources, constructor["path"], argument, name, layer, wanted)
        for caller in constructor.get("callers", []):
            if argument["text"] not in constructor.get("parameters", []):
                return
            index = constructor["parameters"].index(argument["text"])
            passed = _argument(caller.get("arguments", []), argument["text"], index)
            if passed is not None and passed["text"].isdigit():
                yield _replace(sources, caller["path"], passed, name, layer, wanted)
            return

    return build


def _argument(arguments: list[dict[str, Any]], name: str, position: int) -> dict[str, Any] | None:
    for argument in arguments:
        if argument["name"] == name:
            return argument
    return next((argument for argument in arguments if argument["position"] == position), None)


def _replace(sources: Sources, path: str, argument: dict[str, Any], name: str, layer: str, wanted: int) -> Fix:
    title = message("fix.argument", argument=name, layer=layer, old=argument["text"], new=wanted)
    return Fix(title, (span_edit(sources(path), argument["span"], str(wanted)),))


def _keep_batch(crash: Crash, sources: Sources) -> Iterator[Fix]:
    """One row where a batch was expected: a flatten without start_dim above the failing line."""
    frame = crash["frames"][0]
    source = sources(frame["path"])
    for node in ast.walk(_tree(source)):
        near = isinstance(node, ast.Call) and frame["line"] - 6 <= node.lineno <= frame["line"]
        if near and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "flatten":
            if not node.args and not node.keywords:
                end = source.end_of(node)
                at = source.position(source.offset(end) - 1)
                yield Fix(message("fix.flatten"), (Edit(source.path, at, at, "1"),))


def _tree(source: SourceText) -> ast.Module:
    try:
        return ast.parse(source.text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _call(crash: Crash, sources: Sources) -> tuple[SourceText, ast.expr] | None:
    """The failing expression of the innermost user frame."""
    if not crash["frames"]:
        return None
    frame = crash["frames"][0]
    source = sources(frame["path"])
    for node in ast.walk(_tree(source)):
        if isinstance(node, ast.expr) and [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset] == frame["span"]:
            return source, node
    return None


def reshape_instead_of_view(crash: Crash, sources: Sources) -> Iterator[Fix]:
    found = _call(crash, sources)
    if found and isinstance(found[1], ast.Call) and isinstance(found[1].func, ast.Attribute):
        source, function = found[0], found[1].func
        end = source.end_of(function)
        start = source.position(source.offset(end) - len(function.attr))
        if function.attr == "view":
            yield Fix(message("fix.reshape"), (Edit(source.path, start, end, "reshape"),))


def size_of_view(crash: Crash, sources: Sources) -> Iterator[Fix]:
    """flatten(1) where two sizes were given, else the batch size of the tensor itself."""
    found = _call(crash, sources)
    if not found or not isinstance(found[1], ast.Call) or not isinstance(found[1].func, ast.Attribute):
        return
    source, call = found
    assert isinstance(call.func, ast.Attribute)
    receiver = source.segment(call.func.value)
    if len(call.args) == 2:
        edit = Edit(source.path, source.start_of(call), source.end_of(call), f"{receiver}.flatten(1)")
        yield Fix(message("fix.flatten"), (edit,))
    if call.args:
        first = call.args[0]
        edit = Edit(source.path, source.start_of(first), source.end_of(first), f"{receiver}.size(0)")
        yield Fix(message("fix.size", old=source.segment(first), new=f"{receiver}.size(0)"), (edit,))


def _append(index: int, suffix: str) -> FixBuilder:
    def build(crash: Crash, sources: Sources) -> Iterator[Fix]:
        found = _call(crash, sources)
        if found and isinstance(found[1], ast.Call) and len(found[1].args) > index:
            source, node = found[0], found[1].args[index]
            title = f"Convert `{source.segment(node)}` with {suffix}"
            yield Fix(title, (insert_after_node(source, node, suffix),))

    return build


def append_to_first_argument(suffix: str) -> FixBuilder:
    """``f(x)`` → ``f(x.long())``."""
    return _append(0, suffix)


def append_to_target(suffix: str) -> FixBuilder:
    """``criterion(out, y)`` → ``criterion(out, y.long())``."""
    return _append(1, suffix)


def append_to_tensor(suffix: str) -> FixBuilder:
    """``x.method()`` → ``x.suffix().method()``."""

    def build(crash: Crash, sources: Sources) -> Iterator[Fix]:
        found = _call(crash, sources)
        if found and isinstance(found[1], ast.Call) and isinstance(found[1].func, ast.Attribute):
            source, node = found[0], found[1].func.value
            yield Fix(f"Insert {suffix}", (insert_after_node(source, node, suffix),))

    return build
