"""Entry point of a small translation project: python main.py [--epochs N]."""
import argparse

import torch

from config import Config
from data import PAD, build_loader
from engine import evaluate, train_one_epoch
from models import Seq2SeqTransformer


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-3)
    return parser.parse_args()


def main():
    args = parse_args()
    cfg = Config(epochs=args.epochs, lr=args.lr)
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = build_loader(cfg, n=48, shuffle=True)
    valid_loader = build_loader(cfg, n=16, shuffle=False)
    model = Seq2SeqTransformer(cfg).to(device)
    criterion = torch.nn.CrossEntropyLoss(ignore_index=PAD)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, betas=(0.9, 0.98), eps=1e-9)
    best = float("inf")
    for epoch in range(cfg.epochs):
        train_loss = train_one_epoch(model, train_loader, criterion, optimizer, device, cfg.clip)
        valid_loss = evaluate(model, valid_loader, criterion, device)
        best = min(best, valid_loss)
        print(f"{epoch}: train {train_loss:.3f} valid {valid_loss:.3f} best {best:.3f}")


if __name__ == "__main__":
    main()
