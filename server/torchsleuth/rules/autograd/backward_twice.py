"""backward-twice: a second backward() through a graph that the first one freed.

What it finds
    Two losses that share a part of their graph, each with its own backward(); a loss computed before the loop and
    sent backward in it; a generator's output used by the discriminator's loss and again by its own.
Why it hurts
    PyTorch raises "Trying to backward through the graph a second time", far from the shared part.
Example
    loss_fake = bce(netD(fake), zeros)
    loss_fake.backward()
    loss_g = bce(netD(fake), ones)
    loss_g.backward()
Use instead
    loss_fake = bce(netD(fake.detach()), zeros)
    loss_fake.backward()
    loss_g = bce(netD(fake), ones)
    loss_g.backward()
Fix safety
    One backward() of the sum, for two that follow each other, is safe. detach() and retain_graph=True decide which
    gradients flow, and so does leaving out one of two backward() calls: they are offered as unsafe.
References
    torch.Tensor.backward
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.optim import trained_parts
from torchsleuth.interp.trace import Event, LibraryCall, LoopPoint
from torchsleuth.messages import message
from torchsleuth.rules.evidence.graphs import (
    carried_names,
    faults,
    is_of_framework,
    name_of,
    repeated_block,
)
from torchsleuth.rules.evidence.loaders import free_name
from torchsleuth.rules.evidence.loops import is_alone, place_in, statement_of
from torchsleuth.rules.evidence.operands import recorded
from torchsleuth.rules.evidence.rewrites import stored_without_graph
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    every_parameter,
    is_method_call,
    is_name,
    loads,
    names_in,
    nodes_in,
    stands_on,
    stores,
)
from torchsleuth.values import Function, Instance, LibraryModule, LibraryObject, ListValue, Site, Tensor, Value
from torchsleuth.values.graph import AutogradFault, node_of

CODE = "TS405"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from _never_emptied(analysis)
    for fault in faults(analysis, "freed"):
        if carried_names(analysis, fault) or fault.cause is None or fault.node is None:
            continue
        first, node = fault.cause, fault.node
        again = first.span == fault.at.span
        text = message(
            "grad.again" if again else "grad.twice",
            tensor=name_of(fault),
            operator=node.operator,
            line=node.site.span.start.line,
            first=first.span.start.line,
        )
        places = [node.site.span.related(message("grad.twice.made"))]
        if not again:
            places.insert(0, first.span.related(message("grad.twice.first")))
        yield Finding(fault.at.span, text, tuple(places), _repairs(analysis, fault, first))


def _repairs(analysis: Analysis, fault: AutogradFault, first: Site) -> Iterator[Candidate]:
    if first.span != fault.at.span:
        yield from _one_sum(analysis, first, fault.at)
        cut = [one for name, _ in fault.carried for one in _detached(analysis, name, first, fault.at)]
        # Rather where the step that follows does not train what is cut off.
        for wanted in (False, True):
            yield from (one for line, one in cut if _trains(analysis, fault, line) is wanted)
        yield from _once(analysis, first, fault.at)
    else:
        wanted = _is_trained(analysis, fault)
        anew = (*_refreshed(analysis, fault), *_computed_anew(analysis, fault))
        block = repeated_block(analysis, fault.at)
        if _is_computed_again(fault, block):
            # Computed in the loop, the old value would be the new one.
            yield from _detached_above(analysis, fault)
        if wanted:
            yield from anew
        for name, _ in () if wanted else fault.carried:
            places = _detached(analysis, name, first, fault.at)
            yield from (one for line, one in places if not _trains(analysis, fault, line))
        if not wanted:
            yield from _summed(analysis, fault)
            yield from anew
        around = analysis.trail(fault.at.span.path, block)[-2:-1]
        before: list[ast.stmt] = getattr(around[0], "body", []) if around else []
        yield from stored_without_graph(fault, [part for part in before if part.lineno < first.span.start.line])
        if _has_own_path(fault):
            yield from _detached_above(analysis, fault)
    yield from _retained(first)


def _never_emptied(analysis: Analysis) -> Iterator[Finding]:
    """A list that grows from step to step, and all of which each backward() goes through: also what it has freed before."""
    appended: dict[tuple[Span, int], list[LibraryCall]] = {}
    for call in analysis.calls.get("list.append", ()):
        grown = as_kind(call.receiver, ListValue)
        if grown is not None and grown.identity not in analysis.trace.emptied and call.certain and call.loops:
            appended.setdefault((call.site.span, grown.identity), []).append(call)
    seen: set[Span] = set()
    told = {fault.at.span for fault in faults(analysis, "freed")}
    for backward in analysis.events("backward") if appended else ():
        if backward.site.call is None or backward.site.call.keywords or backward.site.span in told:
            continue
        through = list(recorded(backward.tensor)) if backward.tensor is not None else []
        for (span, _), calls in appended.items():
            loop = next(
                (one for one in backward.loops if len({_round(call, one) for call in calls} - {None}) > 1), None
            )
            held = [part for call in calls for item in call.args for part in _tensors(item)]
            nodes = [node for part in held if (node := node_of(part)) is not None]
            freed = any(member.frees for node in nodes for member in node.members)
            # What the list stands for is one of all that were appended, and none of them itself.
            appended_here = {id(part) for part in held}
            places = {part.origin.site.span for part in held if part.origin is not None}
            again = freed and any(
                one.origin is not None and one.origin.site.span in places and id(one) not in appended_here
                for one in through
            )
            if (
                loop is None
                or span in seen
                or not again
                or not backward.certain
                or not _is_read_whole(analysis, calls[0], backward, loop)
            ):
                continue
            seen.add(span)
            yield _of_list(analysis, calls[0], backward)


def _round(call: LibraryCall, loop: LoopPoint) -> int | None:
    """The iteration of a loop that a call is made in."""
    return next((one.iteration for one in call.loops if one.execution == loop.execution), None)


def _tensors(value: Value) -> list[Tensor]:
    return [value] if isinstance(value, Tensor) else of_kind(value, Tensor) if isinstance(value, tuple) else []


def _is_read_whole(analysis: Analysis, call: LibraryCall, backward: Event, loop: LoopPoint) -> bool:
    """Whether the list that is appended to is gone through as a whole in front of the backward(), in the function or the iteration that
    it is in, and nothing reads a part of it."""
    node, path = call.site.call, backward.site.span.path
    if node is None or not isinstance(node.func, ast.Attribute) or path != call.site.span.path:
        return False
    name, index = ast.unparse(node.func.value), analysis.index(path)
    if any(ast.unparse(part.value) == name for part in index.of_type(ast.Subscript)):
        return False
    here, around = backward.site.scene.function, index.same(loop.node)
    inside = isinstance(around, ast.stmt) and stands_on(around, backward.site.span.start.line)
    scope = around if inside or here is None else index.same(here.node)
    reads = (
        (part for part in nodes_in(scope, ast.Name, ast.Attribute) if loads(part) and ast.unparse(part) == name)
        if scope
        else ()
    )
    return any(
        part.lineno < backward.site.span.start.line
        and isinstance(index.parents.get(part), ast.For | ast.comprehension | ast.Call)
        for part in reads
    )


def _of_list(analysis: Analysis, call: LibraryCall, backward: Event) -> Finding:
    source, node, line = call.site.source, call.site.call, backward.site.span.start.line
    name = source.segment(node.func.value) if node is not None and isinstance(node.func, ast.Attribute) else "the list"
    text = message("grad.list", list=name, line=line)
    places = (backward.site.span.related(message("grad.list.backward")),)
    return Finding(call.site.span, text, places, tuple(_emptied(analysis, name, call, backward)))


def _emptied(analysis: Analysis, name: str, call: LibraryCall, backward: Event) -> Iterator[Candidate]:
    """The list emptied behind the backward(), where it has the same name there."""
    statement, path = statement_of(analysis, backward.site), backward.site.span.path
    here, there = backward.site.scene.function, call.site.scene.function
    same = here is there or (
        name.startswith("self.") and here is not None and there is not None and here.owner is there.owner
    )
    if path == call.site.span.path and same and statement is not None:
        line = f"{name}.clear()"
        yield Candidate(
            message("fix.insert", text=line), (edits.insert_line_after(backward.site.source, statement, line),)
        )


def _is_trained(analysis: Analysis, fault: AutogradFault) -> bool:
    """Whether an optimizer that steps in the rounds trains what the shared piece was computed with."""
    block, reached = repeated_block(analysis, fault.at), fault.node.reached[0] if fault.node is not None else ()
    for step in analysis.events("step"):
        place = place_in(step.site, fault.at.scene.function)
        if place is None or not isinstance(step.subject, LibraryObject):
            continue
        inside = isinstance(block, ast.Module) or stands_on(block, place.span.start.line)
        if inside and any(id(part) in reached for part in trained_parts(step.subject)):
            return True
    return False


def _has_own_path(fault: AutogradFault) -> bool:
    """Whether the loss of each round trains the same by itself, beside the piece that is shared by all: an old value that a
    new one is compared with."""
    root = node_of(fault.tensor)
    if root is None or fault.node is None:
        return False
    shared = set(fault.node.reachable())
    own = [part for part in root.reachable() if part not in shared]
    modules = {id(part.module) for part in shared if part.module is not None}
    return any(part.module is not None and id(part.module) in modules for part in own)


def _is_computed_again(fault: AutogradFault, block: ast.AST) -> bool:
    """Whether a loop has a call as it is written where the shared piece was computed: ``policy(obs)``."""
    made = [part.site.call for part in fault.node.reachable() if part.module is not None] if fault.node else []
    texts = {ast.unparse(call) for call in made if call is not None}
    if not isinstance(block, ast.For | ast.While):
        return False
    return bool(texts & {ast.unparse(call) for call in nodes_in(block, ast.Call)})


def _detached_above(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """The value that is computed in front of the loop, or passed to the function around it, detached there."""
    path, block = fault.at.span.path, repeated_block(analysis, fault.at)
    source, trail = analysis.source_of(path), analysis.trail(path, block)
    around: list[ast.stmt] = getattr(trail[-2], "body", []) if len(trail) > 1 else []
    above = [part for part in around if part.lineno < block.lineno] if isinstance(block, ast.stmt) else []
    for name, listed in fault.carried:
        makers = [part for part in of_kind(above, ast.Assign) if _stores(part, name)]
        if makers and not listed:
            edit = edits.insert_line_after(source, makers[-1], f"{name} = {name}.detach()")
            yield Candidate(message("fix.detach_line", name=name, line=makers[-1].lineno), (edit,), safe=False)
        elif isinstance(block, ast.For | ast.While) and not listed and _is_parameter(trail, name):
            edit = edits.insert_line_before(source, block, f"{name} = {name}.detach()")
            yield Candidate(message("fix.detach_before", name=name, line=block.lineno), (edit,), safe=False)


def _is_parameter(trail: list[ast.AST], name: str) -> bool:
    """Whether the innermost function has a parameter of that name."""
    function = first_of(reversed(trail), ast.FunctionDef)
    arguments = every_parameter(function.args) if function else []
    return any(argument.arg == name for argument in arguments)


def _stores(statement: ast.stmt, name: str) -> bool:
    names = [part for part in ast.walk(statement) if is_name(part, name)]
    return any(stores(part) for part in names)


def _refreshed(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """A call of the method that computes an attribute, at the start of each round: ``model.refresh()``."""
    block = as_kind(repeated_block(analysis, fault.at), ast.For, ast.While)
    if block is None or block.body[0].lineno == block.lineno:
        return
    source = fault.at.source
    for path, _ in fault.carried:
        owner, _, attribute = path.rpartition(".")
        held = as_kind(fault.at.scene.names.get(owner), Instance)
        methods = held.cls.slots.values() if held is not None else ()
        for method in of_kind(methods, Function):
            if method.name != "__init__" and _sets(method.node, attribute):
                needed = [*method.node.args.args, *method.node.args.posonlyargs, *method.node.args.kwonlyargs]
                if len(needed) == 1:
                    text = f"{owner}.{method.name}()"
                    edit = edits.insert_line_before(source, block.body[0], text)
                    yield Candidate(message("fix.insert", text=text), (edit,), safe=False)


def _sets(method: ast.AST, attribute: str) -> bool:
    """Whether a method sets an attribute of its object."""
    return any(stores(part) and part.attr == attribute for part in nodes_in(method, ast.Attribute))


def _computed_anew(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """Moves a computation into the loop or the function that calls backward(), in front of which it stands."""
    path = fault.at.span.path
    source, block = analysis.source_of(path), repeated_block(analysis, fault.at)
    trail = analysis.trail(path, block)
    if fault.node is None or not isinstance(block, ast.For | ast.While | ast.FunctionDef) or len(trail) < 2:
        return
    around: list[ast.stmt] = getattr(trail[-2], "body", [])
    places = [place_in(part.site, fault.at.scene.function) for part in fault.node.reachable()]
    made = [statement_of(analysis, place) for place in places if place is not None and place.span.path == path]
    moved: list[ast.stmt] = []
    names: set[str] = set()
    for statement in around:
        if statement is block:
            break
        loads = names_in(statement)
        if statement in made and _makes_object(statement, fault):
            return  # the model itself, not what it computes
        if statement in made or (isinstance(statement, ast.Assign) and loads & names):
            moved.append(statement)
            names |= {part.id for part in nodes_in(statement, ast.Name) if part.ctx.__class__ is ast.Store}
    simple = all(isinstance(statement, ast.Assign) and statement.lineno == statement.end_lineno for statement in moved)
    if not moved or not simple or block.body[0].lineno == block.lineno:
        return
    lines = [edits.insert_line_before(source, block.body[0], source.segment(statement)) for statement in moved]
    removed = [edits.remove_line(source, statement.lineno) for statement in moved]
    title = message("fix.compute_anew", name=", ".join(sorted(names)), line=block.lineno)
    yield Candidate(title, (*removed, *lines), safe=False)


def _makes_object(statement: ast.stmt, fault: AutogradFault) -> bool:
    """Whether a statement binds an object of a class."""
    names = [part.id for part in nodes_in(statement, ast.Name) if stores(part)]
    return any(isinstance(fault.at.scene.names.get(name), Instance | LibraryModule) for name in names)


def _summed(analysis: Analysis, fault: AutogradFault) -> Iterator[Candidate]:
    """The losses of a loop added up, and one backward() behind the loop, where no step stands in it."""
    path = fault.at.span.path
    source, loop, statement = (
        analysis.source_of(path),
        as_kind(repeated_block(analysis, fault.at), ast.For),
        statement_of(analysis, fault.at),
    )
    call = statement.value if isinstance(statement, ast.Expr) else None
    if loop is None or statement not in loop.body or not is_alone(statement, analysis, path):
        return
    if not is_method_call(call) or call.args or call.keywords:
        return
    for event in (*analysis.events("step"), *analysis.events("zero_grad")):
        place = place_in(event.site, fault.at.scene.function)
        if place is not None and stands_on(loop, place.span.start.line):
            return
    name = free_name(analysis, path, "total_loss")
    added, sent = f"{name} = {name} + {source.segment(call.func.value)}", f"{name}.backward()"
    changes = [edits.insert_line_before(source, loop, f"{name} = 0.0")]
    if loop.end_lineno == statement.end_lineno:
        added += edits.next_line(source, loop.lineno) + sent
    else:
        changes.append(edits.insert_line_after(source, loop, sent))
    changes.insert(1, edits.replace(source, statement, added))
    yield Candidate(message("fix.sum_of_losses", line=loop.lineno), tuple(changes), safe=False)


def _one_sum(analysis: Analysis, first: Site, second: Site) -> Iterator[Candidate]:
    """``a.backward()`` and ``b.backward()`` on lines that follow each other: ``(a + b).backward()``."""
    one, other = statement_of(analysis, first), statement_of(analysis, second)
    source = first.source
    calls = [statement.value for statement in of_kind((one, other), ast.Expr)]
    if one is None or other is None or len(calls) != 2 or other.lineno != (one.end_lineno or 0) + 1:
        return
    plain = [call for call in calls if is_method_call(call) and not call.keywords]
    framework = all(isinstance(call, ast.Call) and is_of_framework(call, first.scene) for call in calls)
    texts = [
        source.segment(call.args[0] if framework else call.func.value) for call in plain if len(call.args) == framework
    ]
    if len(texts) == 2 and first.span.path == second.span.path:
        summed = " + ".join(texts)
        text = f"{source.segment(plain[0].func)}({summed})" if framework else f"({summed}).backward()"
        changes = (edits.remove_line(source, one.lineno), edits.replace(source, other, text))
        yield Candidate(message("fix.out_of_place", text=text), changes)


def _once(analysis: Analysis, first: Site, second: Site) -> Iterator[Candidate]:
    """Only one backward() where the second loss is made of the first: its own, or else that of the first."""
    statements = [statement_of(analysis, site) for site in (first, second)]
    names = [_receiver(statement) for statement in statements]
    scope = _scope(analysis.tree(second.span.path), second)
    made = [
        part.value
        for part in nodes_in(scope, ast.Assign)
        if first.span.start.line < part.lineno < second.span.start.line
        if any(is_name(target, names[1]) for target in part.targets)
    ]
    if names[0] is None or first.span.path != second.span.path:
        return
    if not any(is_name(part, names[0]) for value in made for part in ast.walk(value)):
        return
    source = second.source
    for statement in statements:
        if statement is not None and statement.lineno == statement.end_lineno:
            title = message("fix.remove_line", text=source.segment(statement), line=statement.lineno)
            yield Candidate(title, (edits.remove_line(source, statement.lineno),), safe=False)


def _receiver(statement: ast.stmt | None) -> str | None:
    """``loss`` of ``loss.backward()``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    owner = as_kind(call.func.value, ast.Name) if is_method_call(call) else None
    return owner.id if owner is not None else None


