"""norms-not-named: a list of names that is to spare the norms of a model, and fits none of them.

What it finds
    `any(word in name for word in words)` over `named_parameters()`, where one of the words speaks of norms (`LayerNorm.weight`,
    `bn`), is part of no parameter's name, and none of the other words is part of a norm's.
Why it hurts
    The lists that go from script to script are those of one library's models. In a model whose norms are called `ln1`, nothing is
    spared: the scales of the norms decay with the matrices, or are frozen with them, and nothing fails.
Example
    no_decay = ["bias", "LayerNorm.weight"]             # the model has ln1.weight and norm.weight
    decayed = [p for n, p in model.named_parameters() if not any(word in n for word in no_decay)]
Use instead
    no_decay = ["bias", "ln1", "norm"]
Fix safety
    It changes what is trained as it was meant; and so it is not safe.
References
    torch.nn.Module.named_parameters, torch.optim.AdamW
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library import hierarchy
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import all_are, of_kind
from torchsleuth.syntax.forms import bindings_of, is_binding, loads, nodes_in
from torchsleuth.values import LibraryModule, Value, items_of

CODE = "TS549"
_OF_NORMS = re.compile(r"norm|^(ln|bn|gn)|[._](ln|bn|gn)", re.IGNORECASE)
_NORM = re.compile(r"torch\.nn\.(\w*Norm\d?d?)")
_OWN = ("weight", "bias")
_MOST = 4
"""Names that a repair puts in."""


def find(analysis: Analysis) -> Iterator[Finding]:
    reported: set[Span] = set()
    for call in analysis.calls.get("torch.nn.Module.named_parameters", ()):
        if hierarchy.has_unknown_parts(call.receiver):
            continue
        layers = [(name, part) for name, part in _layers(call.receiver) if name]
        norms = [name for name, part in layers if _is_scaling(part)]
        for test, words in _tests(analysis, call) if norms else ():
            wrong = [
                word for word in words if _OF_NORMS.search(word) and not any(_may_fit(word, name) for name, _ in layers)
            ]
            spared = any(word in f"{name}.weight" for word in words for name in norms)
            if not wrong or spared:
                continue
            source = call.site.source
            written = next(
                (node for node in nodes_in(analysis.tree(source.path), ast.Constant) if node.value == wrong[0]), None
            )
            span = source.span(test if written is None else written)
            if span not in reported:
                reported.add(span)
                text = message("norms.not_named", word=f"`{wrong[0]}`", norm=f"`{norms[0]}.weight`")
                fixes = _renamed(analysis, source.path, written, norms) if written is not None else ()
                yield Finding(span, text, (), tuple(fixes))


def _layers(module: Value, prefix: str = "") -> Iterator[tuple[str, LibraryModule]]:
    """The layers of libraries in a module, by their names."""
    if isinstance(module, LibraryModule):
        yield prefix, module
    for name, part in hierarchy.named_children(module):
        yield from _layers(part, f"{prefix}.{name}" if prefix else name)


def _is_scaling(layer: LibraryModule) -> bool:
    plain = layer.kwargs.get("affine", True) is True and layer.kwargs.get("elementwise_affine", True) is True
    return _NORM.fullmatch(layer.path) is not None and plain


def _may_fit(word: str, name: str) -> bool:
    """Whether a word may be part of the name of a parameter of this layer."""
    stem, dot, last = word.rpartition(".")
    return any(word in f"{name}.{own}" for own in _OWN) or word in name or bool(dot and name.endswith(stem) and last)


def _tests(analysis: Analysis, call: LibraryCall) -> Iterator[tuple[ast.Call, list[str]]]:
    """``any(word in name for word in words)`` in what goes over these parameters, with the words."""
    node, index = call.site.node, analysis.index(call.site.span.path)
    same = index.same(node) if isinstance(node, ast.expr) else None
    for test in _inside(index.trail(same)) if same is not None else ():
        match test:
            case ast.Call(
                func=ast.Name(id="any"),
                args=[
                    ast.GeneratorExp(
                        elt=ast.Compare(left=ast.Name(id=left), ops=[ast.In()], comparators=[ast.Name()]),
                        generators=[ast.comprehension(target=ast.Name(id=word), iter=iterated, ifs=[])],
                    )
                ],
            ) if left == word:
                words = _words(call, iterated)
                if words:
                    yield test, words


def _inside(trail: list[ast.AST]) -> Iterator[ast.Call]:
    """The calls in what goes over the parameters: where they are asked for, or where a name is used that a function keeps them under."""
    asked = trail[-1]
    around = next((part for part in reversed(trail) if _goes_over(part, asked)), None)
    if around is not None:
        yield from nodes_in(around, ast.Call)
    kept = next((one.targets[0].id for one in of_kind(trail, ast.Assign) if is_binding(one)), None)
    scope = next((one for one in reversed(trail) if isinstance(one, ast.FunctionDef | ast.Module)), None)
    if kept is None or scope is None or len(bindings_of(kept, scope)) != 1:
        return
    reads = (part for part in nodes_in(scope, ast.Name) if part.id == kept and loads(part))
    for read in reads:
        for part in ast.walk(scope):
            if part is not around and _goes_over(part, read):
                yield from nodes_in(part, ast.Call)


def _goes_over(part: ast.AST, iterated: ast.AST) -> bool:
    if isinstance(part, ast.For):
        return part.iter is iterated
    generators = getattr(part, "generators", ())
    return any(one.iter is iterated for one in generators)


def _words(call: LibraryCall, node: ast.expr) -> list[str]:
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [one.value for one in of_kind(node.elts, ast.Constant) if isinstance(one.value, str)]
    items = items_of(held(node, call.site.scene))
    return list(items) if items is not None and all_are(items, str) else []


def _renamed(analysis: Analysis, path: str, written: ast.Constant, norms: list[str]) -> Iterator[Candidate]:
    """The names that the norms have, in place of the word."""
    names = list(dict.fromkeys(name.rpartition(".")[2] for name in norms))
    if len(names) <= _MOST and not any(name.isdigit() for name in names):
        source = analysis.source_of(path)
        new = ", ".join(f'"{name}"' for name in names)
        yield replacement(source, written, new, safe=False)


RULE = Rule(FAULTS[CODE], find)
