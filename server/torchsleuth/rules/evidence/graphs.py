"""Shared by the rules about autograd: faults by kind, the words for what cut a graph, and the repairs of a cut."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import blocks_of, caller_of, is_alone, place_in, receiver_text, statement_of
from torchsleuth.rules.evidence.operands import short
from torchsleuth.rules.evidence.rewrites import OF_NUMBERS
from torchsleuth.rules.rule import Analysis, Candidate
from torchsleuth.schema import Edit, Position, Related
from torchsleuth.sifting import all_are, as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    callee,
    is_assignment,
    is_attribute,
    is_binary,
    is_display,
    is_method_call,
    is_name,
    is_primary,
    keyword_of,
    last_word,
    loads,
    names_in,
    nodes_in,
    returned_by,
    stands_on,
    stores,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.device import CPU
from torchsleuth.values import LibraryObject, ListValue, Site, Tensor, is_native
from torchsleuth.values.frames import Scene
from torchsleuth.values.graph import AutogradFault, Cut

_METHODS = frozenset({"item", "detach", "data", "numpy", "tolist"})
_CONVERSIONS = frozenset({"long", "int", "short", "byte", "bool", "char"})
_MAKERS = frozenset({"tensor", "from_numpy", "as_tensor", "Tensor", "FloatTensor"})


def faults(analysis: Analysis, *kinds: str) -> Iterator[AutogradFault]:
    return (fault for fault in analysis.trace.autograd if fault.kind in kinds)


def callers_may_stop_recording(analysis: Analysis, site: Site) -> bool:
    """Whether a place is reached from a function that nothing here calls, and that is named in a file which also turns recording off."""
    scene: Scene | None = site.scene
    while scene is not None and scene.call is not None:
        scene = scene.caller
    if scene is None or scene.function is None:
        return False
    texts = (analysis.source_of(site.span.path), *analysis.workspace.mentioning(scene.function.name, site.span.path))
    return any(_STOPS_RECORDING.search(one.text) for one in texts)


_STOPS_RECORDING = re.compile(r"\b(no_grad|inference_mode|set_grad_enabled)\b")


def gradient_is_used(analysis: Analysis, fault: AutogradFault) -> bool:
    """Whether a tensor that cuts the model off may be meant to: something looks at a gradient, or optimises tensors."""
    if not fault.leaves:
        return False
    looked_at = bool(analysis.events("grad_touched"))
    looked_at = looked_at or any(leaf.slots.get("has_grad") for leaf in fault.leaves)
    tensors = [part for optimizer in analysis.trace.optimizers for part in trained_parts(optimizer)]
    return looked_at or any(not part.parameter for part in of_kind(tensors, Tensor))


def text_of(site: Site, limit: int = 40) -> str:
    """The source of a place, shortened."""
    text = site.source.on_one_line(site.node)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def name_of(fault: AutogradFault) -> str:
    """The expression that backward() starts from, as the user wrote it."""
    start = started_from(fault)
    text = "the tensor" if start is None else fault.at.source.segment(start)
    return f"`{text}`"


def started_from(fault: AutogradFault) -> ast.expr | None:
    """``loss`` of ``loss.backward()``, ``torch.autograd.grad(loss, x)`` and ``accelerator.backward(loss)``."""
    node = fault.at.call
    if node is None:
        return None
    given = node.args[0] if node.args else None
    if isinstance(given, ast.Name) and fault.at.scene.names.get(given.id) is fault.tensor:
        return given
    if isinstance(node.func, ast.Attribute) and node.func.attr != "grad":
        return given if given is not None and is_of_framework(node, fault.at.scene) else node.func.value
    return given


def is_of_framework(call: ast.Call, scene: Scene) -> bool:
    """Whether ``backward(loss)`` is a method of what is given the loss, as ``accelerator.backward(loss)`` is."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    held = scene.names.get(owner.id, scene.globals.get(owner.id)) if isinstance(owner, ast.Name) else None
    return isinstance(held, LibraryObject)


