"""Losses: prediction against target, class indices, ranges."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from torchsleuth.errors.calls import files_of
from torchsleuth.errors.case import Case
from torchsleuth.errors.constructor import change_argument, constructor_call
from torchsleuth.errors.entry import ErrorEntry, entry
from torchsleuth.errors.fixes import FixBuilder, add_argument, append, convert_argument, replace
from torchsleuth.explanations import BY_FAMILY, BY_INDEX
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Json, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, called, is_reference, names_in, nodes_in
from torchsleuth.syntax.text import SourceText
from torchsleuth.synthesis import losses

_LOSS = "from torch import nn\ncriterion = nn.{}()\n"


def prediction_and_target(case: Case) -> tuple[ast.expr | None, ast.expr | None]:
    """The two arguments of the failing loss as the user wrote them."""
    return case.frame.argument(0, "input"), case.frame.argument(1, "target")


def _shapes(case: Case) -> tuple[Json | None, Json | None]:
    """Prediction and target, from the user's line or else from the loss's own frame."""
    prediction, target = prediction_and_target(case)
    return (
        case.frame.tensor(prediction) or case.call_input("input"),
        case.frame.tensor(target) or case.call_input("target"),
    )


def _agreeing(classes: bool) -> FixBuilder:
    """Prediction and target brought to shapes that the loss takes: one of them, or both."""

    def build(case: Case) -> Iterator[Fix]:
        prediction, target = prediction_and_target(case)
        found, wanted = _shapes(case)
        if prediction is None or target is None or found is None or wanted is None:
            return
        for one, other in losses.agreeing(tuple(found["shape"]), tuple(wanted["shape"]), classes):
            changed = [
                append(case.frame, node, made.suffix, made.whole)
                for node, made in ((prediction, one), (target, other))
                if made is not None
            ]
            flat = one is not None and other is not None and ".flatten" in one.suffix and ".flatten" in other.suffix
            if len(changed) == 1:
                yield changed[0]
            elif flat:
                yield Fix(message("fix.flatten_both"), changed[0].edits + changed[1].edits)

    return build


MAX_MAKERS = 8
"""Places that the weights of the classes are followed through."""


def _weights(case: Case) -> Iterator[tuple[SourceText, ast.expr]]:
    """The expressions that made the weights of the classes: what the loss was built with, what its names were set to, and what the
    functions return that are called there."""
    built = constructor_call(case)
    if built is None:
        return
    site, call = built
    waiting, seen = [argument_of(call, 0, "weight")], set[str]()
    for node in islice(waiting, MAX_MAKERS):
        if node is None:
            continue
        yield site.source, node
        names = names_in(node) - seen
        seen |= names
        own = [one for one in nodes_in(site.tree, ast.FunctionDef) if one.name in names]
        waiting += [part.value for function in own for part in nodes_in(function, ast.Return)]
        made = () if own else nodes_in(site.tree, ast.Assign)
        waiting += [part.value for part in made if names & names_in(*part.targets)]


def _weights_made(case: Case) -> list[Related]:
    spans = [source.span(node) for source, node in _weights(case)][1:3]
    return [Related(span.path, span.start, span.end, message("error.class_weights.made")) for span in spans]


def _all_counted(case: Case) -> Iterator[Fix]:
    """``torch.bincount(labels)`` → ``torch.bincount(labels, minlength=6)``: a class that does not occur is counted, too."""
    argument = f"minlength={case.match[1]}"
    for source, node in _weights(case):
        for call in nodes_in(node, ast.Call):
            if called(call) == "bincount" and argument_of(call, None, "minlength") is None:
                yield add_argument(source, call, argument)


def _bounds(case: Case) -> list[float] | None:
    """The least and the largest label: of all that these were cut out of, where the run could see them."""
    target = case.call_input("target") or _shapes(case)[1] or {}
    return target.get("whole_range") or target.get("range")


def _bounds_of_target(case: Case) -> dict[str, str]:
    """For the message: from where to where the target goes."""
    told = case.call_input("target") or _shapes(case)[1] or {}
    low, high = told.get("range") or ("?", "?")
    return {"low": f"{low:g}" if low != "?" else low, "high": f"{high:g}" if high != "?" else high}


def _label_text(case: Case) -> str:
    return "error.label.one_based" if one_based(case) else "error.label" if _classes(case) else "error.label.plain"


def _classes(case: Case) -> dict[str, str]:
    """For the message: how many classes the prediction has."""
    shape = (_shapes(case)[0] or {}).get("shape") or []
    classes = shape[1] if len(shape) > 1 else shape[0] if shape else 0
    return {"classes": str(classes), "last_class": str(classes - 1)} if classes else {}


def one_based(case: Case) -> bool:
    prediction, bounds = _shapes(case)[0], _bounds(case)
    if not bounds or prediction is None or len(prediction["shape"]) < 2:
        return False
    return bool(bounds[0] == 1 and bounds[1] == prediction["shape"][1])


def _label_fixes(case: Case) -> Iterator[Fix]:
    _, target = prediction_and_target(case)
    if target is not None and one_based(case):
        yield (
            append(case.frame, target, " - 1")
            if not isinstance(target, ast.BinOp)
            else replace(case.frame, target, f"({case.frame.text(target)}) - 1")
        )
    producer, bounds = case.crash.get("producer"), _bounds(case)
    if producer is not None and bounds and bounds[0] >= 0:
        layer = Case({**case.crash, "module": producer}, case.sources, case.match)
        yield from change_argument(layer, int(bounds[1]) + 1, "out_features", "out_channels")
        yield from _told_to_library(case, producer, int(bounds[1]) + 1)


_CLASSES_TOLD = re.compile(r"(?:num|n|number_of)_(?:labels|classes)|classes")


def _told_to_library(case: Case, producer: Json, wanted: int) -> Iterator[Fix]:
    """``BertConfig(…, num_labels=2)`` → ``num_labels=3``, where a library has built the layer for as many classes."""
    weight = producer["tensors"].get("weight")
    if weight is None or (producer["constructor"] or {}).get("direct"):
        return
    for frame in files_of(case):
        for keyword in nodes_in(frame.tree, ast.keyword):
            told = isinstance(keyword.value, ast.Constant) and keyword.value.value == weight["shape"][0]
            if told and keyword.arg is not None and _CLASSES_TOLD.fullmatch(keyword.arg):
                yield replace(frame, keyword, f"{keyword.arg}={wanted}", safe=False)


def _logits_fixes(case: Case) -> Iterator[Fix]:
    """BCELoss → BCEWithLogitsLoss, where the loss was built or is called."""
    from torchsleuth.errors.constructor import constructor_call

    found = constructor_call(case)
    if found is not None and is_reference(found[1].func):
        site, call = found
        text = site.source.segment(call.func)
        if text.endswith("BCELoss"):
            new = text[: -len("BCELoss")] + "BCEWithLogitsLoss"
            yield Fix(message("fix.replace", old=text, new=new), (edits.replace(site.source, call.func, new),))
    if case.frame.method() == "binary_cross_entropy" and case.frame.call is not None:
        function = case.frame.call.func
        yield replace(case.frame, function, case.frame.text(function) + "_with_logits")


def _tensor_target_fixes(case: Case) -> Iterator[Fix]:
    """A list or array where a tensor belongs."""
    _, target = prediction_and_target(case)
    if target is not None:
        yield replace(case.frame, target, f"torch.as_tensor({case.frame.text(target)})")


def _constructor_misuse(case: Case) -> bool:
    return any("_reduction" in call["path"] or "/loss.py" in call["path"] for call in case.crash["calls"])


def _call_the_loss(case: Case) -> Iterator[Fix]:
    """``nn.CrossEntropyLoss(out, y)`` → ``nn.CrossEntropyLoss()(out, y)``."""
    node = case.frame.call
    if node is not None:
        at = case.frame.source.end_of(node.func)
        title = message("fix.call_the_loss", loss=case.frame.text(node.func))
        yield Fix(title, (Edit(case.frame.path, at, at, "()"),))


ENTRIES = (
    entry(
        BY_FAMILY,
        r"Target (-?\d+) is out of bounds",
        _label_text,
        _label_fixes,
        values=_classes,
        example=_LOSS.format("CrossEntropyLoss")
        + "out, y = torch.zeros(3, 4), torch.tensor([1, 2, 4])\ncriterion(out, y)",
    ),
    entry(
        "TS302",
        r"expected target dtype to be Long or Byte|expected scalar type Long but found|nll_loss\w*.* not implemented for|nll_loss.* only supports",
        "error.class_target",
        convert_argument(".long()", 1, "target"),
        applies=lambda case: not (case.frame.method() or "").startswith(BY_INDEX),
        example=_LOSS.format("CrossEntropyLoss") + "out, y = torch.zeros(3, 4), torch.zeros(3)\ncriterion(out, y)",
    ),
    entry(
        BY_FAMILY,
        r"Expected floating point type for target with class probabilities, got (\w+)",
        "error.probability_target",
        convert_argument(".float()", 1, "target"),
        example=_LOSS.format("CrossEntropyLoss")
        + "out, y = torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.long)\ncriterion(out, y)",
    ),
    entry(
        BY_FAMILY,
        r"0D or 1D target tensor expected, multi-target not supported|only batches of spatial targets supported",
        "error.target_rank",
        _agreeing(classes=True),
        example=_LOSS.format("CrossEntropyLoss")
        + "out, y = torch.zeros(3, 4), torch.zeros(3, 1, dtype=torch.long)\ncriterion(out, y)",
    ),
    entry(
        BY_FAMILY,
        r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)",
        "error.loss_batch",
        _agreeing(classes=True),
        example=_LOSS.format("CrossEntropyLoss")
        + "out, y = torch.zeros(4, 3), torch.zeros(3, dtype=torch.long)\ncriterion(out, y)",
    ),
    entry(
        BY_FAMILY,
        r"Expected target size \[(.+?)\], got \[(.+?)\]",
        "error.loss_layout",
        _agreeing(classes=True),
        example=_LOSS.format("CrossEntropyLoss")
        + "out, y = torch.zeros(2, 5, 4), torch.zeros(2, 5, dtype=torch.long)\ncriterion(out, y)",
    ),
    entry(
        BY_FAMILY,
        r"weight tensor should be defined either for all (\d+) classes or no classes",
        "error.class_weights",
        _all_counted,
        related=_weights_made,
        example="from torch import nn\ncriterion = nn.CrossEntropyLoss(weight=torch.ones(3))\n"
        "criterion(torch.zeros(2, 4), torch.tensor([0, 1]))",
    ),
    entry(
        BY_FAMILY,
        r"Using a target size \(torch\.Size\(\[(.*?)\]\)\) that is different to the input size|Target size \(torch\.Size\(\[(.*?)\]\)\) must be the same as input size",
        "error.same_size",
        _agreeing(classes=False),
        example=_LOSS.format("BCEWithLogitsLoss") + "out, y = torch.zeros(3, 1), torch.zeros(3)\ncriterion(out, y)",
    ),
    ErrorEntry(
        "TS306",
        r"all elements of target should be between 0 and 1",
        "error.bce_target",
        values=_bounds_of_target,
        example=_LOSS.format("BCELoss")
        + "out, y = torch.full((3,), 0.5), torch.tensor([1.0, -1.0, 1.0])\ncriterion(out, y)",
        plain=True,
    ),
    entry(
        "TS306",
        r"all elements of (input) should be between 0 and 1",
        "error.bce_range",
        _logits_fixes,
        example=_LOSS.format("BCELoss") + "out, y = torch.full((3,), 2.0), torch.zeros(3)\ncriterion(out, y)",
    ),
    entry(
        "TS307",
        r"Found dtype (?:Long|Int|Bool|Byte) but expected \w+|result type (?:Float|Double|Half) can't be cast to the desired output type (?:Long|Int|Bool|Byte)",
        "error.binary_target",
        convert_argument(".float()", 1, "target"),
        applies=lambda case: not isinstance(case.frame.statement, ast.AugAssign),
        example=_LOSS.format("BCEWithLogitsLoss")
        + "out, y = torch.zeros(3), torch.zeros(3, dtype=torch.long)\ncriterion(out, y)",
    ),
    entry(
        "TS199",
        r"\w+\(\): argument 'target' \(position \d\) must be Tensor, not (\w+)",
        "error.target_type",
        _tensor_target_fixes,
        example=_LOSS.format("CrossEntropyLoss") + "out, y = torch.zeros(3, 4), [0, 1, 2]\ncriterion(out, y)",
    ),
    entry(
        "TS199",
        r"Boolean value of Tensor with more than one value is ambiguous",
        "error.loss_constructor",
        _call_the_loss,
        applies=_constructor_misuse,
        example="from torch import nn\nout, y = torch.zeros(3, 4), torch.zeros(3, 4)\nnn.MSELoss(out, y)",
    ),
)
