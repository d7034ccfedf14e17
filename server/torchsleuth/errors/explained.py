"""The errors that are explained in plain words (`explanations`), with the edits that follow from them in a run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.errors.calls import files_of
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.errors.fixes import (
    FixBuilder,
    add_argument,
    append,
    convert_argument,
    convert_receiver,
    fitted,
    no_fix,
    replace,
)
from torchsleuth.errors.functions import saved_here, saved_on_context
from torchsleuth.errors.origin import made_at
from torchsleuth.errors.pickled import defined_at, saved_or_moved
from torchsleuth.errors.plain import begun_again
from torchsleuth.errors.stateful import kept_results
from torchsleuth.explanations import EXPLANATIONS, POSITIVE
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Position, Related
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_attribute, is_binary, is_method_call, stands_on
from torchsleuth.synthesis.shapes import channels_last

_SIZED = ("empty", "ones", "rand", "randn", "zeros")


def _with_argument(text: str) -> FixBuilder:
    def build(case: Case) -> Iterator[Fix]:
        if case.frame.call is not None:
            yield add_argument(case.frame.source, case.frame.call, text)

    return build


def _function(name: str) -> FixBuilder:
    """``torch.cat(parts)`` → ``torch.stack(parts)``."""

    def build(case: Case) -> Iterator[Fix]:
        node = case.frame.node
        if is_method_call(node):
            yield replace(case.frame, node.func, f"{edits.owner(case.frame.source, node.func)}.{name}")

    return build


def _stacked(case: Case) -> Iterator[Fix]:
    """``torch.cat(losses)`` → ``torch.stack(losses)``, where the first one is a number too."""
    if int(case.match[1]) == 0:
        yield from _function("stack")(case)


def _any_or_all(case: Case) -> Iterator[Fix]:
    """``if x > 0`` → ``if (x > 0).any()``, or all."""
    node = as_kind(case.frame.node, ast.Compare, ast.Name, ast.Attribute)
    if node is not None:
        for suffix in (".any()", ".all()"):
            yield append(case.frame, node, suffix, safe=False)


def _away_from_zero(case: Case) -> Iterator[Fix]:
    """``torch.sqrt(x)`` → ``torch.sqrt(x + 1e-12)``; the same for logarithms."""
    node = case.frame.node
    if not is_method_call(node):
        return
    receiver = node.args[0] if node.args else node.func.value
    if node.func.attr in ("sqrt", "rsqrt", "log"):
        text = f"{case.frame.text(receiver)} + 1e-12"
        yield replace(case.frame, receiver, text if node.args else f"({text})")


def _numbers_of_optimizer(case: Case) -> Iterator[Fix]:
    """``lr=lr`` → ``lr=float(lr)`` where it is a text."""
    node = case.frame.call
    for keyword in node.keywords if node is not None else ():
        if (case.frame.value(keyword.value) or {}).get("type") == "str" or isinstance(
            getattr(keyword.value, "value", None), str
        ):
            yield replace(case.frame, keyword.value, f"float({case.frame.text(keyword.value)})")


def _copied(case: Case) -> Iterator[Fix]:
    """``copy.deepcopy(y)`` → ``copy.deepcopy(y.detach())``; of a module that keeps such a tensor, its state."""
    given = case.frame.argument(0, "x")
    if given is not None and not kept_results(case):
        is_module = (case.frame.value(given) or {}).get("kind") == "module"
        yield append(case.frame, given, ".state_dict()" if is_module else ".detach()", safe=not is_module)


def _mapped_over_some(case: Case) -> Iterator[Fix]:
    """``vmap(f)(stacked, x)`` → ``vmap(f, in_dims=(0, None))(stacked, x)``: what has another size is for all."""
    node = case.frame.call
    if node is None or not isinstance(node.func, ast.Call) or len(node.func.args) != 1 or node.keywords:
        return
    sizes = [int(part) for part in case.match[1].strip("[]").split(",")]
    most = max(sizes, key=sizes.count)
    others = [bool(found and found["shape"][:1] != [most]) for found in map(case.frame.tensor, node.args)]
    if any(others) and not all(others) and not any(item.arg == "in_dims" for item in node.func.keywords):
        text = f"in_dims=({', '.join('None' if other else '0' for other in others)})"
        yield add_argument(case.frame.source, node.func, text)


def _before(case: Case) -> Iterator[tuple[CrashFrame, ast.Assign]]:
    """The assignments to an attribute in the class of the failing line, above it."""
    for kind in case.frame.all(ast.ClassDef):
        if stands_on(kind, case.frame.line):
            for node in ast.walk(kind):
                target = node.targets[0] if isinstance(node, ast.Assign) else None
                if isinstance(node, ast.Assign) and node.lineno < case.frame.line and len(node.targets) == 1:
                    if is_attribute(target, case.match[1]):
                        yield case.frame, node


def _registered_before(case: Case) -> list[Related]:
    spans = [frame.source.span(node) for frame, node in _before(case)]
    return [Related(span.path, span.start, span.end, message("error.registered_before")) for span in spans]


def _not_before(case: Case) -> Iterator[Fix]:
    """``self.counts = …`` in front of ``self.register_buffer("counts", …)`` is taken away."""
    for frame, node in _before(case):
        text = frame.source.on_one_line(node)[:60]
        title = message("fix.remove_line", text=text, line=node.lineno)
        after = Position((node.end_lineno or node.lineno) + 1, 1)
        yield Fix(title, (Edit(frame.path, Position(node.lineno, 1), after, ""),))


def _underscores(case: Case) -> Iterator[Fix]:
    """``self.heads[name]`` → ``self.heads[name.replace(".", "_")]`` wherever a variable is looked up in that container."""
    statement, frame = as_kind(case.frame.statement, ast.Assign), case.frame
    target = as_kind(statement.targets[0], ast.Subscript) if statement is not None else None
    if target is None or not isinstance(target.slice, ast.Name):
        return
    container = frame.text(target.value)
    places = [
        node.slice
        for node in frame.all(ast.Subscript)
        if isinstance(node.slice, ast.Name) and frame.text(node.value) == container
    ]
    changes = tuple(edits.insert_after_node(frame.source, place, '.replace(".", "_")') for place in places)
    yield Fix(message("fix.underscores", name=target.slice.id), changes)


def _checkpoints(case: Case) -> Iterator[tuple[CrashFrame, ast.Call]]:
    for frame in files_of(case):
        for node in frame.all(ast.Call):
            if called(node) == "checkpoint" and node.args:
                yield frame, node


def _checkpointed_here(case: Case) -> list[Related]:
    spans = [frame.source.span(node) for frame, node in _checkpoints(case)]
    return [Related(span.path, span.start, span.end, message("error.checkpointed_here")) for span in spans]


def _not_checkpointed(case: Case) -> Iterator[Fix]:
    """``checkpoint(block, x, use_reentrant=False)`` → ``block(x)``: more memory, and computed once."""
    for frame, node in _checkpoints(case):
        given = [*node.args[1:], *(item for item in node.keywords if item.arg not in _CHECKPOINT_OPTIONS)]
        text = f"{frame.text(node.args[0])}({', '.join(frame.text(item) for item in given)})"
        title = message("fix.not_checkpointed", call=" ".join(text.split())[:60])
        yield Fix(title, (edits.replace(frame.source, node, text),), safe=False)


_CHECKPOINT_OPTIONS = frozenset(
    {"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"}
)


def _default_of_json(case: Case) -> Iterator[Fix]:
    """``json.dumps(x)`` → ``json.dumps(x, default=lambda value: value.tolist())``."""
    node = case.frame.call
    if node is not None and called(node) in ("dump", "dumps"):
        text = "default=lambda value: value.tolist()"
        yield add_argument(case.frame.source, node, text)


def _at_most_there_are(case: Case) -> Iterator[Fix]:
    """``x.topk(k)`` → ``x.topk(min(k, x.size(-1)))``"""
    frame, node = case.frame, case.frame.node
    if not is_method_call(node):
        return
    method = frame.tensor(node.func.value) is not None
    whole = node.func.value if method else frame.argument(0, "input")
    k, dim = frame.argument(1 - method, "k"), frame.argument(2 - method, "dim")
    if whole is not None and k is not None:
        size = f"{frame.text(whole)}.size({frame.text(dim) if dim is not None else -1})"
        yield replace(frame, k, f"min({frame.text(k)}, {size})", safe=False)


def _optimizer_there(case: Case) -> Iterator[Fix]:
    """``StepLR(net.parameters(), 5)`` → ``StepLR(optimizer, 5)``, where the function has an optimizer."""
    given = case.frame.argument(0, "optimizer")
    for node in ast.walk(case.frame.enclosing) if given is not None else ():
        made = as_kind(node.value, ast.Call) if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and made is not None and isinstance(node.targets[0], ast.Name):
            function = case.frame.text(made.func)
            if "optim." in function and "lr_scheduler" not in function and given is not None:
                yield replace(case.frame, given, node.targets[0].id)


def _made_positive(case: Case) -> Iterator[Fix]:
    """``Normal(mean, out)`` → ``Normal(mean, out.exp())``; softplus keeps more of what was meant, and needs a name of F."""
    name, distribution = case.match[1], case.match[2]
    place = POSITIVE.get(distribution, {}).get(name)
    given = case.frame.argument(place, name) if place is not None else None
    if given is not None:
        yield append(case.frame, given, ".exp()", safe=False)


def _coordinates_last(case: Case) -> Iterator[Fix]:
    """``F.grid_sample(image, grid)`` → ``F.grid_sample(image, grid.permute(0, 2, 3, 1))``"""
    grid = case.frame.argument(1, "grid")
    wanted = int(case.match[1])
    if grid is not None:
        yield from fitted(case.frame, grid, case.frame.tensor(grid), lambda shape: shape[-1] == wanted, channels_last)


def _mode_of_rank(case: Case) -> Iterator[Fix]:
    """``mode="bilinear"`` → ``mode="linear"``, for a signal."""
    mode = case.frame.argument(3, "mode")
    wanted = {3: "linear", 4: "bilinear", 5: "trilinear"}.get(int(case.match[1]))
    if isinstance(mode, ast.Constant) and wanted is not None:
        yield replace(case.frame, mode, f'"{wanted}"')


def _as_matrices(case: Case) -> Iterator[Fix]:
    """``F.affine_grid(theta, …)`` → ``F.affine_grid(theta.view(-1, 2, 3), …)``"""
    theta = case.frame.argument(0, "theta")
    found = case.frame.tensor(theta)
    if theta is not None and found is not None and found["shape"][1:] == [6]:
        yield append(case.frame, theta, ".view(-1, 2, 3)")


def _with_jitter(case: Case) -> Iterator[Fix]:
    """``torch.linalg.cholesky(k)`` → ``torch.linalg.cholesky(k + 1e-4 * torch.eye(k.size(-1)))``; for the rounding of 32 bits."""
    given = case.frame.argument(0, "input", "A")
    found = case.frame.tensor(given)
    if given is not None and found is not None and isinstance(given, ast.Name | ast.Attribute):
        small, text = ("1e-4" if found["dtype"] == "float32" else "1e-8"), case.frame.text(given)
        eye = f"torch.eye({text}.size(-1), dtype={text}.dtype, device={text}.device)"
        yield replace(case.frame, given, f"{text} + {small} * {eye}", safe=False)


def _receiver_made(case: Case) -> list[Related]:
    """Where the object was made whose method refuses: the optimizer that a state does not fit."""
    node = case.frame.node
    if not is_method_call(node):
        return []
    name = case.frame.text(node.func.value)
    span = made_at(case.frames, 0, name)
    return [] if span is None else [Related(span.path, span.start, span.end, message("error.comes_from", name=name))]


_RELATED: dict[str, Callable[[Case], list[Related]]] = {
    "explain.attribute_exists": _registered_before,
    "explain.optimizer_state": _receiver_made,
    "explain.pickle": defined_at,
    "explain.recomputed": _checkpointed_here,
    "explain.saved_value": saved_here,
}
_FIXES: dict[str, FixBuilder] = {
    "explain.attribute_exists": _not_before,
    "explain.dotted_name": _underscores,
    "explain.interpolate_mode": _mode_of_rank,
    "explain.affine": _as_matrices,
    "explain.exhausted": begun_again,
    "explain.json": _default_of_json,
    "explain.numpy_seed": convert_argument(" % 2**32", 0, "seed"),
    "explain.pickle": saved_or_moved,
    "explain.recomputed": _not_checkpointed,
    "explain.saved_value": saved_on_context,
    "explain.grid": _coordinates_last,
    "explain.vmap_sizes": _mapped_over_some,
    "explain.anomaly": _away_from_zero,
    "explain.lengths_sorted": _with_argument("enforce_sorted=False"),
    "explain.lengths_cpu": convert_argument(".cpu()", 1, "lengths"),
    "explain.cat_scalars": _stacked,
    "explain.condition": _any_or_all,
    "explain.negative_stride": convert_argument(".copy()", 0),
    "explain.from_numpy": _function("as_tensor"),
    "explain.bfloat16": convert_receiver(".float()"),
    "explain.deepcopy": _copied,
    "explain.multinomial": _with_argument("replacement=True"),
    "explain.no_optimizer": _optimizer_there,
    "explain.topk": _at_most_there_are,
    "explain.positive": _made_positive,
    "explain.not_positive": _with_jitter,
    "explain.no_state": convert_argument(".state_dict()", 0, "state_dict"),
}


def _float_size(case: Case) -> bool:
    values: list[Any] = [case.frame.value(node) for node in case.frame.operands()]
    divided = any(isinstance(getattr(node, "op", None), ast.Div) for node in case.frame.operands())
    return divided or any(value is not None and value.get("type") == "float" for value in values)


def _divided(case: Case) -> Iterator[Fix]:
    """``n / 2`` → ``n // 2``"""
    for node in case.frame.operands():
        if is_binary(node, ast.Div):
            left, right = case.frame.text(node.left), case.frame.text(node.right)
            yield replace(case.frame, node, f"{left} // {right}")


