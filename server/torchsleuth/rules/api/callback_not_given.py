"""callback-not-given: a callback that is made, and no trainer knows of.

What it finds
    `stopper = EarlyStopping(…)`, or another callback of Lightning or transformers, in a function or script that makes a Trainer, where
    nothing reads `stopper`.
Why it hurts
    The training never stops early, or saves nothing, and nothing says so.
Example
    stopper = EarlyStopping(monitor="val_loss")
    trainer = Trainer(callbacks=[checkpoint])
Use instead
    stopper = EarlyStopping(monitor="val_loss")
    trainer = Trainer(callbacks=[checkpoint, stopper])
Fix safety
    Safe: a callback is for nothing else.
References
    lightning.pytorch.Trainer, "callbacks"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, keyword_of, nodes_in, plain_name

CODE = "TS847"
_CALLBACKS = re.compile(
    r"(?:lightning\.pytorch|pytorch_lightning)\.callbacks\.(?:\w+\.)*[A-Z]\w+|transformers\.(?:\w+\.)*\w+Callback"
)


def find(analysis: Analysis) -> Iterator[Finding]:
    made = {id(use.call) for use in analysis.names.uses if use.call is not None and _CALLBACKS.fullmatch(use.path)}
    for scope in analysis.scopes if made else ():
        inner = {
            id(call) for one in nodes_in(scope, ast.FunctionDef) if one is not scope for call in nodes_in(one, ast.Call)
        }
        trainers = [call for call in nodes_in(scope, ast.Call) if called(call) == "Trainer" and id(call) not in inner]
        for statement in scope.body:
            name = plain_name(statement.targets[0]) if isinstance(statement, ast.Assign) else None
            if name is None or len(trainers) != 1 or id(statement.value) not in made:  # type: ignore[attr-defined]
                continue
            uses = [one for one in analysis.index(analysis.source.path).of_type(ast.Name) if one.id == name]
            if all(isinstance(one.ctx, ast.Store) for one in uses) and name not in analysis.source.text.split('"'):
                yield _finding(analysis, statement, name, trainers[0])


def _finding(analysis: Analysis, statement: ast.stmt, name: str, trainer: ast.Call) -> Finding:
    source, keyword = analysis.source, keyword_of(trainer, "callbacks")
    if keyword is None:
        edit = edits.add_argument(source, trainer, f"callbacks=[{name}]")
    elif isinstance(keyword.value, ast.List) and keyword.value.elts:
        edit = edits.insert_after_node(source, keyword.value.elts[-1], f", {name}")
    else:
        return Finding(source.span(statement), message("callback.not_given", name=name))
    fix = Candidate(message("fix.insert", text=name), (edit,))
    return Finding(source.span(statement), message("callback.not_given", name=name), (), (fix,))


RULE = Rule(FAULTS[CODE], find)
