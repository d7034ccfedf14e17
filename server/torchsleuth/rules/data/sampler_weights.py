"""sampler-weights: a random sampler with another number of weights than there are samples, or whose weights change nothing.

What it finds
    WeightedRandomSampler with fewer weights than the dataset of its loader has samples, such as one for each class; or
    with more, such as those of a whole dataset for a loader of one part of it. One that draws as many as there are weights without replacement.
Why it hurts
    The weights belong to the samples in their order. With three of them, only the first three samples are ever drawn, again
    and again, without an error. With too many, the dataset is asked for samples that it does not have. Without replacement,
    each sample is drawn once, however rare its class is.
Example
    weights = 1.0 / torch.bincount(labels)
    sampler = WeightedRandomSampler(weights, num_samples=len(dataset))
Use instead
    weights = 1.0 / torch.bincount(labels)
    sampler = WeightedRandomSampler(weights[labels], num_samples=len(dataset))
Fix safety
    Safe where the labels are those of the dataset.
References
    torch.utils.data.WeightedRandomSampler
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from torchsleuth.faults import FAULTS
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import name_in
from torchsleuth.rules.evidence.operands import append, replaced
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import all_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    bindings_of,
    by_position,
    contains,
    is_function_call,
    is_name,
    is_reference,
    last_word,
    names_in,
    nodes_in,
    returned_by,
)
from torchsleuth.synthesis.shapes import same
from torchsleuth.values import (
    Instance,
    LibraryObject,
    ListValue,
    Tensor,
    Value,
    is_int,
    is_object_named,
    items_of,
    shape_of,
)
from torchsleuth.values.frames import Scene

CODE = "TS619"
_SAMPLER = ".WeightedRandomSampler"
_SPLITS = frozenset({"random_split", "Subset"})
_KEPT_BY = frozenset("float double to astype numpy clip clamp sqrt reciprocal cpu tolist".split())
"""Methods that leave each number in its place."""
_MADE_OF = frozenset("tensor as_tensor array asarray from_numpy Tensor FloatTensor DoubleTensor sqrt maximum".split())
"""Functions whose result has the numbers of their first argument, in their places."""


def find(analysis: Analysis) -> Iterator[Finding]:
    told: set[Span] = set()
    for fault in analysis.trace.data:
        if fault.kind == "weights":
            weights, given, total = fault.values
            key = "data.weights" if given < total else "data.weights.more"
            exact = not isinstance(weights, Tensor) or weights.spec.shape == (given,)
            number = str(given) if exact else message("data.weights.most", count=given)
            yield Finding(fault.at.span, message(key, given=number, wanted=total), (), tuple(_repairs(fault)))
            told.add(fault.at.span)
    yield from _each_once(analysis)
    yield from _of_classes(analysis, told)
    yield from _of_whole(analysis, told)


def _of_whole(analysis: Analysis, told: set[Span]) -> Iterator[Finding]:
    """Weights for all samples of a dataset, for a loader that draws from a part of it."""
    for call in analysis.calls_at_places(_SAMPLER):
        scope, source = call.site.scene.scope, call.site.source
        weights = argument_of(call.site.call, 0, "weights") if call.site.call is not None else None
        read = _read_by(weights, scope) if weights is not None and call.site.span not in told else set()
        for part, split in _parts_drawn_from(scope, call.site.call) if read else ():
            whole = split.args[0]
            chosen = names_in(*split.args[1:]) if last_word(split.func) == "Subset" else set()
            apart = {part, *chosen - names_in(whole)}
            if isinstance(whole, ast.Name) and weights is not None and whole.id in read and not apart & read:
                text = message("data.weights.whole", whole=f"`{whole.id}`", part=f"`{part}`")
                places = (source.span(split).related(message("data.weights.whole.split")),)
                fix = edits.replace(source, weights, _at_indices(source.segment(weights), weights, part))
                title = message("fix.weights.part", part=part)
                yield Finding(call.site.span, text, places, (Candidate(title, (fix,), safe=False),))
                break


def _at_indices(text: str, weights: ast.expr, part: str) -> str:
    return f"{text if is_reference(weights) else f'({text})'}[{part}.indices]"


def _read_by(node: ast.expr, scope: ast.AST) -> set[str]:
    """The names that an expression is computed from, also those that variables in it were made from."""
    found: set[str] = set()
    pending = [one.id for one in nodes_in(node, ast.Name)]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            values = [
                one.value for one in nodes_in(scope, ast.Assign) for target in one.targets if is_name(target, name)
            ]
            pending += [one.id for value in values for one in nodes_in(value, ast.Name)]
    return found


def _parts_drawn_from(scope: ast.AST, sampler: ast.Call | None) -> Iterator[tuple[str, ast.Call]]:
    """The parts of datasets that loaders with this sampler are for, by name, with the calls that split them off."""
    assigned = list(nodes_in(scope, ast.Assign))
    names = {target.id for one in assigned if one.value is sampler for target in of_kind(one.targets, ast.Name)}
    for loader in nodes_in(scope, ast.Call):
        given, drawn = argument_of(loader, 3, "sampler"), argument_of(loader, 0, "dataset")
        used = given is sampler or isinstance(given, ast.Name) and given.id in names
        if last_word(loader.func) != "DataLoader" or given is None or not used or not isinstance(drawn, ast.Name):
            continue
        for one in assigned:
            split = as_kind(one.value, ast.Call)
            parts = {part.id for target in one.targets for part in nodes_in(target, ast.Name)}
            if split is not None and drawn.id in parts and split.args and last_word(split.func) in _SPLITS:
                yield drawn.id, split


def _of_classes(analysis: Analysis, told: set[Span]) -> Iterator[Finding]:
    """Weights computed from the number of samples in each class, and not taken by the labels of the samples."""
    for call in analysis.calls_at_places(_SAMPLER):
        node = argument_of(call.site.call, 0, "weights") if call.site.call is not None else None
        told_already, functions = call.site.span in told, analysis.index(call.site.span.path).of_type(ast.FunctionDef)
        named = {one.name: one for one in functions}
        count = _counted(node, call.site.scene.scope, named) if node is not None and not told_already else None
        if node is not None and count is not None:
            source = call.site.source
            text = message("data.weights.classes", line=count.lineno)
            places = (source.span(count).related(message("data.weights.counted")),)
            labels = _labels_here(count, node, call.site.scene.scope, named)
            fixes = []
            if labels is not None:
                title = message("fix.weights", text=f"{source.segment(node)}[{labels}]")
                fixes = [Candidate(title, (append(source, node, f"[{labels}]"),), safe=False)]
            yield Finding(call.site.span, text, places, fixes)


def _labels_here(
    count: ast.Call, node: ast.expr, scope: ast.AST, functions: Mapping[str, ast.FunctionDef]
) -> str | None:
    """How the labels that are counted are written where the sampler is made; with the argument for the parameter, where a function
    counts them."""
    labels = count.args[0]
    if not is_reference(labels) or any(part is count for part in ast.walk(scope)):
        return ast.unparse(labels) if is_reference(labels) else None
    bound = bindings_of(node.id, scope) if isinstance(node, ast.Name) else []
    made = [one.value for one in nodes_in(scope, ast.Assign) if bound and bound[0] in one.targets] or [node]
    call = as_kind(made[0], ast.Call)
    counter = functions.get(last_word(call.func)) if call is not None else None
    root = next(nodes_in(labels, ast.Name), None)
    placed = [one.arg for one in by_position(counter.args)] if counter is not None else []
    if call is None or root is None or root.id not in placed:
        return None
    given = argument_of(call, placed.index(root.id), root.id)
    return ast.unparse(given) + ast.unparse(labels).removeprefix(root.id) if is_reference(given) else None


def _counted(
    node: ast.expr, scope: ast.AST, functions: Mapping[str, ast.FunctionDef], depth: int = 6
) -> ast.Call | None:
    """The call of ``bincount(labels)`` whose result, a number for each class, an expression computes with, element by element; also in a
    function of the file."""
    if not depth:
        return None
    match node:
        case ast.Name():
            bound = bindings_of(node.id, scope)
            made = [one.value for one in nodes_in(scope, ast.Assign) if bound and bound[0] in one.targets]
            return _counted(made[0], scope, functions, depth - 1) if len(bound) == len(made) == 1 else None
        case ast.BinOp():
            found = [_counted(part, scope, functions, depth - 1) for part in (node.left, node.right)]
            plain = not any(contains(part, ast.Subscript, ast.ListComp) for part in (node.left, node.right))
            return found[0] or found[1] if plain else None
        case ast.Call(func=function):
            name = last_word(function)
            if name == "bincount" and node.args:
                least = argument_of(node, 2, "minlength")
                return node if least is None or _is_of_classes(least) else None
            results = returned_by(functions[name]) if isinstance(function, ast.Name) and name in functions else []
            if len(results) == 1:
                return _counted(results[0], functions[name], functions, depth - 1)
            inner = function.value if name in _KEPT_BY and isinstance(function, ast.Attribute) else None
            inner = node.args[0] if name in _MADE_OF and node.args else inner
            return _counted(inner, scope, functions, depth - 1) if inner is not None else None
    return None


def _is_of_classes(node: ast.expr) -> bool:
    """Whether a number is named as one of classes, or is that of the names in a list."""
    return is_function_call(node, "len") or is_reference(node) and "class" in ast.unparse(node).lower()


def _each_once(analysis: Analysis) -> Iterator[Finding]:
    """Samplers that draw every sample: the weights decide in which order, and nothing else."""
    for call in analysis.calls_at_places(_SAMPLER):
        weights, drawn = call.given(0, "weights"), call.given(1, "num_samples")
        written = argument_of(call.site.call, 2, "replacement") if call.site.call is not None else None
        shape = shape_of(weights)
        count = shape[0] if shape else len(items_of(weights) or ())
        if written is not None and call.given(2, "replacement") is False and is_int(drawn) and same(count, drawn):
            fix = replaced(call.site, written, "True")
            yield Finding(call.site.span, message("data.weights.once", count=drawn), (), (fix,))


def _repairs(fault: DataFault) -> Iterator[Candidate]:
    """The weights of the classes, taken by the labels of the samples; those of all samples, taken for a part of them."""
    call, (weights, given, total) = fault.at.call, fault.values
    node = argument_of(call, 0, "weights") if call is not None else None
    if call is None or node is None:
        return
    source = fault.at.source
    if given > total:
        part = name_in(fault.at.scene, fault.dataset)
        if part is not None and isinstance(weights, Tensor) and is_object_named(fault.dataset, "Subset"):
            changes = [append(source, node, f"[{part}.indices]")]
            drawn = argument_of(call, 1, "num_samples")
            if drawn is not None:
                changes.append(edits.replace(source, drawn, f"len({part})"))
            yield Candidate(message("fix.weights.part", part=part), tuple(changes))
        return
    for text, labels in _labels(fault.dataset, fault.at.scene, total):
        own = source.segment(node)
        whole = own if is_reference(node) else f"({own})"
        new = f"{whole}[{text}]"
        if not isinstance(weights, Tensor) or not isinstance(labels, Tensor):
            new = f"[{whole}[int(label)] for label in {text}]"
        yield Candidate(message("fix.weights", text=new), (edits.replace(source, node, new),))


def _labels(dataset: Value, frame: Scene, total: int) -> Iterator[tuple[str, Value]]:
    """Integers, one a sample, by the expressions for them."""
    held: list[tuple[str | None, Value]] = []
    match dataset:
        case LibraryObject() if dataset.type_name == "TensorDataset":
            held = [(name_in(frame, value), value) for value in reversed(dataset.args)]
        case Instance():
            name = name_in(frame, dataset)
            held = [(f"{name}.{key}" if name else None, value) for key, value in dataset.slots.items()]
    for text, value in held:
        if text is not None and _is_labels(value, total):
            yield text, value


def _is_labels(value: Value, total: int) -> bool:
    if isinstance(value, Tensor):
        return value.spec.shape == (total,) and str(value.spec.dtype).startswith("int")
    items = value.items if isinstance(value, ListValue) else None
    return items is not None and len(items) == total and all_are(items, int)


RULE = Rule(FAULTS[CODE], find)
