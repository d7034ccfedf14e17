"""Models that are compiled to another form: scripted functions whose parameters have no type, quantised layers that get floats."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import Builder
from torchsleuth.errors.case import Case, CrashFrame
from torchsleuth.errors.entry import ErrorEntry
from torchsleuth.errors.provenance import defined, straight
from torchsleuth.errors.reached import note
from torchsleuth.errors.recorded import is_imported
from torchsleuth.messages import message
from torchsleuth.schema import Edit, Fix, Related
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, by_position, called, every_parameter, returned_by, stands_on

_PLAIN_TYPE = re.compile(r"(?:int|float|bool|str|List\[(?:int|float|bool|str|Tensor)\]|Dict\[str, Tensor\])$")


def _untyped(case: Case) -> Iterator[tuple[CrashFrame, ast.arg, str]]:
    """The parameters that were taken for tensors, as no type is written, with the type of what they are given."""
    found = re.search(_SCRIPTED, case.crash["message"])
    if found is None:
        return
    for file, function in defined(case, found[1]):
        for part in every_parameter(function.args):
            if part.arg == found[2] and part.annotation is None:
                yield file, part, found[3]


def _untyped_here(case: Case) -> Iterator[Related]:
    for file, part, kind in _untyped(case):
        yield note(file.source, part, "error.untyped", name=part.arg, kind=kind)


def _typed(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``def best(scores, width):`` → ``width: int``"""
    for file, part, kind in _untyped(case):
        if _PLAIN_TYPE.match(kind):
            text = f"{part.arg}: {kind.replace('List[', 'list[').replace('Dict[', 'dict[').replace('Tensor', 'torch.Tensor')}"
            title = message("fix.replace", old=part.arg, new=text)
            yield Fix(title, (edits.replace(file.source, part, text),))


def _inside_untyped(case: Case) -> list[tuple[CrashFrame, ast.arg, str]]:
    """The parameters of the function that does not compile for which no type is written, with the type of what they are given: a number,
    where TorchScript takes them for tensors."""
    function = case.frame.enclosing
    if (
        isinstance(function, ast.Module)
        or not case.is_below("torch/jit/")
        or not re.search(_COMPILED, case.crash["message"])
    ):
        return []
    outer = case.frames[1:2]
    calls = [(frame, frame.call) for frame in outer if frame.call is not None and called(frame.call) == function.name]
    if not calls:
        calls = [(file, node) for file in case.files for node in file.all(ast.Call) if called(node) == function.name]
    names = [part.arg for part in by_position(function.args)]
    method = names[:1] == ["self"]
    found: dict[str, tuple[CrashFrame, ast.arg, str]] = {}
    for file, call in calls:
        for place, part in enumerate(by_position(function.args)):
            given = argument_of(call, place - method, part.arg)
            kind = _kind_of(case, file, given) if given is not None and part.annotation is None else None
            if kind is not None:
                found.setdefault(part.arg, (case.frame, part, kind))
    return list(found.values())


def _kind_of(case: Case, file: CrashFrame, node: ast.expr) -> str | None:
    """The type of a plain value that is written somewhere: of ``self.size`` by its default, or by what is given for it."""
    for _, part in [(file, node), *straight(case, file, node)][::-1]:
        if isinstance(part, ast.Constant) and type(part.value) in (int, float, bool, str):
            return type(part.value).__name__
        break
    return None


def _inside_here(case: Case) -> Iterator[Related]:
    for file, part, kind in _inside_untyped(case):
        yield note(file.source, part, "error.untyped", name=part.arg, kind=kind)


