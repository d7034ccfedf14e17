"""index-out-of-range: an index beyond the table.

What it finds
    Indices that are known to go beyond what they pick from: tokens of `torch.randint(0, 5000, …)` for an embedding of
    1000 rows, class numbers up to 10 for a prediction of 10 classes (0 to 9), numbers of padding or of what has no label that
    the loss is not told to ignore, `one_hot` with too few classes, a fixed position outside of a dimension. Labels that the script fills
    with a negative number and masks by it, and gathers by all the same.
Why it hurts
    PyTorch stops with "index out of range in self" or "Target 10 is out of bounds"; on the accelerator, with a
    device-side assertion that takes the process down.
Example
    embedding = nn.Embedding(1000, 64)
    embedding(torch.randint(0, 5000, (8, 20)))
Use instead
    embedding = nn.Embedding(5000, 64)
Fix safety
    Unsafe: the table may be right and the indices wrong. For class numbers that start at 1, subtracting 1 comes first;
    for padding, `ignore_index`.
References
    torch.nn.Embedding, torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.classes import DEFAULT_IGNORED, held, ignored_by, is_entropy
from torchsleuth.rules.evidence.constructors import argument_node, change_argument, constructor_related
from torchsleuth.rules.evidence.describe import call_trail, expression_text, layer_text, operator_text
from torchsleuth.rules.evidence.ignored import told_apart
from torchsleuth.rules.evidence.operands import (
    Operand,
    birth,
    layers_behind,
    operand,
    operands,
    replaced,
    suffixed,
)
from torchsleuth.rules.evidence.operators import failures, trail
from torchsleuth.rules.evidence.scores import narrowed, scoring
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    defaults_of,
    is_binary,
    is_display,
    is_function_call,
    is_method_call,
    is_name,
    names_in,
    nodes_in,
    parts_of_tuple,
    plain_name,
)
from torchsleuth.tensors.dims import is_index, is_number
from torchsleuth.values import Bounds, Ends, Instance, LibraryModule, Site, Value, is_int
from torchsleuth.values.frames import Scene

CODE = "TS310"
MAX_SPECIAL = 4
"""Special tokens, such as those of padding and of the start, that a vocabulary may lack."""
WHITE = 255
"""The number of the second class in a mask that is kept as a picture."""
_EMBEDDINGS = ("torch.nn.Embedding", "torch.nn.EmbeddingBag", "torch.nn.functional.embedding")
_OUT = re.compile(r"index (\d+) is out of bounds for dimension \d+ with size (\d+)")
_DRAWS = ("randint", "integers")


@dataclass(frozen=True)
class Lookup:
    """An index, the number of things it picks from, and what they are."""

    index: Operand
    size: int
    kind: str
    layer: LibraryModule | None = None
    ignored: int | None = None


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int, int]] = set()
    failed = {(failure.operation.site.span, failure.operation.target) for failure in analysis.trace.failures}
    for operation in analysis.trace.operations:
        lookup = _lookup(operation) or _by_model(analysis, operation)
        lookup = None if (operation.site.span, operation.target) in failed else lookup
        bounds = held(lookup.index.tensor) if lookup is not None else None
        start = operation.site.span.start
        key = (operation.site.span.path, start.line, start.column)
        if lookup is None or bounds is None or key in seen or not _beyond(lookup, bounds):
            continue
        chosen = scoring(analysis, lookup.index.tensor)
        if chosen is not None and 0 < bounds.high + 1 - lookup.size <= MAX_SPECIAL and bounds.low >= 0:
            continue  # An end, a blank: what is chosen last need not be looked up again.
        seen.add(key)
        yield _finding(analysis, operation, lookup, bounds)
    yield from _ignored(analysis, seen)
    for failure in failures(analysis, CODE):
        yield _fixed(analysis, failure.operation, failure.failure.message, trail(analysis, failure))


def _ignored(analysis: Analysis, seen: set[tuple[str, int, int]]) -> Iterator[Finding]:
    """Labels that are told apart by a mask, as they are to be left out, and are looked up with the others."""
    for operation in analysis.trace.operations:
        site = operation.site
        start = site.span.start
        key = (site.span.path, start.line, start.column)
        if operation.name != "gather" or site.call is None or key in seen:
            continue
        index = argument_of(site.call, 1 if _is_on_tensor(site.call) else 2, "index")
        found = told_apart(index, site.scene.scope, analysis.tree(site.span.path)) if index is not None else None
        if found is not None and index is not None:
            seen.add(key)
            compared, number = found
            text = message("index.ignored", index=f"`{site.source.segment(index)}`", number=number)
            places = (site.source.span(compared).related(message("index.ignored.mask")),)
            fix = edits.insert_after_node(site.source, index, ".clamp(min=0)")
            title = message("fix.append", expression=site.source.segment(index), suffix=".clamp(min=0)")
            yield Finding(site.span, text, places, (Candidate(title, (fix,), safe=False),))


def _is_on_tensor(call: ast.Call) -> bool:
    """``scores.gather(2, index)`` for ``torch.gather(scores, 2, index)``."""
    return is_method_call(call) and not is_name(call.func.value, "torch")


def _beyond(lookup: Lookup, bounds: Bounds | Ends) -> bool:
    if lookup.ignored is not None and (lookup.ignored in (bounds.low, bounds.high)):
        return False
    lowest = 0 if lookup.kind != "dimension" else -lookup.size
    return bounds.high >= lookup.size or bounds.low < lowest


def _lookup(operation: Operation) -> Lookup | None:
    """The table that an operation looks up by an index."""
    if operation.target in _EMBEDDINGS:
        used = operand(operation, 0, "input")
        rows = _rows(operation)
        return Lookup(used, rows, "table", operation.module) if used is not None and rows is not None else None
    if is_entropy(operation):
        used, prediction = operand(operation, 1, "target"), operand(operation, 0, "input")
        shape = prediction.spec.shape if prediction is not None else None
        size = (as_kind(shape[1] if len(shape) > 1 else shape[0], int)) if shape else None
        if used is None or size is None or used.spec.dtype not in ("int64", "uint8"):
            return None
        return Lookup(used, size, "classes", operation.module, ignored_by(operation))
    name = operation.name
    if name == "one_hot":
        used = operand(operation, 0, "tensor", "input")
        count = as_kind(operation.given(1, "num_classes", -1), int)
        return Lookup(used, count, "one_hot") if used is not None and count is not None and count > 0 else None
    if name in ("gather", "index_select", "take_along_dim"):
        return _picked(operation)
    if name == "getitem" and len(operation.args) == 2:
        found = operands(operation)
        shape = found[0].spec.shape if found else None
        index = next((used for used in found[1:] if used.name == 1), None)
        integers = index is not None and (index.spec.dtype or "").startswith("int")
        if shape and is_number(shape[0]) and index is not None and integers and operation.args[1] is index.tensor:
            return Lookup(index, shape[0], "dimension")
    return None


def _by_model(analysis: Analysis, operation: Operation) -> Lookup | None:
    """The labels of a model that computes the loss itself."""
    used, size = operand(operation, -1, "labels"), analysis.trace.classes.get(operation.site.span)
    if used is None or size is None or size < 2 or used.spec.dtype != "int64":
        return None
    return Lookup(used, size, "classes", operation.module, DEFAULT_IGNORED)


def _rows(operation: Operation) -> int | None:
    if operation.module is not None:
        size = operation.module.given(0, "num_embeddings")
        return as_kind(size, int)
    weight = operand(operation, 1, "weight")
    rows = weight.spec.shape[0] if weight is not None and weight.spec.shape else None
    return as_kind(rows, int)


def _picked(operation: Operation) -> Lookup | None:
    table, index = operand(operation, 0, "input"), operand(operation, 2, "index", "indices")
    dim: Value = operation.given(1, "dim")
    shape = table.spec.shape if table is not None else None
    if index is None or not shape or not is_number(dim) or not is_index(dim, shape):
        return None
    size = as_kind(shape[dim], int)
    return Lookup(index, size, "table") if size is not None else None


def _finding(analysis: Analysis, operation: Operation, lookup: Lookup, bounds: Bounds | Ends) -> Finding:
    user = layer_text(operation.module) if operation.module is not None else operator_text(operation)
    text = message(
        f"index.{lookup.kind}",
        index=lookup.index.text("the index"),
        values=message("index.held" if bounds.low == bounds.high else "index.range", low=bounds.low, high=bounds.high),
        user=user,
        size=lookup.size,
        last=lookup.size - 1,
    )
    places: list[Related] = []
    born = birth(lookup.index.tensor)
    if born is not None:
        places.append(born.site.source.span(born.call).related(message("index.born")))
    if lookup.layer is not None and lookup.kind == "table":
        places += constructor_related(lookup.layer, "num_embeddings", lookup.size)
    places += call_trail(operation.site.scene, limit=1)
    unsafe = (made.unsafe() for made in _candidates(analysis, operation, lookup, bounds))
    return Finding(operation.site.span, text, tuple(places), unsafe)


def _candidates(analysis: Analysis, operation: Operation, lookup: Lookup, bounds: Bounds | Ends) -> Iterator[Candidate]:
    is_table = lookup.kind == "table"
    if is_table:
        yield from _more_rows(analysis, lookup, bounds.high + 1)
    if isinstance(bounds, Bounds) and bounds.low == 1 and bounds.high == lookup.size:
        yield from suffixed(lookup.index, " - 1")
    if isinstance(bounds, Ends) and bounds.high == WHITE and bounds.low in (0, WHITE) and lookup.size == 2:
        yield from suffixed(lookup.index, f" // {WHITE}")
    if is_table and bounds.low < 0 and bounds.high < lookup.size:
        yield from suffixed(lookup.index, ".clamp(min=0)")
    ignoring = list(_ignoring(operation, lookup, bounds)) if lookup.ignored == DEFAULT_IGNORED else []
    if ignoring:
        yield from ignoring
        return
    if bounds.high >= lookup.size:
        if lookup.kind in _WIDENED:
            yield from _WIDENED[lookup.kind](analysis, operation, lookup, bounds.high + 1)
        yield from _drawn_lower(lookup)


def _more_rows(analysis: Analysis, lookup: Lookup, wanted: int) -> Iterator[Candidate]:
    """The scores by which an index was chosen, cut to the rows of its table; or a few rows more than it was written with."""
    chosen = scoring(analysis, lookup.index.tensor)
    if chosen is not None:
        yield from narrowed(analysis, chosen, lookup.size)
    if lookup.layer is None or lookup.layer.site is None:
        return
    rows = argument_node(lookup.layer, 0, "num_embeddings")
    few = 0 < wanted - lookup.size <= MAX_SPECIAL
    if few and rows is not None and not isinstance(rows, ast.Constant):
        source = lookup.layer.site.source
        text = f"{source.segment(rows)} + {wanted - lookup.size}"
        yield replaced(lookup.layer.site, rows, text)


def _wider_table(analysis: Analysis, operation: Operation, lookup: Lookup, wanted: int) -> Iterator[Candidate]:
    if lookup.layer is not None:
        yield from change_argument(analysis, lookup.layer, 0, "num_embeddings", wanted)


def _more_classes(analysis: Analysis, operation: Operation, lookup: Lookup, wanted: int) -> Iterator[Candidate]:
    prediction = operand(operation, 0, "input")
    if prediction is None:
        return
    for layer in layers_behind(analysis, prediction.tensor, "Linear", "Conv"):
        name = "out_features" if layer.type_name == "Linear" else "out_channels"
        yield from change_argument(analysis, layer, 1, name, wanted)
        break


def _longer_rows(analysis: Analysis, operation: Operation, lookup: Lookup, wanted: int) -> Iterator[Candidate]:
    call = operation.site.call
    if call is None:
        return
    node = argument_of(call, None, "num_classes")
    node = node or (call.args[1] if len(call.args) > 1 else None)
    if node is not None:
        yield replaced(operation.site, node, str(wanted))


_WIDENED = {"table": _wider_table, "classes": _more_classes, "one_hot": _longer_rows}


def _ignoring(operation: Operation, lookup: Lookup, bounds: Bounds | Ends) -> Iterator[Candidate]:
    """``ignore_index=`` for a number that stands for no class: a negative one, or one that targets were filled with."""
    made = operation.site if operation.module is None else operation.module.site
    filled = isinstance(bounds, Ends) and bounds.low == bounds.high
    if made is None or made.call is None or not (bounds.low < 0 or filled):
        return
    number = bounds.low if bounds.low < 0 else bounds.high
    born, text = birth(lookup.index.tensor), str(number)
    for part in nodes_in(born.call, ast.Name) if born is not None else ():
        if made.scene.globals.get(part.id) == number:
            text = part.id
    written = argument_of(made.call, None, "ignore_index")
    default = _default_of(written, made.scene) if written is not None else None
    if written is not None:
        yield replaced(made, default or written, text)
        return
    edit = edits.add_argument(made.source, made.call, f"ignore_index={text}")
    yield Candidate(message("fix.add", text=f"ignore_index={text}"), (edit,))


def _default_of(node: ast.expr, scene: Scene) -> ast.expr | None:
    """The default of the parameter that an expression is."""
    if scene.function is None or not isinstance(node, ast.Name):
        return None
    return defaults_of(scene.function.node.args).get(node.id)


def _drawn_lower(lookup: Lookup) -> Iterator[Candidate]:
    """The end of randint, PyTorch's or NumPy's, set to the size of the table."""
    born = birth(lookup.index.tensor)
    if born is None:
        return
    calls = [born.call] if born.name == "randint" else [part for part in ast.walk(born.call) if _draws(part)]
    if len(calls) != 1 or not isinstance(calls[0], ast.Call):
        return
    numbers = [node for node in calls[0].args if not is_display(node)]
    numbers = numbers if born.name == "randint" else numbers[:2]
    end = numbers[-1] if 0 < len(numbers) < 3 else None
    layer = lookup.layer
    written = (
        as_kind(argument_node(layer, 0, "num_embeddings"), ast.Name)
        if layer is not None and lookup.kind == "table"
        else None
    )
    if end is not None and isinstance(end, ast.Constant | ast.Name):
        new = str(lookup.size)
        if written is not None and written.id in born.site.scene.names:
            new = written.id
        yield replaced(born.site, end, new)


def _draws(node: ast.AST) -> bool:
    """``np.random.randint(…)`` or ``rng.integers(…)``."""
    return is_method_call(node, *_DRAWS)


def _fixed(analysis: Analysis, operation: Operation, error: str, places: tuple[Related, ...]) -> Finding:
    """A constant position that a dimension does not have."""
    given = operands(operation)
    text = message(
        "index.constant",
        tensor=given[0].described() if given else "the tensor",
        error=error.strip().split("\n")[0],
    )
    return Finding(operation.site.span, text, places, _last(analysis, operation, error))


def _last(analysis: Analysis, operation: Operation, error: str) -> Iterator[Candidate]:
    """The last position in place of one that is not there; or fewer positions asked for."""
    node = as_kind(operation.site.node, ast.Subscript)
    found = _OUT.search(error)
    if found is not None and int(found[1]) >= int(found[2]):
        excess = int(found[1]) - int(found[2]) + 1
        yield from _shorter(analysis, operation.site.scene, excess)
        if node is not None and not isinstance(node.slice, ast.Tuple):
            yield from _not_beyond(analysis, operation.site, node, excess)
    if node is not None:
        parts = parts_of_tuple(node.slice)
        for part in parts:
            if expression_text(part, "").strip("`").lstrip("-").isdigit() and f"index {ast.unparse(part)} " in error:
                yield replaced(operation.site, part, "-1", safe=False)


def _shorter(analysis: Analysis, frame: Scene, excess: int) -> Iterator[Candidate]:
    """A ``__len__`` without the positions for which ``__getitem__`` goes over the end."""
    owner, function = as_kind(frame.receiver, Instance), frame.function
    if owner is None or function is None or function.name != "__getitem__":
        return
    source = analysis.source_of(owner.cls.path)
    methods = [part for part in of_kind(owner.cls.node.body, ast.FunctionDef) if part.name == "__len__"]
    for part in of_kind((inner for method in methods for inner in ast.walk(method)), ast.Return):
        if part.value is None:
            continue
        first = function.node.args.args[0].arg if function.node.args.args else "self"
        whole, value = source.segment(part.value), part.value
        names = [f"{first}.{name}" for name, held in owner.slots.items() if is_int(held) and held == excess > 1]
        ahead = [f"{first}.{name}" for name, held in owner.slots.items() if is_int(held) and held == excess + 1 > 2]
        read = {source.segment(part) for part in nodes_in(function.node, ast.Attribute)}
        counts = [f"{whole} - {size}" for size in names]
        counts += [f"{whole} - {size} + 1" for size in ahead if size in read]
        counts.append(f"{whole} - {excess}")
        if is_binary(value, ast.Add) and isinstance(value.right, ast.Constant):
            if value.right.value == excess:
                counts = [source.segment(value.left)]
        for count in counts:
            yield Candidate(message("fix.replace", old=whole, new=count), (edits.replace(source, value, count),))


def _not_beyond(analysis: Analysis, site: Site, node: ast.Subscript, excess: int) -> Iterator[Candidate]:
    """``x[t + 1]`` in a loop over all positions: nothing behind the last one, or a loop that ends before it."""
    source = site.source
    names = names_in(node.slice)
    around = analysis.trail(site.span.path, node)
    loops = of_kind(around, ast.For, ast.comprehension)
    loops += [part.generators[0] for part in of_kind(around, ast.ListComp, ast.GeneratorExp)]
    loop = next((one for one in reversed(loops) if plain_name(one.target) in names), None)
    if loop is None or isinstance(node.slice, ast.Name):
        return
    ends: list[Candidate] = []
    for part in ast.walk(loop.iter):
        if is_function_call(part, "range") and part.args:
            end = part.args[min(len(part.args), 2) - 1]
            ends.append(replaced(site, end, f"{source.segment(end)} - {excess}", safe=False))
    index, text = source.segment(node.slice), source.segment(node)
    held = f"({text} if {index} < len({source.segment(node.value)}) else 0)"
    outer = around[-2] if len(around) > 1 else None
    factor = is_binary(outer, ast.Mult)
    nothing = [replaced(site, node, held, safe=False)]
    yield from (*nothing, *ends) if factor else (*ends, *nothing)


RULE = Rule(FAULTS[CODE], find)
