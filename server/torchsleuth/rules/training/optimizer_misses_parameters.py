"""optimizer-misses-parameters: what is trained with, and never changes.

What it finds
    An optimizer that was given the parameters of another module than the one that is trained; a layer that was put into
    a model after the optimizer had been given its parameters, or is made anew in each forward(); and a whole module, or a parameter, that was made in the
    script, gets gradients in each step of a training loop, and was given to no optimizer, while all that was given is
    given as a whole. Nothing is found where parts are left out on purpose: frozen, loaded from a file, copied, in
    evaluation mode, or where only some layers of a model are trained. Where all layers of a model are given one by one
    but the last, it is a hint.
Why it hurts
    The new layer keeps its random weights. The rest adapts to it as well as it can, so that the loss falls and the
    fault does not show.
Example
    optimizer = torch.optim.Adam(encoder.parameters())
    for x in loader:
        loss = mse(decoder(encoder(x)), x)
Use instead
    optimizer = torch.optim.Adam(list(encoder.parameters()) + list(decoder.parameters()))
    for x in loader:
        loss = mse(decoder(encoder(x)), x)
Fix safety
    Safe: the parameters were meant to be trained.
References
    torch.optim, torch.optim.Optimizer.add_param_group
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import descendants, has_own_parameters, parts_of, stands_for_any
from torchsleuth.interp.library.optim import given_to, trained_parts
from torchsleuth.interp.trace import Event
from torchsleuth.messages import message
from torchsleuth.rules.evidence.gradients import feeds, reads_gradients
from torchsleuth.rules.evidence.loops import (
    blocks_of,
    caller_of,
    common_loop,
    covers,
    is_alone,
    name_in,
    place_in,
    statement_of,
    trained_by,
)
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, moved_after, replacement
from torchsleuth.schema import Edit, Related
from torchsleuth.sifting import any_are, as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    is_assignment,
    is_attribute,
    is_dotted,
    is_method_call,
    is_name,
    loads,
    nodes_in,
    stores,
    targets_of,
)
from torchsleuth.syntax.text import SourceText
from torchsleuth.values import (
    UNKNOWN,
    DictValue,
    Instance,
    LibraryModule,
    LibraryObject,
    ListValue,
    Parameters,
    Ref,
    Site,
    Tensor,
    Value,
    is_int,
    is_module,
    is_unknown,
    tuple_of,
)

CODE = "TS512"
_LISTINGS = ("torch.nn.Module.parameters", "torch.nn.Module.named_parameters")
_WRITING = frozenset({"fill_", "copy_", "set_", "zero_"})
_CONSTANT = frozenset({"constant_", "ones_", "zeros_", "eye_", "dirac_"})
"""Functions of torch.nn.init that leave nothing to chance."""
_LOADING = ("torch.nn.Module.load_state_dict", "copy.deepcopy")


@dataclass(frozen=True)
class _Missed:
    """`optimizer`: one that steps after `backward`. `part`: what holds the parameters. `whole`: the outermost module
    around it, or the parameter itself."""

    optimizer: LibraryObject
    backward: Event
    part: LibraryModule | Tensor
    whole: Ref


def find(analysis: Analysis) -> Iterator[Finding]:
    trace = analysis.trace
    yield from _put_in_later(analysis)
    if any(event.kind == "step" and is_unknown(event.subject) for event in trace.events):
        return
    if any(UNKNOWN in given_to(optimizer) or optimizer.identity in trace.escaped for optimizer in trace.optimizers):
        return
    missed = list(_missed(analysis))
    if not missed or reads_gradients(analysis):
        return
    reported: set[int] = set()
    for kind in (_replaced, _given_another, _forgotten, _head):
        for item in missed:
            finding = kind(analysis, item) if item.whole.identity not in reported else None
            if finding is not None:
                reported.add(item.whole.identity)
                yield finding


def _missed(analysis: Analysis) -> Iterator[_Missed]:
    """The parameters that get gradients before an optimizer steps, and are in no optimizer."""
    trace = analysis.trace
    given = {id(part) for optimizer in trace.optimizers for part in trained_parts(optimizer)}
    given |= {id(part) for part in _in_plain_containers(analysis)}
    for optimizer in trace.optimizers:
        steps = [e for e in analysis.events_of(optimizer, "step") if e.certain and e.loops]
        around = {step.loops[0].execution: step.loops[0] for step in steps}
        for point in around.values():
            passes = [event for event in analysis.events_within(point) if event.kind == "backward" and event.certain]
            backwards = [event for event in passes if any(_after(event, step) for step in steps)]
            # A layer may be put in between two steps: the last of them goes through it.
            for backward in dict.fromkeys((*backwards[:1], *backwards[-1:])):
                for holder in _holders(backward):
                    if id(holder) not in given and _trainable(analysis, holder, backward):
                        yield _Missed(optimizer, backward, holder, _whole(analysis, holder))


def _holders(backward: Event) -> Iterator[LibraryModule | Tensor]:
    """The layers, and the parameters of the user's own, that a backward() goes through."""
    for node in backward.node.reachable() if backward.node is not None else ():
        for part in (node.module, *node.leaves):
            holder = part.owner or part if isinstance(part, Tensor) else part
            if holder is not None:
                yield holder


