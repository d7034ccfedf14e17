"""requires-grad-typo: an assignment that is meant to set requires_grad and sets nothing.

What it finds
    `p.require_grad = False`, `p.requires_gradient = True` and the like on a tensor or parameter, and
    `model.requires_grad = False` on a module.
Why it hurts
    Python accepts any attribute. Nothing is frozen, or nothing is trained, and no message says so.
Example
    for p in backbone.parameters():
        p.require_grad = False
Use instead
    for p in backbone.parameters():
        p.requires_grad = False
Fix safety
    Unsafe: what was trained until now is frozen from now on, or the reverse.
References
    torch.Tensor.requires_grad, torch.nn.Module.requires_grad_
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import faults
from torchsleuth.rules.evidence.loops import statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_name, loads
from torchsleuth.values import ClassValue, Instance, LibraryModule
from torchsleuth.values.graph import AutogradFault

CODE = "TS410"
_MISSPELT = "require_grad"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for fault in faults(analysis, "wrong_attribute"):
        target = as_kind(fault.at.node, ast.Attribute)
        if target is None:
            continue
        seen.add(fault.at.span)
        on_module = isinstance(fault.tensor, Instance | LibraryModule)
        if on_module and _means_something(analysis, fault, target.attr):
            continue
        owner = fault.at.source.segment(target.value)
        key = "grad.module" if on_module else "grad.typo"
        text = message(key, attribute=f"`{target.attr}`", owner=f"`{owner}`")
        yield Finding(fault.at.span, text, (), _repairs(analysis, fault, target, owner, on_module))

    yield from _of_anything(analysis, seen)
    yield from _compared(analysis)


def _of_anything(analysis: Analysis, seen: set[Span]) -> Iterator[Finding]:
    """The commonest misspelling, on what is not known to be a tensor: a hint."""
    source = analysis.source
    if _MISSPELT not in source.text or _is_a_name(analysis.tree(source.path)):
        return
    for node in analysis.index(source.path).nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if is_attribute(target, _MISSPELT) and source.span(target) not in seen:
                owner = source.segment(target.value)
                words = message("grad.typo", attribute=f"`{_MISSPELT}`", owner=f"`{owner}`")
                title = message("fix.spelling", old=_MISSPELT, new="requires_grad")
                edit = edits.replace(source, target, f"{owner}.requires_grad")
                yield Finding(source.span(target), words, (), (Candidate(title, (edit,), safe=False),), "hint")


def _compared(analysis: Analysis) -> Iterator[Finding]:
    """``p.requires_grad == False`` as a statement, which was to be an assignment."""
    source = analysis.source
    for statement in analysis.index(source.path).of_type(ast.Expr) if "requires_grad ==" in source.text else ():
        test = statement.value
        if (
            isinstance(test, ast.Compare)
            and is_attribute(test.left, "requires_grad")
            and isinstance(test.ops[0], ast.Eq)
        ):
            new = f"{source.segment(test.left)} = {source.segment(test.comparators[0])}"
            fix = Candidate(message("fix.replace", old="==", new="="), (edits.replace(source, test, new),), safe=False)
            text = message("frozen.compared", text=source.segment(test.left))
            yield Finding(source.span(test), text, (), (fix,) if len(test.ops) == 1 else ())


def _is_a_name(tree: ast.Module) -> bool:
    """Whether the misspelt word is a name of the script's own: a field, or an attribute that it reads."""
    return any(
        (is_name(node, _MISSPELT))
        or (isinstance(node, ast.arg) and node.arg == _MISSPELT)
        or (is_attribute(node, _MISSPELT) and loads(node))
        for node in ast.walk(tree)
    )


def _means_something(analysis: Analysis, fault: AutogradFault, name: str) -> bool:
    """Whether the module's class has, or anybody reads from it, an attribute of that name."""
    module = as_kind(fault.tensor, Instance)
    if module is not None:
        if any(name in cls.slots for cls in of_kind(module.cls.mro(), ClassValue)):
            return True
    target = as_kind(fault.at.node, ast.Attribute)
    owners = {"self", ast.unparse(target.value)} if target is not None else {"self"}
    return any(
        is_attribute(node, name)
        and (ast.unparse(node.value) in owners if loads(node) else ast.unparse(node.value) == "self")
        for node in analysis.index(fault.at.span.path).nodes
    )


def _repairs(
    analysis: Analysis, fault: AutogradFault, target: ast.Attribute, owner: str, on_module: bool
) -> Iterator[Candidate]:
    source = fault.at.source
    statement = as_kind(statement_of(analysis, fault.at), ast.Assign)
    if on_module:
        if statement is not None:
            text = f"{owner}.requires_grad_({source.segment(statement.value)})"
            title = message("fix.out_of_place", text=text)
            yield Candidate(title, (edits.replace(source, statement, text),), safe=False)
        return
    text = f"{owner}.requires_grad"
    title = message("fix.spelling", old=target.attr, new="requires_grad")
    yield Candidate(title, (edits.replace(source, target, text),), safe=False)


RULE = Rule(FAULTS[CODE], find)
