"""padding-initialised: the row of an embedding that stands for padding is drawn at random like the others.

What it finds
    A function of torch.nn.init that fills the weight of an embedding with `padding_idx`, and nothing that sets that row to 0 again.
Why it hurts
    The row was 0, so that padding added nothing. It never gets a gradient: the random numbers stay in it for ever, and the output
    for a sequence depends on how far it is filled up.
Example
    self.embedding = nn.Embedding(1000, 64, padding_idx=0)
    nn.init.xavier_uniform_(self.embedding.weight)
Use instead
    self.embedding = nn.Embedding(1000, 64, padding_idx=0)
    nn.init.xavier_uniform_(self.embedding.weight)
    nn.init.zeros_(self.embedding.weight[0])
Fix safety
    Safe: the row is what the embedding made it.
References
    torch.nn.Embedding
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.constructors import held
from torchsleuth.rules.evidence.loops import is_alone, statement_of
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.schema import Span
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_attribute, nodes_in, targets_of
from torchsleuth.tensors.dims import is_number
from torchsleuth.values import LibraryModule

CODE = "TS579"
_ZEROS = ("zeros_", "constant_")
_EMPTYING = frozenset(
    {"zero_", "zeros_", "fill_", "constant_", "index_fill_", "copy_", "load_state_dict", "from_pretrained"}
)


def find(analysis: Analysis) -> Iterator[Finding]:
    seen: set[Span] = set()
    for path, calls in analysis.calls.items():
        if not path.startswith("torch.nn.init.") or path.endswith(_ZEROS):
            continue
        for call in calls:
            weight = argument_of(call.site.call, 0, "tensor") if call.site.call is not None else None
            while is_attribute(weight, "data"):
                weight = weight.value
            layer = held(weight.value, call.site.scene) if is_attribute(weight, "weight") else None
            row = layer.given(2, "padding_idx") if isinstance(layer, LibraryModule) else None
            embeds = isinstance(layer, LibraryModule) and layer.type_name in ("Embedding", "EmbeddingBag")
            if weight is None or not embeds or not is_number(row) or call.site.span in seen:
                continue
            seen.add(call.site.span)
            if not _emptied(analysis, call):
                text = message("padding.initialised", row=row, name=call.name)
                yield Finding(call.site.span, text, (), tuple(_set_back(analysis, call, weight, row)))


def _emptied(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether anything in the file may set a row of a weight to 0, or all of it to what was learned."""
    tree = analysis.tree(call.site.span.path)
    for node in nodes_in(tree, ast.Call, ast.Assign):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _EMPTYING and "weight" in ast.unparse(node):
                return True
            if is_attribute(node.func, "load_state_dict", "from_pretrained"):
                return True
        elif any(isinstance(one, ast.Subscript) and "weight" in ast.unparse(one) for one in targets_of(node)):
            return True
    return False


def _set_back(analysis: Analysis, call: LibraryCall, weight: ast.expr, row: int) -> Iterator[Candidate]:
    statement, source, node = statement_of(analysis, call.site), call.site.source, call.site.call
    if statement is None or node is None or not is_alone(statement, analysis, call.site.span.path):
        return
    prefix = source.segment(node.func).removesuffix(call.name)
    if prefix.endswith("."):
        line = f"{prefix}zeros_({source.segment(weight)}[{row}])"
        yield Candidate(message("fix.insert", text=line), (edits.insert_line_after(source, statement, line),))


RULE = Rule(FAULTS[CODE], find)
