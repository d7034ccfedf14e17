"""measured-on-training: a number is called one of the validation, and computed from the data that are trained on.

What it finds
    `val_acc = accuracy(model, train_loader)`, `scores["val_acc"] = accuracy(logits, y, masks["train"])`, in a file that has a
    `val_loader` and a mask "val" as well, where what is computed trains nothing; a function called `validate` whose only loop goes
    over `train_loader`, and a `val_dataloader()` that gives the training set.
Why it hurts
    The number says how well the network knows what it has seen. It rises while the network overfits, and chooses the wrong epoch and
    the wrong settings. Nothing is raised.
Example
    val_loss = evaluate(model, train_loader)
Use instead
    val_loss = evaluate(model, val_loader)
Fix safety
    Unsafe: it is another number then.
References
    "Training with PyTorch" in the PyTorch tutorials
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_method_call,
    last_word,
    literal,
    loads,
    nodes_in,
    returned_by,
    targets_of,
)

CODE = "TS636"
_HELD_OUT = frozenset("val valid validation dev test holdout".split())
_TRAINED_ON = frozenset("train training".split())
_TRAINS = frozenset("backward step fit train_epoch".split())
_NUMBERS = frozenset("item mean sum float".split())
"""What makes a number of a tensor."""
_LOSSES = re.compile(r"(_loss|entropy|entropy_with_logits|_score|accuracy)$")


def find(analysis: Analysis) -> Iterator[Finding]:
    if not re.search(r"train", analysis.source.text):
        return
    known = _Names(analysis)
    for name, value in _named(analysis):
        if _words(name) & _HELD_OUT and not _words(name) & _TRAINED_ON and known.is_number(value):
            yield from known.judged(name, value)
    for function in analysis.index(analysis.source.path).of_type(ast.FunctionDef):
        words = _words(function.name)
        if words & _HELD_OUT | ({"validate"} & words) and not words & _TRAINED_ON and not known.trains(function):
            loops = [one for one in nodes_in(function, ast.For) if _said(one.iter)]
            given = [one.iter for one in loops] or (returned_by(function) if "dataloader" in words else [])
            if len(given) == 1 and not known.reads_other(function, given[0]):
                yield from known.judged(function.name, given[0])


def _named(analysis: Analysis) -> Iterator[tuple[str, ast.expr]]:
    """Values with the names that they are given: of variables, keys, options, and texts beside them in a call."""
    index = analysis.index(analysis.source.path)
    for statement in index.of_type(ast.Assign):
        for target in targets_of(statement):
            name = literal(target.slice) if isinstance(target, ast.Subscript) else last_word(target)
            if isinstance(name, str):
                yield name, statement.value
    for entries in index.of_type(ast.Dict):
        for key, value in zip(entries.keys, entries.values):
            if isinstance(name := literal(key), str):
                yield name, value
    for call in index.of_type(ast.Call):
        yield from ((one.arg, one.value) for one in call.keywords if one.arg)
        name = literal(call.args[0]) if len(call.args) > 1 else None
        if isinstance(name, str):
            yield name, call.args[1]


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", name.lower()))


def _parts(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names and texts in an expression, without those of the functions that are called."""
    functions = {id(call.func) for call in nodes_in(node, ast.Call) if not is_method_call(call)}
    methods = {id(call.func) for call in nodes_in(node, ast.Call) if is_method_call(call)}
    for part in ast.walk(node):
        if id(part) in functions:
            continue
        if isinstance(part, ast.Name):
            yield part.id, part
        elif isinstance(part, ast.Attribute) and id(part) not in methods:
            yield part.attr, part
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value, part


def _said(node: ast.AST) -> list[tuple[str, ast.AST]]:
    """The names of an expression that say that it is of the training; none where others say something else."""
    parts = list(_parts(node))
    if any(_words(name) & _HELD_OUT for name, _ in parts):
        return []
    return [(name, part) for name, part in parts if _words(name) & _TRAINED_ON and not is_method_call(part)]


class _Names:
    """What a file has names for."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        index = analysis.index(analysis.source.path)
        self.functions = {one.name: one for one in index.of_type(ast.FunctionDef)}
        self.names = {part.id for part in index.of_type(ast.Name)} | {
            part.attr for part in index.of_type(ast.Attribute)
        }
        self.names |= {one.arg for one in index.of_type(ast.arg)}
        self.names |= {one.value for one in index.of_type(ast.Constant) if isinstance(one.value, str)}

    def other(self, name: str, wanted: set[str]) -> str | None:
        """The name of the same thing that is held out; with the word that is `wanted` where there are several."""
        words = [*sorted(wanted & _HELD_OUT), *sorted(_HELD_OUT - wanted)]
        forms = [re.sub(r"training|train", word, name) for word in words]
        return next((form for form in forms if form in self.names and form != name), None)

    def reads_other(self, function: ast.FunctionDef, value: ast.expr) -> bool:
        """Whether a function reads what is held out as well, beside a value that is of the training."""
        others = {other for text, _ in _said(value) if (other := self.other(text, _words(function.name))) is not None}
        return any(loads(part) and last_word(part) in others for part in nodes_in(function, ast.Name, ast.Attribute))

    def trains(self, function: ast.FunctionDef) -> bool:
        return any(called(call) in _TRAINS for call in nodes_in(function, ast.Call))

    def is_number(self, value: ast.expr) -> bool:
        """Whether an expression computes one or several numbers from what is given, and trains nothing."""
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            return self.is_number(value.left) or isinstance(value.left, ast.Call)
        if not isinstance(value, ast.Call):
            return False
        function = self.functions.get(called(value))
        if function is not None:
            numbers = [part for one in returned_by(function) for part in ast.walk(one)]
            names = {one.id for one in of_kind(numbers, ast.Name)}
            made = [one.value for one in nodes_in(function, ast.Assign, ast.AugAssign) if _stores(one) & names]
            told = any(_is_told(part) for part in [*numbers, *(inner for one in made for inner in ast.walk(one))])
            return told and not self.trains(function)
        return called(value) in _NUMBERS or bool(_LOSSES.search(called(value)))

    def judged(self, name: str, value: ast.expr) -> Iterator[Finding]:
        said = _said(value)
        others = [(part, self.other(text, _words(name))) for text, part in said]
        if not said or any(other is None for _, other in others):
            return
        source = self.analysis.source
        changes = tuple(self._edit(part, str(other)) for part, other in others)
        fixed = {text: str(other) for (text, _), (_, other) in zip(said, others)}
        text = message("measured.training", name=name, used=", ".join(fixed), other=", ".join(fixed.values()))
        title = message("fix.replace", old=next(iter(fixed)), new=next(iter(fixed.values())))
        yield Finding(source.span(value), text, (), (Candidate(title, changes, safe=False),))

    def _edit(self, part: ast.AST, other: str) -> Edit:
        source = self.analysis.source
        if isinstance(part, ast.Attribute):
            return edits.replace(source, part, f"{source.segment(part.value)}.{other}")
        return edits.replace(source, part, other if isinstance(part, ast.Name) else repr(other).replace("'", '"'))


def _stores(statement: ast.Assign | ast.AugAssign) -> set[str]:
    return {part.id for target in targets_of(statement) for part in nodes_in(target, ast.Name)}


def _is_told(part: ast.AST) -> bool:
    """Whether a part of an expression makes a number."""
    return called(part) in _NUMBERS or isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div)


RULE = Rule(FAULTS[CODE], find)
