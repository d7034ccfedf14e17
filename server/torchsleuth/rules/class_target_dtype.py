"""class-target-dtype: class indices that are not int64.

What it finds
    Targets of CrossEntropyLoss or NLLLoss with a floating point or int32 dtype, and one-hot targets that are integers.
Why it hurts
    PyTorch stops with "expected target dtype to be Long or Byte, but got Float".
Example
    labels = torch.tensor([0.0, 2.0, 1.0])
    F.cross_entropy(logits, labels)
Use instead
    F.cross_entropy(logits, labels.long())
Fix safety
    Safe: the values stay the same, in the dtype that the loss wants.
References
    torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.messages import message
from torchsleuth.rules.casts import casts
from torchsleuth.rules.operands import Operand, operand, suffixed
from torchsleuth.rules.operators import failures, generic, trail
from torchsleuth.rules.rule import Analysis, Candidate, Example, Finding, Rule

CODE = "TS302"


def find(analysis: Analysis) -> Iterator[Finding]:
    for failure, plain in zip(failures(analysis, CODE), list(generic(analysis, CODE))):
        operation = failure.operation
        target, prediction = operand(operation, 1, "target"), operand(operation, 0, "input")
        if target is None or prediction is None:
            yield plain
            continue
        probabilities = "class probabilities" in failure.failure.message
        text = message(
            "target.probabilities" if probabilities else "target.classes",
            target=target.described("the target"),
            dtype=target.spec.dtype,
            loss=operation.target.rpartition(".")[2],
        )
        candidates = _candidates(analysis, target, probabilities)
        yield Finding(operation.site.span, text, trail(analysis, failure), candidates)


def _candidates(analysis: Analysis, target: Operand, probabilities: bool) -> Iterator[Candidate]:
    if probabilities:
        yield from suffixed(analysis, target, ".argmax(dim=1)", safe=True)
        yield from suffixed(analysis, target, ".float()")
        return
    yield from casts(analysis, target, "int64")
    if len(target.shape) == 2 and target.shape[1:] == (1,):
        yield from suffixed(analysis, target, ".squeeze(1).long()")


RULE = Rule(
    CODE,
    "class-target-dtype",
    "error",
    "dtype and loss",
    __doc__,
    find,
    (
        Example(
            bad="""
import torch
import torch.nn.functional as F

logits = torch.randn(3, 5)
labels = torch.tensor([0.0, 2.0, 1.0])
loss = F.cross_entropy(logits, labels)
#      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ TS302: `labels` (3,) is float32, but cross_entropy wants class indices as int64: convert it with .long()
""",
            fixed="""
import torch
import torch.nn.functional as F

logits = torch.randn(3, 5)
labels = torch.tensor([0.0, 2.0, 1.0], dtype=torch.int64)
loss = F.cross_entropy(logits, labels)
""",
            good="""
import torch
import torch.nn.functional as F

logits = torch.randn(3, 5)
probabilities = torch.rand(3, 5).softmax(dim=1)
loss = F.cross_entropy(logits, probabilities)
""",
        ),
    ),
)
