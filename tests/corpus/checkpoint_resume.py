"""Gradient checkpointing in a deep stack; training that is interrupted, saved and resumed from a file."""
import os
import shutil
import tempfile

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Bottleneck(nn.Module):
    def __init__(self, dim, ratio=2):
        super().__init__()
        self.f = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim * ratio), nn.GELU(), nn.Linear(dim * ratio, dim))

    def forward(self, x):
        return x + self.f(x)


class DeepNet(nn.Module):
    def __init__(self, d_in=10, dim=16, depth=4, n_out=3, use_checkpoint=True):
        super().__init__()
        self.use_checkpoint = use_checkpoint
        self.stem = nn.Linear(d_in, dim)
        self.blocks = nn.ModuleList([Bottleneck(dim) for _ in range(depth)])
        self.tail = nn.Sequential(Bottleneck(dim), Bottleneck(dim))
        self.head = nn.Linear(dim, n_out)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            if self.use_checkpoint and self.training:
                x = checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        x = checkpoint_sequential(self.tail, 2, x, use_reentrant=False)
        return self.head(x)


def save_checkpoint(state, is_best, folder, filename="checkpoint.pth.tar"):
    path = os.path.join(folder, filename)
    torch.save(state, path)
    if is_best:
        shutil.copyfile(path, os.path.join(folder, "model_best.pth.tar"))


def train(folder, total_epochs, resume=None):
    torch.manual_seed(0)
    model = DeepNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    criterion = nn.CrossEntropyLoss()
    start_epoch, best_loss = 0, float("inf")
    if resume and os.path.isfile(resume):
        checkpoint_state = torch.load(resume, map_location="cpu", weights_only=True)
        start_epoch = checkpoint_state["epoch"]
        best_loss = checkpoint_state["best_loss"]
        model.load_state_dict(checkpoint_state["state_dict"])
        optimizer.load_state_dict(checkpoint_state["optimizer"])
        scheduler.load_state_dict(checkpoint_state["scheduler"])
        print("=> loaded checkpoint '{}' (epoch {})".format(os.path.basename(resume), start_epoch))
    data = torch.randn(48, 10)
    labels = data[:, :3].argmax(dim=1)
    for epoch in range(start_epoch, total_epochs):
        model.train()
        running = 0.0
        for xb, yb in zip(data.split(16), labels.split(16)):
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        scheduler.step()
        is_best = running < best_loss
        best_loss = min(running, best_loss)
        save_checkpoint({
            "epoch": epoch + 1,
            "state_dict": model.state_dict(),
            "best_loss": best_loss,
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
        }, is_best, folder)
        print(epoch, running)
    return model


folder = tempfile.mkdtemp()
try:
    train(folder, 2)
    model = train(folder, 4, resume=os.path.join(folder, "checkpoint.pth.tar"))
finally:
    shutil.rmtree(folder)
model.eval()
with torch.no_grad():
    print(model(torch.zeros(2, 10)).shape)