def cut_text(analysis: Analysis, cut: Cut) -> str:
    """``.item()`` and its like, in words of the source."""
    if cut.kind in _METHODS:
        return f"`.{cut.kind}`" if cut.kind == "data" else f"`.{cut.kind}()`"
    if cut.kind == "no_grad" and cut.mode is not None and isinstance(cut.mode.node, ast.FunctionDef):
        return message("grad.cut.function", name=f"`{cut.mode.node.name}()`")
    if cut.kind == "no_grad":
        return "the block without gradients" if cut.mode else "code that runs without gradients"
    if cut.kind == "frozen":
        statement = as_kind(statement_of(analysis, cut.site), ast.Assign)
        if statement is not None:
            return f"`{cut.site.source.segment(statement)}`"
    return f"`{text_of(cut.site)}`"


def cut_places(analysis: Analysis, cut: Cut | None) -> tuple[Related, ...]:
    if cut is None:
        return ()
    site = cut.mode if cut.mode is not None and isinstance(cut.mode.node, ast.With) else cut.site
    source = site.source
    node = site.node.items[0].context_expr if isinstance(site.node, ast.With) else site.node
    key = "grad.cut.frozen" if cut.kind == "frozen" else "grad.cut"
    return (source.span(node).related(message(key, cut=cut_text(analysis, cut))),)


# -- repairs of a cut ------------------------------------------------------------------------------


def uncut(analysis: Analysis, cut: Cut | None) -> Iterator[Candidate]:
    """Repairs that let the gradient pass where it was cut."""
    if cut is None:
        return
    if cut.kind in _METHODS:
        source, node = cut.site.source, cut.site.node
        edit = edits.without_attribute(source, node, cut.kind)
        if edit is not None:
            yield Candidate(message("fix.remove", text=f".{cut.kind}" + "()" * (cut.kind != "data")), (edit,))
        yield from _round_trip(analysis, cut.site)
    elif cut.kind in _UNCUT:
        yield from _UNCUT[cut.kind](analysis, cut)


def _kept_as_tensor(analysis: Analysis, cut: Cut) -> Iterator[Candidate]:
    """``float(x)``, ``math.sqrt(x)`` of a tensor."""
    source, node = cut.site.source, cut.site.call
    if node is None:
        return
    if isinstance(node.func, ast.Name):
        yield _replaced(source, node, source.segment(node.args[0]))
    elif is_attribute(node.func, *OF_NUMBERS) and torch_name(cut.site) == "torch":
        yield _replaced(source, node.func, OF_NUMBERS[node.func.attr])


def _without_integers(analysis: Analysis, cut: Cut) -> Iterator[Candidate]:
    yield from soft_one_hot(analysis, cut.site)
    yield from soft_membership(analysis, cut.site)
    yield from _differentiable(cut.site.source, cut.site.node)
    yield from past_lookup(analysis, cut.site)
    yield from _soft_argmax(analysis, cut.site)


def _with_graph(analysis: Analysis, cut: Cut) -> Iterator[Candidate]:
    if cut.site.call is not None:
        edit = edits.add_argument(cut.site.source, cut.site.call, "create_graph=True")
        yield Candidate(message("fix.add", text="create_graph=True"), (edit,))


def _while_recording(analysis: Analysis, cut: Cut) -> Iterator[Candidate]:
    if cut.mode is None:
        return
    source, statement = cut.site.source, statement_of(analysis, cut.site)
    step = in_place_step(source, statement)
    if step is not None and statement is not None:
        yield _replaced(source, statement, step)
    yield from _moved_out(analysis, cut.site, cut.mode)
    yield from _recorded(analysis, cut.mode)


_UNCUT: dict[str, Callable[[Analysis, Cut], Iterator[Candidate]]] = {
    "float": _kept_as_tensor,
    "rewrapped": lambda analysis, cut: _unwrapped(analysis, cut),
    "integers": _without_integers,
    "frozen": lambda analysis, cut: _unfrozen(analysis, cut.site),
    "first_order": _with_graph,
    "no_grad": _while_recording,
    "reentrant": lambda analysis, cut: _checkpointed_anew(cut.site),
}


def _checkpointed_anew(site: Site) -> Iterator[Candidate]:
    """``use_reentrant=False``: what is recorded depends on the parameters, too."""
    if site.call is not None:
        source = site.source
        asked = keyword_of(site.call, "use_reentrant")
        if asked is not None:
            yield _replaced(source, asked.value, "False")
        else:
            text = "use_reentrant=False"
            yield Candidate(message("fix.add", text=text), (edits.add_argument(source, site.call, text),))


