"""Events on the stream of an accelerator, by which a script measures how long something takes."""

from __future__ import annotations

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.models import Model, method, models
from torchsleuth.values import Scalar, Value


@models("torch.cuda.Event", "torch.xpu.Event")
class Event(Model):
    """A point in a stream. Nothing that the analysis follows depends on it."""

    @method("record", "wait", "synchronize")
    def passed(self, call: Arguments) -> Value:
        return None

    @method
    def query(self, call: Arguments) -> Value:
        return Scalar("bool")

    @method
    def elapsed_time(self, call: Arguments) -> Value:
        """Milliseconds between two events."""
        return Scalar("float")
