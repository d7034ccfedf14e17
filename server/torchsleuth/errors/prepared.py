"""Mistakes of a setup that fail in another place: results unpacked in another order, groups that a schedule does not know, a
configuration without a padding token, functions mapped without a rule for random numbers, boxes that were mirrored."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.fixes import add_argument, append_in, replace
from torchsleuth.errors.provenance import made_from
from torchsleuth.errors.reached import Filled, around, bound, note, under_key
from torchsleuth.explanations import BY_INDEX
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_binary,
    is_constant,
    is_display,
    is_dotted,
    is_method_call,
    keyword_of,
    literal,
    names_in,
    nodes_in,
    parts_of_key,
    plain_name,
    returned_by,
)

_OF_SCHEDULE = r"^'?(initial_lr|max_lr|min_lr|base_momentum|max_momentum)'?$"
_SCHEDULES = ("OneCycleLR", "CyclicLR")


def _late_groups(case: Case) -> Iterator[tuple[CrashFrame, ast.Call, ast.Dict]]:
    """The groups that are added to an optimizer, which a schedule that was made before keeps nothing of."""
    if not case.is_below("torch/optim/lr_scheduler"):
        return
    for file in case.files:
        for node in file.all(ast.Call):
            if called(node) == "add_param_group" and node.args:
                group = bound(file, node.args[0])
                if isinstance(group, ast.Dict):
                    yield file, node, group


def _late_groups_here(case: Case) -> Iterator[Related]:
    for file, node, group in _late_groups(case):
        for place in (node, group):
            yield note(file.source, place, "error.late_group", key=case.crash["message"].strip("'"))


def _with_schedule(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``{"params": body, "lr": lr}`` → with what OneCycleLR computes for each group from its learning rate."""
    made = [(file, node) for file in case.files for node in file.all(ast.Call) if called(node) in _SCHEDULES]
    if len(made) != 1 or called(made[0][1]) != "OneCycleLR":
        return
    schedule = made[0][1]
    for file, call, group in _late_groups(case):
        keys = {literal(key): value for key, value in zip(group.keys, group.values) if key is not None}
        if "params" not in keys or not isinstance(call.func, ast.Attribute):
            continue
        given = keys.get("lr")
        rate = file.text(given) if given is not None else f'{file.text(call.func.value)}.defaults["lr"]'
        rate = rate if isinstance(given, ast.Name | ast.Attribute | ast.Constant) else f"({rate})"
        first = f"{file.text(call.func.value)}.param_groups[0]"
        rises = _option(schedule, "div_factor", "25.0") or f'{first}["max_lr"] / {first}["initial_lr"]'
        falls = _option(schedule, "final_div_factor", "1e4") or f'({first}["initial_lr"] / {first}["min_lr"])'
        wanted = {"initial_lr": rate, "max_lr": f"{rate} * {rises}", "min_lr": f"{rate} / {falls}"}
        if _option(schedule, "cycle_momentum", "True") != "False":
            for key, usual in (("base_momentum", "0.85"), ("max_momentum", "0.95")):
                wanted[key] = _option(schedule, key, usual) or f'{first}["{key}"]'
        text = "".join(f', "{key}": {value}' for key, value in wanted.items() if key not in keys)
        edit = edits.insert_after_node(file.source, group.values[-1], text)
        yield Fix(message("fix.add_argument", argument=text[2:62]), (edit,), safe=False)


def _option(call: ast.Call, name: str, default: str) -> str | None:
    """An option of a schedule where it is written as a constant, or its default; None where only the groups that there are show it."""
    given = keyword_of(call, name)
    if given is None:
        return default
    return repr(literal(given.value)) if isinstance(given.value, ast.Constant) else None


def _configurations(case: Case) -> Iterator[tuple[CrashFrame, ast.Call]]:
    """The configurations of models that are made without a padding token."""
    for file in case.files:
        for node in file.all(ast.Call):
            is_made = called(node).endswith("Config") and called(node) not in ("LoraConfig", "BitsAndBytesConfig")
            if is_made and keyword_of(node, "pad_token_id") is None:
                yield file, node


def _configured_here(case: Case) -> Iterator[Related]:
    for file, node in list(_configurations(case))[:2]:
        yield note(file.source, node, "error.no_padding_here")


