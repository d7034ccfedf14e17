"""Repairs by the message alone: how the failing call, or one that led to it, is to be written instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.constructor import constructor_call
from torchsleuth.errors.fixes import add_argument, append, append_in, fitted, remove_keyword, replace
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_assignment,
    is_attribute,
    is_binary,
    is_dotted,
    is_method_call,
    is_spread,
    last_word,
    names_in,
    nodes_in,
    plain_name,
)
from torchsleuth.synthesis.shapes import transposed

Builder = Callable[[Case, "re.Match[str]"], Iterator[Fix]]
_DDP = ("DistributedDataParallel", "DDP")


def by_message(case: Case, builders: tuple[tuple[str, Builder], ...]) -> Iterator[Fix]:
    """The fixes of those builders whose expression the message matches."""
    for expression, build in builders:
        found = re.search(expression, case.crash["message"], re.DOTALL)
        if found is not None:
            yield from build(case, found)


def files_of(case: Case) -> list[CrashFrame]:
    """A frame of each file that was running."""
    return list({frame.path: frame for frame in reversed(case.frames)}.values())


def calls_of(case: Case, *names: str) -> Iterator[tuple[CrashFrame, ast.Call]]:
    for frame in files_of(case):
        for node in frame.all(ast.Call):
            if called(node) in names:
                yield frame, node


def _superfluous(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.pool(x, mask)`` → ``self.pool(x)``, where one argument is all that it takes."""
    node, extra = case.frame.call, int(found[2]) - int(found[1])
    if node is None or is_spread(node.args):
        return
    if 0 < extra < len(node.args):
        source = case.frame.source
        dropped = ", ".join(case.frame.text(item) for item in node.args[-extra:])
        start, end = source.end_of(node.args[-extra - 1]), source.end_of(node.args[-1])
        title = message("fix.remove_argument", argument=dropped)
        yield Fix(title, (Edit(source.path, start, end, ""),), safe=False)


