"""Lightning's work with a model, as the analysis executes it: in the order of Lightning 2, without what has no effect on tensors.

This file is never imported: it is read, as a file of the workspace is, where a document names a class of Lightning's.
"""

import pickle

import torch

_ANYTHING = pickle.loads(b"")
"""A value of which nothing is known."""

_REACHED = {}
"""The files that a trainer has written at its end, and the epochs that it went through before."""

_LOGS_NOTHING = (
    "predict_step",
    "on_fit_start",
    "on_fit_end",
    "on_train_end",
    "on_predict_start",
    "on_predict_end",
    "on_predict_epoch_start",
    "on_predict_epoch_end",
    "configure_optimizers",
    "prepare_data",
    "setup",
    "train_dataloader",
    "val_dataloader",
)
"""The hooks in which ``self.log()`` is refused."""


class LightningModule(torch.nn.Module):
    automatic_optimization = True
    trainer = logger = loggers = fabric = strict_loading = example_input_array = _ANYTHING
    current_epoch = global_step = global_rank = local_rank = on_gpu = device_mesh = _ANYTHING
    hparams = hparams_initial = _ANYTHING
    _running = None
    _has_hyperparameters = False

    @property
    def device(self):
        return _ANYTHING

    @property
    def dtype(self):
        return _ANYTHING

    def log(self, name, value, *args, **kwargs):
        _refuse(isinstance(value, torch.Tensor) and value.numel() != 1, "log_vector", None, "value", value)
        _refuse(isinstance(value, str), "log_text", None, "value")
        _refuse(self._running in _LOGS_NOTHING, "log_here", None, "", self._running)
        return None

    def log_dict(self, dictionary, *args, **kwargs):
        return None

    def print(self, *args, **kwargs):
        return None

    def save_hyperparameters(self, *args, **kwargs):
        self.hparams = _arguments_of_caller(self)
        self._has_hyperparameters = True

    def optimizers(self, use_pl_optimizer=True):
        made = self._made_optimizers
        return made[0] if len(made) == 1 else made

    def lr_schedulers(self):
        return _ANYTHING

    def manual_backward(self, loss, *args, **kwargs):
        loss.backward(*args, **kwargs)

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)

    def toggle_optimizer(self, optimizer):
        return None

    def untoggle_optimizer(self, optimizer):
        return None

    def freeze(self):
        for parameter in self.parameters():
            parameter.requires_grad = False
        self.eval()

    def unfreeze(self):
        for parameter in self.parameters():
            parameter.requires_grad = True
        self.train()

    def all_gather(self, data, *args, **kwargs):
        return _ANYTHING

    def to_onnx(self, *args, **kwargs):
        return None

    def to_torchscript(self, *args, **kwargs):
        return _ANYTHING

    @classmethod
    def load_from_checkpoint(cls, checkpoint_path=None, map_location=None, hparams_file=None, strict=None, **kwargs):
        _refuse(_since(2, 1) and _is_called_on_instance(), "of_class", None)
        return _rebuilt(cls, kwargs)

    def predict_step(self, batch, batch_idx=0):
        return self(batch)

    def configure_callbacks(self):
        return []

    def _nothing(self, *args, **kwargs):
        return None

    prepare_data = setup = teardown = configure_model = _nothing
    on_fit_start = on_fit_end = on_train_start = on_train_end = _nothing
    on_train_epoch_start = on_train_epoch_end = on_train_batch_start = on_train_batch_end = _nothing
    on_validation_start = on_validation_end = on_validation_epoch_start = on_validation_epoch_end = _nothing
    on_validation_batch_start = on_validation_batch_end = _nothing
    on_test_start = on_test_end = on_test_epoch_start = on_test_epoch_end = _nothing
    on_test_batch_start = on_test_batch_end = _nothing
    on_predict_start = on_predict_end = on_predict_epoch_start = on_predict_epoch_end = _nothing
    on_predict_batch_start = on_predict_batch_end = _nothing
    on_before_zero_grad = on_before_backward = on_after_backward = on_before_optimizer_step = _nothing
    on_save_checkpoint = on_load_checkpoint = _nothing


