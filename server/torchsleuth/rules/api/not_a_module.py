"""not-a-module: something else in a Sequential, a ModuleList or a ModuleDict.

What it finds
    A function (`nn.Sequential(nn.Linear(4, 8), F.relu)`), a class that is not called (`nn.ReLU`), a list that is not
    unpacked (`nn.Sequential([…])`), a tensor or a number.
Why it hurts
    TypeError: "torch.nn.functional.relu is not a Module subclass".
Example
    net = nn.Sequential(nn.Linear(4, 8), F.relu)
Use instead
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
Fix safety
    Safe: the module does what the function does, and a list is meant for its elements.
References
    torch.nn.Sequential, torch.nn.ModuleList
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.tensors.spec import Native
from torchsleuth.values import ClassValue, Function, ListValue, Tensor

CODE = "TS822"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.UNMODULE):
        container, value, near = misuse.value
        path, node = misuse.site.span.path, misuse.site.node
        source = analysis.source_of(path)
        whole = isinstance(node, ast.Call) and container.rpartition(".")[2] in source.segment(node.func)
        fixes = [] if whole else list(_fixes(analysis, path, node, value, near))
        text = message(
            "unmodule",
            container=container.removeprefix("torch."),
            name="one of them" if whole else f"`{' '.join(source.segment(node).split())}`",
            kind=_kind(value),
        )
        yield Finding(misuse.site.span, text, (), fixes)


def _is_class(value: object) -> bool:
    return isinstance(value, ClassValue) or (isinstance(value, Native) and "class" in value.kind)


def _kind(value: object) -> str:
    if _is_class(value):
        return message("unmodule.class")
    match value:
        case Function() | Native():
            return message("unmodule.function")
        case ListValue():
            return message("unmodule.list")
    return (
        message("unmodule.tensor")
        if isinstance(value, Tensor)
        else message("unmodule.value", kind=type(value).__name__)
    )


def _fixes(analysis: Analysis, path: str, node: ast.AST, value: object, near: tuple[str, ...]) -> Iterator[Candidate]:
    source = analysis.source_of(path)
    if _is_class(value):
        edit = edits.insert_after_node(source, node, "()")
        yield Candidate(message("fix.parentheses", text=source.segment(node)), (edit,))
    elif isinstance(value, Native):
        for name in near[:1]:
            module, imports = spelled(analysis, path, f"torch.nn.{name}")
            title = message("fix.replace", old=source.segment(node), new=f"{module}()")
            yield Candidate(title, (*imports, edits.replace(source, node, f"{module}()")))
    elif isinstance(value, ListValue):
        edit = edits.insert(source, source.start_of(node), "*")
        yield Candidate(message("fix.replace", old="[…]", new="*[…]"), (edit,))


RULE = Rule(FAULTS[CODE], find)
