"""States of modules that DataParallel has wrapped, and whose names all begin with "module.": what TS530 says of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.library.hierarchy import STATE, descendants
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loops import receiver_text, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, related
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.values import DictValue, Instance, LibraryObject, Site, Value

_WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel")
_OWN = frozenset({"state_dict", "load_state_dict"})


def of_wrapped(analysis: Analysis) -> Iterator[Finding]:
    """load_state_dict() of a module that was never wrapped, with the state of a wrapper."""
    wraps = [call for path in _WRAPPERS for call in analysis.calls.get(path, ()) if call.args]
    inside = {id(part) for call in wraps for part in descendants(call.args[0])}
    seen: set[Span] = set()
    if not wraps or _renames(analysis):
        return
    for load in analysis.calls.get("torch.nn.Module.load_state_dict", ()):
        state = _state(load.get(0, "state_dict"))
        if state is None or state.site is None or load.site.span in seen or load.guarded or not load.certain:
            continue
        plain = load.get(1, "strict", True) is True and id(load.receiver) not in inside
        wrap = _wrapper(analysis, wraps, state) if plain and not _decides(load.receiver) else None
        if wrap is None:
            continue
        seen.add(load.site.span)
        name = receiver_text(analysis, state.site) or ""
        source = analysis.source_of(state.site.span.path)
        places = (
            related(analysis.source_of(wrap.site.span.path), wrap.site.node, message("state.wrapped.here")),
            related(source, state.site.node, message("state.misfit.saved")),
        )
        text = message("state.wrapped", name=name, wrapper=wrap.path.rpartition(".")[2])
        yield Finding(load.site.span, text, places, tuple(_unwrapped(analysis, state.site)))


def _renames(analysis: Analysis) -> bool:
    """Whether a file says something of the names' beginning, or unwraps a module."""
    paths = {analysis.source.path, *(call.site.span.path for call in analysis.calls.get(STATE, ()))}
    return any(
        (isinstance(node, ast.Constant) and isinstance(node.value, str) and "module" in node.value)
        or (isinstance(node, ast.Attribute) and node.attr == "module")
        for path in paths
        for node in analysis.index(path).nodes
    )


def _state(given: Value) -> LibraryObject | None:
    """The call of state_dict() that a dict comes from as it is, through a file, too."""
    if isinstance(given, DictValue):
        state = given.slots.get("state")
        entries = state.slots.get("entries") if isinstance(state, LibraryObject) else None
        same = given.items is not None and not isinstance(entries, DictValue)
        given = state if same else None
    return given if isinstance(given, LibraryObject) and given.path == STATE else None


def _decides(module: Value) -> bool:
    """Whether a class in a module has a way of its own to save or load."""
    return any(
        isinstance(node, ast.FunctionDef) and node.name in _OWN
        for part in descendants(module)
        if isinstance(part, Instance)
        for node in part.cls.node.body
    )


def _wrapper(analysis: Analysis, wraps: list[LibraryCall], state: LibraryObject) -> LibraryCall | None:
    """The call that made what state_dict() is called on, where its name was given to a wrapper, and to nothing since."""
    module = state.args[0]
    site, name = _passed(state.site, receiver_text(analysis, state.site) if state.site is not None else None)
    for wrap in wraps:
        statement = statement_of(analysis, wrap.site)
        path = wrap.site.span.path
        if site is None or wrap.args[0] is not module or not wrap.certain or not isinstance(statement, ast.Assign):
            continue
        source = analysis.source_of(path)
        plain = statement.value in (wrap.site.node, analysis.index(path).same(wrap.site.node))
        targets = [source.segment(target) for target in statement.targets]
        if not plain or targets != [name] or path != site.span.path or not _is_seen(wrap.site, site, name):
            continue
        set_here = [
            node
            for node in analysis.index(path).nodes
            if isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and source.segment(node) == name
            and node.lineno > statement.lineno
            and _function(analysis, path, node) is _function(analysis, path, statement)
        ]
        if not set_here:
            return wrap
    return None


def _passed(site: Site | None, name: str | None) -> tuple[Site | None, str | None]:
    """The place where an argument comes from, and what it is there, for a name that is one."""
    while site is not None and site.scene.function is not None and site.scene.call is not None:
        frame, call, function = site.scene, site.scene.call, site.scene.function.node
        names = [argument.arg for argument in function.args.args] if isinstance(function, ast.FunctionDef) else []
        if name not in names or frame.caller is None or _sets(function, name):
            break
        place = names.index(name) - (1 if frame.receiver is not None else 0)
        given = next((word.value for word in call.keywords if word.arg == name), None)
        if given is None and place < len(call.args) and not any(isinstance(one, ast.Starred) for one in call.args):
            given = call.args[place]
        if not isinstance(given, ast.Name | ast.Attribute):
            return None, None
        site, name = frame.caller.site(call), ast.unparse(given)
    return site, name


def _sets(function: ast.AST, name: str | None) -> bool:
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name
        for node in ast.walk(function)
    )


def _is_seen(made: Site, used: Site, name: str | None) -> bool:
    """Whether a name or an attribute of self means the same at two places."""
    if name is None or made.scene == used.scene:
        return name is not None
    if name.startswith("self."):
        return made.scene.instance() is not None and made.scene.instance() is used.scene.instance()
    return made.scene.function is None and name.isidentifier() and name not in used.scene.names


def _function(analysis: Analysis, path: str, node: ast.AST) -> ast.AST | None:
    trail = edits.path_to(analysis.tree(path), node)
    return next((part for part in reversed(trail) if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)), None)


def _unwrapped(analysis: Analysis, site: Site) -> Iterator[Candidate]:
    """``model.module.state_dict()``, where the state is taken."""
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        source = analysis.source_of(site.span.path)
        name = source.segment(node.func.value)
        edit = edits.insert_after_node(source, node.func.value, ".module")
        title = message("fix.replace", old=f"{name}.state_dict()", new=f"{name}.module.state_dict()")
        yield Candidate(title, (edit,))
