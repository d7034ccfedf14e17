"""Watches loaders: how long the script waits for their batches, and which samples go into training and into evaluation.

No frame of ours is on the stack while a batch is made: two attributes of the loader's iterator that it reads before and sets
afterwards are properties while the script runs.
"""

from __future__ import annotations

import math
import re
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torchsleuth.runtime import places, statistics
from torchsleuth.runtime.attention import Attention
from torchsleuth.runtime.interruptions import is_of_script
from torchsleuth.runtime.places import Places

MAX_LOADERS = 24
MAX_MADE = 200
MAX_HASHED = 20_000
MAX_BATCHES_HASHED = 200
MAX_ROWS = 32
HASHED_ELEMENTS = 64
"""Of each sample."""
MAX_NUMBERED = 1000
"""Names in a numbering of a dataset that is looked at."""
_CLASSES = re.compile(r"class|label|categor", re.IGNORECASE)
"""Attributes of datasets that hold the names of classes in the order of their numbers."""


class _Loader:
    """A loader, by what it holds: its own attributes, or those of an iterator whose loader nothing refers to."""

    def __init__(self, held: dict[str, Any], place: dict[str, Any] | None) -> None:
        self.place = place
        self.rounds = self.batches = self.training = 0
        self.seconds = self.busy = self.between = self.busy_between = 0.0
        dataset = held.get("dataset")
        self.dataset = type(dataset).__name__
        self.dataset_id = id(dataset)
        self.numberings = _numberings(dataset)
        self.size = _length(dataset)
        self.batch_size = held.get("batch_size")
        self.workers = held.get("num_workers", 0)
        self.pinned = bool(held.get("pin_memory"))
        sampler = type(held.get("sampler")).__name__
        self.shuffled = {"RandomSampler": True, "SequentialSampler": False, "_InfiniteConstantSampler": None}.get(
            sampler
        )
        self.waiting = 0
        self.begins = False
        """Whether its last batch was the first one of a round."""
        self.firsts: list[statistics.Away] = []
        """Of the first batches of its rounds, where these went into an evaluation and come in an order that stays."""
        self.evaluates: places.Key | None = None


def _length(dataset: Any) -> int | None:
    """The number of samples in datasets of PyTorch's own; nothing of the user's is called."""
    held = getattr(dataset, "__dict__", {})
    for name in ("tensors", "indices"):
        found = held.get(name)
        if found is not None and len(found):
            return int(found[0].shape[0]) if name == "tensors" else len(found)
    return None


def _numberings(dataset: Any) -> dict[str, dict[str, int]]:
    """The numbers that a dataset gives to names, such as its classes, by attribute: dictionaries, and lists of classes."""
    found: dict[str, dict[str, int]] = {}
    for _ in range(3):  # a part of another one
        held = getattr(dataset, "__dict__", {})
        for attribute, value in list(held.items()):
            kind = type(value)
            if kind not in (dict, list, tuple) or not 2 <= len(value) <= MAX_NUMBERED:
                continue
            if kind is not dict:
                value = {name: number for number, name in enumerate(value)} if _CLASSES.search(attribute) else {}
            numbers = list(value.values()) if {type(name) for name in value} == {str} else []
            if all(type(number) is int for number in numbers) and sorted(numbers) == list(range(len(held[attribute]))):
                found.setdefault(attribute, dict(value))
        dataset = held.get("dataset")
    return found


