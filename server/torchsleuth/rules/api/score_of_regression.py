"""score-of-regression: a classifier of transformers with one label, which it takes for a regression.

What it finds
    `num_labels=1` of a model for classification that is given `labels`, and whose scores go through a sigmoid.
Why it hurts
    With one label the model's loss is the mean squared error between the score and the label: the scores tend to 0 and 1, and their
    sigmoid to 0.5 and 0.73. Nothing is raised.
Example
    config = BertConfig(num_labels=1)
    probability = torch.sigmoid(model(input_ids=ids).logits)
Use instead
    config = BertConfig(num_labels=2)
    probability = model(input_ids=ids).logits.softmax(-1)[:, 1]
Fix safety
    No fix: labels, loss and probability change together.
References
    transformers.BertForSequenceClassification, "labels"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import model_classes
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.syntax.forms import is_attribute, keyword_of, last_word, literal, nodes_in

CODE = "TS832"
_OWN = ("problem_type", "BCEWithLogitsLoss", "binary_cross_entropy", "mse_loss", "MSELoss")
"""Words of a program that chooses its loss."""


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    classes = model_classes(analysis)
    if not any(one.endswith("ForSequenceClassification") for one in classes) or any(
        word in source.text for word in _OWN
    ):
        return
    calls = index.of_type(ast.Call)
    squashed = [one for one in calls if last_word(one.func) == "sigmoid" and _of_scores(one)]
    asked = [word for one in calls if (word := keyword_of(one, "num_labels")) is not None and literal(word.value) == 1]
    given = [word for one in calls if (word := keyword_of(one, "labels")) is not None]
    if asked and given and squashed:
        places = (source.span(squashed[0]).related(message("regression.squashed")),)
        yield Finding(source.span(asked[0]), message("regression.one"), places)


def _of_scores(call: ast.Call) -> bool:
    """``torch.sigmoid(outputs.logits)``, ``logits.sigmoid()`` of an attribute of this name."""
    parts = [*call.args, call.func]
    return any(is_attribute(one, "logits") for part in parts for one in nodes_in(part, ast.Attribute))


RULE = Rule(FAULTS[CODE], find)
