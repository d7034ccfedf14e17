"""padding-of-tokens: a tokenizer of transformers whose padding is not what is done with its batches.

What it finds
    A tokenizer made without a padding token that is to pad; a batch padded on the right, the default, that a decoder continues with
    `generate()`; a padding token that is the end token, for a `DataCollatorForLanguageModeling` over texts that end with it: it leaves
    out every padding token of the labels, and so every end.
Why it hurts
    The first raises a ValueError. In the second the new tokens come behind the padding of all texts but the longest. In the third
    the model never learns to end, and goes on until the limit.
Example
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>")
    batch = tokenizer(prompts, padding=True, return_tensors="pt")
    model.generate(**batch)
Use instead
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", padding_side="left")
Fix safety
    Safe for the side. Which token pads is the author's choice.
References
    transformers.PreTrainedTokenizerFast; transformers.DataCollatorForLanguageModeling
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.interp.library.tokenizers import TOKENIZER
from torchsleuth.interp.trace import LibraryCall
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import are_causal, whole_call
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule, added_argument
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import (
    argument_of,
    assigned_pairs,
    is_attribute,
    is_method_call,
    is_name,
    keyword_of,
    last_word,
    literal,
    names_in,
    plain_name,
)
from torchsleuth.values import is_object

CODE = "TS645"
_PLAIN = ("PreTrainedTokenizerFast", "PreTrainedTokenizer", "TokenizersBackend")
"""Tokenizers that have the special tokens which they are given, and no others."""
_GIVES_TOKEN = re.compile(r"\bpad_token\b|add_special_tokens|enable_padding|\b_?pad_token_id\s*=(?!=)\s*tok")
_NO_PADDING = (False, None, "do_not_pad")


def find(analysis: Analysis) -> Iterator[Finding]:
    for call in _made(analysis):
        node = whole_call(call)
        statement = edits.enclosing_statement(analysis.tree(call.site.span.path), node) if node is not None else None
        name = plain_name(statement.targets[0]) if isinstance(statement, ast.Assign) else None
        if node is None or statement is None or name is None or call.site.span.path != analysis.source.path:
            continue
        yield from _without_token(analysis, call, node, statement, name)
        yield from _on_the_right(analysis, call, node, name)
        yield from _ends_left_out(analysis, call, name)


def _made(analysis: Analysis) -> list[LibraryCall]:
    """The tokenizers that are made of what is given, not loaded."""
    found = analysis.calls_at_places(*_PLAIN)
    return [call for call in found if is_object(call.result, TOKENIZER) and call.path.startswith("transformers.")]


def _padded(analysis: Analysis, name: str) -> Iterator[tuple[ast.Call, ast.keyword]]:
    """The calls of a tokenizer that pad, with the argument that says so."""
    for call in analysis.index(analysis.source.path).of_type(ast.Call):
        word = keyword_of(call, "padding") if is_name(call.func, name) else None
        if word is not None and isinstance(word.value, ast.Constant) and literal(word.value) not in _NO_PADDING:
            yield call, word


def _without_token(
    analysis: Analysis, call: LibraryCall, node: ast.Call, statement: ast.stmt, name: str
) -> Iterator[Finding]:
    source = analysis.source
    if "pad_token" in call.kwargs or _GIVES_TOKEN.search(source.text.replace(source.segment(node), "")):
        return
    for _, word in list(_padded(analysis, name))[:1]:
        fixes: tuple[Candidate, ...] = ()
        if "eos_token" in call.kwargs:
            line = f"{name}.pad_token = {name}.eos_token"
            fixes = (Candidate(message("fix.insert", text=line), (edits.insert_line_after(source, statement, line),)),)
        places = (call.site.span.related(message("tokens.made")),)
        yield Finding(source.span(word), message("tokens.no_pad", name=name), places, fixes, "error")


def _on_the_right(analysis: Analysis, call: LibraryCall, node: ast.Call, name: str) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    if not are_causal(analysis) or "padding_side" in source.text or "position_ids" in source.text:
        return
    padded = [one for one, _ in _padded(analysis, name) if one.args and not _is_one_text(one.args[0])]
    pairs = [pair for one in index.of_type(ast.Assign) for pair in assigned_pairs(one)]
    batches = {plain_name(target) for target, value in pairs if any(one in ast.walk(value) for one in padded)} - {None}
    for one in index.of_type(ast.Call):
        if is_method_call(one, "generate") and names_in(*one.args, *(word.value for word in one.keywords)) & batches:
            places = (source.span(one.func).related(message("tokens.continued")),)
            fix = added_argument(source, node, 'padding_side="left"')
            yield Finding(call.site.span, message("tokens.right", name=name), places, (fix,))
            return


def _is_one_text(node: ast.expr) -> bool:
    """Whether something is a single text for certain, or a list of one."""
    return isinstance(node, ast.Constant | ast.JoinedStr) or (isinstance(node, ast.List) and len(node.elts) == 1)


def _ends_left_out(analysis: Analysis, call: LibraryCall, name: str) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    shared = [
        one
        for one in index.of_type(ast.Assign)
        for target, value in assigned_pairs(one)
        if is_attribute(target, "pad_token") and is_attribute(value, "eos_token") and is_name(target.value, name)
    ]
    collators = [
        one
        for one in index.of_type(ast.Call)
        if last_word(one.func) == "DataCollatorForLanguageModeling" and literal(argument_of(one, 1, "mlm")) is False
    ]
    end = call.kwargs.get("eos_token")
    texts = (one.value for one in index.of_type(ast.Constant) if isinstance(one.value, str))
    ends = isinstance(end, str) and any(text.endswith(end) and text != end for text in texts)
    ends = ends or any(map(_has_end, index.of_type(ast.BinOp))) or any(map(_has_end, index.of_type(ast.FormattedValue)))
    if shared and collators and ends:
        places = (source.span(collators[0]).related(message("tokens.collator")),)
        yield Finding(source.span(shared[0]), message("tokens.ends"), places)


def _has_end(node: ast.BinOp | ast.FormattedValue) -> bool:
    """``text + tokenizer.eos_token``"""
    parts = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    return any(is_attribute(part, "eos_token") for part in parts)


RULE = Rule(FAULTS[CODE], find)
