"""split-made-anew: a data module that splits its data at random once more for the test.

What it finds
    random_split() without `generator`, or train_test_split() without `random_state`, in the setup() of a LightningDataModule, under no
    condition, where one part is for the training and another for the test, and a trainer both fits and tests it.
Why it hurts
    The trainer calls setup() for each: the test is made of samples that were trained with, and its score is too good.
Example
    def setup(self, stage=None):
        self.train_set, self.test_set = random_split(self.data, [400, 100])
Use instead
    def setup(self, stage=None):
        generator = torch.Generator().manual_seed(0)
        self.train_set, self.test_set = random_split(self.data, [400, 100], generator=generator)
Fix safety
    Safe: the split is the same each time.
References
    lightning.LightningDataModule.setup
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence import splits
from torchsleuth.rules.evidence.uses import is_exact, subclasses
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax.forms import called, is_attribute, is_name, nodes_in

CODE = "TS676"
_SEEDS = ("seed_everything", "manual_seed", "seed")
_TESTS = ("test", "predict", "validate")


def find(analysis: Analysis) -> Iterator[Finding]:
    unseeded = splits.unseeded(analysis)
    for owner, _ in subclasses(analysis, lambda path: path.endswith(".LightningDataModule")) if unseeded else ():
        methods = {one.name: one for one in of_kind(owner.body, ast.FunctionDef)}
        setup = methods.get("setup")
        if setup is None or any(called(call) in _SEEDS for call in nodes_in(setup, ast.Call)):
            continue
        for statement in of_kind(setup.body, ast.Assign):
            call = statement.value
            seed = unseeded.get(id(call))
            if isinstance(call, ast.Call) and seed is not None and is_exact(call) and len(call.args) < 3:
                parts = [part.attr for part in nodes_in(statement, ast.Attribute) if isinstance(part.ctx, ast.Store)]
                if _serves(methods.get("train_dataloader"), parts) and _serves(methods.get("test_dataloader"), parts):
                    if _fits_and_tests(analysis):
                        yield _finding(analysis, call, seed)


def _serves(method: ast.FunctionDef | None, parts: list[str]) -> bool:
    """Whether a method reads one of the parts."""
    return method is not None and any(
        is_attribute(one, *parts) and is_name(one.value, "self") for one in nodes_in(method, ast.Attribute)
    )


def _fits_and_tests(analysis: Analysis) -> bool:
    names = {called(call) for source in analysis.sources for call in analysis.index(source.path).of_type(ast.Call)}
    return "fit" in names and not names.isdisjoint(_TESTS)


def _finding(analysis: Analysis, call: ast.Call, seed: str) -> Finding:
    changes = splits.seeded(analysis, (call,), seed)
    fix = Candidate(message("fix.insert", text=changes[-1].new_text.strip(", ")), changes)
    return Finding(analysis.source.span(call), message("split.anew", function=called(call), option=seed), (), (fix,))


RULE = Rule(FAULTS[CODE], find)
