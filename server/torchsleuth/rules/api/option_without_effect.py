"""option-without-effect: an option is given to a function that ignores it as it is called.

What it finds
    timm's `create_transform()` with options of a training (`hflip`, `color_jitter`, `re_prob`, `auto_augment`, …) and without
    `is_training=True`; its `create_optimizer_v2()` with `filter_bias_and_bn` or `layer_decay` for parameters instead of a model.
Why it hurts
    The option is taken and never read: images are not augmented, biases are decayed as all other weights are. Nothing is raised.
Example
    transform = create_transform(input_size=224, hflip=0.5, re_prob=0.25)
Use instead
    transform = create_transform(input_size=224, is_training=True, hflip=0.5, re_prob=0.25)
Fix safety
    Safe: the options are given in order to be used.
References
    timm.data.create_transform, timm.optim.create_optimizer_v2
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.detection import bound_once
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument, replacement
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, called, is_method_call, is_reference, literal, plain_name, targets_of

CODE = "TS840"
_TRANSFORM = ("timm.data.create_transform", "timm.data.transforms_factory.create_transform")
_OPTIMIZER = ("timm.optim.create_optimizer_v2", "timm.optim.optim_factory.create_optimizer_v2")
_AUGMENTING = frozenset(
    "hflip vflip scale ratio color_jitter color_jitter_prob grayscale_prob gaussian_blur_prob auto_augment re_prob re_mode re_count".split()
)
_EVALUATES = re.compile("val|test|eval|infer|predict", re.IGNORECASE)
_CONFIGURATIONS = ("resolve_data_config", "resolve_model_data_config")
_OF_MODEL = ("filter_bias_and_bn", "layer_decay")


def find(analysis: Analysis) -> Iterator[Finding]:
    for use in analysis.names.uses:
        if use.call is not None and use.path in _TRANSFORM:
            yield from _of_transform(analysis, use.call)
        elif use.call is not None and use.path in _OPTIMIZER:
            yield from _of_optimizer(analysis, use.call)


def _given(call: ast.Call, names: frozenset[str] | tuple[str, ...]) -> list[ast.keyword]:
    """The options of these names that are written, and not as ones that are off."""
    return [
        one for one in call.keywords if one.arg in names and isinstance(one.value, ast.Constant) and one.value.value
    ]


def _of_transform(analysis: Analysis, call: ast.Call) -> Iterator[Finding]:
    training, given = argument_of(call, 1, "is_training"), _given(call, _AUGMENTING)
    source = analysis.source
    statement = edits.enclosing_statement(analysis.tree(source.path), call)
    evaluates = statement is not None and any(map(_EVALUATES.search, map(ast.unparse, targets_of(statement))))
    if not given or training is not None or evaluates or not _spreads_configurations(analysis, call):
        return
    options = ", ".join(str(one.arg) for one in given)
    text = message("option.no_effect", options=options, why=message("option.training"))
    yield Finding(source.span(given[0]), text, (), (added_argument(source, call, "is_training=True"),))


def _spreads_configurations(analysis: Analysis, call: ast.Call) -> bool:
    """Whether nothing is spread into a call but what timm tells of the data of a model."""
    trail = analysis.index(analysis.source.path).trail(call)
    scopes = [one for one in trail if isinstance(one, ast.FunctionDef | ast.Module)]
    bound = {name: value for scope in scopes for name, value in bound_once(scope).items()}
    spread = [bound.get(plain_name(one.value) or "", one.value) for one in call.keywords if one.arg is None]
    return all(called(one) in _CONFIGURATIONS for one in spread) and not any(
        isinstance(one, ast.Starred) for one in call.args
    )


def _of_optimizer(analysis: Analysis, call: ast.Call) -> Iterator[Finding]:
    source, given = analysis.source, _given(call, _OF_MODEL)
    model = argument_of(call, 0, "model_or_params")
    if given and is_method_call(model, "parameters") and is_reference(model.func.value) and not model.args:
        words = {"options": str(given[0].arg), "why": message("option.parameters")}
        fix = replacement(source, model, source.segment(model.func.value))
        if literal(argument_of(call, 3, "weight_decay")) != 0:
            yield Finding(source.span(model), message("option.no_effect", **words), (), (fix,))


RULE = Rule(FAULTS[CODE], find)
