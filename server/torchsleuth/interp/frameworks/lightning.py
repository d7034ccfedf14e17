"""Lightning's work with a model, as the analysis executes it: in the order of Lightning 2, without what has no effect on tensors.

This file is never imported: it is read, as a file of the workspace is, where a document names a class of Lightning's.
"""

import pickle

import torch

_ANYTHING = pickle.loads(b"")
"""A value of which nothing is known."""


class LightningModule(torch.nn.Module):
    automatic_optimization = True
    trainer = logger = loggers = fabric = device = dtype = strict_loading = example_input_array = _ANYTHING
    current_epoch = global_step = global_rank = local_rank = on_gpu = device_mesh = _ANYTHING
    hparams = hparams_initial = _ANYTHING

    def log(self, name, value, *args, **kwargs):
        return None

    def log_dict(self, dictionary, *args, **kwargs):
        return None

    def print(self, *args, **kwargs):
        return None

    def save_hyperparameters(self, *args, **kwargs):
        self.hparams = _arguments_of_caller(self)

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
    def load_from_checkpoint(cls, *args, **kwargs):
        return _ANYTHING

    def configure_optimizers(self):
        return None

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
        **kwargs,
    ):
        self.accelerator, self.max_epochs, self.max_steps = accelerator, max_epochs, max_steps
        self.accumulate_grad_batches, self.gradient_clip_val = accumulate_grad_batches, gradient_clip_val
        self.callback_metrics = self.logged_metrics = self.logger = _ANYTHING
        self._checkpoints = _that_save(callbacks, enable_checkpointing)
        self.checkpoint_callback = self._checkpoints[0] if len(self._checkpoints) == 1 else _ANYTHING
        self.current_epoch = self.global_step = self.global_rank = self.is_global_zero = _ANYTHING

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None, **kwargs):
        self._begin(model, datamodule, "fit")
        source = model if datamodule is None else datamodule
        if train_dataloaders is None:
            train_dataloaders = source.train_dataloader()
        if val_dataloaders is None and hasattr(source, "val_dataloader"):
            val_dataloaders = source.val_dataloader()
        optimizers, schedulers = _taken_apart(model.configure_optimizers())
        model._made_optimizers = optimizers
        # The only one of each is not reached through a loop of its own.
        optimizer = optimizers[0] if len(optimizers) == 1 else _All(optimizers)
        scheduler, interval = schedulers[0] if len(schedulers) == 1 else (_All([one for one, _ in schedulers]), "epoch")
        model.on_fit_start()
        model.on_train_start()
        for epoch in range(self.max_epochs or 1000):
            model.train()
            model.on_train_epoch_start()
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
            if val_dataloaders is not None:
                self._evaluated(model, val_dataloaders, model.validation_step)
                model.on_validation_epoch_end()
            if model.automatic_optimization and interval == "epoch":
                if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
                    scheduler.step(_ANYTHING)
                else:
                    scheduler.step()
            model.on_train_epoch_end()
        self._save(self._checkpoints)
        model.on_train_end()

    def validate(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None, **kwargs):
        if model is not None and dataloaders is not None:
            self._begin(model, datamodule, "validate")
            self._evaluated(model, dataloaders, model.validation_step)
            model.on_validation_epoch_end()
        return _ANYTHING

    def test(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None, **kwargs):
        if model is not None and dataloaders is not None:
            self._begin(model, datamodule, "test")
            self._evaluated(model, dataloaders, model.test_step)
            model.on_test_epoch_end()
        return _ANYTHING

    def predict(self, model=None, dataloaders=None, *args, **kwargs):
        return _ANYTHING

    def save_checkpoint(self, filepath, *args, **kwargs):
        self._save(filepath)

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
        model.eval()
        with torch.no_grad():
            for number, loader in enumerate(loaders if isinstance(loaders, (list, tuple)) else [loaders]):
                for index, batch in enumerate(loader):
                    _with_what_it_takes(step, self._moved(batch), index, number)
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
    """The optimizers and the schedulers, with their intervals, in all the ways that configure_optimizers() may give them."""
    if made is None:
        return [], []
    if isinstance(made, dict):
        return [made["optimizer"]], [_scheduler(made["lr_scheduler"])] if "lr_scheduler" in made else []
    if isinstance(made, (list, tuple)):
        if len(made) == 2 and isinstance(made[0], (list, tuple)):
            return list(made[0]), [_scheduler(one) for one in made[1]]
        if made and isinstance(made[0], dict):
            return [one["optimizer"] for one in made], [
                _scheduler(one["lr_scheduler"]) for one in made if "lr_scheduler" in one
            ]
        return list(made), []
    return [made], []


def _scheduler(given):
    if isinstance(given, dict):
        return given["scheduler"], given.get("interval", "epoch")
    return given, "epoch"
