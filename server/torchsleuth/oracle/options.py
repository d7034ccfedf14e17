"""Whether the optimizers and schedules of the installed PyTorch take the options that they are given."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from torchsleuth.oracle import gate
from torchsleuth.tensors.spec import Failure

_OF_CALLS = ("positional argument", "keyword argument", "multiple values")


def refusal(path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Failure | None:
    """The error that a constructor raises for options (all but the parameters or the optimizer, which come first) that are plain
    values of Python; None where it raises nothing, or where the call itself does not fit."""
    if not path.startswith("torch.optim."):
        return None
    given: Any = [torch.nn.Parameter(torch.zeros(2, 2))]
    try:
        kind = gate.with_options(path)
        if not gate.is_data((args, kwargs)):
            return None
        if path.startswith("torch.optim.lr_scheduler."):
            given = torch.optim.SGD(given, lr=0.1, momentum=0.9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind(given, *args, **kwargs)
    except LookupError:
        return None
    except (ValueError, TypeError) as error:
        if any(part in str(error) for part in _OF_CALLS):
            return None
        return Failure(type(error).__name__, str(error), confirmed=True)
    except Exception:
        return None
    return None
