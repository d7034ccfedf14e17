"""state-carried-across-batches: a recurrent state goes from one step to the next with its graph.

What it finds
    A hidden state, a memory or a running value that one iteration computes with gradients and the next one uses, with
    a backward() in each.
Why it hurts
    The second backward() goes back into the first iteration, whose graph is freed: "Trying to backward through the
    graph a second time". With retain_graph=True it runs, slower and with more memory at every step.
Example
    for x, y in chunks:
        out, hidden = rnn(x, hidden)
        criterion(out, y).backward()
Use instead
    for x, y in chunks:
        out, hidden = rnn(x, hidden)
        criterion(out, y).backward()
        hidden = hidden.detach()
Fix safety
    Safe: this is truncated backpropagation through time; the values stay the same.
References
    torch.Tensor.detach
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import at_backward, carried_names, faults, repeated_block, retained
from torchsleuth.rules.evidence.loops import is_simple, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_name, is_place, is_primary, nodes_in, stores
from torchsleuth.values import Function, Instance
from torchsleuth.values.graph import AutogradFault

CODE = "TS408"


def find(analysis: Analysis) -> Iterator[Finding]:
    for found in faults(analysis, "freed", "modified"):
        fault = at_backward(found)
        names = carried_names(analysis, fault)
        if not names or (found is not fault and retained(fault) is None):
            continue
        key = "grad.carried" if found is fault else "grad.carried.retained"
        text = message(key, name=", ".join(f"`{name}`" for name in names))
        places: tuple[Related, ...] = ()
        if fault.node is not None:
            places = (fault.node.site.span.related(message("grad.twice.made")),)
        for path, statement in _attribute_stores(fault, names):
            places += (analysis.source_of(path).span(statement).related(message("grad.carried.stored")),)
        yield Finding(fault.at.span, text, places, _repairs(analysis, fault, names))


def _repairs(analysis: Analysis, fault: AutogradFault, names: dict[str, bool]) -> Iterator[Candidate]:
    """Each of the variables detached, after backward() or where it gets its value behind that."""
    path = fault.at.span.path
    source, backward = analysis.source_of(path), statement_of(analysis, fault.at)
    block = repeated_block(analysis, fault.at)
    if backward is None:
        return
    kept = retained(fault)
    alone: tuple[Edit, ...] = ()
    if kept is not None and fault.at.call is not None:
        alone = (edits.remove_keyword(source, fault.at.call, kept),)
    changes: dict[str, tuple[ast.stmt, Edit]] = {}
    for name, several in names.items():
        stores = [part for part in getattr(block, "body", []) if part.lineno > backward.lineno and _sets(part, name)]
        place = stores[-1] if stores else backward
        if is_simple(place, analysis, path):
            line = f"{name} = {_detached(name, several)}"
            changes[name] = place, edits.insert_line_after(source, place, line)
    if len(changes) > 1:
        together = tuple(edit for _, edit in changes.values())
        yield Candidate(message("fix.detach_after", name=", ".join(changes)), (*alone, *together))
    for name, (place, edit) in changes.items():
        key = "fix.detach_after" if place is backward else "fix.detach_line"
        yield Candidate(message(key, name=name, line=place.end_lineno), (*alone, edit))
    for where, statement in _attribute_stores(fault, names):
        owner = analysis.source_of(where)
        text = owner.segment(statement.value)
        plain = is_primary(statement.value)
        text = text if plain else f"({text})"
        edit = edits.replace(owner, statement.value, f"{text}.detach()")
        short = text if len(text) <= 50 else f"{text[:47]}…)"
        title = message("fix.append", expression=" ".join(short.split()), suffix=".detach()")
        yield Candidate(title, (*alone, edit))
    last = block.body[-1] if isinstance(block, ast.For | ast.While) else None
    if last is not None and is_simple(last, analysis, path):
        for name, several in names.items():
            edit = edits.insert_line_after(source, last, f"{name} = {_detached(name, several)}")
            yield Candidate(message("fix.detach_line", name=name, line=last.end_lineno), (*alone, edit))


def _attribute_stores(fault: AutogradFault, names: dict[str, bool]) -> list[tuple[str, ast.Assign]]:
    """Where a method of its object sets an attribute that carries the graph: ``self.codebook = …`` in ``forward``."""
    found: list[tuple[str, ast.Assign]] = []
    for name in names:
        root, *between, attribute = name.split(".") if "." in name and "[" not in name else ("", "")
        held = fault.at.scene.names.get(root)
        for part in between:
            held = held.slots.get(part) if isinstance(held, Instance) else None
        methods = held.cls.slots.values() if isinstance(held, Instance) else ()
        stores = [
            (method.path, part)
            for method in of_kind(methods, Function)
            if method.name != "__init__"
            for part in nodes_in(method.node, ast.Assign)
            if len(part.targets) == 1 and _is_own(part.targets[0], attribute)
        ]
        found += stores if len(stores) == 1 else []
    return found


def _is_own(target: ast.expr, attribute: str) -> bool:
    owner = target.value if is_attribute(target, attribute) else None
    return is_name(owner, "self")


def _sets(statement: ast.stmt, name: str) -> bool:
    return any(is_place(part) and stores(part) and ast.unparse(part) == name for part in ast.walk(statement))


def _detached(name: str, several: bool) -> str:
    return f"tuple(part.detach() for part in {name})" if several else f"{name}.detach()"


RULE = Rule(FAULTS[CODE], find)
