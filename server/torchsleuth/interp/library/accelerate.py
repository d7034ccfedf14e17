"""Hugging Face's Accelerate and Lightning's Fabric: what they prepare stays what it is, and backward() is that of the loss."""

from __future__ import annotations

from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.library import modules
from torchsleuth.interp.library.tensor_methods import TensorMethods
from torchsleuth.interp.models import Model, attribute, method, models
from torchsleuth.sifting import as_kind
from torchsleuth.values import UNKNOWN, LibraryModule, LibraryObject, Scalar, Tensor, Value, is_module, is_object
from torchsleuth.values.frames import Frame

_LOADER = "torch.utils.data.DataLoader"
_CONTEXT = "contextlib.nullcontext"
_ACCUMULATES = ("gradient_accumulation_steps", "gradient_accumulation_plugin")


@models("accelerate.Accelerator")
class Accelerator(Model):
    """The object that a script hands its model, optimizer and loaders over to. On which device they are then is not known."""

    @method
    def prepare(self, call: Arguments) -> Value:
        if not call.exact or not call.args:
            return self.other(call)
        for value in call.args:
            self._prepare(value)
        return call.args[0] if len(call.args) == 1 else tuple(call.args)

    @method
    def prepare_model(self, call: Arguments) -> Value:
        return self.prepare(call)

    @method
    def prepare_data_loader(self, call: Arguments) -> Value:
        return self.prepare(call)

    @method("prepare_optimizer", "prepare_scheduler", "unwrap_model")
    def as_it_is(self, call: Arguments) -> Value:
        return call.first

    def _prepare(self, value: Value) -> None:
        if is_module(value):
            modules.move_somewhere(self.interp, value)
            # Where there are several processes, it is inside of another module from now on, which has attributes of its own.
            state = value.slots if isinstance(value, LibraryModule) else value.state
            self.interp.heap.set(state, "wrapped", True)
        elif is_object(value, _LOADER):
            self.interp.heap.set(value.slots, "prepared", True)

    @method
    def backward(self, call: Arguments) -> Value:
        """Backward of the loss; divided by the number of accumulated batches, where that was told."""
        loss = as_kind(call.first, Tensor)
        if loss is None or not isinstance(self.value, LibraryObject):
            return self.other(call)
        if any(name in self.value.kwargs for name in _ACCUMULATES):
            return self.other(call)
        inner = Arguments((), {}, call.node, call.frame)
        TensorMethods(self.interp, loss, "backward").run(inner)
        self.interp.record_method("Tensor.backward", loss, None, call.node, call.frame)
        return None

    @method("clip_grad_norm_", "clip_grad_value_")
    def clip(self, call: Arguments) -> Value:
        self.interp.event("clip", call.given(0, "parameters"), call.node, call.frame)
        return UNKNOWN

    @method("autocast", "main_process_first", "local_main_process_first", "profile", "join_uneven_inputs")
    def around(self, call: Arguments) -> Value:
        return LibraryObject(_CONTEXT, (), {}, None)

    @method("wait_for_everyone", "print", "log", "init_trackers", "end_training", "free_memory", "clear", "save_state")
    def besides(self, call: Arguments) -> Value:
        return None

    @attribute("is_main_process", "is_local_main_process", "is_last_process", "sync_gradients")
    def asked(self, node: object, frame: Frame) -> Value:
        return Scalar("bool")

    @attribute("device", "state", "num_processes", "process_index", "local_process_index", "mixed_precision")
    def told(self, node: object, frame: Frame) -> Value:
        return UNKNOWN


@models("lightning.fabric.Fabric", "lightning.Fabric", "lightning_fabric.Fabric")
class Fabric(Accelerator):
    """The same of Lightning, under other names."""

    @method("setup", "setup_dataloaders", "setup_optimizers")
    def set_up(self, call: Arguments) -> Value:
        return self.prepare(call)

    @method("setup_module")
    def set_up_module(self, call: Arguments) -> Value:
        if call.exact and call.args:
            self._prepare(call.first)
        return call.first

    @method("clip_gradients")
    def clip_of_module(self, call: Arguments) -> Value:
        self.interp.event("clip", call.given(0, "module"), call.node, call.frame)
        return UNKNOWN

    @method("no_backward_sync", "init_module", "init_tensor", "rank_zero_first", "sharded_model")
    def surroundings(self, call: Arguments) -> Value:
        return self.around(call)

    @method("launch", "log_dict", "barrier", "save", "seed_everything", "call", "validate_setup")
    def aside(self, call: Arguments) -> Value:
        return None

    @attribute("global_rank", "local_rank", "node_rank", "world_size", "device", "strategy", "logger", "is_global_zero")
    def of_process(self, node: object, frame: Frame) -> Value:
        return Scalar("bool") if self.name == "is_global_zero" else UNKNOWN
