"""Edits of a layer's constructor: finds the argument, follows it to where its value was written, proposes values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.frames import Frame
from torchsleuth.interp.values import Instance, LibraryModule
from torchsleuth.messages import message
from torchsleuth.rules.describe import layer_text
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.schema import Related
from torchsleuth.syntax import edits


def argument_node(module: LibraryModule, position: int, name: str) -> ast.expr | None:
    """The expression of a constructor argument as written."""
    call = module.site.node if module.site is not None else None
    return _written(call, position, name) if isinstance(call, ast.Call) else None


def given_argument(module: LibraryModule, position: int, name: str) -> object:
    """The value of a constructor argument, None where it is not given."""
    if name in module.kwargs:
        return module.kwargs[name]
    return module.args[position] if position < len(module.args) else None


def _written(call: ast.Call, position: int, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    before = call.args[: position + 1]
    if len(before) == position + 1 and not any(isinstance(argument, ast.Starred) for argument in before):
        return before[position]
    return None


def change_argument(
    analysis: Analysis, module: LibraryModule, position: int, name: str, wanted: int
) -> Iterator[Candidate]:
    """Ways to give the layer the wanted size, the most likely first: a variable of the constructor's scope that
    holds it, the number itself, or the argument of the call that the number was passed through."""
    node = argument_node(module, position, name)
    if node is None or module.site is None:
        return
    frame, layer = module.site.frame, layer_text(module)
    seen: set[str] = set()
    for _ in range(4):
        source = analysis.source_of(frame.path)
        old = source.segment(node)
        names = list(names_for(frame, wanted)) if not isinstance(node, ast.Constant) else []
        literal = isinstance(node, ast.Constant) or not _is_plain(node)
        options = [str(wanted), *names] if literal else [*names, str(wanted)]
        for new in options:
            key = f"{node.lineno}:{node.col_offset}:{new}"
            if new != old and key not in seen:
                seen.add(key)
                title = message("fix.argument", argument=name, layer=layer, old=old, new=new)
                yield Candidate(title, (edits.replace(source, node, new),))
        outer = passed_for(node, frame)
        if outer is None:
            return
        node, frame = outer


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def names_for(frame: Frame, wanted: int) -> Iterator[str]:
    """Parameters of the enclosing function, and fields of its objects, that hold the wanted size."""
    if frame.function is None:
        return
    fields: list[str] = []
    for argument in frame.function.node.args.args[:16]:
        value = frame.names.get(argument.arg)
        if isinstance(value, int) and not isinstance(value, bool) and value == wanted:
            yield argument.arg
        elif isinstance(value, Instance):
            for field, held in value.slots.items():
                if isinstance(held, int) and not isinstance(held, bool) and held == wanted:
                    fields.append(f"{argument.arg}.{field}")
    yield from fields


def passed_for(node: ast.expr, frame: Frame) -> tuple[ast.expr, Frame] | None:
    """Where the value of a parameter was written: the argument of the call that made this frame."""
    function = frame.function
    if not isinstance(node, ast.Name) or function is None or frame.caller is None or frame.call is None:
        return None
    names = [argument.arg for argument in (*function.node.args.posonlyargs, *function.node.args.args)]
    if node.id not in names:
        return None
    position = names.index(node.id)
    if function.owner is not None and function.kind == "function":
        position -= 1
    written = _written(frame.call, position, node.id)
    return None if written is None else (written, frame.caller)


def constructor_related(
    analysis: Analysis, module: LibraryModule, argument: str | None, value: object
) -> list[Related]:
    if module.site is None:
        return []
    span = module.site.span
    text = (
        message("related.constructor", layer=layer_text(module), argument=argument, value=value)
        if argument
        else message("related.constructor.plain", layer=layer_text(module))
    )
    return [Related(span.path, span.start, span.end, text)]
