"""misspelt-method: a method that Python or PyTorch calls by its name, under another one.

What it finds
    `__int__`, `_init_` or `__inti__` for `__init__`, where it calls `super().__init__()`, or gives attributes to `self`; a module that is
    called and has `foward` for `forward`, or none; `forward` inside of `__init__`, because it is indented too far; `def __len__():` without `self`.
Why it hurts
    Nobody calls it: the layers are never made, or the call of the module raises NotImplementedError.
Example
    class Net(nn.Module):
        def _init_(self):
            super().__init__()
Use instead
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
Fix safety
    Safe: under the name that it has, the method cannot be meant.
References
    torch.nn.Module.forward
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import replace

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Related, Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_name, stores
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.spec import plain_name
from torchsleuth.values import Instance

CODE = "TS824"
_SPECIAL = re.compile(r"__(?!new__|init_subclass__|class_getitem__)\w+__|forward")
"""Methods that are called with the object, by Python or by a module."""
_ALIKE, _SHORT_ALIKE = 0.8, 0.75
"""How much of a name has to be the same, at least, for it to be a slip for `forward`, and for `init`."""


def find(analysis: Analysis) -> Iterator[Finding]:
    path = analysis.source.path
    for cls in analysis.index(path).of_type(ast.ClassDef):
        method = misspelt_init(cls)
        if method is not None and not _is_mentioned(analysis, path, method.name):
            text = message("method.init", name=method.name, owner=cls.name)
            yield _named(analysis.source_of(path), method, "__init__", text)
        yield from _selfless(analysis.source_of(path), cls)
    reported: set[ast.AST] = set()
    for misuse in analysis.misuses(misuses.FORWARDLESS):
        owner: Instance = misuse.value
        if owner.cls.node in reported or misspelt_init(owner.cls.node) is not None:
            continue
        reported.add(owner.cls.node)
        yield _without_forward(analysis, owner, misuse.site.span)


def _selfless(source: SourceText, cls: ast.ClassDef) -> Iterator[Finding]:
    """``def __len__():``"""
    for method in of_kind(cls.body, ast.FunctionDef):
        if not _SPECIAL.fullmatch(method.name) or method.decorator_list:
            continue
        if any(vars(method.args).get(kind) for kind in ("posonlyargs", "args", "vararg")):
            continue
        start = source.offset(source.start_of(method))
        opening = source.text.find("(", start)
        edit = edits.insert(source, source.position(opening + 1), "self")
        header = Span(source.path, source.start_of(method), source.position(opening))
        text = message("method.selfless", owner=cls.name, name=method.name)
        yield Finding(header, text, (), (Candidate(message("fix.add", text="self"), (edit,)),))


def misspelt_init(cls: ast.ClassDef) -> ast.FunctionDef | None:
    """The method of a class that is meant to be its ``__init__``, and is called otherwise."""
    methods = of_kind(cls.body, ast.FunctionDef)
    if cls.keywords or any(part.name in ("__init__", "__new__") for part in methods):
        return None
    return next((part for part in methods if _is_like_init(part.name) and _makes(part)), None)


def _is_like_init(name: str) -> bool:
    """``init`` with other underscores, or with a letter more, less or exchanged: what is put before it makes another name."""
    core = name.strip("_")
    framed = name.startswith("_") and (name.endswith("_") or name.startswith("__"))
    if core == "init":
        return framed or name == core
    return framed and core != "unit" and "init" not in core and _likeness(core, "init") >= _SHORT_ALIKE


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _makes(method: ast.FunctionDef) -> bool:
    """Whether a method does what a constructor does: it calls that of the base, or gives attributes to ``self``."""
    first = method.args.args[0].arg if method.args.args else None
    if method.decorator_list or first is None:
        return False
    parts = [part for statement in method.body for part in ast.walk(statement)]
    if any(part.value is not None for part in of_kind(parts, ast.Return)):
        return False
    calls = (part.func for part in of_kind(parts, ast.Call))
    if any(is_attribute(called, "__init__") for called in calls):
        return True
    return method.name.endswith("__") and any(
        stores(part) and is_name(part.value, first) for part in of_kind(parts, ast.Attribute)
    )


def _is_mentioned(analysis: Analysis, path: str, name: str) -> bool:
    """Whether a file speaks of a method anywhere but where it defines it."""
    return any(part.attr == name for part in analysis.index(path).of_type(ast.Attribute))


def _named(source: SourceText, method: ast.FunctionDef, wanted: str, text: str, called: Span | None = None) -> Finding:
    """A method under a wrong name, with its renaming."""
    start = source.start_of(method)
    offset = source.text.index(method.name, source.offset(start) + len("def"))
    start = source.position(offset)
    place = Span(source.path, start, replace(start, column=start.column + len(method.name)))
    fix = Candidate(
        message("fix.rename", old=method.name, new=wanted), (Edit(source.path, place.start, place.end, wanted),)
    )
    return Finding(place, text, _called(called), (fix,))


def _without_forward(analysis: Analysis, owner: Instance, called: Span) -> Finding:
    """A module that is called and has no ``forward``: what is meant to be it, or the call."""
    cls = owner.cls
    source = analysis.source_of(cls.path)
    methods = of_kind(cls.node.body, ast.FunctionDef)
    names = [part.name for part in methods if not part.name.startswith("__")]
    near = [one for one in names if plain_name(one) == "forward"] or difflib.get_close_matches(
        "forward", names, 1, _ALIKE
    )
    if near:
        method = next(part for part in methods if part.name == near[0])
        text = message("method.forward", owner=cls.name, name=method.name)
        return _named(source, method, "forward", text, called)
    init = next((part for part in methods if part.name == "__init__"), None)
    nested = of_kind(init.body, ast.FunctionDef) if init is not None else []
    inner = next((part for part in nested if part.name == "forward"), None)
    if init is None or inner is None:
        return Finding(called, message("method.none", owner=cls.name))
    text = message("method.nested", name="forward", owner=cls.name)
    start = source.start_of(inner)
    place = Span(source.path, start, replace(start, column=start.column + len("def forward")))
    inside, outside = (edits.indentation(source, part.lineno) for part in (inner, init))
    changes = edits.outdent(source, inner, inside, outside)
    fixes = (Candidate(message("fix.dedent", name="forward"), changes),) if changes and inner is init.body[-1] else ()
    return Finding(place, text, _called(called), fixes)


def _called(span: Span | None) -> tuple[Related, ...]:
    return () if span is None else (span.related(message("method.called")),)


RULE = Rule(FAULTS[CODE], find)
