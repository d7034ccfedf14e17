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
