"""checkpoint-lacks-arguments: a LightningModule is to be made from a checkpoint that does not have all that its constructor takes.

What it finds
    `Net.load_from_checkpoint(path)` without an argument for a parameter of `Net.__init__()` that has no default, where
    `save_hyperparameters()` leaves it out, or is not called.
Why it hurts
    Lightning calls the constructor with what was saved and what is given: TypeError, after the training is done.
Example
    def __init__(self, encoder, classes):
        super().__init__()
        self.save_hyperparameters(ignore=["encoder"])
    net = Net.load_from_checkpoint("best.ckpt")
Use instead
    net = Net.load_from_checkpoint("best.ckpt", encoder=Encoder(64))
Fix safety
    Unsafe: the weights may be those of another encoder than the one that is written elsewhere.
References
    lightning.pytorch.LightningModule.load_from_checkpoint, "Saving and loading checkpoints"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import (
    argument_of,
    by_position,
    called,
    is_attribute,
    is_dotted,
    is_method_call,
    is_name,
    is_text,
    keyword_of,
    names_in,
    nodes_in,
    plain_name,
    stored_in,
)
from torchsleuth.syntax.text import SourceText

CODE = "TS591"
_BASE = "LightningModule"
_LOADS = "load_from_checkpoint"
_BY_HAND = ("hparams", "on_save_checkpoint", "_set_hparams")
"""Attributes and methods by which a class saves arguments in another way."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for source in analysis.sources:
        for call in analysis.index(source.path).of_type(ast.Call) if _LOADS in source.text else ():
            name = plain_name(call.func.value) if is_method_call(call, _LOADS) else None
            classes = [] if name is None else list(_classes(analysis, name))
            if len(classes) != 1 or any(one.arg in (None, "hparams_file") for one in call.keywords):
                continue
            where, owner = classes[0]
            given = {one.arg for one in call.keywords}
            lacking = [one for one in _lacking(owner) if one.arg not in given]
            if lacking:
                names = ", ".join(f"`{one.arg}`" for one in lacking)
                text = message("checkpoint.arguments", owner=owner.name, names=names)
                place = where.span(lacking[0]).related(message("checkpoint.arguments.parameter"))
                fixes = tuple(_given(analysis, source, call, owner, lacking))
                yield Finding(source.span(call), text, (place,), fixes)


def _classes(analysis: Analysis, name: str) -> Iterator[tuple[SourceText, ast.ClassDef]]:
    for source in analysis.sources:
        for owner in analysis.index(source.path).of_type(ast.ClassDef):
            if owner.name == name:
                yield source, owner


def _lacking(owner: ast.ClassDef) -> list[ast.arg]:
    """The parameters without default that no checkpoint has a value for; none where that is not known."""
    constructor = next((one for one in of_kind(owner.body, ast.FunctionDef) if one.name == "__init__"), None)
    bases = [one.attr if is_dotted(one) else plain_name(one) for one in owner.bases]
    if constructor is None or bases != [_BASE] or any(map(_saves_by_hand, ast.walk(owner))):
        return []
    own = by_position(constructor.args)[1:]
    required = own[: len(own) - len(constructor.args.defaults)]
    required += [one for one, value in zip(constructor.args.kwonlyargs, constructor.args.kw_defaults) if value is None]
    saved: set[str] = set()
    for call in nodes_in(owner, ast.Call):
        if is_method_call(call, "save_hyperparameters"):
            names = _saved(call, {one.arg for one in required})
            if names is None:
                return []
            saved |= names
    return [one for one in required if one.arg not in saved]


def _saves_by_hand(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name in _BY_HAND
    return is_attribute(node, *_BY_HAND) and isinstance(node.ctx, ast.Store)


def _saved(call: ast.Call, required: set[str]) -> set[str] | None:
    """The parameters among these that ``save_hyperparameters()`` saves, None where that is not known."""
    ignored = argument_of(call, None, "ignore")
    left_out = _texts(ignored) if ignored is not None else set()
    if left_out is None or any(one.arg not in ("ignore", "logger") for one in call.keywords):
        return None
    chosen = [_texts(one) for one in call.args]
    if not chosen:
        return required - left_out
    return None if None in chosen else set().union(*(one for one in chosen if one is not None)) - left_out


def _texts(node: ast.expr) -> set[str] | None:
    parts = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else [node]
    texts = [one.value for one in parts if is_text(one)]
    return set(texts) if len(texts) == len(parts) else None


def _given(
    analysis: Analysis, source: SourceText, call: ast.Call, owner: ast.ClassDef, lacking: list[ast.arg]
) -> Iterator[Candidate]:
    """The arguments that the same parameters get where the program makes such a module."""
    constructor = next(one for one in of_kind(owner.body, ast.FunctionDef) if one.name == "__init__")
    places = [one.arg for one in by_position(constructor.args)[1:]]
    index = analysis.index(source.path)
    around = [one for one in index.trail(call) if isinstance(one, ast.FunctionDef | ast.Module)]
    known = stored_in(*around) | {
        one.arg for scope in of_kind(around, ast.FunctionDef) for one in by_position(scope.args)
    }
    known |= {one.asname or one.name for part in nodes_in(around[0], ast.Import, ast.ImportFrom) for one in part.names}
    known |= {one.name for one in of_kind(getattr(around[0], "body", []), ast.ClassDef)}
    for made in index.of_type(ast.Call):
        if not is_name(made.func, owner.name) or called(made) != owner.name:
            continue
        found = []
        for one in lacking:
            named = keyword_of(made, one.arg)
            place = places.index(one.arg) if one.arg in places else len(made.args)
            value = named.value if named is not None else made.args[place] if place < len(made.args) else None
            if value is not None and names_in(value) <= known:
                found.append(f"{one.arg}={source.segment(value)}")
        if len(found) == len(lacking):
            yield added_argument(source, call, ", ".join(found), safe=False)
            return


RULE = Rule(FAULTS[CODE], find)