def _in_plain_containers(analysis: Analysis) -> Iterator[Value]:
    """Parts of modules in lists and dicts that modules do not look into, of which TS511 speaks."""
    for item in analysis.trace.attributes:
        held = item.owner.slots.get(item.name)
        items = held.elements if isinstance(held, ListValue) else as_kind(held, tuple) or ()
        items = tuple((held.items or {}).values()) if isinstance(held, DictValue) else items
        for layer in items or ():
            yield from parts_of(layer)


def _after(backward: Event, step: Event) -> bool:
    return backward.index < step.index and common_loop(backward, step) is not None


def _trainable(analysis: Analysis, part: LibraryModule | Tensor, backward: Event) -> bool:
    """Whether a part is to be trained, by what is known of it, and by its mode at a backward()."""
    if isinstance(part, Tensor):
        return part.parameter and part.spec.requires_grad is True
    modes = (*analysis.events("train"), *analysis.events("eval"))
    before = [mode for mode in modes if mode.index < backward.index and covers(mode, part)]
    latest = max(before, key=lambda mode: mode.index, default=None)
    trains = part.slots["training"] is True if latest is None else latest.kind == "train"
    return part.requires_grad is True and trains and has_own_parameters(part)


def _whole(analysis: Analysis, part: LibraryModule | Tensor) -> Ref:
    """The outermost module that is known to hold a part."""
    return analysis.wholes.get(id(part), part)


# -- another one was given in its place ------------------------------------------------------------


def _given_another(analysis: Analysis, item: _Missed) -> Finding | None:
    """An optimizer whose own parameters get no gradients, or are those of an optimizer before it."""
    optimizer, trace = item.optimizer, analysis.trace
    near = [event for event in trace.events if event.kind == "backward" and common_loop(event, item.backward)]
    starving = all(feeds(event, optimizer) is False for event in near)
    own = {id(part) for part in trained_parts(optimizer)}
    before = trace.optimizers[: trace.optimizers.index(optimizer)]
    doubled = any(own <= {id(part) for part in trained_parts(other)} for other in before)
    made = _made_at(item.whole)
    if optimizer.site is None or made is None or not (starving or (doubled and _is_fresh(analysis, item.part))):
        return None
    name = name_in(optimizer.site.scene, item.whole)
    places = (made.span.related(message("optimizer.forgotten.place")),)
    shown = f"`{name}`" if name else _called(item.whole)
    text = message("optimizer.other", what=shown, line=item.backward.site.span.start.line)
    given = as_kind(_given_node(analysis, optimizer), ast.Call)
    candidates: list[Candidate] = []
    if name and given is not None and item.whole.identity < optimizer.identity and is_module(item.whole):
        source = optimizer.site.source
        old, new = source.segment(given), f"{name}.parameters()"
        candidates.append(Candidate(message("fix.replace", old=old, new=new), (edits.replace(source, given, new),)))
    return Finding(optimizer.site.span, text, places, tuple(candidates))


# -- put in after the optimizer was made -----------------------------------------------------------


