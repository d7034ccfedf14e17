"""Prints tracebacks of exceptions that it has caught, with chains and groups."""
import sys
import traceback

import torch


def f(x):
    return (
        x.view(2, 2)
        + torch.ones(3)
    )


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__(unknown=len("abc"))


try:
    f(torch.ones(4))
except RuntimeError:
    traceback.print_exc()
try:
    try:
        f(torch.ones(5))
    except RuntimeError as error:
        raise ValueError(str(error)[:20]) from error
except ValueError:
    print(traceback.format_exc())
try:
    Net()
except TypeError:
    print("".join(traceback.format_exception(*sys.exc_info())))
try:
    {}["key"][0] + [x for x in [1, 2]][5]
except KeyError:
    print(traceback.extract_tb(sys.exc_info()[2]))
