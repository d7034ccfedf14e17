"""torchvision-pretrained: weights of a torchvision model chosen by `pretrained=`.

What it finds
    The arguments `pretrained` and `pretrained_backbone` of the models of torchvision.
Why it hurts
    They are deprecated since torchvision 0.13 and do not say which weights are meant, so that nobody knows what a
    result was made with.
Example
    model = torchvision.models.resnet50(pretrained=True)
Use instead
    model = torchvision.models.resnet50(weights=torchvision.models.ResNet50_Weights.IMAGENET1K_V1)
Fix safety
    Safe: these are the weights that `True` stands for. There is no fix where the value is not written as True or False.
References
    torchvision.models.get_model_weights
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.torchvision_weights import backbone_weights_of, model_of, weights_of
from torchsleuth.rules.evidence.uses import text, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Severity
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_primary, literal
from torchsleuth.syntax.names import Use

CODE = "TS806"
_MODELS = "torchvision.models"


def find(analysis: Analysis) -> Iterator[Finding]:
    for use in analysis.names.uses:
        model = model_of(use.path) if use.call is not None else None
        if use.call is None or model is None:
            continue
        given = {
            "pretrained": argument_of(use.call, 0, "pretrained"),
            "pretrained_backbone": argument_of(use.call, None, "pretrained_backbone"),
        }
        old = [name for name, value in given.items() if value is not None]
        if old:
            new = " and ".join(_new_name(name) for name in old)
            words = message("pretrained.deprecated", old=" and ".join(old), new=new)
            fixes = _fixes(analysis, use, use.call, model)
            severity: Severity | None = "hint" if use.guarded else None
            yield Finding(analysis.source.span(use.call), words, (), fixes, severity)


def _new_name(name: str) -> str:
    return name.replace("pretrained", "weights")


def _fixes(analysis: Analysis, use: Use, call: ast.Call, model: str) -> Iterator[Candidate]:
    """All old arguments of the call at once."""
    changes: list[Edit] = []
    titles: list[str] = []
    for name, weights in (("pretrained", weights_of(model)), ("pretrained_backbone", backbone_weights_of(model))):
        value = argument_of(call, 0 if name == "pretrained" else None, name)
        if value is None:
            continue
        fixed = literal(value)
        positional = value in call.args
        if (isinstance(value, ast.Constant) and not isinstance(fixed, bool)) or (positional and len(call.args) > 1):
            return
        new, imported = ("None", ()) if fixed is False or weights is None else _written(analysis, use, weights)
        if fixed is None and weights is not None:
            plain = is_primary(value)
            asked = text(analysis, value) if plain else f"({text(analysis, value)})"
            new = f"{new} if {asked} else None"
        elif fixed is None:
            return
        node = value if positional else next(part for part in call.keywords if part.value is value)
        changes += [*imported, edits.replace(analysis.source, node, f"{_new_name(name)}={new}")]
        titles.append(f"{_new_name(name)}={new}")
    old = text(analysis, call).partition("(")[2].removesuffix(")")
    yield Candidate(message("fix.replace", old=" ".join(old.split()), new=", ".join(titles)), tuple(changes))


def _written(analysis: Analysis, use: Use, weights: str) -> tuple[str, tuple[Edit, ...]]:
    """The weights as the file can name them."""
    path = f"{_MODELS}.{weights}"
    known = path.startswith(f"{use.imported.path}.") or any(map(analysis.names.bound_to, (_MODELS, "torchvision")))
    if known or not analysis.names.is_free("models"):
        return written(analysis, path, use)
    tree = analysis.tree(analysis.source.path)
    return f"models.{weights}", edits.add_import(analysis.source, tree, "from torchvision import models")


RULE = Rule(FAULTS[CODE], find)
