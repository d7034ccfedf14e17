"""Working scripts with one fault put in: of data, memory and old or unsafe API."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.changes import (
    Maker,
    expressions,
    method_removed,
    on_accelerator,
    renamed,
    replaced,
    where,
    without_keyword,
)
from benchmarks.mutants import Change, Tree
from torchsleuth.syntax import edits

LOADER = "torch.utils.data.DataLoader"


# -- data ------------------------------------------------------------------------------------------


def _loaders(tree: Tree) -> Iterator[tuple[ast.Call, str]]:
    """Each call of DataLoader with the text of its dataset."""
    for call in tree.calls():
        if tree.paths.get(id(call)) == LOADER and call.args and not isinstance(call.args[0], ast.Starred):
            if all(keyword.arg for keyword in call.keywords):
                yield call, tree.source.segment(call.args[0])


def _option(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _given(*options: str) -> Maker:
    """A loader with more options: ``{data}`` stands for its dataset."""

    def change(tree: Tree) -> Iterator[Change]:
        for call, data in _loaders(tree):
            texts = [option.format(data=data) for option in options]
            if not any(_option(call, text.partition("=")[0]) for text in texts):
                edit = edits.add_argument(tree.source, call, ", ".join(texts))
                yield call.lineno, f"{tree.text(call)} with {', '.join(texts)}", (edit,)

    return change


def _sampled(text: str, keep_shuffle: bool) -> Maker:
    """A shuffled loader with a sampler, beside `shuffle` or in its place."""

    def change(tree: Tree) -> Iterator[Change]:
        for call, data in _loaders(tree):
            shuffle = next((part for part in call.keywords if part.arg == "shuffle"), None)
            if shuffle is None or ast.unparse(shuffle.value) != "True" or tree.names.bound_to("torch") != "torch":
                continue
            if _option(call, "sampler") is not None or not data.isidentifier():
                continue
            sampler = f"sampler={text.format(data=data)}"
            if keep_shuffle:
                edit = edits.add_argument(tree.source, call, sampler)
            else:
                edit = edits.replace(tree.source, shuffle, sampler)
            yield call.lineno, f"{tree.text(call)} with {sampler}", (edit,)

    return change


def _one_left_over(tree: Tree) -> Iterator[Change]:
    """A batch size that leaves one sample for the last batch."""
    for call, data in _loaders(tree):
        size = _option(call, "batch_size")
        if size is not None and data.isidentifier() and _option(call, "drop_last") is None:
            yield tree.put(size, f"len({data}) - 1")


def _same_draws(tree: Tree) -> Iterator[Change]:
    """A dataset with a generator of its own, which each of two worker processes has a copy of."""
    source = tree.source
    for node in (part for part in ast.walk(tree.root) if isinstance(part, ast.ClassDef)):
        methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
        loader = next((call for call, _ in _loaders(tree) if _option(call, "num_workers") is None), None)
        if not {"__init__", "__getitem__"} <= methods.keys() or loader is None:
            continue
        if tree.names.bound_to("torch") == "torch":
            changes = (
                edits.insert_line_after(source, methods["__init__"].body[-1], "self.generator = torch.Generator()"),
                edits.insert_line_before(
                    source, methods["__getitem__"].body[0], "noise = torch.randn(1, generator=self.generator)"
                ),
                edits.add_argument(source, loader, "num_workers=2"),
            )
            yield node.lineno, f"{node.name} draws from a generator of its own, with num_workers=2", changes


def _split_in_order(tree: Tree) -> bool:
    """Whether a script splits its data in their order."""
    return not tree.says("random_split")


def _result_forgotten(tree: Tree) -> Iterator[Change]:
    """``__getitem__`` that does not return its sample."""
    for node in ast.walk(tree.root):
        if isinstance(node, ast.FunctionDef) and node.name == "__getitem__":
            last = node.body[-1]
            if isinstance(last, ast.Return) and last.value is not None:
                yield tree.put(last, f"sample = {tree.source.segment(last.value)}")


# -- memory ----------------------------------------------------------------------------------------


def _appended(tree: Tree) -> Iterator[Change]:
    """``losses.append(loss.item())`` without item()."""
    for call in _recording(tree.root):
        appends = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"
        value = call.args[0] if isinstance(call, ast.Call) and appends and len(call.args) == 1 else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "item":
            if "loss" in ast.unparse(value):
                yield tree.put(value, tree.source.segment(value.func.value))


def _cache_emptied(tree: Tree) -> Iterator[Change]:
    for block, index in expressions(tree, "step"):
        if tree.names.bound_to("torch") == "torch":
            edit = edits.insert_line_after(tree.source, block[index], "torch.cuda.empty_cache()")
            yield block[index].lineno, "torch.cuda.empty_cache() behind step()", (edit,)


def _recording(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are under no ``no_grad()``."""
    pending = [root]
    while pending:
        node = pending.pop()
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        managers = [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
        if not any(
            "no_grad" in ast.unparse(part) or "inference" in ast.unparse(part) for part in (*decorators, *managers)
        ):
            yield node
            pending += ast.iter_child_nodes(node)


def _graph_kept(tree: Tree) -> Iterator[Change]:
    """``total += loss.item()`` without item(), where a graph is recorded."""
    for node in _recording(tree.root):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            for call in ast.walk(node.value):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "item":
                    if "loss" in ast.unparse(call.func.value):
                        yield tree.put(call, tree.source.segment(call.func.value))


def _looked_at(tree: Tree) -> Iterator[Change]:
    """``loss.item()`` behind each step."""
    for block, index in expressions(tree, "step"):
        names = {part.id for part in ast.walk(tree.root) if isinstance(part, ast.Name)}
        if "loss" in names and any("loss" in ast.unparse(part) for part in block[:index]):
            text = "loss.item()"
            yield (
                block[index].lineno,
                f"{text} behind step()",
                (edits.insert_line_after(tree.source, block[index], text),),
            )


def _kept_as_zeros(tree: Tree) -> Iterator[Change]:
    for block, index in expressions(tree, "zero_grad"):
        call = block[index].value  # type: ignore[attr-defined]
        if not call.args and not call.keywords:
            edit = edits.add_argument(tree.source, call, "set_to_none=False")
            yield block[index].lineno, f"{tree.text(call)} with set_to_none=False", (edit,)


# -- old API ---------------------------------------------------------------------------------------


def _called(old: str, new: str) -> Maker:
    """A function of the library written as ``torch.…``, with the same arguments."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in tree.calls():
            if tree.paths.get(id(call), "") == old and tree.names.bound_to("torch") == "torch":
                yield tree.put(call.func, new)

    return change


def _old_amp(name: str) -> Maker:
    """``torch.cuda.amp.…`` with what the new form takes beside the device."""

    def change(tree: Tree) -> Iterator[Change]:
        for call in tree.calls():
            path = tree.paths.get(id(call), "")
            if path in (f"torch.amp.{name}", f"torch.{name}") and tree.names.bound_to("torch") == "torch":
                given = [part for part in call.keywords if part.arg != "device_type"]
                kept = ", ".join(tree.source.segment(part) for part in given)
                yield tree.put(call, f"torch.cuda.amp.{name}({kept})")

    return change


def _imported(statement: str) -> Maker:
    """Another import, behind that of torch."""

    def change(tree: Tree) -> Iterator[Change]:
        for node in tree.root.body:
            if isinstance(node, ast.Import) and [part.name for part in node.names] == ["torch"]:
                yield node.lineno, statement, (edits.insert_line_after(tree.source, node, statement),)

    return change


def _unspecified(tree: Tree) -> Iterator[Change]:
    """Checkpointing that leaves open which kind it is."""
    for call in tree.calls():
        if tree.paths.get(id(call), "").startswith("torch.utils.checkpoint."):
            for keyword in call.keywords:
                if keyword.arg == "use_reentrant":
                    edit = edits.remove_keyword(tree.source, call, keyword)
                    yield call.lineno, f"{tree.text(call)} without use_reentrant", (edit,)


LIBRARY_FAULTS: tuple[tuple[str, tuple[str, ...], Maker], ...] = (
    ("sample not returned", ("TS602",), _result_forgotten),
    ("no __len__", ("TS603",), method_removed("__len__", "Dataset")),
    ("training data not shuffled", ("TS604",), where(_split_in_order, without_keyword("shuffle", LOADER))),
    ("shuffle beside a sampler", ("TS605",), _sampled("torch.utils.data.RandomSampler({data})", True)),
    ("workers with one generator", ("TS607",), _same_draws),
    ("batch of one", ("TS609",), where(lambda tree: not tree.says("IterableDataset"), _one_left_over)),
    ("no set_epoch", ("TS610",), _sampled("torch.utils.data.DistributedSampler({data}, num_replicas=2, rank=0)", False)),
    ("prefetch without workers", ("TS613",), _given("prefetch_factor=2", "num_workers=0")),

    ("graph kept in a sum", ("TS701",), _graph_kept),
    ("graph kept in a list", ("TS701",), _appended),
    ("loss looked at in each step", ("TS702",), where(on_accelerator, _looked_at)),
    ("loader without workers", ("TS703",), without_keyword("num_workers", LOADER)),
    ("cache emptied in the loop", ("TS704",), _cache_emptied),
    ("log of a softmax", ("TS705",), replaced("torch.log(torch.softmax({all}))", "torch.nn.functional.log_softmax", ("dim",))),
    ("log of a sigmoid", ("TS705",), replaced("torch.log(torch.sigmoid({}))", "torch.nn.functional.logsigmoid")),
    ("log of a sum with one", ("TS705",), replaced("torch.log(1 + {})", "torch.log1p")),
    ("log of a sum of exponentials", ("TS705",), replaced("torch.log(torch.sum(torch.exp({}), dim=-1))", "torch.logsumexp", ("dim",))),
    ("gradients kept as zeros", ("TS706",), _kept_as_zeros),

    ("import of what is gone", ("TS801",), _imported("from torch._six import inf")),
    ("clipping without its underscore", ("TS802",), renamed("clip_grad_norm_", "clip_grad_norm")),
    ("initialiser without its underscore", ("TS802",), renamed("normal_", "normal")),
    ("Xavier without its underscore", ("TS802",), renamed("xavier_uniform_", "xavier_uniform")),
    ("norm outside of linalg", ("TS802",), _called("torch.linalg.norm", "torch.norm")),
    ("Cholesky outside of linalg", ("TS802",), _called("torch.linalg.cholesky", "torch.cholesky")),
    ("load of any object", ("TS803",), without_keyword("weights_only", "torch.load")),
    ("checkpoint of unknown kind", ("TS804",), _unspecified),
    ("autocast of CUDA alone", ("TS805",), _old_amp("autocast")),
    ("scaler of CUDA alone", ("TS805",), _old_amp("GradScaler")),
    ("import of what is private", ("TS808",), _imported("from torch.utils.data._utils.collate import default_collate")),
    ("legacy constructor of data", ("TS810",), replaced("torch.FloatTensor({})", "torch.tensor")),
    ("legacy constructor of sizes", ("TS810",), _called("torch.zeros", "torch.Tensor")),
)  # fmt: skip
"""Kind of fault, the codes that name it, and how it is put in."""

LIBRARY_CRASHING = frozenset(
    "sample not returned|no __len__|shuffle beside a sampler|batch of one|prefetch without workers".split("|")
)
"""Kinds that are faults only where they crash."""