def _replaced(analysis: Analysis, item: _Missed) -> Finding | None:
    """A layer of a module that the optimizer was given as a whole."""
    optimizer = item.optimizer
    if not trained_by(optimizer, item.whole):
        return None
    modules = [module for given in of_kind(given_to(optimizer), Parameters) for module in given.modules]
    made = _made_at(item.part)
    whole = any(inner is item.part for module in modules for inner in parts_of(module))
    if not whole or made is None or item.part.identity < optimizer.identity or optimizer.site is None:
        return None
    if not _is_fresh(analysis, item.part, trained_parts(optimizer)):
        return None
    here = place_in(made, optimizer.site.scene.function) or made
    places: tuple[Related, ...] = (made.span.related(message("optimizer.later.place")),)
    first, second = _side_by_side(optimizer.site, made)
    text = message("optimizer.later", what=_called(item.part), line=second.span.start.line)
    if first is not optimizer.site:
        # Both are made by functions: the order is that of their calls.
        where = (first, second)
        places += tuple(one.span.related(message("optimizer.later.call")) for one in where)
    candidates = chain(
        _moved(analysis, first, second),
        _in_constructor(analysis, made, item.part),
        _made_again(analysis, optimizer.site, made),
        _as_group(analysis, optimizer.site, made),
    )
    if any(step.subject is optimizer and step.index < item.backward.index for step in analysis.events("step")):
        # It was made in time for what it has trained so far: the fault is the replacement.
        places = (optimizer.site.span.related(message("step.missing.optimizer")),)
        return Finding(here.span, text, places, candidates)
    return Finding(optimizer.site.span, text, places, candidates)


def _put_in_later(analysis: Analysis) -> Iterator[Finding]:
    """A layer that a function puts into a module it was given, behind the optimizer that it makes for the parts of the module."""
    grouped = any(is_attribute(node, "add_param_group") for node in analysis.index(analysis.source.path).nodes)
    for item in () if grouped else analysis.trace.attributes:
        made, statement = _made_at(item.value), statement_of(analysis, item.site)
        target = statement.targets[0] if is_assignment(statement) else None
        if not stands_for_any(item.owner) or made is None or not is_dotted(target) or statement is None:
            continue
        whole, part = ast.unparse(target.value), ast.unparse(target)
        for optimizer in analysis.trace.optimizers:
            place = optimizer.site
            if place is None or place.call is None or place.scene.function is not item.site.scene.function:
                continue
            first = statement_of(analysis, place)
            block = next((one for one in blocks_of(analysis.tree(place.span.path)) if first in one), [])
            given = {
                ast.unparse(one.func.value)
                for one in nodes_in(place.call, ast.Call)
                if is_method_call(one, "parameters")
            }
            later = statement.lineno
            anew = any(one.site is not None and one.site.span.start.line > later for one in analysis.trace.optimizers)
            if first is None or statement not in block[block.index(first) :] or not given & {whole, part} or anew:
                continue
            steps = [
                place_in(one.site, place.scene.function) for one in analysis.events("step") if one.subject is optimizer
            ]
            if not any(one is not None and one.span.start.line > later for one in steps):
                continue
            text = message("optimizer.later", what=f"`{item.name}`", line=statement.lineno)
            places = (made.span.related(message("optimizer.later.place")),)
            yield Finding(place.span, text, places, tuple(_moved(analysis, place, item.site)))


def _side_by_side(one: Site, other: Site) -> tuple[Site, Site]:
    """The calls in one function that led to two places; the second one in the function of the first if there are none."""
    for first in _callers(one):
        second = next((site for site in _callers(other) if site.scene.function is first.scene.function), None)
        if second is not None and second.span.path == first.span.path:
            return first, second
    return one, place_in(other, one.scene.function) or other


def _callers(site: Site | None) -> Iterator[Site]:
    while site is not None:
        yield site
        site = caller_of(site)


def _made_at(value: Value) -> Site | None:
    if isinstance(value, Tensor):
        return value.origin.site if value.origin is not None else None
    return value.site if isinstance(value, LibraryModule | Instance) else None


def _moved(analysis: Analysis, optimizer: Site, later: Site) -> Iterator[Candidate]:
    """The optimizer made behind the replacement, or the replacement made before the optimizer."""
    path = optimizer.span.path
    first, second = statement_of(analysis, optimizer), statement_of(analysis, later)
    if later.span.path != path or first is None or second is None or first is second:
        return
    tree, source = analysis.tree(path), analysis.source_of(path)
    block = next((body for body in blocks_of(tree) if first in body and second in body), None)
    if block is None or block.index(first) > block.index(second):
        return
    between = block[block.index(first) + 1 : block.index(second)]
    if not _depends([*between, second], first) and is_alone(first, analysis, path):
        yield moved_after(source, first, second)
    if not any(_depends([second], other) for other in (first, *between)) and is_alone(second, analysis, path):
        text = source.segment(second)
        changes = (edits.insert_line_before(source, first, text), edits.remove_line(source, second.lineno))
        yield Candidate(message("fix.move_before", text=text, line=first.lineno), changes)
    if _depends(between, first):
        yield from _anew(analysis, source, first, second)


