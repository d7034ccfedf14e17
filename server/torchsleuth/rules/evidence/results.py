"""Repairs of code that takes a result of several parts for one tensor: values with indices, an output with its state."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import place_in_list
from torchsleuth.rules.evidence.operands import lineage, package_name, replaced, short
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.sifting import any_are, as_kind, first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import nodes_in
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import DictValue, NamedResult, Record, Tensor, Value, origin_of

_SCORES = ("logits", "out")
_RECURRENT = ("RNN", "LSTM", "GRU")


def one_part(failure: OperatorFailure) -> Iterator[Candidate]:
    """The part that is meant, where a tuple of tensors is given to an operator: ``x.max(dim=1).values``, ``out, _ = …``."""
    operation = failure.operation
    node, source = operation.site.call, operation.site.source
    for argument in node.args if node is not None else ():
        value = _value(operation, argument)
        suffix = _part(value)
        if suffix is None:
            continue
        if isinstance(argument, ast.Call):
            edit = edits.insert_after_node(source, argument, suffix)
            yield Candidate(message("fix.append", expression=short(source.segment(argument)), suffix=suffix), (edit,))
        for statement in _assignments(operation):
            target, made = as_kind(statement.targets[0], ast.Name), statement.value
            if target is None or not isinstance(argument, ast.Name) or target.id != argument.id:
                continue
            if type(value) is not tuple or len(value) != 2:
                title = message("fix.append", expression=short(source.segment(made)), suffix=suffix)
                yield Candidate(title, (edits.insert_after_node(source, made, suffix),))
            else:
                new = f"{target.id}, _"
                title = message("fix.replace", old=target.id, new=new)
                yield Candidate(title, (edits.replace(source, target, new),))


def _part(value: Value) -> str | None:
    """How the tensor that is meant is written after a result that holds several: the scores of a model, where it says
    so, or else the first."""
    match value:
        case NamedResult() if any_are(value, Tensor):
            return f".{next((name for name in _SCORES if name in value.fields), value.fields[0])}"
        case Record() if value.items and any_are(value.elements, Tensor):
            return f".{next((name for name in _SCORES if name in value.items), next(iter(value.items)))}"
        case tuple():
            return "[0]" if value and isinstance(value[0], Tensor) else None
        case DictValue() if value.items:
            tensors = [name for name, item in value.items.items() if isinstance(item, Tensor) and isinstance(name, str)]
            name = next((name for name in _SCORES if name in tensors), tensors[0] if tensors else None)
            return None if name is None else f'["{name}"]'
    return None


def state_unpacked(analysis: Analysis, failure: OperatorFailure) -> Iterator[Candidate]:
    """``_, (hidden, _) = lstm(x)`` where the pair of states is taken for one of them."""
    operation = failure.operation
    source, path = operation.site.source, operation.site.span.path
    for statement in _assignments(operation):
        target, span = as_kind(statement.targets[0], ast.Tuple), source.span(statement.value)
        if target is None or len(target.elts) != 2 or not isinstance(target.elts[1], ast.Name):
            continue
        name = target.elts[1]
        value = as_kind(operation.site.scene.names.get(name.id), tuple)
        made = (
            other for other in analysis.trace.operations if other.site.span == span and other.site.span.path == path
        )
        states = any(other.module is not None and other.module.type_name == "LSTM" for other in made)
        if states and value is not None and len(value) == 2:
            new = f"({name.id}, _)"
            yield Candidate(message("fix.replace", old=name.id, new=new), (edits.replace(source, name, new),))


def pair_in_sequence(analysis: Analysis, failure: OperatorFailure) -> tuple[SourceText, ast.Call] | None:
    """The recurrent layer in a Sequential that hands its pair of output and state to the layer behind it, which fails."""
    operation = failure.operation
    layer = operation.module
    place = place_in_list(analysis, layer) if layer is not None and "not tuple" in failure.failure.message else None
    if place is None or operation.written or place[2] == 0:
        return None
    source, elements, index = place
    before = as_kind(elements[index - 1], ast.Call)
    recurrent = before is not None and ast.unparse(before.func).endswith(_RECURRENT)
    return (source, before) if recurrent and before is not None else None


def last_step(analysis: Analysis, failure: OperatorFailure) -> Iterator[Candidate]:
    """A module between a recurrent layer and the next one of a Sequential, which picks the output of the last step."""
    found = pair_in_sequence(analysis, failure)
    if found is None or failure.operation.module is None or failure.operation.module.site is None:
        return
    (source, before), site = found, failure.operation.module.site
    package = package_name(site, "torch.nn")
    first = any(part.arg == "batch_first" and ast.unparse(part.value) == "True" for part in before.keywords)
    outer = analysis.trail(source.path, before)
    statement = first_of(outer, ast.stmt)
    if package is None or statement is None or getattr(statement, "decorator_list", []):
        return
    last = "[:, -1]" if first else "[-1]"
    for name, step in (("LastStep", last), ("AllSteps", "")):
        if name not in site.scene.globals:
            lines = f"class {name}({package}.Module):", "    def forward(self, result):", "        output, _ = result"
            text = "\n".join((*lines, f"        return output{step}", "", "", ""))
            changes = (
                edits.insert(source, source.start_of(statement), text.replace("\n", edits.line_ending(source))),
                edits.insert_after_node(source, before, f", {name}()"),
            )
            yield Candidate(message("fix.insert", text=f"{name}()"), changes, safe=False)


def both_directions(analysis: Analysis, tensor: Tensor) -> Iterator[Candidate]:
    """``torch.cat([h[-2], h[-1]], dim=-1)`` for the last state of a recurrent layer that runs in both directions."""
    for _, operation in lineage(analysis, tensor):
        node, torch = as_kind(operation.site.node, ast.Subscript), package_name(operation.site, "torch")
        if operation.target != "operator.getitem" or node is None:
            continue
        state = operation.args[0] if operation.args[1:] in ((-1,), (0,)) else None
        made = origin_of(state)
        layer = analysis.operation_of(made)
        module = layer.module if layer is not None else None
        if module is not None and module.kwargs.get("bidirectional") is True and torch is not None:
            source = operation.site.source
            states = source.segment(node.value)
            first, second = ("-2", "-1") if operation.args[1] == -1 else ("0", "1")
            text = f"{torch}.cat([{states}[{first}], {states}[{second}]], dim=-1)"
            yield replaced(operation.site, node, text)
        return


def _value(operation: Operation, argument: ast.expr) -> Value:
    """The value of an argument as it is written."""
    node = operation.site.call
    place = node.args.index(argument) if node is not None else 0
    shift = 1 if operation.module is None and operation.target.startswith("Tensor.") else 0
    return operation.args[place + shift] if place + shift < len(operation.args) else None


def _assignments(operation: Operation) -> Iterator[ast.Assign]:
    """The assignments to one target in the function around an operation, or in the script."""
    for part in nodes_in(operation.site.scene.scope, ast.Assign):
        if len(part.targets) == 1 and isinstance(part.value, ast.Call):
            yield part
