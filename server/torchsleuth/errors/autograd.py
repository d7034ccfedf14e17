"""Gradients that cannot flow: cut graphs, freed graphs, in-place changes, losses that are no scalar."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.case import Case
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import append, convert_receiver, replace
from torchsleuth.errors.functions import applied
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    contains,
    is_attribute,
    is_function_call,
    is_method_call,
    is_name,
    names_in,
    nodes_in,
    returned_by,
    stands_on,
    stored_in,
    targets_of,
)


def _receiver(case: Case) -> ast.expr | None:
    """``loss`` of ``loss.backward()``."""
    node = case.frame.node
    if isinstance(node, ast.Attribute):
        return node.value
    return node.func.value if is_method_call(node) else None


def _assignments(case: Case, name: str) -> list[ast.Assign | ast.AugAssign]:
    """Assignments to a variable above the failing line in its function, the nearest first."""
    found = [
        node
        for node in nodes_in(case.frame.enclosing, ast.Assign, ast.AugAssign)
        if node.lineno <= case.frame.line and any(is_name(target, name) for target in targets_of(node))
    ]
    return sorted(found, key=lambda node: -node.lineno)


def _cut_fixes(case: Case) -> Iterator[Fix]:
    """Take out of the loss's own assignments what cuts the graph: item, detach, data, numpy, or a second torch.tensor."""
    receiver = as_kind(_receiver(case), ast.Name)
    if receiver is None:
        return
    for assignment in _assignments(case, receiver.id):
        for value in [assignment.value, *_returned(case, assignment.value)]:
            cuts = [node for node in ast.walk(value) if _cut(node) is not None]
            if cuts:
                without = tuple(_without(case, node) for node in cuts if not _inside(node, cuts))
                title = message("fix.keep_graph", expression=case.frame.text(value).splitlines()[0][:60])
                yield Fix(title, without)
                return


def _rewrapped(case: Case) -> bool:
    """Whether the loss is a new tensor, made of a number: ``torch.tensor(loss.item())``."""
    receiver = _receiver(case)
    nearest = _assignments(case, receiver.id)[:1] if isinstance(receiver, ast.Name) else []
    made = [assignment.value for assignment in nearest] or ([receiver] if receiver is not None else [])
    return any(is_method_call(value, "tensor", "as_tensor") and _cut(value) is not None for value in made)


def _returned(case: Case, value: ast.expr) -> list[ast.expr]:
    """The expressions that a function of the same file computes its result from, if the value is a call of one."""
    name = value.func.id if is_function_call(value) else None
    for function in case.frame.all(ast.FunctionDef):
        if function.name == name:
            returns = returned_by(function)
            names = names_in(*returns)
            assigned = [
                node.value
                for node in nodes_in(function, ast.Assign, ast.AugAssign)
                if any(is_name(target, *names) for target in targets_of(node))
            ]
            return [*returns, *assigned]
    return []


def _inside(node: ast.AST, others: list[ast.AST]) -> bool:
    return any(node is not other and node in list(ast.walk(other)) for other in others)


def _cut(node: ast.AST) -> ast.expr | None:
    """The expression that keeps its graph inside one that drops it."""
    if is_method_call(node):
        function = node.func
        if function.attr in ("item", "detach", "tolist") and not node.args:
            return function.value
        if function.attr in ("tensor", "as_tensor") and is_name(function.value, "torch") and node.args:
            inner = as_kind(node.args[0], ast.Name, ast.Call, ast.BinOp)
            return _cut(inner) or inner if inner is not None else None
    if isinstance(node, ast.Call) and is_name(node.func, "float") and len(node.args) == 1:
        return node.args[0]
    if is_attribute(node, "data"):
        return node.value
    return None


def _without(case: Case, node: ast.AST) -> Edit:
    kept = _cut(node)
    assert kept is not None
    return edits.replace(case.frame.source, node, case.frame.text(kept))


def _detached(case: Case) -> Iterator[Fix]:
    """What one step of the loop around the failing line hands to the next, without its graph."""
    frame = case.frame
    loop = next((node for node in nodes_in(frame.tree, ast.For, ast.While) if stands_on(node, frame.line)), None)
    if loop is None:
        return
    for name, may_be_none in _carried(loop):
        at = frame.source.start_of(loop.body[0])
        indent = edits.indentation(frame.source, loop.body[0].lineno)
        ending = edits.line_ending(frame.source)
        line = f"{name} = {name}.detach()"
        if may_be_none:
            line = f"if {name} is not None:{ending}{indent}    {line}"
        change = edits.insert(frame.source, at, line + ending + indent)
        yield Fix(message("fix.detach_carried", name=name), (change,))


def _twice_fixes(case: Case) -> Iterator[Fix]:
    """Detach what one step hands to the next; else, for two losses of one graph, keep it for the second."""
    frame = case.frame
    if _receiver(case) is None:
        return
    yield from _detached(case)
    yield from _shared_fixes(case)
    for call_node in _backward_calls(case):
        if call_node.lineno < frame.line and not call_node.args and not call_node.keywords:
            inside = frame.source.position(frame.source.offset(frame.source.end_of(call_node)) - 1)
            yield Fix(
                message("fix.retain_graph", line=call_node.lineno),
                (edits.insert(frame.source, inside, "retain_graph=True"),),
                safe=False,
            )
            return


