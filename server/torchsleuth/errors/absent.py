"""A loss that a model of transformers did not compute, as it got no labels, or got them under another name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import add_argument
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import around, bound, note
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_attribute,
    is_text,
    keyword_of,
    names_in,
    nodes_in,
    plain_name,
    stores,
)

_LIKE_LABELS = re.compile(
    r"labels?|label_ids?|labels_ids?|targets?|classes|class_?(?:id|idx|label)?|y|answers?|topics?", re.IGNORECASE
)
_INPUTS = (
    "input_ids",
    "attention_mask",
    "inputs_embeds",
    "pixel_values",
    "input_values",
    "input_features",
    "token_type_ids",
)


def _model_call(case: Case) -> tuple[CrashFrame, ast.Call] | None:
    """The call of a model whose result has no loss: ``model(**batch)`` of ``out = model(**batch)`` and ``out.loss.backward()``."""
    if not any("transformers" in file.source.text for file in case.files):
        return None
    read = case.frame.node or case.frame.statement
    for part in nodes_in(read, ast.Attribute, ast.Name) if read is not None else ():
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            given = bound(case.frame, part)
            part = given if is_attribute(given, "loss") else part
        if is_attribute(part, "loss"):
            made = bound(case.frame, part.value)
            value = case.frame.value(part) or {"type": "NoneType"}
            if isinstance(made, ast.Call) and value.get("type") == "NoneType" and keyword_of(made, "labels") is None:
                return case.frame, made
    return None


def _label_keys(case: Case) -> list[tuple[CrashFrame, ast.Constant]]:
    """The key under which labels are put into what the model is given, which is not ``labels``."""
    called_here = _model_call(case)
    spread = [part.value for part in called_here[1].keywords if part.arg is None] if called_here is not None else []
    if called_here is None or not spread:
        return []
    texts: list[tuple[CrashFrame, ast.Constant]] = []
    for file, node in made_from(case, called_here[0], spread[0]):
        if isinstance(node, ast.Dict) and {key.value for key in node.keys if is_text(key)} & set(_INPUTS):
            texts += [(file, key) for key in node.keys if is_text(key)]
        elif isinstance(node, ast.Name):
            scope = around(file.tree, node)
            puts = [
                part for part in nodes_in(scope, ast.Subscript) if stores(part) and plain_name(part.value) == node.id
            ]
            texts += [(file, part.slice) for part in puts if is_text(part.slice)]
    if any(key.value == "labels" for _, key in texts):
        return []
    found = {
        (file.path, key.lineno, key.col_offset): (file, key)
        for file, key in texts
        if _LIKE_LABELS.fullmatch(str(key.value))
    }
    return list(found.values())[:3]


def _label_keys_here(case: Case) -> Iterator[Related]:
    for file, key in _label_keys(case):
        yield note(file.source, key, "error.label_under_key", key=key.value)
    made = _model_call(case)
    if made is not None:
        yield note(made[0].source, made[1], "error.called_without_labels")


def _as_labels(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``batch["label"] = …`` → ``batch["labels"] = …``; else ``model(ids, mask)`` → ``model(ids, mask, labels=y)``."""
    keys = _label_keys(case)
    if keys:
        same = [(file, key) for file, key in keys if key.value == keys[0][1].value]
        changes = tuple(edits.replace(file.source, key, '"labels"') for file, key in same)
        yield Fix(message("fix.key", old=keys[0][1].value, new="labels"), changes, safe=False)
        return
    made = _model_call(case)
    if made is None:
        return
    file, call = made
    scope = around(file.tree, call)
    bound_here = [name for name in sorted(names_in(scope)) if _LIKE_LABELS.fullmatch(name)]
    batches = {plain_name(part.value) for part in nodes_in(call, ast.Subscript) if is_text(part.slice)} - {None}
    for name in bound_here:
        yield add_argument(file.source, call, f"labels={name}", safe=False)
    for name in sorted(name for name in batches if name):
        key = next(
            (str(key.value) for _, key in _keys_of_samples(case) if _LIKE_LABELS.fullmatch(str(key.value))), "labels"
        )
        yield add_argument(file.source, call, f'labels={name}["{key}"]', safe=False)


def _keys_of_samples(case: Case) -> Iterator[tuple[CrashFrame, ast.Constant]]:
    for file in case.files:
        for node in file.all(ast.Dict):
            keys = [key for key in node.keys if is_text(key)]
            if {key.value for key in keys} & set(_INPUTS):
                yield from ((file, key) for key in keys)
        yield from ((file, part.slice) for part in file.all(ast.Subscript) if stores(part) and is_text(part.slice))


# lists of a tokenizer


def _lists(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """The calls of tokenizers that give lists, as they are not told to give tensors."""
    if not any("transformers" in file.source.text for file in case.files):
        return []
    options = ("padding", "truncation", "max_length", "add_special_tokens", "return_attention_mask")
    found = [
        (file, node)
        for file in case.files
        for node in file.all(ast.Call)
        if keyword_of(node, "return_tensors") is None
        and (
            re.fullmatch(r"(?:self\.)?\w*tok(?:enizer)?", file.text(node.func))
            or called(node) in ("batch_encode_plus", "encode_plus", "pad")
            and "tok" in file.text(node.func)
        )
        and (called(node) != "pad" or any(keyword_of(node, option) for option in options))
        and not _goes_on(file, node)
    ]
    return found if len(found) <= 2 else []


def _goes_on(file: CrashFrame, node: ast.Call) -> bool:
    """Whether something is taken out of what the tokenizer gives at once, to be made a tensor of later: ``tok(text)["input_ids"]``."""
    trail = edits.path_to(file.tree, node)
    return len(trail) > 1 and isinstance(trail[-2], ast.Subscript | ast.Attribute)


def _lists_here(case: Case) -> Iterator[Related]:
    for file, node in _lists(case):
        yield note(file.source, node, "error.lists_given")


def _as_tensors(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``tok(texts, padding=True)`` → ``tok(texts, padding=True, return_tensors="pt")``"""
    for file, node in _lists(case):
        yield add_argument(file.source, node, 'return_tensors="pt"')


_NONE = r"'NoneType'"
_LIST = r"'list' object has no attribute '(?:size|shape|to|dim|device|unsqueeze|view|long)'|must be Tensor, not list|'list' object cannot be interpreted"

ENTRIES = (entry("TS199", _NONE, "error.loss_is_none", applies=lambda case: _model_call(case) is not None),)
BUILDERS: tuple[tuple[str, Builder], ...] = ((_NONE, _as_labels), (_LIST, _as_tensors))
PLACES = ((_NONE, _label_keys_here), (_LIST, _lists_here))
