"""trainer-refuses: a trainer that raises an error, as it and its module are set up.

What it finds
    What Lightning's Trainer checks before it begins, or on its way: gradient clipping and accumulation beside manual optimization,
    several optimizers without it, ReduceLROnPlateau without `monitor`, methods that are not there, several loaders without
    `dataloader_idx`, `self.log()` of more than one number or where nothing is logged, `ckpt_path="best"` without checkpoints.
Why it hurts
    MisconfigurationException, perhaps only after the first epoch.
Example
    trainer = Trainer(gradient_clip_val=0.5)
    trainer.fit(gan)  # whose `automatic_optimization` is False
Use instead
    trainer = Trainer()
    trainer.fit(gan)  # whose training_step() calls self.clip_gradients(optimizer, gradient_clip_val=0.5)
Fix safety
    Unsafe: what is taken out has to be done by hand.
References
    lightning.pytorch.Trainer, "Manual optimization"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.misuses import Misuse, Rejection
from torchsleuth.messages import message
from torchsleuth.rules.evidence import trainers
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, appended, replacement
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, called, literal, nodes_in, plain_name
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import Instance, Site

CODE = "TS828"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.misuses(misuses.REJECTED):
        yield trainers.finding(analysis, misuse, _fixes(analysis, misuse))


def _fixes(analysis: Analysis, misuse: Misuse[Rejection]) -> Iterator[Candidate]:
    reason, keyword, found = misuse.value.reason, trainers.written(misuse), trainers.method_of(misuse)
    if reason in _LEFT_OUT and keyword is not None:
        source, call, given = keyword
        edit = edits.remove_keyword(source, call, given)
        yield Candidate(message("fix.remove_argument", argument=source.segment(given)), (edit,), safe=False)
    elif reason in _AT_CALL and misuse.site.call is not None:
        yield from _AT_CALL[reason](analysis, misuse.site, misuse.site.call)
    elif reason in _IN_METHOD and found is not None:
        yield from _IN_METHOD[reason](analysis, analysis.source_of(found[0]), found[1])


def _mean(analysis: Analysis, site: Site, call: ast.Call) -> Iterator[Candidate]:
    value = argument_of(call, 1, "value")
    if value is not None:
        yield appended(site.source, value, ".mean()", safe=False)


def _of_class(analysis: Analysis, site: Site, call: ast.Call) -> Iterator[Candidate]:
    """``model = Net.load_from_checkpoint(path)`` for ``model.load_from_checkpoint(path)``."""
    held = site.scene.names.get(plain_name(call.func.value) or "") if isinstance(call.func, ast.Attribute) else None
    if not isinstance(held, Instance) or not isinstance(call.func, ast.Attribute):
        return
    statement = edits.enclosing_statement(analysis.tree(site.source.path), call)
    name, new = site.source.segment(call.func.value), held.cls.name
    if isinstance(statement, ast.Expr) and statement.value is call:
        new = f"{name} = {new}"
    yield replacement(site.source, call.func.value, new)


def _with_index(analysis: Analysis, source: SourceText, method: ast.FunctionDef) -> Iterator[Candidate]:
    own = method.args
    if own.args and not own.kwonlyargs and own.kwarg is None:
        last = own.defaults[-1] if own.defaults else own.args[-1]
        edit = edits.insert_after_node(source, last, ", dataloader_idx=0")
        yield Candidate(message("fix.insert", text="dataloader_idx=0"), (edit,))


def _with_closure(analysis: Analysis, source: SourceText, method: ast.FunctionDef) -> Iterator[Candidate]:
    own = method.args.args
    steps = [one for one in nodes_in(method, ast.Call) if called(one) == "step" and not (one.args or one.keywords)]
    if len(steps) == 1 and len(own) > 4:
        yield added_argument(source, steps[0], f"closure={own[4].arg}")


def _watching(analysis: Analysis, source: SourceText, method: ast.FunctionDef) -> Iterator[Candidate]:
    """The schedule with a metric to watch: one that the module's validation logs."""
    owner = next((one for one in analysis.trail(source.path, method) if isinstance(one, ast.ClassDef)), None)
    if owner is None:
        return
    logged = [
        (step.name, str(literal(one.args[0])))
        for step in of_kind(owner.body, ast.FunctionDef)
        for one in nodes_in(step, ast.Call)
        if called(one) == "log" and one.args and isinstance(literal(one.args[0]), str)
    ]
    names = [name for step, name in logged if "val" in step] or [name for _, name in logged]
    names = [name for name in names if "loss" in name] or names
    returned = [one.value for one in nodes_in(method, ast.Return)]
    if not names or len(returned) != 1 or not isinstance(returned[0], ast.Dict):
        return
    for key, value in zip(returned[0].keys, returned[0].values):
        if literal(key) == "lr_scheduler":
            if isinstance(value, ast.Dict) and value.values:
                edit = edits.insert_after_node(source, value.values[-1], f', "monitor": "{names[0]}"')
            else:
                edit = edits.insert_after_node(source, value, f', "monitor": "{names[0]}"')
            yield Candidate(message("fix.insert", text=f'"monitor": "{names[0]}"'), (edit,))


_LEFT_OUT = ("manual_clip", "manual_accumulate")
"""Reasons that are an argument which can be left out."""
_AT_CALL = {"of_class": _of_class, "log_vector": _mean}
_IN_METHOD = {"several_loaders": _with_index, "closure": _with_closure, "plateau": _watching}
"""The repairs by their reasons: at the user's call, and in the method that is to blame."""

RULE = Rule(FAULTS[CODE], find)