def _trains(analysis: Analysis, fault: AutogradFault, line: int) -> bool:
    """Whether the optimizer that steps after the loss of a line trains what the shared piece was computed with."""
    reached = fault.node.reached[0] if fault.node is not None else ()
    path = fault.at.span.path
    for event in analysis.events("step"):
        place = place_in(event.site, fault.at.scene.function)
        if place is not None and place.span.path == path and place.span.start.line > line:
            if isinstance(event.subject, LibraryObject):
                return any(id(part) in reached for part in trained_parts(event.subject))
    return False


def _detached(analysis: Analysis, name: str, first: Site, second: Site) -> Iterator[tuple[int, Candidate]]:
    """The shared tensor handed on without its graph, where the first loss is computed from it, or the second one."""
    source, tree = first.source, analysis.tree(first.span.path)
    calls = list(nodes_in(_scope(tree, first), ast.Call))
    one, other = first.span.start.line, second.span.start.line
    before = sorted((call for call in calls if call.lineno < one), key=lambda call: -call.lineno)
    between = [call for call in calls if one < call.lineno < other]
    for call in [*before, *between]:
        for argument in call.args:
            if source.segment(argument) == name:
                user = source.segment(call.func)
                title = message("fix.detach", tensor=name, user=user, line=argument.lineno)
                edit = edits.insert_after_node(source, argument, ".detach()")
                yield argument.lineno, Candidate(title, (edit,), safe=False)


def _scope(tree: ast.Module, site: Site) -> ast.AST:
    """The function that a place is in."""
    line = site.span.start.line
    around = [node for node in nodes_in(tree, ast.FunctionDef) if stands_on(node, line)]
    return max(around, key=lambda node: node.lineno, default=tree)


def _retained(first: Site) -> Iterator[Candidate]:
    node = first.call
    if node is not None and not any(keyword.arg == "retain_graph" for keyword in node.keywords):
        edit = edits.add_argument(first.source, node, "retain_graph=True")
        yield Candidate(message("fix.retain", line=first.span.start.line), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find)