class LightningDataModule:
    trainer = hparams = _ANYTHING

    def save_hyperparameters(self, *args, **kwargs):
        self.hparams = _arguments_of_caller(self)

    def _nothing(self, *args, **kwargs):
        return None

    prepare_data = setup = teardown = on_exception = _nothing


class Callback:
    def _nothing(self, *args, **kwargs):
        return None

    setup = teardown = on_fit_start = on_fit_end = on_train_start = on_train_end = _nothing
    on_train_epoch_start = on_train_epoch_end = on_train_batch_start = on_train_batch_end = _nothing
    on_validation_start = on_validation_end = on_validation_epoch_start = on_validation_epoch_end = _nothing
    on_validation_batch_start = on_validation_batch_end = on_sanity_check_start = on_sanity_check_end = _nothing
    on_test_start = on_test_end = on_test_epoch_start = on_test_epoch_end = _nothing
    on_test_batch_start = on_test_batch_end = on_exception = _nothing
    on_predict_start = on_predict_end = on_predict_epoch_start = on_predict_epoch_end = _nothing
    on_predict_batch_start = on_predict_batch_end = _nothing
    on_before_zero_grad = on_before_backward = on_after_backward = on_before_optimizer_step = _nothing
    on_save_checkpoint = on_load_checkpoint = load_state_dict = _nothing

    def state_dict(self):
        return {}


