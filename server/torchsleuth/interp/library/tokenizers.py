"""Tokenizers of transformers: how many tokens there were before any were added, and what is asked of them beside."""

from __future__ import annotations

import ast

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.models import Model, attribute, method, models
from torchsleuth.tensors.dims import Size
from torchsleuth.values import UNKNOWN, LibraryObject, Value
from torchsleuth.values.frames import Frame

TOKENIZER = "transformers.PreTrainedTokenizerBase"
COLLATORS = ("transformers.DataCollatorWithPadding", "transformers.DataCollatorForLanguageModeling")
"""Collate functions that pad what a tokenizer gives, and make tensors of everything else as it is."""
ADDING = ("add_special_tokens", "add_tokens")
_ENDINGS = ("Tokenizer", "TokenizerFast")


def makes(path: str) -> bool:
    """Whether a call of this name makes a tokenizer: of its class, or of what is loaded for it."""
    owner, _, name = path.rpartition(".")
    return (owner if name == "from_pretrained" else path).endswith(_ENDINGS)


def made(interp: Interpreter, call: Arguments) -> LibraryObject:
    """Its argument: whether its tokens were read from what somebody else has trained."""
    loaded = call.path.endswith(".from_pretrained")
    return LibraryObject(TOKENIZER, (loaded,), call.kwargs, interp.site(call.node, call.frame))


@models(TOKENIZER)
class Tokenizer(Model):
    """A tokenizer. Slot `before`: the number of its tokens but for those that were added, once something has asked; slot `now`:
    that of all of them, until more are added; slot `counts`: all numbers that this has been."""

    def get(self, node: ast.AST, frame: Frame) -> Value:
        found = super().get(node, frame)
        known = self.name in self.value.slots or self.name in self.methods or self.name in self.attributes
        return found if known else UNKNOWN

    @attribute
    def vocab_size(self, node: ast.AST, frame: Frame) -> Value:
        """Tokens that are added, before or afterwards, do not count."""
        if "before" not in self.value.slots:
            self.interp.heap.set(self.value.slots, "before", self.interp.fresh_size("vocab_size"))
        return self.value.slots["before"]

    def length(self, frame: Frame) -> Size | None:
        slots, interp = self.value.slots, self.interp
        if slots.get("now") is None or self.value.identity in interp.trace.escaped:
            count = interp.fresh_size("tokens")
            interp.heap.set(slots, "now", count)
            interp.heap.set(slots, "counts", (*slots.get("counts", ()), count))
        found: Size = slots["now"]
        return found

    @method(*ADDING)
    def added(self, call: Arguments) -> Value:
        self.interp.heap.set(self.value.slots, "now", None)
        return self.interp.fresh_size("?", positive=False)


@models(*COLLATORS)
class Collator(Model):
    """A collate function. What it gives is not known."""

    def get(self, node: ast.AST, frame: Frame) -> Value:
        found: Value = self.value.slots.get(self.name, UNKNOWN)
        return found


__all__ = ["ADDING", "COLLATORS", "TOKENIZER", "made", "makes"]
