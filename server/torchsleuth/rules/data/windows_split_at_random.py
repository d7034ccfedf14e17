"""windows-split-at-random: windows of one series that overlap, and are divided into parts at random.

What it finds
    Samples that are cut out of one series step by step, each of them several steps long, and given to `train_test_split()` without
    `shuffle=False`, where what follows a window is the target.
Why it hurts
    Nearly every window of the test has a neighbour in the training that shares all steps but one, the target among them: what is measured
    is how well the series is remembered. Nothing is raised.
Example
    X = np.stack([series[i : i + 24] for i in range(len(series) - 24)])
    y = np.stack([series[i + 24] for i in range(len(series) - 24)])
    X_train, X_test, y_train, y_test = train_test_split(X, y)
Use instead
    X_train, X_test, y_train, y_test = train_test_split(X, y, shuffle=False)
Fix safety
    Safe: the test is the end of the series. The windows at the border still share steps.
References
    sklearn.model_selection.TimeSeriesSplit, sklearn.model_selection.train_test_split
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.detection import bound_once
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument
from torchsleuth.syntax.forms import called, is_function_call, keyword_of, names_in, nodes_in, plain_name

CODE = "TS662"
_WRAPS = frozenset("array asarray stack tensor as_tensor FloatTensor from_numpy".split())


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    if "train_test_split(" not in source.text:
        return
    for scope in analysis.scopes:
        bound = bound_once(scope)
        for call in nodes_in(scope, ast.Call):
            if called(call) != "train_test_split" or len(call.args) < 2 or keyword_of(call, "shuffle") is not None:
                continue
            windows, targets = (_cut(one, bound) for one in call.args[:2])
            if windows is None or targets is None or windows[0] != targets[0] or not windows[2]:
                continue
            place = source.span(windows[1]).related(message("windows.cut"))
            text = message("windows.random", series=windows[0])
            yield Finding(source.span(call), text, (place,), (added_argument(source, call, "shuffle=False"),))


def _cut(node: ast.expr, bound: dict[str, ast.expr]) -> tuple[str, ast.expr, bool] | None:
    """The series that samples are cut out of step by step, where that is done, and whether each of them is several steps long."""
    node = bound.get(plain_name(node) or "", node)
    while isinstance(node, ast.Call) and called(node) in _WRAPS and node.args:
        node = node.args[0]
        node = bound.get(plain_name(node) or "", node)
    if not isinstance(node, ast.ListComp) or len(node.generators) != 1 or node.generators[0].ifs:
        return None
    generator, part = node.generators[0], node.elt
    step, steps = plain_name(generator.target), generator.iter
    if not is_function_call(steps, "range") or len(steps.args) > 2 or not isinstance(part, ast.Subscript):
        return None
    series, key = plain_name(part.value), part.slice.elts[0] if isinstance(part.slice, ast.Tuple) else part.slice
    if (
        series is None
        or step is None
        or step not in names_in(key)
        or any(isinstance(one, ast.Mult) for one in ast.walk(key))
    ):
        return None
    return series, node, isinstance(key, ast.Slice)


RULE = Rule(FAULTS[CODE], find)
