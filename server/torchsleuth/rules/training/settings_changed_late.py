"""settings-changed-late: a dropout in the configuration of a model that is set after the layers were made with another one.

What it finds
    `model.config.hidden_dropout_prob = 0.3` of a model of transformers that has been built. Its layers have taken what stood there.
Why it hurts
    The dropout stays what it was. Nothing is raised, and the configuration that is saved says otherwise.
Example
    model = BertModel(config)
    model.config.hidden_dropout_prob = 0.3
Use instead
    config.hidden_dropout_prob = 0.3
    model = BertModel(config)
Fix safety
    No fix: how the model is built is the author's choice.
References
    transformers.PreTrainedConfig
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import makes_model
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.syntax.forms import assigned_pairs, is_attribute, is_name, loads, plain_name

CODE = "TS598"
_DROPOUT = re.compile(r"(?:dropout|pdrop)(?:_prob|_rate)?$")
"""Settings that layers take when they are made: a layer of dropout has a rate of its own."""


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    pairs = [(one, *pair) for one in index.of_type(ast.Assign) for pair in assigned_pairs(one)]
    built = {plain_name(target): one for one, target, value in pairs if makes_model(analysis, value)}
    for one, target, _ in pairs:
        if not isinstance(target, ast.Attribute) or not _DROPOUT.search(target.attr):
            continue
        owner = target.value
        name = plain_name(owner.value) if is_attribute(owner, "config") else None
        made = built.get(name) if name is not None else None
        if made is None or made.lineno >= one.lineno or _is_read(analysis, str(name), one):
            continue
        place = source.span(made).related(message("settings.built"))
        yield Finding(source.span(target), message("settings.late", name=target.attr, model=name), (place,))


def _is_read(analysis: Analysis, name: str, change: ast.stmt) -> bool:
    """Whether the configuration is used as a whole later, by which another model may be built."""
    index = analysis.index(analysis.source.path)
    return any(
        one.lineno > change.lineno
        and one.attr == "config"
        and is_name(one.value, name)
        and loads(one)
        and not isinstance(index.parents.get(one), ast.Attribute)
        for one in index.of_type(ast.Attribute)
    )


RULE = Rule(FAULTS[CODE], find)
