"""Prints its stack."""
import faulthandler
import inspect
import sys
import traceback

import torch


def show(x):
    traceback.print_stack()
    print([(frame.function, frame.lineno) for frame in inspect.stack()])
    faulthandler.dump_traceback()
    return x


class Net(torch.nn.Module):
    def forward(self, x):
        return show(x) + 1


y = Net()(torch.ones(2))
print(sys._getframe().f_back, sys._getframe().f_code.co_name, sys._getframe().f_lineno)
