"""mask-not-passed: tokens of a padded batch, without the mask that says which of them are padding.

What it finds
    `model(input_ids=batch["input_ids"])` of an encoder of transformers, where `batch` is what a tokenizer has padded; and the mean over all
    positions of `last_hidden_state`, where the model was given a mask with padding.
Why it hurts
    The padding is attended to, or averaged, like words. What a text gives depends on the longest text that is in the batch with it.
    Nothing is raised.
Example
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    hidden = model(input_ids=batch["input_ids"]).last_hidden_state
Use instead
    hidden = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
Fix safety
    Safe: without padding the mask changes nothing.
References
    transformers, "Attention mask"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import are_causal, makes_model
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument, replacement
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    contains,
    is_attribute,
    is_literal,
    is_name,
    keyword_of,
    last_word,
    literal,
    nodes_in,
    plain_name,
    returned_by,
)

CODE = "TS646"
_PADDING = (True, "longest", "max_length")


def find(analysis: Analysis) -> Iterator[Finding]:
    if not any(use.path.startswith("transformers.") for use in analysis.names.uses) or are_causal(analysis):
        return
    index = analysis.index(analysis.source.path)
    models = _models(analysis)
    for call in index.of_type(ast.Call):
        if last_word(call.func) in models:
            yield from _of_call(analysis, call)
            yield from _of_mean(analysis, call)


def _models(analysis: Analysis) -> set[str]:
    """The names that models of transformers are bound to, of attributes the last part."""
    index = analysis.index(analysis.source.path)
    pairs = (pair for one in index.of_type(ast.Assign) for pair in assigned_pairs(one))
    return {last_word(target) for target, value in pairs if makes_model(analysis, value)} - {""}


def _scope(analysis: Analysis, node: ast.AST) -> ast.AST:
    """The function around a node, or the module."""
    trail = analysis.index(analysis.source.path).trail(node)
    return first_of(reversed(trail), ast.FunctionDef) or trail[0]


def _bound(scope: ast.AST, name: str | None) -> list[ast.expr]:
    """The values that a name gets in a function."""
    pairs = (pair for one in nodes_in(scope, ast.Assign) for pair in assigned_pairs(one))
    return [value for target, value in pairs if name is not None and is_name(target, name)]


def _batch_of(value: ast.expr | None, key: str) -> ast.expr | None:
    """``batch["input_ids"]`` or ``batch.input_ids``: the batch."""
    match value:
        case ast.Subscript(slice=name) if is_literal(name, key):
            return value.value
        case ast.Attribute(attr=name) if name == key:
            return value.value
        case ast.Call(func=ast.Attribute(attr="to" | "cuda", value=inner)):
            return _batch_of(inner, key)
    return None


def _is_padded(analysis: Analysis, batch: ast.expr) -> bool:
    """Whether a batch is what a tokenizer has padded."""
    made = _bound(_scope(analysis, batch), plain_name(batch))
    calls = [one for value in made for one in nodes_in(value, ast.Call)]
    words = [keyword_of(one, "padding") for one in calls if "token" in last_word(one.func).lower()]
    given = [word.value for word in words if word is not None]
    texts = [one.args[0] for one in calls if keyword_of(one, "padding") is not None and one.args]
    single = any(isinstance(one, ast.Constant | ast.JoinedStr) for one in texts)
    return len(made) == 1 and bool(texts) and not single and any(literal(one) in _PADDING for one in given)


def _of_call(analysis: Analysis, call: ast.Call) -> Iterator[Finding]:
    source, given = analysis.source, argument_of(call, None, "input_ids")
    batch = _batch_of(given, "input_ids")
    if given is None or batch is None or len(call.args) or any(word.arg is None for word in call.keywords):
        return
    if keyword_of(call, "attention_mask") is None and _is_padded(analysis, batch):
        mask = source.segment(given).replace("input_ids", "attention_mask")
        fix = added_argument(source, call, f"attention_mask={mask}")
        text = message("mask.not_passed", batch=source.segment(batch))
        yield Finding(source.span(call), text, (), (fix,))


def _of_mean(analysis: Analysis, call: ast.Call) -> Iterator[Finding]:
    """``model(ids, attention_mask=mask).last_hidden_state.mean(dim=1)``"""
    source, scope, mask = analysis.source, _scope(analysis, call), argument_of(call, None, "attention_mask")
    if mask is None or not _has_padding(analysis, mask, scope):
        return
    for mean in nodes_in(scope, ast.Call):
        over = mean.func.value if is_attribute(mean.func, "mean") else None
        if over is None or literal(argument_of(mean, 0, "dim", "axis")) != 1 or "mask" in source.segment(over):
            continue
        hidden = over if contains(over, ast.Attribute) else next(iter(_bound(scope, plain_name(over))), None)
        whole = as_kind(hidden, ast.Attribute)
        if whole is None or whole.attr != "last_hidden_state":
            continue
        made = (
            whole.value
            if isinstance(whole.value, ast.Call)
            else next(iter(_bound(scope, plain_name(whole.value))), None)
        )
        if made is call:
            name, text = source.segment(over), source.segment(mask)
            new = f"({name} * {text}.unsqueeze(-1)).sum(dim=1) / {text}.sum(dim=1, keepdim=True)"
            fixes = (replacement(source, mean, new),) if isinstance(mask, ast.Name) else ()
            yield Finding(source.span(mean), message("mask.mean", mask=text), (), fixes)


def _has_padding(analysis: Analysis, mask: ast.expr, scope: ast.AST) -> bool:
    """Whether a mask is made of a comparison, or is one of a padded batch."""
    batch = _batch_of(mask, "attention_mask")
    if batch is not None:
        return _is_padded(analysis, batch)
    values = [*_bound(scope, plain_name(mask)), *_returned(analysis, scope, plain_name(mask))]
    return len(values) == 1 and any(isinstance(one.ops[0], ast.NotEq) for one in nodes_in(values[0], ast.Compare))


def _returned(analysis: Analysis, scope: ast.AST, name: str | None) -> Iterator[ast.expr]:
    """The expression that a function of the document returns at the place of a name: ``ids, mask = pad(rows)``."""
    functions = {one.name: one for one in analysis.index(analysis.source.path).of_type(ast.FunctionDef)}
    for one in nodes_in(scope, ast.Assign):
        target, function = as_kind(one.targets[0], ast.Tuple), functions.get(str(called(one.value)))
        returned = returned_by(function) if function is not None else []
        if target is None or len(returned) != 1 or not isinstance(returned[0], ast.Tuple):
            continue
        pairs = zip(target.elts, returned[0].elts) if len(target.elts) == len(returned[0].elts) else ()
        for part, value in pairs:
            if is_name(part, str(name)) and function is not None:
                yield from _bound(function, plain_name(value)) or [value]


RULE = Rule(FAULTS[CODE], find)