def _with_padding(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``GPT2Config(…)`` → ``GPT2Config(…, pad_token_id=tokenizer.pad)``, with the number that the script pads with."""
    for file, node in _configurations(case):
        number = _padding(case, file, node)
        if number is not None:
            yield add_argument(file.source, node, f"pad_token_id={number}")


def _padding(case: Case, file: CrashFrame, call: ast.Call) -> str | None:
    """How a script names the number that it pads with: a constant of the module, or an attribute of what is in scope there."""
    for node in file.all(ast.Assign):
        for target in node.targets:
            name = plain_name(target)
            if name is not None and re.fullmatch(r"PAD\w*", name) and is_constant(node.value, int):
                return name
    scope = around(file.tree, call)
    known = {part.arg for part in nodes_in(scope, ast.arg)} | names_in(scope)
    for other in case.files:
        for target in (part for node in other.all(ast.Assign) for part in _flat(node.targets)):
            if is_dotted(target, "self") and re.fullmatch(r"pad(?:_id|_token_id|_idx|_index)?", target.attr):
                kind = next(
                    (part for part in edits.path_to(other.tree, target) if isinstance(part, ast.ClassDef)), None
                )
                owners = [name for name in sorted(known) if kind is not None and _is_of(case, name, kind.name)]
                if len(owners) == 1:
                    return f"{owners[0]}.{target.attr}"
    tokenizers = [name for name in sorted(known) if re.fullmatch(r"tok(?:enizer)?", name)]
    uses = any(f"{name}.pad_token" in other.source.text for name in tokenizers for other in case.files)
    return f"{tokenizers[0]}.pad_token_id" if len(tokenizers) == 1 and uses else None


def _flat(targets: list[ast.expr]) -> Iterator[ast.expr]:
    for target in targets:
        yield from target.elts if is_display(target) else [target]


def _is_of(case: Case, name: str, kind: str) -> bool:
    """Whether a name is that of an object of a class, wherever the script makes one."""
    return any(
        called(node.value) == kind and any(plain_name(target) == name for target in node.targets)
        for file in case.files
        for node in file.all(ast.Assign)
    )


def _mapped(case: Case) -> Iterator[tuple[CrashFrame, ast.Call]]:
    for file in case.files:
        for node in file.all(ast.Call):
            if called(node) in ("vmap", "jacfwd") and keyword_of(node, "randomness") is None:
                yield file, node


def _mapped_here(case: Case) -> Iterator[Related]:
    for file, node in _mapped(case):
        yield note(file.source, node, "error.mapped_here")


def _drawn_for_each(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``vmap(f)`` → ``vmap(f, randomness="different")``: each sample draws its own numbers, as in a batch."""
    for file, node in _mapped(case):
        yield add_argument(file.source, node, 'randomness="different"')


def _mirrored(case: Case) -> Iterator[tuple[CrashFrame, ast.Assign, list[str]]]:
    """``boxes[:, [0, 2]] = width - boxes[:, [0, 2]]``: the left edges become right of the right ones."""
    for file in case.files:
        for node in file.all(ast.Assign):
            target = node.targets[0]
            columns = _columns(target)
            if columns is None or not is_binary(node.value, ast.Sub):
                continue
            if file.text(node.value.right) == file.text(target):
                yield file, node, [file.text(part) for part in columns]


def _columns(node: ast.expr) -> list[ast.expr] | None:
    """``0, 2`` of ``boxes[:, [0, 2]]``"""
    parts = parts_of_key(node)
    last = parts[-1] if len(parts) == 2 else None
    return last.elts if isinstance(last, ast.List) and len(last.elts) == 2 else None


def _sizes_for_corners(case: Case) -> Iterator[tuple[CrashFrame, ast.List | ast.Tuple]]:
    """``[x, y, w, h]``, where the corners ``[x, y, x + w, y + h]`` are wanted."""
    for file in case.files:
        for node in nodes_in(file.tree, ast.List, ast.Tuple):
            names = [plain_name(part) or "" for part in node.elts]
            if len(names) == 4 and isinstance(node.ctx, ast.Load):
                across, down = names[2].lower(), names[3].lower()
                if across in ("w", "width", "bw") and down in ("h", "height", "bh") and names[0] and names[1]:
                    yield file, node


def _converted_boxes(case: Case) -> list[Filled]:
    """The boxes that targets are made with, where they are corners and sizes, which the rest of the script reads as such: the message
    names a box that ends in front of its beginning."""
    found = re.search(r"invalid box \[([-\d., e]+)\]", case.crash["message"])
    numbers = [float(part) for part in found[1].split(",")] if found is not None else []
    if len(numbers) != 4 or not (numbers[2] < numbers[0] or numbers[3] < numbers[1]) or list(_mirrored(case)):
        return []
    made = [(file, bound(file, value)) for file, value in under_key(case, "boxes")]
    return [(file, value) for file, value in made if isinstance(value, ast.Call)]


_ROUNDS = ("floor", "ceil", "round", "trunc", "int", "long", "floor_divide", "rint", "fix")


def _rounded_boxes(case: Case) -> list[tuple[CrashFrame, ast.Call]]:
    """Where the corners of the targets' boxes are rounded, of which the message names a box whose edges have become one."""
    found = re.search(r"invalid box \[([-\d., e]+)\]", case.crash["message"])
    numbers = [float(part) for part in found[1].split(",")] if found is not None else []
    if len(numbers) != 4 or not (numbers[0] == numbers[2] or numbers[1] == numbers[3]):
        return []
    made = [part for file, value in under_key(case, "boxes") for part in made_from(case, file, value)]
    rounded = {id(node): (file, node) for file, node in made if isinstance(node, ast.Call) and called(node) in _ROUNDS}
    return [
        (file, node)
        for file, node in rounded.values()
        if any(isinstance(part, ast.BinOp) for part in ast.walk(node)) or _of_tensor(node)
    ][:2]


def _of_tensor(node: ast.Call) -> bool:
    """``boxes.round()``, ``torch.floor(boxes)``"""
    return isinstance(node.func, ast.Attribute) and called(node) != "int"


def _unrounded(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.floor(boxes * ratio)`` → ``boxes * ratio``"""
    for file, node in _rounded_boxes(case)[:1]:
        inner = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
        if inner is not None:
            plain = isinstance(edits.enclosing_statement(file.tree, node), ast.Assign)
            text = file.text(inner)
            yield replace(file, node, text if plain else f"({text})", safe=False)


def _with_corners(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.tensor(boxes)`` → ``torchvision.ops.box_convert(torch.tensor(boxes), "xywh", "xyxy")``"""
    for file, value in _converted_boxes(case):
        imported = edits.add_import(file.source, file.tree, "import torchvision")
        new = f'torchvision.ops.box_convert({file.text(value)}, "xywh", "xyxy")'
        title = message("fix.replace", old=file.source.on_one_line(value)[:60], new=new[:60])
        yield Fix(title, edits.joined([*imported, edits.replace(file.source, value, new)]), safe=False)


def _boxes_here(case: Case) -> Iterator[Related]:
    for file, value in _converted_boxes(case):
        yield note(file.source, value, "error.boxes_made")
    for file, node, _ in _mirrored(case):
        yield note(file.source, node, "error.mirrored")
    for file, made in _sizes_for_corners(case):
        yield note(file.source, made, "error.box_sizes")
    for file, rounded in _rounded_boxes(case):
        yield note(file.source, rounded, "error.boxes_rounded")


def _as_corners(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    for file, node, columns in _mirrored(case):
        assert isinstance(node.value, ast.BinOp)
        right = _columns(node.value.right)
        if right is not None:
            first, last = right
            edit = edits.replace_between(file.source, first, last, f"{columns[1]}, {columns[0]}")
            title = message("fix.exchange", left=columns[0], right=columns[1])
            yield Fix(title, (edit,))
    for file, made in _sizes_for_corners(case):
        x, y, w, h = (file.text(part) for part in made.elts)
        edit = edits.replace_between(file.source, made.elts[0], made.elts[-1], f"{x}, {y}, {x} + {w}, {y} + {h}")
        yield Fix(message("fix.replace", old=f"{x}, {y}, {w}, {h}", new=f"{x}, {y}, {x} + {w}, {y} + {h}"), (edit,))


def _made_without_dtype(case: Case) -> list[Filled]:
    """The call that made the tensor which is added to, without a dtype: it has the default one, whatever autocast computes in."""
    node = case.frame.node
    into = is_method_call(node) and node.func.attr.startswith(BY_INDEX)
    if not into or not is_method_call(node) or plain_name(node.func.value) is None:
        return []
    made = bound(case.frame, node.func.value)
    if called(made) in ("zeros", "ones", "empty", "full") and isinstance(made, ast.Call):
        if keyword_of(made, "dtype") is None and case.frame.text(made).startswith("torch."):
            return [(case.frame, made)]
    return []


def _dtype_here(case: Case) -> Iterator[Related]:
    for file, made in _made_without_dtype(case):
        yield note(file.source, made, "error.default_dtype")


def _of_same_dtype(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``pooled = torch.zeros(n)`` → ``torch.zeros(n, dtype=m.dtype)``, where ``m`` is there by then; else ``m.to(pooled.dtype)``."""
    frame, node = case.frame, case.frame.node
    if not is_method_call(node) or not node.func.attr.startswith(BY_INDEX):
        return
    own = frame.tensor(node.func.value)
    sources = [
        part
        for part in frame.operands()
        if part is not node.func.value
        and (other := frame.tensor(part)) is not None
        and own is not None
        and other["dtype"] != own["dtype"]
        and "int" not in other["dtype"]
    ]
    if len(sources) != 1:
        return
    source, name = sources[0], plain_name(sources[0])
    for file, made in _made_without_dtype(case):
        given = bound(file, source)
        if isinstance(made, ast.Call) and name is not None and given is not source and given.lineno < made.lineno:
            yield add_argument(file.source, made, f"dtype={name}.dtype", safe=False)
    yield append_in(frame.source, source, f".to({frame.text(node.func.value)}.dtype)")


_NUMPY = (
    "average",
    "mean",
    "median",
    "std",
    "var",
    "sum",
    "min",
    "max",
    "percentile",
    "quantile",
    "float64",
    "float32",
)


def _of_numpy(case: Case, file: CrashFrame, node: ast.expr, depth: int = 0) -> bool:
    """Whether a value is a number of NumPy's: what a function of it gives, or one of the user's that returns that."""
    if isinstance(node, ast.Name):
        scope = around(file.tree, node)
        values = [part.value for part in nodes_in(scope, ast.Assign) if plain_name(part.targets[0]) == node.id]
        return any(_of_numpy(case, file, value, depth + 1) for value in values) if depth < 4 else False
    if not isinstance(node, ast.Call):
        return False
    text = file.text(node.func)
    if re.match(r"(?:np|numpy)\.", text):
        return called(node) in _NUMPY
    if is_method_call(node, *_NUMPY):
        whole = bound(file, node.func.value)
        if isinstance(whole, ast.Call) and re.match(r"(?:np|numpy)\.", file.text(whole.func)):
            return True
    results = [
        (other, value)
        for other in case.files
        for function in other.all(ast.FunctionDef)
        if function.name == called(node)
        for value in returned_by(function)
    ]
    return any(_of_numpy(case, other, value, depth + 1) for other, value in results) if depth < 4 else False


def _saved(case: Case) -> Iterator[tuple[CrashFrame, ast.Call, list[ast.expr]]]:
    """The things that a script saves, with the values in it that are numbers of NumPy's."""
    for file in case.files:
        for node in file.all(ast.Call):
            if file.text(node.func) == "torch.save" and node.args:
                given = bound(file, node.args[0])
                values = given.values if isinstance(given, ast.Dict) else []
                numbers = [value for value in values if _of_numpy(case, file, value)]
                if numbers:
                    yield file, node, numbers


def _saved_here(case: Case) -> Iterator[Related]:
    for file, _, numbers in _saved(case):
        for value in numbers:
            yield note(file.source, value, "error.numpy_saved")


def _saved_as_float(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``torch.save({"best": best})`` → ``float(best)``, which needs no trust to be loaded."""
    for file, _, numbers in _saved(case):
        changes = tuple(edits.replace(file.source, value, f"float({file.text(value)})") for value in numbers)
        old = file.text(numbers[0])
        yield Fix(message("fix.replace", old=old, new=f"float({old})"), changes)


_RANDOMNESS = r"vmap: called random operation"
_BOX = r"bounding boxes should have positive height and width"
_DTYPES = r"must have the same scalar type|dtype to be equal to|same dtype|to have the same dtype"
_SCALAR = r"Unsupported global: GLOBAL numpy\S*\.scalar"

BUILDERS: tuple[tuple[str, Builder], ...] = (
    (_OF_SCHEDULE, _with_schedule),
    (r"if no padding token is defined", _with_padding),
    (_RANDOMNESS, _drawn_for_each),
    (_BOX, _with_corners),
    (_BOX, _as_corners),
    (_BOX, _unrounded),
    (_DTYPES, _of_same_dtype),
    (_SCALAR, _saved_as_float),
)
PLACES = (
    (_OF_SCHEDULE, _late_groups_here),
    (r"if no padding token is defined", _configured_here),
    (_RANDOMNESS, _mapped_here),
    (_BOX, _boxes_here),
    (_DTYPES, _dtype_here),
    (_SCALAR, _saved_here),
)
