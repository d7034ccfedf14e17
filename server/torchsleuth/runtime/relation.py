"""Whether labels have to do with inputs: pairs of both are kept from some steps, and compared at the end."""

from __future__ import annotations

from typing import Any

from torchsleuth.runtime import statistics

MAX_PAIRS = 512
MAX_FEATURES = 64
KINDS_OF_WORDS = 64
FEWEST = 60
"""Samples below which nothing is said."""


class Pairs:
    """Some features of samples, with their labels."""

    def __init__(self) -> None:
        self._kept: list[tuple[statistics.Away, statistics.Away]] = []
        self._count = 0
        self._of_words = False

    def add(self, torch: Any, inputs: Any, labels: Any) -> None:
        """A batch as it enters the first layer, or the numbers of its words, with its targets: whole numbers, one for each sample."""
        count = labels.numel()
        if self._count >= MAX_PAIRS or count < 2 or not statistics.readable(torch, labels):
            return
        if labels.is_floating_point() and not bool((labels == labels.round()).all()):
            return
        if not inputs.is_floating_point():
            inputs, self._of_words = _words(torch, inputs, count), True
        if inputs is None or inputs.shape[0] != count:
            return
        rows = inputs.detach().reshape(count, -1)
        rows = rows[: MAX_PAIRS - self._count, :: max(1, -(-rows.shape[1] // MAX_FEATURES))]
        kept = rows.float().cpu(), labels.detach().flatten()[: len(rows)].long().cpu()
        self._kept.append((statistics.put_away(kept[0]), statistics.put_away(kept[1])))
        self._count += len(rows)

    def to_json(self, torch: Any) -> dict[str, Any] | None:
        """A `torchsleuth.training.Relation`."""
        if self._count < FEWEST or len({shape[1] for (_, _, shape), _ in self._kept}) != 1:
            return None
        rows = torch.cat([statistics.taken_out(torch, one) for one, _ in self._kept])
        labels = torch.cat([statistics.taken_out(torch, one) for _, one in self._kept])
        deviation = rows.std(0)
        varies = deviation > 0
        if not bool(torch.isfinite(rows).all()) or not bool(varies.any()):
            return None
        rows = (rows[:, varies] - rows[:, varies].mean(0)) / deviation[varies]
        distances = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")
        again = (distances < 1e-6).tril(-1).any(1)  # the same sample, of an earlier step
        rows, labels, distances = rows[~again], labels[~again], distances[~again][:, ~again]
        count, features = rows.shape
        classes, index, sizes = torch.unique(labels, return_inverse=True, return_counts=True)
        if count < FEWEST or not 2 <= len(classes) <= count // 8:
            return None
        distances.fill_diagonal_(float("inf"))
        same = (labels[distances.argmin(1)] == labels).float().mean()
        chance = ((sizes / count) ** 2).sum()
        sums = torch.zeros(len(classes), features).index_add_(0, index, rows)
        between = (sums**2 / sizes[:, None]).sum(0) / (len(classes) - 1)
        found = [float(value) for value in (same, chance, between.max())]
        return dict(zip(("neighbours", "chance", "spread"), found, strict=True)) | {
            "samples": int(count),
            "features": int(features),
            "words": self._of_words,
        }


def _words(torch: Any, numbers: Any, count: int) -> Any:
    """How often each sample has which words, of which some may count as one; None where samples and time cannot be told apart."""
    if numbers.dim() != 2 or numbers.dtype == torch.bool or list(numbers.shape).count(count) != 1:
        return None
    rows = numbers if numbers.shape[0] == count else numbers.t()
    kinds = rows.long() % KINDS_OF_WORDS
    return torch.zeros(count, KINDS_OF_WORDS, device=rows.device).scatter_add_(1, kinds, torch.ones_like(kinds).float())
