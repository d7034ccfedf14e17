"""binary-target-dtype: integer targets for a binary loss.

What it finds
    Targets of BCELoss or BCEWithLogitsLoss with an integer dtype.
Why it hurts
    PyTorch stops with "result type Float can't be cast to the desired output type Long".
Example
    F.binary_cross_entropy_with_logits(logits, labels)
Use instead
    F.binary_cross_entropy_with_logits(logits, labels.float())
Fix safety
    Safe: the values stay the same, in the dtype that the loss wants.
References
    torch.nn.BCEWithLogitsLoss
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.rules.describe import expression_text, operand_node
from torchsleuth.rules.operators import failures, generic
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits

CODE = "TS307"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, finding in zip(failures(analysis, CODE), list(generic(analysis, CODE))):
        node = operand_node(failure.operation, 1)
        if node is not None:
            source = analysis.source_of(failure.operation.site.span.path)
            edit = edits.insert_after_node(source, node, ".float()")
            title = f"Convert {expression_text(node, 'the target')} with .float()"
            finding = replace(finding, candidates=(Candidate(title, (edit,)),))
        yield finding


RULE = Rule(CODE, "binary-target-dtype", "error", "dtype and loss", __doc__, find)
