"""A Trainer with callbacks: the one that clears the gradients does it when an epoch begins."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Callback:
    def on_epoch_begin(self, trainer): ...
    def on_batch_begin(self, trainer): ...
    def on_batch_end(self, trainer, loss): ...
    def on_epoch_end(self, trainer): ...


class ClearGradients(Callback):
    def on_epoch_begin(self, trainer):  # fixed: def on_batch_begin(self, trainer):
        trainer.optimizer.zero_grad()  # fault: TS501 | fixed: trainer.optimizer.zero_grad()


class History(Callback):
    def __init__(self):
        self.losses = []

    def on_batch_end(self, trainer, loss):
        self.losses.append(loss.item())

    def on_epoch_end(self, trainer):
        n = len(trainer.loader)
        print(f"epoch {trainer.epoch}: {sum(self.losses[-n:]) / n:.4f}")


class Trainer:
    def __init__(self, model, loader, callbacks):
        self.model, self.loader, self.callbacks = model, loader, callbacks
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        self.loss_fn = nn.CrossEntropyLoss()
        self.epoch = 0

    def call(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def fit(self, epochs):
        for self.epoch in range(epochs):
            self.call("on_epoch_begin")
            for inputs, targets in self.loader:
                self.call("on_batch_begin")
                loss = self.loss_fn(self.model(inputs), targets)
                loss.backward()  # fault: TS501 | fixed: loss.backward()
                self.optimizer.step()
                self.call("on_batch_end", loss)
            self.call("on_epoch_end")


if __name__ == "__main__":
    torch.manual_seed(2)
    y = torch.randint(0, 3, (900,))
    x = torch.randn(900, 10) + 1.5 * torch.nn.functional.one_hot(y, 10)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
    Trainer(model, DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True), [ClearGradients(), History()]).fit(3)