class Trainer:
    def __init__(
        self,
        *args,
        accelerator="auto",
        max_epochs=None,
        max_steps=-1,
        accumulate_grad_batches=1,
        gradient_clip_val=None,
        callbacks=None,
        enable_checkpointing=None,
        val_check_interval=None,
        **kwargs,
    ):
        self.accelerator, self.max_epochs, self.max_steps = accelerator, max_epochs, max_steps
        self.accumulate_grad_batches, self.gradient_clip_val = accumulate_grad_batches, gradient_clip_val
        self._callbacks = callbacks if isinstance(callbacks, (list, tuple)) else []
        self._val_check_interval = val_check_interval
        self.callback_metrics = self.logged_metrics = self.logger = _ANYTHING
        _fits("lightning.pytorch.Trainer", "pytorch_lightning.Trainer")
        _notice(val_check_interval == 1 and isinstance(val_check_interval, int), "every_batch", self, "val_check_interval")
        self._enable_checkpointing = enable_checkpointing
        self._checkpoints = _that_save(callbacks, enable_checkpointing)
        self.checkpoint_callback = self._checkpoints[0] if len(self._checkpoints) == 1 else _ANYTHING
        self.current_epoch = self.global_step = self.global_rank = self.is_global_zero = _ANYTHING

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None, **kwargs):
        self._begin(model, datamodule, "fit")
        source = model if datamodule is None else datamodule
        if train_dataloaders is None:
            train_dataloaders = source.train_dataloader()
        if val_dataloaders is None and _defines(source, "val_dataloader"):
            val_dataloaders = source.val_dataloader()
        lacks = val_dataloaders is not None and not _defines(model, "validation_step")
        _notice(lacks, "no_validation", None, "val_dataloaders", model)
        _notice(_REACHED.get(ckpt_path, -1) == self.max_epochs, "no_epoch_left", None, "ckpt_path", self.max_epochs)
        self._check(model)
        optimizers, schedulers = self._configured(model)
        # The only one of each is not reached through a loop of its own.
        optimizer = optimizers[0] if len(optimizers) == 1 else _All(optimizers)
        scheduler, interval = _All([one for one, _, _ in schedulers]), "epoch"
        if len(schedulers) == 1:
            scheduler, interval, _ = schedulers[0]
        self._hook(model, "on_fit_start")
        self._callback("on_fit_start")
        self._told("on_train_start")
        model.train()
        for epoch in range(self.max_epochs or 1000):
            self._told("on_train_epoch_start")
            for index, batch in enumerate(train_dataloaders):
                batch = self._moved(batch)
                _with_what_it_takes(model.on_train_batch_start, batch, index)
                if model.automatic_optimization:
                    optimizer.zero_grad()
                    loss = _with_what_it_takes(model.training_step, batch, index, _ANYTHING)
                    if isinstance(loss, dict):
                        loss = loss["loss"]
                    if loss is not None:
                        loss.backward()
                        model.on_after_backward()
                        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                        optimizer.step()
                    if interval == "step":
                        scheduler.step()
                else:
                    loss = _with_what_it_takes(model.training_step, batch, index, _ANYTHING)
                _with_what_it_takes(model.on_train_batch_end, _ANYTHING, batch, index)
            if val_dataloaders is not None and _defines(model, "validation_step"):
                self._evaluated(model, val_dataloaders, "validation_step")
                self._told("on_validation_epoch_end")
            if model.automatic_optimization and interval == "epoch":
                if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
                    scheduler.step(_ANYTHING)
                else:
                    scheduler.step()
            self._told("on_train_epoch_end")
        self._save(self._checkpoints)
        self._hook(model, "on_train_end")
        self._hook(model, "on_fit_end")

    def _configured(self, model):
        """The optimizers and the schedulers that the model gives, as Lightning accepts them."""
        made = self._hook(model, "configure_optimizers") if _defines(model, "configure_optimizers") else None
        optimizers, schedulers = _taken_apart(made)
        model._made_optimizers = optimizers
        alone, name = model.automatic_optimization, "configure_optimizers"
        _refuse(alone and len(optimizers) > 1, "optimizers", model, name, len(optimizers))
        for scheduler, _, monitor in schedulers:
            plateau = isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau)
            _refuse(alone and plateau and monitor is None, "plateau", model, name)
        return optimizers, schedulers

    def validate(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None, **kwargs):
        return self._tried(model, dataloaders, ckpt_path, datamodule, "validate", "validation_step", "on_validation_epoch_end")

    def test(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None, **kwargs):
        return self._tried(model, dataloaders, ckpt_path, datamodule, "test", "test_step", "on_test_epoch_end")

    def predict(self, model=None, dataloaders=None, datamodule=None, return_predictions=None, ckpt_path=None, **kwargs):
        self._loads(ckpt_path)
        if model is not None and dataloaders is not None and _defines(model, "predict_step"):
            self._begin(model, datamodule, "predict")
            self._evaluated(model, dataloaders, "predict_step")
        return _ANYTHING

    def _tried(self, model, dataloaders, ckpt_path, datamodule, stage, step, end):
        self._loads(ckpt_path)
        if model is not None and dataloaders is not None:
            _refuse(not _defines(model, step), "no_method", model, "", step, stage)
            self._begin(model, datamodule, stage)
            self._evaluated(model, dataloaders, step)
            getattr(model, end)()
        return _ANYTHING

    def _loads(self, ckpt_path):
        _refuse(ckpt_path == "best" and self._enable_checkpointing is False, "no_best", None, "ckpt_path")

    def _check(self, model):
        """Refuse what Lightning refuses before it begins."""
        for name in ("training_step", "configure_optimizers"):
            _refuse(not _defines(model, name), "no_method", model, "", name, "fit")
        by_hand, clip, every = not model.automatic_optimization, self.gradient_clip_val, self.accumulate_grad_batches
        _refuse(by_hand and clip is not None and clip > 0, "manual_clip", self, "gradient_clip_val")
        _refuse(by_hand and every != 1, "manual_accumulate", self, "accumulate_grad_batches")
        _notice(by_hand and not _calls_any(model, "step", "optimizer_step"), "no_step", model, "training_step")
        if clip is not None:
            clips = ("clip_gradients", "clip_grad_norm_", "clip_grad_value_", "clamp_", "configure_gradient_clipping", "mul_")
            clipping = "configure_gradient_clipping"
            _notice(clip > 0 and _defines(model, clipping) and not _calls_any(model, *clips), "no_clipping", model, clipping)
        twice = not by_hand and isinstance(every, int) and every > 1 and _divides_by(model, "training_step", every)
        _notice(twice, "divided_twice", model, "training_step", every)
        stepping = not by_hand and _defines(model, "optimizer_step")
        _refuse(stepping and not _reads_parameter(model, "optimizer_step", 3), "closure", model, "optimizer_step")

    def _told(self, name):
        """A hook of the model, and of the callbacks of the user's."""
        self._callback(name)
        self._hook(self._model, name)

    def _callback(self, name):
        for callback in self._callbacks:
            if isinstance(callback, Callback):
                getattr(callback, name)(self, self._model)

    def _hook(self, model, name, *given):
        model._running = name
        found = _with_what_it_takes(getattr(model, name), *given)
        model._running = None
        return found

    def save_checkpoint(self, filepath, *args, **kwargs):
        self._save(filepath)
        if isinstance(filepath, str) and self.max_steps == -1:
            _REACHED[filepath] = self.max_epochs

    def _save(self, to):
        checkpoint = _checkpoint_of(self._model)
        self._model.on_save_checkpoint(checkpoint)
        _saved(checkpoint, to)

    def _begin(self, model, datamodule, stage):
        self._model = model
        for source in (model, datamodule):
            if source is not None:
                source.trainer = _ANYTHING
                source.prepare_data()
                _with_what_it_takes(source.setup, stage)
        if self.accelerator in ("gpu", "cuda"):
            model.cuda()
        elif self.accelerator != "cpu":
            model.to(device=_ANYTHING)

    def _evaluated(self, model, loaders, step):
        several = isinstance(loaders, (list, tuple)) and len(loaders) > 1
        lacks = not _has_parameter(model, step, "dataloader_idx")
        _refuse(_since(2, 0) and several and lacks, "several_loaders", model, step)
        model.eval()
        with torch.no_grad():
            for number, loader in enumerate(loaders if isinstance(loaders, (list, tuple)) else [loaders]):
                for index, batch in enumerate(loader):
                    self._hook(model, step, self._moved(batch), index, number)
        model.train()

    def _moved(self, batch):
        if self.accelerator == "cpu":
            return batch
        device = "cuda" if self.accelerator in ("gpu", "cuda") else _ANYTHING
        if isinstance(batch, torch.Tensor):
            return batch.to(device=device)
        if isinstance(batch, dict):
            return {key: self._moved(part) for key, part in batch.items()}
        if isinstance(batch, (list, tuple)):
            return [self._moved(part) for part in batch]
        return batch


