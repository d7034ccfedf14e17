"""Options of the training, from the command line."""

import argparse


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", default="32")  # cause
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=2)
    return parser.parse_args([])
