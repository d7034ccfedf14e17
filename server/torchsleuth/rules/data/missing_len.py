"""missing-len: a map-style Dataset without __len__ in a loader that needs it.

What it finds
    A DataLoader without a sampler of its own over an instance of a class that has __getitem__ and no __len__.
Why it hurts
    The default samplers ask for the length: TypeError "object of type … has no len()", at once with shuffle=True, at the
    first batch without.
Example
    class Readings(Dataset):
        def __getitem__(self, index):
            return self.values[index]
Use instead
    class Readings(Dataset):
        def __len__(self):
            return len(self.values)

        def __getitem__(self, index):
            return self.values[index]
Fix safety
    Renaming a misspelt __len__ is safe. A new __len__ gives the length of the attribute that __getitem__ indexes with its
    argument, or the number of windows that it cuts from one, or the number that the constructor keeps (`self.n`), and is
    offered where there is one.
References
    torch.utils.data.Dataset, torch.utils.data.SequentialSampler, torch.utils.data.RandomSampler
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import option
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import head, made_here
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Position, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_binary, is_name, nodes_in, stores
from torchsleuth.values import ClassValue, Instance

CODE = "TS603"
_COUNT = re.compile(r"_?(?:n|num|size|count|total|length|(?:n|num)_?(?:samples|items|examples|rows|points|records))")


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        if fault.kind != "missing_len" or not isinstance(fault.dataset, Instance):
            continue
        node, path = fault.at.call, fault.at.span.path
        constructed = fault.loader is not None and fault.loader.site is not None and fault.loader.site.node is node
        at = head(analysis, path, node) if node is not None and constructed else fault.at.span
        sampler = "RandomSampler" if fault.loader and option(fault.loader, "shuffle") is True else "SequentialSampler"
        text = message("data.len", dataset=fault.dataset.cls.name, sampler=sampler)
        if fault.loader is None:
            text = message("data.len.asked", dataset=fault.dataset.cls.name)
        places = () if constructed or fault.loader is None else made_here(analysis, fault.loader)
        yield Finding(at, text, (*_definition(analysis, fault.dataset), *places), _repairs(analysis, fault))


def _definition(analysis: Analysis, dataset: Instance) -> tuple[Related, ...]:
    source, node = analysis.source_of(dataset.cls.path), dataset.cls.node
    line = source.line(node.lineno)
    start, end = source.start_of(node), Position(node.lineno, len(line.rstrip()) + 1)
    return (Related(source.path, start, end, message("data.len.class", dataset=dataset.cls.name)),)


def _repairs(analysis: Analysis, fault: DataFault) -> Iterator[Candidate]:
    for cls in of_kind(fault.dataset.cls.mro(), ClassValue):
        yield from _defined(analysis, cls)


def _defined(analysis: Analysis, cls: ClassValue) -> Iterator[Candidate]:
    """``__len__`` in a class, before its ``__getitem__``."""
    source = analysis.source_of(cls.path)
    methods = of_kind(cls.node.body, ast.FunctionDef)
    for method in methods:
        if _is_length(method):
            start = source.text.index(method.name, source.offset(source.start_of(method)))
            edit = Edit(source.path, source.position(start), source.position(start + len(method.name)), "__len__")
            yield Candidate(message("fix.rename", old=method.name, new="__len__"), (edit,))
    getitem = next((method for method in methods if method.name == "__getitem__"), None)
    getitem = getitem or next((method for method in methods if any(_indexed(method))), None)
    if getitem is None:
        return
    end = edits.line_ending(source)
    indent = edits.indentation(source, getitem.lineno)
    step = "\t" if indent.startswith("\t") else "    "
    line = min([getitem.lineno, *(decorator.lineno for decorator in getitem.decorator_list)])
    for count in dict.fromkeys((*_indexed(getitem), *windows(getitem), *_counts(methods))):
        lines = [f"{indent}def __len__(self):", f"{indent}{step}return {count}", "", ""]
        edit = edits.insert(source, Position(line, 1), end.join(lines))
        yield Candidate(message("fix.len", text=count), (edit,))


def _is_length(method: ast.FunctionDef) -> bool:
    """Whether a method without arguments is called almost like ``__len__``."""
    alone = len(method.args.args) == 1 and not method.args.vararg and not method.args.kwonlyargs
    name = method.name.strip("_").lower()
    return alone and bool(name in ("len", "length", "size", "lenght") or get_close_matches(name, ["len"], cutoff=0.8))


def _indexed(getitem: ast.FunctionDef) -> Iterator[str]:
    """``self.values`` where ``__getitem__`` reads ``self.values[index]``, and frames by ``self.frame.iloc[index]``."""
    if len(getitem.args.args) < 2:
        return
    index = getitem.args.args[1].arg
    for part in nodes_in(getitem, ast.Subscript):
        if isinstance(part.slice, ast.Name | ast.Tuple):
            first = part.slice.elts[0] if isinstance(part.slice, ast.Tuple) and part.slice.elts else part.slice
            owner = part.value
            if is_attribute(owner, "iloc", "loc"):
                owner = owner.value
            if is_name(first, index) and isinstance(owner, ast.Attribute):
                yield f"len({ast.unparse(owner)})"


def _counts(methods: list[ast.FunctionDef]) -> Iterator[str]:
    """``self.n`` where the constructor keeps how many samples there are to be."""
    for method in methods:
        for part in nodes_in(method, ast.Attribute) if method.name == "__init__" else ():
            if stores(part) and _COUNT.fullmatch(part.attr):
                yield ast.unparse(part)


def windows(getitem: ast.FunctionDef) -> Iterator[str]:
    """How many windows ``self.series[index : index + self.window + 1]`` can be, with ``self.series[index + self.window]``
    behind them."""
    if len(getitem.args.args) < 2:
        return
    index = getitem.args.args[1].arg
    named = {
        part.targets[0].id: part.value
        for part in nodes_in(getitem, ast.Assign)
        if isinstance(part.targets[0], ast.Name)
    }
    behind: list[str] = []
    for part in nodes_in(getitem, ast.Subscript):
        if not isinstance(part.value, ast.Attribute):
            continue
        cut = part.slice.elts[0] if isinstance(part.slice, ast.Tuple) and part.slice.elts else part.slice
        match cut:
            case ast.BinOp():
                behind += _without(part.value, _terms(cut, named), index, 0)
            case ast.Slice() if cut.lower is not None and cut.upper is not None:
                if any(is_name(term, index) for term in _terms(cut.lower, named)):
                    behind += [*_without(part.value, _terms(cut.upper, named), index, 1)]
    yield from sorted(dict.fromkeys(behind), key=lambda text: ("+" in text, -len(text)))


def _without(data: ast.Attribute, terms: list[ast.expr], index: str, number: int) -> Iterator[str]:
    """The length of the data without the terms that an end has beside the index."""
    rest = [term for term in terms if not (is_name(term, index))]
    if len(rest) == len(terms) - 1 and rest:
        constants = [term.value for term in of_kind(rest, ast.Constant)]
        number -= sum(of_kind(constants, int))
        names = [ast.unparse(term) for term in rest if not isinstance(term, ast.Constant)]
        text = " - ".join([f"len({ast.unparse(data)})", *names])
        yield text if number == 0 else f"{text} {'+' if number > 0 else '-'} {abs(number)}"


def _terms(node: ast.expr, named: Mapping[str, ast.expr], depth: int = 6) -> list[ast.expr]:
    """The terms of a sum, through the names that were given to parts of it."""
    if is_binary(node, ast.Add) and depth:
        return [*_terms(node.left, named, depth - 1), *_terms(node.right, named, depth - 1)]
    if is_name(node, *named) and depth:
        return _terms(named[node.id], named, depth - 1)
    return [node]


RULE = Rule(FAULTS[CODE], find)