def in_place_step(source: SourceText, statement: ast.stmt | None) -> str | None:
    """``w = w - rate * w.grad`` as ``w -= rate * w.grad``, which leaves `w` the leaf that it is."""
    if not is_assignment(statement):
        return None
    name, value = source.segment(statement.targets[0]), statement.value
    if not is_binary(value, ast.Sub, ast.Add):
        return None
    sign = "-" if isinstance(value.op, ast.Sub) else "+"
    return f"{name} {sign}= {source.segment(value.right)}" if source.segment(value.left) == name else None


def _replaced(
    source: SourceText, node: ast.AST, text: str, safe: bool = True, more: tuple[Edit, ...] = ()
) -> Candidate:
    title = message("fix.replace", old=short(source.segment(node)), new=short(text))
    return Candidate(title, (edits.replace(source, node, text), *more), safe)


def _round_trip(analysis: Analysis, site: Site) -> Iterator[Candidate]:
    """``torch.from_numpy(x.detach().numpy())`` is ``x``: the tensor instead of one made of its values."""
    source, tree = site.source, analysis.tree(site.span.path)
    inner = analysis.index(site.span.path).same(site.node)
    if not isinstance(inner, ast.expr):
        return
    for part in reversed(edits.path_to(tree, inner)[:-1]):
        if isinstance(part, ast.Call) and part.args and isinstance(part.func, ast.Attribute):
            if part.func.attr in _MAKERS and _within(part.args[0], inner):
                yield _replaced(source, part, source.segment(_stripped(inner)))
                return
        if not isinstance(part, ast.Call | ast.Attribute):
            return


def _stripped(node: ast.expr) -> ast.expr:
    """The tensor in front of ``.detach().cpu().numpy()``."""
    while True:
        attribute = node.func if isinstance(node, ast.Call) else node
        if not is_attribute(attribute, *_METHODS, "cpu"):
            return node
        node = attribute.value


def _unwrapped(analysis: Analysis, cut: Cut) -> Iterator[Candidate]:
    """The data itself instead of ``torch.tensor(data)``, together with the repair of what cut the data off."""
    source, node = cut.site.source, cut.site.call
    if node is None or not node.args:
        return
    data = node.args[0]
    package = source.segment(node.func).rpartition(".")[0]
    stack = f"{package}.stack" if package else "stack"
    bare = _without_item(source, data)
    texts = [f"{stack}({bare})"] if _is_listed(analysis, cut.site) else [bare]
    if is_display(data) and len(data.elts) == 1:
        texts.insert(0, _without_item(source, data.elts[0]))
    inside = cut.before is not None and _within(data, cut.before.site.node)
    before = () if inside or cut.before is None else tuple(uncut(analysis, cut.before))
    for text in texts:
        yield _replaced(source, node, text)
        for earlier in before:
            yield _replaced(source, node, text, earlier.safe, earlier.edits)


def _is_listed(analysis: Analysis, site: Site) -> bool:
    """Whether a tensor is made from a list."""
    calls = (call for call in analysis.trace.calls if call.site.span == site.span and call.args)
    return any(isinstance(call.args[0], ListValue | tuple) for call in calls)


def _within(outer: ast.expr, node: ast.AST | None) -> bool:
    return any(part is node for part in ast.walk(outer))


def _without_item(source: SourceText, data: ast.expr) -> str:
    """The source of an expression without its calls of item()."""
    text, start = source.segment(data), source.offset(source.start_of(data))
    for part in sorted(ast.walk(data), key=lambda part: -getattr(part, "end_col_offset", 0)):
        if is_method_call(part, "item"):
            keep = source.offset(source.end_of(part.func.value)) - start
            text = text[:keep] + text[source.offset(source.end_of(part)) - start :]
    return text


