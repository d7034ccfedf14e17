"""All rules, by code, in order. Importing this loads them."""

from __future__ import annotations

from torchsleuth.faults import FAULTS
from torchsleuth.rules.rule import Rule, load_rule

RULES: dict[str, Rule] = {code: load_rule(fault) for code, fault in FAULTS.items() if fault.rule is not None}