class _All:
    """Several optimizers, or schedulers, in the place of one."""

    def __init__(self, parts):
        self.parts = parts

    def zero_grad(self):
        for part in self.parts:
            part.zero_grad()

    def step(self):
        for part in self.parts:
            part.step()


def _taken_apart(made):
    """The optimizers and the schedulers, with their intervals and what they watch, in all the ways that configure_optimizers()
    may give them."""
    if made is None:
        return [], []
    if isinstance(made, dict):
        scheduler = [_scheduler(made["lr_scheduler"], made.get("monitor"))] if "lr_scheduler" in made else []
        return [made["optimizer"]], scheduler
    if isinstance(made, (list, tuple)):
        if len(made) == 2 and isinstance(made[0], (list, tuple)):
            return list(made[0]), [_scheduler(one) for one in made[1]]
        if made and isinstance(made[0], dict):
            return [one["optimizer"] for one in made], [
                _scheduler(one["lr_scheduler"], one.get("monitor")) for one in made if "lr_scheduler" in one
            ]
        return list(made), []
    return [made], []


def _scheduler(given, monitor=None):
    if isinstance(given, dict):
        return given["scheduler"], given.get("interval", "epoch"), given.get("monitor", monitor)
    return given, "epoch", monitor


class Tuner:
    def __init__(self, trainer):
        self._trainer = trainer

    def lr_find(self, model, *args, update_attr=True, attr_name="", **kwargs):
        known = _defines(model, "lr") or _defines(model, "learning_rate") or model._has_hyperparameters
        _refuse(update_attr and attr_name == "" and not known, "lr_find", model, "configure_optimizers")
        return _ANYTHING

    def scale_batch_size(self, model, *args, **kwargs):
        return _ANYTHING