def _differentiable(source: SourceText, node: ast.AST) -> Iterator[Candidate]:
    """The operand of a comparison with a threshold, of a conversion to integers or of argmax."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return
    if isinstance(node, ast.Compare):
        yield _replaced(source, node, source.segment(node.left), safe=False)
    elif is_method_call(node):
        if node.func.attr in _CONVERSIONS or not node.args:
            yield _replaced(source, node, source.segment(node.func.value), safe=False)
        else:
            for operand in (node.func.value, node.args[0]):
                yield _replaced(source, node, source.segment(operand), safe=False)


def soft_one_hot(analysis: Analysis, site: Site) -> Iterator[Candidate]:
    """``x.softmax(dim=1)`` for ``one_hot(x.argmax(dim=1), n).float()``."""
    source, call = site.source, analysis.index(site.span.path).same(site.node)
    if not is_method_call(call, "argmax"):
        return
    operations = analysis.operations_at(site.span)
    method = bool(operations) and operations[0].target.startswith("Tensor.")
    operand = call.func.value if method else call.args[0] if call.args else None
    arguments = ([*call.args] if method else call.args[1:]) + [
        word.value for word in call.keywords if word.arg == "dim"
    ]
    outer: ast.AST | None = None
    for part in reversed(analysis.trail(site.span.path, call)[:-1]):
        function = callee(part)
        name = last_word(function)
        if name in ("one_hot", "float", "to", "type_as"):
            outer = part
        elif not isinstance(part, ast.Attribute):
            break
    if outer is not None and operand is not None and len(arguments) == 1:
        text = f"{source.segment(operand)}.softmax(dim={source.segment(arguments[0])})"
        yield _replaced(source, outer, text, safe=False)


def soft_membership(analysis: Analysis, site: Site) -> Iterator[Candidate]:
    """The probability ``p[:, c]`` for ``(p == c).float()``, where `p` is an argmax that is only compared with classes."""
    source, call = site.source, analysis.index(site.span.path).same(site.node)
    found = analysis.operations_at(site.span)
    if not is_method_call(call, "argmax") or not found:
        return
    dim = (*found[0].args[1:], found[0].kwargs.get("dim"))[0]
    operand = call.func.value if found[0].target.startswith("Tensor.") else call.args[0]
    within, statement = analysis.index(site.span.path), as_kind(statement_of(analysis, site), ast.Assign)
    uses: list[ast.AST] = [call]
    if statement is not None and statement.value is call and isinstance(statement.targets[0], ast.Name):
        scope = first_of(reversed(within.trail(call)), ast.FunctionDef, ast.Module)
        names = list(nodes_in(scope, ast.Name)) if scope is not None else []
        uses = [part for part in names if part.id == statement.targets[0].id and part is not statement.targets[0]]
    at = {1: "[:, {}]", -1: "[..., {}]", 0: "[{}]"}.get(dim) if isinstance(dim, int) else None
    soft = edits.replace(source, call, f"{source.segment(operand)}.softmax(dim={dim})")
    changes = [soft] if uses != [call] else []
    for use in uses:
        member = _membership(analysis, source, use)
        if member is None or at is None:
            return
        whole, number = member
        name = soft.new_text if use is call else source.segment(use)
        changes.append(edits.replace(source, whole, name + at.format(source.segment(number))))
    if len(changes) > (uses != [call]):
        title = message("fix.replace", old=short(source.segment(call)), new=short(soft.new_text))
        yield Candidate(title, tuple(changes), safe=False)


def _membership(analysis: Analysis, source: SourceText, use: ast.AST) -> tuple[ast.Call, ast.expr] | None:
    """``(x == c).float()`` around `x`, with `c`, where that is a number."""
    parents = analysis.index(source.path).parents
    compared = as_kind(parents.get(use), ast.Compare)
    if compared is None or len(compared.ops) != 1 or not isinstance(compared.ops[0], ast.Eq):
        return None
    number = compared.comparators[0] if compared.left is use else compared.left
    method = parents.get(compared)
    whole = as_kind(parents.get(method), ast.Call) if is_attribute(method, "float") else None
    span = source.span(compared)
    found = analysis.operations_at(span)
    numbers = [part for operation in found for part in operation.args if not isinstance(part, Tensor)]
    plain = bool(found) and len(numbers) == len(found) and all_are(numbers, int)
    return (whole, number) if whole is not None and plain else None


def past_lookup(analysis: Analysis, site: Site) -> Iterator[Candidate]:
    """``q = z + (q - z).detach()`` where the nearest entry `q` of a table is looked up for `z`, put in before the result."""
    found = analysis.operations_at(site.span)
    chosen, given = site.call, found[0].args[:1] if found else ()
    # The result is bound after the look-up: what counts are the names at the return, where the frame has ended.
    source, frame = site.source, site.frame
    function = frame.function.node if frame.function is not None else None
    last = as_kind(function.body[-1], ast.Return) if isinstance(function, ast.FunctionDef) else None
    if last is None or chosen is None or not given:
        return
    distances = given[0].origin if isinstance(given[0], Tensor) else None
    points = {name: held for name, held in frame.names.items() if isinstance(held, Tensor) and isinstance(name, str)}
    before = [name for name, held in points.items() if distances is not None and held in distances.sources]
    before = before or [name for name in points if name in {argument.arg for argument in function.args.args}]  # type: ignore[union-attr]
    used = names_in(last)
    for name in before:
        for other in sorted(used & points.keys() - {name}):
            if points[other].spec.shape is not None and points[other].spec.shape == points[name].spec.shape:
                line = f"{other} = {name} + ({other} - {name}).detach()"
                yield Candidate(
                    message("fix.straight_through"), (edits.insert_line_before(source, last, line),), safe=False
                )


def _soft_argmax(analysis: Analysis, site: Site) -> Iterator[Candidate]:
    """``(x.softmax(dim=1) * torch.arange(10)).sum(dim=1)`` for ``x.argmax(dim=1)``."""
    call, source, torch = site.node, site.source, torch_name(site)
    operations = analysis.operations_at(site.span)
    if not is_method_call(call) or not operations or torch is None:
        return
    operand = call.func.value if operations[0].target.startswith("Tensor.") else call.args[0]
    spec, dims = operations[0].specs[0], (*operations[0].args[1:], operations[0].kwargs.get("dim"))
    if call.func.attr != "argmax" or spec.device != CPU or spec.shape is None or not isinstance(dims[0], int):
        return
    dim, size = dims[0], as_kind(spec.shape[dims[0]], int)
    plain = is_primary(operand)
    inner = source.segment(operand) if plain else f"({source.segment(operand)})"
    if size is not None and dim % len(spec.shape) == len(spec.shape) - 1:
        text = f"({inner}.softmax(dim={dim}) * {torch}.arange({size})).sum(dim={dim})"
        yield Candidate(message("fix.soft_argmax"), (edits.replace(source, call, text),), safe=False)


def _unfrozen(analysis: Analysis, site: Site) -> Iterator[Candidate]:
    """The freezing, or the call that leads to it, before the parts that it is not meant for; ``True`` instead of ``False``
    where it is done."""
    source, statement = site.source, statement_of(analysis, site)
    place: Site | None = site
    while place is not None:
        freezing = statement_of(analysis, place)
        if freezing is not None:
            yield from _frozen_before(analysis, place.source, freezing)
        place = caller_of(place)
    for part in nodes_in(statement, ast.Constant) if statement is not None else ():
        if part.value is False:
            yield Candidate(message("fix.unfreeze"), (edits.replace(source, part, "True"),), safe=False)


def _frozen_before(analysis: Analysis, source: SourceText, statement: ast.stmt) -> Iterator[Candidate]:
    """The loop over ``model.parameters()`` in front of ``model.fc = …``, below what makes the model."""
    trail = of_kind(analysis.trail(source.path, statement), ast.stmt)
    whole = next((part for part in of_kind(reversed(trail), ast.For) if part.body == [statement]), statement)
    block = next((one for one in blocks_of(analysis.tree(source.path)) if whole in one), [whole])
    before = block[: block.index(whole)]
    used = {ast.unparse(part) for part in nodes_in(whole, ast.Name, ast.Attribute)} - {"self"}
    first = whole
    while before and isinstance(before[-1], ast.Assign) and used & set(_owners(before[-1].targets[0])):
        first = before.pop()
    if first is not whole:
        text = " ".join(source.segment(whole).split("\n", 1)[0].split()).rstrip(":")
        made = block[len(before) : block.index(whole)]
        changes = edits.relocate(source, [whole], before[-1]) if before else edits.relocate(source, made, whole)
        yield Candidate(message("fix.move_before", text=text, line=first.lineno), changes)


def _owners(target: ast.expr) -> Iterator[str]:
    """``self.model`` and ``self`` for ``self.model.classifier[2]``."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
        yield ast.unparse(target)


