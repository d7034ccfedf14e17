"""Logs, with the names of its functions, lines and stacks."""
import logging

import torch

logging.basicConfig(format="%(levelname)s %(name)s %(filename)s:%(lineno)d %(funcName)s %(module)s %(threadName)s %(message)s", level=10)
log = logging.getLogger("mine")


def wrapper(*args):
    log.warning(*args, stacklevel=2)


class Net(torch.nn.Module):
    def forward(self, x):
        log.info("shape %s", tuple(x.shape))
        wrapper("wrapped")
        return x


Net()(torch.ones(2))
log.error("stack", stack_info=True)
try:
    [][0]
except IndexError:
    log.exception("caught")
logging.captureWarnings(True)
