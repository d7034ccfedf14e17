"""Who may catch an exception of the program."""

from __future__ import annotations


class Catching:
    """Who may catch an exception now: for each ``try`` with handlers, and each context manager that may take one, how many
    conditions were undecided when it was entered. Under further ones it is not certain that anything is raised."""

    def __init__(self) -> None:
        self.levels: list[int] = []

    def at(self, uncertain: int) -> bool:
        """Whether an exception that is raised now is followed."""
        return bool(self.levels) and uncertain == self.levels[-1]