def _made_again(analysis: Analysis, optimizer: Site, made: Site) -> Iterator[Candidate]:
    """The method that makes the optimizer called again, at the end of that of the same object which puts the layer in."""
    maker, changer, owner = optimizer.scene.function, made.scene.function, as_kind(made.scene.receiver, Instance)
    if maker is None or changer is None or owner is None or optimizer.scene.receiver is not owner:
        return
    statement = statement_of(analysis, made)
    if maker is changer or maker.name == "__init__" or len(maker.node.args.args) != 1 or changer.name == "__init__":
        return
    same = as_kind(analysis.index(made.span.path).same(changer.node), ast.FunctionDef)
    if same is None or statement not in same.body:
        return
    last = [one for one in same.body if not isinstance(one, ast.Return)][-1]
    text = f"{changer.node.args.args[0].arg}.{maker.name}()"
    source = analysis.source_of(made.span.path)
    yield Candidate(message("fix.insert", text=text), (edits.insert_line_after(source, last, text),))


def _as_group(analysis: Analysis, optimizer: Site, made: Site) -> Iterator[Candidate]:
    """The new layer given to the optimizer that the same object has, as a group of its own."""
    first, second = statement_of(analysis, optimizer), statement_of(analysis, made)
    target = first.targets[0] if is_assignment(first) else None
    if optimizer.scene.receiver is not made.scene.receiver or not is_dotted(target) or second is None:
        return
    if is_assignment(second):
        layer = ast.unparse(second.targets[0])
    elif isinstance(second, ast.Expr) and is_method_call(second.value, "reset_classifier"):
        layer = f"{ast.unparse(second.value.func.value)}.get_classifier()"
    else:
        return
    text = f'{ast.unparse(target)}.add_param_group({{"params": {layer}.parameters()}})'
    source = analysis.source_of(made.span.path)
    yield Candidate(message("fix.insert", text=text), (edits.insert_line_after(source, second, text),))


def _in_constructor(analysis: Analysis, made: Site, layer: LibraryModule | Tensor) -> Iterator[Candidate]:
    """A layer that forward makes, made by ``__init__`` with the size that it has there; one that forward keeps under a
    name of its own, or calls at once, becomes an attribute."""
    statement, owner, function = (
        statement_of(analysis, made),
        as_kind(made.scene.receiver, Instance),
        made.scene.function,
    )
    if statement is None or not isinstance(layer, LibraryModule) or owner is None:
        return
    call = as_kind(analysis.index(made.span.path).same(made.node), ast.Call)
    methods = [part for part in of_kind(owner.cls.node.body, ast.FunctionDef) if part.name == "__init__"]
    if function is None or function.name == "__init__" or owner.cls.path != made.scene.path or not methods:
        return
    text = _as_written_once(made, layer, methods[0])
    if text is None or call is None or not isinstance(methods[0].body[-1], ast.stmt):
        return
    source, first = analysis.source_of(owner.cls.path), methods[0].args.args[0].arg
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is call else None
    if isinstance(target, ast.Attribute):
        line = f"{source.segment(target)} = {text}"
        place = next(
            (part for part in nodes_in(methods[0], ast.Assign) if ast.unparse(part.targets[0]) == ast.unparse(target)),
            None,
        )
        if place is not None and isinstance(place.value, ast.Constant):
            yield replacement(source, place, line)
        elif place is None:
            edit = edits.insert_line_after(source, methods[0].body[-1], line)
            yield Candidate(message("fix.insert", text=line), (edit,))
        return
    name = target.id if isinstance(target, ast.Name) else layer.type_name.lower()
    line = f"{first}.{name} = {text}"
    uses: list[ast.AST] = [call]
    if isinstance(target, ast.Name):
        named = [part for part in ast.walk(function.node) if is_name(part, name)]
        uses = [part for part in named if loads(part)]
        if len(named) != len(uses) + 1 or not is_alone(statement, analysis, source.path):
            return
    if name in owner.slots or not function.node.args.args or function.node.args.args[0].arg != first:
        return
    changes = [edits.insert_line_after(source, methods[0].body[-1], line)]
    changes += [edits.remove_line(source, statement.lineno)] if isinstance(target, ast.Name) else []
    changes += [edits.replace(source, part, f"{first}.{name}") for part in uses]
    yield Candidate(message("fix.made_once", line=line), tuple(changes))


