"""encoder-as-decoder: a model of transformers that is to predict the next token, and sees it.

What it finds
    `BertLMHeadModel(config)` and its like, heads for the next token on what is an encoder unless its configuration says
    `is_decoder=True`. The classes are those that have a sister for masked tokens.
Why it hurts
    Every position attends to all others, to the one that it predicts as well. The loss falls to nothing, and what the model generates
    is useless. The package only logs a warning.
Example
    model = BertLMHeadModel(BertConfig(vocab_size=40))
Use instead
    model = BertLMHeadModel(BertConfig(vocab_size=40, is_decoder=True))
Fix safety
    Safe: the class is of no use otherwise.
References
    transformers.BertLMHeadModel
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument

CODE = "TS830"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.SEES_AHEAD):
        name, made = misuse.value, misuse.first
        call = made.call if made is not None else None
        fixes = (added_argument(made.source, call, "is_decoder=True"),) if made is not None and call is not None else ()
        places = (made.span.related(message("encoder.configured")),) if made is not None else ()
        yield Finding(misuse.site.span, message("encoder.decodes", name=name), places, fixes)


RULE = Rule(FAULTS[CODE], find)
