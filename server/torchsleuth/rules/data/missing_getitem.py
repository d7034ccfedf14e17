"""missing-getitem: a Dataset that defines no way to get at its samples.

What it finds
    A loader that is iterated over an instance of a Dataset class without __getitem__, or of an IterableDataset class
    without __iter__: the method is missing, or has another name.
Why it hurts
    The first batch raises NotImplementedError "Subclasses of Dataset should implement __getitem__".
Example
    class Prices(Dataset):
        def __get_item__(self, index):
            return self.x[index], self.y[index]
Use instead
    class Prices(Dataset):
        def __getitem__(self, index):
            return self.x[index], self.y[index]
Fix safety
    Safe: a method with such a name and the right parameters is what was meant.
References
    torch.utils.data.Dataset, torch.utils.data.IterableDataset
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import get_close_matches

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.data import ITERABLE
from torchsleuth.interp.pipeline import DataFault
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import made_here
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit, Position, Related
from torchsleuth.sifting import of_kind
from torchsleuth.tensors.spec import Native
from torchsleuth.values import Instance

CODE = "TS615"


def find(analysis: Analysis) -> Iterator[Finding]:
    for fault in analysis.trace.data:
        if fault.kind == "missing_getitem" and isinstance(fault.dataset, Instance):
            cls = fault.dataset.cls
            bases = [base.path for base in of_kind(cls.mro(), Native)]
            wanted = "__iter__" if ITERABLE in bases else "__getitem__"
            source = analysis.source_of(cls.path)
            start = source.start_of(cls.node)
            end = Position(start.line, len(source.line(start.line).rstrip()) + 1)
            place = Related(source.path, start, end, message("data.class", dataset=cls.name))
            text = message("data.getitem.missing", dataset=cls.name, method=wanted)
            places = (place, *made_here(analysis, fault.loader))
            yield Finding(fault.at.span, text, places, _renamed(analysis, fault, wanted))


def _renamed(analysis: Analysis, fault: DataFault, wanted: str) -> Iterator[Candidate]:
    """A method with another name that takes the right arguments."""
    cls = fault.dataset.cls
    source = analysis.source_of(cls.path)
    count = 2 if wanted == "__getitem__" else 1
    words = ("getitem", "get", "item", "getsample", "sample") if count == 2 else ("iter", "iterate", "generate")
    for method in of_kind(cls.node.body, ast.FunctionDef):
        if len(method.args.args) == count and not method.decorator_list:
            name = method.name.replace("_", "").lower()
            if get_close_matches(name, words, cutoff=0.75) or name in words:
                start = source.text.index(method.name, source.offset(source.start_of(method)))
                end = source.position(start + len(method.name))
                edit = Edit(source.path, source.position(start), end, wanted)
                yield Candidate(message("fix.rename", old=method.name, new=wanted), (edit,))


RULE = Rule(FAULTS[CODE], find)
