"""forward-called-directly: model.forward(x) instead of model(x).

What it finds
    A call of the forward method of a module by its name, from outside the module.
Why it hurts
    Hooks are skipped: those of torch.compile, DDP, FSDP, pruning, spectral_norm, profilers and quantisation all hang on
    the call of the module itself.
Example
    logits = model.forward(x)
Use instead
    logits = model(x)
Fix safety
    Safe: without hooks both are the same.
References
    torch.nn.Module.forward
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import by_position, is_method_call
from torchsleuth.syntax.trees import index
from torchsleuth.values import ClassValue, Function, Instance, Value, is_module

CODE = "TS513"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[object] = set()
    for call in analysis.trace.method_calls:
        node = call.site.node
        if not is_method_call(node):
            continue
        if (
            not call.name == node.func.attr == "forward"
        ):  # not where the method is handed over: jacobian(model.forward, x)
            continue
        inside = call.site.scene.receiver is call.receiver or isinstance(node.func.value, ast.Call)
        if inside or not is_module(call.receiver) or call.site.span in reported:
            continue
        if _calls_otherwise(call.receiver) or _in_own_method(analysis, call.site.span.path, node, node.func.value):
            continue
        if isinstance(call.function, Function) and call.function.kind != "function":
            continue
        reported.add(call.site.span)
        source = call.site.source
        name = source.segment(node.func.value)
        fix = Candidate(message("fix.call_module", name=name), (edits.replace(source, node.func, name),))
        yield Finding(call.site.span, message("forward.direct", name=f"`{name}`"), (), (fix,))


def _calls_otherwise(receiver: Value) -> bool:
    """Whether a module's class says itself what a call does."""
    classes = receiver.cls.mro() if isinstance(receiver, Instance) else ()
    return any("__call__" in cls.slots for cls in of_kind(classes, ClassValue))


def _in_own_method(analysis: Analysis, path: str, node: ast.Call, receiver: ast.expr) -> bool:
    """Whether a function inside a method calls it on the `self` of the method."""
    tree = index(analysis.tree(path))
    for outer, inner in pairwise(tree.trail(tree.same(node) or node)):
        if isinstance(outer, ast.ClassDef) and isinstance(inner, ast.FunctionDef) and isinstance(receiver, ast.Name):
            names = [argument.arg for argument in by_position(inner.args)]
            if receiver.id in names[:1]:
                return True
    return False


RULE = Rule(FAULTS[CODE], find)
