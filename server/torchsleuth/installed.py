"""Versions of the packages in the interpreter of the analysis, read from their metadata without importing them."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def version_of(*packages: str) -> tuple[int, int] | None:
    """Major and minor version of the first of these packages that is installed, None where none is."""
    for package in packages:
        try:
            found = re.match(r"(\d+)\.(\d+)", version(package))
        except PackageNotFoundError:
            continue
        if found is not None:
            return int(found[1]), int(found[2])
    return None
