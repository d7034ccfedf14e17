"""Ends with an exception that nobody catches, of a chain."""
import torch


def inner(x):
    return x @ torch.ones(7, 2)


def outer(x):
    try:
        return inner(x) + 1
    except RuntimeError as error:
        raise ValueError("not the right size") from error


print("before")
outer(torch.ones(3, 4))
