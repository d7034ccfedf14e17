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
from torchsleuth.rules.evidence.uses import is_exact, subclasses, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Edit
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import called, is_attribute, is_name, nodes_in

CODE = "TS676"
_SPLITS = {"random_split": "generator", "train_test_split": "random_state"}
"""Functions that split at random, and the argument that makes each split the same."""
_SEEDS = ("seed_everything", "manual_seed", "seed")
_TESTS = ("test", "predict", "validate")


def find(analysis: Analysis) -> Iterator[Finding]:
    for owner, _ in subclasses(analysis, lambda path: path.endswith(".LightningDataModule")):
        methods = {one.name: one for one in of_kind(owner.body, ast.FunctionDef)}
        setup = methods.get("setup")
        if setup is None or any(called(call) in _SEEDS for call in nodes_in(setup, ast.Call)):
            continue
        for statement in of_kind(setup.body, ast.Assign):
            call = statement.value
            if isinstance(call, ast.Call) and called(call) in _SPLITS and is_exact(call) and not _is_fixed(call):
                parts = [part.attr for part in nodes_in(statement, ast.Attribute) if isinstance(part.ctx, ast.Store)]
                if _serves(methods.get("train_dataloader"), parts) and _serves(methods.get("test_dataloader"), parts):
                    if _fits_and_tests(analysis):
                        yield _finding(analysis, call)


def _is_fixed(call: ast.Call) -> bool:
    return any(one.arg == _SPLITS[called(call)] for one in call.keywords) or len(call.args) > 2


def _serves(method: ast.FunctionDef | None, parts: list[str]) -> bool:
    """Whether a method reads one of the parts."""
    return method is not None and any(
        is_attribute(one, *parts) and is_name(one.value, "self") for one in nodes_in(method, ast.Attribute)
    )


def _fits_and_tests(analysis: Analysis) -> bool:
    names = {called(call) for source in analysis.sources for call in analysis.index(source.path).of_type(ast.Call)}
    return "fit" in names and not names.isdisjoint(_TESTS)


def _finding(analysis: Analysis, call: ast.Call) -> Finding:
    source, option = analysis.source, _SPLITS[called(call)]
    value, imports = "0", tuple[Edit, ...]()
    if option == "generator":
        made, imports = written(analysis, "torch.Generator")
        value = f"{made}().manual_seed(0)"
    changes = (edits.add_argument(source, call, f"{option}={value}"), *imports)
    fix = Candidate(message("fix.insert", text=f"{option}={value}"), changes)
    return Finding(source.span(call), message("split.anew", function=called(call), option=option), (), (fix,))


RULE = Rule(FAULTS[CODE], find)
