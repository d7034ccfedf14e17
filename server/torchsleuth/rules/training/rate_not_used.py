"""rate-not-used: a learning rate that a module is given and its optimizer is not.

What it finds
    A LightningModule that saves `lr`, `learning_rate`, `weight_decay` or `momentum` by save_hyperparameters() and reads it nowhere,
    while configure_optimizers() makes an optimizer that is not given it.
Why it hurts
    The optimizer takes its default: what is chosen on the command line, swept and logged has no effect.
Example
    def __init__(self, learning_rate=1e-2):
        self.save_hyperparameters()
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
Use instead
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.learning_rate)
Fix safety
    Safe: nothing else can be meant by it.
References
    lightning.LightningModule.save_hyperparameters
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.uses import is_exact, subclasses
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import by_position, is_attribute, is_method_call, is_name, literal, nodes_in

CODE = "TS588"
_OPTIONS = {"lr": "lr", "learning_rate": "lr", "weight_decay": "weight_decay", "momentum": "momentum"}
"""Parameters of a module, and the options of an optimizer that they stand for."""
_OPTIMIZERS = "torch.optim."


def find(analysis: Analysis) -> Iterator[Finding]:
    made = {id(use.call): use.call for use in analysis.names.uses if use.path.startswith(_OPTIMIZERS) and use.call}
    for owner, _ in subclasses(analysis, lambda path: path.endswith(".LightningModule")) if made else ():
        methods = {one.name: one for one in of_kind(owner.body, ast.FunctionDef)}
        constructor, configures = methods.get("__init__"), methods.get("configure_optimizers")
        if constructor is None or configures is None or not _saves_all(constructor):
            continue
        optimizers = [call for call in nodes_in(configures, ast.Call) if id(call) in made]
        if len(optimizers) != 1 or len(optimizers[0].args) != 1 or not is_exact(optimizers[0]):
            continue
        call = optimizers[0]
        for parameter in by_position(constructor.args)[1:]:
            option = _OPTIONS.get(parameter.arg)
            given = {one.arg for one in call.keywords}
            if option is not None and option not in given and not _reads(owner, parameter.arg):
                text = message("rate.unused", name=parameter.arg, option=option)
                where = analysis.source.span(parameter).related(message("rate.unused.here"))
                fix = added_argument(analysis.source, call, f"{option}=self.hparams.{parameter.arg}")
                yield Finding(analysis.source.span(call), text, (where,), (fix,))


def _saves_all(constructor: ast.FunctionDef) -> bool:
    """Whether all arguments are saved, and as attributes of ``hparams`` alone."""
    saves = [call for call in nodes_in(constructor, ast.Call) if is_method_call(call, "save_hyperparameters")]
    return len(saves) == 1 and not saves[0].args and not any(one.arg == "ignore" for one in saves[0].keywords)


def _reads(owner: ast.ClassDef, name: str) -> bool:
    """Whether a class reads an argument, by itself or with all others."""
    for part in nodes_in(owner, ast.expr):
        if is_name(part, name) or is_attribute(part, name) or literal(part) == name:
            return True
        if isinstance(part, ast.Attribute) and part.attr == "hparams" and not _is_looked_up(owner, part):
            return True
    return False


def _is_looked_up(owner: ast.ClassDef, hparams: ast.Attribute) -> bool:
    """``self.hparams.width`` and ``self.hparams["width"]``: one of them is read, and not all."""
    return any(
        (isinstance(part, ast.Attribute) and part.value is hparams)
        or (isinstance(part, ast.Subscript) and part.value is hparams and isinstance(literal(part.slice), str))
        for part in nodes_in(owner, ast.expr)
    )


RULE = Rule(FAULTS[CODE], find)