def _as_written_once(made: Site, layer: LibraryModule, init: ast.FunctionDef) -> str | None:
    """The call that makes a layer, as it can stand in ``__init__``: with numbers for what only forward knows."""
    kept = {ast.unparse(part) for part in nodes_in(init, ast.Attribute)}
    call, function, source = made.call, made.scene.function, made.source
    if call is None or function is None:
        return None
    receiver = function.node.args.args[0].arg if function.node.args.args else ""
    given = [
        *zip(call.args, layer.args),
        *((part.value, layer.kwargs.get(part.arg)) for part in call.keywords if part.arg),
    ]
    changes: list[tuple[ast.expr, str]] = []
    for node, value in given:
        parts = list(ast.walk(node))
        names = [part.id for part in of_kind(parts, ast.Name) if part.id != receiver]
        own = [ast.unparse(part) for part in of_kind(parts, ast.Attribute)]
        if any(name not in made.scene.globals for name in names) or any(
            text.startswith(f"{receiver}.") and text not in kept for text in own
        ):
            if not is_int(value):
                return None
            changes.append((node, str(value)))
    text, start = source.segment(call), source.offset(source.start_of(call))
    for node, new in sorted(changes, key=lambda change: -source.offset(source.start_of(change[0]))):
        opening, closing = source.offset(source.start_of(node)) - start, source.offset(source.end_of(node)) - start
        text = text[:opening] + new + text[closing:]
    return text


def _anew(analysis: Analysis, source: SourceText, first: ast.stmt, second: ast.stmt) -> Iterator[Candidate]:
    """Where the optimizer has worked before the replacement: made again behind it, or given the new layer."""
    path, text = source.path, source.segment(first)
    if is_alone(first, analysis, path) and is_alone(second, analysis, path):
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_after(source, second, text),))
    targets = [part.targets[0] for part in of_kind((first, second), ast.Assign)]
    if len(targets) == 2 and is_alone(second, analysis, path):
        optimizer, layer = (source.segment(target) for target in targets)
        text = f'{optimizer}.add_param_group({{"params": {layer}.parameters()}})'
        yield Candidate(message("fix.insert", text=text), (edits.insert_line_after(source, second, text),))


def _depends(statements: list[ast.stmt], on: ast.stmt) -> bool:
    """Whether some of these statements read what another one sets."""
    stored = {ast.unparse(part) for part in ast.walk(on) if stores(part)}
    loaded = {
        ast.unparse(part)
        for statement in statements
        for part in nodes_in(statement, ast.Name, ast.Attribute)
        if loads(part)
    }
    return bool(stored & loaded)


# -- given to none ---------------------------------------------------------------------------------


def _forgotten(analysis: Analysis, item: _Missed) -> Finding | None:
    """A module of which no optimizer has a part, while the other ones are given as a whole."""
    trace, optimizer = analysis.trace, item.optimizer
    if feeds(item.backward, optimizer) is not True or trained_by(optimizer, item.whole):
        return None
    given = {id(part) for other in trace.optimizers for part in trained_parts(other)}
    parts = [item.whole] if isinstance(item.whole, Tensor) else list(_trained_in(item.whole))
    if any(
        id(part) in given or not _trainable(analysis, part, item.backward) or not _is_fresh(analysis, part)
        for part in parts
    ):
        return None
    if optimizer.site is None or not _gives_wholes(analysis, optimizer) or _listed(analysis, item.whole):
        return None
    made = _made_at(item.whole)
    if made is None:
        return None
    method = made.scene.function
    if isinstance(item.whole, LibraryModule) and method is not None and method.name == "forward":
        places = (optimizer.site.span.related(message("optimizer.never")),)
        text = message("optimizer.anew", what=_called(item.whole))
        return Finding(made.span, text, places, _in_constructor(analysis, made, item.whole))
    name = name_in(optimizer.site.scene, item.whole)
    shown = f"`{name}`" if name else _called(item.whole)
    places = (made.span.related(message("optimizer.forgotten.place")),)
    text = message("optimizer.forgotten", what=shown, line=made.span.start.line)
    return Finding(optimizer.site.span, text, places, _added(analysis, item, name))


