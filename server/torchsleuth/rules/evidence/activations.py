"""Shared by the rules about losses: the activation that a value went through, its removal, a renamed call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.marks import PRODUCTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import constructor_related
from torchsleuth.rules.evidence.describe import layer_text
from torchsleuth.rules.evidence.operands import steps
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.schema import Edit, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import LibraryModule, Site, Tensor, Value, is_native_kind

LAYERS = tuple(
    "Linear Bilinear LazyLinear linear bilinear Conv1d Conv2d Conv3d LazyConv1d LazyConv2d LazyConv3d conv1d conv2d conv3d "
    "ConvTranspose1d ConvTranspose2d ConvTranspose3d conv_transpose1d conv_transpose2d conv_transpose3d".split()
)
"""Layers with weights; `PRODUCTS`: those written by hand."""


def losses(analysis: Analysis, paths: tuple[str, ...]) -> Iterator[tuple[Operation, Tensor]]:
    """Each place where one of these losses is computed, with its first operand."""
    seen: set[tuple[str, int, int]] = set()
    for operation in analysis.trace.operations:
        if operation.target not in paths:
            continue
        scores: Value = operation.given(0, "input")
        start = operation.site.span.start
        key = (operation.site.span.path, start.line, start.column)
        if isinstance(scores, Tensor) and key not in seen:
            yield operation, scores


def applied(analysis: Analysis, tensor: Tensor, names: tuple[str, ...]) -> Operation | None:
    """The operation of one of these names that the tensor's values come from."""
    made = (origin for _, origin in steps(tensor) if origin.name.rstrip("_") in names)
    return analysis.operation_of(next(made, None))


def layer_places(analysis: Analysis, scores: Tensor) -> tuple[list[Related], str]:
    """Where the layer that put out these values is defined and used, and its name."""
    layer = applied(analysis, scores, LAYERS) or applied(analysis, scores, tuple(PRODUCTS))
    if layer is None:
        return [], "a layer"
    span = layer.site.span
    places = [span.related(message("logits.here"))]
    if layer.module is None:
        return places, layer.name
    return places + constructor_related(layer.module, None, None), layer_text(layer.module)


def removals(analysis: Analysis, operation: Operation, name: str) -> Iterator[Candidate]:
    """Ways to leave out an activation: the call, or the layer where its container lists it."""
    title = message("fix.remove_softmax", softmax=name)
    module = operation.module
    source = operation.site.source
    node = operation.site.call
    if module is None and node is not None:
        inner = node.args[0] if operation.target.startswith("torch.") and node.args else None
        if inner is None and isinstance(node.func, ast.Attribute):
            inner = node.func.value
        if inner is not None:
            yield Candidate(title, (edits.replace(source, node, source.segment(inner)),))
        return
    if module is None or module.site is None:
        return
    yield from without_layer(analysis, module, title)
    yield from _unpassed(analysis, module, title)
    if (
        node is not None
        and len(node.args) == 1
        and (module.name and ast.unparse(node.func).endswith(module.name) or isinstance(node.func, ast.Call))
    ):
        yield Candidate(title, (edits.replace(source, node, source.segment(node.args[0])),))


def _unpassed(analysis: Analysis, module: LibraryModule, title: str) -> Iterator[Candidate]:
    """A layer that is passed on as an option: the option left out, or an identity in its place."""
    site = module.site
    if site is None or not is_method_call(site.node):
        return
    source = site.source
    for node in analysis.index(source.path).of_type(ast.Call):
        for keyword in node.keywords:
            if isinstance(keyword.value, ast.Call) and source.start_of(keyword.value) == site.span.start:
                yield Candidate(title, (edits.remove_keyword(source, node, keyword),))
    package = source.segment(site.node.func.value)
    identity = edits.replace(source, site.node, f"{package}.Identity()")
    old = source.on_one_line(site.node)
    yield Candidate(message("fix.replace", old=old, new=f"{package}.Identity()"), (identity,), safe=False)


def without_layer(analysis: Analysis, module: LibraryModule, title: str) -> Iterator[Candidate]:
    """The layer left out of the arguments of nn.Sequential(...) or the list of layers that it stands in."""
    place = place_in_list(analysis, module)
    if place is not None:
        source, elements, index = place
        yield Candidate(title, (edits.remove_element(source, elements, index),))


def place_in_list(analysis: Analysis, module: LibraryModule) -> tuple[SourceText, list[ast.expr], int] | None:
    """The arguments or elements among which a layer is constructed, and its place."""
    if module.site is None:
        return None
    source = module.site.source
    start = module.site.span.start
    for node in analysis.index(source.path).nodes:
        elements = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.List) else []
        for index, element in enumerate(elements):
            if isinstance(element, ast.Call) and source.start_of(element) == start and len(elements) > 1:
                return source, elements, index
    return None


def written_call(operation: Operation) -> Site | None:
    """Where the name of the operator was written: the call itself, or the constructor of its module."""
    return operation.site if operation.module is None else operation.module.site


def renamed(site: Site, new: str) -> Edit | None:
    """The callee of a call given another name of the same package: ``nn.BCELoss(…)`` to ``nn.BCEWithLogitsLoss(…)``."""
    if site.call is None:
        return None
    source, function = site.source, site.call.func
    match function:
        case ast.Attribute():
            return edits.replace(source, function, f"{edits.owner(source, function)}.{new}")
        case ast.Name():
            prefix = _package(site, "torch.nn" if new[0].isupper() else "torch.nn.functional")
            return None if prefix is None else edits.replace(source, function, f"{prefix}.{new}")
    return None


def _package(site: Site, path: str) -> str | None:
    """The name under which a package is imported in a file."""
    for name, value in site.scene.globals.items():
        if is_native_kind(value, "package") and isinstance(name, str):
            if value.path == path:
                return name
            if path.startswith(f"{value.path}."):
                return f"{name}{path.removeprefix(value.path)}"
    return None
