"""module-repeated: one module in several places, where several modules are meant.

What it finds
    `[Block(dim)] * depth`: a list with a module that is made on the spot, several times. And a helper that is to repeat the
    module that it is given: `nn.ModuleList([module for _ in range(n)])`.
Why it hurts
    The list holds one module again and again. All places share its parameters: a network of depth 6 learns as much as
    one of depth 1, and nothing is raised.
Example
    self.blocks = nn.ModuleList([Block(dim)] * depth)
Use instead
    self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
Fix safety
    Unsafe: a network whose places share their weights on purpose would change. Give such a module a name first, and
    repeat that: `[shared] * depth`. Copies of one module begin with the same weights.
References
    torch.nn.ModuleList
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.values import Instance, LibraryModule

CODE = "TS532"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.REPEATED):
        module, node = misuse.value, as_kind(misuse.site.node, ast.BinOp, ast.ListComp, ast.GeneratorExp)
        name = module.cls.name if isinstance(module, Instance) else getattr(module, "type_name", "module")
        if isinstance(module, Instance | LibraryModule) and node is not None:
            yield Finding(
                misuse.site.span,
                message("module.repeated", module=name),
                (),
                _repairs(analysis, misuse.site.span.path, node),
            )


def _repairs(analysis: Analysis, path: str, node: ast.BinOp | ast.ListComp | ast.GeneratorExp) -> Iterator[Candidate]:
    source = analysis.source_of(path)
    if not isinstance(node, ast.BinOp):
        changes = edits.deep_copy(source, analysis.tree(path), node.elt)
        yield Candidate(message("fix.copies", module=source.segment(node.elt)), changes, safe=False)
        return
    listed, count = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
    if isinstance(listed, ast.List) and len(listed.elts) == 1:
        text = f"[{source.segment(listed.elts[0])} for _ in range({source.segment(count)})]"
        yield Candidate(message("fix.comprehension", text=text), (edits.replace(source, node, text),), safe=False)


RULE = Rule(FAULTS[CODE], find)
