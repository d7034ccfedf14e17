"""Modules, optimizers and checkpoints used in a way they do not work."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator

from torchsleuth.errors.calls import files_of
from torchsleuth.errors.case import Case, CrashFrame, node_span
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import append, replace
from torchsleuth.errors.optimizers import rebound, updated_in_place, updates_by_hand
from torchsleuth.messages import message
from torchsleuth.schema import Fix, Related
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_method_call, is_name, nodes_in, stores
from torchsleuth.synthesis.names import renamed, renaming


def _differing_keys(case: Case) -> tuple[list[str], list[str]]:
    """The keys that only the model has, and those that only the checkpoint has."""
    missing, _, unexpected = case.crash["message"].partition("Unexpected key(s)")
    return re.findall(r'"([^"]+)"', missing), re.findall(r'"([^"]+)"', unexpected)


def _renamed(case: Case) -> Iterator[tuple[CrashFrame, ast.Constant, str, str]]:
    """Texts of the script that are a part of a key which only the checkpoint has, and the part that only the model has there."""
    missing, unexpected = ([key.split(".") for key in keys] for keys in _differing_keys(case))
    pairs = [
        [(old, new) for old, new in zip(one, other) if old != new]
        for one in unexpected
        for other in missing
        if len(one) == len(other)
    ]
    names = {changes[0][0]: changes[0][1] for changes in pairs if len(changes) == 1}
    for frame in files_of(case):
        for node in frame.all(ast.Constant):
            if isinstance(node.value, str) and (old := node.value.strip(".")) in names:
                yield frame, node, old, names[old]


def _renamed_keys(case: Case) -> Iterator[Fix]:
    """``"heads."`` → ``"head."``; the names in the state as it is loaded."""
    for frame, node, old, new in _renamed(case):
        yield replace(frame, node, frame.text(node).replace(old, new), safe=False)
    missing, unexpected = _differing_keys(case)
    found, state = renaming(unexpected, missing), case.frame.argument(0, "state_dict")
    if found is not None and state is not None:
        yield replace(case.frame, state, renamed(case.frame.text(state), *found), safe=False)


def _renamed_here(case: Case) -> list[Related]:
    found = []
    for frame, node, old, new in _renamed(case):
        span = frame.source.span(node)
        found.append(Related(span.path, span.start, span.end, message("error.checkpoint_name", old=old, new=new)))
    return found[:2]


def _super_init_fixes(case: Case) -> Iterator[Fix]:
    """``super().__init__()`` as the first statement of the constructor."""
    function = as_kind(case.frame.enclosing, ast.FunctionDef)
    if function is not None and function.name == "__init__":
        first = function.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(function.body) > 1:
            first = function.body[1]
        yield Fix(
            message("fix.super_init"), (edits.insert_line_before(case.frame.source, first, "super().__init__()"),)
        )


def _tuple_text(case: Case) -> str:
    kind = next((group for group in case.match.groups() if group), "")
    return {"tuple": "error.argument.tuple", "NoneType": "error.argument.none"}.get(kind, "error.argument.type")


def _argument_fixes(case: Case) -> Iterator[Fix]:
    """``[0]`` of a tuple, ``torch.as_tensor`` of an array or a list."""
    kind = next((group for group in case.match.groups() if group), "")
    for node in case.frame.operands():
        found = case.frame.value(node) or {}
        if found.get("type") != kind:
            continue
        if kind == "tuple":
            yield append(case.frame, node, "[0]")
        elif kind in ("ndarray", "list", "numpy.ndarray"):
            yield replace(case.frame, node, f"torch.as_tensor({case.frame.text(node)})")
        return


def _attribute_fixes(case: Case) -> Iterator[Fix]:
    node = as_kind(case.frame.node, ast.Attribute)
    if node is not None and case.match[1] == "tuple" and node.attr not in _MOVES:
        yield append(case.frame, node.value, "[0]")
    yield from _each_part(case)


_MOVES = frozenset({"to", "cuda", "cpu", "pin_memory"})
"""Methods that are meant for all tensors of a batch."""


def _each_part(case: Case) -> Iterator[Fix]:
    """``batch.to(device)`` → ``{key: part.to(device) for key, part in batch.items()}``, where all that it holds are tensors."""
    frame, node = case.frame, as_kind(case.frame.node, ast.Attribute)
    held = frame.value(node.value) if node is not None else None
    items = (held or {}).get("items") or []
    if node is None or not items or any(item["kind"] != "tensor" for item in items):
        return
    for call in nodes_in(frame.statement, ast.Call) if frame.statement is not None else ():
        if node_span(call.func) == node_span(node):
            arguments = frame.text(call)[len(frame.text(call.func)) :]
            whole, one = frame.text(node.value), f"part.{node.attr}{arguments}"
            forms = {
                "dict": f"{{key: {one} for key, part in {whole}.items()}}",
                "list": f"[{one} for part in {whole}]",
                "tuple": f"tuple({one} for part in {whole})",
            }
            if case.match[1] in forms:
                yield replace(frame, call, forms[case.match[1]])


def _property(case: Case) -> tuple[CrashFrame, ast.FunctionDef] | None:
    """The property of a module that raised AttributeError itself, which ``nn.Module`` then tells as its own absence."""
    for frame in files_of(case):
        for owner in frame.all(ast.ClassDef):
            for method in of_kind(owner.body, ast.FunctionDef) if owner.name == case.match[1] else ():
                if method.name == case.match[2] and method.decorator_list:
                    return frame, method
    return None


def _property_here(case: Case) -> list[Related]:
    found = _property(case)
    if found is None:
        return []
    span = found[0].source.span(found[1].body[-1])
    return [Related(span.path, span.start, span.end, message("error.property.here"))]


def _on_torch_object(case: Case) -> bool:
    """A missing attribute counts only where a tensor, an array or a module is in play."""
    node = case.frame.node
    kinds = {(case.frame.value(part) or {}).get("kind") for part in nodes_in(node, ast.expr)} if node else set()
    sequence = case.frame.value(node.value) if isinstance(node, ast.Attribute) else None
    items = (sequence or {}).get("items", [])
    of_torch = (sequence or {}).get("library") == "torch"
    return (
        of_torch
        or bool(kinds & {"tensor", "module", "array"})
        or any(item["kind"] in ("tensor", "array") for item in items)
    )


def _computed(case: Case) -> ast.expr | None:
    """The tensor whose ``grad`` the failing expression reads, where that was computed from others: backward() leaves none there."""
    for part in nodes_in(case.frame.node, ast.Attribute) if case.frame.node is not None else ():
        found = case.frame.tensor(part.value) if part.attr == "grad" else None
        if found is not None and found["requires_grad"] and not found["leaf"]:
            return part.value
    return None


def _retained(case: Case) -> Iterator[Fix]:
    """``h.retain_grad()`` in front of the last backward() of the function."""
    tensor, frame = _computed(case), case.frame
    before = [
        node
        for node in nodes_in(frame.enclosing, ast.Expr)
        if node.lineno < frame.line and is_method_call(node.value, "backward")
    ]
    if tensor is not None and before:
        text = f"{frame.text(tensor)}.retain_grad()"
        edit = edits.insert_line_before(frame.source, max(before, key=lambda node: node.lineno), text)
        yield Fix(message("fix.out_of_place", text=text), (edit,))


def _made_a_tensor(case: Case) -> Iterator[Fix]:
    """``total = torch.tensor(total)`` above a call that writes to its argument, and got a number."""
    node, frame = case.frame.node, case.frame
    given = as_kind(frame.argument(0, case.match[1]), ast.Name)
    statement = edits.enclosing_statement(frame.tree, node) if node is not None else None
    imported = any(item.name == "torch" and not item.asname for part in frame.tree.body for item in _imported(part))
    if given is not None and statement is not None and imported:
        text = f"{given.id} = torch.tensor({given.id})"
        yield Fix(message("fix.out_of_place", text=text), (edits.insert_line_before(frame.source, statement, text),))


def _imported(statement: ast.stmt) -> list[ast.alias]:
    return statement.names if isinstance(statement, ast.Import) else []


def _closest_fixes(case: Case) -> Iterator[Fix]:
    """The attribute of that name's neighbourhood that the class of the code really sets."""
    node, wrong = as_kind(case.frame.node, ast.Attribute), case.match[2]
    if node is None:
        return
    if wrong in ("device", "dtype") and (case.frame.value(node.value) or {}).get("kind") == "module":
        yield replace(case.frame, node, f"next({case.frame.text(node.value)}.parameters()).{wrong}")
    known = {part.attr for part in case.frame.all(ast.Attribute) if stores(part) and is_name(part.value, "self")}
    for name in difflib.get_close_matches(wrong, sorted(known - {wrong}), n=2, cutoff=0.7):
        yield replace(case.frame, node, f"{case.frame.text(node.value)}.{name}")


