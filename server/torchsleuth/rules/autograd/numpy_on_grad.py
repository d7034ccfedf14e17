"""numpy-on-grad: numpy() on a tensor that requires grad.

What it finds
    .numpy() on a parameter, or on anything computed from one while autograd records; and functions such as np.array that
    call it.
Why it hurts
    PyTorch raises "Can't call numpy() on Tensor that requires grad".
Example
    scores = model(x).cpu().numpy()
Use instead
    scores = model(x).detach().cpu().numpy()
Fix safety
    Safe: an array has no graph in any case.
References
    torch.Tensor.numpy
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import callers_may_stop_recording, faults
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_display, is_method_call, is_plain_call
from torchsleuth.values.graph import AutogradFault

CODE = "TS409"
_MOVES = frozenset({"cpu", "to", "float", "double", "clone", "contiguous"})


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in faults(analysis, "numpy"):
        node, source = fault.at.node, fault.at.source
        if not is_plain_call(node) or callers_may_stop_recording(analysis, fault.at):
            continue
        if is_attribute(node.func, "numpy"):
            tensors, call = [node.func.value], "numpy()"
        else:
            tensors, call = _given(node), source.segment(node.func)
            if fault.text and tensors[0] is node.args[0]:
                yield _of_list(analysis, fault, node, tensors[0])
                continue
        text = message("grad.numpy", tensor=f"`{source.segment(tensors[0])}`", call=call)
        detached = tuple(edits.insert_after_node(source, _moved(tensor), ".detach()") for tensor in tensors)
        title = message("fix.detach_numpy", call=call)
        yield Finding(fault.at.span, text, (), (Candidate(title, detached),))


def _of_list(analysis: Analysis, fault: AutogradFault, call: ast.Call, given: ast.expr) -> Finding:
    """A list of tensors: they are detached where they are put into it, or where it is read."""
    source = fault.at.source
    name, function = source.segment(given), source.segment(call.func)
    fixes: list[Candidate] = []
    for part in analysis.index(source.path).nodes:
        put = is_method_call(part, "append")
        if isinstance(part, ast.Call) and put and source.segment(part.func) == f"{name}.append" and part.args:
            text = source.segment(part.args[0])
            edit = edits.insert_after_node(source, part.args[0], ".item()")
            title = message("fix.append", expression=text, suffix=".item()")
            fixes.append(Candidate(title, (edit,), safe=False))
    new = f"[part.detach() for part in {name}]"
    fixes.append(Candidate(message("fix.replace", old=name, new=new), (edits.replace(source, given, new),)))
    return Finding(fault.at.span, message("grad.numpy.list", name=name, call=function), (), fixes)


def _given(call: ast.Call) -> list[ast.expr]:
    """The tensors that a function of NumPy is given: its first argument, or what that lists."""
    first = call.args[0]
    if isinstance(first, ast.ListComp | ast.GeneratorExp):
        return [first.elt]
    return first.elts if is_display(first) and first.elts else [first]


def _moved(node: ast.expr) -> ast.expr:
    """The tensor before it is moved or converted."""
    while is_method_call(node, *_MOVES):
        node = node.func.value
    return node


RULE = Rule(FAULTS[CODE], find)
