"""The layer whose scores an index was drawn from, or is the place of the highest of, and repairs of its width."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Operation
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import argument_node, change_argument
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_assignment, nodes_in
from torchsleuth.values import Tensor, Value

_CHOOSES = frozenset("multinomial sample argmax max topk".split())
_LAYERS = frozenset("Linear Embedding Conv1d Bilinear".split())
_MAX_STEPS = 60


def dim_of(operation: Operation) -> Value:
    """The `dim` of a softmax, or of another operator that works along one dimension; None where it is not given."""
    if operation.module is not None:
        return operation.module.given(0, "dim")
    return operation.given(1, "dim")


def scoring(analysis: Analysis, index: Tensor) -> Operation | None:
    """The call of the layer that gave the scores."""
    pending, seen = [(index, False)], set[int]()
    for _ in range(_MAX_STEPS):
        if not pending:
            return None
        current, chosen = pending.pop(0)
        origin = current.origin
        if origin is None or id(origin) in seen:
            continue
        seen.add(id(origin))
        operation = analysis.operation_of(origin)
        chosen = chosen or origin.name in _CHOOSES
        if chosen and operation is not None and operation.module is not None:
            return operation if operation.module.type_name in _LAYERS else None
        pending += [(source, chosen) for source in origin.sources]
    return None


def narrowed(analysis: Analysis, scores: Operation, wanted: int) -> Iterator[Candidate]:
    """The layer with as many scores as there may be; for an embedding, another layer that makes scores of its vectors."""
    layer = scores.module
    if layer is None:
        return
    if layer.type_name == "Embedding":
        yield from _with_head(analysis, scores)
        yield from change_argument(analysis, layer, 1, "embedding_dim", wanted)
    elif layer.type_name == "Linear":
        yield from change_argument(analysis, layer, 1, "out_features", wanted)


def _with_head(analysis: Analysis, scores: Operation) -> Iterator[Candidate]:
    """``self.head = nn.Linear(width, rows)`` behind the embedding, called with what it gives."""
    layer, call = scores.module, scores.site.call
    made = layer.site if layer is not None else None
    if layer is None or made is None or made.span.path != scores.site.span.path or call is None:
        return
    rows, width = (argument_node(layer, *one) for one in ((0, "num_embeddings"), (1, "embedding_dim")))
    source, tree = made.source, analysis.tree(made.span.path)
    statement = edits.enclosing_statement(tree, made.node)
    target = as_kind(statement.targets[0], ast.Attribute) if is_assignment(statement) else None
    if rows is None or width is None or target is None or made.call is None:
        return
    owner, kind = source.segment(target.value), source.segment(made.call.func)
    if not kind.endswith("Embedding") or source.segment(call.func) != source.segment(target) or statement is None:
        return
    taken = {node.attr for node in nodes_in(tree, ast.Attribute)}
    name = next(name for name in ("head", "lm_head", "output_head", f"{target.attr}_head") if name not in taken)
    linear = f"{kind.removesuffix('Embedding')}Linear({source.segment(width)}, {source.segment(rows)})"
    changes = (
        edits.insert_line_after(source, statement, f"{owner}.{name} = {linear}"),
        edits.replace(source, call, f"{owner}.{name}({source.segment(call)})"),
    )
    yield Candidate(message("fix.add", text=f"{owner}.{name} = {linear}"), changes, safe=False)