def _head(analysis: Analysis, item: _Missed) -> Finding | None:
    """A last layer that is left out, where the layers before it are given one by one."""
    optimizer, part = item.optimizer, as_kind(item.part, LibraryModule)
    node = item.backward.node
    if node is None or part is None or not isinstance(item.whole, Instance):
        return None
    if not trained_by(optimizer, item.whole) or not _is_fresh(analysis, part) or len(analysis.trace.optimizers) > 1:
        return None
    given = trained_parts(optimizer)
    own = [one for one in node.reachable() if one.module is part]
    reached = [one for one in node.reachable() if any(one.module is other for other in given)]
    left_out = [other for other in _trained_in(item.whole) if not any(other is one for one in given)]
    last = len(own) == 1 and reached and all(one in own[0].members for one in reached)
    whole = name_in(optimizer.site.scene, item.whole) if optimizer.site is not None else None
    if not last or len(left_out) != 1 or optimizer.site is None or part.identity > optimizer.identity:
        return None
    made = _made_at(part)
    if made is None or any(item.whole is module for module in _given_modules(optimizer)):
        return None
    own_name = part.name and item.whole.slots.get(part.name) is item.part
    name = f"{whole}.{part.name}" if whole and own_name else None
    places = (made.span.related(message("optimizer.forgotten.place")),)
    shown = f"`{name}`" if name else _called(part)
    text = message("optimizer.forgotten", what=shown, line=made.span.start.line)
    given_node = _given_node(analysis, optimizer)
    candidates: list[Candidate] = []
    if name is not None and given_node is not None:
        edit = _extended(optimizer, part, given_node, name)
        candidates.append(Candidate(message("fix.give", name=name), (edit,)))
    return Finding(optimizer.site.span, text, places, tuple(candidates), severity="hint")


def _given_modules(optimizer: LibraryObject) -> list[Value]:
    return [module for given in of_kind(given_to(optimizer), Parameters) for module in given.modules]


def _trained_in(module: Value) -> Iterator[LibraryModule | Tensor]:
    """The parts with parameters, leaving out those that are frozen."""
    for part in parts_of(module):
        if isinstance(part, Tensor) or has_own_parameters(part):
            yield part


def _is_fresh(analysis: Analysis, part: LibraryModule | Tensor, trained: Iterable[Value] = ()) -> bool:
    """Whether the part was made with random values, and nothing else is known to set them, but a copy of what is trained:
    of the layer in whose place it is put."""
    trace = analysis.trace
    holders = [event.subject for event in trace.events if event.kind == "forward"]
    holders += [item.owner for item in trace.attributes]
    around = [module for module in holders if is_module(module) and any(inner is part for inner in parts_of(module))]
    if part.identity in trace.escaped or any(module.identity in trace.escaped for module in around):
        return False
    if isinstance(part, LibraryModule) and (part.slots["attributes"] or part.slots["tied"]):
        return False  # its weight may be that of another layer
    if _set_by_hand(analysis, part, bool(trained)):
        return False
    given = {id(one) for one in trained}
    for call in analysis.calls.get("Tensor.copy_", ()):
        copied = as_kind(call.first, Tensor)
        replaces = copied is not None and id(copied.owner or copied) in given
        if isinstance(call.receiver, Tensor) and call.receiver.owner is part and not replaces:
            return False
    for call in (call for path in _LOADING for call in analysis.calls.get(path, ())):
        held = call.result if call.path == "copy.deepcopy" else call.receiver
        if part.identity < call.moment and any(inner is part for inner in _parts_anywhere(held)):
            return False
    return True


def _set_by_hand(analysis: Analysis, part: LibraryModule | Tensor, replaces: bool) -> bool:
    """Whether something writes the weights of a layer of this name, as for a fixed filter: ``blur.weight.data.fill_(1)``.
    `replaces`: it may have those of the layer that it replaces."""
    made = _made_at(part)
    statement = as_kind(statement_of(analysis, made), ast.Assign) if made is not None else None
    if made is None or statement is None:
        return False
    weight = f"{ast.unparse(statement.targets[0]).rpartition('.')[2]}.weight"
    written = [
        taken
        for node in analysis.index(made.span.path).nodes
        for target, taken in _written(node)
        if f".{ast.unparse(target)}.".find(f".{weight}.") >= 0 or f"{weight}[" in ast.unparse(target)
    ]
    return bool(written) and not (replaces and any(written))