def _typed_inside(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """``def framed(x, size, hop):`` → ``def framed(x, size: int, hop: int):``"""
    parts = _inside_untyped(case)
    if parts:
        texts = [f"{part.arg}: {kind}" for _, part, kind in parts]
        changes = tuple(edits.replace(file.source, part, text) for (file, part, _), text in zip(parts, texts))
        yield Fix(
            message("fix.replace", old=", ".join(part.arg for _, part, _ in parts), new=", ".join(texts)), changes
        )


def _quantised(case: Case) -> tuple[CrashFrame, ast.ClassDef, ast.FunctionDef] | None:
    """The class of the model that was converted and has no stub in front of its first layer: that of the outermost ``forward``."""
    for frame in reversed(case.frames):
        for kind in frame.all(ast.ClassDef):
            for method in of_kind(kind.body, ast.FunctionDef):
                if method.name == "forward" and stands_on(method, frame.line):
                    return (frame, kind, method) if "QuantStub" not in frame.text(kind) else None
    return None


def _quantised_here(case: Case) -> Iterator[Related]:
    found = _quantised(case)
    if found is not None:
        frame, _, method = found
        yield note(frame.source, method.body[0], "error.no_stub")
    for file, node in _prepared(case) if found is None else ():
        yield note(file.source, node, "error.prepared_here")
    for file in case.files:
        for node in file.all(ast.Call):
            if called(node) == "convert" and re.search(r"quant|tq\b|convert$", file.text(node.func)):
                yield note(file.source, node, "error.converted_here")


def _prepared(case: Case) -> Iterator[tuple[CrashFrame, ast.Call]]:
    """Where a model in a variable is made ready to be quantised."""
    for file in case.files:
        for node in file.all(ast.Call):
            if called(node) in ("prepare", "prepare_qat") and node.args and isinstance(node.args[0], ast.Name):
                yield file, node


def _with_stubs(case: Case, found: re.Match[str]) -> Iterator[Fix]:
    """The model with a QuantStub for what it is given, and a DeQuantStub for what it gives; one of layers alone in a wrapper with both."""
    place = _quantised(case)
    if place is None:
        for file, node in _prepared(case):
            statement = edits.enclosing_statement(file.tree, node)
            if statement is not None and is_imported(file, "torch"):
                name = file.text(node.args[0])
                line = f"{name} = torch.ao.quantization.QuantWrapper({name})"
                edit = edits.insert_line_before(file.source, statement, line)
                yield Fix(message("fix.insert", text=line), (edit,), safe=False)
        return
    frame, kind, method = place
    made = next((part for part in of_kind(kind.body, ast.FunctionDef) if part.name == "__init__"), None)
    given, results = method.args.args[1:2], returned_by(method)
    first = method.body[0]
    if made is None or not given or not results or any(isinstance(part, ast.Tuple) for part in results):
        return
    name, source = given[0].arg, frame.source
    stubs = "self.quant, self.dequant = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()"
    changes: list[Edit] = [
        edits.insert_line_after(source, made.body[-1], stubs),
        edits.insert_line_before(source, first, f"{name} = self.quant({name})"),
        *(edits.replace(source, part, f"self.dequant({source.segment(part)})") for part in results),
    ]
    changes += () if is_imported(frame, "torch") else edits.add_import(source, frame.tree, "import torch")
    yield Fix(message("fix.stubs", name=kind.name), tuple(changes), safe=False)


_SCRIPTED = r"(?s)^\s*(\w+)\(.*?Expected a value of type 'Tensor \(inferred\)' for argument '(\w+)' but instead found type '([^']+)'"
_QUANTISED = r"Could not run 'quantized::(\w+)(?:\.\w+)?' with arguments from the 'CPU' backend"

ENTRIES = (
    ErrorEntry(
        "TS199",
        _SCRIPTED,
        "error.scripted_type",
        applies=lambda case: next(_untyped(case), None) is not None,
        example="def first(x, count):\n    return x[:count]\nclass Head(torch.nn.Module):\n    def forward(self, x):\n"
        "        return first(x, 2)\ntorch.jit.script(Head())",
        plain=True,
    ),
    ErrorEntry("TS199", _QUANTISED, "error.quantised", plain=True),
)

_COMPILED = r"[Ee]xpected a value of type|[Ee]xpected (?:integer|int|float|bool|str)\b|Arguments for call are not valid|cannot be (?:used|cast)|must be (?:an? )?(?:int|integer|iterable)|Expected .* but got"

BUILDERS: tuple[tuple[str, Builder], ...] = ((_COMPILED, _typed_inside), (_SCRIPTED, _typed), (_QUANTISED, _with_stubs))
PLACES = ((_COMPILED, _inside_here), (_SCRIPTED, _untyped_here), (_QUANTISED, _quantised_here))
