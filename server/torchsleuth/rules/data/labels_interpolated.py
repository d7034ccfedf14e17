"""labels-interpolated: the numbers of classes in a mask are averaged when it is resized.

What it finds
    A mask of classes that is resized by interpolation: `resize()` and `Resize` of torchvision without `NEAREST`,
    `F.interpolate(mode="bilinear")`, where the same mask is read as integers in the file and no threshold is applied to it.
Why it hurts
    Between class 1 and class 5 lie 2, 3 and 4: at the border of two objects the mask gets classes that are not there. Nothing
    is raised.
Example
    mask = TF.resize(Image.open(path), [256, 256])
    return torch.from_numpy(np.array(mask, dtype=np.int64))
Use instead
    mask = TF.resize(Image.open(path), [256, 256], interpolation=TF.InterpolationMode.NEAREST)
    return torch.from_numpy(np.array(mask, dtype=np.int64))
Fix safety
    Safe: each pixel keeps a class that is there. An image with a palette is not interpolated, whatever is asked for.
References
    torchvision.transforms.functional.resize, torchvision.transforms.Resize
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operands import short
from torchsleuth.rules.evidence.pixels import classes_of_pixels
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    called,
    defaults_of,
    every_parameter,
    is_attribute,
    is_method_call,
    is_name,
    is_reference,
    is_text,
    last_word,
    nodes_in,
    parts_of_key,
    plain_name,
)
from torchsleuth.syntax.names import Names
from torchsleuth.syntax.trees import Index

CODE = "TS635"
_MASKS = frozenset("mask masks label labels seg segmentation target gt annotation".split())
"""Words for what holds the class of each pixel."""
_MIXING = frozenset("bilinear bicubic linear trilinear area".split())
_INTEGERS = frozenset("int64 long uint8 int32 int".split())
_INDICES = frozenset("int64 long".split())
"""Integers that no image is read as: those that are looked up, or that a loss takes as classes."""
_TWO = 2
"""Classes between which there is no other one."""
_FUNCTIONAL = ("torchvision.transforms.functional", "torchvision.transforms.v2.functional")
_LAYERS = (
    "torchvision.transforms.Resize",
    "torchvision.transforms.v2.Resize",
    "torchvision.transforms.transforms.Resize",
)
_INTERPOLATE = "torch.nn.functional.interpolate"


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if "resize" not in source.text.lower() and "interpolate" not in source.text:
        return
    yield from _of_pictures(analysis)
    classes = _read_as_integers(index.nodes[0])
    names = Names(analysis.tree(source.path)) if classes else None
    for use in names.uses if names is not None else ():
        call = use.call
        if call is None:
            continue
        if use.path.endswith(".resize") and use.path.startswith(_FUNCTIONAL) or use.path == _INTERPOLATE:
            resized = [call] if _mixes(call, use.path, index) else []
        elif use.path in _LAYERS and _mixes(call, use.path, index):
            resized = list(_applied(index.nodes[0], call))
        else:
            continue
        for one in resized:
            name = _mask_in(one)
            if name in classes:
                exact = use.path == _INTERPOLATE or classes_of_pixels(analysis) > _TWO
                text = message("labels.interpolated", mask=f"`{name}`")
                place = source.span(classes[name]).related(message("labels.interpolated.read"))
                fixes = tuple(_nearest(analysis, one, call, use.path))
                yield Finding(source.span(one), text, (place,), fixes, severity=None if exact else "hint")


def _of_pictures(analysis: Analysis) -> Iterator[Finding]:
    """``picture.resize(size, Image.BILINEAR)`` of a picture of PIL, of which the same function makes an array of class numbers."""
    source, index = analysis.source, analysis.index(analysis.source.path)
    for function in index.of_type(ast.FunctionDef):
        arrays = {
            target.id: name
            for one in nodes_in(function, ast.Assign)
            for target, value in assigned_pairs(one)
            if isinstance(target, ast.Name) and called(value) in ("array", "asarray") and isinstance(value, ast.Call)
            if (name := plain_name(value.args[0]) if len(value.args) == 1 and not value.keywords else None) is not None
        }
        classes = {arrays.get(name, name): place for name, place in _read_as_integers(function, _INDICES).items()}
        for call in nodes_in(function, ast.Call):
            mode = argument_of(call, 1, "resample") if is_method_call(call, "resize") else None
            name = plain_name(call.func.value) if is_method_call(call) else None
            if name not in classes or not isinstance(mode, ast.Attribute) or mode.attr.lower() not in _MIXING:
                continue
            flag = next((one for one in index.trail(classes[name]) if isinstance(one, ast.If)), None)
            new = f"{source.segment(mode.value)}.NEAREST"
            asked = plain_name(flag.test) if flag is not None else None
            if asked is not None and asked in [one.arg for one in every_parameter(function.args)]:
                new = f"{new} if {asked} else {source.segment(mode)}"
            place = source.span(classes[name]).related(message("labels.interpolated.read"))
            fix = replacement(source, mode, new)
            yield Finding(source.span(call), message("labels.interpolated", mask=f"`{name}`"), (place,), (fix,))


def _read_as_integers(tree: ast.AST, kinds: frozenset[str] = frozenset()) -> dict[str, ast.expr]:
    """The names of masks whose values a file reads as they are, as integers, and where; not those that are compared. `kinds`: of these
    integers alone."""
    found: dict[str, ast.expr] = {}
    for call in nodes_in(tree, ast.Call):
        inner: ast.expr | None = None
        kind = ""
        if called(call) in ("array", "asarray", "as_tensor", "tensor") and call.args:
            dtype = argument_of(call, 1, "dtype")
            kind = last_word(dtype) if dtype is not None else ""
            inner = call.args[0] if kind in _INTEGERS else None
        elif is_method_call(call, "long", "astype", "to"):
            words = (
                ["long"] if is_method_call(call, "long") else [last_word(one) for one in call.args if is_reference(one)]
            )
            kind = next((word for word in words if word in _INTEGERS), "")
            inner = call.func.value if kind else None
        while isinstance(inner, ast.Call | ast.Subscript):
            if isinstance(inner, ast.Subscript):
                inner = inner.value
            elif is_method_call(inner, "squeeze", "unsqueeze", "float", "numpy", "copy"):
                inner = inner.func.value
            else:
                inner = inner.args[0] if inner.args else None
        name = plain_name(inner)
        if kinds and kind not in kinds:
            continue
        if name is not None and (kind in _INDICES or set(name.lower().split("_")) & _MASKS):
            found.setdefault(name, call)
    for node in nodes_in(tree, ast.Compare):
        for part in nodes_in(node, ast.Name):
            found.pop(part.id, None)
    return found


def _mixes(call: ast.Call, path: str, index: Index) -> bool:
    """Whether a call averages pixels: by what it says, or else by its default."""
    if path == _INTERPOLATE:
        mode = argument_of(call, 3, "mode")
        return is_text(mode) and mode.value in _MIXING
    mode = argument_of(call, 1 if path in _LAYERS else 2, "interpolation")
    return mode is None or last_word(_by_default(mode, index)).lower() in _MIXING


def _by_default(mode: ast.expr, index: Index) -> ast.expr:
    """An option, as it is where the function or the object's constructor is called without it."""
    if isinstance(mode, ast.Attribute) and is_name(mode.value, "self"):
        owner = next((one for one in reversed(index.trail(mode)) if isinstance(one, ast.ClassDef)), None)
        given = [
            (method, value)
            for method in (of_kind(owner.body, ast.FunctionDef) if owner is not None else ())
            for statement in nodes_in(method, ast.Assign)
            for target, value in assigned_pairs(statement)
            if is_attribute(target, mode.attr)
        ]
        if len(given) != 1 or given[0][0].name != "__init__":
            return mode
        function: ast.FunctionDef | None = given[0][0]
        mode = given[0][1]
    else:
        function = next((one for one in reversed(index.trail(mode)) if isinstance(one, ast.FunctionDef)), None)
    name = plain_name(mode)
    return defaults_of(function.args).get(name, mode) if function is not None and name is not None else mode