_NOT_A_NUMBER = r"'<=' not supported between instances of 'float' and '({})'"
_OPTION = "import torch.nn as nn\nlayer = nn.Linear(2, 2)\n"

ENTRIES = (
    *(
        ErrorEntry(
            item.code,
            item.expression,
            item.text,
            _FIXES.get(item.text, no_fix),
            example=item.example,
            related=_RELATED.get(item.text, lambda case: []),
            plain=True,
        )
        for item in EXPLANATIONS
    ),
    ErrorEntry(
        "TS825",
        _NOT_A_NUMBER.format("str"),
        "explain.option_type",
        _numbers_of_optimizer,
        applies=lambda case: case.is_below("torch/optim/"),
        example=_OPTION + "torch.optim.Adam(layer.parameters(), lr='1e-3')",
        plain=True,
    ),
    ErrorEntry(
        "TS199",
        _NOT_A_NUMBER.format("tuple|list|NoneType|dict"),
        "explain.option_type",
        applies=lambda case: case.is_below("torch/optim/"),
        example=_OPTION + "rate = 1e-3,\ntorch.optim.Adam(layer.parameters(), lr=rate)",
        plain=True,
    ),
    ErrorEntry(
        "TS312",
        rf"^(?:{'|'.join(_SIZED)})\(\) takes 1 positional argument but \d+ were given",
        "error.float_size",
        _divided,
        applies=_float_size,
        example="n = 8\nx = torch.zeros(n / 2, 3)",
    ),
)  # fmt: skip
