"""The rules that need no PyTorch: what they find alone is what they find with it, and they are quickly there."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.check import PATH, analyze, split_carets
from tests.rules.samples import load_examples, load_samples
from torchsleuth.faults import FAULTS
from torchsleuth.rules.registry import RULES
from torchsleuth.schema import FileAnalysis
from torchsleuth.syntax.text import SourceText
from torchsleuth.worker.client import WorkerClient
from torchsleuth.worker.syntax import SyntaxEngine

SYNTACTIC = tuple(code for code, fault in FAULTS.items() if fault.syntactic)
TEXTS = [
    *(
        pytest.param(split_carets(text)[0], id=str(example))
        for example in load_examples()
        for text in (example.bad, example.good or "")
        if example.code in SYNTACTIC
    ),
    *(pytest.param(sample.text, id=str(sample)) for sample in load_samples()),
]  # fmt: skip
OLD = """\
import torch
from torch import nn

q, r = torch.qr(torch.randn(3, 3))
l = torch.cholesky(torch.eye(3))
nn.Linear(8, 3)(torch.randn(4, 5))
"""


def said(analysis: FileAnalysis) -> set[tuple[object, ...]]:
    found = analysis.diagnostics
    return {(item.code, item.start, item.end, item.severity, item.message) for item in found if item.code in SYNTACTIC}


@pytest.mark.parametrize("text", TEXTS)
def test_with_pytorch_the_same_is_said(text: str) -> None:
    alone = SyntaxEngine().analyze(PATH, text, codes=tuple(RULES))
    assert alone.stats["internal_errors"] == []
    assert not said(alone) or said(alone) <= said(analyze(text, *SYNTACTIC))


@pytest.mark.parametrize("code", SYNTACTIC)
def test_each_rule_finds_its_fault_alone(code: str) -> None:
    """But for what only the analysis tells: that something is a tensor."""
    texts = [split_carets(example.bad)[0] for example in load_examples() if example.code == code]
    texts += [sample.text for sample in load_samples() if sample.code == code and sample.lines]
    assert any(SyntaxEngine().analyze(PATH, text, codes=(code,), verify=False).diagnostics for text in texts)


def test_fixes_are_verified() -> None:
    found = SyntaxEngine().analyze(PATH, OLD).diagnostics
    assert [item.code for item in found] == ["TS802", "TS802"]
    source = SourceText(PATH, OLD)
    assert "torch.linalg.qr(torch.randn(3, 3))" in source.apply(found[0].fixes[0].edits)
    both = source.apply(found[0].fixes[-1].edits)
    assert "torch.linalg.qr(" in both and "torch.linalg.cholesky(" in both
    assert all(fix.verified for item in found for fix in item.fixes)


def test_what_does_not_parse_is_left_out() -> None:
    found = SyntaxEngine().analyze(PATH, OLD + "def half(:\n").diagnostics
    assert [item.code for item in found] == ["TS802", "TS802"]


def test_nothing_but_its_rules_is_loaded() -> None:
    code = """
        import sys
        from torchsleuth.worker.syntax import SyntaxEngine
        SyntaxEngine().analyze("a.py", "import torch")
        loaded = {name.removeprefix("torchsleuth.rules.") for name in sys.modules}
        from torchsleuth.faults import FAULTS
        others = {fault.rule for fault in FAULTS.values() if not fault.syntactic}
        sys.exit("torch" in sys.modules or bool(loaded & others))
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(code)]).returncode == 0


def test_served_by_a_process_that_never_imports_torch() -> None:
    worker = WorkerClient(syntax=True)
    try:
        assert [item.code for item in worker.analyze(PATH, OLD).diagnostics] == ["TS802", "TS802"]
        assert worker.pid is not None
        mapped = Path(f"/proc/{worker.pid}/maps").read_text() if sys.platform == "linux" else ""
        assert "libtorch" not in mapped
    finally:
        worker.close()