def _moved_out(analysis: Analysis, site: Site, mode: Site) -> Iterator[Candidate]:
    """The last statement of a block without gradients behind it, or the first one in front of it."""
    source, block, statement = (
        mode.source,
        as_kind(mode.node, ast.With),
        statement_of(analysis, site),
    )
    if block is None or site.span.path != mode.span.path or len(block.body) < 2 or statement is None:
        return
    first, last = block.body[0], block.body[-1]
    lines = [(part.lineno, part.end_lineno) for part in (first, last)]
    place = (statement.lineno, statement.end_lineno)
    if place not in lines or statement.lineno == block.lineno or not is_alone(statement, analysis, mode.span.path):
        return
    text = source.segment(statement)
    changes: tuple[Edit, ...]
    if place == lines[1]:
        outer, inner = block.col_offset + 1, statement.col_offset + 1
        line = statement.lineno
        changes = (Edit(source.path, Position(line, outer), Position(line, inner), ""),)
    else:
        changes = (edits.insert_line_before(source, block, text), edits.remove_line(source, statement.lineno))
    yield Candidate(message("fix.out_of_block", text=text), changes, safe=False)


def _recorded(analysis: Analysis, mode: Site) -> Iterator[Candidate]:
    """Switch recording on again where it was switched off."""
    source, node = mode.source, mode.node
    match node:
        case ast.With() if len(node.items) == 1:
            dissolved = edits.unwrap(source, node)
            if dissolved:
                yield Candidate(message("fix.dissolve"), dissolved, safe=False)
        case ast.FunctionDef():
            for decorator in node.decorator_list:
                if "grad" in ast.unparse(decorator) or "inference_mode" in ast.unparse(decorator):
                    edit = edits.remove_line(source, decorator.lineno)
                    yield Candidate(message("fix.undecorate"), (edit,), safe=False)
        case ast.Call() if node.args:
            yield _replaced(source, node.args[0], "True", safe=False)
            yield from _switched_on(analysis, mode)


