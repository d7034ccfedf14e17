"""softmax-before-cross-entropy: probabilities where cross entropy wants logits.

What it finds
    A value that went through softmax, anywhere between the layer and the loss, given to CrossEntropyLoss or
    F.cross_entropy, also when the softmax is a layer of the model. log_softmax in front is idempotent and is
    reported as a hint in the message only when it is certain.
Why it hurts
    Cross entropy applies log_softmax itself. Applied to probabilities the gradients become tiny and training stalls
    without any error.
Example
    probs = F.softmax(model(x), dim=1)
    loss = F.cross_entropy(probs, y)
Use instead
    loss = F.cross_entropy(model(x), y)
Fix safety
    Safe for training; code that reads the probabilities elsewhere has to apply softmax itself.
References
    torch.nn.CrossEntropyLoss
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.interp.trace import Operation
from torchsleuth.interp.values import LibraryModule, Tensor
from torchsleuth.messages import message
from torchsleuth.rules.describe import call_trail, expression_text, operand_node
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Related
from torchsleuth.syntax import edits

CODE = "TS303"
_TARGETS = ("torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy")
_SOFTMAX = ("softmax", "Softmax", "Softmax2d")


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[tuple[str, int, int]] = set()
    for operation in analysis.trace.operations:
        if operation.target not in _TARGETS or not operation.args:
            continue
        scores = operation.args[0]
        key = (operation.site.span.path, operation.site.span.start.line, operation.site.span.start.column)
        if isinstance(scores, Tensor) and "softmax" in scores.tags and key not in seen:
            seen.add(key)
            yield _finding(analysis, operation, scores)


def _finding(analysis: Analysis, operation: Operation, scores: Tensor) -> Finding:
    applied = _softmax(analysis, scores)
    places: list[Related] = []
    candidates: list[Candidate] = []
    name = "softmax"
    if applied is not None:
        span = applied.site.span
        places.append(Related(span.path, span.start, span.end, message("softmax.here", softmax=name)))
        candidates += _removals(analysis, applied)
    places += call_trail(operation.site.frame, limit=1)
    tensor = expression_text(operand_node(operation, 0), "the input")
    text = message("softmax.cross_entropy", tensor=tensor, softmax=name)
    return Finding(operation.site.span, text, tuple(places), tuple(candidates))


def _softmax(analysis: Analysis, tensor: Tensor) -> Operation | None:
    """The operation that applied the softmax."""
    sites = {id(operation.site): operation for operation in analysis.trace.operations}
    current = tensor
    for _ in range(12):
        origin = current.origin
        if origin is None:
            return None
        if origin.operator.rpartition(".")[2] in _SOFTMAX:
            return sites.get(id(origin.site))
        if not origin.sources:
            return None
        current = origin.sources[0]
    return None


def _removals(analysis: Analysis, applied: Operation) -> Iterator[Candidate]:
    title = message("fix.remove_softmax", softmax="softmax")
    module = applied.module
    source = analysis.source_of(applied.site.span.path)
    node = applied.site.node
    if module is None and isinstance(node, ast.Call):
        inner = node.args[0] if applied.target.startswith("torch.") and node.args else None
        if inner is None and isinstance(node.func, ast.Attribute):
            inner = node.func.value
        if inner is not None:
            yield Candidate(title, (edits.replace(source, node, source.segment(inner)),))
        return
    if module is None or module.site is None:
        return
    yield from _remove_layer(analysis, module, title)
    if (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and module.name
        and ast.unparse(node.func).endswith(module.name)
    ):
        yield Candidate(title, (edits.replace(source, node, source.segment(node.args[0])),))


def _remove_layer(analysis: Analysis, module: LibraryModule, title: str) -> Iterator[Candidate]:
    """The layer as an argument of nn.Sequential(...) or an element of a list of layers."""
    assert module.site is not None
    source = analysis.source_of(module.site.span.path)
    start = module.site.span.start
    for node in ast.walk(analysis.tree(source.path)):
        elements = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.List) else []
        for index, element in enumerate(elements):
            if isinstance(element, ast.Call) and source.start_of(element) == start and len(elements) > 1:
                yield Candidate(title, (edits.remove_element(source, elements, index),))
                return


RULE = Rule(CODE, "softmax-before-cross-entropy", "warning", "dtype and loss", __doc__, find)
