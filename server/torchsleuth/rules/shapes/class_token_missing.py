"""class-token-missing: the first token is taken for that of the class, of a model that is made without one.

What it finds
    `tokens[:, 0]` of what `forward_features()` gives, for a model of timm that is made with `class_token=False`.
Why it hurts
    The first token is the patch in the upper left corner: what is learned, or compared, is of a sixteenth of the image, and of a
    corner. Nothing is raised.
Example
    backbone = timm.create_model("vit_tiny_patch16_224", class_token=False, global_pool="avg", num_classes=0)
    embedding = backbone.forward_features(images)[:, 0]
Use instead
    embedding = backbone.forward_head(backbone.forward_features(images), pre_logits=True)
Fix safety
    Safe: the mean of all tokens, behind the norm that the model has for it.
References
    timm.models.VisionTransformer (class_token, global_pool)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.detection import bound_once
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.syntax.forms import (
    assigned_pairs,
    is_literal,
    is_method_call,
    is_reference,
    keyword_of,
    nodes_in,
    parts_of_key,
    plain_name,
)

CODE = "TS127"


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    if "class_token" not in source.text or "forward_features" not in source.text:
        return
    models = _without_token(analysis)
    for scope in analysis.scopes if models else ():
        bound = bound_once(scope)
        for part in nodes_in(scope, ast.Subscript):
            key = parts_of_key(part)
            tokens = bound.get(plain_name(part.value) or "", part.value)
            if len(key) != 2 or ast.unparse(key[0]) != ":" or not is_literal(key[1], 0):
                continue
            if is_method_call(tokens, "forward_features") and ast.unparse(tokens.func.value) in models:
                made = models[ast.unparse(tokens.func.value)]
                owner, given = source.segment(tokens.func.value), source.segment(part.value)
                fix = replacement(source, part, f"{owner}.forward_head({given}, pre_logits=True)")
                place = source.span(made).related(message("class_token.without"))
                text = message("class_token.missing", tokens=source.on_one_line(part), model=owner)
                yield Finding(source.span(part), text, (place,), (fix,))


def _without_token(analysis: Analysis) -> dict[str, ast.Call]:
    """The models that are made without a class token, by what they are bound to, where that is done once."""
    made = [one.call for one in analysis.names.uses if one.path == "timm.create_model" and one.call is not None]
    found: dict[str, list[ast.Call | None]] = {}
    for statement in analysis.index(analysis.source.path).of_type(ast.Assign):
        for target, value in assigned_pairs(statement):
            if is_reference(target):
                call = next((one for one in made if one is value), None)
                found.setdefault(ast.unparse(target), []).append(call)
    return {
        name: call
        for name, (call, *others) in found.items()
        if call is not None
        and not others
        and is_literal(getattr(keyword_of(call, "class_token"), "value", None), False)
    }


RULE = Rule(FAULTS[CODE], find)
