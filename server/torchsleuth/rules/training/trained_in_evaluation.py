"""trained-in-evaluation: a model of transformers that was loaded, and is trained as it comes: in evaluation mode.

What it finds
    A loop that trains what `from_pretrained()` has given, in a program that never calls `train()`, and calls `eval()` behind the loop.
Why it hurts
    `from_pretrained()` gives a model in evaluation mode: without dropout, it fits the few examples of a fine-tuning by heart.
Example
    model = BertForSequenceClassification.from_pretrained(name)
    for batch in loader:
        model(**batch).loss.backward()
    model.eval()
Use instead
    model = BertForSequenceClassification.from_pretrained(name)
    model.train()
Fix safety
    Safe: this is what the loop is taken for.
References
    transformers.PreTrainedModel.from_pretrained
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import makes_model
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, is_name, nodes_in, plain_name

CODE = "TS599"


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if ".train(" in source.text or "Trainer" in source.text or ".from_pretrained" not in source.text:
        return
    for made in index.of_type(ast.Assign):
        name = plain_name(made.targets[0])
        if name is None or not makes_model(analysis, made.value) or not _loads(made.value):
            continue
        trail = index.trail(made)
        scope = first_of(reversed(trail), ast.FunctionDef) or trail[0]
        loops = [one for one in nodes_in(scope, ast.For) if one.lineno > made.lineno and _trains(one, name)]
        inner = {id(part) for one in loops for part in nodes_in(one, ast.For) if part is not one}
        loops = [one for one in loops if id(one) not in inner]
        ends = [
            one
            for loop in loops
            for one in index.of_type(ast.Call)
            if one.lineno > loop.lineno and _evaluates(one, name)
        ]
        if len(loops) == 1 and ends and not any(_evaluates(one, name) for one in nodes_in(made.value, ast.Call)):
            loop = loops[0]
            line = f"{name}.train()"
            fix = Candidate(message("fix.insert", text=line), (edits.insert_line_before(source, loop, line),))
            place = source.span(ends[0]).related(message("evaluation.only"))
            yield Finding(source.span(made.value), message("evaluation.trained", name=name), (place,), (fix,))


def _loads(value: ast.expr) -> bool:
    return any(is_method_call(one, "from_pretrained") for one in nodes_in(value, ast.Call))


def _evaluates(call: ast.Call, name: str) -> bool:
    return is_method_call(call, "eval") and is_name(call.func.value, name)


def _trains(loop: ast.For, name: str) -> bool:
    """Whether a loop calls a model, goes backward and lets an optimizer step."""
    calls = list(nodes_in(loop, ast.Call))
    called = any(is_name(one.func, name) for one in calls)
    return called and all(any(is_method_call(one, method) for one in calls) for method in ("backward", "step"))


RULE = Rule(FAULTS[CODE], find)
