"""Exceptions of the script that come up while ours is at work: those that the handler of a signal raises."""

from __future__ import annotations

import os
import sys


def is_of_script(error: BaseException) -> bool:
    """Whether code of the script has raised an exception that is caught where something is recorded: it has to go on. Nothing
    is called there but what is ours, PyTorch's and Python's own."""
    modules = (sys.modules.get(name) for name in (__name__, "torch", "os"))
    folders = tuple(os.path.dirname(str(module.__file__)) + os.sep for module in modules if module is not None)
    traceback = error.__traceback__
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith((*folders, "<frozen")):
            return True
        traceback = traceback.tb_next
    return False