def _written(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The targets that a statement or a call writes into, and whether it may take the weights of another layer for that."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        copied = ".weight" in ast.unparse(node.value)
        yield from ((one, copied and isinstance(one, ast.Subscript)) for one in targets_of(node))
    elif is_method_call(node):
        name = node.func.attr
        if name in _WRITING:
            yield node.func.value, name == "copy_" and bool(node.args) and ".weight" in ast.unparse(node.args[0])
        elif name in _CONSTANT:
            yield from ((one, False) for one in node.args[:1])


def _parts_anywhere(value: Value) -> Iterator[LibraryModule | Tensor]:
    items = value.elements or () if isinstance(value, ListValue) else tuple_of(value)
    for item in items:
        if isinstance(item, Instance) and not item.is_module:
            for held in item.slots.values():
                yield from parts_of(held)
        yield from parts_of(item)


def _gives_wholes(analysis: Analysis, optimizer: LibraryObject) -> bool:
    """Whether optimizers were given whole modules only: who picks layers leaves the others out on purpose."""
    given = {id(part) for other in analysis.trace.optimizers for part in trained_parts(other)}
    inside = False
    for part in trained_parts(optimizer):
        whole = _whole(analysis, part)
        inside = inside or is_module(whole)
        if is_module(whole) and any(id(other) not in given for other in _trained_in(whole)):
            return False
    return inside


def _listed(analysis: Analysis, whole: Value) -> bool:
    """Whether the parameters of a module are used elsewhere: then what happens to them is not known."""
    calls = [call for path in _LISTINGS for call in analysis.calls.get(path, ())]
    seen = {(call.site.span.path, call.site.span.start) for call in calls}
    for call in calls:
        if any(part is whole for part in descendants(call.receiver)):
            if not _is_harmless(analysis, call.site):
                return True
    path = analysis.source.path
    source = analysis.source_of(path)
    for node in analysis.index(path).nodes:
        if is_method_call(node):
            if node.func.attr in ("parameters", "named_parameters") and (path, source.start_of(node)) not in seen:
                return True
    return False


def _is_harmless(analysis: Analysis, site: Site) -> bool:
    """Whether parameters are listed to clip their gradients or to count them."""
    statement = statement_of(analysis, site)
    text = ast.unparse(statement) if statement is not None else ""
    return "clip_grad" in text or "numel" in text


def _added(analysis: Analysis, item: _Missed, name: str | None) -> Iterator[Candidate]:
    """The module's parameters added to what the optimizer is given."""
    given = _given_node(analysis, item.optimizer)
    if given is not None and name is not None and item.whole.identity < item.optimizer.identity:
        edit = _extended(item.optimizer, item.whole, given, name)
        yield Candidate(message("fix.give", name=name), (edit,))


def _given_node(analysis: Analysis, optimizer: LibraryObject) -> ast.expr | None:
    """The argument by which the parameters were given."""
    site = optimizer.site
    call = as_kind(analysis.index(site.span.path).same(site.node), ast.Call) if site is not None else None
    if call is None:
        return None
    keyword = argument_of(call, None, "params")
    return call.args[0] if call.args else keyword


def _extended(optimizer: LibraryObject, what: Value, given: ast.expr, name: str) -> Edit:
    assert optimizer.site is not None
    source, value = optimizer.site.source, as_kind(optimizer.given(0, "params"), ListValue)
    elements = value.elements or () if value is not None else ()
    lone, grouped = isinstance(what, Tensor), any_are(elements, DictValue)
    if isinstance(given, ast.List) and given.elts:
        more = f"[{name}]" if lone else f"{name}.parameters()"
        more = f'{{"params": {more}}}' if grouped else name if lone else f"*{more}"
        last = given.elts[-1]
        several = last.lineno > given.lineno
        between = edits.next_line(source, last.lineno) if several else " "
        return edits.insert_after_node(source, last, f",{between}{more}")
    text = source.segment(given)
    more = f"[{name}]" if lone else f"list({name}.parameters())"
    if grouped:
        more = f'[{{"params": {more}}}]'
    is_list = value is not None and value.type_name == "list"
    return edits.replace(source, given, f"{text if is_list else f'list({text})'} + {more}")


def _called(part: Value) -> str:
    if isinstance(part, LibraryModule):
        return f"`{part.name}`" if part.name and not part.name.isdigit() else f"this {part.type_name}"
    return f"this {part.cls.name}" if isinstance(part, Instance) else "this parameter"


RULE = Rule(FAULTS[CODE], find, of_absence=True)
