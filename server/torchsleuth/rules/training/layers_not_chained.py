"""layers-not-chained: a loop over layers in a forward() that uses the result of one of them alone.

What it finds
    A loop over an nn.ModuleList that gives each layer the same input and keeps the result of the last one, or that returns
    behind the first one.
Why it hurts
    The other layers are computed, or not even that, and have no part in the result: they get no gradients, and the network is
    one layer deep. Nothing is raised.
Example
    for layer in self.layers:
        out = torch.relu(layer(x))
    return out
Use instead
    for layer in self.layers:
        x = torch.relu(layer(x))
    return x
Fix safety
    Unsafe: each layer gets what the one before it gave.
References
    torch.nn.ModuleList
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import gone_through
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_assignment, is_name, names_in, nodes_in, stored_in, targets_of

CODE = "TS559"
_AROUND = ("enumerate", "reversed")


def find(analysis: Analysis) -> Iterator[Finding]:
    for owner in analysis.index(analysis.source.path).of_type(ast.ClassDef):
        lists = {
            ast.unparse(target)
            for statement in nodes_in(owner, ast.Assign)
            if called(statement.value) == "ModuleList"
            for target in targets_of(statement)
        }
        for method in of_kind(owner.body, ast.FunctionDef) if lists else ():
            for loop in nodes_in(method, ast.For) if method.name == "forward" else ():
                if ast.unparse(gone_through(loop, _AROUND)) in lists:
                    yield from _of_loop(analysis, method, loop)


def _of_loop(analysis: Analysis, method: ast.FunctionDef, loop: ast.For) -> Iterator[Finding]:
    source, layers = analysis.source, stored_in(loop.target)
    if any(isinstance(part, ast.Break | ast.Continue | ast.Yield | ast.If | ast.Try) for part in ast.walk(loop)):
        return
    last = loop.body[-1]
    if isinstance(last, ast.Return):
        inner, outer = (edits.indentation(source, line) for line in (loop.body[0].lineno, loop.lineno))
        changes = edits.outdent(source, last, inner, outer) if len(loop.body) > 1 else ()
        fix = Candidate(message("fix.move_out", text="return", line=loop.lineno), changes, safe=False)
        yield Finding(source.span(last), message("layers.returned", line=loop.lineno), (), (fix,) if changes else ())
        return
    stored = stored_in(*loop.body)
    plain = len(loop.body) == 1 and is_assignment(last)
    if (
        not plain
        or not isinstance(last, ast.Assign)
        or not isinstance(last.targets[0], ast.Name)
        or names_in(last.value) & stored
    ):
        return
    calls = [part for part in nodes_in(last.value, ast.Call) if is_name(part.func, *layers)]
    name = ast.unparse(last.targets[0])
    used = any(name in names_in(part) for part in method.body if part.lineno > loop.lineno and part is not loop)
    if len(calls) == 1 and len(calls[0].args) == 1 and not calls[0].keywords and used:
        given = calls[0].args[0]
        fixes = []
        if isinstance(given, ast.Name):
            begun = f"{name} = {given.id}"
            changes = (edits.insert_line_before(source, loop, begun), edits.replace(source, given, name))
            fixes = [Candidate(message("fix.chained", name=name), changes, safe=False)]
        text = message("layers.same_input", given=source.segment(given), name=name)
        yield Finding(source.span(last), text, (), fixes)


RULE = Rule(FAULTS[CODE], find)
