"""States of modules that DataParallel or torch.compile has wrapped, and whose names all begin with "module." or "_orig_mod.":
what TS530 says of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.library.hierarchy import STATE, descendants
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import receiver_text, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    is_attribute,
    is_function,
    is_method_call,
    is_reference,
    is_spread,
    is_text,
    nodes_in,
    stores,
)
from torchsleuth.values import DictValue, Instance, LibraryObject, Site, Value, is_object

_INNER = {
    "torch.nn.DataParallel": "module",
    "torch.nn.parallel.DataParallel": "module",
    "torch.nn.parallel.DistributedDataParallel": "module",
    "torch.compile": "_orig_mod",
}
"""Wrappers of a module, and the attribute that the module is then, with which the names in a state begin."""
_OWN = frozenset({"state_dict", "load_state_dict"})


def of_wrapped(analysis: Analysis) -> Iterator[Finding]:
    """load_state_dict() of a module that was never wrapped, with the state of a wrapper."""
    wraps = [call for path in _INNER for call in analysis.calls.get(path, ()) if call.args]
    inside = {id(part) for call in wraps for part in descendants(call.args[0])}
    seen: set[Span] = set()
    if not wraps or _renames(analysis):
        return
    for load in analysis.calls.get("torch.nn.Module.load_state_dict", ()):
        state = _state(load.given(0, "state_dict"))
        if state is None or state.site is None or load.site.span in seen or load.guarded:
            continue
        strict = load.given(1, "strict", True)
        dropped = strict is False and isinstance(statement_of(analysis, load.site), ast.Expr)
        plain = ((strict is True and load.certain) or dropped) and id(load.receiver) not in inside
        wrap = _wrapper(analysis, wraps, state) if plain and not _decides(load.receiver) else None
        if wrap is None:
            continue
        seen.add(load.site.span)
        name = receiver_text(state.site) or ""
        places = (
            wrap.site.span.related(message("state.wrapped.here")),
            state.site.span.related(message("state.misfit.saved")),
        )
        inner = _INNER[wrap.path]
        text = message(
            "state.wrapped.dropped" if dropped else "state.wrapped", name=name, wrapper=wrap.name, inner=inner
        )
        fixes = tuple(_unwrapped(state.site, inner))
        yield Finding(load.site.span, text, places, fixes, severity="warning" if dropped else None)


def _renames(analysis: Analysis) -> bool:
    """Whether a file says something of the names' beginning, or unwraps a module."""
    paths = {analysis.source.path, *(call.site.span.path for call in analysis.calls.get(STATE, ()))}
    return any(_speaks_of_inner(node) for path in paths for node in analysis.index(path).nodes)


def _speaks_of_inner(node: ast.AST) -> bool:
    if is_text(node):
        return node.value in ("module", "_orig_mod") or "module." in node.value or "_orig_mod." in node.value
    if isinstance(node, ast.Slice):
        return isinstance(node.lower, ast.Constant) and node.lower.value in (len("module."), len("_orig_mod."))
    return is_attribute(node, "module", "_orig_mod")


def _state(given: Value) -> LibraryObject | None:
    """The call of state_dict() that a dict comes from as it is, through a file, too."""
    if isinstance(given, DictValue):
        state = given.slots.get("state")
        entries = as_kind(state.slots.get("entries"), DictValue) if isinstance(state, LibraryObject) else None
        same = given.items is not None and entries is None
        given = state if same else None
    return given if is_object(given, STATE) else None


def _decides(module: Value) -> bool:
    """Whether a class in a module has a way of its own to save or load."""
    return any(
        is_function(node, *_OWN) for part in of_kind(descendants(module), Instance) for node in part.cls.node.body
    )


def _wrapper(analysis: Analysis, wraps: list[LibraryCall], state: LibraryObject) -> LibraryCall | None:
    """The call that made what state_dict() is called on, where its name was given to a wrapper, and to nothing since."""
    module = state.args[0]
    site, name = _passed(state.site, receiver_text(state.site) if state.site is not None else None)
    for wrap in wraps:
        statement = statement_of(analysis, wrap.site)
        path = wrap.site.span.path
        if site is None or wrap.args[0] is not module or not wrap.certain or statement is None:
            continue
        if _is_returned(analysis, wrap, statement) and _is_made_by(analysis, wrap, site, name):
            return wrap
        if not isinstance(statement, ast.Assign):
            continue
        targets = _targets(analysis, wrap, statement)
        if targets != [name] or path != site.span.path or not _is_seen(wrap.site, site, name):
            continue
        if not _stores(analysis, path, name, statement):
            return wrap
    return None


