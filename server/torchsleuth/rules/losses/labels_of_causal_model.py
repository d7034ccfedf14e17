"""labels-of-causal-model: labels for a language model of transformers that are shifted already, or hold the padding.

What it finds
    A causal language model that is called with `labels=ids[:, 1:]` for `input_ids=ids[:, :-1]`, or gets labels that a collate function
    has shifted (`labels[:, :-1] = ids[:, 1:]`, `torch.roll`), in a file that computes no such loss itself; and labels that are the input
    itself, padding included, beside an attention mask that tells where the padding is. The same of a model of the file itself whose
    forward() compares `logits[:, :-1]` with `labels[:, 1:]`.
Why it hurts
    These models compare each place with the label of the next one themselves: shifted labels teach to leave out a word. Where
    padding is a label, the model learns to write padding; -100 is what the loss leaves out. Nothing is raised.
Example
    loss = model(input_ids=ids[:, :-1], labels=ids[:, 1:]).loss
Use instead
    loss = model(input_ids=ids, labels=ids).loss
Fix safety
    Safe for shifted labels. Padding: safe where the mask tells it.
References
    transformers.GPT2LMHeadModel.forward, "labels"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    assigned_pairs,
    by_position,
    called,
    is_binding,
    is_method_call,
    is_name,
    keyword_of,
    literal,
    nodes_in,
    parts_of_key,
    plain_name,
    returned_by,
)
from torchsleuth.syntax.trees import Index

CODE = "TS342"
_CAUSAL = ("LMHeadModel", "ForCausalLM")
_OWN_LOSSES = frozenset({"cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"})
_COPIES = ("clone", "copy", "detach")
_ELSEWHERE = ("-100", "ignore_index", "DataCollator")
"""Words of a file that leaves padding out in another way."""


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _of_own_models(analysis)
    used = (use.path.split(".") for use in analysis.names.uses if use.path.startswith("transformers."))
    if not any(part.endswith(_CAUSAL) for path in used for part in path):
        return
    bound = _bound(analysis)
    for call in analysis.index(analysis.source.path).of_type(ast.Call):
        ids, labels = keyword_of(call, "input_ids"), keyword_of(call, "labels")
        if ids is not None and labels is not None:
            yield from _shifted(analysis, bound, ids.value, labels.value)
            mask = keyword_of(call, "attention_mask")
            yield from _padded(analysis, bound, ids.value, labels.value, mask.value if mask is not None else None)
    for batch in analysis.index(analysis.source.path).of_type(ast.Dict):
        given = {literal(key): value for key, value in zip(batch.keys, batch.values)}
        if "input_ids" in given and "labels" in given:
            if _goes_to_model(analysis):
                yield from _shifted(analysis, bound, given["input_ids"], given["labels"])
                yield from _moved(analysis, batch, given["input_ids"], given["labels"])
            yield from _padded(analysis, bound, given["input_ids"], given["labels"], given.get("attention_mask"))


def _of_own_models(analysis: Analysis) -> Iterator[Finding]:
    """Labels that are shifted where a sample is made, for a model that shifts them again."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    for function in index.of_type(ast.FunctionDef):
        names = [one.arg for one in by_position(function.args) if one.arg != "self"]
        shifted = next((one for one in nodes_in(function, ast.Call) if called(one) in _OWN_LOSSES), None)
        labels = next((name for name in names if shifted is not None and _shifts(shifted, name)), None)
        if shifted is None or labels is None or function.name != "forward" or labels == names[0]:
            continue
        if any(other is not function and _takes(other, labels) for other in index.of_type(ast.FunctionDef)):
            continue  # which of them gets the labels is not known
        place = source.span(shifted).related(message("causal.shifted.again"))
        for first, second in _handed_over(index, names, labels):
            if _is_shifted(first, second):
                fix = replacement(source, second, source.segment(first))
                yield Finding(source.span(second), message("causal.shifted"), (place,), (fix,))


def _takes(function: ast.FunctionDef, labels: str) -> bool:
    """Whether the forward() of another module takes labels of that name."""
    return function.name == "forward" and labels in [one.arg for one in by_position(function.args)]


def _shifts(loss: ast.Call, labels: str) -> bool:
    """Whether a loss compares each place but the last with the label of the next one."""
    if len(loss.args) < 2:
        return False
    ends = {_last_slice(part) for part in nodes_in(loss.args[0], ast.Subscript)}
    begins = {_last_slice(part) for part in nodes_in(loss.args[1], ast.Subscript) if is_name(part.value, labels)}
    return ":-1" in ends and "1:" in begins


def _last_slice(node: ast.Subscript) -> str:
    """The slice of a subscript that is no full one: ``:-1`` of ``x[:, :-1]``."""
    parts = [ast.unparse(part) for part in parts_of_key(node)]
    chosen = [part for part in parts if part not in (":", "...")]
    return chosen[0] if len(chosen) == 1 else ""


def _is_shifted(first: ast.expr, second: ast.expr) -> bool:
    """Whether two expressions are a sequence without its last and without its first element."""
    if not isinstance(first, ast.Subscript) or not isinstance(second, ast.Subscript):
        return False
    alike = ast.dump(first.value) == ast.dump(second.value)
    return alike and (_last_slice(first), _last_slice(second)) == (":-1", "1:")


