"""categories-numbered-apart: two tables number the categories of a column each for itself.

What it finds
    `astype("category").cat.codes`, `pd.Categorical(…).codes`, `pd.factorize` or `LabelEncoder().fit_transform` of the same column in
    two tables, such as those of the training and of the test, whose numbers go into the same embedding or layer. `pd.get_dummies` of
    each of two tables, likewise.
Why it hurts
    The numbers follow the values that a table happens to hold. Where one of them lacks a value, all numbers behind it are others:
    the embedding that was trained for one category is looked up for another one. Nothing is raised.
Example
    train["shop"] = train["shop"].astype("category").cat.codes
    test["shop"] = test["shop"].astype("category").cat.codes
Use instead
    shops = sorted(train["shop"].unique())
    train["shop"] = pd.Categorical(train["shop"], categories=shops).codes
    test["shop"] = pd.Categorical(test["shop"], categories=shops).codes
Fix safety
    There is none: which table has all the categories is for the author to say.
References
    pandas user guide, "Categorical data"
"""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.sifting import first_of, of_kind
from torchsleuth.syntax.forms import called
from torchsleuth.values import Numbered, Tensor

CODE = "TS637"
_TAKES = ("Embedding", "Linear")
_DUMMIES = "get_dummies"


def find(analysis: Analysis) -> Iterator[Finding]:
    looked_up: dict[int, list[Numbered]] = {}
    for operation in analysis.trace.operations:
        given = first_of(operation.args, Tensor)
        if operation.module is None or operation.name not in _TAKES or given is None:
            continue
        looked_up.setdefault(operation.module.identity, []).extend(of_kind(given.tags, Numbered))
    told: set[object] = set()
    for numbered in looked_up.values():
        for one in numbered:
            other = next((two for two in numbered if two.column == one.column and two.source != one.source), None)
            if other is None or one.site is None or other.site is None or one.site.span in told:
                continue
            told |= {one.site.span, other.site.span}
            apart = one.site.span != other.site.span
            places = (other.site.span.related(message("numbered.other", column=one.column)),) if apart else ()
            key = "numbered.dummies" if called(one.site.node) == _DUMMIES else "numbered.apart"
            yield Finding(one.site.span, message(key, column=one.column), places)


RULE = Rule(FAULTS[CODE], find)