def _star_fixes(case: Case) -> Iterator[Fix]:
    """``nn.Sequential(layers)`` → ``nn.Sequential(*layers)``."""
    node = case.frame.call
    if node is not None and len(node.args) == 1:
        yield replace(case.frame, node.args[0], f"*{case.frame.text(node.args[0])}")


def _parameters_fixes(case: Case) -> Iterator[Fix]:
    node = case.frame.argument(0, "params", "parameters")
    found = case.frame.value(node)
    if node is not None and found is not None and found["kind"] == "module":
        yield append(case.frame, node, ".parameters()")
    elif node is not None and found is not None and found["kind"] == "tensor":
        yield replace(case.frame, node, f"[{case.frame.text(node)}]")


def _layer_lists(case: Case) -> Iterator[ast.Assign]:
    """The assignments of plain lists of layers to attributes, in the file of the failing line."""
    for node in case.frame.all(ast.Assign):
        if isinstance(node.targets[0], ast.Attribute) and isinstance(node.value, ast.List | ast.ListComp):
            if "nn." in case.frame.text(node.value):
                yield node


def _listed_here(case: Case) -> list[Related]:
    spans = [case.frame.source.span(node) for node in _layer_lists(case)]
    return [Related(span.path, span.start, span.end, message("error.listed_here")) for span in spans]


