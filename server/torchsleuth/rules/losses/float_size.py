"""float-size: a size computed with `/`.

What it finds
    A floating point number where PyTorch takes an integer: sizes of layers and tensors, kernels, numbers of heads and
    chunks, the bounds of a slice. Division with `/` gives a float in Python, even where nothing remains.
Why it hurts
    PyTorch stops with "empty(): argument 'size' must be tuple of ints, not float", inside of the library.
Example
    nn.Linear(hidden / 2, 10)
Use instead
    nn.Linear(hidden // 2, 10)
Fix safety
    Safe: `//` gives the same number as an integer where the division leaves no remainder. Where it does, int(…) rounds down.
References
    torch.Tensor.view, torch.nn.Linear
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held, passed_for
from torchsleuth.rules.evidence.operands import replaced, short
from torchsleuth.rules.evidence.operators import failures, own_words
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import argument_of, is_attribute, is_display, is_name, nodes_in, targets_of
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import ClassValue, Instance, ListValue, Scalar, Site, SliceValue, Value, is_of, items_of
from torchsleuth.values.frames import Scene

CODE = "TS312"
_ALL: tuple[str, ...] = ("*",)
_CONVOLUTION = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups")
_POOL = ("kernel_size", "stride", "padding")
_RECURRENT = ("input_size", "hidden_size", "num_layers")
_LAYERS: dict[str, tuple[str, ...]] = {
    "Linear": ("in_features", "out_features"),
    "Bilinear": ("in1_features", "in2_features", "out_features"),
    "Embedding": ("num_embeddings", "embedding_dim"),
    "EmbeddingBag": ("num_embeddings", "embedding_dim"),
    "LayerNorm": ("normalized_shape",),
    "GroupNorm": ("num_groups", "num_channels"),
    "MultiheadAttention": ("embed_dim", "num_heads"),
    "TransformerEncoderLayer": ("d_model", "nhead", "dim_feedforward"),
    "TransformerDecoderLayer": ("d_model", "nhead", "dim_feedforward"),
    "Transformer": ("d_model", "nhead", "num_encoder_layers", "num_decoder_layers", "dim_feedforward"),
    "PixelShuffle": ("upscale_factor",),
    "Unflatten": ("", "unflattened_size"),
    "Upsample": ("size",),
    **{f"Conv{n}d": _CONVOLUTION for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": _CONVOLUTION[:5] for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": ("num_features",) for n in (1, 2, 3)},
    **{f"InstanceNorm{n}d": ("num_features",) for n in (1, 2, 3)},
    **{f"{kind}Pool{n}d": _POOL for kind in ("Max", "Avg") for n in (1, 2, 3)},
    **{f"Adaptive{kind}Pool{n}d": ("output_size",) for kind in ("Max", "Avg") for n in (1, 2, 3)},
    **{name: _RECURRENT for name in ("RNN", "LSTM", "GRU")},
    **{name: _RECURRENT[:2] for name in ("RNNCell", "LSTMCell", "GRUCell")},
}
"""Layer → its first parameters, those that are integers; an empty name is one that is not looked at."""
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    **{f"torch.{name}": _ALL for name in ("zeros", "ones", "empty", "rand", "randn", "randperm", "eye")},
    "torch.full": ("size",),
    "torch.randint": ("low", "high", "size"),
    "torch.linspace": ("", "", "steps"),
    "torch.reshape": ("", "shape"),
    "torch.chunk": ("", "chunks"),
    "torch.split": ("", "split_size_or_sections"),
    "torch.topk": ("", "k"),
    "torch.narrow": ("", "dim", "start", "length"),
    "torch.nn.functional.pad": ("", "pad"),
    "torch.nn.functional.one_hot": ("", "num_classes"),
    "torch.nn.functional.interpolate": ("", "size"),
    "torch.nn.functional.adaptive_avg_pool2d": ("", "output_size"),
    "torch.nn.functional.max_pool2d": ("", "kernel_size", "stride"),
    "torch.nn.functional.avg_pool2d": ("", "kernel_size", "stride"),
    "torch.utils.data.DataLoader": ("", "batch_size"),
    "torch.utils.data.WeightedRandomSampler": ("", "num_samples"),
    "torch.utils.data.RandomSampler": ("", "", "num_samples"),
    "torch.utils.data.BatchSampler": ("", "batch_size"),
    **{f"Tensor.{name}": _ALL for name in ("view", "reshape", "expand", "repeat", "unflatten", "permute")},
    **{f"Tensor.{name}": _ALL for name in ("new_zeros", "new_ones", "new_empty", "narrow", "unfold")},
    "Tensor.chunk": ("chunks",),
    "Tensor.split": ("split_size",),
    "Tensor.topk": ("k",),
}
"""Function → its parameters, in order, that are integers; ``*``: every one that is given by position."""


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int, int]] = set()
    given: dict[Hashable, list[tuple[Site, str, Value, ast.expr | None]]] = {}
    for site, name, value, node in _floats(analysis):
        start = site.span.start
        if (site.span.path, start.line, start.column) not in seen:
            seen.add((site.span.path, start.line, start.column))
            given.setdefault(_source(analysis, site, node), []).append((site, name, value, node))
    for uses in given.values():
        # One expression may give a float for several integers.
        more = tuple(site.span.related(message("size.again")) for site, *_ in uses[1:])
        yield _finding(analysis, *uses[0], more)
    for failure in failures(analysis, CODE):
        start = failure.operation.site.span.start
        if (failure.operation.site.span.path, start.line, start.column) not in seen:
            name = failure.operation.name
            yield Finding(
                failure.operation.site.span, message("operator.plain", operator=name, error=own_words(failure))
            )


def _source(analysis: Analysis, site: Site, node: ast.expr | None) -> Hashable:
    """The place that a float comes from: a division, what a variable is set to, else where it is given."""
    for path, division in _divisions(analysis, site, node):
        return path, division.lineno, division.col_offset
    value = _set_to(site, node) if isinstance(node, ast.Name) else None
    return site.span if value is None else (site.scene.path, value.lineno, value.col_offset)


def _floats(analysis: Analysis) -> Iterator[tuple[Site, str, Value, ast.expr | None]]:
    """Calls and slices with a float for an integer: the place, the parameter's name, the value, the expression."""
    for call in analysis.trace.calls:
        for name, value, node in _integers(call):
            if _is_float(value) and not (
                _supposed(value, call.site) and not any(_divisions(analysis, call.site, node))
            ):
                yield call.site, name, value, node
        if call.path == "torch.utils.data.random_split":
            lengths = call.given(1, "lengths")
            items = as_kind(lengths.items or () if isinstance(lengths, ListValue) else lengths, tuple)
            if items is not None and any(item > 1 for item in of_kind(items, float)):
                node = _argument(call, 1, "lengths")
                found = next(index for index, item in enumerate(items) if isinstance(item, float) and item > 1)
                parts = node.elts if is_display(node) else []
                yield call.site, "lengths", items[found], parts[found] if found < len(parts) else node
    for operation in analysis.trace.operations:
        if operation.target != "operator.getitem" or not isinstance(operation.site.node, ast.Subscript):
            continue
        key, node = operation.args[1], operation.site.node.slice
        keys, nodes = (key, node.elts) if isinstance(key, tuple) and isinstance(node, ast.Tuple) else ((key,), [node])
        for part, written in zip(keys, nodes):
            if isinstance(part, SliceValue) and isinstance(written, ast.Slice):
                for bound, inner in (
                    (part.start, written.lower),
                    (part.stop, written.upper),
                    (part.step, written.step),
                ):
                    if _is_float(bound):
                        yield operation.site, "a slice", bound, inner


