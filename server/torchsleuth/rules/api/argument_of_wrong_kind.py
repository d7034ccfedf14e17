"""argument-of-wrong-kind: a module, a tensor or a tuple where Python or PyTorch takes something else.

What it finds
    `x.size[0]`, `x.shape(0)`, `x.T()` and `x(0)`; `self.layers(x)` of a ModuleList; `state.to(device)` of a tuple of tensors; a model in the place of its parameters, for an
    optimizer or clip_grad_norm_(), or of the optimizer; labels as the second argument of DataLoader.
Why it hurts
    TypeError or AttributeError, such as "'torch.Size' object is not callable" or "'Net' object is not iterable".
Example
    optimizer = torch.optim.Adam(model, lr=1e-3)
Use instead
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
Fix safety
    Safe: what stands there cannot work.
References
    torch.optim.Optimizer, torch.Tensor.size, torch.utils.data.TensorDataset
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp import misuses
from torchsleuth.interp.library.data import LOADER
from torchsleuth.interp.library.hierarchy import PARAMETER_CONTAINERS
from torchsleuth.interp.library.optim import is_optimizer
from torchsleuth.interp.misuses import Misuse
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.activations import renamed
from torchsleuth.rules.evidence.commas import by_comma, without_comma
from torchsleuth.rules.evidence.describe import shape_text
from torchsleuth.rules.evidence.loaders import spelled
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, appended, replacement
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute
from torchsleuth.syntax.rebound import renamed_result
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.spec import DType
from torchsleuth.values import Array, ClassValue, Instance, LibraryModule, LibraryObject, Tensor, is_module

CODE = "TS815"
_OF_PARAMETERS = frozenset(
    f"torch.nn.utils.{name}"
    for name in ("clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "get_total_norm")
)
"""Functions whose first argument is an iterable of parameters."""


def find(analysis: Analysis) -> Iterator[Finding]:
    found = [
        *(_subscripted(misuse) for misuse in analysis.misuses(misuses.SUBSCRIPTED)),
        *(_called(analysis, misuse) for misuse in analysis.misuses(misuses.CALLED)),
        *(_moved(analysis, misuse) for misuse in analysis.misuses(misuses.MOVED)),
    ]
    yield from (finding for finding in found if finding is not None)
    seen: set[object] = set()
    for path, calls in analysis.calls.items():
        if path == LOADER or path.startswith("torch.optim.") or path in _OF_PARAMETERS:
            for call in calls:
                finding = _given(analysis, call) if call.site.span not in seen else None
                if finding is not None:
                    seen.add(call.site.span)
                    yield finding


def _subscripted(misuse: Misuse[object]) -> Finding | None:
    source, node = misuse.site.source, as_kind(misuse.site.node, ast.Subscript)
    if node is None or not isinstance(node.value, ast.Attribute):
        return None
    text = source.segment(node.value)
    fixes = [replacement(source, node, new) for new in _called_instead(node, text, source.segment(node.slice))]
    return Finding(misuse.site.span, message("type.method", text=text), (), fixes)


def _called_instead(node: ast.Subscript, text: str, key: str) -> list[str]:
    if is_attribute(node.value, "size"):
        return [f"{text}({key})"] if not isinstance(node.slice, ast.Slice) else [f"{text}()[{key}]"]
    return [f"{text}()[{key}]"]


def _called(analysis: Analysis, misuse: Misuse[object]) -> Finding | None:
    source, node = misuse.site.source, misuse.site.call
    if node is None:
        return None
    text = source.segment(node.func)
    match misuse.value:
        case LibraryModule():
            what = message("type.called.list", text=text, kind=misuse.value.type_name)
            return Finding(misuse.site.span, what, (), tuple(_in_sequence(misuse.value)))
        case DType():
            return _dtype(source, misuse, node, text)
    new = f"{text}[{source.segment(node.args[0])}]" if len(node.args) == 1 and not node.keywords else text
    fix = replacement(source, node, new)
    what = message("type.called", text=text)
    if isinstance(misuse.value, Tensor):
        attribute = isinstance(node.func, ast.Attribute) and not node.args and not node.keywords
        key = "type.called.tensor.attribute" if attribute else "type.called.tensor.index"
        hint = message(key) if attribute or new != text else ""
        what = message("type.called.tensor", text=text, shape=shape_text(misuse.value.spec), hint=hint)
    fixes = [fix] if new != text or not node.args + node.keywords else []
    comma = by_comma(analysis, misuse.site.span.path, text)
    if comma is not None:
        place = source.span(comma).related(message("type.comma"))
        return Finding(misuse.site.span, what, (place,), [without_comma(source, comma)])
    return Finding(misuse.site.span, what, (), [*_own_name(analysis, misuse, source), *fixes])


def _own_name(analysis: Analysis, misuse: Misuse[object], source: SourceText) -> Iterator[Candidate]:
    """``loss = loss(prediction, target)`` in a loop: the result gets a name of its own."""
    node, tree = misuse.site.node, analysis.tree(misuse.site.span.path)
    function = as_kind(node.func, ast.Name) if isinstance(node, ast.Call) else None
    if function is not None and isinstance(misuse.value, Tensor):
        around = of_kind(edits.path_to(tree, node), ast.FunctionDef, ast.AsyncFunctionDef)
        name, places = renamed_result(around[-1] if around else tree, function.id)
        if places:
            title = message("fix.own_name", name=name, old=function.id)
            yield Candidate(title, tuple(edits.replace(source, place, name) for place in places))


def _dtype(source: SourceText, misuse: Misuse[object], node: ast.Call, text: str) -> Finding:
    """``x.dtype()``, and ``torch.float32(x)``."""
    if len(node.args) != 1:
        fix = replacement(source, node, text)
        return Finding(misuse.site.span, message("type.called.dtype.attribute", text=text), (), [fix])
    new = f"{source.segment(node.args[0])}.to({text})"
    fix = replacement(source, node, new)
    return Finding(misuse.site.span, message("type.called.dtype", text=text), (), [fix])


def _in_sequence(modules: LibraryModule) -> Iterator[Candidate]:
    """``nn.Sequential(*layers)`` instead of ``nn.ModuleList(layers)``."""
    call = modules.site.call if modules.site is not None else None
    if modules.site is None or modules.type_name != "ModuleList" or call is None or call.keywords:
        return
    edit, source = renamed(modules.site, "Sequential"), modules.site.source
    if edit is None or len(call.args) > 1:
        return
    changes = [edit]
    for given in call.args:
        match given:
            case ast.GeneratorExp():
                return
            case ast.List():
                changes.append(edits.replace(source, given, source.segment(given)[1:-1].strip()))
            case _:
                changes.append(edits.insert(source, source.start_of(given), "*"))
    title = message("fix.replace", old="ModuleList", new="Sequential")
    yield Candidate(title, tuple(changes))


def _moved(analysis: Analysis, misuse: Misuse[object]) -> Finding | None:
    path, node = misuse.site.span.path, as_kind(misuse.site.node, ast.Attribute)
    source = analysis.source_of(path)
    if node is None:
        return None
    text = source.segment(node.value)
    fixes: list[Candidate] = []
    for call in analysis.index(path).of_type(ast.Call):
        if source.span(call.func) == source.span(node):
            arguments = source.segment(call)[len(source.segment(call.func)) :]
            new = f"tuple(part.{node.attr}{arguments} for part in {text})"
            fixes.append(replacement(source, call, new))
    return Finding(misuse.site.span, message("type.moved", text=text, name=node.attr), (), fixes)


def _given(analysis: Analysis, call: LibraryCall) -> Finding | None:
    node, path = call.site.call, call.site.span.path
    if node is None or not node.args or isinstance(node.args[0], ast.Starred):
        return None
    source, made, first = analysis.source_of(path), call.name, call.args[0] if call.args else None
    written = node.args[0]
    name = f"`{source.segment(written)}`"
    if call.path == LOADER and isinstance(first, ClassValue):
        text = message("method.uncalled", text=source.segment(written), what=message("method.uncalled.class"))
        edit = edits.insert_after_node(source, written, "()")
        fix = Candidate(message("fix.parentheses", text=source.segment(written)), (edit,))
        return Finding(source.span(written), text, (), [fix])
    if call.path == LOADER:
        return _labels(analysis, call, node)
    if not is_module(first) or (isinstance(first, Instance) and first.cls.slots.get("__iter__") is not None):
        return None
    if isinstance(first, LibraryModule) and first.path in PARAMETER_CONTAINERS:
        return None  # It gives its parameters, as a list does.
    if call.path.startswith("torch.optim.lr_scheduler."):
        held = [
            str(key)
            for key, value in call.site.scene.names.items()
            if isinstance(value, LibraryObject) and is_optimizer(value)
        ]
        fixes = [replacement(source, written, key) for key in held[:2]]
        return Finding(source.span(written), message("type.scheduler", made=made, name=name), (), fixes)
    takes_parameters = call.path in _OF_PARAMETERS
    if (
        takes_parameters
        or call.path.count(".") == 2
        and isinstance(call.result, LibraryObject)
        and is_optimizer(call.result)
    ):
        fix = appended(source, written, ".parameters()")
        return Finding(source.span(written), message("type.optimizer", made=made, name=name), (), [fix])
    return None


def _labels(analysis: Analysis, call: LibraryCall, node: ast.Call) -> Finding | None:
    """``DataLoader(x, y)``"""
    if len(node.args) < 2 or len(call.args) < 2 or not isinstance(call.args[1], Tensor | Array):
        return None
    if isinstance(call.args[1], Tensor) and call.args[1].spec.rank in (0, None):
        return None
    path = call.site.span.path
    source = analysis.source_of(path)
    both = source.slice(source.start_of(node.args[0]), source.end_of(node.args[1]))
    fixes: list[Candidate] = []
    if isinstance(call.args[0], Tensor) and isinstance(call.args[1], Tensor):
        dataset, imports = spelled(analysis, path, "torch.utils.data.TensorDataset")
        new = f"{dataset}({both})"
        change = edits.replace_between(source, node.args[0], node.args[1], new)
        fixes.append(Candidate(message("fix.replace", old=both, new=new), (*imports, change)))
    text = message("type.batch_size", name=f"`{source.segment(node.args[1])}`")
    return Finding(source.span(node.args[1]), text, (), fixes)


RULE = Rule(FAULTS[CODE], find)
