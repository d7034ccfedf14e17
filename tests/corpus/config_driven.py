"""Everything comes from one nested dict: layers by name from a registry, optimizer, scheduler, loss."""
import json

import torch
import torch.nn as nn

CONFIG = json.loads("""
{
  "seed": 11,
  "data": {"num_samples": 128, "features": 20, "classes": 4, "batch_size": 32},
  "model": {"hidden": [64, 32], "activation": "gelu", "dropout": 0.1, "norm": "layer"},
  "optim": {"name": "SGD", "lr": 0.05, "momentum": 0.9, "weight_decay": 0.0001},
  "scheduler": {"name": "StepLR", "step_size": 2, "gamma": 0.5},
  "epochs": 3
}
""")

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh}
NORMS = {"layer": nn.LayerNorm, "batch": nn.BatchNorm1d, "none": nn.Identity}


def build_mlp(in_dim, out_dim, hidden, activation="relu", dropout=0.0, norm="none"):
    layers = []
    for width in hidden:
        layers += [nn.Linear(in_dim, width), NORMS[norm](width), ACTIVATIONS[activation]()]
        if dropout > 0:
            layers.append(nn.Dropout(dropout))
        in_dim = width
    layers.append(nn.Linear(in_dim, out_dim))
    return nn.Sequential(*layers)


def build_optimizer(params, name, **kwargs):
    return getattr(torch.optim, name)(params, **kwargs)


def build_scheduler(optimizer, cfg):
    cfg = dict(cfg)
    name = cfg.pop("name")
    return getattr(torch.optim.lr_scheduler, name)(optimizer, **cfg)


def make_data(num_samples, features, classes, batch_size):
    x = torch.randn(num_samples, features)
    w = torch.randn(features, classes)
    y = (x @ w).argmax(dim=-1)
    ds = torch.utils.data.TensorDataset(x, y)
    return torch.utils.data.DataLoader(ds, batch_size=batch_size, shuffle=True)


def main(cfg):
    torch.manual_seed(cfg["seed"])
    loader = make_data(**cfg["data"])
    model = build_mlp(cfg["data"]["features"], cfg["data"]["classes"], **cfg["model"])
    optimizer = build_optimizer(model.parameters(), **cfg["optim"])
    scheduler = build_scheduler(optimizer, cfg["scheduler"])
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
    for epoch in range(cfg["epochs"]):
        total, correct, seen = 0.0, 0, 0
        for x, y in loader:
            logits = model(x)
            loss = loss_fn(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            correct += (logits.argmax(1) == y).sum().item()
            seen += len(x)
        scheduler.step()
        print(f"epoch={epoch} loss={total / seen:.4f} acc={correct / seen:.3f} lr={scheduler.get_last_lr()[0]:g}")


if __name__ == "__main__":
    main(CONFIG)