def _switched_on(analysis: Analysis, mode: Site) -> Iterator[Candidate]:
    """``torch.set_grad_enabled(True)`` at the end of the function that ``torch.set_grad_enabled(False)`` stands in."""
    source, statement = mode.source, statement_of(analysis, mode)
    trail = analysis.trail(mode.span.path, statement) if statement is not None else []
    block = as_kind(trail[-2], ast.FunctionDef) if len(trail) > 1 else None
    if block is None or mode.call is None:
        return
    text = f"{source.segment(mode.call.func)}(True)"
    last = block.body[-1]
    insert = edits.insert_line_before if isinstance(last, ast.Return) else edits.insert_line_after
    yield Candidate(message("fix.insert", text=text), (insert(source, last, text),), safe=False)


# -- places and names ------------------------------------------------------------------------------


def at_backward(fault: AutogradFault) -> AutogradFault:
    """The fault of the backward() that meets weights which a step has changed, in place of that of the step."""
    step = is_method_call(fault.at.node)
    if fault.kind == "modified" and step and fault.at.node.func.attr == "step" and fault.cause is not None:  # type: ignore[attr-defined]
        return replace(fault, at=fault.cause)
    return fault


def retained(fault: AutogradFault) -> ast.keyword | None:
    """``retain_graph=True`` of the backward() that a fault is at."""
    node = fault.at.call
    given = node.keywords if node is not None else ()
    return next((part for part in given if part.arg == "retain_graph"), None)


def carried_names(analysis: Analysis, fault: AutogradFault) -> dict[str, bool]:
    """Variables that bring a freed graph to the same backward() of a later iteration, and whether each is a tuple."""
    if fault.cause is None or fault.cause.span != fault.at.span:
        return {}
    return {name: several for name, several in fault.carried if _is_carried(analysis, name, fault)}


