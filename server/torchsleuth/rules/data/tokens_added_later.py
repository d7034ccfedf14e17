"""tokens-added-later: tokens are added to a tokenizer after a model was made for as many as there were.

What it finds
    `tokenizer.add_special_tokens(…)` or `add_tokens(…)` behind a model, a configuration or an embedding that was made with
    `len(tokenizer)`, in a file that never resizes the embedding.
Why it hurts
    The new tokens have numbers beyond the last row of the embedding. The first batch with one of them raises "index out of range in
    self", or, on a GPU, a device-side assert.
Example
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer)))
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
Use instead
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer)))
Fix safety
    Safe: the tokens are the same, and the model has a row for each.
References
    transformers.PreTrainedModel.resize_token_embeddings
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    called,
    is_definition,
    is_display,
    is_method_call,
    is_name,
    literal,
    nodes_in,
    plain_name,
)

CODE = "TS639"
_ADDING = ("add_special_tokens", "add_tokens")
_PLAIN = frozenset("int float str range max min print sum abs".split())
"""Functions that compute with the number of tokens, and make nothing with as many rows."""
_RESIZES = ("resize_token_embeddings", "resize_embeddings")


def find(analysis: Analysis) -> Iterator[Finding]:
    source = analysis.source
    if not any(f".{name}(" in source.text for name in _ADDING) or any(word in source.text for word in _RESIZES):
        return
    for scope in analysis.scopes:
        for place, statement in enumerate(scope.body):
            adding = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
            if not is_method_call(adding, *_ADDING) or not adding.args or not _adds(adding.args[0]):
                continue
            name = plain_name(adding.func.value)
            sized = [one for one in scope.body if not is_definition(one) and (part := _sized_by(one, name)) is not None]
            before = [one for one in scope.body[:place] if one in sized]
            if name is None or not before or len(before) < len(sized):
                continue  # what is made behind it has rows for them
            part = _sized_by(before[0], name)
            text = message("tokens.later", tokenizer=f"`{name}`", line=before[0].lineno)
            related = (source.span(part).related(message("tokens.sized")),) if part is not None else ()
            yield Finding(source.span(adding), text, related, tuple(_moved(analysis, statement, before[0], name)))


def _adds(given: ast.expr) -> bool:
    """Whether tokens are named or written out, at least one of them: one that is there, as ``tokenizer.eos_token``, adds nothing."""
    return isinstance(given, ast.Name) or any(isinstance(part, str) for part in map(literal, _tokens(given)))


def _tokens(given: ast.expr) -> Iterator[ast.expr]:
    """The tokens in a display of them."""
    parts = given.values if isinstance(given, ast.Dict) else given.elts if is_display(given) else [given]
    for part in parts:
        yield from [part] if part is given or not is_display(part) else _tokens(part)


def _sized_by(statement: ast.stmt, name: str | None) -> ast.expr | None:
    """``len(tokenizer)`` among the arguments of a call that makes something."""
    if not isinstance(statement, ast.Assign):
        return None
    for call in nodes_in(statement.value, ast.Call):
        if called(call) in _PLAIN:
            continue
        for given in (*call.args, *(word.value for word in call.keywords)):
            if called(given) == "len" and isinstance(given, ast.Call) and any(is_name(one, name) for one in given.args):
                return given
    return None


def _moved(analysis: Analysis, statement: ast.stmt, first: ast.stmt, name: str) -> Iterator[Candidate]:
    source = analysis.source
    if statement.lineno == statement.end_lineno:
        text = source.segment(statement)
        changes = (edits.remove_line(source, statement.lineno), edits.insert_line_before(source, first, text))
        yield Candidate(message("fix.move_before", text=text, line=first.lineno), changes)


RULE = Rule(FAULTS[CODE], find)
