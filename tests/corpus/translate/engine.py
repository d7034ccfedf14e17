"""Loops."""
import torch


def train_one_epoch(model, loader, criterion, optimizer, device, clip):
    model.train()
    total = 0.0
    for src, tgt in loader:
        src, tgt = src.to(device), tgt.to(device)
        logits = model(src, tgt[:, :-1])
        loss = criterion(logits.reshape(-1, logits.shape[-1]), tgt[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        total += loss.item()
    return total / len(loader)


@torch.inference_mode()
def evaluate(model, loader, criterion, device):
    model.eval()
    total = 0.0
    for src, tgt in loader:
        src, tgt = src.to(device), tgt.to(device)
        logits = model(src, tgt[:, :-1])
        total += criterion(logits.flatten(0, 1), tgt[:, 1:].flatten()).item()
    return total / len(loader)