def repeated_block(analysis: Analysis, site: Site) -> ast.stmt | ast.Module:
    """The block that is executed repeatedly around a place: the loop in the same function, or else the function."""
    tree, statement = analysis.tree(site.span.path), statement_of(analysis, site)
    trail = edits.path_to(tree, statement) if statement is not None else []
    for part in reversed(trail):
        if isinstance(part, ast.For | ast.While | ast.FunctionDef):
            return part
    return tree


def _is_carried(analysis: Analysis, name: str, fault: AutogradFault) -> bool:
    """Whether one round leaves the variable to the next: an attribute that is set anew, a result, or a variable that is
    read and then set."""
    site = fault.at
    tree, scope = analysis.tree(site.span.path), repeated_block(analysis, site)
    path = name.partition("[")[0]
    name, _, attribute = path.partition(".")
    if attribute:
        functions = [part for part in nodes_in(tree, ast.FunctionDef) if part.name != "__init__"]
        if _sets_attribute(scope, path) or (
            any(_sets_attribute(function, path) for function in functions) and _is_made_within(fault, scope)
        ):
            return True
    if isinstance(scope, ast.FunctionDef):
        returned = returned_by(scope)
        given = {part.arg for part in nodes_in(scope.args, ast.arg)}
        return name in given and any(is_name(part, name) for value in returned for part in ast.walk(value))
    read = False
    for statement in getattr(scope, "body", []):
        names = [part for part in ast.walk(statement) if is_name(part, name)]
        read = read or any(loads(part) for part in names)
        read = read or any(_targets(part, name) for part in nodes_in(statement, ast.AugAssign))
        if any(stores(part) for part in names):
            return read
    return False


def _sets_attribute(block: ast.AST, path: str) -> bool:
    return any(stores(part) and f".{path}".endswith(f".{part.attr}") for part in nodes_in(block, ast.Attribute))


def _is_made_within(fault: AutogradFault, scope: ast.stmt | ast.Module) -> bool:
    """Whether the freed piece of graph was made in a round, and not before the first one."""
    place = place_in(fault.node.site, fault.at.scene.function) if fault.node is not None else None
    if place is None or place.span.path != fault.at.span.path or isinstance(scope, ast.Module):
        return place is not None
    return stands_on(scope, place.span.start.line)


def _targets(statement: ast.AugAssign, name: str) -> bool:
    return is_name(statement.target, name)


def constructor_of(analysis: Analysis, fault: AutogradFault) -> Iterator[tuple[SourceText, ast.Call]]:
    """The call that made the module whose call is at fault."""
    for operation in analysis.trace.operations:
        if operation.site.span == fault.at.span and operation.module is not None and operation.module.site is not None:
            site = operation.module.site
            if site.call is not None:
                yield site.source, site.call


def torch_name(site: Site) -> str | None:
    """The name of the module torch where something happens, None where it is not imported."""
    names = site.scene.globals
    return next((str(name) for name, value in names.items() if is_native(value, "torch")), None)


def written_name(analysis: Analysis, fault: AutogradFault) -> str:
    """The tensor that an in-place change writes to, as the user wrote it."""
    source, statement = fault.at.source, statement_of(analysis, fault.at)
    target: ast.AST | None = None
    match statement:
        case ast.AugAssign():
            target = statement.target
        case ast.Assign():
            target = statement.targets[0]
    text = source.segment(target) if target is not None else receiver_text(fault.at)
    return f"`{text or text_of(fault.at)}`"


def last_assignment(analysis: Analysis, name: ast.expr, site: Site) -> ast.expr | None:
    """The value last assigned to a name before a place in the same block or one around it."""
    statement = statement_of(analysis, site)
    if not isinstance(name, ast.Name) or statement is None:
        return None
    trail = analysis.trail(site.span.path, statement)
    found: ast.expr | None = None
    for block in trail:
        for part in of_kind(getattr(block, "body", []) if not isinstance(block, ast.Lambda) else (), ast.Assign):
            if part.lineno < statement.lineno and len(part.targets) == 1:
                target = part.targets[0]
                if is_name(target, name.id):
                    found = part.value
    return found


def method_of(source: SourceText, node: ast.expr, method: str) -> str:
    """``(a + b).mean()``"""
    text = source.segment(node)
    plain = is_primary(node)
    return f"{text}.{method}()" if plain else f"({text}).{method}()"
