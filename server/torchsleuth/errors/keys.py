"""Keys that a dictionary does not have: which it has, and which of them is meant."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import files_of
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.errors.fixes import add_argument, replace
from torchsleuth.errors.provenance import straight
from torchsleuth.errors.reached import note
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, called, every_parameter, is_method_call, keyword_of, literal, nodes_in

CLOSE = 0.7
"""How alike a key and the one that is meant are."""
MAX_KEYS = 5
"""Keys that a message lists."""


def _missing(case: Case) -> object:
    """The key that was looked up, as the message has it."""
    try:
        return ast.literal_eval(case.crash["message"])
    except (ValueError, SyntaxError):
        return None


def _known(case: Case) -> list[str]:
    """The keys of the dictionary of the failing expression, as far as they are texts."""
    node = case.frame.node
    found = case.frame.value(node.value) if isinstance(node, ast.Subscript) else None
    return of_kind((found or {}).get("keys", ()), str)


def _what_there_is(case: Case) -> dict[str, str]:
    """For the message: what the dictionary is called, and its keys, those first that are written alike."""
    known = _known(case)
    like = _closest(str(_missing(case)), known)
    keys = list(dict.fromkeys([*like, *known]))
    listed = ", ".join(repr(key) for key in keys[:MAX_KEYS]) + (", …" if len(keys) > MAX_KEYS else "")
    return {"name": _owner(case), "keys": listed}


def _owner(case: Case) -> str:
    """The name of the dictionary of the failing expression."""
    node = case.frame.node
    return case.frame.source.on_one_line(node.value)[:40] if isinstance(node, ast.Subscript) else "the dictionary"


def closest_key(case: Case) -> Iterator[Fix]:
    """``batch["labels"]`` → ``batch["label"]``, of the keys that the dictionary had; where the key comes from a variable, wherever it is
    written, or else the key of the dictionary."""
    node, wrong = case.frame.node, _missing(case)
    if not isinstance(node, ast.Subscript) or not isinstance(wrong, str):
        return
    for key in _closest(wrong, _known(case)):
        if isinstance(node.slice, ast.Constant):
            yield replace(case.frame, node.slice, repr(key) if "'" in case.frame.text(node.slice) else f'"{key}"')
        else:
            yield from (
                Fix(message("fix.key", old=old, new=new), changes)
                for old, new in ((wrong, key), (key, wrong))
                if (changes := _written_otherwise(case, old, new))
            )


def _written_otherwise(case: Case, old: str, new: str) -> tuple[Edit, ...]:
    """Edits of the texts `old` in the files that were running."""
    return tuple(
        edits.replace(frame.source, node, frame.text(node).replace(old, new))
        for frame in files_of(case)
        for node in frame.all(ast.Constant)
        if node.value == old and old in frame.text(node)
    )


def _written_as_text(case: Case) -> bool:
    """Whether a dictionary has the text of the number that was looked up, as those that were read from JSON have."""
    return type(_missing(case)) is int and str(_missing(case)) in _known(case)


def _as_text(case: Case) -> Iterator[Fix]:
    """``names[index]`` → ``names[str(index)]``"""
    node = case.frame.node
    if isinstance(node, ast.Subscript):
        yield replace(case.frame, node.slice, f"str({case.frame.text(node.slice)})")


def _metrics(case: Case) -> list[str]:
    """The metrics that there are instead of the one which is monitored, those first that are written alike."""
    known = re.findall(r"['`\"]([^'`\"]+)['`\"]", case.match[2])
    return list(dict.fromkeys([*_closest(case.match[1], known), *known]))


def _logged_name(case: Case) -> Iterator[Fix]:
    """``monitor="val_loss"`` → ``monitor="valid_loss"``, as it is logged."""
    for key in _metrics(case)[:2]:
        if changes := _written_otherwise(case, case.match[1], key):
            yield Fix(message("fix.key", old=case.match[1], new=key), changes)


def _validated(case: Case) -> list[tuple[CrashFrame, ast.Call, int]]:
    """The trainer that validates every few epochs only, where the metric which a schedule watches is logged by the validation."""
    logged = any(
        is_method_call(call, "log") and literal(argument_of(call, 0, "name")) == case.match[1]
        for frame in files_of(case)
        for method in frame.all(ast.FunctionDef)
        if re.match(r"(?:on_)?validation_", method.name)
        for call in nodes_in(method, ast.Call)
    )
    found = []
    for frame in files_of(case) if logged else ():
        for call in frame.all(ast.Call):
            every = keyword_of(call, "check_val_every_n_epoch")
            way = [(frame, every.value), *straight(case, frame, every.value)] if every is not None else []
            number = literal(way[-1][1]) if way else None
            if isinstance(number, int) and number > 1:
                found.append((frame, call, number))
    return found[:1]


def _every(case: Case) -> str:
    return next((str(number) for _, _, number in _validated(case)), "")


def _as_often(case: Case) -> Iterator[Fix]:
    """``{"scheduler": plateau, "monitor": "val"}`` → with ``"frequency": 2``, as often as the validation runs."""
    for _, _, number in _validated(case):
        yield from _frequency_given(case, number)
        for frame in files_of(case):
            for node in frame.all(ast.Dict):
                keys = [literal(key) for key in node.keys]
                watched = [value for key, value in zip(keys, node.values) if key == "monitor"]
                if watched and literal(watched[0]) == case.match[1] and "frequency" not in keys:
                    edit = edits.insert_after_node(frame.source, node.values[-1], f', "frequency": {number}')
                    yield Fix(message("fix.frequency", every=number), (edit,))


def _models_with_frequency(case: Case) -> Iterator[tuple[CrashFrame, ast.Call]]:
    """The calls that make a model whose constructor has an option for the frequency of its schedule, and do not give it."""
    for file in files_of(case):
        for kind in file.all(ast.ClassDef):
            name = _frequency_option(kind)
            made = next((part for part in of_kind(kind.body, ast.FunctionDef) if part.name == "__init__"), None)
            names = [part.arg for part in every_parameter(made.args)] if made is not None else []
            for other in files_of(case) if name in names else ():
                calls = [call for call in other.all(ast.Call) if called(call) == kind.name]
                yield from ((other, call) for call in calls if argument_of(call, names.index(name) - 1, name) is None)


def _frequency_option(kind: ast.ClassDef) -> str:
    """``every`` of ``"frequency": self.hparams.every`` in a class."""
    for node in nodes_in(kind, ast.Dict):
        for key, value in zip(node.keys, node.values):
            if literal(key) == "frequency" and isinstance(value, ast.Attribute):
                return value.attr
    return ""


def _frequency_given(case: Case, number: int) -> Iterator[Fix]:
    """``Model(patience=2)`` → ``Model(patience=2, every=2)``, where the frequency of the schedule is an option of the model."""
    options = {_frequency_option(kind) for file in files_of(case) for kind in file.all(ast.ClassDef)} - {""}
    for file, call in _models_with_frequency(case) if len(options) == 1 else ():
        (name,) = options
        yield add_argument(file.source, call, f"{name}={number}", safe=False)


def _monitored_here(case: Case) -> list[Related]:
    validated = [(frame, keyword_of(call, "check_val_every_n_epoch")) for frame, call, _ in _validated(case)]
    often = [note(frame.source, every, "error.validated_here") for frame, every in validated if every is not None]
    often += [note(frame.source, call, "error.frequency_here") for frame, call in _models_with_frequency(case) if often]
    spans = [
        frame.source.span(node)
        for frame in files_of(case)
        for node in frame.all(ast.Constant)
        if node.value == case.match[1]
    ]
    return [*often, *(Related(span.path, span.start, span.end, message("error.monitored")) for span in spans[:2])]


def without_missing(case: Case) -> Iterator[Fix]:
    """``self.names = names`` → ``self.names = [key for key in names if key in LABELS]``, where a sample is looked up in ``LABELS``
    by its name, and has no entry."""
    frame, node = case.frame, case.frame.node
    method, key = frame.enclosing, node.slice if isinstance(node, ast.Subscript) else None
    if not isinstance(node, ast.Subscript) or getattr(method, "name", "") != "__getitem__":
        return
    listed = key.value if isinstance(key, ast.Subscript) else None
    if not isinstance(node.value, ast.Name) or not isinstance(listed, ast.Attribute):
        return
    for cls in (part for part in frame.all(ast.ClassDef) if method in part.body):
        stores = [part for part in nodes_in(cls, ast.Assign) if len(part.targets) == 1]
        for store in stores:
            if frame.text(store.targets[0]) == frame.text(listed):
                new = f"[key for key in {frame.text(store.value)} if key in {node.value.id}]"
                yield replace(frame, store.value, new, safe=False)


def _closest(wrong: str, keys: list[str]) -> list[str]:
    """The keys that are written alike, without regard to case, or that have one as a part of the other."""
    lower = {key.lower(): key for key in keys}
    alike = difflib.get_close_matches(wrong.lower(), sorted(lower), n=2, cutoff=CLOSE)
    parts = [key for key in sorted(lower) if key and (key in wrong.lower() or wrong.lower() in key)]
    return [lower[key] for key in dict.fromkeys([*alike, *parts])]


ENTRIES = (
    ErrorEntry(
        "TS531",
        r"^(\d+)$",
        "error.key_of_text",
        _as_text,
        applies=lambda case: case.crash["type"] == "KeyError" and _written_as_text(case),
        example="names = {'0': 'cat'}\nindex = 0\nnames[index]",
        values=lambda case: {"name": _owner(case)},
        plain=True,
    ),
    ErrorEntry(
        "TS580",
        r"ReduceLROnPlateau conditioned on metric ([\w/.-]+)",
        "error.validated_later",
        _as_often,
        applies=lambda case: bool(_validated(case)),
        related=_monitored_here,
        values=lambda case: {"every": _every(case)},
        plain=True,
    ),
    ErrorEntry(
        "TS918",
        r"(?:conditioned on metric|\(monitor=)\W*([\w/.-]+).*?(?:metrics are|the following|returned metrics): ?(\[[^\]]*\]|.*)",
        "error.metric",
        _logged_name,
        related=_monitored_here,
        values=lambda case: {
            "metrics": ", ".join(f"`{name}`" for name in _metrics(case)[:MAX_KEYS]),
        },
        plain=True,
    ),
    ErrorEntry(
        "TS918",
        r"^(['\"][^'\"\n]*['\"])$",
        "error.key",
        applies=lambda case: case.crash["type"] == "KeyError" and bool(_known(case)),
        example="sizes = {'width': 3}\nwanted = 'widht'\nsizes[wanted]",
        values=_what_there_is,
        plain=True,
    ),
)
