"""All rules, by code."""

from __future__ import annotations

import importlib
import pkgutil

import torchsleuth.rules as package
from torchsleuth.rules.rule import Rule

_SHARED = frozenset({"rule", "registry", "describe", "constructors", "operators", "loops", "docs"})


def load_rules() -> dict[str, Rule]:
    """Every rule of this package, keyed by code, in order. Raises ValueError if two share a code."""
    rules: dict[str, Rule] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        if module_info.name in _SHARED:
            continue
        rule: Rule = importlib.import_module(f"torchsleuth.rules.{module_info.name}").RULE
        if rule.code in rules:
            raise ValueError(f"two rules have the code {rule.code}")
        rules[rule.code] = rule
    return dict(sorted(rules.items()))


RULES = load_rules()