def _missing(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.decoder(x)`` → ``self.decoder(x, mask)``, where a variable of the name of the missing parameter is there."""
    node = case.frame.call
    names = re.findall(r"'(\w+)'", found[1])
    known = names_in(case.frame.enclosing)
    known |= {part.arg for part in nodes_in(case.frame.enclosing, ast.arg)}
    if node is not None and names and known >= set(names):
        text = ", ".join(names if not node.keywords else [f"{name}={name}" for name in names])
        yield add_argument(case.frame.source, node, text, safe=False)


def _without_group(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``DDP(net)`` → ``net``: one process has nobody to average its gradients with."""
    for frame, call in calls_of(case, *_DDP):
        if call.args and not isinstance(call.args[0], ast.Starred):
            yield replace(frame, call, frame.text(call.args[0]), safe=False)


def _unused_parameters(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    text = "find_unused_parameters=True"
    for frame, call in calls_of(case, *_DDP):
        yield add_argument(frame.source, call, text, safe=False)


def _no_full_graph(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.compile(net, fullgraph=True)`` → without the last one: the compiler may then break the graph there."""
    for frame, call in calls_of(case, "compile"):
        if any(item.arg == "fullgraph" and getattr(item.value, "value", None) is True for item in call.keywords):
            yield from remove_keyword(frame.source, call, "fullgraph")


def _no_grad(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.inference_mode()`` → ``torch.no_grad()``."""
    for frame in files_of(case):
        for node in ast.walk(frame.tree):
            name = last_word(node)
            if name == "inference_mode" and isinstance(node, ast.Attribute):
                yield replace(frame, node, f"{frame.text(node.value)}.no_grad")


def _of_numbers(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.stack(losses)`` → ``torch.tensor(losses)``, where they are numbers."""
    node = case.frame.call
    if node is not None and called(node) in ("stack", "cat", "vstack", "hstack") and node.args:
        function = case.frame.text(node.func)
        if function.startswith("torch."):
            yield replace(case.frame, node, f"torch.tensor({case.frame.text(node.args[0])})")


def _one_number(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``self.log("errors", errors)`` → ``self.log("errors", errors.mean())``, where one number is wanted."""
    value = case.frame.argument(1, "value")
    if value is not None and case.frame.tensor(value) is not None:
        yield append(case.frame, value, ".mean()", safe=False)


def _rank_from_zero(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``rank=rank`` → ``rank=rank - 1``, where ranks are counted from one."""
    rank = case.frame.argument(2, "rank")
    if rank is not None and int(found[1]) == int(found[2]) + 1:
        yield append(case.frame, rank, " - 1", safe=False)


def _padded(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.tensor(rows)`` → ``pad_sequence([torch.tensor(row) for row in rows], batch_first=True)``."""
    node = case.frame.call
    if found[2] == "1" and node is not None and len(node.args) == 1:
        made, rows = case.frame.text(node.func), case.frame.text(node.args[0])
        options = "".join(f", {case.frame.text(keyword)}" for keyword in node.keywords)
        new = f"torch.nn.utils.rnn.pad_sequence([{made}(row{options}) for row in {rows}], batch_first=True)"
        yield replace(case.frame, node, new, safe=False)


def _numbers_of_array(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.from_numpy(rows)`` → ``torch.from_numpy(rows.astype("float32"))``."""
    given = case.frame.argument(0, "data")
    if given is not None:
        yield append(case.frame, given, '.astype("float32")')


def _clamped_lengths(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """Lengths for a CTC loss: at most the time steps that there are."""
    prediction, lengths = (
        as_kind(case.frame.argument(0, "log_probs"), ast.Name),
        case.frame.argument(2, "input_lengths"),
    )
    if lengths is not None and case.frame.tensor(lengths) is not None:
        longest = f"{case.frame.text(prediction)}.size(0)" if prediction is not None else found[1]
        yield append(case.frame, lengths, f".clamp(max={longest})", safe=False)


def _with_memory(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``nn.Linear(2, 3, device="meta")`` → without a device."""
    built = constructor_call(case)
    if built is not None:
        site, call = built
        for keyword in call.keywords:
            if keyword.arg == "device" and "meta" in site.source.segment(keyword):
                yield from remove_keyword(site.source, call, "device")


def _scalar_result(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """The function that ``grad(f)`` differentiates returns the mean of what it has returned."""
    names = {
        argument.id
        for frame in files_of(case)
        for node in ast.walk(frame.tree)
        if called(node) in ("grad", "value_and_grad", "grad_and_value") and isinstance(node, ast.Call)
        for argument in of_kind(node.args[:1], ast.Name)
    }
    for frame in files_of(case):
        for function in frame.all(ast.FunctionDef):
            if function.name in names:
                returned = [node.value for node in nodes_in(function, ast.Return)]
                if len(returned) == 1 and returned[0] is not None:
                    yield append_in(frame.source, returned[0], ".mean()", safe=False)


def _chosen_by_tensor(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``a if (x > 0).item() else b`` → ``torch.where((x > 0), a, b)``, which can be computed for all samples at once."""
    frame = case.frame
    for node in nodes_in(frame.statement, ast.IfExp) if frame.statement is not None else ():
        if items := [part for part in ast.walk(node.test) if called(part) == "item"]:
            test = frame.text(node.test)
            for item in items:
                assert is_method_call(item)
                test = test.replace(frame.text(item), frame.text(item.func.value))
            yield replace(frame, node, f"torch.where({test}, {frame.text(node.body)}, {frame.text(node.orelse)})")


def shape_in(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", text)]


def _turned_mask(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``hidden[mask]`` → ``hidden[mask.T]``"""
    node = as_kind(case.frame.node, ast.Subscript)
    if node is not None:
        whole = tuple(shape_in(found[2]))
        mask = case.frame.tensor(node.slice)
        yield from fitted(case.frame, node.slice, mask, lambda shape: tuple(shape) == whole[: len(shape)], transposed)


def _not_none(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``h + self.aux.weight`` → ``h + (self.aux.weight if self.aux is not None else 0)``; a statement on its own only where
    there is something."""
    node, frame = case.frame.node, case.frame
    if not isinstance(node, ast.Attribute | ast.Call):
        return
    nothing = as_kind(node.value if isinstance(node, ast.Attribute) else node.func, ast.Attribute)
    if nothing is None:
        return
    name = frame.text(nothing)
    yield from _flag_given(case, nothing)
    trail = edits.path_to(frame.tree, node)
    for outer, inner in zip(reversed(trail[:-1]), reversed(trail)):
        if is_binary(outer, ast.Add, ast.Sub) and isinstance(inner, ast.expr):
            yield replace(frame, inner, f"({frame.text(inner)} if {name} is not None else 0)", safe=False)
            return
    statement = frame.statement
    if isinstance(statement, ast.Expr | ast.AugAssign) or _refines(statement):
        assert statement is not None
        title = message("fix.only_if", condition=f"{name} is not None")
        yield Fix(title, edits.wrap(frame.source, statement, f"if {name} is not None:"), safe=False)


def _refines(statement: ast.stmt | None) -> bool:
    """``x = self.norm(x)``: the name has a value before."""
    if not is_assignment(statement):
        return False
    target = statement.targets[0]
    used = names_in(statement.value)
    return plain_name(target) in used


def _flag_given(case: Case, nothing: ast.expr) -> Iterator[Fix]:
    """``Net()`` → ``Net(aux=True)``, where ``self.aux = … if aux else None``."""
    if not is_dotted(nothing):
        return
    for frame in files_of(case):
        for kind in frame.all(ast.ClassDef):
            for node in ast.walk(kind):
                if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp)):
                    continue
                made, flag = node.value, as_kind(node.value.test, ast.Name)
                sets = any(is_attribute(item, nothing.attr) for item in node.targets)
                if sets and flag is not None and getattr(made.orelse, "value", 0) is None:
                    for place, call in calls_of(case, kind.name):
                        text = f"{flag.id}=True"
                        if not call.args and not any(item.arg == flag.id for item in call.keywords):
                            yield add_argument(place.source, call, text, safe=False)


_CASTS = {
    "bfloat16": ("torch.bfloat16", ".bfloat16()"),
    "float16": ("torch.float16", "torch.half", ".half()"),
    "float64": ("torch.float64", "torch.double", ".double()"),
}


def _without_cast(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``args[0].to(torch.bfloat16)`` → ``args[0]``, where the layer got what the user's code had not given it."""
    given = case.input
    weights = (case.module or {}).get("tensors", {})
    if given is None or any(tensor["dtype"] == given["dtype"] for tensor in weights.values()):
        return
    for frame in files_of(case):
        for node in ast.walk(frame.tree):
            if not is_method_call(node):
                continue
            text = frame.text(node)
            receiver = frame.text(node.func.value)
            casts = _CASTS.get(given["dtype"], ())
            if any(text in (f"{receiver}.to({cast})", f"{receiver}{cast}") for cast in casts):
                yield replace(frame, node, receiver, safe=False)


BUILDERS: tuple[tuple[str, Builder], ...] = (
    (r"takes (\d+) positional arguments? but (\d+) (?:was|were) given", _superfluous),
    (r"xpected at most (\d+) arguments? but found (\d+) positional", _superfluous),
    (r"missing \d+ required positional arguments?: (.+)", _missing),
    (r"Default process group has not been initialized", _without_group),
    (r"Expected to have finished reduction in the prior iteration", _unused_parameters),
    (r"Data-dependent|fullgraph|Graph break|Unsupported|Failed to trace", _no_full_graph),
    (r"[Ii]nference tensor", _no_grad),
    (r"expected Tensor as element \d+ in argument 0, but got (?:float|int)", _of_numbers),
    (r"the tensor must have a single element", _one_number),
    (r"Invalid rank (\d+), rank should be in the interval \[0, (\d+)\]", _rank_from_zero),
    (r"expected sequence of length (\d+) at dim (\d+) \(got (\d+)\)", _padded),
    (r"can't convert np\.ndarray of type numpy\.object_", _numbers_of_array),
    (r"Expected input_lengths to have value at most (\d+)", _clamped_lengths),
    (r"\bmeta\b", _with_memory),
    (r"Expected .* to return a (?:scalar|tensor with 0 dims)", _scalar_result),
    (r"vmap: It looks like you're calling \.item\(\)|data-dependent control flow", _chosen_by_tensor),
    (r"shape of the mask \[([\d, ]+)\] at index \d+ does not match .* indexed tensor \[([\d, ]+)\]", _turned_mask),
    (r"'NoneType' object (?:has no attribute '\w+'|is not callable)", _not_none),
    (r"have the same dtype|expected scalar type \w+ but found|Input type", _without_cast),
)
