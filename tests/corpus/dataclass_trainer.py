"""A dataclass configuration and the user's own Trainer class with callbacks and metrics."""
from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field
from typing import Callable, List, Optional, Tuple

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class ModelConfig:
    in_features: int = 16
    hidden_sizes: Tuple[int, ...] = (32, 32)
    num_classes: int = 5
    p_drop: float = 0.1


@dataclass
class TrainConfig:
    model: ModelConfig = field(default_factory=ModelConfig)
    batch_size: int = 24
    epochs: int = 2
    lr: float = 1e-3
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    seed: int = 3
    milestones: List[int] = field(default_factory=lambda: [1])


class Classifier(nn.Module):
    def __init__(self, cfg: ModelConfig):
        super().__init__()
        sizes = [cfg.in_features, *cfg.hidden_sizes]
        blocks = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            blocks.append(nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Dropout(cfg.p_drop)))
        self.blocks = nn.Sequential(*blocks)
        self.out = nn.Linear(sizes[-1], cfg.num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.blocks(x))


class AverageMeter:
    def __init__(self, name: str) -> None:
        self.name = name
        self.reset()

    def reset(self) -> None:
        self.sum, self.count = 0.0, 0

    def update(self, value: float, n: int = 1) -> None:
        self.sum += value * n
        self.count += n

    @property
    def avg(self) -> float:
        return self.sum / max(self.count, 1)

    def __str__(self) -> str:
        return f"{self.name} {self.avg:.4f}"


class Trainer:
    def __init__(self, model: nn.Module, cfg: TrainConfig, callbacks: Optional[List[Callable]] = None) -> None:
        self.cfg = cfg
        self.device = torch.device(cfg.device)
        self.model = model.to(self.device)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.MultiStepLR(self.optimizer, milestones=cfg.milestones)
        self.callbacks = callbacks or []
        self.epoch = 0

    def _step(self, batch) -> Tuple[torch.Tensor, torch.Tensor]:
        x, y = (t.to(self.device) for t in batch)
        logits = self.model(x)
        return self.criterion(logits, y), (logits.argmax(-1) == y).float().mean()

    def train_epoch(self, loader: DataLoader) -> AverageMeter:
        self.model.train()
        meter = AverageMeter("train loss")
        for batch in loader:
            loss, _ = self._step(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            meter.update(loss.item(), len(batch[0]))
        self.scheduler.step()
        return meter

    @torch.no_grad()
    def evaluate(self, loader: DataLoader) -> Tuple[float, float]:
        self.model.eval()
        loss_meter, acc_meter = AverageMeter("val loss"), AverageMeter("val acc")
        for batch in loader:
            loss, acc = self._step(batch)
            loss_meter.update(loss.item())
            acc_meter.update(acc.item())
        return loss_meter.avg, acc_meter.avg

    def fit(self, train_loader: DataLoader, val_loader: DataLoader) -> None:
        for self.epoch in range(self.cfg.epochs):
            meter = self.train_epoch(train_loader)
            val_loss, val_acc = self.evaluate(val_loader)
            for callback in self.callbacks:
                callback(self, {"train_loss": meter.avg, "val_loss": val_loss, "val_acc": val_acc})


def log(trainer: Trainer, metrics: dict) -> None:
    print(f"[{trainer.epoch}]", ", ".join(f"{k}={v:.4f}" for k, v in metrics.items()))


def loaders(cfg: TrainConfig) -> Tuple[DataLoader, DataLoader]:
    x = torch.randn(240, cfg.model.in_features)
    y = x[:, : cfg.model.num_classes].argmax(dim=1)
    train, val = TensorDataset(x[:192], y[:192]), TensorDataset(x[192:], y[192:])
    return DataLoader(train, cfg.batch_size, shuffle=True), DataLoader(val, cfg.batch_size)


if __name__ == "__main__":
    cfg = TrainConfig(lr=3e-3)
    random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    print(asdict(cfg))
    trainer = Trainer(Classifier(cfg.model), cfg, callbacks=[log])
    trainer.fit(*loaders(cfg))
