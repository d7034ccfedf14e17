"""device-mismatch: operands on different devices.

What it finds
    Operators, models and losses whose operands live on different devices: a model on the accelerator with an input
    left on the CPU, a target, a loss weight, a hidden state, an index; and lengths on the accelerator for
    pack_padded_sequence, which reads them on the CPU. A device that is "cuda when available" counts
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

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import DeviceConflict, LibraryCall, Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import constructor_related, passed_for
from torchsleuth.rules.evidence.describe import call_trail, expression_text, layer_text, operator_text, origin_trail
from torchsleuth.rules.evidence.devices import (
    binding_loop,
    device_expression,
    device_of_another,
    is_device,
    node_of,
    not_moved,
    stray_of,
    strays,
)
from torchsleuth.rules.evidence.operands import FACTORIES, append, birth
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.schema import Related, Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import bindings_of, given_to, is_method_call, is_name, names_in, nodes_in
from torchsleuth.tensors.device import CPU, Device
from torchsleuth.values import Instance, LibraryModule, Site, Tensor, Value
from torchsleuth.values.frames import Scene

CODE = "TS201"
_PACKS = "torch.nn.utils.rnn.pack_padded_sequence"


def find(analysis: Analysis) -> Iterator[Finding]:
    for conflict in analysis.trace.conflicts:
        yield _finding(analysis, conflict)
    seen: set[Span] = set()
    for call in analysis.trace.calls:
        lengths = as_kind(call.given(1, "lengths"), Tensor) if call.path == _PACKS else None
        if lengths is not None and call.site.span not in seen:
            device = lengths.spec.device
            if device is not None and device != CPU and device.kind != "meta":
                seen.add(call.site.span)
                yield _of_lengths(call, lengths, device)


def _of_lengths(call: LibraryCall, lengths: Tensor, device: Device) -> Finding:
    """Lengths of sequences, which are read on the CPU wherever the sequences are."""
    node, source = call.site.call, call.site.source
    written = (
        [*node.args[1:2], *(part.value for part in node.keywords if part.arg == "lengths")] if node is not None else []
    )
    name = expression_text(written[0] if written else None, "the tensor of lengths")
    text = message("device.numpy", tensor=name, device=device.described, call=call.name)
    candidates = tuple(
        Candidate(message("fix.append", expression=name, suffix=".cpu()"), (append(source, part, ".cpu()"),))
        for part in written[:1]
    )
    places = (*origin_trail(lengths, name), *call_trail(call.site.scene, limit=2))
    own = call.site.span
    kept = tuple(place for place in places if place.span != own)
    return Finding(own, text, kept, candidates)


def _finding(analysis: Analysis, conflict: DeviceConflict) -> Finding:
    operation = conflict.operation
    (left_kind, left_device, left), (_, right_device, right) = conflict.left, conflict.right
    stray, stray_device, home = stray_of(conflict)
    left_node, right_node = node_of(conflict, left), node_of(conflict, right)
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
            right=expression_text(right_node, _stray_name(operation)),
            right_device=right_device.described,
            operator=operator_text(operation),
        )
    places: list[Related] = []
    if isinstance(stray, Tensor) and stray.origin is not None:
        span = stray.origin.site.span
        name = expression_text(node_of(conflict, stray), "the tensor")
        places.append(span.related(message("device.born", tensor=name, device=stray_device.described)))
    if isinstance(left, LibraryModule):
        places += constructor_related(left, None, None)
    places += call_trail(operation.site.scene, limit=3)
    at = operation.site.span
    return Finding(at, text, tuple(places), _candidates(analysis, conflict, stray, home))


def _stray_name(operation: Operation) -> str:
    return "the weight of the loss" if operation.module is not None else "the other operand"


def _candidates(analysis: Analysis, conflict: DeviceConflict, stray: Value, home: Device) -> Iterator[Candidate]:
    """Move the stray operand: at the top of the loop that binds it, where it is used here or by a caller, where a loss
    got it as its weight, or where it was made; a module, where it was constructed."""
    operation = conflict.operation
    if isinstance(stray, LibraryModule):
        yield from _moved_module(analysis, conflict, stray, home)
        stray = conflict.right[2]
        home = CPU
    if not isinstance(stray, Tensor):
        return
    node, frame = node_of(conflict, stray), operation.site.scene
    if node is None and operation.module is not None:
        yield from _loss_weight(analysis, operation.module, stray, home)
    born = birth(stray)
    inside = born is not None and node is not None and any(part is born.call for part in ast.walk(node))
    if inside:
        yield from _made_there(conflict, stray, home)
    yield from _all_where_used(conflict, home)
    yield from _where_used(analysis, conflict, stray, home, node, frame)
    if not inside:
        yield from _made_there(conflict, stray, home)


def _made_there(conflict: DeviceConflict, stray: Tensor, home: Device) -> Iterator[Candidate]:
    """The device for the function that made the stray operand."""
    born = birth(stray)
    if born is None or born.name not in FACTORIES or any(keyword.arg == "device" for keyword in born.call.keywords):
        return
    device = device_expression(born.site.scene, home, born.call)
    if device is None and born.site.scene == conflict.operation.site.scene:
        device = device_of_another(conflict, stray)
    if device is not None:
        text = f"device={device}"
        yield added_argument(born.site.source, born.call, text)


def _all_where_used(conflict: DeviceConflict, home: Device) -> Iterator[Candidate]:
    """Several operands that are left behind, moved together."""
    site = conflict.operation.site
    found = [used for used in strays(conflict) if used.node is not None]
    device = device_expression(site.scene, home) or device_of_another(conflict, stray_of(conflict)[0])
    if len(found) > 1 and device is not None and home != CPU:
        source = site.source
        names = ", ".join(used.text() for used in found)
        changes = tuple(append(source, used.node, f".to({device})") for used in found if used.node is not None)
        yield Candidate(message("fix.to_device", tensor=names, device=device), changes)


def _where_used(
    analysis: Analysis, conflict: DeviceConflict, stray: Tensor, home: Device, node: ast.expr | None, frame: Scene
) -> Iterator[Candidate]:
    here, own = frame, list[Candidate]()
    for _ in range(6):
        if node is None:
            break
        source = analysis.source_of(frame.path)
        device = device_expression(frame, home, node) if home != CPU else '"cpu"'
        if device is None and frame == here:
            device = device_of_another(conflict, stray)
        if device is not None:
            name = expression_text(node, "the operand")
            moved = append(source, node, f".to({device})" if home != CPU else ".cpu()")
            if isinstance(node, ast.Name):
                loop = binding_loop(analysis, source, node)
                if loop is not None and home != CPU:
                    line = edits.insert_line_before(source, loop.body[0], f"{node.id} = {node.id}.to({device})")
                    yield Candidate(message("fix.to_device_loop", tensor=name, device=device), (line,))
            made = Candidate(message("fix.to_device", tensor=name, device=device), (moved,))
            if _is_input(frame, node):
                own.append(made)
            else:
                yield made
            if isinstance(node, ast.Name) and home != CPU:
                yield from _after_binding(analysis, frame, node, device)
        outer = passed_for(node, frame)
        if outer is None and (whole := _taken_from(frame, node)) is not None:
            outer = passed_for(whole, frame)
        if outer is None:
            break
        node, frame = outer
    yield from own


def _is_input(frame: Scene, node: ast.expr) -> bool:
    """Whether an operand is what a model was called with: callers move it, the model does not."""
    function = frame.function
    if function is None or function.name != "forward" or not isinstance(node, ast.Name):
        return False
    return node.id in {argument.arg for argument in function.node.args.args}


def _taken_from(frame: Scene, node: ast.expr) -> ast.Name | None:
    """The variable that a part was taken from: ``edges`` for ``target``, behind ``source, target = edges``."""
    if not isinstance(node, ast.Name) or frame.function is None:
        return None
    for part in nodes_in(frame.function.node, ast.Assign):
        if part.lineno < node.lineno:
            stored = names_in(*part.targets)
            whole = as_kind(part.value.value if isinstance(part.value, ast.Subscript) else part.value, ast.Name)
            if node.id in stored and whole is not None:
                return whole
    return None


def _after_binding(analysis: Analysis, frame: Scene, name: ast.Name, device: str) -> Iterator[Candidate]:
    """``x = x.to(device)`` behind the statement that gives the name its value, or behind the last one of those that move
    what is made with it."""
    source, tree = analysis.source_of(frame.path), analysis.tree(frame.path)
    scope: ast.AST = frame.function.node if frame.function is not None else tree
    before = [
        part
        for part in nodes_in(scope, ast.Assign)
        if part.lineno < name.lineno and any(is_name(to, name.id) for target in part.targets for to in ast.walk(target))
    ]
    known = [part.lineno for part in bindings_of(device.partition(".")[0], scope)]
    if before and (not known or min(known) < before[-1].lineno) and device != f"{name.id}.device":
        line = edits.insert_line_after(source, before[-1], f"{name.id} = {name.id}.to({device})")
        text = expression_text(name, "the tensor")
        yield Candidate(message("fix.to_device_after", tensor=text, device=device, line=before[-1].lineno), (line,))


def _moved_module(
    analysis: Analysis, conflict: DeviceConflict, layer: LibraryModule, home: Device
) -> Iterator[Candidate]:
    """A model that was never moved: moved where it is constructed. One that is in place may have got a new layer since."""
    yield from _moved_attribute(analysis, conflict.operation.site, home)
    left = not_moved(conflict.operation.site, home)
    for site in (*(module.site for module in reversed(left)), layer.site):
        if site is None or site.call is None:
            continue
        device = device_expression(site.scene, home, site.call)
        if device is not None:
            source = site.source
            edit = edits.insert_after_node(source, site.call, f".to({device})")
            name = f"`{source.segment(site.call.func)}`"
            yield Candidate(message("fix.to_device", tensor=name, device=device), (edit,))
            return


def _moved_attribute(analysis: Analysis, site: Site, home: Device) -> Iterator[Candidate]:
    """A model that an object keeps, moved where its ``__init__`` keeps it: ``self.teacher = teacher.to(device)``."""
    node, owner = site.node, as_kind(site.scene.receiver, Instance)
    if not is_method_call(node) or owner is None:
        return
    function, kept = site.scene.function, node.func
    first = function.node.args.args[:1] if function is not None else []
    if owner.cls.path != site.scene.path or not first or not isinstance(kept.value, ast.Name):
        return
    started = next((part for part in of_kind(owner.cls.node.body, ast.FunctionDef) if part.name == "__init__"), None)
    if kept.value.id != first[0].arg or started is None:
        return
    values = {
        target.attr: statement.value
        for statement in nodes_in(started, ast.Assign)
        for target in of_kind(statement.targets, ast.Attribute)
    }
    parameters = {argument.arg for argument in started.args.args}
    devices = [
        value.id
        for name, value in values.items()
        if is_name(value, *parameters) and is_device(owner.slots.get(name), home)
    ]
    value = values.get(kept.attr)
    if value is not None and devices:
        source = analysis.source_of(site.scene.path)
        name = f"`{ast.unparse(kept)}`"
        moved = append(source, value, f".to({devices[0]})")
        yield Candidate(message("fix.to_device", tensor=name, device=devices[0]), (moved,))


def _loss_weight(analysis: Analysis, loss: LibraryModule, stray: Tensor, home: Device) -> Iterator[Candidate]:
    if loss.site is None or loss.site.call is None:
        return
    call, frame = loss.site.call, loss.site.scene
    source = analysis.source_of(frame.path)
    device = device_expression(frame, home, call)
    nodes = given_to(call)
    values = [*loss.args, *loss.kwargs.values()]
    for node, value in zip(nodes, values):
        if value is stray and device is not None:
            name = expression_text(node, "the weight")
            edit = edits.insert_after_node(source, node, f".to({device})")
            yield Candidate(message("fix.to_device", tensor=name, device=device), (edit,))
    while frame.returned is loss and frame.call is not None and frame.caller is not None:
        # A function that builds the loss and knows no device: the loss that it returns, moved as a whole.
        made, frame = frame.call, frame.caller
        device = device_expression(frame, home, made)
        if device is not None:
            edit = edits.insert_after_node(analysis.source_of(frame.path), made, f".to({device})")
            yield Candidate(message("fix.to_device", tensor=expression_text(made, "the loss"), device=device), (edit,))
            return


RULE = Rule(FAULTS[CODE], find)
