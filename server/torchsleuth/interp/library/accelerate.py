"""Hugging Face's Accelerate and Lightning's Fabric: what they prepare stays what it is, and backward() is that of the loss."""

from __future__ import annotations

from collections.abc import Iterator

from torchsleuth.interp import misuse
from torchsleuth.interp.arguments import Arguments
from torchsleuth.interp.interface import Interpreter
from torchsleuth.interp.library import files, modules
from torchsleuth.interp.library.tensor_methods import TensorMethods
from torchsleuth.interp.models import Model, attribute, method, models
from torchsleuth.sifting import as_kind
from torchsleuth.tensors.device import Device
from torchsleuth.tensors.spec import DType
from torchsleuth.values import UNKNOWN, LibraryModule, LibraryObject, Scalar, Tensor, Value, is_module, is_object
from torchsleuth.values.frames import Frame

ACCELERATOR = "accelerate.Accelerator"
STEPS = "gradient_accumulation_steps"
_PROJECT = "accelerate.utils.ProjectConfiguration"
_LOADER = "torch.utils.data.DataLoader"
_CONTEXT = "contextlib.nullcontext"
_ACCUMULATES = (STEPS, "gradient_accumulation_plugin")
_PRECISIONS = ("no", "fp8", "fp16", "bf16")
_HALF = {"fp16": ("cuda", "float16"), "bf16": (UNKNOWN, "bfloat16")}
"""The kind of device on which autocast works with each precision, and its dtype."""


@models(_PROJECT, "accelerate.utils.dataclasses.ProjectConfiguration")
class Project(Model):
    """Where an accelerator keeps checkpoints, and how many of them."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        return LibraryObject(_PROJECT, call.args, call.kwargs, interp.site(call.node, call.frame))


@models(ACCELERATOR, "accelerate.accelerator.Accelerator")
class Accelerator(Model):
    """The object that a script hands its model, optimizer and loaders over to. On which device they are then is not known, unless
    it is made for the CPU."""

    @classmethod
    def made(cls, interp: Interpreter, call: Arguments) -> Value:
        precision = interp.resolved(call.kwargs.get("mixed_precision"))
        if call.exact and isinstance(precision, str):
            text = _refusal(interp, precision, call.frame)
            if text is not None:
                misuse.refuses(interp, call.path, call, "ValueError", text)
        made = cls.object(interp, call)
        if isinstance(precision, str):
            made.slots["precision"] = precision
        return made

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
            if not self._on_cpu():
                modules.move_somewhere(self.interp, value)
            # Where there are several processes, it is inside of another module from now on, which has attributes of its own.
            state = value.slots if isinstance(value, LibraryModule) else value.state
            self.interp.heap.set(state, "wrapped", True)
        elif is_object(value, _LOADER) and not self._on_cpu():
            self.interp.heap.set(value.slots, "prepared", True)

    def _on_cpu(self) -> bool:
        """Whether it works on the CPU wherever it runs."""
        return isinstance(self.value, LibraryObject) and self.value.kwargs.get("cpu") is True

    def _accumulates(self) -> bool:
        """Whether some steps may be left out under accumulate()."""
        given = [self.value.kwargs[name] for name in _ACCUMULATES if name in self.value.kwargs]
        return any(one != 1 for one in given)

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

    @method
    def autocast(self, call: Arguments) -> Value:
        """The autocast of its precision. On which kind of device is not known, unless it works on the CPU."""
        precision = self.value.slots.get("precision")
        if not isinstance(precision, str) or precision not in _HALF:
            return self.around(call)
        kind, dtype = _HALF[precision]
        place = Device("cpu") if self._on_cpu() else kind
        return LibraryObject("torch.autocast", (place, DType(dtype)), {}, self.interp.site(call.node, call.frame))

    @method("main_process_first", "local_main_process_first", "profile", "join_uneven_inputs", "accumulate", "no_sync")
    def around(self, call: Arguments) -> Value:
        return LibraryObject(_CONTEXT, (), {}, None)

    @method(
        "wait_for_everyone",
        "print",
        "log",
        "init_trackers",
        "end_training",
        "free_memory",
        "clear",
        "register_for_checkpointing",
        "load_state",
    )
    def besides(self, call: Arguments) -> Value:
        return None

    @method
    def save_state(self, call: Arguments) -> Value:
        """A folder is written. Without its name, checkpoints have to be named by the accelerator."""
        if call.exact and call.given(0, "output_dir") is None and self._names_nothing(call.frame):
            text = "save_state() without a folder, and without ProjectConfiguration(automatic_checkpoint_naming=True)"
            misuse.refuses(self.interp, f"{ACCELERATOR}.save_state", call, "TypeError", text)
        files.made_folder(self.interp, call.given(0, "output_dir"), call)
        return None

    @method
    def save_model(self, call: Arguments) -> Value:
        """A folder is written, with the weights as safetensors unless something else is asked for."""
        safe = call.given(3, "safe_serialization", True)
        held = {True: "model.safetensors", False: "pytorch_model.bin"}.get(safe) if isinstance(safe, bool) else None
        files.made_folder(self.interp, call.given(1, "save_directory"), call, held)
        return None

    def _names_nothing(self, frame: Frame) -> bool:
        """Whether the accelerator makes up no names of checkpoints."""
        if any("automatic_checkpoint_naming =" in one.text for one in (frame.source, *self.interp.workspace.read)):
            return False
        project = self.value.kwargs.get("project_config")
        return project is None or is_object(project, _PROJECT) and not names_checkpoints(project)

    @attribute("sync_gradients")
    def syncs(self, node: object, frame: Frame) -> Value:
        return Scalar("bool") if self._accumulates() else True

    @attribute("is_main_process", "is_local_main_process", "is_last_process")
    def asked(self, node: object, frame: Frame) -> Value:
        return Scalar("bool")

    @attribute
    def device(self, node: object, frame: Frame) -> Value:
        return Device("cpu") if self._on_cpu() else UNKNOWN

    @attribute("state", "num_processes", "process_index", "local_process_index", "mixed_precision")
    def told(self, node: object, frame: Frame) -> Value:
        return UNKNOWN


def names_checkpoints(project: LibraryObject) -> bool:
    """Whether a project may have its checkpoints named by the accelerator."""
    given = project.given(2, "automatic_checkpoint_naming", False)
    return given is not False


def _refusal(interp: Interpreter, precision: str, frame: Frame) -> str | None:
    """The error of an accelerator that is made with a precision, None where there is none."""
    if precision not in _PRECISIONS:
        return f"Unknown mixed_precision mode: {precision}. Choose between {', '.join(_PRECISIONS)}"
    before = next(_precisions(interp), None) if not interp.entry else None
    resets = any("_reset_state" in one.text for one in (frame.source, *interp.workspace.read))
    if before is not None and before != precision and not resets:
        return (
            f"a second Accelerator cannot have mixed_precision={precision!r}: the state of the process has {before!r}"
        )
    return None


def _precisions(interp: Interpreter) -> Iterator[str]:
    """Those of the accelerators that were made before, which share a state."""
    for call in interp.trace.calls:
        precision = call.result.slots.get("precision") if isinstance(call.result, LibraryObject) else None
        if call.path == ACCELERATOR and call.certain and isinstance(precision, str):
            yield precision


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

    @attribute("global_rank", "local_rank", "node_rank", "world_size", "strategy", "logger", "is_global_zero")
    def of_process(self, node: object, frame: Frame) -> Value:
        return Scalar("bool") if self.name == "is_global_zero" else UNKNOWN
