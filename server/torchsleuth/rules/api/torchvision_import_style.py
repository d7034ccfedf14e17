"""torchvision-import-style: a module of torchvision imported under its own name.

What it finds
    `import torchvision.models as models`, and the same with datasets and transforms. Off unless it is selected.
Why it hurts
    It says a name twice where once is enough; it is a matter of taste, and TorchFix's.
Example
    import torchvision.models as models
Use instead
    from torchvision import models
Fix safety
    Safe: the same name is bound to the same module.
References
    TorchFix, TOR203
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.sifting import as_kind

CODE = "TS809"
_MODULES = ("datasets", "models", "transforms")


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    for imported in analysis.names.imports:
        statement, name = as_kind(imported.statement, ast.Import), imported.name
        if statement is not None and name in _MODULES and imported.path == f"torchvision.{name}":
            new = f"from torchvision import {name}"
            fix = replacement(source, statement, new)
            fixes = (fix,) if len(statement.names) == 1 else ()
            yield Finding(source.span(statement), message("torchvision.import", name=name), (), fixes)


RULE = Rule(FAULTS[CODE], find)
