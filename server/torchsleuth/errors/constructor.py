"""Edits of a layer's constructor: the argument that holds a size, wherever it was written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from torchsleuth.errors.case import Case, enclosing_function, node_span
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Json, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, by_position, given_to, last_word, names_in, nodes_in, stands_on
from torchsleuth.syntax.parse import parse
from torchsleuth.syntax.text import SourceText

MAX_CHAIN = 4
"""Calls that a size is followed through, outwards from the constructor."""


class BuildSite:
    """One of the user's frames around the construction of the layer that failed."""

    def __init__(self, case: Case, frame: Json) -> None:
        self.source: SourceText = case.sources(frame["path"])
        self.tree = parse(self.source)
        self.line: int = frame["line"]
        self.function = enclosing_function(self.tree, frame["line"]) if frame["function"] != "<module>" else None
        self._span = frame["span"]

    def call(self, name: str | None) -> ast.Call | None:
        """The call that was running; without columns the last one of that name on the line."""
        best: ast.Call | None = None
        for node in nodes_in(self.tree, ast.Call):
            if self._span is not None:
                if node_span(node) == tuple(self._span):
                    return node
            elif stands_on(node, self.line):
                called = last_word(node.func)
                if name is None or called == name:
                    best = node if best is None or node.lineno >= best.lineno else best
        return best


def build_sites(case: Case) -> list[BuildSite]:
    module = case.crash["module"] or {}
    constructor = module.get("constructor")
    return [BuildSite(case, frame) for frame in constructor["frames"]] if constructor is not None else []


def constructor_call(case: Case) -> tuple[BuildSite, ast.Call] | None:
    """Where the failing layer was built, if the user's line names its class."""
    module = case.crash["module"]
    sites = build_sites(case)
    if not sites or not module["constructor"]["direct"]:
        return None
    call = sites[0].call(module["type"])
    return (sites[0], call) if call is not None else None


def related_constructor(case: Case) -> list[Related]:
    """The place where the failing layer was built, for a diagnostic's related information, and that of the layer before it, if that
    says which classes there are."""
    producer = case.crash.get("producer")
    before = [] if producer is None else _built(Case({**case.crash, "module": producer}, case.sources, case.match))
    return [*_built(case), *before]


def _built(case: Case) -> list[Related]:
    sites = build_sites(case)
    if not sites:
        return []
    call = sites[0].call(case.crash["module"]["type"])
    if call is None or sites[0].source.span(call) == case.frame.span:
        return []
    span = sites[0].source.span(call)
    found = [Related(span.path, span.start, span.end, message("error.built_here", layer=case.layer))]
    for site, outer in zip(sites, sites[1:]):
        own = call is not None and site.function is not None and _takes_parameter(site.function, call)
        call = outer.call(None)
        if call is None or site.function is None or site.function.name == "__init__" and not own:
            break
        span = outer.source.span(call)
        found.append(Related(span.path, span.start, span.end, message("error.built_through", layer=case.layer)))
    return found


def _takes_parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call) -> bool:
    """Whether a call is made with something that the function around it was given."""
    given = given_to(call)
    names = names_in(*given)
    return any(_parameter(function, name) is not None for name in names - {"self", "cls"})


def change_argument(case: Case, wanted: Any, *names: str) -> Iterator[Fix]:
    """Ways to build the layer with the wanted size, the most likely first: the written number, a variable in scope that
    holds it, or the argument of the call that passed it through helper functions."""
    found = constructor_call(case)
    module = case.crash["module"]
    if found is None or module is None:
        return
    site, call = found
    name = next((name for name in names if name in module["parameters"]), names[0])
    # Recurrent layers take (*args, **kwargs): the size that an error speaks of is the first of them.
    position = (
        module["parameters"].index(name) if name in module["parameters"] else 0 if not module["parameters"] else -1
    )
    node = argument_of(call, position, *names)
    if node is None:
        return
    outer = list(_passed_from(case, node, wanted))
    here = _fix(case, site.source, node, name, wanted)
    in_scope = [
        _fix(case, site.source, node, name, variable)
        for variable, value in module["constructor"]["names"].items()
        if value == wanted and site.source.segment(node) != variable
    ][:2]
    written = isinstance(node, ast.Constant)
    yield from [*outer, here, *in_scope] if written else [*in_scope, *outer, here]


def _fix(case: Case, source: SourceText, node: ast.expr, name: str, new: Any) -> Fix:
    title = message("fix.argument", argument=name, layer=case.layer, old=source.segment(node), new=new)
    return Fix(title, (edits.replace(source, node, str(new)),))


def _passed_from(case: Case, node: ast.expr, wanted: Any) -> Iterator[Fix]:
    """Where the value of a plain parameter was written: an argument of a call around, or the parameter's default."""
    sites = build_sites(case)
    for site, caller in list(zip(sites, sites[1:]))[:MAX_CHAIN]:
        function = site.function
        if not isinstance(node, ast.Name) or function is None:
            return
        place = _parameter(function, node.id)
        if place is None:
            return
        position, default = place
        call = caller.call(None)
        passed = argument_of(call, position, node.id) if call is not None else None
        if passed is None:
            if default is not None:
                yield _fix(case, site.source, default, node.id, wanted)
            return
        if isinstance(passed, ast.Name):
            node = passed
            continue
        yield _fix(case, caller.source, passed, node.id, wanted)
        return


def _parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> tuple[int, ast.expr | None] | None:
    """(position for the caller, default) of a parameter."""
    positional = by_position(function.args)
    names = [argument.arg for argument in positional]
    if name in names:
        index = names.index(name)
        defaults: list[ast.expr | None] = [None] * (len(names) - len(function.args.defaults))
        default = [*defaults, *function.args.defaults][index]
        return (index - 1 if names[:1] in (["self"], ["cls"]) else index), default
    for argument, keyword_default in zip(function.args.kwonlyargs, function.args.kw_defaults):
        if argument.arg == name:
            return -1, keyword_default
    return None
