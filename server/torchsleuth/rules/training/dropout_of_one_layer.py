"""dropout-of-one-layer: a recurrent layer whose dropout never acts.

What it finds
    `dropout=` of an LSTM, a GRU or an RNN that is written for a single layer. It acts between the layers, and there is none
    after the last one.
Why it hurts
    Nothing is dropped, and the model overfits as if the option were not there; PyTorch says so in a UserWarning.
Example
    nn.LSTM(32, 64, dropout=0.3)
Use instead
    nn.LSTM(32, 64, num_layers=2, dropout=0.3)
Fix safety
    Removing the option changes nothing, and is safe; a second layer is another model.
References
    torch.nn.LSTM
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import keyword_of

CODE = "TS538"
_LAYERS = 2
"""The place of num_layers among the arguments."""


def find(analysis: Analysis) -> Iterator[Finding]:
    for name in ("LSTM", "GRU", "RNN"):
        for call in analysis.calls.get(f"torch.nn.{name}", ()):
            node = call.site.call
            if node is not None and not any(part.arg is None for part in node.keywords):
                rate, layers = keyword_of(node, "dropout"), keyword_of(node, "num_layers")
                given = node.args[_LAYERS] if len(node.args) > _LAYERS else layers.value if layers else None
                one = given is None or (isinstance(given, ast.Constant) and given.value == 1)
                if rate is not None and one and _is_rate(rate.value) and not call.guarded:
                    yield _finding(analysis, call.site.span.path, node, rate, name)


def _is_rate(node: ast.expr) -> bool:
    """A rate in the text itself: one from a configuration may be there for other configurations."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value > 0


def _finding(analysis: Analysis, path: str, node: ast.Call, rate: ast.keyword, name: str) -> Finding:
    source = analysis.source_of(path)
    text = source.segment(rate)
    removed = Candidate(message("fix.remove", text=text), (edits.remove_keyword(source, node, rate),))
    layers = keyword_of(node, "num_layers")
    if layers is not None:
        change = edits.replace(source, layers.value, "2")
    elif len(node.args) > _LAYERS:
        change = edits.replace(source, node.args[_LAYERS], "2")
    else:
        change = edits.insert(source, source.start_of(rate), "num_layers=2, ")
    more = Candidate(message("fix.add_argument", argument="num_layers=2"), (change,), safe=False)
    return Finding(source.span(rate), message("dropout.one_layer", layer=name, text=text), (), (removed, more))


RULE = Rule(FAULTS[CODE], find)
