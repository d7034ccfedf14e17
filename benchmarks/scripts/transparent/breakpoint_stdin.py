"""Is stopped by breakpoint(), whose commands come from standard input."""
import io
import sys

import torch

sys.stdin = io.StringIO("p local, x\nn\np y\nl\nq\n")


def f(local):
    x = torch.ones(local)
    breakpoint()
    y = x + len(str(local))
    return y


try:
    f(3)
except BaseException as error:
    print(type(error).__name__)
