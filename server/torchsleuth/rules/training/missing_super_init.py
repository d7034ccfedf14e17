"""missing-super-init: a module whose __init__ never calls super().__init__().

What it finds
    A layer, parameter or buffer that an nn.Module is given before nn.Module.__init__ has run.
Why it hurts
    PyTorch raises "cannot assign module before Module.__init__() call".
Example
    class Net(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(8, 4)
Use instead
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 4)
Fix safety
    Safe: without it the class cannot be made.
References
    torch.nn.Module
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import AttributeSet
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import as_kind, first_of, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import is_attribute, is_function_call, is_remark, nodes_in, stands_on
from torchsleuth.values import ClassValue, Instance, Tensor, is_module

CODE = "TS518"


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[object] = set()
    for item in analysis.trace.attributes:
        tensor = as_kind(item.value, Tensor)
        held = is_module(item.value) or (tensor is not None and (tensor.parameter or tensor.buffer))
        if item.ready or not held or item.owner.cls.opaque or item.owner.identity in reported:
            continue
        reported.add(item.owner.identity)
        if item.site.span not in reported:
            reported.add(item.site.span)
            text = message("init.missing", name=f"`self.{item.name}`", owner=item.owner.cls.name)
            yield Finding(item.site.span, text, (), _inserted(analysis, item))


def _inserted(analysis: Analysis, item: AttributeSet) -> Iterator[Candidate]:
    """``super().__init__()`` as the first statement of the method, moved up where it stands too low."""
    path = item.site.span.path
    source = analysis.source_of(path)
    for node in analysis.index(path).of_type(ast.FunctionDef):
        if node.name != "__init__":
            continue
        if not stands_on(node, item.site.span.start.line):
            continue
        documented = is_remark(node.body[0])
        first = node.body[1] if documented and len(node.body) > 1 else node.body[0]
        bare = next((part for part in of_kind(node.body, ast.Expr) if is_function_call(part.value, "super")), None)
        if bare is not None and bare.lineno < item.site.span.start.line:
            yield Candidate(
                message("fix.add", text=".__init__()"), (edits.insert_after_node(source, bare, ".__init__()"),)
            )
            return
        odd = next((part for part in node.body if _is_unbound(part)), None)
        if odd is not None and odd.lineno < item.site.span.start.line:
            text = "super().__init__()"
            yield replacement(source, odd, text)
            return
        late = next((part for part in of_kind(node.body, ast.Expr) if "__init__" in ast.dump(part)), None)
        text = source.segment(late) if late is not None else f"super().__init__({_wanted(item.owner, node)})"
        changes = [edits.insert_line_before(source, first, text)]
        if late is not None and late.lineno == late.end_lineno:
            changes.append(edits.remove_line(source, late.lineno))
        yield Candidate(message("fix.insert", text=text), tuple(changes))


def _wanted(owner: Instance, method: ast.FunctionDef) -> str:
    """The arguments that the constructor of a base class of the user's has to get: the parameters of the same names,
    what a class beside this one gives it, or the name of the class for a name."""
    base = first_of(owner.cls.bases, ClassValue)
    below = of_kind(base.node.body, ast.FunctionDef) if base is not None else []
    constructor = next((part for part in below if part.name == "__init__"), None)
    if constructor is None:
        return ""
    given = {part.arg for part in nodes_in(method.args, ast.arg)}
    names = [part.arg for part in constructor.args.args[1:]]
    needed = names[: len(names) - len(constructor.args.defaults)]
    texts: list[str] = []
    for name in names:
        if name in given:
            texts.append(name if name in needed and len(texts) == names.index(name) else f"{name}={name}")
        elif name in needed:
            texts.append(f'"{owner.cls.name.lower()}"' if name.endswith("name") else "...")
    return "" if "..." in texts else ", ".join(texts)


def _is_unbound(statement: ast.stmt) -> bool:
    """``super(Net).__init__()``, which is bound to nothing, and ``super().__init__``, which is not called."""
    if not isinstance(statement, ast.Expr):
        return False
    called = statement.value
    method = called.func if isinstance(called, ast.Call) else called
    if not is_attribute(method, "__init__") or not is_function_call(method.value, "super"):
        return False
    return not isinstance(called, ast.Call) or (isinstance(method.value, ast.Call) and len(method.value.args) == 1)


RULE = Rule(FAULTS[CODE], find)
