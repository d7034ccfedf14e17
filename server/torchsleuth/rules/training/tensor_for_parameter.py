"""tensor-for-parameter: a plain tensor assigned to a parameter or a submodule.

What it finds
    `self.weight = …` or `layer.weight = …` with a tensor that is no Parameter, where the module has a parameter or a module
    of that name.
Why it hurts
    TypeError "cannot assign 'torch.FloatTensor' as parameter 'weight' (torch.nn.Parameter or None expected)".
Example
    with torch.no_grad():
        self.prototypes = F.normalize(self.prototypes, dim=1)
Use instead
    with torch.no_grad():
        self.prototypes.copy_(F.normalize(self.prototypes, dim=1))
Fix safety
    Safe: the parameter keeps its identity, so that optimizers go on training it.
References
    torch.nn.Module, torch.nn.Parameter
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.values import Tensor

CODE = "TS533"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.PARAMETER):
        source = misuse.site.source
        kind = "parameter.replaced.parameter" if isinstance(misuse.value, Tensor) else "parameter.replaced.module"
        name = f"`{source.segment(misuse.site.node)}`"
        text = message("parameter.replaced", name=name, kind=message(kind))
        yield Finding(misuse.site.span, text, (), _repairs(analysis, misuse))


def _repairs(analysis: Analysis, misuse: Misuse[object]) -> Iterator[Candidate]:
    path = misuse.site.span.path
    source, node = analysis.source_of(path), misuse.site.node
    statement = next((part for part in analysis.index(path).of_type(ast.Assign) if _is_target(part, node)), None)
    if statement is None or not isinstance(misuse.value, Tensor):
        return
    name, value = source.segment(node), source.segment(statement.value)
    edit = edits.replace(source, statement, f"{name}.data.copy_({value})")
    yield Candidate(message("fix.replace", old=f"{name} = …", new=f"{name}.data.copy_(…)"), (edit,))


def _is_target(statement: ast.Assign, node: ast.AST) -> bool:
    target = as_kind(statement.targets[0], ast.Attribute)
    at = (getattr(node, "lineno", 0), getattr(node, "col_offset", -1))
    return len(statement.targets) == 1 and target is not None and (target.lineno, target.col_offset) == at


RULE = Rule(FAULTS[CODE], find)
