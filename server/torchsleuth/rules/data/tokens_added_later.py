"""tokens-added-later: tokens are added to a tokenizer after a model was made for as many as there were.

What it finds
    `tokenizer.add_special_tokens(…)` or `add_tokens(…)` behind a model, a configuration or an embedding that was made with
    `len(tokenizer)`, in a program that never resizes the embedding; one that is made with `tokenizer.vocab_size`, which counts no
    token that was added.
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
from torchsleuth.interp.library.tokenizers import ADDING, TOKENIZER
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, replacement
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    called,
    is_attribute,
    is_definition,
    is_display,
    is_method_call,
    is_name,
    literal,
    nodes_in,
    plain_name,
)
from torchsleuth.values import DictValue, LibraryObject, Value, is_object, items_of

CODE = "TS639"
_PLAIN = frozenset("int float str range max min print sum abs".split())
"""Functions that compute with the number of tokens, and make nothing with as many rows."""
_RESIZES = ("resize_token_embeddings", "resize_embeddings", "set_input_embeddings")
_USUAL = frozenset(
    "[PAD] [UNK] [CLS] [SEP] [MASK] <pad> <unk> <cls> <sep> <mask> <s> </s> <bos> <eos> <|endoftext|>".split()
)
"""Tokens that a tokenizer which somebody has trained may well have."""


def find(analysis: Analysis) -> Iterator[Finding]:
    texts = [source.text for source in analysis.sources]
    adds = any(f".{name}(" in text for name in ADDING for text in texts)
    if not adds or any(word in text for word in _RESIZES for text in texts):
        return
    told = set()
    for finding in (*_in_order(analysis), *_by_number(analysis)):
        if finding.at not in told:
            told.add(finding.at)
            yield finding


def _in_order(analysis: Analysis) -> Iterator[Finding]:
    """The layers and configurations that a function makes for the tokens that there are, before it adds some."""
    source = analysis.source
    for scope in analysis.scopes:
        for place, statement in enumerate(scope.body):
            adding = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
            if not is_method_call(adding, *ADDING) or not adding.args or not _adds(adding.args[0]):
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


def _by_number(analysis: Analysis) -> Iterator[Finding]:
    """The layers and configurations for the tokens of a tokenizer without those that are added to it, in whatever functions and files."""
    calls = analysis.trace.calls
    adding = [(place, call) for place, call in enumerate(calls) if _is_sure(analysis, call)]
    tokenizers = {id(call.receiver): call.receiver for _, call in adding}
    rows = [(place, call, _rows(call)) for place, call in enumerate(calls) if adding and _rows(call) is not None]
    for one in of_kind(tokenizers.values(), LibraryObject):
        before, counts = one.slots.get("before"), one.slots.get("counts", ())
        added = [(place, call) for place, call in adding if call.receiver is one]
        if any(count in counts and place > added[-1][0] for place, _, count in rows):
            continue  # Something has rows for all of them.
        for place, call, count in rows:
            later = added if count == before else [pair for pair in added if count in counts and pair[0] > place]
            if later and not _is_set_again(call):
                yield _without(analysis, call, later[0][1], count == before)


def _is_sure(analysis: Analysis, call: LibraryCall) -> bool:
    """Whether a call adds a token that the tokenizer cannot have had."""
    tokenizer = as_kind(call.receiver, LibraryObject)
    if call.name not in ADDING or not is_object(tokenizer, TOKENIZER) or not call.certain or call.guarded:
        return False
    tokens = [
        one for one in _texts(call.given(0, "new_tokens", call.given(0, "special_tokens_dict"))) if not one.isalnum()
    ]
    if tokenizer is not None and tokenizer.args == (True,):
        return any(one not in _USUAL for one in tokens)
    return any(_mentions(analysis, one) == 1 for one in tokens)


def _texts(value: Value) -> Iterator[str]:
    """The tokens in a text, a list of them, or a dict of such."""
    if isinstance(value, str):
        yield value
    for part in (value.items or {}).values() if isinstance(value, DictValue) else items_of(value) or ():
        yield from _texts(part)


def _mentions(analysis: Analysis, text: str) -> int:
    """How often a text is written down: a token of which this is so once is in no vocabulary that the program makes."""
    nodes = (node for source in analysis.sources for node in analysis.index(source.path).of_type(ast.Constant))
    return sum(node.value == text for node in nodes)


def _rows(call: LibraryCall) -> Value:
    """The number of tokens that a configuration or an embedding is made for; None for other calls."""
    if call.path.startswith("transformers.") and call.path.endswith("Config"):
        return call.given(0, "vocab_size")
    return call.given(0, "num_embeddings") if call.path == "torch.nn.Embedding" else None


def _is_set_again(call: LibraryCall) -> bool:
    """Whether a configuration has got another number since."""
    return isinstance(call.result, LibraryObject) and "vocab_size" in call.result.slots


def _without(analysis: Analysis, call: LibraryCall, added: LibraryCall, never: bool) -> Finding:
    """`never`: it is of a number that leaves out what was added before, too."""
    source, node = call.site.source, call.site.call
    given = None if node is None else argument_of(node, 0, "vocab_size", "num_embeddings")
    span = call.site.span if given is None else source.span(given)
    related = (added.site.span.related(message("tokens.added")),)
    if not never:
        return Finding(added.site.span, message("tokens.afterwards"), (span.related(message("tokens.sized")),))
    fixes: tuple[Candidate, ...] = ()
    if is_attribute(given, "vocab_size"):
        fixes = (replacement(source, given, f"len({source.segment(given.value)})"),)
    return Finding(span, message("tokens.without"), related, fixes)


RULE = Rule(FAULTS[CODE], find)
