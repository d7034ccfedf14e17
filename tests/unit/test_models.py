"""The registry of models: how names are found, and that every registered name exists in the package it is said to be in."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.check import analyze, engine
from torchsleuth.interp import models
from torchsleuth.interp.library import registered
from torchsleuth.interp.models import Model, attribute, method
from torchsleuth.tensors.spec import Native

NEWER = {"torch.nn.functional.linear_cross_entropy"}
"""Names that older versions of a package have not."""


def exists(name: str) -> bool:
    """Whether a public name, or for a family of names something that begins so, is in the package. Raises ImportError where
    the package is not installed."""
    parts = name.split(".")
    importlib.import_module(parts[0])
    held, rest = None, parts
    for length in range(len(parts), 0, -1):
        try:
            held, rest = importlib.import_module(".".join(parts[:length])), parts[length:]
            break
        except ImportError:
            continue
    for part in rest:
        if part.endswith("*"):
            return any(one.startswith(part[:-1]) for one in dir(held))
        if not hasattr(held, part):
            return False
        held = getattr(held, part)
    return True


@pytest.mark.parametrize("name", sorted(models.registered()))
def test_every_registered_name_exists(name: str) -> None:
    try:
        found = exists(name)
    except ImportError:
        pytest.skip(f"{name.partition('.')[0]} is not installed")
    assert found or name in NEWER


@pytest.mark.parametrize("name", sorted(name for name in models.registered() if not name.endswith("*")))
def test_what_has_several_names_has_its_model_under_the_one_that_the_analysis_uses(name: str) -> None:
    """``torch.amp.GradScaler`` is ``torch.GradScaler``: the oracle gives each object one name."""
    try:
        found = engine().oracle.resolve(name)
    except LookupError:
        return
    if isinstance(found, Native) and found.path != name:
        assert models.of_function(found.path) == models.of_function(name), found.path


def test_a_wrong_name_is_found_out() -> None:
    assert not exists("torch.nn.functional.gelo")
    assert not exists("torch.optim.nothing_of_the_kind.*")
    assert not exists("torch.nn.utils.clop_grad*")


def test_the_longest_name_goes_first() -> None:
    assert registered.optim.Scheduler is models.of_class("torch.optim.lr_scheduler.StepLR")
    assert registered.optim.Optimizer is models.of_class("torch.optim.Adam")
    assert models.of_class("somewhere.Else") is Model
    assert models.of_function("somewhere.otherwise") is None
    assert models.of_function("torch.optim.Adam", whole=True) is None


def test_a_name_has_one_model() -> None:
    with pytest.raises(AssertionError, match=r"torch\.save has two models"):
        models.models("torch.save")(lambda interp, call: None)


def test_methods_and_attributes_are_what_is_marked() -> None:
    class Base(Model):
        @method
        def step(self, call: Any) -> str:
            return "step"

        @attribute("width", "height")
        def side(self, node: Any, frame: Any) -> str:
            return self.name

        def helper(self) -> None: ...

    class Derived(Base):
        @method("step", "advance")
        def further(self, call: Any) -> str:
            return "further"

    assert set(Base.methods) == {"step"}
    assert set(Base.attributes) == set(Derived.attributes) == {"width", "height"}
    assert {name: function(None, None) for name, function in Derived.methods.items()} == {
        "step": "further",
        "advance": "further",
    }


def marked(model: type[Model]) -> list[tuple[str, Callable[..., Any]]]:
    return [*model.methods.items(), *model.attributes.items()]


def every_model() -> list[type[Model]]:
    found, pending = [], [Model]
    while pending:
        found += (below := pending.pop().__subclasses__())
        pending += below
    ours = [model for model in found if model.__module__.startswith("torchsleuth.")]
    return sorted(ours, key=lambda model: (model.__module__, model.__name__))


@pytest.mark.parametrize("model", every_model(), ids=lambda model: model.__name__)
def test_methods_take_what_they_are_given(model: type[Model]) -> None:
    assert inspect.getdoc(model)
    for name, function in marked(model):
        wanted = ["self", "call"] if name in model.methods else ["self", "node", "frame"]
        assert list(inspect.signature(function).parameters) == wanted, name


def test_the_events_of_an_accelerator_measure_a_float() -> None:
    """The example in CONTRIBUTING.md."""
    text = """
import torch
start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
scale = torch.ones(3)
start.record()
end.record()
end.synchronize()
torch.zeros({size}, 4)
"""
    wrong = analyze(text.format(size="start.elapsed_time(end)"))
    assert [found.code for found in wrong.diagnostics] == ["TS312"]
    assert not analyze(text.format(size="int(start.elapsed_time(end)) + 1")).diagnostics


def test_the_causal_mask_is_a_square_of_the_dtype_that_is_asked_for() -> None:
    text = """
        import torch
        from torch import nn

        model = nn.Transformer(16, 2)
        x = torch.zeros(3, 3, dtype=torch.float64)
        first = x + model.generate_square_subsequent_mask(4)
        second = x.float() @ nn.Transformer.generate_square_subsequent_mask(3, x.device, x.dtype)
    """
    found = analyze(textwrap.dedent(text))
    assert [(one.code, one.start.line) for one in found.diagnostics] == [("TS103", 7), ("TS301", 8)]


def test_metrics_of_torchmetrics_are_told_their_task(monkeypatch: pytest.MonkeyPatch) -> None:
    versions: dict[str, tuple[int, ...] | None] = {"torchmetrics": (1, 4)}
    monkeypatch.setattr("torchsleuth.interp.library.torchmetrics.version_of", versions.get)
    text = "import torch\nfrom torchmetrics import Accuracy\nmetric = Accuracy({})\n"
    assert [one.code for one in analyze(text.format("num_classes=3")).diagnostics] == ["TS820"]
    assert not analyze(text.format("task='multiclass', num_classes=3")).diagnostics
    versions["torchmetrics"] = (0, 10)
    assert not analyze(text.format("num_classes=3")).diagnostics, "it had no task before"