def _shared_fixes(case: Case) -> Iterator[Fix]:
    """Of two losses that share a value, the first needs only its numbers: ``D(fake)`` → ``D(fake.detach())``."""
    frame = case.frame
    earlier = next((call for call in _backward_calls(case) if call.lineno < frame.line), None)
    if earlier is None:
        return
    computed = {
        target.id: node.lineno
        for node in nodes_in(frame.enclosing, ast.Assign)
        if isinstance(node.value, ast.Call) and node.lineno < earlier.lineno
        for target in of_kind(node.targets, ast.Name)
    }
    uses = [
        argument
        for call in nodes_in(frame.enclosing, ast.Call)
        for argument in of_kind(call.args, ast.Name)
        if argument.lineno > computed.get(argument.id, 1 << 30)
    ]
    for use in uses:
        later = any(other.id == use.id and earlier.lineno < other.lineno <= frame.line for other in uses)
        if use.lineno < earlier.lineno and later:
            yield append(frame, use, ".detach()")


def _carried(loop: ast.For | ast.While) -> Iterator[tuple[str, bool]]:
    """Variables that the loop both passes into a call and gets back from it: ``out, h = rnn(x, h)``; whether they may be
    None at first."""
    for node in nodes_in(loop, ast.Assign):
        if not isinstance(node.value, ast.Call):
            continue
        bound = names_in(*node.targets)
        passed = names_in(*node.value.args)
        receiver = names_in(node.value.func)
        for name in sorted((bound & passed) - receiver):
            if name not in names_in(getattr(loop, "target", ast.Pass())):
                yield name, True


def _backward_calls(case: Case) -> list[ast.Call]:
    """Calls of backward() in the failing function, the last first."""
    found = [node for node in ast.walk(case.frame.enclosing) if is_method_call(node, "backward")]
    return sorted(found, key=lambda node: -node.lineno)


def _no_grad_fixes(case: Case) -> Iterator[Fix]:
    if case.frame.statement is not None:
        wrapped = edits.wrap(case.frame.source, case.frame.statement, "with torch.no_grad():")
        yield Fix(message("fix.no_grad"), wrapped)


def _numpy_fixes(case: Case) -> Iterator[Fix]:
    yield from convert_receiver(".detach()")(case)


def _scalar_fixes(case: Case) -> Iterator[Fix]:
    """``loss.backward()`` → ``loss.mean().backward()``, ``accelerator.backward(loss)`` → ``accelerator.backward(loss.mean())``"""
    receiver = _receiver(case)
    given = [node for node, tensor in case.frame.tensor_operands() if tensor["shape"] and node is not receiver]
    loss = given[0] if given else receiver
    if loss is not None:
        yield append(case.frame, loss, ".mean()")


def _inplace_fixes(case: Case) -> Iterator[Fix]:
    """The in-place statements of the user's files that could have changed the value, in their out-of-place form; else what goes on
    from step to step without its graph, whose weights the optimizer has changed since."""
    for frame in case.frames[:1]:
        for node in ast.walk(frame.tree):
            if isinstance(node, ast.keyword) and node.arg == "inplace" and getattr(node.value, "value", None) is True:
                yield replace(frame, node.value, "False")
            operators = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
            if isinstance(node, ast.AugAssign) and type(node.op) in operators and _in_forward(frame.tree, node):
                target, value = frame.text(node.target), frame.text(node.value)
                yield replace(frame, node, f"{target} = {target} {operators[type(node.op)]} {value}")
    if _is_weight(case):
        yield from _detached(case)


def _is_weight(case: Case) -> bool:
    """Whether what was changed may be a parameter, as it is or transposed: the optimizer has changed it, in a step since."""
    return case.match[3] is None or case.match[3].startswith(("TBackward", "AsStrided"))


def _weight_since(case: Case) -> list[Related]:
    return _carried_here(case) if _is_weight(case) else []


def _in_forward(tree: ast.Module, node: ast.stmt) -> bool:
    return any(
        function.name == "forward" and stands_on(function, node.lineno) for function in nodes_in(tree, ast.FunctionDef)
    )


def _blocks_without_gradients(case: Case) -> list[Related]:
    """Blocks and functions without gradients that make a value of the failing function."""
    found: list[Related] = []
    tree, source = case.frame.tree, case.frame.source
    used = names_in(case.frame.enclosing)
    for node in ast.walk(tree):
        match node:
            case ast.With():
                stored = stored_in(node)
                returns = contains(node, ast.Return)
                places = [item.context_expr for item in node.items] if stored & used or returns else []
            case ast.FunctionDef() if node.name in used:
                places = node.decorator_list
            case _:
                continue
        for place in places:
            if _WITHOUT.search(source.segment(place)):
                span = source.span(place)
                found.append(Related(span.path, span.start, span.end, message("error.without_gradients")))
    return found[:2]