def _layer_list_fixes(case: Case) -> Iterator[Fix]:
    """``self.layers = [nn.Linear(…), …]`` → ``nn.ModuleList([…])``."""
    for node in _layer_lists(case):
        yield replace(case.frame, node.value, f"nn.ModuleList({case.frame.text(node.value)})")


def _keyword_fixes(case: Case) -> Iterator[Fix]:
    """The parameter whose name is closest to the unexpected one."""
    node, wrong = case.frame.call, case.match[1]
    names = (case.crash["module"] or {}).get("parameters", [])
    if node is None:
        return
    for keyword in node.keywords:
        for name in difflib.get_close_matches(wrong, names, n=1, cutoff=0.7) if keyword.arg == wrong else []:
            yield replace(case.frame, keyword, f"{name}={case.frame.text(keyword.value)}")


def _of_torch(case: Case) -> bool:
    """Whether the failing call names a function or class of PyTorch."""
    node = case.frame.call
    return node is not None and case.frame.text(node.func).startswith(("torch.", "nn.", "F."))


def _weights_only_fixes(case: Case) -> Iterator[Fix]:
    from torchsleuth.errors.fixes import add_argument

    node = case.frame.call
    if node is not None:
        yield add_argument(case.frame.source, node, "weights_only=False", safe=False)


def _called_size(case: Case) -> Iterator[Fix]:
    """``x.shape(0)`` → ``x.shape[0]``."""
    node = case.frame.call
    if node is not None and len(node.args) == 1 and case.match[1] == "torch.Size":
        yield replace(case.frame, node, f"{case.frame.text(node.func)}[{case.frame.text(node.args[0])}]")


