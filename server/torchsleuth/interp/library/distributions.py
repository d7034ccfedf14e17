"""torch.distributions: samples, probabilities and statistics of a distribution are what torch makes of its parameters."""

from __future__ import annotations

import ast
from typing import TypeGuard

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import torch_calls
from torchsleuth.interp.models import Model, attribute, models, of_class
from torchsleuth.values import LibraryObject, Tensor, Value
from torchsleuth.values.frames import Frame


@models("torch.distributions.*")
class Distribution(Model):
    """A distribution, whose methods are operators for the oracle."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        whole = call.callee is not None and call.callee.kind == "class"
        return super().made(interp, call) if whole else torch_calls.apply(interp, call)

    @attribute(*"mean variance stddev mode probs logits loc scale batch_shape event_shape total_count".split())
    def statistic(self, node: ast.AST, frame: Frame) -> Value:
        return self.interp.operate(f"{self.value.path}.{self.name}", (self.value,), {}, node, frame)

    def run(self, call: Arguments) -> Value:
        target, args = f"{self.value.path}.{self.name}", (self.value, *call.args)
        value = self.interp.operate(target, args, call.kwargs, call.node, call.frame)
        if isinstance(value, Tensor) and self.name == "log_prob" and value.spec.requires_grad is None:
            self.interp.escape(call.args)
        return value


def is_distribution(value: Value) -> TypeGuard[LibraryObject]:
    return isinstance(value, LibraryObject) and of_class(value.path) is Distribution
