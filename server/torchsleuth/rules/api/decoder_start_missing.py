"""decoder-start-missing: an encoder and a decoder put together, and trained, without the token that the decoder begins with.

What it finds
    An `EncoderDecoderModel` made of two models or configurations, called with `labels`, in a program that sets no `decoder_start_token_id`.
Why it hurts
    The labels are shifted by one to make the decoder's inputs, and nothing stands before the first: ValueError "Make sure to set the
    decoder_start_token_id attribute of the model's configuration."
Example
    model = EncoderDecoderModel.from_encoder_decoder_pretrained("bert-base-uncased", "bert-base-uncased")
    loss = model(input_ids=ids, labels=labels).loss
Use instead
    model.config.decoder_start_token_id = tokenizer.cls_token_id
    loss = model(input_ids=ids, labels=labels).loss
Fix safety
    No fix: which token begins is the tokenizer's choice.
References
    transformers.EncoderDecoderModel
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.rule import Analysis, Finding, Rule
from torchsleuth.syntax.forms import assigned_pairs, contains, keyword_of, last_word

CODE = "TS831"
_PUT_TOGETHER = ("from_encoder_decoder_pretrained", "from_encoder_decoder_configs")
_ELSEWHERE = ("decoder_start_token_id", "decoder_input_ids", "decoder_inputs_embeds")


def find(analysis: Analysis) -> Iterator[Finding]:
    source, index = analysis.source, analysis.index(analysis.source.path)
    uses = [use for use in analysis.names.uses if use.path.startswith("transformers.")]
    together = any(use.path.endswith(_PUT_TOGETHER) for use in uses)
    if not together or any(word in source.text for word in _ELSEWHERE):
        return
    made = {use.call for use in uses if use.call is not None and "EncoderDecoderModel" in use.path}
    made -= {use.call for use in uses if use.path.endswith(".from_pretrained")}
    pairs = (pair for one in index.of_type(ast.Assign) for pair in assigned_pairs(one))
    names = {
        last_word(target)
        for target, value in pairs
        if any(contains(value, ast.Call) and one in ast.walk(value) for one in made)
    }
    for call in index.of_type(ast.Call):
        if last_word(call.func) in names - {""} and keyword_of(call, "labels") is not None:
            yield Finding(source.span(call), message("decoder.start", name=source.segment(call.func)))
            return


RULE = Rule(FAULTS[CODE], find)
