"""tensor-attribute-not-buffer: a tensor that stays behind when its module is moved.

What it finds
    Plain tensors that a module keeps as attributes, a mask, a table, the mean of the images, and that meet a tensor on the
    accelerator in a method of the module.
Why it hurts
    `model.to(device)` moves parameters and buffers, no other attributes: the tensor is left on the CPU. It is missing in
    the state dict as well.
Example
    self.mask = torch.tril(torch.ones(64, 64))
Use instead
    self.register_buffer("mask", torch.tril(torch.ones(64, 64)))
Fix safety
    Safe: the attribute is used as before. It becomes part of the state dict.
References
    torch.nn.Module.register_buffer
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import DeviceConflict
from torchsleuth.messages import message
from torchsleuth.rules.evidence.devices import stray_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, nodes_in
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.device import Device
from torchsleuth.values import Instance, Site, Tensor

CODE = "TS204"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int]] = set()
    for conflict in analysis.trace.conflicts:
        stray, _, home = stray_of(conflict)
        found = _attribute(analysis, conflict, stray) if isinstance(stray, Tensor) else None
        if found is None:
            continue
        source, statement, name = found
        if (source.path, statement.lineno) not in seen:
            seen.add((source.path, statement.lineno))
            yield _finding(conflict, source, statement, name, home)


def _attribute(
    analysis: Analysis, conflict: DeviceConflict, stray: Tensor
) -> tuple[SourceText, ast.Assign, str] | None:
    """The assignment in a constructor that made a plain attribute of the tensor, or of what it was computed from."""
    if stray.parameter or stray.buffer:
        return None
    instance = conflict.operation.site.scene.instance()
    if instance is None or not instance.is_module:
        return None
    kept = {
        id(value): str(name)
        for name, value in instance.slots.items()
        if isinstance(value, Tensor) and not value.parameter and not value.buffer
    }
    for tensor in _ancestors(stray):
        if id(tensor) in kept:
            return _assignment(analysis, instance, kept[id(tensor)])
    return None


def _ancestors(tensor: Tensor) -> Iterator[Tensor]:
    """The tensor, and the first operands that it was computed from."""
    current = tensor
    for _ in range(6):
        yield current
        if current.origin is None or not current.origin.sources:
            return
        current = current.origin.sources[0]


def _assignment(analysis: Analysis, instance: Instance, name: str) -> tuple[SourceText, ast.Assign, str] | None:
    source, tree = analysis.source_of(instance.cls.path), analysis.tree(instance.cls.path)
    own = [node for node in nodes_in(tree, ast.ClassDef) if node.name == instance.cls.name]
    for node in of_kind((part for cls in own for part in ast.walk(cls)), ast.FunctionDef):
        if node.name != "__init__" or not node.args.args:
            continue
        for statement in nodes_in(node, ast.Assign):
            if len(statement.targets) == 1:
                target = statement.targets[0]
                if is_attribute(target, name) and isinstance(target.value, ast.Name):
                    if target.value.id == node.args.args[0].arg:
                        return source, statement, name
    return None


def _finding(conflict: DeviceConflict, source: SourceText, statement: ast.Assign, name: str, home: Device) -> Finding:
    target = statement.targets[0]
    text = message("device.attribute", attribute=source.segment(target), device=home.described)
    site: Site = conflict.operation.site
    place = site.span.related(message("device.met"))
    owner = source.segment(target).rpartition(".")[0]
    value = source.segment(statement.value)
    new = f'{owner}.register_buffer("{name}", {value})'
    title = message("fix.buffer", attribute=source.segment(target))
    fix = Candidate(title, (edits.replace(source, statement, new),))
    return Finding(source.span(statement), text, (place,), (fix,))


RULE = Rule(FAULTS[CODE], find)
