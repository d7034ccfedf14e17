"""head-never-called: a new last layer under a name that the model does not have.

What it finds
    A Linear, or a Sequential that ends with one, set on a model from outside under a new name that its forward never reads,
    while the model is called with the last layer that it had.
Why it hurts
    Nothing fails: the model goes on with its old outputs, 1000 classes for 10 labels, and the new layer is never trained.
Example
    model = efficientnet_b0()
    model.fc = nn.Linear(1280, 10)
Use instead
    model.classifier[1] = nn.Linear(1280, 10)
Fix safety
    Unsafe: the layer takes the place of the last one of its kind that is called.
References
    Transfer learning tutorial of PyTorch
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants, named_children
from torchsleuth.interp.trace import AttributeSet, PartSet
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import ClassValue, Instance, LibraryModule, Value, is_module

CODE = "TS522"


def find(analysis: Analysis) -> Iterator[Finding]:
    called = {id(operation.module) for operation in analysis.trace.operations}
    sets: list[AttributeSet | PartSet] = [*analysis.trace.attributes, *analysis.trace.parts_set]
    for item in sets:
        node = as_kind(item.site.node, ast.Attribute)
        if node is None or not _is_head(item.value) or not _is_new(item):
            continue
        own = [part for part in descendants(item.value) if id(part) in called]
        # The parts of a model of another package are called as one.
        whole = isinstance(item, PartSet) and id(item.owner) in called
        lasts = [pair for pair in _parts(item.owner, item.value) if whole or id(pair[1]) in called]
        escaped = {part.identity for part in (item.owner, item.value) if is_module(part)} & analysis.trace.escaped
        if own or not lasts or escaped:
            continue
        source = item.site.source
        text, (way, last) = source.segment(node), lasts[-1]
        model = item.owner.cls.name if isinstance(item.owner, Instance) else item.owner.type_name
        said = message("head.unused", text=text, model=model, last=way.lstrip("."), count=_outputs(last))
        yield Finding(item.site.span, said, (), tuple(_replaced(source, node, way)))


def _replaced(source: SourceText, node: ast.Attribute, way: str) -> Iterator[Candidate]:
    """The new layers in the place of the last one, or of the container that holds it."""
    for place in (way, way.rpartition("[")[0]):
        if place:
            new = f"{source.segment(node.value)}{place}"
            title = message("fix.replace", old=source.segment(node), new=new)
            yield Candidate(title, (edits.replace(source, node, new),), safe=False)


def _is_head(value: Value) -> bool:
    if isinstance(value, LibraryModule) and value.type_name == "Sequential" and value.children:
        return _is_head(value.children[-1][1])
    return isinstance(value, LibraryModule) and value.path == "torch.nn.Linear"


def _is_new(item: AttributeSet | PartSet) -> bool:
    """Whether the name is set from outside, and nothing in the model speaks of it."""
    if isinstance(item, PartSet):
        return item.owner.built is not None and item.name not in item.owner.built.names
    function = item.site.scene.function
    if function is not None and function.owner is not None:
        return False
    return not any(
        (is_attribute(part, item.name)) or (isinstance(part, ast.Constant) and part.value == item.name)
        for cls in of_kind(item.owner.cls.mro(), ClassValue)
        for part in ast.walk(cls.node)
    )


def _parts(module: Value, but: Value, prefix: str = "") -> Iterator[tuple[str, LibraryModule]]:
    """The Linear layers of a model, but for those of one part, by the way to write them after the model."""
    for name, part in named_children(module):
        if part is but:
            continue
        path = f"{prefix}[{name}]" if name.isdigit() else f"{prefix}.{name}"
        if isinstance(part, LibraryModule) and part.path == "torch.nn.Linear":
            yield path, part
        else:
            yield from _parts(part, but, path)


def _outputs(layer: LibraryModule) -> Value:
    return layer.given(1, "out_features", "?")


RULE = Rule(FAULTS[CODE], find, of_absence=True)
