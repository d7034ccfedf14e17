"""list-for-tensor: a list that the default collate made, used as a tensor.

What it finds
    The batch of a loader, or a part of it, that is a list of tensors, where it is moved, converted, computed with, or
    given to a layer or a loss. The default collate makes a list of every tuple and of every list in a sample: also of a
    sample with one part, and of a list of numbers, which becomes one tensor for each number.
Why it hurts
    AttributeError "'list' object has no attribute 'to'", or TypeError "must be Tensor, not list".
Example
    for batch in DataLoader(TensorDataset(x), batch_size=32):
        out = model(batch.to(device))
Use instead
    for (batch,) in DataLoader(TensorDataset(x), batch_size=32):
        out = model(batch.to(device))
Fix safety
    Unpacking a batch of one part is safe, and so is moving the parts of a batch one by one. For a list of numbers in a
    sample, a tensor is made of it where the sample is made.
References
    torch.utils.data.default_collate, torch.utils.data.TensorDataset
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import option
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import constructions, spelled
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import given_to, is_attribute, is_display, is_dotted, is_name, nodes_in, parts_of_tuple
from torchsleuth.values import Function, ListValue, Tensor, Value
from torchsleuth.values.frames import Scene

CODE = "TS618"
_MOVES = ("to", "cuda", "cpu", "float", "long", "double", "half")


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        made = as_kind(fault.values[0], ListValue) if fault.kind == "list" else None
        if made is not None:
            count = len(made.items or ())
            key = "data.list.one" if count == 1 else "data.list"
            if "collated" not in made.slots:
                user = f"`{fault.at.source.segment(getattr(fault.at.node, 'func', fault.at.node))}`"
                text = message("data.list.plain", name=_name(fault, made), user=user)
            else:
                text = message(key, name=_name(fault, made), count=count)
            yield Finding(fault.at.span, text, (), _repairs(analysis, fault, made))


def _name(fault: DataFault, made: ListValue) -> str:
    node = _expression(fault, made)
    return f"`{fault.at.source.segment(node)}`" if node is not None else "this"


def _expression(fault: DataFault, made: ListValue) -> ast.expr | None:
    """The expression whose value the list is, at the place where it is used."""
    node = fault.at.node
    if isinstance(node, ast.Attribute):
        return node.value
    given = given_to(node)
    if isinstance(node, ast.BinOp):
        given = [node.left, node.right]
    names = fault.at.scene.names
    return next((part for part in of_kind(given, ast.Name) if names.get(part.id) is made), None)


def _repairs(analysis: Analysis, fault: DataFault, made: ListValue) -> Iterator[Candidate]:
    items = made.items or ()
    path = made.slots.get("collated")
    if "collated" not in made.slots:
        yield from _stacked(analysis, fault, made)
        return
    if path == () and len(items) == 1:
        yield from _unpacked(analysis, fault, made)
    if path == ():
        yield from _one_by_one(analysis, fault)
        yield from _first_part(fault, made)
    elif all(isinstance(item, Tensor) and len(item.spec.shape or ()) == 1 for item in items):
        yield from _made_tensor(analysis, fault, made)
    else:
        yield from _one_by_one(analysis, fault)


def _bound(fault: DataFault, made: ListValue) -> Iterator[tuple[str, Scene]]:
    """The names that hold the list, in the frames that lead to its use; there, also the one that it is called by."""
    frame: Scene | None = fault.at.scene
    node = fault.at.node
    if is_dotted(node):
        if fault.at.scene.names.get(node.value.id) is not made:
            yield node.value.id, fault.at.scene
    while frame is not None:
        for name, value in frame.names.items():
            if isinstance(name, str) and (value is made or _is_like(value, made)):
                yield name, frame
        frame = frame.caller


def _is_like(value: Value, made: ListValue) -> bool:
    """Whether a value is another batch of the same samples: a loop variable holds the last one in the end."""
    slots = ("collated", "getitem")
    return (
        isinstance(value, ListValue)
        and "collated" in value.slots
        and len(value.items or ()) == len(made.items or ())
        and all(value.slots.get(slot) == made.slots.get(slot) for slot in slots)
    )


def _unpacked(analysis: Analysis, fault: DataFault, made: ListValue) -> Iterator[Candidate]:
    """``for (batch,) in loader``."""
    for name, frame in _bound(fault, made):
        source = analysis.source_of(frame.path)
        for loop in analysis.index(frame.path).nodes:
            if not isinstance(loop, ast.For | ast.comprehension):
                continue
            target = loop.target
            parts = parts_of_tuple(target)
            held = next((part for part in parts if is_name(part, name)), None)
            if held is not None:
                yield Candidate(message("fix.unpack", name=name), (edits.replace(source, held, f"({name},)"),))


def _first_part(fault: DataFault, made: ListValue) -> Iterator[Candidate]:
    """``model(batch[0])``, where the whole batch is given to a layer."""
    node = _expression(fault, made)
    if node is not None and fault.at.call is not None and len(made.items or ()) > 1:
        source, text = fault.at.source, ast.unparse(node)
        edit = edits.insert_after_node(source, node, "[0]")
        yield Candidate(message("fix.append", expression=text, suffix="[0]"), (edit,), safe=False)


def _one_by_one(analysis: Analysis, fault: DataFault) -> Iterator[Candidate]:
    """``[part.to(device) for part in batch]``."""
    node = fault.at.node
    if not is_attribute(node, *_MOVES) or not isinstance(node.value, ast.Name):
        return
    source = fault.at.source
    for call in analysis.index(fault.at.span.path).of_type(ast.Call):
        if source.span(call.func) == fault.at.span:
            arguments = source.segment(call)[len(source.segment(call.func)) :]
            text = f"[part.{node.attr}{arguments} for part in {node.value.id}]"
            yield replacement(source, call, text)


def _made_tensor(analysis: Analysis, fault: DataFault, made: ListValue) -> Iterator[Candidate]:
    """A tensor in the sample in place of the list."""
    path = made.slots["collated"]
    method = as_kind(made.slots.get("getitem"), Function)
    if method is not None:
        source = analysis.source_of(method.path)
        for part in nodes_in(method.node, ast.Return):
            if part.value is None:
                continue
            element = _at(part.value, path)
            if element is not None:
                name, imports = spelled(analysis, method.path, "torch.tensor")
                text = f"{name}({source.segment(element)})"
                title = message("fix.replace", old=source.segment(element), new=text)
                yield Candidate(title, (*imports, edits.replace(source, element, text)))
    use = _expression(fault, made)
    if use is not None:
        source = fault.at.source
        stack, imports = spelled(analysis, fault.at.span.path, "torch.stack")
        double = any(item.spec.dtype == "float64" for item in of_kind(made.items or (), Tensor))
        text = f"{stack}({source.segment(use)}, dim=1){'.float()' if double else ''}"
        title = message("fix.replace", old=source.segment(use), new=text)
        yield Candidate(title, (*imports, edits.replace(source, use, text)))


def _stacked(analysis: Analysis, fault: DataFault, made: ListValue) -> Iterator[Candidate]:
    """``torch.stack(images)``: where a collate function returns the list, else where it is used."""
    for function in of_kind((option(loader, "collate_fn") for _, loader, _ in constructions(analysis)), Function):
        if not isinstance(function.node, ast.FunctionDef):
            continue
        for part in nodes_in(function.node, ast.Return):
            if isinstance(part.value, ast.Tuple):
                for element in of_kind(part.value.elts, ast.Name, ast.ListComp):
                    yield _wrapped(analysis, function.path, element)
    use = _expression(fault, made)
    if use is None and fault.at.call is not None and fault.at.call.args:
        use = fault.at.call.args[0]
    if use is not None:
        yield _wrapped(analysis, fault.at.span.path, use)


def _wrapped(analysis: Analysis, path: str, node: ast.expr) -> Candidate:
    source = analysis.source_of(path)
    stack, imports = spelled(analysis, path, "torch.stack")
    text = f"{stack}({source.segment(node)})"
    return Candidate(
        message("fix.replace", old=source.segment(node), new=text), (*imports, edits.replace(source, node, text))
    )


def _at(value: ast.expr, path: tuple[object, ...]) -> ast.expr | None:
    """The expression at a place of a sample."""
    if len(path) != 1:
        return None
    place = path[0]
    if is_display(value) and isinstance(place, int) and place < len(value.elts):
        return value.elts[place]
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values)
        return next((part for key, part in pairs if isinstance(key, ast.Constant) and key.value == place), None)
    return None


RULE = Rule(FAULTS[CODE], find)