_WRAPPERS = {
    "Subset": "dataset",
    "DataLoader": "dataset",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "module",
    "AveragedModel": "module",
}
"""Where classes that wrap something keep it."""


def _wrapped(case: Case) -> Iterator[Fix]:
    """``model.encode`` → ``model.module.encode``; what a data set holds for each sample, for those of its part."""
    node = as_kind(case.frame.node, ast.Attribute)
    if node is None:
        return
    wrapper = case.frame.text(node.value)
    inner = f"{wrapper}.{_WRAPPERS[case.match[1]]}.{node.attr}"
    if case.match[1] == "Subset":
        yield replace(case.frame, node, f"torch.as_tensor({inner})[{wrapper}.indices]", safe=False)
    yield replace(case.frame, node, inner, safe=False)


_CLASS = "from torch import nn\n"

ENTRIES = (
    entry(
        "TS518",
        r"cannot assign (?:module|parameter|buffer)s? before Module\.__init__\(\) call",
        "error.super_init",
        _super_init_fixes,
        example=_CLASS + "class Net(nn.Module):\n    def __init__(self):\n        self.fc = nn.Linear(2, 2)\nNet()",
    ),
    entry(
        "TS823",
        r"argument '(?:input|tensors|other|self)' \(position \d\) must be (?:Tensor|tuple of Tensors), not (numpy\.ndarray)|"
        r"received an invalid combination of arguments - got \((numpy\.ndarray)",
        _tuple_text,
        _argument_fixes,
        example="import numpy as np\ntorch.relu(np.zeros(2))",
    ),
    entry(
        "TS823",
        r"Expected parameter `(\w+)` of type torch\.Tensor\s+but got <class '(float|int|bool)'>",
        "error.number_for_tensor",
        _made_a_tensor,
    ),
    entry(
        "TS199",
        r"argument '(?:input|tensors|other|self)' \(position \d\) must be (?:Tensor|tuple of Tensors), not (tuple|list|dict|NoneType|\w+\.?\w*)|"
        r"received an invalid combination of arguments - got \((list|tuple|NoneType)",
        _tuple_text,
        _argument_fixes,
        example="out = (torch.zeros(2), torch.zeros(2))\ntorch.relu(out)",
    ),
    entry(
        "TS411",
        r"'NoneType' object has no attribute|unsupported operand type\(s\).*'NoneType'|'NoneType' object is not",
        "error.rebound",
        updated_in_place,
        applies=lambda case: bool(updates_by_hand(case)),
        example="w = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (w * w).sum().backward()\n"
        "    w = w - 0.1 * w.grad",
        related=rebound,
    ),
    entry(
        "TS411",
        r"'NoneType' object (?:has no attribute|is not)|unsupported operand type\(s\).*'NoneType'",
        "error.grad_of_computed",
        _retained,
        applies=lambda case: _computed(case) is not None,
        values=lambda case: {"name": case.frame.text(_computed(case))},  # type: ignore[arg-type]
        example="w = torch.ones(2, requires_grad=True)\nh = w * 2\nh.sum().backward()\nh.grad.mean()",
    ),
    entry(
        "TS825",
        r"'(tuple|list|dict|NoneType)' object has no attribute '(\w+)'",
        lambda case: "error.attribute.none" if case.match[1] == "NoneType" else "error.attribute.tuple",
        _attribute_fixes,
        applies=lambda case: _on_torch_object(case),
        example="out = (torch.zeros(2), torch.zeros(2))\nout.mean()",
    ),
    entry(
        "TS824",
        r"Module \[(\w+)\] is missing the required \"forward\" function",
        "error.forward",
        example=_CLASS + "class Net(nn.Module):\n    def foward(self, x):\n        return x\nNet()(1)",
    ),
    entry(
        "TS821",
        rf"'({'|'.join(_WRAPPERS)})' object has no attribute '(\w+)'",
        "error.wrapped",
        _wrapped,
        example="from torch.utils.data import Subset\nrows = Subset([1, 2, 3], [0, 1])\nrows.targets",
    ),
    entry(
        "TS821",
        r"'(\w+)' object has no attribute '(\w+)'",
        lambda case: "error.attribute" if _property(case) is None else "error.property",
        _closest_fixes,
        related=_property_here,
        applies=lambda case: _on_torch_object(case),
        example=_CLASS
        + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.head = nn.Linear(2, 2)\n"
        "    def forward(self, x):\n        return self.heed(x)\nNet()(torch.zeros(1, 2))",
    ),
    entry(
        "TS822",
        r"(\S+) is not a Module subclass",
        "error.sequential",
        _star_fixes,
        example=_CLASS + "nn.Sequential([nn.Linear(2, 2)])",
    ),
    entry(
        "TS820",
        r"forward\(\) (?:missing (\d+) required positional argument|takes (\d+) positional arguments? but (\d+) (?:was|were) given)",
        "error.arity",
        example=_CLASS + "class Net(nn.Module):\n    def forward(self, a, b):\n        return a\nNet()(torch.zeros(1))",
    ),
    entry(
        "TS533",
        r"cannot assign '(.+?)' as parameter '(\w+)'",
        "error.parameter",
        example=_CLASS + "fc = nn.Linear(2, 2)\nfc.weight = torch.zeros(2, 2)",
    ),
    entry(
        "TS511",
        r"optimizer got an empty parameter list",
        "error.no_parameters",
        _layer_list_fixes,
        related=_listed_here,
        example=_CLASS
        + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = [nn.Linear(2, 2)]\n"
        "torch.optim.SGD(Net().parameters(), lr=0.1)",
    ),
    entry(
        "TS815",
        r"'\w+' object is not iterable|params argument given to the optimizer should be an iterable",
        "error.optimizer_params",
        _parameters_fixes,
        applies=lambda case: case.is_below("torch/optim/"),
        example=_CLASS + "fc = nn.Linear(2, 2)\ntorch.optim.SGD(fc, lr=0.1)",
    ),
    entry(
        "TS815",
        r"'(\w+)' object is not iterable",
        "error.wants_parameters",
        _parameters_fixes,
        applies=lambda case: case.is_below("torch/nn/utils/"),
        values=lambda case: {"function": case.frame.method() or ""},
        example=_CLASS + "fc = nn.Linear(2, 2)\nnn.utils.clip_grad_norm_(fc, 1.0)",
    ),
    entry(
        "TS820",
        r"got an unexpected keyword argument '(\w+)'",
        "error.keyword",
        _keyword_fixes,
        applies=lambda case: bool(case.crash["calls"]) or case.crash["module"] is not None or _of_torch(case),
    ),
    entry(
        "TS530",
        r"size mismatch for (\S+): copying a param with shape torch\.Size\(\[(.*?)\]\) from checkpoint, the shape in current model is torch\.Size\(\[(.*?)\]\)",
        "error.checkpoint_size",
        example=_CLASS + "nn.Linear(2, 2).load_state_dict(nn.Linear(3, 2).state_dict())",
    ),
    entry(
        "TS530",
        r"(?:Missing|Unexpected) key\(s\) in state_dict",
        "error.checkpoint_keys",
        _renamed_keys,
        related=_renamed_here,
        example=_CLASS + "nn.Linear(2, 2).load_state_dict({'module.weight': torch.zeros(2, 2)})",
    ),
    entry("TS803", r"Weights only load failed", "error.weights_only", _weights_only_fixes),
    entry(
        "TS815",
        r"'(torch\.Size|Tensor)' object is not callable",
        "error.not_callable",
        _called_size,
        example="x = torch.zeros(2, 3)\nx.shape(0)",
    ),
    entry(
        "TS515",
        r"unscale_\(\) has already been called|No inf checks were recorded for this optimizer|Attempted .+ but _scale is None|Attempting to unscale FP16 gradients",
        "error.scaler",
    ),
)