def _integers(call: LibraryCall) -> Iterator[tuple[str, Value, ast.expr | None]]:
    """The arguments of a call that have to be integers."""
    name = call.name
    parameters = _LAYERS.get(name, ()) if call.path.startswith("torch.nn.") else ()
    parameters = _FUNCTIONS.get(call.path, parameters)
    if parameters == _ALL:
        for index, value in enumerate(call.args):
            yield from _elements(name, value, _argument(call, index, ""))
        if "size" in call.kwargs:
            yield from _elements("size", call.kwargs["size"], _argument(call, None, "size"))
        return
    for index, parameter in enumerate(parameters):
        if parameter:
            yield from _elements(parameter, call.given(index, parameter), _argument(call, index, parameter))


def _argument(call: LibraryCall, position: int | None, name: str) -> ast.expr | None:
    return argument_of(call.site.call, position, name) if call.site.call is not None else None


def _elements(name: str, value: Value, node: ast.expr | None) -> Iterator[tuple[str, Value, ast.expr | None]]:
    items = items_of(value)
    if items is None:
        yield name, value, node
        return
    parts = node.elts if is_display(node) and len(node.elts) == len(items) else [node] * len(items)
    for item, part in zip(items, parts):
        yield name, item, part


def _is_float(value: Value) -> bool:
    return is_of(value, float)


def _supposed(value: Value, site: Site) -> bool:
    """Whether there may be nothing but an annotation that says so, in what nothing calls: `float` is also for integers."""
    frame: Scene | None = site.scene
    while frame is not None and (frame.function is None or frame.call is not None):
        frame = frame.caller
    return isinstance(value, Scalar) and frame is not None


def _finding(
    analysis: Analysis, site: Site, name: str, value: Value, node: ast.expr | None, more: tuple[Related, ...]
) -> Finding:
    source = site.source
    written = f"`{short(source.segment(node))}`" if node is not None else "the argument"
    text = message(
        "size.float",
        written=written,
        value=f"the float {value}" if isinstance(value, float) else "a float",
        parameter=name,
    )
    places: list[Related] = []
    for path, division in _divisions(analysis, site, node):
        if division is not node and not places:
            places.append(analysis.source_of(path).span(division).related(message("size.divided")))
    return Finding(site.span, text, (*places, *more), _candidates(analysis, site, name, node))