def _targets(analysis: Analysis, wrap: LibraryCall, statement: ast.Assign) -> list[str]:
    """The targets that a wrapper is bound to, as it is."""
    source = wrap.site.source
    plain = statement.value in (wrap.site.node, analysis.index(source.path).same(wrap.site.node))
    return [source.segment(target) for target in statement.targets] if plain else []


def _stores(analysis: Analysis, path: str, name: str | None, after: ast.stmt) -> list[ast.AST]:
    """Where the same function binds a name again, further down."""
    source = analysis.source_of(path)
    return [
        node
        for node in of_kind(analysis.index(path).nodes, ast.Name, ast.Attribute)
        if stores(node)
        and source.segment(node) == name
        and node.lineno > after.lineno
        and _function(analysis, path, node) is _function(analysis, path, after)
    ]


def _is_returned(analysis: Analysis, wrap: LibraryCall, statement: ast.stmt) -> bool:
    """Whether a function gives the wrapper that it makes."""
    path = wrap.site.span.path
    own = analysis.index(path).same(wrap.site.node)
    if isinstance(statement, ast.Return):
        return statement.value in (wrap.site.node, own)
    function = _function(analysis, path, statement)
    targets = _targets(analysis, wrap, statement) if isinstance(statement, ast.Assign) else []
    if function is None or len(targets) != 1 or _stores(analysis, path, targets[0], statement):
        return False
    last = as_kind(getattr(function, "body", [None])[-1], ast.Return)
    return last is not None and last.value is not None and ast.unparse(last.value) == targets[0]


def _is_made_by(analysis: Analysis, wrap: LibraryCall, site: Site, name: str | None) -> bool:
    """Whether a name is what the function has given that made the wrapper, and nothing else."""
    call, path = wrap.site.scene.call, site.span.path
    if call is None or name is None or not analysis.source_of(path).text:
        return False
    made = [
        node
        for node in of_kind(analysis.statements(path), ast.Assign)
        if [ast.unparse(target) for target in node.targets] == [name]
    ]
    mine = [node for node in made if node.value in (call, analysis.index(path).same(call))]
    if len(mine) != 1 or (name.isidentifier() and _function(analysis, path, mine[0]) is not _own(analysis, site)):
        return False
    return not [
        node
        for node in made
        if node not in mine and _function(analysis, path, node) is _function(analysis, path, mine[0])
    ]


def _own(analysis: Analysis, site: Site) -> ast.AST | None:
    """The function in which something stands."""
    return _function(analysis, site.span.path, analysis.index(site.span.path).same(site.node) or site.node)


def _passed(site: Site | None, name: str | None) -> tuple[Site | None, str | None]:
    """The place where an argument comes from, and what it is there, for a name that is one."""
    while site is not None and site.scene.function is not None and site.scene.call is not None:
        frame, call, function = site.scene, site.scene.call, site.scene.function.node
        names = [argument.arg for argument in function.args.args] if isinstance(function, ast.FunctionDef) else []
        if name not in names or frame.caller is None or _sets(function, name):
            break
        place = names.index(name) - (1 if frame.receiver is not None else 0)
        given = argument_of(call, None, name)
        if given is None and place < len(call.args) and not is_spread(call.args):
            given = call.args[place]
        if not is_reference(given):
            return None, None
        site, name = frame.caller.site(call), ast.unparse(given)
    return site, name


def _sets(function: ast.AST, name: str | None) -> bool:
    return any(stores(node) and node.id == name for node in nodes_in(function, ast.Name))


def _is_seen(made: Site, used: Site, name: str | None) -> bool:
    """Whether a name or an attribute of self means the same at two places."""
    if name is None or made.scene == used.scene:
        return name is not None
    if name.startswith("self."):
        return made.scene.instance() is not None and made.scene.instance() is used.scene.instance()
    return made.scene.function is None and name.isidentifier() and name not in used.scene.names


def _function(analysis: Analysis, path: str, node: ast.AST) -> ast.AST | None:
    trail = analysis.trail(path, node)
    return first_of(reversed(trail), ast.FunctionDef, ast.AsyncFunctionDef)


def _unwrapped(site: Site, inner: str) -> Iterator[Candidate]:
    """``model.module.state_dict()``, where the state is taken."""
    node = site.node
    if is_method_call(node):
        source = site.source
        name = source.segment(node.func.value)
        edit = edits.insert_after_node(source, node.func.value, f".{inner}")
        title = message("fix.replace", old=f"{name}.state_dict()", new=f"{name}.{inner}.state_dict()")
        yield Candidate(title, (edit,))
