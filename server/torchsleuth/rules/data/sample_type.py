"""sample-type: samples that the default collate has no rule for.

What it finds
    A Dataset whose __getitem__ returns None on some path, has no return at all, or holds something else that is neither a
    tensor, an array, a number, a string, nor a dict, list or tuple of those: a PIL image, an object of a class, a set, an
    array of strings; dicts whose keys differ from sample to sample. Only where a loader with the default collate is
    iterated.
Why it hurts
    The loader raises TypeError "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists", or an
    error about NoneType, once such a sample is drawn.
Example
    def __getitem__(self, index):
        if self.values[index].isnan().any():
            return None
        return self.values[index]
Use instead
    def collate_present(batch):
        return default_collate([sample for sample in batch if sample is not None])

    loader = DataLoader(dataset, batch_size=32, collate_fn=collate_present)
Fix safety
    Leaving out what is None is what such a dataset means; batches become smaller by that. A batch in which every sample
    is None still fails. Batching the fields of a dataclass is safe, and so is leaving a field None that is None in every
    sample, or ToTensor for images. Keeping sets or objects as a list is offered as unsafe.
References
    torch.utils.data.default_collate, torch.utils.data.DataLoader
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library import vision
from torchsleuth.interp.pipeline import DataFault, Refusal
from torchsleuth.messages import message
from torchsleuth.rules.evidence.loaders import (
    affected,
    below_subsets,
    constructions,
    dataset_text,
    free_name,
    made_here,
    spelled,
    with_collate,
)
from torchsleuth.rules.evidence.returns import returned
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related, Span
from torchsleuth.sifting import any_are, as_kind, first_of
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_literal, keyword_of, nodes_in
from torchsleuth.values import Array, DictValue, Function, Image, Instance, LibraryObject, ListValue, Value

CODE = "TS602"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[int] = set()
    for fault in analysis.trace.data:
        refusal = next((item for item in fault.refusals if item.kind in ("type", "keys")), None)
        if fault.kind != "collate" or refusal is None or id(fault.getitem or fault.dataset) in seen:
            continue
        seen.add(id(fault.getitem or fault.dataset))
        if refusal.kind == "type" and refusal.values[0] is None and not refusal.path:
            yield _none(analysis, fault)
            continue
        places = (*made_at(analysis, fault), *made_here(analysis, fault.loader))
        yield Finding(fault.at.span, _text(fault, refusal), places, _candidates(analysis, fault, refusal))
    yield from _none_for_errors(analysis, seen)


def _none_for_errors(analysis: Analysis, seen: set[int]) -> Iterator[Finding]:
    """A ``__getitem__`` that returns None where something raises, for a loader that makes its batches by default."""
    for _, loader, _ in constructions(analysis):
        dataset = as_kind(below_subsets(loader.given(0, "dataset"))[0], Instance)
        batched = loader.given(1, "batch_size", 1) is not None and "batch_sampler" not in loader.kwargs
        if dataset is None or not batched or loader.given(6, "collate_fn", None) is not None:
            continue
        method = as_kind(dataset.cls.slots.get("__getitem__"), Function)
        handlers = nodes_in(method.node, ast.ExceptHandler) if method is not None else ()
        written = next((one for handler in handlers if (one := _none_in(handler)) is not None), None)
        if method is not None and written is not None and not {id(method), id(dataset)} & seen:
            seen.add(id(method))
            text = message("data.none", dataset=dataset_text(dataset))
            at = analysis.source_of(method.path).span(written)
            yield Finding(at, text, made_here(analysis, loader), _present(analysis, [loader], "sample"), "warning")


def _candidates(analysis: Analysis, fault: DataFault, refusal: Refusal) -> Iterator[Candidate]:
    if refusal.values[0] is None and fault.getitem is not None:
        yield from returned(analysis, fault.getitem.path)
    if isinstance(refusal.values[0], Image):
        yield from _as_tensor(analysis, fault)
    elif refusal.kind == "type":
        yield from _collated(analysis, fault, refusal)


def _text(fault: DataFault, refusal: Refusal) -> str:
    name = dataset_text(fault.dataset)
    if refusal.kind == "keys":
        return message("data.keys", dataset=name, key=repr(refusal.path[-1]))
    return message("data.type", dataset=name, kind=_kind(refusal.values[0]), where=where(refusal.path))


def where(path: tuple[object, ...]) -> str:
    return "".join(f"[{part!r}]" for part in path) and f" in sample{''.join(f'[{part!r}]' for part in path)}"


def _kind(value: Value) -> str:
    if value is None:
        return "None"
    match value:
        case Image():
            return "a PIL image"
        case Instance():
            return f"an object of {value.cls.name}"
        case Array():
            return "an array of strings or objects"
    return "a set" if isinstance(value, ListValue) else f"a {type(value).__name__.lower()}"


def made_at(analysis: Analysis, fault: DataFault) -> tuple[Related, ...]:
    """The method that makes the samples."""
    method = fault.getitem
    if method is None or isinstance(method.node, ast.Lambda):
        return ()
    last = list(nodes_in(method.node, ast.Return))
    source = analysis.source_of(method.path)
    return (source.span(last[-1] if last else method.node.body[-1]).related(message("data.getitem")),)


# -- what is no tensor in a sample ------------------------------------------------------------------


def _collated(analysis: Analysis, fault: DataFault, refusal: Refusal) -> Iterator[Candidate]:
    """A collate function that batches the fields of an object, or keeps what cannot be batched as it is."""
    loaders = affected(analysis, fault)
    if not loaders or loaders[0].site is None:
        return
    path = loaders[0].site.span.path
    collate, imports = spelled(analysis, path, "torch.utils.data.default_collate")
    value, sample = refusal.values[0], fault.sample
    body: list[str] | None = None
    safe, title = True, message("fix.keep_list")
    if isinstance(value, Instance) and not refusal.path:
        body, title = _fields(value, collate), message("fix.fields", name=value.cls.name)
        if _is_unpacked(analysis, fault, len(value.slots)):
            parts = ", ".join(f"{collate}([sample.{field} for sample in batch])" for field in value.slots)
            body = [f"return {parts}"] if value.slots else None
    elif value is None and len(refusal.path) == 1:
        body, title = _without_none(sample, collate), message("fix.keep_none")
    elif len(refusal.path) == 1 and not isinstance(value, Image):
        body, safe = _as_list(sample, refusal, collate), False
    if body is None:
        return
    name = free_name(analysis, path, "collate_samples")
    changes = with_collate(analysis, loaders, name, body, imports)
    if value is None and len(refusal.path) == 1 and not _is_always_none(fault, refusal.path[0]):
        yield from _left_out(analysis, fault, f"sample[{refusal.path[0]!r}]")
        safe = False
    if changes:
        yield Candidate(title, changes, safe)


def _as_tensor(analysis: Analysis, fault: DataFault) -> Iterator[Candidate]:
    """ToTensor as the transform of the dataset that was given none, or behind those that it was given."""
    dataset = fault.dataset
    site = dataset.site if isinstance(dataset, Instance | LibraryObject) else None
    if site is None or site.call is None:
        return
    path, call = site.span.path, site.call
    convert, imports = spelled(analysis, path, "torchvision.transforms.ToTensor")
    given = keyword_of(call, "transform")
    transform = _transform_of(dataset)
    if given is None and transform is None:
        if vision.is_dataset(dataset) or (isinstance(dataset, Instance) and _takes_transform(dataset)):
            text = f"transform={convert}()"
            edit = edits.add_argument(analysis.source_of(path), call, text)
            yield Candidate(message("fix.add_argument", argument=text), (*imports, edit))
    elif isinstance(transform, LibraryObject) and transform.site is not None:
        source, made = transform.site.source, transform.site.call
        listed = (
            as_kind(made.args[0], ast.List)
            if made is not None and made.args and transform.type_name == "Compose"
            else None
        )
        text = f"{source.segment(made.func).rpartition('.')[0]}.ToTensor()" if made is not None else ""
        if listed is not None and listed.elts and not text.startswith("."):
            edit = edits.insert_after_node(source, listed.elts[-1], f", {text}")
            yield Candidate(message("fix.insert", text=text), (edit,))


def _transform_of(dataset: Value) -> Value:
    if isinstance(dataset, Instance):
        return dataset.slots.get("transform")
    return (
        vision.option(dataset, "transform")
        if isinstance(dataset, LibraryObject) and vision.is_dataset(dataset)
        else None
    )


def _takes_transform(dataset: Instance) -> bool:
    """Whether the constructor of a dataset has a parameter for a transform."""
    made = as_kind(
        next((part for part in dataset.cls.node.body if getattr(part, "name", "") == "__init__"), None), ast.FunctionDef
    )
    arguments = [*made.args.args, *made.args.kwonlyargs] if made is not None else []
    return any(argument.arg == "transform" for argument in arguments)


def _is_always_none(fault: DataFault, place: object) -> bool:
    """Whether ``__getitem__`` returns None in this place as it is written."""
    for part in ast.walk(fault.getitem.node) if fault.getitem is not None else ():
        value = part.value if isinstance(part, ast.Return) else None
        match value:
            case ast.Dict():
                for key, item in zip(value.keys, value.values):
                    if isinstance(key, ast.Constant) and key.value == place:
                        return isinstance(item, ast.Constant)
            case ast.Tuple() if isinstance(place, int) and place < len(value.elts):
                return isinstance(value.elts[place], ast.Constant)
    return True


def _is_unpacked(analysis: Analysis, fault: DataFault, count: int) -> bool:
    """Whether the loop over the loader gives as many names to a batch: ``for atoms, energy in loader``."""
    trail = analysis.trail(fault.at.span.path, fault.at.node) if fault.at.node is not None else []
    loop = first_of(reversed(trail), ast.For)
    return loop is not None and any(
        len(part.elts) == count and not any_are(part.elts, ast.Tuple) for part in nodes_in(loop.target, ast.Tuple)
    )


def _fields(value: Instance, collate: str) -> list[str] | None:
    """An object of the same class whose fields are batches, where the constructor takes the fields by name."""
    if not value.cls.is_dataclass or not value.slots:
        return None
    lines = [f"    {field}={collate}([sample.{field} for sample in batch])," for field in value.slots]
    return [f"return {value.cls.name}(", *lines, ")"]


def _without_none(sample: Value, collate: str) -> list[str] | None:
    """A field that is None stays None."""
    match sample:
        case DictValue() if sample.items is not None:
            return [
                "return {",
                f"    key: None if value is None else {collate}([sample[key] for sample in batch])",
                "    for key, value in batch[0].items()",
                "}",
            ]
        case tuple():
            return [f"return [None if column[0] is None else {collate}(column) for column in zip(*batch)]"]
    return None


def _as_list(sample: Value, refusal: Refusal, collate: str) -> list[str] | None:
    """One field stays a list."""
    place = refusal.path[0]
    match sample:
        case DictValue() if sample.items is not None:
            entries = [
                f"    {key!r}: [sample[{key!r}] for sample in batch],"
                if key == place
                else f"    {key!r}: {collate}([sample[{key!r}] for sample in batch]),"
                for key in sample.items
            ]
            return ["return {", *entries, "}"]
        case tuple():
            parts = [
                f"list(columns[{index}])" if index == place else f"{collate}(columns[{index}])"
                for index in range(len(sample))
            ]
            return ["columns = list(zip(*batch))", f"return {', '.join(parts)}"]
    return None


# -- None ------------------------------------------------------------------------------------------


def _none(analysis: Analysis, fault: DataFault) -> Finding:
    method = fault.getitem
    name = dataset_text(fault.dataset)
    written = _returned_none(method)
    iterated = fault.at.span.related(message("data.iterated"))
    if method is not None and written is not None:
        at: Span = analysis.source_of(method.path).span(written)
        places: tuple[Related, ...] = (iterated, *made_here(analysis, fault.loader))
    else:
        at, places = fault.at.span, (*made_at(analysis, fault), *made_here(analysis, fault.loader))
    if fault.sample is None:
        return Finding(at, message("data.none.always", dataset=name), places, _returning(analysis, method))
    return Finding(at, message("data.none", dataset=name), places, _left_out(analysis, fault))


def _returned_none(method: Function | None) -> ast.Return | None:
    return _none_in(method.node) if method is not None else None


def _none_in(tree: ast.AST) -> ast.Return | None:
    """The first ``return None`` in a part of a method."""
    returns = nodes_in(tree, ast.Return)
    return next((one for one in returns if one.value is None or is_literal(one.value, None)), None)


def _left_out(analysis: Analysis, fault: DataFault, what: str = "sample") -> Iterator[Candidate]:
    yield from _present(analysis, affected(analysis, fault), what)


def _present(analysis: Analysis, loaders: list[LibraryObject], what: str) -> Iterator[Candidate]:
    """A collate function that leaves None out."""
    if not loaders or loaders[0].site is None:
        return
    path = loaders[0].site.span.path
    collate, imports = spelled(analysis, path, "torch.utils.data.default_collate")
    name = free_name(analysis, path, "collate_present")
    body = [f"batch = [sample for sample in batch if {what} is not None]", f"return {collate}(batch)"]
    changes = with_collate(analysis, loaders, name, body, imports)
    if changes:
        yield Candidate(message("fix.drop_samples"), changes)


def _returning(analysis: Analysis, method: Function | None) -> Iterator[Candidate]:
    """A method that makes a sample and forgets to return it: the value of its last statement is meant."""
    if method is None or isinstance(method.node, ast.Lambda):
        return
    last = method.node.body[-1]
    source = analysis.source_of(method.path)
    if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Constant | ast.Yield):
        edit = edits.insert(source, source.start_of(last), "return ")
        yield Candidate(message("fix.return", text=source.segment(last)), (edit,))
    if isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        name = last.targets[0].id
        yield Candidate(message("fix.return", text=name), (edits.insert_line_after(source, last, f"return {name}"),))


RULE = Rule(FAULTS[CODE], find)
