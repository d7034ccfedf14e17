"""trainer-measures: what the Trainer of transformers is told of an evaluation is not what it can take, or counts what it should not.

What it finds
    A `compute_metrics` that returns a number instead of a dict, or takes the argmax of the predictions where the model's configuration
    has `output_hidden_states=True`: they are a tuple then. A `compute_loss` that pays no heed to `return_outputs`, in a Trainer that
    evaluates. And an accuracy over labels of which some are -100, or that compares the predictions of a causal model with the labels
    of the same positions: each predicts the label that follows.
Why it hurts
    TypeError or ValueError at the first evaluation, after the first epoch of the training. The accuracies are wrong, and nothing is
    raised.
Example
    def compute_metrics(pred):
        return accuracy_score(pred.label_ids, pred.predictions.argmax(-1))
Use instead
    def compute_metrics(pred):
        return {"accuracy": accuracy_score(pred.label_ids, pred.predictions.argmax(-1))}
Fix safety
    Safe: what is measured stays what it was.
References
    transformers.Trainer, "compute_metrics"
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import (
    TRAINERS,
    Measure,
    are_causal,
    averaged_comparisons,
    measures,
    model_classes,
    trainings,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import (
    assigned_pairs,
    called,
    every_parameter,
    is_attribute,
    is_dotted,
    is_name,
    is_reference,
    keyword_of,
    last_word,
    nodes_in,
    plain_name,
    returned_by,
)
from torchsleuth.syntax.text import SourceText

CODE = "TS596"
_NUMBERS = frozenset("item mean sum float int len round".split())
"""Functions that give a number, or an array."""
_PADS = re.compile(r"-100|DataCollatorFor(TokenClassification|Seq2Seq|LanguageModeling)")
_TOGETHER = ("output_hidden_states", "output_attentions")


def find(analysis: Analysis) -> Iterator[Finding]:
    for measure in measures(analysis):
        yield from _of_result(measure)
        yield from _of_tuple(analysis, measure)
        yield from _of_labels(analysis, measure)
    yield from _of_losses(analysis)


def _of_result(measure: Measure) -> Iterator[Finding]:
    """``return recall``"""
    source, returned = measure.source, returned_by(measure.function)
    if not returned or not all(_is_number(one, measure.function) for one in returned):
        return
    for one in returned:
        text = source.segment(one)
        name = text if text.isidentifier() else str(called(one) or "value").removesuffix("_score")
        fix = replacement(source, one, f'{{"{name}": {text}}}')
        yield Finding(source.span(one), message("measure.number", text=source.on_one_line(one)), (), (fix,), "error")


def _is_number(node: ast.expr, function: ast.FunctionDef, depth: int = 3) -> bool:
    """Whether an expression is a number or an array for certain."""
    match node:
        case ast.Name(id=name) if depth:
            bound = [
                value
                for one in nodes_in(function, ast.Assign)
                for to, value in assigned_pairs(one)
                if is_name(to, name)
            ]
            return len(bound) == 1 and _is_number(bound[0], function, depth - 1)
        case ast.BinOp() | ast.Compare() | ast.Constant(value=float() | int()):
            return not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.BitOr)
        case ast.Call():
            name = str(called(node))
            return name in _NUMBERS or name.endswith(("_score", "_error"))
    return False


def _of_tuple(analysis: Analysis, measure: Measure) -> Iterator[Finding]:
    """The predictions of a model that gives its hidden states, too."""
    if "preprocess_logits_for_metrics" in measure.trainer.kwargs or "ignore_keys" in analysis.source.text:
        return
    asked = [
        word
        for path, calls in analysis.calls.items()
        if path.startswith("transformers.") and path.endswith("Config")
        for call in calls
        for word in _TOGETHER
        if call.kwargs.get(word) is True
    ]
    function, source = measure.function, measure.source
    if not asked or any(is_name(one.func, "isinstance") for one in nodes_in(function, ast.Call)):
        return
    for call in nodes_in(function, ast.Call):
        if not is_attribute(call.func, "argmax") or not isinstance(call.func, ast.Attribute):
            continue
        whole = call.args[0] if is_name(call.func.value, "np", "numpy") and call.args else call.func.value
        if ast.unparse(whole) in measure.predictions and _stays(whole, function, measure):
            text = message("measure.tuple", text=source.segment(whole), option=asked[0])
            yield Finding(
                source.span(whole), text, (), (replacement(source, whole, f"{source.segment(whole)}[0]"),), "error"
            )


def _stays(whole: ast.expr, function: ast.FunctionDef, measure: Measure) -> bool:
    """Whether a name is never bound to a part of itself."""
    name = plain_name(whole)
    bound = [
        value for one in nodes_in(function, ast.Assign) for to, value in assigned_pairs(one) if plain_name(to) == name
    ]
    return name is None or all(ast.unparse(value) in measure.predictions for value in bound)


def _of_labels(analysis: Analysis, measure: Measure) -> Iterator[Finding]:
    """Comparisons with labels that are no classes, or that belong to other positions."""
    source, whole = measure.source, measure.source.segment(measure.function)
    head = measure.source.text.replace(whole, "")
    for compared in averaged_comparisons(measure):
        sides = [source.segment(one) for one in (compared.left, compared.comparators[0])]
        if are_causal(analysis) and not any(nodes_in(measure.function, ast.Slice)):
            first, second = sides if sides[1] in measure.labels else sides[::-1]
            fixes: tuple[Candidate, ...] = (replacement(source, compared, f"{first}[:, :-1] == {second}[:, 1:]"),)
            yield Finding(source.span(compared), message("measure.shift"), (), fixes, "warning")
        elif "-100" not in whole and "mask" not in whole and _PADS.search(head) and _of_tokens(analysis):
            labels = next(one for one in sides if one in measure.labels)
            fixes = (replacement(source, compared, f"({source.segment(compared)})[{labels} != -100]"),)
            yield Finding(source.span(compared), message("measure.ignored", labels=labels), (), fixes, "warning")


def _of_tokens(analysis: Analysis) -> bool:
    """Whether all models of a document label each token."""
    found = model_classes(analysis)
    return bool(found) and all(one.endswith("ForTokenClassification") for one in found)


def _of_losses(analysis: Analysis) -> Iterator[Finding]:
    """``def compute_loss(self, model, inputs, return_outputs=False)`` that always returns the loss alone."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    evaluates = "evaluate(" in source.text or any("eval_dataset" in call.kwargs for call in trainings(analysis))
    evaluates = evaluates or bool(re.search(r"\beval_dataset\s*=", source.text))
    for cls in index.of_type(ast.ClassDef):
        methods = {one.name: one for one in of_kind(cls.body, ast.FunctionDef)}
        method = methods.get("compute_loss")
        of_trainer = any(is_reference(base) and last_word(base) in _SHORT for base in cls.bases)
        if method is None or not evaluates or not of_trainer or "prediction_step" in methods:
            continue
        if _returns_loss_alone(method):
            returned = returned_by(method)
            yield Finding(
                source.span(returned[0]), message("measure.outputs"), (), tuple(_with_outputs(source, method)), "error"
            )


_SHORT = tuple(path.rpartition(".")[2] for path in TRAINERS)


def _returns_loss_alone(method: ast.FunctionDef) -> bool:
    taken = {one.arg for one in every_parameter(method.args)}
    read = any(is_name(one, "return_outputs") for one in nodes_in(method, ast.Name))
    returned = returned_by(method)
    plain = all(isinstance(one, ast.Name | ast.BinOp | ast.Attribute | ast.Call) for one in returned)
    passes = any(
        is_dotted(one.func, "super") or keyword_of(one, "return_outputs") for one in nodes_in(method, ast.Call)
    )
    return "return_outputs" in taken and not read and not passes and bool(returned) and plain


def _with_outputs(source: SourceText, method: ast.FunctionDef) -> Iterator[Candidate]:
    """``return (loss, outputs) if return_outputs else loss``, where the model's result has a name."""
    returned = returned_by(method)
    named = [
        plain_name(to)
        for one in nodes_in(method, ast.Assign)
        for to, value in assigned_pairs(one)
        if isinstance(value, ast.Call) and is_name(value.func, "model")
    ]
    if len(returned) == len(named) == 1 and named[0] is not None:
        loss = source.segment(returned[0])
        yield replacement(source, returned[0], f"({loss}, {named[0]}) if return_outputs else {loss}")


RULE = Rule(FAULTS[CODE], find)
