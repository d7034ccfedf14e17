"""Names that are given to what belongs to samples: labels, targets, masks."""

from __future__ import annotations

import ast

_LABELS = frozenset("label labels y ys target targets mask masks answer answers".split())


def is_of_labels(node: ast.expr) -> bool:
    """Whether an expression is named as labels are: ``y``, ``self.train_labels``."""
    return bool(set(ast.unparse(node).lower().replace(".", "_").split("_")) & _LABELS)