def _handed_over(index: Index, names: list[str], labels: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The input and the labels that may be given to a function with such parameters: entries of a dictionary that are called like
    them, arguments of a call, and what a data set gives for a loop whose two names are these arguments."""
    for batch in index.of_type(ast.Dict):
        given = {literal(key): value for key, value in zip(batch.keys, batch.values) if key is not None}
        if labels in given and names[0] in given:
            yield given[names[0]], given[labels]
    place, loops = names.index(labels), index.of_type(ast.For)
    pairs = [target.elts for loop in loops for target in nodes_in(loop.target, ast.Tuple) if len(target.elts) == 2]
    in_order = {tuple(plain_name(part) for part in pair) for pair in pairs}
    from_loader = False
    for call in index.of_type(ast.Call):
        own = is_method_call(call) or called(call) in _OWN_LOSSES
        named = keyword_of(call, labels)
        second = named.value if named is not None else call.args[place] if len(call.args) > place else None
        if call.args and second is not None and not own:
            yield call.args[0], second
            from_loader = from_loader or (plain_name(call.args[0]), plain_name(second)) in in_order
    for getter in index.of_type(ast.FunctionDef) if from_loader else ():
        for value in returned_by(getter) if getter.name == "__getitem__" else ():
            if isinstance(value, ast.Tuple) and len(value.elts) == 2:
                yield value.elts[0], value.elts[1]


def _bound(analysis: Analysis) -> dict[str, ast.expr]:
    """The values of the names that are bound once in the file."""
    found: dict[str, list[ast.expr]] = {}
    for statement in analysis.index(analysis.source.path).of_type(ast.Assign):
        for target, value in assigned_pairs(statement):
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _meant(bound: dict[str, ast.expr], node: ast.expr) -> ast.expr:
    return bound.get(plain_name(node) or "", node)


def _shifted(analysis: Analysis, bound: dict[str, ast.expr], ids: ast.expr, labels: ast.expr) -> Iterator[Finding]:
    """``model(input_ids=ids[:, :-1], labels=ids[:, 1:])``"""
    first, second = (_uncopied(_meant(bound, node)) for node in (ids, labels))
    if not isinstance(first, ast.Subscript) or not isinstance(second, ast.Subscript):
        return
    if _is_shifted(first, second):
        source, whole = analysis.source, analysis.source.segment(first.value)
        title = message("fix.replace", old=source.segment(second), new=whole)
        changes = (edits.replace(source, first, whole), edits.replace(source, second, whole))
        place = () if second is labels else (source.span(second).related(message("causal.shifted.here")),)
        yield Finding(source.span(labels), message("causal.shifted"), place, (Candidate(title, changes),))


def _uncopied(node: ast.expr) -> ast.expr:
    """The tensor that is copied: ``ids[:, 1:]`` of ``ids[:, 1:].clone()``."""
    while is_method_call(node, *_COPIES, "contiguous"):
        node = node.func.value
    return node


def _goes_to_model(analysis: Analysis) -> bool:
    """Whether the labels of batches are taken by the model, rather than by a loss of the file's own."""
    calls = analysis.index(analysis.source.path).of_type(ast.Call)
    names = {called(call) for call in calls}
    spread = any(word.arg is None for call in calls for word in call.keywords)
    return not names & _OWN_LOSSES and (spread or any(name.endswith("Trainer") for name in names))


def _moved(analysis: Analysis, batch: ast.Dict, ids: ast.expr, labels: ast.expr) -> Iterator[Finding]:
    """``labels[:, :-1] = ids[:, 1:]`` in front of a batch with both, and ``labels = torch.roll(ids, -1, 1)``."""
    trail, source = analysis.index(analysis.source.path).trail(batch), analysis.source
    function = next((part for part in reversed(trail) if isinstance(part, ast.FunctionDef)), None)
    first, name = plain_name(ids), plain_name(labels)
    for statement in nodes_in(function, ast.Assign) if function is not None and first and name else ():
        target, value = statement.targets[0], statement.value
        if is_binding(statement, name) and called(value) == "roll" and isinstance(value, ast.Call) and value.args:
            shift = value.args[1] if len(value.args) > 1 else None
            if is_name(value.args[0], first) and shift is not None and ast.unparse(shift) == "-1":
                edit = replacement(source, value, f"{first}.clone()")
                yield Finding(source.span(value), message("causal.shifted"), (), (edit,))
        parts = [as_kind(node, ast.Subscript) for node in (target, value)]
        if parts[0] is None or parts[1] is None or len(statement.targets) > 1:
            continue
        keys = [[ast.unparse(part) for part in parts_of_key(one)][-1:] for one in of_kind(parts, ast.Subscript)]
        if is_name(parts[0].value, name) and is_name(parts[1].value, first) and keys == [[":-1"], ["1:"]]:
            edit = replacement(source, statement, f"{name}[:] = {first}")
            yield Finding(source.span(statement), message("causal.shifted"), (), (edit,))


def _padded(
    analysis: Analysis, bound: dict[str, ast.expr], ids: ast.expr, labels: ast.expr, mask: ast.expr | None
) -> Iterator[Finding]:
    """``{"input_ids": ids, "attention_mask": (ids != pad).long(), "labels": ids}``"""
    source = analysis.source
    own = labels.func.value if is_method_call(labels, *_COPIES) else labels
    if mask is None or ast.dump(own) != ast.dump(ids) or any(word in source.text for word in _ELSEWHERE):
        return
    told = _meant(bound, mask)
    comparison = next((part for part in nodes_in(told, ast.Compare) if isinstance(part.ops[0], ast.NotEq)), None)
    if comparison is None or ast.dump(comparison.left) != ast.dump(ids):
        return
    text = (
        f"{source.segment(ids)}.masked_fill({source.segment(ids)} == {source.segment(comparison.comparators[0])}, -100)"
    )
    place = source.span(comparison).related(message("causal.padding.mask"))
    yield Finding(source.span(labels), message("causal.padding"), (place,), (replacement(source, labels, text),))


RULE = Rule(FAULTS[CODE], find)
