"""Ignite's loop over batches, as the analysis executes it: the functions of an engine and of its events, in their order.

This file is never imported: it is read, as a file of the workspace is, where a document names a class of Ignite's.
"""

import pickle

import torch

_ANYTHING = pickle.loads(b"")
"""A value of which nothing is known."""


class State:
    def __init__(self):
        self.iteration = self.epoch = self.max_epochs = self.epoch_length = _ANYTHING
        self.output = self.batch = self.dataloader = self.times = self.seed = None
        self.metrics = _ANYTHING


class Engine:
    def __init__(self, process_function):
        self._process_function = process_function
        self._handlers = []
        self.state = State()
        self.logger = _ANYTHING

    def on(self, event_name, *args, **kwargs):
        def register(handler):
            self.add_event_handler(event_name, handler, *args, **kwargs)
            return handler

        return register

    def add_event_handler(self, event_name, handler, *args, **kwargs):
        self._handlers.append((event_name, handler, args, kwargs))
        return _ANYTHING

    def has_event_handler(self, handler, event_name=None):
        return _ANYTHING

    def remove_event_handler(self, handler, event_name):
        return None

    def register_events(self, *event_names, **kwargs):
        return None

    def fire_event(self, event_name):
        return None

    def terminate(self, *args, **kwargs):
        return None

    def terminate_epoch(self):
        return None

    def state_dict(self):
        return _ANYTHING

    def load_state_dict(self, state_dict):
        return None

    def run(self, data=None, max_epochs=None, max_iters=None, epoch_length=None):
        for epoch in range(2 if max_epochs is None else max_epochs):
            for batch in data:
                self.state.batch = batch
                self.state.output = self._process_function(self, batch)
            for event_name, handler, args, kwargs in self._handlers:
                _with_what_it_takes(handler, self, *args, **kwargs)
        return self.state


def create_supervised_trainer(
    model,
    optimizer,
    loss_fn,
    device=None,
    non_blocking=False,
    prepare_batch=None,
    output_transform=None,
    deterministic=False,
    amp_mode=None,
    scaler=False,
    gradient_accumulation_steps=1,
    model_transform=None,
    model_fn=None,
):
    def update(engine, batch):
        model.train()
        optimizer.zero_grad()
        x, y = batch if prepare_batch is None else prepare_batch(batch, device, non_blocking)
        if device is not None:
            x, y = x.to(device), y.to(device)
        y_pred = model(x)
        loss = loss_fn(y_pred, y)
        loss.backward()
        optimizer.step()
        return loss.item() if output_transform is None else output_transform(x, y, y_pred, loss)

    return Engine(update)


def create_supervised_evaluator(
    model,
    metrics=None,
    device=None,
    non_blocking=False,
    prepare_batch=None,
    output_transform=None,
    amp_mode=None,
    model_transform=None,
    model_fn=None,
):
    def inference(engine, batch):
        model.eval()
        with torch.no_grad():
            x, y = batch if prepare_batch is None else prepare_batch(batch, device, non_blocking)
            if device is not None:
                x, y = x.to(device), y.to(device)
            y_pred = model(x)
            return (y_pred, y) if output_transform is None else output_transform(x, y, y_pred)

    return Engine(inference)