class DataWatch:
    """`on_phase` is told when the script begins to wait for a batch, and when it has it."""

    def __init__(self, own: Places, constructor: Callable[[Any], Any], attention: Attention) -> None:
        self._own = own
        self._attention = attention
        self._constructor = constructor
        self._loaders: dict[int, _Loader] = {}
        self._iterator_of_last: Callable[[], Any] = lambda: None
        self._last: _Loader | None = None
        """The loader of the iterator that gave the last batch."""
        self._made: dict[int, weakref.ref[Any]] = {}
        """Loaders that are alive, by identity."""
        self._iterator: Any = None
        self._began = self._busy = self._ended = self._busy_ended = 0.0
        """When the script began to wait for a batch, and had it, by the clock and by the processor's time of the thread."""
        self._current: _Loader | None = None
        self.on_phase: Callable[[str], object] = lambda kind: None
        self._train: dict[int, None] = {}
        self._evaluated: dict[Any, dict[int, None]] = {}
        self._train_key: places.Key | None = None
        self._train_loader: _Loader | None = None
        self._hashed = {True: 0, False: 0}
        self._rows = self._alike = 0
        """Samples that were hashed, and those that are the same as another one of their batch."""

    def install(self, torch: Any) -> None:
        iterator = torch.utils.data.dataloader._BaseDataLoaderIter
        self._iterator = iterator

        def name(one: Any) -> Any:
            self._waits()
            return one.__dict__["_profile_name"]

        def named(one: Any, value: Any) -> None:
            one.__dict__["_profile_name"] = value

        def yielded(one: Any) -> Any:
            return one.__dict__["_num_yielded"]

        def yields(one: Any, value: Any) -> None:
            one.__dict__["_num_yielded"] = value
            if value:
                self._got(one, value)

        iterator._profile_name = property(name, named)
        iterator._num_yielded = property(yielded, yields)

    def remove(self) -> None:
        self._began = self._ended = 0.0
        if self._iterator is not None:
            for name in ("_profile_name", "_num_yielded"):
                if name in vars(self._iterator):
                    delattr(self._iterator, name)
            self._iterator = None

    def _waits(self) -> None:
        """A batch is asked for."""
        try:
            self._began, self._busy = time.perf_counter(), time.thread_time()
            if self._attention.closely:
                self.on_phase("data")
        except Exception as error:
            if is_of_script(error):
                raise
            self._began = 0.0

    def _got(self, iterator: Any, count: int) -> None:
        try:
            self._count(iterator, count)
            if self._attention.closely:
                self.on_phase("forward")
        except Exception as error:
            if is_of_script(error):
                raise
            self._began = 0.0

    def _count(self, iterator: Any, count: int) -> None:
        loader = self._last if self._iterator_of_last() is iterator else self._loader(iterator)
        if loader is None:
            return
        if count == 1:
            loader.rounds += 1
            if loader is not self._current:
                self._attention.wake()
        loader.begins = count == 1
        loader.batches += 1
        loader.waiting += 1
        now, busy = time.perf_counter(), time.thread_time()
        if self._began and busy >= self._busy:
            loader.seconds += now - self._began
            loader.busy += busy - self._busy
            if self._ended and loader is self._current and self._busy >= self._busy_ended:
                loader.between += self._began - self._ended
                loader.busy_between += self._busy - self._busy_ended
        self._ended, self._busy_ended = now, busy
        self._current = loader

    def _loader(self, iterator: Any) -> _Loader | None:
        self._iterator_of_last = weakref.ref(iterator)
        self._last = self._find(iterator)
        return self._last

    def _find(self, iterator: Any) -> _Loader | None:
        held = iterator.__dict__
        dataset, sampler = held.get("_dataset"), held.get("_index_sampler")
        known = self._loaders.get(hash((id(dataset), id(sampler))))
        if known is not None:
            return known
        owner = self._owner(iterator)
        key: Any = (id(dataset), id(sampler))
        if owner is None:  # ``for x in DataLoader(…):``, made anew for each pass
            here = self._own.here()
            key = (id(dataset), here and (here[0].co_filename, here[2]))
            known = self._loaders.get(hash(key))
            if known is not None:
                return known
            place = places.to_json(here)
            attributes = {
                "dataset": dataset,
                "batch_size": getattr(sampler, "batch_size", None),
                "num_workers": held.get("_num_workers", 0),
                "pin_memory": held.get("_pin_memory"),
                "sampler": getattr(sampler, "sampler", None),
            }
        else:
            found = self._constructor(owner)
            place = {name: found["frames"][0][name] for name in ("path", "line", "span", "function")} if found else None
            attributes = owner.__dict__
        known = self._loaders.get(hash(key))
        if known is None and len(self._loaders) < MAX_LOADERS:
            known = self._loaders[hash(key)] = _Loader(attributes, place)
        return known

    def _owner(self, iterator: Any) -> Any:
        """The loader that an iterator belongs to."""
        sampler = iterator.__dict__.get("_index_sampler")
        for reference in list(self._made.values()):
            loader = reference()
            if loader is not None and sampler is not None:
                held = loader.__dict__
                if held.get("batch_sampler") is sampler or held.get("sampler") is sampler:
                    return loader
        return None

    def remember(self, loader: Any) -> None:
        """A loader is being constructed."""
        if len(self._made) < MAX_MADE:
            self._made[id(loader)] = weakref.ref(loader, partial(self._made.pop, id(loader)))

    def stepped(self) -> None:
        """An optimizer made a step."""
        if self._current is not None and self._current.waiting:
            self._current.training += 1
            self._current.waiting = 0

    # samples

    def hashes_more(self, training: bool) -> bool:
        return self._hashed[training] < MAX_BATCHES_HASHED

    def hash(self, torch: Any, value: Any, training: bool, key: places.Key) -> None:
        """Remember the samples of a batch. On the CPU only: elsewhere this would wait for the device."""
        self._hashed[training] += 1
        if value.device.type != "cpu" or value.dim() < 2 or value.shape[0] < 1 or value.dtype == torch.bool:
            return
        rows = value.detach().reshape(value.shape[0], -1)
        if rows.shape[1] < 2:
            return
        rows = rows[:, :: max(1, -(-rows.shape[1] // HASHED_ELEMENTS))]
        loader = self._current
        if not training and loader is not None and loader.begins and loader.shuffled is False:
            loader.begins = False
            if len(loader.firsts) < 2 and rows.is_floating_point():
                loader.firsts.append(statistics.put_away(rows[:MAX_ROWS].float()))
                loader.evaluates = key
        if rows.is_floating_point():
            rows = rows.float().contiguous().view(torch.int32)
        rows = rows.to(torch.int64)
        weights = torch.arange(1, rows.shape[1] + 1, dtype=torch.int64) * 0x9E3779B97F4A7C1 | 1
        mixed = (rows ^ (rows >> 7)) * weights
        found = (mixed ^ (mixed >> 29)).sum(1).tolist()
        self._alike += len(found) - len(set(found))
        self._rows += len(found)
        if training:
            self._train_key = key
            self._train_loader = self._train_loader or loader
            kept = self._train
        else:
            kept = self._evaluated.setdefault((key, loader), {})
        if len(kept) < MAX_HASHED:
            kept.update(dict.fromkeys(found))

    def to_json(self) -> dict[str, Any]:
        loaders = [{name: getattr(loader, name) for name in _FIELDS} for loader in self._loaders.values()]
        overlaps = []
        told_apart = 8 * self._alike <= self._rows  # what comes in is no code that many samples share
        train = self._train_loader
        for (key, other), found in self._evaluated.items() if told_apart else ():
            if len(found) >= 8 and len(self._train) >= 8:
                overlaps.append(
                    {
                        "train": places.to_json(self._train_key),
                        "evaluation": places.to_json(key),
                        "evaluated": len(found),
                        "trained": len(self._train),
                        "shared": len(found.keys() & self._train.keys()),
                        "train_loader": train.place if train is not None else None,
                        "evaluation_loader": other.place if other is not None else None,
                        "same_dataset": train is not None
                        and other is not None
                        and train.dataset_id == other.dataset_id,
                    }
                )
        return {
            "loaders": loaders,
            "overlaps": overlaps,
            "redrawn": self._redrawn(),
            "renumbered": list(self._renumbered()),
        }

    def _renumbered(self) -> Iterator[dict[str, Any]]:
        """Loaders of an evaluation whose datasets number names otherwise than those of the training do."""
        trained = [loader for loader in self._loaders.values() if loader.training]
        for loader in self._loaders.values():
            for other in trained if not loader.training else ():
                for attribute in loader.numberings.keys() & other.numberings.keys():
                    one, known = loader.numberings[attribute], other.numberings[attribute]
                    apart = [name for name in one if known.get(name, one[name]) != one[name]]
                    if apart and loader.dataset == other.dataset:
                        yield {
                            "loader": loader.place,
                            "dataset": loader.dataset,
                            "attribute": attribute,
                            "name": apart[0][:80],
                            "trained": known[apart[0]],
                            "evaluated": one[apart[0]],
                            "conflicts": len(apart),
                        }

    def _redrawn(self) -> list[dict[str, Any]]:
        """Loaders in evaluations, whose samples are other ones in each round, but not as far from themselves as from others."""
        torch = sys.modules["torch"]
        found = []
        for loader in self._loaders.values():
            if len(loader.firsts) < 2:
                continue
            first, second = (statistics.taken_out(torch, one) for one in loader.firsts)
            if first.shape != second.shape or first.shape[0] < 4 or bool((first == second).all(1).any()):
                continue
            own, others = ((first - one).norm(dim=1) for one in (second, second.roll(1, 0)))
            nearer = others - own  # for samples that are drawn anew, 0 but for chance
            certain = float(nearer.mean()) > 4 * float(nearer.std()) / math.sqrt(len(nearer))
            one, other = float(own.mean()), float(others.mean())
            if certain and math.isfinite(one) and other > 0:
                place = places.to_json(loader.evaluates)
                found.append({"evaluation": place, "loader": loader.place, "apart": one / other})
        return found


_FIELDS = (
    "place", "dataset", "size", "batch_size", "workers", "pinned", "shuffled", "rounds", "batches", "training", "seconds", "busy", "between",
    "busy_between",
)  # fmt: skip
