"""label-for-position: the samples of a part that was split at random are looked up by their number in the whole.

What it finds
    A Series that `train_test_split()` gives, of which the `__getitem__` of a data set takes an element by the number of the sample:
    `self.target[idx]`.
Why it hurts
    pandas looks a number up among the labels of the rows, which are those of before the split: most numbers from 0 on are in the
    other part, and KeyError is raised; for those that are not, the label of another sample is taken.
Example
    X_train, X_test, y_train, y_test = train_test_split(frame[columns], frame["label"])
    # in the data set
    return self.features[idx], self.target[idx]
Use instead
    return self.features[idx], self.target.iloc[idx]
Fix safety
    Safe: the place in the part is what a data set is asked for.
References
    pandas.Series.iloc
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule, replacement
from torchsleuth.schema import Span
from torchsleuth.sifting import as_kind
from torchsleuth.values.sites import Site

CODE = "TS663"


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for fault in analysis.trace.data:
        part = as_kind(fault.at.node, ast.Subscript) if fault.kind == "by label" else None
        split = as_kind(fault.values[1], Site) if part is not None else None
        if part is None or split is None or fault.at.span in seen:
            continue
        seen.add(fault.at.span)
        source = fault.at.source
        series, key = source.segment(part.value), source.segment(part.slice)
        text = message("label.for_position", series=series, key=key)
        fix = replacement(source, part.value, f"{series}.iloc")
        yield Finding(fault.at.span, text, (split.span.related(message("label.split")),), (fix,))


RULE = Rule(FAULTS[CODE], find)
