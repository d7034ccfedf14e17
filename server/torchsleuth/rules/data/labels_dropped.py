"""labels-dropped: the Trainer of transformers drops the labels, for the model takes nothing of their name.

What it finds
    A Trainer whose collate function reads keys that `forward()` of the model has no parameter for, though it takes any: they are
    dropped before. A Trainer whose data set gives its target under a name that `forward()` of the model does not have, and no `labels`, where the
    model computes a loss from `labels` alone.
Why it hurts
    What `forward()` has no parameter for is dropped before a batch is made. The model gets no labels, returns no loss, and the
    training stops at its first step with a ValueError.
Example
    def forward(self, input_ids, labels=None): ...
    return {"input_ids": ids, "stars": stars}        # in the data set
Use instead
    return {"input_ids": ids, "labels": stars}
Fix safety
    Safe where one name alone is dropped.
References
    transformers.TrainingArguments, "remove_unused_columns"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import model_classes
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, replacement
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax.forms import by_position, every_parameter, literal, loads, nodes_in, returned_by
from torchsleuth.values import DictValue, Function, Instance, Value, elements_of

CODE = "TS638"
_LABELS = frozenset({"labels", "label", "label_ids"})
"""Names under which the Trainer looks for labels, or its collate function gives them on."""
_BY_LABELS = re.compile(r"For(SequenceClassification|TokenClassification|ImageClassification|MultipleChoice)$")
"""Models of transformers that compute a loss from `labels`, and from nothing else."""
_INPUTS = re.compile(r"_ids$|mask$|_values$|_features$|_embeds$|^(bbox|langs)$")
_ELSEWHERE = ("remove_unused_columns", "label_names", "compute_loss")


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    for call in analysis.calls.get("transformers.Trainer", ()):
        if "remove_unused_columns" not in source.text:
            yield from _of_collator(analysis, call)
        if (
            any(word in source.text for word in _ELSEWHERE)
            or {"data_collator", "compute_loss_func"} & call.kwargs.keys()
        ):
            continue
        data = as_kind(call.given(3, "train_dataset"), Instance)
        getter, takes = _method(data, "__getitem__"), _taken(analysis, call)
        if takes is None or getter is None or data is None:
            continue
        samples = [one for one in returned_by(getter.node) if isinstance(one, ast.Dict)]
        names = [literal(key) for one in samples for key in one.keys if key is not None]
        whole = len(samples) == len(list(returned_by(getter.node))) == 1 and all(
            isinstance(name, str) for name in names
        )
        dropped = [name for name in names if not takes(str(name))]
        if not whole or not dropped or set(names) & _LABELS or None in samples[0].keys:
            continue
        here = analysis.source_of(data.cls.path)
        keys = [key for key in samples[0].keys if key is not None and literal(key) in dropped]
        fixes: tuple[Candidate, ...] = (replacement(here, keys[0], '"labels"'),) if len(keys) == 1 else ()
        place = call.site.span.related(message("labels.dropped.here"))
        yield Finding(here.span(keys[0]), message("labels.dropped", name=dropped[0]), (place,), fixes)


def _taken(analysis: Analysis, call: LibraryCall) -> Callable[[str], bool] | None:
    """Whether the model of a Trainer takes what has a name, where it computes its loss from `labels` alone; None for other models."""
    model = call.given(0, "model")
    if isinstance(model, Instance):
        forward = _method(model, "forward")
        taken = _parameters(forward) if forward is not None else None
        return taken.__contains__ if taken is not None and "labels" in taken else None
    classes = model_classes(analysis)
    known = bool(classes) and all(map(_BY_LABELS.search, classes))
    return _is_input if known and not isinstance(model, Function) and "peft" not in analysis.source.text else None


def _is_input(name: str) -> bool:
    """Whether models of transformers have a parameter of this name, by the words that all these have."""
    return bool(_INPUTS.search(name)) or name in _LABELS


def _of_collator(analysis: Analysis, call: LibraryCall) -> Iterator[Finding]:
    """Keys of the samples, dicts of the data set's own, that the collate function reads and the Trainer has dropped."""
    model, data = call.given(0, "model"), call.given(3, "train_dataset")
    collate, forward = as_kind(call.given(2, "data_collator"), Function), _method(as_kind(model, Instance), "forward")
    takes = _taken(analysis, call) if not isinstance(model, Instance) else None
    if collate is None or (forward is None or forward.node.args.kwarg is None) and takes is None:
        return
    taken = _LABELS | ({one.arg for one in every_parameter(forward.node.args)} if forward is not None else set())
    given = _keys_of(analysis, data)
    read = [
        literal(one.slice)
        for one in nodes_in(collate.node, ast.Subscript)
        if isinstance(one.value, ast.Name) and loads(one)
    ]
    known = [key for key in dict.fromkeys(read) if isinstance(key, str) and key in given]
    dropped = [key for key in known if key not in taken and not (takes is not None and takes(key))]
    if not dropped:
        return
    made = next((one for one in analysis.calls.get("transformers.TrainingArguments", ()) if one.site.call), None)
    at = call.site if made is None else made.site
    fixes = (
        (added_argument(made.site.source, made.site.call, "remove_unused_columns=False"),)
        if made and made.site.call
        else ()
    )
    rest = forward.node.args.kwarg if forward is not None else None
    places = (
        (analysis.source_of(forward.path).span(rest).related(message("columns.forward")),)
        if forward is not None and rest is not None
        else ()
    )
    yield Finding(at.span, message("columns.dropped", name=dropped[0]), places, fixes)


def _keys_of(analysis: Analysis, data: Value) -> set[object]:
    """The keys of the samples of a data set: a list of dicts, or an object whose class makes them."""
    if isinstance(data, Instance):
        owner = analysis.index(data.cls.path).same(data.cls.node)
        return {literal(key) for one in nodes_in(owner, ast.Dict) for key in one.keys} if owner is not None else set()
    first = first_of(elements_of(data) or (), DictValue)
    return set(first.items or ()) if first is not None else set()


def _method(owner: Instance | None, name: str) -> Function | None:
    """A method that the user has written, None where the class has another."""
    found: Value = owner.cls.slots.get(name) if owner is not None else None
    return as_kind(found, Function)


def _parameters(forward: Function) -> set[str] | None:
    """The names that forward() takes, None where it takes any; none where a loss may come from something else than labels."""
    node = as_kind(forward.node, ast.FunctionDef)
    if node is None or node.args.kwarg is not None:
        return None
    asks = any(isinstance(one.left, ast.Name) and one.left.id == "labels" for one in nodes_in(node, ast.Compare))
    return {one.arg for one in (*by_position(node.args), *node.args.kwonlyargs)} if asks else None


RULE = Rule(FAULTS[CODE], find)
