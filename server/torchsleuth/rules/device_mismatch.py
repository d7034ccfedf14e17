"""device-mismatch: operands on different devices.

What it finds
    Operators, models and losses whose operands live on different devices: a model on the accelerator with an input
    left on the CPU, a target, a loss weight, a hidden state, an index. A device that is "cuda when available" counts
    as different from the CPU, since the script fails wherever an accelerator is present.
Why it hurts
    PyTorch stops with "Expected all tensors to be on the same device", but only on the machine with the GPU.
Example
    model = Net().to(device)
    model(torch.randn(8, 3, 32, 32))
Use instead
    model(torch.randn(8, 3, 32, 32).to(device))
Fix safety
    Safe: moving an operand to the device of the others does not change the values.
References
    torch.Tensor.to, torch.nn.Module.to
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.frames import Frame
from torchsleuth.interp.trace import DeviceConflict
from torchsleuth.interp.values import Instance, LibraryModule, Tensor
from torchsleuth.messages import message
from torchsleuth.rules.constructors import constructor_related
from torchsleuth.rules.describe import (
    argument_nodes,
    call_trail,
    expression_text,
    layer_text,
    operator_text,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.device import CPU, Device

CODE = "TS201"


def find(analysis: Analysis) -> Iterator[Finding]:
    for conflict in analysis.trace.conflicts:
        yield _finding(analysis, conflict)


def _finding(analysis: Analysis, conflict: DeviceConflict) -> Finding:
    operation = conflict.operation
    (left_kind, left_device, left), (_, right_device, right) = conflict.left, conflict.right
    stray, stray_device, home = (
        (right, right_device, left_device) if left_device != CPU else (left, left_device, right_device)
    )
    left_node, right_node = _node_of(conflict, left), _node_of(conflict, right)
    if left_kind == "module":
        text = message(
            "device.module",
            tensor=expression_text(right_node, "the input"),
            tensor_device=right_device.described,
            module=layer_text(left) if isinstance(left, LibraryModule) else "the module",
            module_device=left_device.described,
        )
    else:
        text = message(
            "device.operands",
            left=expression_text(left_node, "the first operand"),
            left_device=left_device.described,
            right=expression_text(right_node, _stray_name(right)),
            right_device=right_device.described,
            operator=operator_text(operation),
        )
    places: list[Related] = []
    if isinstance(stray, Tensor) and stray.origin is not None:
        span = stray.origin.site.span
        name = expression_text(_node_of(conflict, stray), "the tensor")
        places.append(
            Related(span.path, span.start, span.end, message("device.born", tensor=name, device=stray_device.described))
        )
    if isinstance(left, LibraryModule):
        places += constructor_related(analysis, left, None, None)
    places += call_trail(operation.site.frame, limit=3)
    at = operation.site.span
    return Finding(at, text, tuple(places), tuple(_candidates(analysis, conflict, stray, home)))


def _stray_name(value: object) -> str:
    return "the weight of the loss" if isinstance(value, Tensor) else "the other operand"


def _node_of(conflict: DeviceConflict, value: object) -> ast.expr | None:
    """The expression of an operand, if the operation was written with it."""
    operation = conflict.operation
    receiver = operation.target.startswith("Tensor.") or operation.module is None
    nodes = argument_nodes(operation)
    del receiver
    for index, argument in enumerate(operation.args):
        if argument is value and index < len(nodes):
            return nodes[index]
    node = operation.site.node
    if isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg is not None and operation.kwargs.get(keyword.arg) is value:
                return keyword.value
    return None


def _candidates(analysis: Analysis, conflict: DeviceConflict, stray: object, home: Device) -> Iterator[Candidate]:
    """Move the stray operand: at the top of the loop that binds it, where it is used here or by a caller, or where
    a loss got it as its weight."""
    if not isinstance(stray, Tensor):
        return
    operation = conflict.operation
    node, frame = _node_of(conflict, stray), operation.site.frame
    if node is None and operation.module is not None:
        yield from _loss_weight(analysis, operation.module, stray, home)
    for _ in range(6):
        if node is None:
            return
        source = analysis.source_of(frame.path)
        device = _device_expression(frame, home)
        if device is not None:
            name = expression_text(node, "the operand")
            moved = edits.insert_after_node(source, node, f".to({device})")
            if isinstance(node, ast.Name):
                loop = _binding_loop(analysis, source, node)
                if loop is not None:
                    line = edits.insert_line_before(source, loop.body[0], f"{node.id} = {node.id}.to({device})")
                    yield Candidate(message("fix.to_device_loop", tensor=name, device=device), (line,))
            if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
                yield Candidate(message("fix.to_device", tensor=name, device=device), (moved,))
            return
        node, frame = _passed(node, frame)


def _loss_weight(analysis: Analysis, loss: LibraryModule, stray: Tensor, home: Device) -> Iterator[Candidate]:
    if loss.site is None or not isinstance(loss.site.node, ast.Call):
        return
    call, frame = loss.site.node, loss.site.frame
    source = analysis.source_of(frame.path)
    device = _device_expression(frame, home)
    nodes = [*call.args, *(keyword.value for keyword in call.keywords)]
    values = [*loss.args, *loss.kwargs.values()]
    for node, value in zip(nodes, values):
        if value is stray and device is not None:
            name = expression_text(node, "the weight")
            edit = edits.insert_after_node(source, node, f".to({device})")
            yield Candidate(message("fix.to_device", tensor=name, device=device), (edit,))


def _binding_loop(analysis: Analysis, source: SourceText, name: ast.Name) -> ast.For | None:
    """The loop around a use that binds the name and does not rebind it before the use."""
    tree = analysis.tree(source.path)
    loops = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.For)
        and node.lineno <= name.lineno <= (node.end_lineno or node.lineno)
        and any(isinstance(part, ast.Name) and part.id == name.id for part in ast.walk(node.target))
    ]
    if not loops:
        return None
    loop = max(loops, key=lambda node: node.lineno)
    if loop.body[0].lineno == loop.lineno:
        return None
    rebound = any(
        isinstance(part, ast.Name) and part.id == name.id and isinstance(part.ctx, ast.Store)
        for statement in loop.body
        for part in ast.walk(statement)
    )
    return None if rebound else loop


def _device_expression(frame: Frame, home: Device) -> str | None:
    """How this frame can name the device: a variable, or an attribute of self."""
    scopes = [frame.names, *frame.closure, frame.globals]
    for names in scopes:
        for name, value in names.items():
            if isinstance(value, Device) and value == home and isinstance(name, str):
                return name
    if isinstance(frame.receiver, Instance) and frame.function is not None and frame.function.node.args.args:
        first = frame.function.node.args.args[0].arg
        for name, value in frame.receiver.slots.items():
            if isinstance(value, Device) and value == home:
                return f"{first}.{name}"
    if not home.symbolic and home.kind != "cpu":
        return f'"{home}"'
    return None


def _passed(node: ast.expr, frame: Frame) -> tuple[ast.expr | None, Frame]:
    """The argument that a parameter's value was passed as, in the calling frame."""
    function, call, caller = frame.function, frame.call, frame.caller
    if not isinstance(node, ast.Name) or function is None or call is None or caller is None:
        return None, frame
    names = [argument.arg for argument in (*function.node.args.posonlyargs, *function.node.args.args)]
    if node.id not in names:
        return None, frame
    for keyword in call.keywords:
        if keyword.arg == node.id:
            return keyword.value, caller
    position = names.index(node.id) - (1 if function.owner is not None else 0)
    return (call.args[position], caller) if 0 <= position < len(call.args) else (None, frame)


RULE = Rule(CODE, "device-mismatch", "error", "device", __doc__, find)
