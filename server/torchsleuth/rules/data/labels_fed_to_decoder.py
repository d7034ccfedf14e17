"""labels-fed-to-decoder: a decoder that gets the labels it is to predict as its input, at the same positions.

What it finds
    `model(decoder_input_ids=target, labels=target)` of an encoder-decoder of transformers, also with a copy in which the padding is
    -100. What the decoder sees at a position is what it is to say there.
Why it hurts
    The loss falls to nothing, for the decoder only copies its input. What it generates is useless: nothing is raised.
Example
    loss = model(input_ids=source, decoder_input_ids=target, labels=target).loss
Use instead
    loss = model(input_ids=source, labels=target).loss
Fix safety
    Safe: without decoder inputs these models shift the labels by one themselves.
References
    transformers.T5ForConditionalGeneration, "labels"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import assigned_pairs, is_method_call, keyword_of, nodes_in, plain_name

CODE = "TS647"
_INPUTS = "decoder_input_ids"


def find(analysis: Analysis) -> Iterator[Finding]:
    if not any(use.path.startswith("transformers.") for use in analysis.names.uses):
        return
    source, index = analysis.source, analysis.index(analysis.source.path)
    for call in index.of_type(ast.Call):
        inputs, labels = keyword_of(call, _INPUTS), keyword_of(call, "labels")
        if inputs is None or labels is None:
            continue
        trail = index.trail(call)
        scope = first_of(reversed(trail), ast.FunctionDef) or trail[0]
        if not isinstance(inputs.value, ast.Name) or _copied(scope, labels.value) not in (inputs.value.id,):
            continue
        if _is_shifted(scope, inputs.value.id):
            continue
        text = message("decoder.labels", inputs=source.segment(inputs.value))
        without = ast.Call(call.func, call.args, [word for word in call.keywords if word is not inputs])
        title = message("fix.replace", old=source.segment(inputs), new="")
        fix = Candidate(title, (edits.replace(source, call, ast.unparse(without)),))
        yield Finding(source.span(inputs), text, (), (fix,))


def _copied(scope: ast.AST, labels: ast.expr) -> str | None:
    """The name of the labels, or of what they are a copy of."""
    name = plain_name(labels)
    pairs = [pair for one in nodes_in(scope, ast.Assign) for pair in assigned_pairs(one)]
    bound = [value for target, value in pairs if plain_name(target) == name]
    if len(bound) == 1 and is_method_call(bound[0], "clone"):
        return plain_name(bound[0].func.value)
    return name


def _is_shifted(scope: ast.AST, name: str) -> bool:
    """Whether something is done with the inputs, by a function or in place."""
    pairs = [pair for one in nodes_in(scope, ast.Assign) for pair in assigned_pairs(one)]
    written = any(isinstance(target, ast.Subscript) and plain_name(target.value) == name for target, _ in pairs)
    bound = [value for target, value in pairs if plain_name(target) == name]
    return written or any("shift" in ast.unparse(value) for value in bound)


RULE = Rule(FAULTS[CODE], find)
