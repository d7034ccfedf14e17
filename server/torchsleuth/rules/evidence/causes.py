"""Which findings have one cause: the same tensor, layer, model or batch that is wrong at several places."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from torchsleuth.interp.library.hierarchy import has_own_parameters
from torchsleuth.interp.trace import DeviceConflict, Operation, OperatorFailure
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import passed_for
from torchsleuth.rules.evidence.devices import binding_loop, node_of, not_moved, stray_of, strays
from torchsleuth.rules.evidence.operands import operands
from torchsleuth.rules.evidence.operators import code_of
from torchsleuth.rules.rule import Analysis
from torchsleuth.schema import Diagnostic, Related, Span
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import is_method_call
from torchsleuth.values import LibraryModule, Tensor
from torchsleuth.values.frames import Scene
from torchsleuth.values.graph import node_of as node_of_graph

_MAX_STEPS = 8
_CONFLICT = "TS201"
_DISCARDED = "TS202"
_FREED = "TS405"
_NOT_A_LEAF = "TS413"
_TARGETS = ("TS302", "TS307")
_DTYPES = "TS30"
_BY_LOSS = ("TS303", "TS304", "TS305", "TS306")
"""Findings about the activation before a loss: where the loss is one object, that is what is wrong."""
_RANKS = ("error", "warning", "hint")


def by_cause(analysis: Analysis, found: Sequence[Diagnostic]) -> list[list[Diagnostic]]:
    """The findings in groups of one cause each: in front, the one to show, which is the gravest and happens first."""
    marks = _Marks(analysis)
    groups: list[tuple[set[Hashable], list[int]]] = []
    for number, diagnostic in enumerate(found):
        own = set(marks.of(diagnostic))
        met = [group for group in groups if group[0] & own]
        apart = [group for group in groups if not group[0] & own]
        merged = (own.union(*(seen for seen, _ in met)), [*(one for _, members in met for one in members), number])
        groups = [*apart, merged]

    def weight(number: int) -> tuple[int, int, int]:
        return _RANKS.index(found[number].severity), marks.order(found[number]), number

    ordered = sorted((sorted(members, key=weight) for _, members in groups), key=lambda members: min(members))
    return [[found[number] for number in members] for members in ordered]


def shown(group: Sequence[Diagnostic]) -> Diagnostic:
    """The first finding of a group, with the places of the others."""
    first, *others = group
    places = [*first.related, *(_place(other) for other in others)]
    return replace(first, related=tuple(dict.fromkeys(places))) if others else first


def _place(finding: Diagnostic) -> Related:
    return Related(finding.path, finding.start, finding.end, message("related.same_cause", error=finding.message))


class _Marks:
    """Marks of the cause of a finding: two findings of one cause have one in common."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._failures: defaultdict[Span, list[OperatorFailure]] = defaultdict(list)
        self._conflicts = {conflict.operation.site.span: conflict for conflict in analysis.trace.conflicts}
        self._order: dict[Span, int] = {}
        for failure in analysis.trace.failures:
            self._failures[failure.operation.site.span].append(failure)
        for site in [
            *(failure.operation.site for failure in analysis.trace.failures),
            *(conflict.operation.site for conflict in analysis.trace.conflicts),
        ]:
            self._order.setdefault(site.span, len(self._order))
        self._discarded = {site.span: site for site in analysis.trace.discarded}

    def order(self, finding: Diagnostic) -> int:
        """When it happens among the failures of operators; before all of them for anything else."""
        return self._order.get(_span(finding), -1)

    def of(self, finding: Diagnostic) -> Iterator[Hashable]:
        span = _span(finding)
        if finding.code == _CONFLICT and span in self._conflicts:
            yield from self._of_conflict(self._conflicts[span])
        elif finding.code == _DISCARDED and span in self._discarded:
            call, frame = self._discarded[span].node, self._discarded[span].scene
            if is_method_call(call):
                yield from self._of_expression(call.func.value, frame)
        elif finding.code == _FREED:
            faults = (
                fault for fault in self._analysis.trace.autograd if fault.at.span == span and fault.kind == "freed"
            )
            yield from (("graph", id(fault.node)) for fault in faults)
        elif finding.code == _NOT_A_LEAF:
            given = (fault.tensor for fault in self._analysis.trace.autograd if fault.at.span == span)
            yield from (("graph", id(node_of_graph(one))) for one in of_kind(given, Tensor))
        elif finding.code in _BY_LOSS:
            for operation in self._analysis.trace.operations:
                if operation.site.span == span and operation.module is not None:
                    yield finding.code, id(operation.module)
        else:
            for failure in self._failures.get(span, ()):
                if code_of(failure) == finding.code:
                    yield from (
                        (finding.code, failure.failure.message, mark)
                        for mark in _of_operation(failure.operation, finding.code)
                    )

    def _of_conflict(self, conflict: DeviceConflict) -> Iterator[Hashable]:
        stray, _, home = stray_of(conflict)
        if isinstance(stray, LibraryModule):
            yield from (("model", id(module)) for module in not_moved(conflict.operation.site, home)[-1:])
            return
        for tensor in of_kind([stray, *(used.tensor for used in strays(conflict))], Tensor):
            yield from (("stray", id(part)) for part in _pieces(tensor))
            node = node_of(conflict, tensor)
            if node is not None:
                yield from self._of_expression(node, conflict.operation.site.scene)

    def _of_expression(self, node: ast.expr, frame: Scene) -> Iterator[Hashable]:
        """The batch that an expression is a part of."""
        for _ in range(_MAX_STEPS):
            inner = node
            while isinstance(inner, ast.Subscript | ast.Attribute):
                inner = inner.value
            if isinstance(inner, ast.Name):
                loop = binding_loop(self._analysis, self._analysis.source_of(frame.path), inner)
                if loop is not None:
                    yield "batch", frame.path, loop.lineno
                    return
            outer = passed_for(node, frame)
            if outer is None:
                return
            node, frame = outer


def _span(finding: Diagnostic) -> Span:
    return Span(finding.path, finding.start, finding.end)


def _of_operation(operation: Operation, code: str) -> Iterator[Hashable]:
    """The layer, and the tensors that the operands are pieces of; where the dtype is wrong, the operand that has it."""
    given = operands(operation)
    if code in _TARGETS:
        given = [used for used in given if used.name in (1, "target")]
    elif code.startswith(_DTYPES):
        given = [used for used in given if used.spec.dtype != "float32"] or given
    elif operation.module is not None and has_own_parameters(operation.module):
        yield "layer", id(operation.module)
    for used in given:
        yield from (("tensor", id(part)) for part in _pieces(used.tensor))


def _is_layer(operator: str) -> bool:
    return operator.startswith("torch.nn.") and not operator.startswith("torch.nn.functional.")


def _pieces(tensor: Tensor) -> Iterator[Tensor]:
    """A tensor, and those that it was made of alone: what it is a view of, or a function of its elements."""
    current = tensor
    for _ in range(_MAX_STEPS):
        yield current
        origin = current.origin
        if origin is None or len(origin.sources) != 1 or _is_layer(origin.operator):
            return
        current = origin.sources[0]