def _candidates(analysis: Analysis, site: Site, name: str, node: ast.expr | None) -> Iterator[Candidate]:
    for path, division in _divisions(analysis, site, node):
        yield from _repairs(analysis.source_of(path), division)
    if isinstance(node, ast.Name):
        yield from _whole_variable(site, node)
    if name == "lengths":
        yield from _whole_lengths(site)
    elif node is not None:
        yield replaced(site, node, f"int({site.source.segment(node)})")


def _whole_variable(site: Site, node: ast.Name) -> Iterator[Candidate]:
    """A variable rounded down where it is set, so that every use of it has an integer."""
    value = _set_to(site, node)
    if value is not None:
        yield replaced(site, value, f"int({site.source.segment(value)})")


def _set_to(site: Site, node: ast.Name) -> ast.expr | None:
    """The value of a variable that is assigned once."""
    frame = site.scene
    scope = frame.scope
    given = [
        statement
        for statement in nodes_in(scope, ast.Assign)
        if len(statement.targets) == 1
        if is_name(statement.targets[0], node.id)
    ]
    return given[0].value if len(given) == 1 else None


def _whole_lengths(site: Site) -> Iterator[Candidate]:
    """The parts of a split rounded down, the last one to what is left."""
    call, source = site.call, site.source
    node = call.args[1] if call is not None and len(call.args) > 1 else None
    if is_display(node) and len(node.elts) > 1 and call is not None:
        whole = [f"int({source.segment(part)})" for part in node.elts]
        yield replaced(site, node, f"[{', '.join(whole)}]", safe=False)
        rest = f"len({source.segment(call.args[0])}) - {' - '.join(whole[:-1])}"
        yield replaced(site, node, f"[{', '.join((*whole[:-1], rest))}]", safe=False)


def _repairs(source: SourceText, division: ast.BinOp) -> Iterator[Candidate]:
    between = source.slice(source.end_of(division.left), source.start_of(division.right))
    if between.count("/") == 1:
        offset = source.offset(source.end_of(division.left)) + between.index("/")
        edit = Edit(source.path, source.position(offset), source.position(offset + 1), "//")
        text = source.segment(division)
        yield Candidate(message("fix.replace", old=short(text), new=short(text.replace("/", "//"))), (edit,))


def _divisions(analysis: Analysis, site: Site, node: ast.expr | None) -> Iterator[tuple[str, ast.BinOp]]:
    """The divisions that a value comes from, each with its file: in the expression, in what its names were assigned, in the
    class of the object that it is an attribute of, in the caller."""
    frame: Scene | None = site.scene
    for _ in range(4):
        if node is None or frame is None:
            return
        within = list(_quotients(node))
        values = [] if within else _assignments(analysis, frame, node)
        for division in within or [part for value in values for part in _quotients(value)]:
            yield frame.path, division
        yield from _of_attribute(frame, node)
        if within:
            return
        outer = passed_for(node, frame)
        if outer is None:
            return
        node, frame = outer


def _of_attribute(frame: Scene, node: ast.expr) -> Iterator[tuple[str, ast.BinOp]]:
    """The divisions of a property, or of what the methods of a class assign to an attribute: ``cfg.head_dim``."""
    owner = as_kind(held(node.value, frame), Instance) if isinstance(node, ast.Attribute) else None
    for base in owner.cls.mro() if owner is not None else ():
        for method in of_kind(base.node.body if isinstance(base, ClassValue) else (), ast.FunctionDef):
            if not isinstance(node, ast.Attribute):
                continue
            for part in ast.walk(method):
                result = isinstance(part, ast.Return) and method.name == node.attr
                kept = isinstance(part, ast.Assign) and any(is_attribute(target, node.attr) for target in part.targets)
                if isinstance(part, ast.Return | ast.Assign) and part.value is not None and (result or kept):
                    yield from ((base.path, division) for division in _quotients(part.value))


def _quotients(node: ast.AST) -> Iterator[ast.BinOp]:
    for part in nodes_in(node, ast.BinOp):
        if isinstance(part.op, ast.Div):
            yield part


def _assignments(analysis: Analysis, frame: Scene, node: ast.expr) -> Iterator[ast.expr]:
    """The values that the file assigns to the names and attributes of an expression."""
    wanted = {ast.unparse(part) for part in nodes_in(node, ast.Name, ast.Attribute)}
    for statement in of_kind(analysis.index(frame.path).nodes, ast.Assign, ast.AnnAssign):
        if statement.value is not None:
            targets = targets_of(statement)
            if any(ast.unparse(target) in wanted for target in targets):
                yield statement.value


RULE = Rule(FAULTS[CODE], find)
