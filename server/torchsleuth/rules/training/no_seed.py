"""no-seed: a training script that fixes no seed.

What it finds
    A script that trains a model and nowhere sets the seed of PyTorch's random numbers. Opt-in.
Why it hurts
    Two runs differ in their initial weights and batches: a result cannot be told from luck.
Example
    model = Net()
    train(model)
Use instead
    torch.manual_seed(0)
    model = Net()
    train(model)
Fix safety
    Unsafe: results change, once.
References
    torch.manual_seed, "Reproducibility"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import last_word
from torchsleuth.values import is_native

CODE = "TS520"


def find(analysis: Analysis) -> Iterator[Finding]:
    trace, path = analysis.trace, analysis.source.path
    others = {id(part) for part in analysis.index(path).of_type(ast.Attribute) if _is_other(part)}
    for part in analysis.index(path).nodes:
        name = last_word(part)
        if "seed" in name and id(part) not in others:
            return
    if any("seed" in path.rpartition(".")[2] and path.startswith("torch.") for path in analysis.calls):
        return
    for optimizer in trace.optimizers:
        site = optimizer.site
        if site is None or site.span.path != path:
            continue
        if any(event.loops for event in analysis.events_of(optimizer, "step")):
            yield Finding(site.span, message("seed.missing"), (), _seeded(analysis, site.scene.globals))
            return


def _is_other(node: ast.Attribute) -> bool:
    """Whether this seeds the random numbers of Python or NumPy, which PyTorch does not use."""
    return node.attr == "seed" and ast.unparse(node.value) in ("random", "np.random", "numpy.random")


def _seeded(analysis: Analysis, names: Mapping[object, object]) -> Iterator[Candidate]:
    torch = next((str(name) for name, value in names.items() if is_native(value, "torch")), None)
    tree = analysis.tree(analysis.source.path)
    imports = of_kind(tree.body, ast.Import, ast.ImportFrom)
    if torch is None or not imports:
        return
    text = f"{torch}.manual_seed(0)"
    edit = edits.insert_line_after(analysis.source, imports[-1], f"\n{text}")
    yield Candidate(message("fix.insert", text=text), (edit,), safe=False)


RULE = Rule(FAULTS[CODE], find, of_absence=True)
