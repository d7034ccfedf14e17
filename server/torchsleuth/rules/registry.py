"""All rules, by code."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import torchsleuth.rules as package
from torchsleuth.rules import index
from torchsleuth.rules.rule import Rule

INDEX_FILE = Path(index.__file__)
INDEX_BEGINS = "INDEX: dict[str, Entry] = {\n"


def load_rules() -> dict[str, Rule]:
    """Every rule below this package, keyed by code, in order: the modules that define RULE; the others are what they share.
    Raises ValueError if two share a code."""
    rules: dict[str, Rule] = {}
    for module_info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(module_info.name)
        rule: Rule | None = getattr(module, "RULE", None)
        if rule is None:
            continue
        if rule.code in rules:
            raise ValueError(f"two rules have the code {rule.code}")
        rules[rule.code] = rule
    return dict(sorted(rules.items()))


def index_text() -> str:
    """`rules/index.py` as it has to be: its table is written from the rules."""
    head, _, _ = INDEX_FILE.read_text(encoding="utf-8").partition(INDEX_BEGINS)
    lines = []
    for code, rule in RULES.items():
        module = rule.find.__module__.removeprefix(f"{package.__name__}.")
        words = [f'"{word}"' for word in (module, rule.name, rule.severity)]
        words += [] if rule.default else ["default=False"]
        words += ["syntactic=True"] if rule.syntactic else []
        lines.append(f'    "{code}": Entry({", ".join(words)}),\n')
    return f"{head}{INDEX_BEGINS}{''.join(lines)}}}\n"


RULES = load_rules()
