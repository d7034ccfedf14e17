"""size-set-on-layer: a layer is told another size than its weights have.

What it finds
    `layer.out_features = 5` and the like (`in_features`, `out_channels`, `num_embeddings`, …) on a layer that has its weights, where the
    file does not write these weights, too.
Why it hurts
    The attribute is what `print(model)` shows. The layer computes with its weights, which have the sizes of before: a classifier
    keeps its thousand classes. Nothing is raised.
Example
    model.classifier[-1].out_features = 5
Use instead
    model.classifier[-1] = nn.Linear(model.classifier[-1].in_features, 5)
Fix safety
    Safe: a layer of the size that was meant, with new weights.
References
    torch.nn.Linear
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import package_name
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.syntax.forms import is_attribute, nodes_in, stores
from torchsleuth.values import LibraryModule

CODE = "TS841"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.SIZE_SET):
        layer, name = misuse.value
        source, target = misuse.site.source, misuse.site.node
        if isinstance(target, ast.Attribute) and not _writes_weights(analysis.tree(misuse.site.span.path)):
            words = {"weight": "weight", "layer": layer.type_name, "name": source.on_one_line(target)}
            fixes = tuple(_made_anew(analysis, misuse, layer, target)) if name == "out_features" else ()
            yield Finding(source.span(target), message("layer.size_set", **words), (), fixes)


def _writes_weights(tree: ast.AST) -> bool:
    """Whether a file gives a layer other weights: ``layer.weight = …``, ``layer.weight.data = …``."""
    for node in nodes_in(tree, ast.Attribute):
        place = node.value if node.attr == "data" else node
        if stores(node) and is_attribute(place, "weight"):
            return True
    return "reset_parameters" in {node.attr for node in nodes_in(tree, ast.Attribute)}


def _made_anew(
    analysis: Analysis, misuse: Misuse[tuple[LibraryModule, str]], layer: LibraryModule, target: ast.Attribute
) -> Iterator[Candidate]:
    """``layer = nn.Linear(layer.in_features, 5)``"""
    source, index = misuse.site.source, analysis.index(misuse.site.span.path)
    statement = next((one for one in index.of_type(ast.Assign) if one.targets == [target]), None)
    package = package_name(misuse.site, "torch.nn")
    if statement is not None and package is not None and layer.type_name == "Linear":
        owner = source.segment(target.value)
        new = f"{owner} = {package}.Linear({owner}.in_features, {source.segment(statement.value)})"
        yield replacement(source, statement, new)


RULE = Rule(FAULTS[CODE], find)
