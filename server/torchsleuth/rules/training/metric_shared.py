"""metric-shared: one metric that counts the samples of the training and those of the validation.

What it finds
    A metric of torchmetrics in a LightningModule that both training_step() and validation_step() (or test_step()) fill, and that is
    computed, or logged as it is, where nothing but what computes it resets it.
Why it hurts
    The validation runs within an epoch of the training: what is reported for one holds the samples of the other.
Example
    def training_step(self, batch, batch_idx):
        self.accuracy.update(logits, y)
    def validation_step(self, batch, batch_idx):
        self.accuracy.update(logits, y)
Use instead
    def training_step(self, batch, batch_idx):
        self.train_accuracy.update(logits, y)
    def validation_step(self, batch, batch_idx):
        self.val_accuracy.update(logits, y)
Fix safety
    There is none: what is made, filled, computed and reset for each is the author's to choose.
References
    torchmetrics, "TorchMetrics in PyTorch Lightning"
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence import metrics
from torchsleuth.rules.rule import Analysis, Finding, Rule

CODE = "TS587"
_TRAINING = "training_step"
_OTHERS = ("validation_step", "test_step")


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    for owner, held in metrics.held(analysis):
        for name in held:
            uses = metrics.uses(owner, name)
            if uses is None or _TRAINING not in uses.filled or not (uses.computed or uses.logged):
                continue
            other = next((step for step in _OTHERS if step in uses.filled), None)
            if other is not None and not uses.reset - set(uses.computed):
                first = source.span(uses.filled[_TRAINING]).related(message("metric.shared.too", step=_TRAINING))
                text = message("metric.shared", name=f"self.{name}", step=_TRAINING, other=other)
                yield Finding(source.span(uses.filled[other]), text, (first,))


RULE = Rule(FAULTS[CODE], find)
