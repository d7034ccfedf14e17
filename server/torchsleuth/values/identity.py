"""Numbers that tell objects apart, in the order in which these were made."""

from __future__ import annotations

import itertools

_identities = itertools.count(1)


def new_identity() -> int:
    return next(_identities)