def _custom_backward(case: Case) -> list[Related]:
    """The ``backward`` of the user's function that PyTorch names, and what it returns."""
    for frame in {frame.path: frame for frame in case.frames}.values():
        for node in frame.all(ast.ClassDef):
            if node.name == case.match[1]:
                for method in of_kind(node.body, ast.FunctionDef):
                    if method.name == "backward":
                        returned = list(nodes_in(method, ast.Return))
                        span = frame.source.span(returned[-1] if returned else method)
                        text = message("error.custom_backward.here", name=node.name)
                        return [Related(span.path, span.start, span.end, text)]
    return []


def _carried_here(case: Case) -> list[Related]:
    """Where a value goes from one step of the loop to the next."""
    frame = case.frame
    for loop in nodes_in(frame.tree, ast.For, ast.While):
        if stands_on(loop, frame.line):
            names = [name for name, _ in _carried(loop)]
            for node in nodes_in(loop, ast.Assign) if names else ():
                if names[0] in names_in(*node.targets):
                    span = frame.source.span(node)
                    return [Related(span.path, span.start, span.end, message("error.carried_here", name=names[0]))]
    return []


_WITHOUT = re.compile(r"no_grad|inference_mode|set_grad_enabled\(False\)|set_grad_enabled\(mode=False\)")

ENTRIES = (
    entry(
        "TS199",
        r"Legacy autograd function with non-static forward",
        "error.not_applied",
        applied,
        example="class Sign(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x.sign()\n"
        "Sign()(torch.ones(2))",
    ),
    entry(
        "TS199",
        r"unction (\w+)Backward returned an (?:incorrect number of gradients|invalid gradient)",
        "error.custom_backward",
        related=_custom_backward,
    ),
    entry(
        "TS402",
        r"element \d+ of tensors does not require grad",
        "error.no_graph",
        _cut_fixes,
        related=_blocks_without_gradients,
        applies=_rewrapped,
        example="w = torch.ones(3, requires_grad=True)\nloss = torch.tensor((w * 2).sum().item())\nloss.backward()",
    ),
    entry(
        "TS401",
        r"element \d+ of tensors does not require grad and does not have a grad_fn",
        "error.no_graph",
        _cut_fixes,
        related=_blocks_without_gradients,
        example="w = torch.ones(3, requires_grad=True)\nloss = (w * 2).sum().detach()\nloss.backward()",
    ),
    entry(
        "TS401",
        r"'(float|int|ndarray|numpy\.ndarray)' object has no attribute 'backward'",
        "error.number_backward",
        _cut_fixes,
        example="w = torch.ones(3, requires_grad=True)\nloss = w.sum().item()\nloss.backward()",
    ),
    entry(
        "TS406",
        r"grad can be implicitly created only for scalar outputs",
        "error.not_scalar",
        _scalar_fixes,
        example="w = torch.ones(3, requires_grad=True)\nloss = w * 2\nloss.backward()",
    ),
    entry(
        "TS405",
        r"Trying to backward through the graph a second time",
        "error.backward_twice",
        _twice_fixes,
        related=_carried_here,
        example="w = torch.ones(3, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\nloss.backward()",
    ),
    entry(
        "TS403",
        r"has been modified by an inplace operation: \[(.+?) \[(.*?)\]\](?:, which is output \d+ of ([\w:]+))?,? is at version (\d+); expected version (\d+)",
        "error.inplace",
        _inplace_fixes,
        related=_weight_since,
        example="w = torch.ones(3, requires_grad=True)\ny = w.exp()\ny += 1\ny.sum().backward()",
    ),
    entry(
        "TS404",
        r"a (?:view of a )?leaf Variable that requires grad is being used in an in-place operation",
        "error.inplace_leaf",
        _no_grad_fixes,
        example="w = torch.ones(3, requires_grad=True)\nw += 1",
    ),
    entry(
        "TS409",
        r"Can't call numpy\(\) on Tensor that requires grad",
        "error.numpy_grad",
        _numpy_fixes,
        example="w = torch.ones(3, requires_grad=True)\nw.numpy()",
    ),
    entry(
        "TS401",
        r"Inference tensors cannot be saved for backward|Inplace update to inference tensor|requires_grad=True on inference tensor",
        "error.inference_tensor",
        related=_blocks_without_gradients,
        example="with torch.inference_mode():\n    x = torch.ones(3)\nw = torch.ones(3, requires_grad=True)\n(w * x).sum()",
    ),
    entry(
        "TS413",
        r"can't optimize a non-leaf Tensor",
        "error.non_leaf",
        example="w = torch.ones(3, requires_grad=True) * 2\ntorch.optim.SGD([w], lr=0.1)",
    ),
    entry(
        "TS411",
        r"differentiated Tensors? (?:at index \d+ )?appears? to not have been used in the graph",
        "error.unused_in_graph",
        example="a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)\n"
        "torch.autograd.grad(a.sum(), [b])",
    ),
)
