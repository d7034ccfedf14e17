"""direction-of-better: something that watches a loss or an accuracy, and takes the worse values for the better ones.

What it finds
    `ReduceLROnPlateau(mode="max")` that is stepped with a loss, or one of mode "min", the default, that is stepped with an
    accuracy; checkpoints and early stopping of Lightning that monitor one of them in the wrong direction, and the same of
    `greater_is_better` for transformers, which takes the larger value for the better one unless it is a loss. `if val_loss > best: best = val_loss` by hand, where weights are kept.
Why it hurts
    Every improvement counts as none: the learning rate is lowered, the training stopped, the worst weights are kept.
Example
    scheduler = ReduceLROnPlateau(optimizer, mode="max")
    scheduler.step(val_loss)
Use instead
    scheduler = ReduceLROnPlateau(optimizer, mode="min")
    scheduler.step(val_loss)
Fix safety
    Safe: the direction is the one of the value.
References
    torch.optim.lr_scheduler.ReduceLROnPlateau
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument, replacement
from torchsleuth.schema import Related, Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import argument_of, assigned_pairs, is_reference, last_word, literal, nodes_in
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import UNKNOWN, LibraryObject, Value
from torchsleuth.values.frames import Scene

CODE = "TS576"
_LOWER = frozenset({"loss", "losses", "error", "perplexity", "ppl", "mse", "mae", "rmse", "wer", "cer"})
"""Words for values of which the smallest is the best."""
_HIGHER = frozenset({"acc", "accuracy", "iou", "miou", "auc", "auroc", "f1", "precision", "recall", "top1"})
_MONITORS = ("ModelCheckpoint", "EarlyStopping")
_PACKAGES = ("lightning.pytorch.callbacks", "pytorch_lightning.callbacks")


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for event in analysis.events("scheduler_step"):
        subject, call = event.subject, event.site.call
        made = subject.site if isinstance(subject, LibraryObject) and subject.type_name == "ReduceLROnPlateau" else None
        given = argument_of(call, 0, "metrics") if call is not None else None
        if made is None or made.call is None or given is None or event.site.span in seen:
            continue
        seen.add(event.site.span)
        watched = event.site.source
        place = watched.span(given).related(message("better.stepped"))
        mode = subject.given(1, "mode", None) if isinstance(subject, LibraryObject) else UNKNOWN
        name = _told(given, event.site.scene)
        yield from _judged(made.source, made.call, 1, mode, name, watched.segment(given), (place,))
    for name in (f"{package}.{monitor}" for package in _PACKAGES for monitor in _MONITORS):
        for made_call in analysis.calls.get(name, ()):
            node = made_call.site.call
            given = argument_of(node, None, "monitor") if node is not None else None
            if node is not None and isinstance(given, ast.Constant) and made_call.site.span not in seen:
                seen.add(made_call.site.span)
                mode = made_call.kwargs.get("mode")
                yield from _judged(made_call.site.source, node, None, mode, given.value, repr(given.value), ())
    yield from _of_arguments(analysis)
    yield from _by_hand(analysis)


def _of_arguments(analysis: Analysis) -> Iterator[Finding]:
    """``TrainingArguments(metric_for_best_model="eval_loss", greater_is_better=True)``"""
    for made in analysis.calls_at_places("TrainingArguments"):
        call, source = made.site.call, made.site.source
        if call is None or not made.path.startswith("transformers."):
            continue
        given = argument_of(call, None, "metric_for_best_model")
        greater = argument_of(call, None, "greater_is_better")
        name = held(given, made.site.scene) if given is not None else None
        direction = _direction(name)
        if given is not None and direction == "min" and greater is None and _is_taken_for_more(made, str(name)):
            values = {"value": f"`{source.segment(given)}`", "given": True}
            fix = added_argument(source, call, "greater_is_better=False")
            yield Finding(source.span(given), message("better.greater", **values), (), (fix,))
        if greater is not None and isinstance(greater, ast.Constant) and isinstance(greater.value, bool):
            if given is not None and direction is not None and greater.value is not (direction == "max"):
                values = {"value": f"`{source.segment(given)}`", "given": greater.value}
                fix = replacement(source, greater, str(direction == "max"))
                at = call.keywords[[one.value for one in call.keywords].index(greater)]
                yield Finding(source.span(at), message("better.greater", **values), (), (fix,))


def _is_taken_for_more(made: LibraryCall, name: str) -> bool:
    """Whether transformers takes the larger of two values for the better one, which it does but for losses."""
    spread = made.site.call is None or any(word.arg is None for word in made.site.call.keywords)
    return not spread and made.kwargs.get("load_best_model_at_end") is True and not name.endswith("loss")


_KEEPS = re.compile(r"state_dict|save|deepcopy|checkpoint")
_MORE = {ast.Gt: "max", ast.GtE: "max", ast.Lt: "min", ast.LtE: "min"}
_OTHER = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def _by_hand(analysis: Analysis) -> Iterator[Finding]:
    """``if val_loss > best: best = val_loss``, where the weights are kept beside it: an attack looks for the largest loss."""
    source = analysis.source
    for branch in analysis.index(source.path).of_type(ast.If):
        if not _KEEPS.search("".join(map(source.segment, branch.body))):
            continue
        for test in nodes_in(branch.test, ast.Compare):
            chosen = _MORE.get(type(test.ops[0])) if len(test.ops) == 1 else None
            one, other = test.left, test.comparators[0]
            if chosen is not None and not _is_kept(branch, other, one):
                one, other, chosen = other, one, "min" if chosen == "max" else "max"
            meant = _direction(_key(one))
            if chosen is None or not _is_kept(branch, other, one) or meant in (None, chosen):
                continue
            if _never_holds(analysis, other, chosen):  # TS554
                continue
            text = message(
                "better.kept", value=f"`{source.segment(one)}`", chosen=_LARGE[chosen], meant=_LARGE[str(meant)]
            )
            between = source.segment(test)[len(source.segment(test.left)) : -len(source.segment(test.comparators[0]))]
            swapped = _OTHER.get(between.strip())
            new = f"{source.segment(test.left)} {swapped} {source.segment(test.comparators[0])}"
            yield Finding(source.span(test), text, (), (replacement(source, test, new),) if swapped else ())


_LARGE = {"max": "largest", "min": "smallest"}


def _is_kept(branch: ast.If, best: ast.expr, value: ast.expr) -> bool:
    """Whether a branch gives the best value so far, by its name, the one that it is compared with."""
    pairs = [pair for one in of_kind(branch.body, ast.Assign) for pair in assigned_pairs(one)]
    said = (ast.unparse(best), ast.unparse(value))
    called_best = "best" in re.split(r"[^a-z0-9]+", said[0].lower().replace("_", " "))
    return called_best and any((ast.unparse(target), ast.unparse(given)) == said for target, given in pairs)


_BEGINNINGS = {"max": ("inf",), "min": ("-inf", "0", "0.0")}
"""What nothing is larger than; and what no accuracy is smaller than."""


def _never_holds(analysis: Analysis, best: ast.expr, chosen: str) -> bool:
    """Whether the best value begins where the comparison never holds."""
    index = analysis.index(analysis.source.path)
    pairs = [pair for one in index.of_type(ast.Assign) for pair in assigned_pairs(one)]
    begun = (ast.unparse(value) for target, value in pairs if last_word(target) == last_word(best))
    return any(re.sub(r"float\(['\"](.*?)['\"]\)|(\w+\.)", r"\1", one) in _BEGINNINGS[chosen] for one in begun)


def _key(node: ast.expr) -> object:
    """The name that a value is known by, without what is known of variables."""
    return literal(node.slice) if isinstance(node, ast.Subscript) else last_word(node) if is_reference(node) else None


def _direction(name: object) -> str | None:
    """Which value is the best of what is called so, by the last word of it."""
    words = re.split(r"[^a-z0-9]+", name.lower().replace("_", " ")) if isinstance(name, str) else [""]
    last = words[-2] if words[-1] == "rate" and len(words) > 1 else words[-1]
    return "min" if last in _LOWER else "max" if last in _HIGHER else None


def _told(given: ast.expr, scene: Scene) -> object:
    """The name that a value is known by: of an entry, its key."""
    return held(given.slice, scene) if isinstance(given, ast.Subscript) else last_word(given)


def _judged(
    source: SourceText,
    call: ast.Call,
    position: int | None,
    given: Value,
    name: object,
    text: str,
    places: tuple[Related, ...],
) -> Iterator[Finding]:
    """The finding about an object that watches a value by a name, in the direction that it was `given`: None for the default."""
    words = set(re.split(r"[^a-z0-9]+", name.lower())) if isinstance(name, str) else set()
    lower, higher = bool(words & _LOWER), bool(words & _HIGHER)
    mode = argument_of(call, position, "mode")
    if lower == higher or (mode is not None and not isinstance(mode, ast.Constant)):
        return
    chosen = "min" if given is None else given
    meant = "min" if lower else "max"
    if chosen in ("min", "max") and chosen != meant:
        fixes: list[Candidate] = []
        if mode is not None:
            fixes = [replacement(source, mode, f'"{meant}"')]
        elif given is None:
            fixes = [added_argument(source, call, f'mode="{meant}"')]
        at = source.span(mode if mode is not None else call)
        said = message("better.direction", value=f"`{text}`", mode=chosen, meant=meant)
        yield Finding(at, said, places, fixes)


RULE = Rule(FAULTS[CODE], find)