def _applied(tree: ast.AST, made: ast.Call) -> Iterator[ast.Call]:
    """The calls of the name or the attribute that a transform is bound to, and of itself."""
    pairs = [pair for part in nodes_in(tree, ast.Assign) for pair in assigned_pairs(part)]
    texts = {ast.unparse(target) for target, value in pairs if value is made}
    for call in nodes_in(tree, ast.Call):
        if call.func is made or is_reference(call.func) and ast.unparse(call.func) in texts:
            yield call


def _mask_in(call: ast.Call) -> str | None:
    """The name of the mask that is resized: what is given, or what the result is bound to."""
    given = argument_of(call, 0, "img", "inpt", "input")
    while True:
        if is_method_call(given, "float", "unsqueeze", "to"):
            given = given.func.value
        elif isinstance(given, ast.Subscript) and all(ast.unparse(one) == "None" for one in parts_of_key(given)):
            given = given.value
        else:
            return plain_name(given)


def _nearest(analysis: Analysis, call: ast.Call, made: ast.Call, path: str) -> Iterator[Candidate]:
    """The same call with the nearest pixel."""
    source = analysis.source
    mode = argument_of(made, 3, "mode") if path == _INTERPOLATE else None
    if mode is not None:
        text = '"nearest"'
        yield Candidate(
            message("fix.replace", old=source.segment(mode), new=text), (edits.replace(source, mode, text),)
        )
        return
    written = first_of((word.value for word in made.keywords if word.arg == "interpolation"), ast.Attribute)
    mode = _by_default(written, analysis.index(source.path)) if call is made and written is not None else None
    if written is not None and isinstance(mode, ast.Attribute):
        new = f"{source.segment(mode.value)}.NEAREST"
        title = message("fix.replace", old=source.segment(written), new=new)
        yield Candidate(title, (edits.replace(source, written, new),))
    elif call is made and is_reference(call.func) and isinstance(call.func, ast.Attribute):
        option = f"interpolation={source.segment(call.func.value)}.InterpolationMode.NEAREST"
        yield Candidate(message("fix.add", text=option), (edits.add_argument(source, call, option),))
    elif isinstance(made.func, ast.Attribute) and call is not made and call.args:
        # Another transform for the mask, of the size that the first one has.
        size, module = argument_of(made, 0, "size"), source.segment(made.func.value)
        if size is not None:
            held = source.segment(call.func)
            new = f"{module}.Resize({held}.size, interpolation={module}.InterpolationMode.NEAREST)"
            text = f"{new}({source.segment(call.args[0])})"
            yield Candidate(
                message("fix.replace", old=source.segment(call), new=short(text)), (edits.replace(source, call, text),)
            )


RULE = Rule(FAULTS[CODE], find)
