"""What the autograd rules share: faults by kind, the words for what cut a graph, and the repairs of a cut."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.graph import AutogradFault, Cut
from torchsleuth.interp.values import Site
from torchsleuth.messages import message
from torchsleuth.rules.loops import receiver_text, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, related
from torchsleuth.schema import Related
from torchsleuth.syntax import edits
from torchsleuth.syntax.text import SourceText
from torchsleuth.tensors.spec import Native

_WORDS = {"item": "item", "detach": "detach", "data": "data", "numpy": "numpy", "tolist": "tolist"}


def faults(analysis: Analysis, *kinds: str) -> Iterator[AutogradFault]:
    return (fault for fault in analysis.trace.autograd if fault.kind in kinds)


def text_of(analysis: Analysis, site: Site, limit: int = 40) -> str:
    """The source of a place, shortened."""
    text = " ".join(analysis.source_of(site.span.path).segment(site.node).split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def name_of(analysis: Analysis, fault: AutogradFault) -> str:
    """What a method was called on, as the user wrote it."""
    return f"`{receiver_text(analysis, fault.at) or 'the tensor'}`"


def cut_text(analysis: Analysis, cut: Cut) -> str:
    """``.item()`` and its like, in words of the source."""
    if cut.kind in _WORDS:
        return f"`.{cut.kind}`" if cut.kind == "data" else f"`.{cut.kind}()`"
    if cut.kind == "no_grad":
        return "the block without gradients" if cut.mode else "code that runs without gradients"
    return f"`{text_of(analysis, cut.site)}`"


def cut_places(analysis: Analysis, cut: Cut | None) -> tuple[Related, ...]:
    if cut is None:
        return ()
    site = cut.mode if cut.mode is not None and isinstance(cut.mode.node, ast.With) else cut.site
    source = analysis.source_of(site.span.path)
    node = site.node.items[0].context_expr if isinstance(site.node, ast.With) else site.node
    return (related(source, node, message("grad.cut", cut=cut_text(analysis, cut))),)


def uncut(analysis: Analysis, cut: Cut | None) -> Iterator[Candidate]:
    """Repairs that let the gradient pass where it was cut."""
    if cut is None:
        return
    source = analysis.source_of(cut.site.span.path)
    node = cut.site.node
    if cut.kind in _WORDS:
        edit = edits.without_attribute(source, node, cut.kind)
        if edit is not None:
            yield Candidate(message("fix.remove", text=f".{cut.kind}" + "()" * (cut.kind != "data")), (edit,))
    elif cut.kind == "rewrapped" and isinstance(node, ast.Call) and node.args:
        data = node.args[0]
        inner = source.segment(data)
        if isinstance(data, ast.List | ast.Tuple):
            prefix = source.segment(node.func).rpartition(".")[0]
            inner = f"{prefix}.stack({inner})" if prefix else inner
        elif isinstance(data, ast.Call) and isinstance(data.func, ast.Attribute) and data.func.attr == "item":
            inner = source.segment(data.func.value)
        yield Candidate(
            message("fix.replace", old=source.segment(node), new=inner), (edits.replace(source, node, inner),)
        )
    elif cut.kind == "no_grad" and cut.mode is not None:
        yield from _record(analysis, cut.mode)


def _record(analysis: Analysis, mode: Site) -> Iterator[Candidate]:
    """Switch recording on again where it was switched off."""
    source = analysis.source_of(mode.span.path)
    node = mode.node
    if isinstance(node, ast.With) and len(node.items) == 1:
        dissolved = edits.unwrap(source, node)
        if dissolved:
            yield Candidate(message("fix.dissolve"), dissolved, safe=False)
    elif isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            if "grad" in ast.unparse(decorator) or "inference_mode" in ast.unparse(decorator):
                edit = edits.remove_line(source, decorator.lineno)
                yield Candidate(message("fix.undecorate"), (edit,), safe=False)


def call_place(analysis: Analysis, site: Site, text: str) -> Related:
    return related(analysis.source_of(site.span.path), site.node, text)


def carried_names(analysis: Analysis, fault: AutogradFault) -> dict[str, bool]:
    """Variables that bring a freed graph to the same backward() of a later iteration, and whether each is a tuple."""
    if fault.cause is None or fault.cause.span != fault.at.span:
        return {}
    path = fault.at.span.path
    statement = statement_of(analysis, fault.at)
    if statement is None:
        return {}
    trail = edits.path_to(analysis.tree(path), statement)
    functions = [index for index, part in enumerate(trail) if isinstance(part, ast.FunctionDef)]
    inside = trail[functions[-1] :] if functions else trail
    loop = next((part for part in reversed(inside) if isinstance(part, ast.For | ast.While)), None)
    return {
        name: several
        for name, several in fault.carried
        if name.startswith("self.") or (_is_carried(name, loop) if loop is not None else _is_returned(name, inside[0]))
    }


def _is_carried(name: str, loop: ast.For | ast.While) -> bool:
    """Whether an iteration reads the variable before it gives it a value of its own."""
    for statement in loop.body:
        names = [part for part in ast.walk(statement) if isinstance(part, ast.Name) and part.id == name]
        if any(isinstance(part.ctx, ast.Load) for part in names):
            return True
        if names:
            return False
    return False


def _is_returned(name: str, scope: ast.AST) -> bool:
    returned = [part.value for part in ast.walk(scope) if isinstance(part, ast.Return) and part.value is not None]
    return any(isinstance(part, ast.Name) and part.id == name for value in returned for part in ast.walk(value))


def constructor_of(analysis: Analysis, fault: AutogradFault) -> Iterator[tuple[SourceText, ast.Call]]:
    """The call that made the module whose call is at fault."""
    for operation in analysis.trace.operations:
        if operation.site.span == fault.at.span and operation.module is not None and operation.module.site is not None:
            site = operation.module.site
            if isinstance(site.node, ast.Call):
                yield analysis.source_of(site.span.path), site.node


def torch_name(site: Site) -> str | None:
    """What the module torch is called where something happens, None where it is not imported."""
    names = site.frame.globals
    return next(
        (str(name) for name, value in names.items() if isinstance(value, Native) and value.path == "torch"), None
    )


def written_name(analysis: Analysis, fault: AutogradFault) -> str:
    """The tensor that an in-place change writes to, as the user wrote it."""
    source, statement = analysis.source_of(fault.at.span.path), statement_of(analysis, fault.at)
    target: ast.AST | None = None
    if isinstance(statement, ast.AugAssign):
        target = statement.target
    elif isinstance(statement, ast.Assign):
        target = statement.targets[0]
    text = source.segment(target) if target is not None else receiver_text(analysis, fault.at)
    return f"`{text or text_of(analysis, fault.at)}`"


def last_assignment(analysis: Analysis, name: ast.expr, site: Site) -> ast.expr | None:
    """The value last assigned to a name before a place in the same block or one around it."""
    statement = statement_of(analysis, site)
    if not isinstance(name, ast.Name) or statement is None:
        return None
    trail = edits.path_to(analysis.tree(site.span.path), statement)
    found: ast.expr | None = None
    for block in trail:
        for part in getattr(block, "body", []) if not isinstance(block, ast.Lambda) else ():
            if isinstance(part, ast.Assign) and part.lineno < statement.lineno and len(part.targets) == 1:
                target = part.targets[0]
                if isinstance(target, ast.Name) and target.id == name.id:
                    found = part.value
    return found


def method_of(source: SourceText, node: ast.expr, method: str) -> str:
    """``(a + b).mean()``"""
    text = source.segment(node)
    plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return f"{text}.{method}()" if plain else f"({text}).{method}()"
