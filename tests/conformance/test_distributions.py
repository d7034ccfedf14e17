"""The table of parameters that have to be positive is that of torch.distributions."""

from __future__ import annotations

import inspect

import torch.distributions as distributions

from torchsleuth.explanations import POSITIVE


def test_every_positive_parameter_is_known_by_name_and_place() -> None:
    found: dict[str, dict[str, int]] = {}
    for name in distributions.__all__:
        made = getattr(distributions, name)
        constraints = getattr(made, "arg_constraints", None)
        for parameter, constraint in constraints.items() if isinstance(constraints, dict) else ():
            if "GreaterThan(lower_bound=0.0)" in str(constraint) and not str(constraint).startswith("Integer"):
                places = list(inspect.signature(made).parameters)
                found.setdefault(name, {})[parameter] = places.index(parameter)
    assert {name: POSITIVE.get(name) for name in found} == found
    assert {name: found.get(name) for name in POSITIVE} == POSITIVE
