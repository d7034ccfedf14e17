"""A contract written into the text: as jaxtyping annotations where the file has such, otherwise as comments in the style of the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from torchsleuth.messages import message
from torchsleuth.schema import Contract, ContractValue, Edit, Fix
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import every_parameter, is_remark, nodes_in
from torchsleuth.syntax.parse import parse, parses
from torchsleuth.syntax.shapes import Declarations, declarations, key
from torchsleuth.syntax.text import SourceText

_BRACKETS = re.compile(r"#[^\r\n]*?([(\[])[A-Za-z]\w*(?:, *[\w*+/-]+)+[)\]]")
"""Shapes in comments."""
_TENSORS = ("Tensor", "torch.Tensor")
_ANY = "Shaped"


def written(source: SourceText, contract: Contract) -> Fix | None:
    """The text with the contract of a function in it; None where it cannot be written, holds only for what some code passes, or
    shapes are declared already."""
    tree = parse(source)
    function = _function(tree, contract)
    stated = declarations(source, tree)
    made = any(setting.maker for setting in contract.settings)
    if function is None or made or not contract.ranked or _is_declared(source, function, stated):
        return None
    annotated = _annotations(source, tree, function, contract)
    changes = _comments(source, function, contract) if annotated is None else annotated
    if not changes or not parses(source.apply(changes)):
        return None
    return Fix(message("editor.contract.write", name=contract.owner or contract.name), tuple(changes))


def _function(tree: ast.Module, contract: Contract) -> ast.FunctionDef | None:
    line = contract.start.line
    found = (node for node in nodes_in(tree, ast.FunctionDef) if node.lineno == line)
    return next(found, None)


def _is_declared(source: SourceText, function: ast.FunctionDef, stated: Declarations) -> bool:
    """Whether shapes of the parameters or of the result are declared, or stand in comments of their own."""
    names = "|".join(re.escape(one.arg) for one in every_parameter(function.args))
    if re.search(rf"#\s*({names}|returns?)\s*:?\s*[(\[]\w", source.segment(function)):
        return True
    return key(function) in stated.results or any(
        key(one) in stated.parameters for one in every_parameter(function.args)
    )


# -- annotations -----------------------------------------------------------------------------------------


def _annotations(
    source: SourceText, tree: ast.Module, function: ast.FunctionDef, contract: Contract
) -> list[Edit] | None:
    """Annotations of the inputs and the result; None where the file does not use jaxtyping, or they would not say it."""
    imported = next((node for node in of_kind(tree.body, ast.ImportFrom) if node.module == "jaxtyping"), None)
    tensor = _tensor(tree)
    if imported is None or tensor is None or any(alias.asname for alias in imported.names):
        return None
    values = {one.name: one.value for one in contract.inputs}
    known = frozenset(size for value in values.values() for size in value.sizes or ())
    used: set[str] = set()

    def annotation(value: ContractValue) -> str | None:
        if value.kind == "tensor":
            head, sizes = _class_of(value.dtype), _axes(value.sizes or ())
            if sizes is None or any(not _is_bound(size, known) for size in sizes):
                return None
            used.add(head)
            return f'{head}[{tensor}, "{" ".join(sizes)}"]'
        parts = [annotation(part) for part in value.parts] if value.kind == "tuple" and not value.names else []
        return f"tuple[{', '.join(map(str, parts))}]" if parts and None not in parts else None

    found: list[Edit] = []
    for argument in every_parameter(function.args):
        text = annotation(values[argument.arg]) if argument.arg in values else None
        if text is None:
            continue
        if argument.annotation is None:
            found.append(edits.insert_after_node(source, argument, f": {text}"))
        elif ast.unparse(argument.annotation) in _TENSORS:
            found.append(edits.replace(source, argument.annotation, text))
    result = annotation(contract.result)
    if result is not None and function.returns is not None and ast.unparse(function.returns) in _TENSORS:
        found.append(edits.replace(source, function.returns, result))
    elif result is not None and function.returns is None:
        close = _closing(source, function)
        found += [edits.insert(source, source.position(close + 1), f" -> {result}")] if close is not None else []
    lacking = sorted(used - {alias.name for alias in imported.names})
    if found and lacking:
        found.append(edits.insert_after_node(source, imported.names[-1], "".join(f", {name}" for name in lacking)))
    return found


def _tensor(tree: ast.Module) -> str | None:
    """The name of the class of tensors in a file."""
    for node in of_kind(tree.body, ast.ImportFrom):
        if node.module == "torch":
            if any(alias.name == "Tensor" and alias.asname is None for alias in node.names):
                return "Tensor"
    named = any(
        any(alias.name == "torch" and not alias.asname for alias in node.names)
        for node in of_kind(tree.body, ast.Import)
    )
    return "torch.Tensor" if named else None


def _class_of(dtype: str | None) -> str:
    """The class of jaxtyping for a dtype."""
    for start, name in (("float", "Float"), ("bfloat", "Float"), ("int", "Int"), ("uint8", "UInt8"), ("bool", "Bool")):
        if dtype is not None and dtype.startswith(start):
            return name
    return _ANY


def _axes(sizes: Sequence[str]) -> list[str] | None:
    """The sizes as jaxtyping takes them; None where one cannot be said."""
    found: list[str] = []
    for size in sizes:
        bare = "_" if size == "?" else re.sub(r"\s+", "", re.sub(r"\b[A-Za-z_]\w*\.", "", size))
        if bare != "..." and not re.fullmatch(r"[\w+\-*/%()]+", bare):
            return None
        found.append(bare)
    return found


def _is_bound(size: str, known: frozenset[str]) -> bool:
    """Whether the names in a compound size are those of whole sizes, as jaxtyping needs it."""
    if re.fullmatch(r"\w+|\.\.\.", size):
        return True
    return all(name in known for name in re.findall(r"[A-Za-z_]\w*", size))


def _closing(source: SourceText, function: ast.FunctionDef) -> int | None:
    """The offset of the bracket that closes the parameters."""
    parameters = every_parameter(function.args)
    last: list[ast.AST] = [*parameters, *(one for one in function.args.kw_defaults if one is not None)]
    last += [*function.args.defaults, *(one.annotation for one in parameters if one.annotation is not None)]
    if not last:
        return None
    begin = max(source.offset(source.end_of(node)) for node in last)
    end = source.offset(source.start_of(function.body[0]))
    found = re.compile(r"[\s,]*\)").match(source.text, begin, end)
    return found.end() - 1 if found else None


# -- comments --------------------------------------------------------------------------------------------


def _comments(source: SourceText, function: ast.FunctionDef, contract: Contract) -> list[Edit]:
    """Lines of comments above the first statement, in the brackets that the file has in its other comments."""
    square = [match[1] == "[" for match in _BRACKETS.finditer(source.text)]
    opening, closing = ("[", "]") if sum(square) * 2 > len(square) else ("(", ")")

    def shape(value: ContractValue) -> str:
        if value.kind == "tensor":
            sizes = value.sizes or ()
            return f"{opening}{', '.join(sizes)}{',' if len(sizes) == 1 and opening == '(' else ''}{closing}"
        return ", ".join(shape(part) for part in value.parts if part.kind != "value")

    lines = [f"# {one.name}: {shape(one.value)}" for one in contract.inputs]
    result = shape(contract.result)
    lines += [f"# returns: {result}"] if result else []
    lines += [f"# where {', '.join(contract.conditions)}"] if contract.conditions else []
    body = list(_without_docstring(function))
    if not body or body[0].lineno <= function.lineno:
        return []
    indent, ending = edits.indentation(source, body[0].lineno), edits.line_ending(source)
    return [edits.insert_line_before(source, body[0], (ending + indent).join(lines))]


def _without_docstring(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    for place, statement in enumerate(function.body):
        text = is_remark(statement)
        if place or not text:
            yield statement
