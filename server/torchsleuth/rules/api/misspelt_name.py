"""misspelt-name: a name that a module or object does not have, but for a letter, its case or its place.

What it finds
    `nn.Conv2D`, `nn.ReLu()`, `F.crossentropy`, `torch.optim.adam(…)` for a class, `x.unsqeeze(0)`, `optimizer.zerograd()`; names that are
    in another module of PyTorch, `F.CrossEntropyLoss()`, `torch.utils.DataLoader`; also in `from torch.nn import …`. The names are those of
    the installed PyTorch. What has been removed from it is TS801. And attributes of objects of one's own that nothing ever gives them:
    `self.fc` where `__init__` makes `self.fc1`, or `fc1` alone; `fc1(x)` for `self.fc1(x)`; `model.fc` of a DataParallel, whose
    module has it, and `model.module` of a model that nothing wraps.
Why it hurts
    AttributeError, ImportError or NameError as soon as the line is reached.
Example
    layer = nn.Conv2D(3, 8, 3)
Use instead
    layer = nn.Conv2d(3, 8, 3)
Fix safety
    Safe where the names differ in their case or underscores only, and where something is in one other module only.
References
    https://docs.pytorch.org/docs/stable/torch.html
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.library.data import LOADER
from torchsleuth.interp.library.hierarchy import STATE
from torchsleuth.interp.misuses import AnyMisuse, Misuse
from torchsleuth.interp.unset import locals_of
from torchsleuth.messages import message
from torchsleuth.rules.api.misspelt_method import misspelt_init
from torchsleuth.rules.api.removed_function import is_removed
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.evidence.operands import short
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related, Span
from torchsleuth.sifting import as_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.spec import plain_name
from torchsleuth.values import Instance, LibraryModule, Record, Tensor, Wrapped

CODE = "TS821"


def find(analysis: Analysis) -> Iterator[Finding]:
    for misuse in analysis.trace.misuses:
        if misuse.way in _FINDERS:
            yield from _FINDERS[misuse.way](analysis, misuse)


def _of_library(analysis: Analysis, misuse: Misuse[misuses.Absent]) -> Iterator[Finding]:
    owner, name, near, places = misuse.value
    source, node = misuse.site.source, misuse.site.node
    place = _place(source, node, name)
    if place is None or is_removed(f"{owner}.{name}"):
        return
    shown = owner.replace("torch.Tensor", "a tensor")
    exact = bool(places) and (not name.islower() or _is_given_tensors(analysis, misuse))
    if near and not exact:
        text = message("absent.name", owner=shown, name=name, near=near[0])
    else:
        text = message("absent.elsewhere", owner=shown, name=name, place=places[0])
    fixes = [_renamed(source, place, name, other, not exact) for other in near]
    moved = list(_moved(analysis, misuse, places, exact or len(places) == 1))
    yield Finding(place, text, (), moved + fixes if exact else fixes + moved)


def _place(source: SourceText, node: ast.AST, name: str) -> Span | None:
    """Where the last part of a dotted name stands, or an imported name."""
    match node:
        case ast.Attribute():
            end = source.end_of(node)
            return Span(source.path, replace(end, column=end.column - len(name)), end)
        case ast.Import() | ast.ImportFrom():
            # `import torch.nn.function`: the last part of a module's name.
            found = re.search(rf"\b{re.escape(name)}\b", source.segment(node))
            if found is None:
                return None
            begin = source.offset(source.start_of(node))
            return Span(source.path, source.position(begin + found.start()), source.position(begin + found.end()))
        case ast.alias() | ast.Name():
            start = source.start_of(node)
            return Span(source.path, start, replace(start, column=start.column + len(name)))
    return None


def _renamed(source: SourceText, place: Span, name: str, other: str, alike: bool = True) -> Candidate:
    edit = Edit(source.path, place.start, place.end, other)
    same = alike and plain_name(other) == plain_name(name)
    return Candidate(message("fix.replace", old=name, new=other), (edit,), safe=same)


def _is_given_tensors(analysis: Analysis, misuse: Misuse[object]) -> bool:
    """Whether something is called with more than numbers and texts: ``nn.relu(x)`` is no ``nn.ReLU(x)``."""
    around = as_kind(_around(analysis, misuse), ast.Call)
    called = around is not None and around.args and not isinstance(around.args[0], ast.Constant)
    return bool(called)


def _around(analysis: Analysis, misuse: Misuse[object]) -> ast.AST | None:
    index = analysis.index(misuse.site.span.path)
    same = index.same(misuse.site.node)
    return index.parents.get(same) if same is not None else None


def _moved(
    analysis: Analysis, misuse: Misuse[misuses.Absent], places: tuple[str, ...], safe: bool
) -> Iterator[Candidate]:
    """The name from the module that has it."""
    path, node = misuse.site.span.path, misuse.site.node
    source = analysis.source_of(path)
    for number, place in enumerate(places):
        if isinstance(node, ast.Attribute):
            text, imports = spelled(analysis, path, place)
            title = message("fix.replace", old=source.segment(node), new=text)
            yield Candidate(title, (edits.replace(source, node, text), *imports), safe=safe and number == 0)
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            # The module itself is not there.
            owner, name = misuse.value[:2]
            whole = _place(source, node, f"{owner}.{name}")
            if whole is not None:
                edit = Edit(path, whole.start, whole.end, place)
                yield Candidate(message("fix.replace", old=f"{owner}.{name}", new=place), (edit,), safe=safe)
            continue
        statement = as_kind(_around(analysis, misuse), ast.ImportFrom)
        module, _, name = place.rpartition(".")
        if statement is not None and len(statement.names) > 1 and statement.lineno == statement.end_lineno:
            new = f"from {module} import {name}"
            change = _taken_out(source, statement, name, new)
            yield Candidate(message("fix.insert", text=new), change, safe=safe and number == 0)
        elif statement is not None and len(statement.names) == 1 and statement.module:
            start = source.start_of(statement)
            begin = source.offset(start) + source.segment(statement).index(statement.module)
            edit = Edit(path, source.position(begin), source.position(begin + len(statement.module)), module)
            yield Candidate(
                message("fix.replace", old=statement.module, new=module), (edit,), safe=safe and number == 0
            )


def _taken_out(source: SourceText, statement: ast.ImportFrom, name: str, instead: str) -> tuple[Edit, ...]:
    """The statement without one of its names, and another before it that imports that one."""
    named = next(one for one in statement.names if one.name == name)
    rest = ast.ImportFrom(statement.module, [one for one in statement.names if one is not named], statement.level)
    above = edits.insert_line_before(source, statement, instead + (f" as {named.asname}" if named.asname else ""))
    return (above, edits.replace(source, statement, ast.unparse(rest)))


def _of_object(analysis: Analysis, misuse: Misuse[misuses.Lacking]) -> Iterator[Finding]:
    """``optimizer.zerograd()``, ``nn.ReLU(x).shape``"""
    owner, name, near, of_tensors = misuse.value
    source, node = misuse.site.source, misuse.site.node
    place = _place(source, node, name)
    if place is None or not isinstance(node, ast.Attribute):
        return
    other = "tensor" if isinstance(owner, LibraryModule) else "batch" if owner.path == LOADER else "optimizer"
    hint = message("absent.attribute.near", near=near[0]) if near else ""
    if owner.path == STATE:
        hint = message("absent.attribute.state")
    elif not near and of_tensors and other != "optimizer":
        hint = message(f"absent.attribute.{other}")
    elif not near and other == "optimizer" and "lr_scheduler" not in owner.path and name in ("lr", "learning_rate"):
        hint = message("absent.attribute.rate")
    text = message("absent.attribute", text=source.segment(node.value), kind=owner.type_name, name=name, hint=hint)
    yield Finding(place, text, (), [_renamed(source, place, name, one) for one in near])


def _of_record(analysis: Analysis, misuse: Misuse[tuple[Record, str, tuple[str, ...]]]) -> Iterator[Finding]:
    """``outputs.pooler_output`` of a model that returns none."""
    owner, name, near = misuse.value
    source, node = misuse.site.source, misuse.site.node
    place = _place(source, node, name)
    if place is None or not isinstance(node, ast.Attribute):
        return
    text, held = short(source.segment(node.value)), ", ".join(map(str, owner.items or ()))
    said = message("absent.record", text=text, kind=owner.type_name, name=name, held=held)
    fixes = [_renamed(source, place, name, one) for one in near]
    items = owner.items or {}
    if name == "pooler_output" and isinstance(items.get("last_hidden_state"), Tensor):
        # What a model that pools takes: the first position.
        edit = Edit(source.path, place.start, place.end, "last_hidden_state[:, 0]")
        fixes.append(Candidate(message("fix.replace", old=name, new=edit.new_text), (edit,), safe=False))
    yield Finding(place, said, (), fixes)


def _of_own(analysis: Analysis, misuse: Misuse[misuses.Unset]) -> Iterator[Finding]:
    """``self.fc`` of an object that has ``fc1``, or whose ``__init__`` has a variable of this name."""
    owner, name, near, of_tensors = misuse.value
    source = misuse.site.source
    place = _place(source, misuse.site.node, name)
    if place is None or misspelt_init(owner.cls.node) is not None:
        return
    written = locals_of(owner.cls).get(name, [])
    hint = message("absent.own.near", near=near[0]) if near else message("absent.own.never")
    if of_tensors and not near:
        hint = message("absent.attribute.tensor")
    if written:
        hint = message("absent.own.local", line=written[0].lineno)
    text = message("absent.own", owner=owner.cls.name, name=name, hint=hint)
    fixes = [_renamed(source, place, name, one) for one in near]
    if written:
        own = analysis.source_of(owner.cls.path)
        changes = tuple(edits.insert(own, own.start_of(one), "self.") for one in written)
        title = message("fix.replace", old=name, new=f"self.{name}")
        fixes.insert(0, Candidate(title, changes))
        yield Finding(place, text, (own.span(written[0]).related(message("absent.own.place", name=name)),), fixes)
    else:
        yield Finding(place, text, tuple(_given(analysis, owner, near)), fixes)


def _given(analysis: Analysis, owner: Instance, near: tuple[str, ...]) -> Iterator[Related]:
    """Where the attribute that was meant is given to the object."""
    for item in analysis.trace.attributes:
        if near and item.owner is owner and item.name == near[0]:
            note = message("absent.own.place", name=f"self.{near[0]}")
            yield item.site.span.related(note)
            return


def _of_self(analysis: Analysis, misuse: Misuse[Instance]) -> Iterator[Finding]:
    """``fc1(x)`` for ``self.fc1(x)``"""
    node = as_kind(misuse.site.node, ast.Name)
    if node is not None:
        source = misuse.site.source
        text = message("absent.self", name=node.id, owner=misuse.value.cls.name)
        fix = Candidate(
            message("fix.replace", old=node.id, new=f"self.{node.id}"),
            (edits.insert(source, source.start_of(node), "self."),),
        )
        yield Finding(misuse.site.span, text, (), (fix,))


def _of_wrapper(analysis: Analysis, misuse: Misuse[tuple[Wrapped, str]]) -> Iterator[Finding]:
    """``model.fc`` for ``model.module.fc``"""
    owner, name = misuse.value
    source, node = misuse.site.source, misuse.site.node
    place = _place(source, node, name)
    if place is None or not isinstance(node, ast.Attribute):
        return
    text, made = source.segment(node.value), owner.path.rpartition(".")[2]
    fix = Candidate(
        message("fix.replace", old=f"{text}.{name}", new=f"{text}.module.{name}"),
        (edits.insert_after_node(source, node.value, ".module"),),
    )
    where = owner.site.span.related(message("state.wrapped.here"))
    yield Finding(place, message("absent.wrapped", text=text, kind=made, name=name), (where,), (fix,))


def _of_unwrapped(analysis: Analysis, misuse: Misuse[tuple[Instance, str]]) -> Iterator[Finding]:
    """``model.module.fc`` for ``model.fc``"""
    owner, name = misuse.value
    source, node = misuse.site.source, misuse.site.node
    place = _place(source, node, name)
    if place is None or not isinstance(node, ast.Attribute):
        return
    text = source.segment(node.value)
    same = ast.dump(node)
    everywhere = [one for one in analysis.index(source.path).of_type(ast.Attribute) if ast.dump(one) == same]
    title = message("fix.replace", old=source.segment(node), new=text)
    fix = Candidate(title, tuple(edits.replace(source, one, text) for one in everywhere))
    yield Finding(place, message("absent.never_wrapped", text=text, owner=owner.cls.name), (), (fix,))


_FINDERS: dict[misuses.Way[Any], Callable[[Analysis, AnyMisuse], Iterator[Finding]]] = {
    misuses.ABSENT: _of_library,
    misuses.LACKING: _of_object,
    misuses.UNSET: _of_own,
    misuses.OF_RECORD: _of_record,
    misuses.SELFLESS: _of_self,
    misuses.WRAPPED: _of_wrapper,
    misuses.NEVER_WRAPPED: _of_unwrapped,
}


RULE = Rule(FAULTS[CODE], find)
