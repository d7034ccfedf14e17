"""Shared by the rules about devices: which operand is the stray one, where it is written, how the device is called there."""

from __future__ import annotations

import ast

from torchsleuth.interp.trace import DeviceConflict
from torchsleuth.rules.evidence.describe import argument_nodes
from torchsleuth.rules.evidence.operands import Operand, called_module, operands
from torchsleuth.rules.rule import Analysis
from torchsleuth.syntax.forms import bindings_of, is_name, is_reference, names_in, nodes_in, stands_on, stores
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText
from torchsleuth.syntax.trees import index
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.tensors.device import conflict as different
from torchsleuth.values import Instance, LibraryModule, Site, Tensor, Value
from torchsleuth.values.frames import Scene


def stray_of(conflict: DeviceConflict) -> tuple[Value, Device, Device]:
    """The operand that is on the CPU, its device, and the device of the others."""
    (_, left_device, left), (_, right_device, right) = conflict.left, conflict.right
    return (right, right_device, left_device) if left_device != CPU else (left, left_device, right_device)


def strays(conflict: DeviceConflict) -> list[Operand]:
    """All the operands that are left on the CPU."""
    home = stray_of(conflict)[2]
    return [
        used
        for used in operands(conflict.operation)
        if used.spec.device is not None and used.spec.rank != 0 and different(used.spec.device, home)
    ]


def node_of(conflict: DeviceConflict, value: object) -> ast.expr | None:
    """The expression of an operand, if the operation was written with it."""
    operation = conflict.operation
    nodes = argument_nodes(operation) if operation.written else []
    for place, argument in enumerate(operation.args):
        if argument is value and place < len(nodes):
            return nodes[place]
    node = operation.site.call
    if node is not None:
        for keyword in node.keywords:
            if keyword.arg is not None and operation.kwargs.get(keyword.arg) is value:
                return keyword.value
    # In a list, as for torch.cat.
    return (
        next((used.node for used in operands(operation) if used.tensor is value), None) if operation.written else None
    )


def device_expression(frame: Scene, home: Device, at: ast.AST | None = None) -> str | None:
    """How a device is called in a frame: a variable, an attribute of self, a field of another object. `at`: what it is
    written for; a name that is bound only there, or behind it, is none."""
    scopes = [frame.names, *frame.closure, frame.globals]
    for names in scopes:
        for name, value in names.items():
            if isinstance(name, str) and is_device(value, home) and _is_bound(frame, name, at):
                return name
    fields: list[tuple[str, Value]] = []
    for names in scopes:
        for name, value in names.items():
            # The object that a script makes at its end is not for its classes to know.
            known = names is not frame.globals or frame.function is None or _is_read(frame, name)
            if isinstance(name, str) and isinstance(value, Instance) and known and _is_bound(frame, name, at):
                fields += [(f"{name}.{field}", held) for field, held in value.slots.items()]
    named = next((name for name, value in fields if is_device(value, home)), None)
    if named is None and not home.symbolic and home.kind != "cpu":
        return f'"{home}"'
    return named


def _is_bound(frame: Scene, name: str, at: ast.AST | None) -> bool:
    """Whether a name of a frame has its value where something is written."""
    own = frame.function is None or (name in frame.names and not isinstance(frame.function.node, ast.Lambda))
    if at is None or not own:
        return True
    lines = [part.lineno for part in bindings_of(name, frame.scope)]
    return not lines or min(lines) < getattr(at, "lineno", 0)


def _is_read(frame: Scene, name: object) -> bool:
    """Whether a function of the file reads a global name."""
    functions = (node for node in index(parse(frame.source)).of_type(ast.FunctionDef))
    parts = (part for function in functions for part in ast.walk(function))
    return any(is_name(part, name) for part in parts)


def is_device(value: Value, home: Device) -> bool:
    """Whether a value stands for a device."""
    return isinstance(value, Device) and value == home or isinstance(value, str) and value == str(home) != "cpu"


def device_of_another(conflict: DeviceConflict, stray: Value) -> str | None:
    """``x.device`` of the operand that the stray one meets, where it has a name."""
    for _, _, value in (conflict.left, conflict.right):
        node = node_of(conflict, value) if value is not stray else None
        while isinstance(node, ast.Subscript) and isinstance(value, Tensor):
            node = node.value  # Of lengths[:, None]: lengths.
        if is_reference(node):
            return f"{ast.unparse(node)}.device"
    return None


def not_moved(site: Site, home: Device) -> list[LibraryModule | Instance]:
    """The modules in a call of one that are not on a device: from the one called here to the outermost."""
    around: list[LibraryModule | Instance | None] = [called_module(site)]
    frame: Scene | None = site.scene
    while frame is not None:
        instance = frame.instance()
        if instance is not None and instance.is_module:
            around.append(instance)
        frame = frame.caller
    return [module for module in around if module is not None and _device_of(module) != home]


def _device_of(module: LibraryModule | Instance) -> Device | None:
    return module.device if isinstance(module, LibraryModule) else module.state.get("device")


def binding_loop(analysis: Analysis, source: SourceText, name: ast.Name) -> ast.For | None:
    """The loop around a use that binds the name and does not rebind it before the use."""
    tree = analysis.tree(source.path)
    loops = [
        node for node in nodes_in(tree, ast.For) if stands_on(node, name.lineno) and name.id in names_in(node.target)
    ]
    if not loops:
        return None
    loop = max(loops, key=lambda node: node.lineno)
    if loop.body[0].lineno == loop.lineno:
        return None
    rebound = any(is_name(part, name.id) and stores(part) for statement in loop.body for part in ast.walk(statement))
    return None if rebound else loop
