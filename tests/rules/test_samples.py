"""Every rule against its own examples, and against realistic positives and near misses in different styles."""

from __future__ import annotations

import pytest

from tests.check import analyze, check
from tests.rules.samples import Example, Sample, load_examples, load_samples


@pytest.fixture(autouse=True)
def newest_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lightning and transformers as if they were installed, which the tests do not need."""
    monkeypatch.setattr("torchsleuth.rules.api.hook_arguments.version_of", lambda *packages: (9, 9))


@pytest.mark.parametrize("example", list(load_examples()), ids=str)
def test_example(example: Example) -> None:
    code = example.code
    found = check(example.bad, example.fixed, also=code)
    assert code in [diagnostic.code for diagnostic in found]
    if example.good is not None:
        check(example.good, also=code)


@pytest.mark.parametrize("sample", list(load_samples()), ids=str)
def test_sample(sample: Sample) -> None:
    analysis = analyze(sample.text, sample.code)
    assert analysis.stats["internal_errors"] == []
    found = analysis.diagnostics
    shown = "\n".join(f"{item.start.line}: {item.code} {item.message}" for item in found)
    assert {item.start.line for item in found if item.code == sample.code} == set(sample.lines), shown
    noise = [item for item in found if item.code != sample.code]
    assert not [item for item in noise if item.severity in ("error", "warning")], shown
