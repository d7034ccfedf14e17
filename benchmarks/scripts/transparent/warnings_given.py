"""Warns, with lines, levels, filters and once only."""
import warnings

import torch


def old():
    warnings.warn("old", DeprecationWarning, stacklevel=2)


def deep():
    warnings.warn("very deep", stacklevel=9)


for _ in range(2):
    warnings.warn("in a loop")
    old()
deep()
import json.tool  # noqa: E402

warnings.warn("after an import")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    old()
    torch.jit.script
print([(str(item.message), item.filename, item.lineno) for item in caught], len(warnings.filters), json.tool.__name__)
warnings.simplefilter("error")
try:
    warnings.warn("raised")
except UserWarning as error:
    print(repr(error))
