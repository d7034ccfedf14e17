"""target-is-network: a network and the copy that is to stay behind it are one and the same.

What it finds
    A module that is put in the place of the one which `load_state_dict()` copies its weights into, or that this one is only
    another name of: a target network, a moving average, a teacher. Also `target.load_state_dict(target.state_dict())`.
Why it hurts
    From then on each step of the optimizer moves the target, too. What was to be held fixed follows at once: bootstrapped
    values diverge, a momentum encoder has no momentum. Nothing fails.
Example
    target = network
    target.load_state_dict(network.state_dict())
Use instead
    target = copy.deepcopy(network)
    target.load_state_dict(network.state_dict())
Fix safety
    Safe where the weights are copied beside it: the assignment goes. Otherwise the target becomes a copy.
References
    copy.deepcopy, torch.nn.Module.load_state_dict
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.hierarchy import STATE, descendants
from torchsleuth.interp.trace import Alias, LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import blocks_of, is_alone, is_trained, receiver_text, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, stands_on
from torchsleuth.values import Instance, LibraryModule, Value, is_module, is_object

CODE = "TS540"
_LOADED = "torch.nn.Module.load_state_dict"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    copies = [pair for call in analysis.calls.get(_LOADED, ()) if (pair := _copied(call)) is not None]
    for alias in analysis.trace.aliases:
        call = next((call for call, target, source in copies if _replaces(alias, target, source)), None)
        if call is not None and alias.site.span not in reported and is_trained(analysis, alias.value):
            reported.add(alias.site.span)
            yield _finding(analysis, alias, call)
    for call, target, source in copies:
        written = _source_text(call) is not None
        if target is source and written and call.certain and call.site.span not in reported:
            given = _name_given(analysis, call)
            span = call.site.span if given is None else given.site.span
            if span not in reported and not any(_has_alias_in(analysis, call, span) for span in reported):
                reported.update((span, call.site.span))
                yield _finding(analysis, given, call) if given is not None else _of_itself(call)
    yield from _shallow(analysis, copies)


def _shallow(analysis: Analysis, copies: list[tuple[LibraryCall, Value, Value]]) -> Iterator[Finding]:
    """``target = copy.copy(net)``, which has the parameters of the net, and then gets its weights."""
    for made in analysis.calls_at_places("copy.copy"):
        given = made.args[0] if made.args else None
        loaded = [call for call, target, source in copies if target is made.result and source is given]
        if loaded and is_module(given) and made.site.call is not None:
            source = made.site.source
            network = source.segment(made.site.call.args[0])
            place = loaded[0].site.span.related(message("target.copied"))
            function = source.segment(made.site.call.func)
            deep = f"{function.removesuffix('copy')}deepcopy"
            imports = (
                ()
                if "." in function
                else edits.add_import(source, analysis.tree(source.path), "from copy import deepcopy")
            )
            fix = Candidate(message("fix.copy"), (*imports, edits.replace(source, made.site.call.func, deep)))
            yield Finding(made.site.span, message("target.shallow", network=f"`{network}`"), (place,), (fix,))


def _copied(call: LibraryCall) -> tuple[LibraryCall, Value, Value] | None:
    """A call that copies the weights of one module into another, and these: target and source."""
    given = call.given(0, "state_dict")
    if not is_object(given, STATE) or not is_module(call.receiver):
        return None
    return call, call.receiver, given.args[0]


def _replaces(alias: Alias, target: Value, source: Value) -> bool:
    """Whether the source of a copy takes the place of its target, another module of the same kind."""
    return target is not source and alias.value is source and alias.before is target and _alike(target, source)


def _alike(one: Value, other: Value) -> bool:
    if isinstance(one, Instance) and isinstance(other, Instance):
        return one.cls is other.cls
    return isinstance(one, LibraryModule) and isinstance(other, LibraryModule) and one.path == other.path


def _name_given(analysis: Analysis, call: LibraryCall) -> Alias | None:
    """The last assignment that made the two sides of a copy one module, by the name of one of them."""
    names = {_last(text) for text in (receiver_text(call.site), _source_text(call)) if text}
    for alias in reversed(analysis.trace.aliases):
        same = alias.value is call.receiver or any(part is call.receiver for part in descendants(alias.value))
        if same and alias.after <= call.after and _last(ast.unparse(alias.target)) in names:
            return alias
    return None


def _last(text: str) -> str:
    return text.rpartition(".")[2]


def _has_alias_in(analysis: Analysis, call: LibraryCall, span: Span) -> bool:
    """Whether what made both sides one has been told: the copy stands in the same function."""
    here = statement_of(analysis, call.site)
    if here is None or span.path != call.site.span.path:
        return False
    trail = analysis.trail(span.path, here)
    around = first_of(reversed(trail), ast.FunctionDef)
    return around is not None and stands_on(around, span.start.line)


def _source_text(call: LibraryCall) -> str | None:
    """The module whose weights are copied, as it is written there."""
    node = call.site.call
    given = node.args[0] if node is not None and node.args else None
    if is_method_call(given, "state_dict"):
        return call.site.source.segment(given.func.value)
    return None


def _finding(analysis: Analysis, alias: Alias, call: LibraryCall) -> Finding:
    source = alias.site.source
    made, target = as_kind(alias.site.node, ast.Call), f"`{ast.unparse(alias.target)}`"
    if made is None:
        text = message("target.same", target=target, network=f"`{source.segment(alias.site.node)}`")
    else:
        text = message("target.cached", target=target, function=f"`{source.segment(made.func)}`")
    place = call.site.span.related(message("target.copied"))
    return Finding(alias.site.span, text, (place,), _repairs(analysis, alias, call))


def _repairs(analysis: Analysis, alias: Alias, call: LibraryCall) -> Iterator[Candidate]:
    """Without the assignment, where the weights are copied beside it; or a copy of the module."""
    path = alias.site.span.path
    source, here, there = (
        analysis.source_of(path),
        statement_of(analysis, alias.site),
        statement_of(analysis, call.site),
    )
    beside = any(here in block and there in block for block in blocks_of(analysis.tree(path)))
    if here is not None and beside and is_module(alias.before) and is_alone(here, analysis, path):
        text = source.segment(here)
        yield Candidate(
            message("fix.remove_line", text=text, line=here.lineno), (edits.remove_line(source, here.lineno),)
        )
    text = f"copy.deepcopy({source.segment(alias.site.node)})"
    imports = edits.add_import(source, analysis.tree(path), "import copy")
    yield Candidate(message("fix.copy"), (*imports, edits.replace(source, alias.site.node, text)))


def _of_itself(call: LibraryCall) -> Finding:
    """``target.load_state_dict(target.state_dict())``"""
    name = receiver_text(call.site) or "the module"
    return Finding(call.site.span, message("target.itself", target=f"`{name}`"), (), _others(call))


def _others(call: LibraryCall) -> Iterator[Candidate]:
    """The weights of the one other module of the same kind that the function can name."""
    scene, node = call.site.scene, call.site.call
    given = node.args[0] if node is not None and node.args else None
    if not is_method_call(given):
        return
    named: dict[str, Value] = {str(name): value for name, value in scene.names.items()}
    owner = scene.instance()
    if owner is not None:
        receiver = next(iter(named), "self")
        named |= {f"{receiver}.{name}": value for name, value in owner.slots.items()}
    others = [name for name, value in named.items() if value is not call.receiver and _alike(value, call.receiver)]
    if len(others) == 1:
        source = call.site.source
        old = source.segment(given.func.value)
        title = message("fix.replace", old=f"{old}.state_dict()", new=f"{others[0]}.state_dict()")
        yield Candidate(title, (edits.replace(source, given.func.value, others[0]),), safe=False)


RULE = Rule(FAULTS[CODE], find)
