"""kept-weights-unused: weights that are kept, and that nothing ever reads.

What it finds
    A copy of a state_dict() under a name that is read nowhere: the best weights of a training, or those to go back to after an
    evaluation with others.
Why it hurts
    The training ends, or goes on, with the weights that there are, and not with those that were kept. Nothing is raised.
Example
    if accuracy > best:
        best, best_state = accuracy, copy.deepcopy(model.state_dict())
Use instead
    if accuracy > best:
        best, best_state = accuracy, copy.deepcopy(model.state_dict())
    ...
    model.load_state_dict(best_state)
Fix safety
    Unsafe: the weights are loaded behind the loop in which they are kept; they may be meant to be saved.
References
    "Saving and Loading Models" in the PyTorch tutorials
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import assigned_pairs, is_method_call, is_name, last_word, plain_name

CODE = "TS578"
_ALL = ("locals", "globals", "vars", "eval", "exec", "__all__")
"""Names by which all variables of a scope are looked at."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def find(analysis: Analysis) -> Iterator[Finding]:
    tree = analysis.tree(analysis.source.path)
    index = analysis.index(analysis.source.path)
    for store in index.of_type(ast.Assign):
        for target, value in assigned_pairs(store):
            name, model = plain_name(target), _copied(value)
            around = index.trail(store)
            if name is None or model is None or any(isinstance(part, ast.ClassDef) for part in around[-2:-1]):
                continue
            scope = next((part for part in reversed(around[:-1]) if isinstance(part, _Function)), tree)
            if not _is_read(scope, name):
                loops = [part for part in around if isinstance(part, ast.For | ast.While) and part in scope.body]
                text = message("kept.unused", name=name)
                fixes = tuple(_loaded(analysis, loops, model, name))
                yield Finding(analysis.source.span(value), text, (), fixes)


def _copied(value: ast.expr) -> ast.expr | None:
    """The model of which a copy of the state_dict() is made."""
    if isinstance(value, ast.Call) and last_word(value.func) == "deepcopy" and len(value.args) == 1:
        value = value.args[0]
    elif isinstance(value, ast.DictComp) and len(value.generators) == 1:
        made = value.generators[0].iter
        value = made.func.value if is_method_call(made, "items") else made
    else:
        return None
    return value.func.value if is_method_call(value, "state_dict") else None


def _is_read(scope: ast.AST, name: str) -> bool:
    """Whether anything may read a name: an expression, another scope, or what looks at all variables."""
    for node in ast.walk(scope):
        read = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Store)
        if read or isinstance(node, ast.Global | ast.Nonlocal) and name in node.names or is_name(node, *_ALL):
            return True
    return False


def _loaded(analysis: Analysis, loops: list[ast.For | ast.While], model: ast.expr, name: str) -> Iterator[Candidate]:
    """The weights loaded behind the outermost loop in which they are kept."""
    if loops:
        line = f"{analysis.source.segment(model)}.load_state_dict({name})"
        edit = edits.insert_line_after(analysis.source, loops[0], line)
        yield Candidate(message("fix.insert", text=line), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)
