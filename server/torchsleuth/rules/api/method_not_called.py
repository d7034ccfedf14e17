"""method-not-called: a method or a class where what a call of it gives is needed.

What it finds
    `model.parameters` given to an optimizer, iterated over or clipped; `loss.item` in a sum, a comparison or a format;
    `with torch.no_grad:`; a method of one's own in a loop or a computation; `model = Net`, whose parameters are asked for;
    `model.state_dict` that is copied or saved; `self.train` where the mode is asked for, which is `self.training`.
Why it hurts
    TypeError, such as "'method' object is not iterable", or AttributeError "__enter__". A condition is always true.
Example
    optimizer = torch.optim.Adam(model.parameters, lr=1e-3)
Use instead
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
Fix safety
    Safe: without the call there is nothing to go on with.
References
    https://docs.python.org/3/reference/expressions.html#calls
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import last_assignment
from torchsleuth.rules.evidence.modes import mode_dependent
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_dotted, is_name, is_reference, nodes_in
from torchsleuth.values import Bound, Function, is_native_kind

CODE = "TS811"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _unmade(analysis)
    yield from _modes(analysis)
    for misuse in analysis.misuses(misuses.UNCALLED):
        if _is_told(analysis, misuse.value):
            continue
        source = misuse.site.source
        node = _written(misuse)
        text = source.segment(node)
        method = isinstance(misuse.value, Bound | Function)
        function = is_native_kind(misuse.value, "function")
        kind = "method" if method else "function" if function else "class"
        what = message(f"method.uncalled.{kind}")
        said = message("method.uncalled", text=" ".join(text.split()), what=what)
        made = (
            as_kind(last_assignment(analysis, node, misuse.site), ast.Attribute) if isinstance(node, ast.Name) else None
        )
        places: tuple[Related, ...] = ()
        if made is not None:
            used = source.span(node)
            places = (used.related(message("method.used", text=text)),)
            node, text = made, source.segment(made)
            said = message("method.uncalled", text=" ".join(text.split()), what=what)
        fixes: tuple[Candidate, ...] = ()
        if is_reference(node):
            edit = edits.insert_after_node(source, node, "()")
            fixes = (Candidate(message("fix.parentheses", text=" ".join(text.split())), (edit,)),)
        yield Finding(source.span(node), said, places, fixes)


def _is_told(analysis: Analysis, value: object) -> bool:
    """Whether it is the mode of a model that has layers to which it matters: of that, the rules about training speak."""
    if not isinstance(value, Bound) or value.function not in ("eval", "train"):
        return False
    return any(True for _ in mode_dependent(analysis, value.receiver))


def _modes(analysis: Analysis) -> Iterator[Finding]:
    """``self.train`` where ``self.training`` is meant."""
    for misuse in analysis.misuses(misuses.FLAG):
        source, node = misuse.site.source, as_kind(misuse.site.node, ast.Attribute)
        if node is not None:
            text, new = source.segment(node), f"{source.segment(node.value)}.training"
            fix = Candidate(message("fix.replace", old=text, new=new), (edits.replace(source, node, new),))
            yield Finding(source.span(node), message("method.flag", text=text, new=new), (), (fix,))


def _unmade(analysis: Analysis) -> Iterator[Finding]:
    """``model = Net`` and ``model.parameters()``: the parentheses are missing where the name gets its value."""
    for misuse in analysis.misuses(misuses.UNMADE):
        path, node = misuse.site.span.path, misuse.site.node
        source = analysis.source_of(path)
        called = any(
            not part.args and source.span(part.func) == source.span(node)
            for part in of_kind(analysis.index(path).nodes, ast.Call)
        )
        if not is_dotted(node) or not called:
            continue
        name = node.value.id
        given = [
            part
            for part in analysis.index(path).of_type(ast.Assign)
            if any(is_name(target, name) for target in part.targets)
            and is_reference(part.value)
            and part.lineno <= node.lineno
        ]
        fixes: tuple[Candidate, ...] = ()
        if given:
            text = source.segment(given[-1].value)
            edit = edits.insert_after_node(source, given[-1].value, "()")
            fixes = (Candidate(message("fix.parentheses", text=text), (edit,)),)
        text = message("method.uncalled", text=name, what=message("method.uncalled.class"))
        yield Finding(source.span(node.value), text, (), fixes)


def _written(misuse: Misuse[object]) -> ast.AST:
    """Where the method is written: the place itself, or a part of it that ends in its name."""
    node, value = misuse.site.node, misuse.value
    name = value.name if isinstance(value, Function) else None
    if isinstance(value, Bound):
        name = value.function if isinstance(value.function, str) else value.function.name
    if name is None or isinstance(node, ast.Name):
        return node
    held = misuse.site.scene.names
    for name_node in nodes_in(node, ast.Name):
        if held.get(name_node.id) is value:
            return name_node
    called = {part.func for part in nodes_in(node, ast.Call)}
    for part in ast.walk(node):
        if is_attribute(part, name) and part not in called:
            return part
        if is_name(part, name) and part not in called:
            return part
    return node


RULE = Rule(FAULTS[CODE], find)
