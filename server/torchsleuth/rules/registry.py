"""All rules, by code."""

from __future__ import annotations

import importlib
import pkgutil

import torchsleuth.rules as package
from torchsleuth.rules.rule import Rule


def load_rules() -> dict[str, Rule]:
    """Every rule of this package, keyed by code, in order: the modules that define RULE; the others are what they share.
    Raises ValueError if two share a code."""
    rules: dict[str, Rule] = {}
    for module_info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"torchsleuth.rules.{module_info.name}")
        rule: Rule | None = getattr(module, "RULE", None)
        if rule is None:
            continue
        if rule.code in rules:
            raise ValueError(f"two rules have the code {rule.code}")
        rules[rule.code] = rule
    return dict(sorted(rules.items()))


RULES = load_rules()
