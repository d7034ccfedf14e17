"""Programs around the Trainer of transformers: the classes of their models, what they give the Trainer, and how they measure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.interp.trace import LibraryCall
from torchsleuth.rules.rule import Analysis
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import assigned_pairs, by_position, is_attribute, nodes_in, plain_name
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import Function

TRAINERS = ("transformers.Trainer", "transformers.Seq2SeqTrainer")
ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
_MODEL = re.compile(r"(?<!Collator)For[A-Z]\w*$|LMHeadModel$|EncoderDecoderModel$")
_CAUSAL = re.compile(r"ForCausalLM$|LMHeadModel$")


def model_classes(analysis: Analysis) -> set[str]:
    """The classes of models with a head that a document names, such as ``BertForSequenceClassification``."""
    parts = (
        part for use in analysis.names.uses if use.path.startswith("transformers.") for part in use.path.split(".")
    )
    return {part for part in parts if _MODEL.search(part)}


def are_causal(analysis: Analysis) -> bool:
    """Whether all models of a document predict the token that follows."""
    found = model_classes(analysis)
    return bool(found) and all(map(_CAUSAL.search, found))


def makes_model(analysis: Analysis, value: ast.expr) -> bool:
    """Whether an expression makes or loads a model of transformers: ``BertModel(config).eval()``."""
    made = {use.call for use in analysis.names.uses if use.call is not None and _is_model(use.path)}
    current: ast.AST = value
    while isinstance(current, ast.Call):
        if current in made:
            return True
        current = current.func.value if isinstance(current.func, ast.Attribute) else current.func
    return False


def _is_model(path: str) -> bool:
    """Whether the name of a class of transformers, or of its way to load one, is that of a model."""
    owner, _, name = path.rpartition(".")
    cls = (owner if name in ("from_pretrained", "from_config") else path).rpartition(".")[2]
    return path.startswith("transformers.") and bool(_MODEL.search(cls) or cls.endswith("Model"))


def whole_call(call: LibraryCall) -> ast.Call | None:
    """A call all of whose arguments are written out."""
    node = call.site.call
    return node if node is not None and all(word.arg is not None for word in node.keywords) else None


def made_with(analysis: Analysis) -> LibraryCall | None:
    """The call that makes the TrainingArguments of a document, where there is one alone and nothing changes them later."""
    made = [call for path in ARGUMENTS for call in analysis.calls.get(path, ())]
    if len({call.site.span for call in made}) != 1 or whole_call(made[0]) is None:
        return None
    index = analysis.index(made[0].site.span.path)
    names = {
        plain_name(target)
        for one in index.of_type(ast.Assign)
        for target, value in assigned_pairs(one)
        if value is made[0].site.call or ast.dump(value) == ast.dump(made[0].site.node)
    }
    changed = (target for one in index.of_type(ast.Assign) for target, _ in assigned_pairs(one))
    return None if any(plain_name(one.value) in names for one in of_kind(changed, ast.Attribute)) else made[0]


def trainings(analysis: Analysis) -> Iterator[LibraryCall]:
    """The calls that make a Trainer, one for each place."""
    found = (call for path in TRAINERS for call in analysis.calls.get(path, ()))
    yield from {call.site.span: call for call in found}.values()


@dataclass(frozen=True)
class Measure:
    """A function that a Trainer measures with. `predictions`, `labels`: the texts of what it has of them, as they come."""

    trainer: LibraryCall
    source: SourceText
    function: ast.FunctionDef
    predictions: frozenset[str]
    labels: frozenset[str]


def measures(analysis: Analysis) -> Iterator[Measure]:
    """The ``compute_metrics`` of the Trainers, those that the document defines."""
    for call in trainings(analysis):
        given = as_kind(call.kwargs.get("compute_metrics"), Function)
        function = as_kind(given.node, ast.FunctionDef) if given is not None else None
        if given is None or function is None or not by_position(function.args):
            continue
        name = by_position(function.args)[0].arg
        first, second = {f"{name}.predictions", f"{name}[0]"}, {f"{name}.label_ids", f"{name}[1]"}
        pairs = [pair for one in nodes_in(function, ast.Assign) for pair in assigned_pairs(one)]
        for one in nodes_in(function, ast.Assign):
            target = one.targets[0]
            if plain_name(one.value) == name and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                first.add(ast.unparse(target.elts[0]))
                second.add(ast.unparse(target.elts[1]))
        for names in (first, second):
            names.update(ast.unparse(target) for target, value in pairs if ast.unparse(value) in names)
        yield Measure(call, analysis.source_of(given.path), function, frozenset(first), frozenset(second))


def averaged_comparisons(measure: Measure) -> Iterator[ast.Compare]:
    """``(predictions == labels).mean()`` of all labels, as they come."""
    for call in nodes_in(measure.function, ast.Call):
        if not is_attribute(call.func, "mean") or not isinstance(call.func, ast.Attribute):
            continue
        compared = as_kind(call.func.value if not call.args else call.args[0], ast.Compare)
        if compared is not None and len(compared.ops) == 1 and isinstance(compared.ops[0], ast.Eq):
            if {ast.unparse(compared.left), ast.unparse(compared.comparators[0])} & measure.labels:
                yield compared


__all__ = [
    "ARGUMENTS",
    "TRAINERS",
    "Measure",
    "are_causal",
    "averaged_comparisons",
    "made_with",
    "measures",
    "model_classes",
    "trainings",
    "whole_call",
]
