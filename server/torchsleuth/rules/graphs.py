"""What the autograd rules share: faults by kind, the words for what cut a graph, and the repairs of a cut."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.graph import AutogradFault, Cut
from torchsleuth.interp.values import Site, Tensor
from torchsleuth.messages import message
from torchsleuth.rules.loops import receiver_text
from torchsleuth.rules.rule import Analysis, Candidate, related
from torchsleuth.schema import Related
from torchsleuth.syntax import edits

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


def is_tensor(value: object) -> bool:
    return isinstance(value, Tensor)
