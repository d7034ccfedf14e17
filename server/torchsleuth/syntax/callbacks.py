"""The arguments that PyTorch calls functions of the user's with: hooks, seeds of workers, schedules.

Source: the documentation of each method or option, PyTorch 2.13."""

from __future__ import annotations

_MODULE_BACKWARD = ("module", "grad_input", "grad_output")
_STEP = ("optimizer", "args", "kwargs")
CALLED_WITH = {
    "register_forward_hook": ("module", "args", "output"),
    "register_forward_pre_hook": ("module", "args"),
    "register_full_backward_hook": _MODULE_BACKWARD,
    "register_backward_hook": _MODULE_BACKWARD,
    "register_full_backward_pre_hook": ("module", "grad_output"),
    "register_hook": ("grad",),
    "register_post_accumulate_grad_hook": ("param",),
    "register_step_pre_hook": _STEP,
    "register_step_post_hook": _STEP,
    "worker_init_fn": ("worker_id",),
    "collate_fn": ("samples",),
    "LambdaLR": ("epoch",),
    "lr_lambda": ("epoch",),
}
"""The arguments that PyTorch calls a function with, by the method or the option that it is registered with."""


LAUNCHED = {
    "spawn": (0, 1, ("rank",)),
    "start_processes": (0, 1, ("rank",)),
    "Process": (1, 3, ()),
    "Thread": (1, 3, ()),
    "Timer": (1, 2, ()),
    "apply": (0, 1, ()),
    "apply_async": (0, 1, ()),
    "notebook_launcher": (0, 1, ()),
}
"""Where a launcher takes the function that it starts, and the tuple of its arguments, and what it puts in front of these. Sources: the
documentation of torch.multiprocessing, Python's multiprocessing and threading, and Accelerate."""
LAUNCHED_FUNCTION, LAUNCHED_ARGUMENTS = ("fn", "target", "func", "function"), ("args",)
"""The names of the two."""
SPREAD = {"submit": 0, "checkpoint": 0, "run_in_executor": 1, "to_thread": 0}
"""Where a launcher takes the function that it calls with the arguments behind."""
