"""class-target-dtype: class indices that are not int64.

What it finds
    Targets of CrossEntropyLoss or NLLLoss with a floating point or int32 dtype.
Why it hurts
    PyTorch stops with "expected scalar type Long".
Example
    F.cross_entropy(logits, labels.float())
Use instead
    F.cross_entropy(logits, labels.long())
Fix safety
    Safe: the values stay the same, in the dtype that the loss wants.
References
    torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.rules.describe import expression_text, operand_node
from torchsleuth.rules.operators import failures, generic
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS302"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, finding in zip(failures(analysis, CODE), list(generic(analysis, CODE))):
        node = operand_node(failure.operation, 1)
        if node is not None:
            source = analysis.source_of(failure.operation.site.span.path)
            edit = edits.insert_after_node(source, node, ".long()")
            title = f"Convert {expression_text(node, 'the target')} with .long()"
            finding = replace(finding, candidates=(Candidate(title, (edit,)),))
        yield finding


RULE = Rule(CODE, "class-target-dtype", "error", "dtype and loss", __doc__, find)
