"""The elements that a loop runs over."""

from __future__ import annotations

from dataclasses import dataclass

from torchsleuth.tensors.dims import Size
from torchsleuth.values import LibraryObject, Value


@dataclass(frozen=True)
class Iteration:
    """`exact`: `items` are all the elements in order; otherwise they stand for however many there are.

    `last`: the last element, where it is known to differ from the others, as the last batch of a loader does.
    `count`: how many elements there are, where that is known. `loader`: the DataLoader whose batches they are. `alike`:
    they are the parts of one tensor.
    """

    items: tuple[Value, ...]
    exact: bool
    over_loader: bool = False
    last: Value = None
    count: Size | None = None
    loader: LibraryObject | None = None
    alike: bool = False

    def uncounted(self) -> Iteration:
        """The same elements, standing for however many there are."""
        return Iteration(self.items, exact=False, over_loader=self.over_loader)
