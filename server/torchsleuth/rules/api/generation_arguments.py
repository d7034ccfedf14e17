"""generation-arguments: arguments of `generate()` that it refuses, or does not read.

What it finds
    `model.generate()` of transformers that is to return more sequences than there are beams, or several ones of a search without any
    chance; a `max_length` that the input of a decoder is as long as; and `temperature`, `top_p` or `top_k` without `do_sample=True`.
Why it hurts
    The first two end with a ValueError. Without `do_sample` the most likely token is taken every time: what shapes the
    probabilities is not read, and all results are the same.
Example
    model.generate(ids, max_new_tokens=20, temperature=0.8)
Use instead
    model.generate(ids, max_new_tokens=20, temperature=0.8, do_sample=True)
Fix safety
    Safe, but for sampling: the most likely tokens may be what is wanted.
References
    transformers.GenerationConfig
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.finetuning import are_causal
from torchsleuth.rules.rule import Analysis, Finding, Rule, added_argument, replacement
from torchsleuth.syntax.forms import argument_of, is_method_call, keyword_of, literal
from torchsleuth.values import Value

CODE = "TS829"
_SHAPING = ("temperature", "top_p", "top_k", "typical_p", "min_p", "epsilon_cutoff", "eta_cutoff")
"""Arguments that change the probabilities that tokens are drawn with."""
_NEUTRAL = {"temperature": (1, 1.0), "top_p": (1, 1.0)}
_ELSEWHERE = re.compile(
    r"generation_config|GenerationConfig|penalty_alpha|assistant_model|do_sample\s*=\s*(?!False)|dola_layers"
)
"""Other places from which generate() has its options, and searches that have options of their own."""


def find(analysis: Analysis) -> Iterator[Finding]:
    if not any(use.path.startswith("transformers.") for use in analysis.names.uses):
        return
    seen = {
        call.site.span: call for path, calls in analysis.calls.items() if path.endswith(".generate") for call in calls
    }
    source = analysis.source
    for node in analysis.index(source.path).of_type(ast.Call):
        if not is_method_call(node, "generate") or any(word.arg is None for word in node.keywords):
            continue
        call = seen.get(source.span(node))
        given = {str(word.arg): literal(word.value) for word in node.keywords}
        if call is not None:
            given = {**given, **{name: value for name, value in call.kwargs.items() if name in given}}
        if not {"generation_config", "custom_generate"} & given.keys():
            yield from _of_sequences(analysis, node, given)
            yield from _of_length(analysis, node, given)
            yield from _of_sampling(analysis, node, given)


def _of_sequences(analysis: Analysis, node: ast.Call, given: dict[str, Value]) -> Iterator[Finding]:
    """More results than beams; drawn ones may be as many as one likes."""
    source, wanted, beams = analysis.source, given.get("num_return_sequences"), given.get("num_beams", 1)
    sampled = given.get("do_sample", False)
    if (
        not isinstance(wanted, int)
        or not isinstance(beams, int)
        or wanted <= beams
        or _ELSEWHERE.search(_rest(analysis, node))
    ):
        return
    at = keyword_of(node, "num_return_sequences")
    if at is None or (beams == 1 and sampled is not False) or {"penalty_alpha", "num_beam_groups"} & given.keys():
        return
    if beams == 1:
        text, fix = message("generate.one", wanted=wanted), added_argument(source, node, "do_sample=True", safe=False)
    else:
        text, fix = message("generate.beams", wanted=wanted, beams=beams), replacement(source, at.value, str(beams))
    yield Finding(source.span(at), text, (), (fix,), "error")


def _rest(analysis: Analysis, node: ast.Call) -> str:
    """The document without a call."""
    return analysis.source.text.replace(analysis.source.segment(node), "")


def _of_length(analysis: Analysis, node: ast.Call, given: dict[str, Value]) -> Iterator[Finding]:
    """``max_length`` counts the prompt of a decoder."""
    most, at = given.get("max_length"), keyword_of(node, "max_length")
    if at is None or not isinstance(most, int) or not are_causal(analysis):
        return
    prompt = argument_of(node, 0, "inputs", "input_ids")
    if prompt is None or prompt.end_lineno is None or prompt.end_col_offset is None:
        return
    ends = prompt.end_lineno, prompt.end_col_offset
    seen = analysis.trace.facts.get((analysis.source.path, prompt.lineno, prompt.col_offset, *ends))
    shapes = [spec.shape for spec in seen.specs if spec.shape and len(spec.shape) == 2] if seen is not None else []
    length = min((shape[1] for shape in shapes if isinstance(shape[1], int)), default=None)
    if seen is None or length is None or len(shapes) != len(seen.specs):
        return
    if most <= length and "max_new_tokens" not in given:
        source = analysis.source
        text = message("generate.length", most=most, length=length)
        fix = replacement(source, at, f"max_new_tokens={source.segment(at.value)}", safe=False)
        yield Finding(source.span(at), text, (), (fix,), "error")


def _of_sampling(analysis: Analysis, node: ast.Call, given: dict[str, Value]) -> Iterator[Finding]:
    """Options of sampling where nothing is drawn."""
    source = analysis.source
    words = [word for word in node.keywords if word.arg in _SHAPING and _shapes(str(word.arg), given)]
    if not words or "do_sample" in given or _ELSEWHERE.search(_rest(analysis, node)):
        return
    text = message("generate.greedy", name=words[0].arg)
    yield Finding(source.span(words[0]), text, (), (added_argument(source, node, "do_sample=True", safe=False),))


def _shapes(name: str, given: dict[str, Value]) -> bool:
    """Whether an option is set to something for certain."""
    value = given[name]
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and value not in _NEUTRAL.get(name, ())
        and value > 0
    )


RULE = Rule(FAULTS[CODE], find)
