"""Changes one sample of a batch, and looks whether the outputs of the others change: in training and in evaluation mode.

The model is the module with parameters that is called last before the first backward(). In training mode, batch norm takes
the samples together as it should; it is looked through. Where outputs mix, the first operator that mixes them is found by
comparing all operators of two calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torchsleuth.runtime import places
from torchsleuth.runtime.probes.desk import Desk
from torchsleuth.runtime.probes.loop import Loop, copied

SIZES = (7, 5, 3)
"""Samples that are taken of a batch: a size that no other dimension has."""
CHANGED = 3
"""Samples that are changed, one after the other."""
TOLERANCE = 1e-4
"""Part of the spread of an output from which on it has changed."""
MAX_ELEMENTS = 100_000_000
"""Of all results that are compared."""


class Probe:
    """`settings`: {steps: unused}."""

    def __init__(self, desk: Desk, settings: dict[str, Any]) -> None:
        self._desk = desk
        self._loop = Loop(desk)
        self._torch: Any = None
        self._depth = 0
        self._call: tuple[Any, Any, Any, Any] | None = None
        self._size: int | None = None

    def install(self, torch: Any) -> None:
        self._torch = torch
        self._loop.install(torch)
        self._loop.exchange_batches(self._batches)
        self._loop.on_loss = self._before_backward
        module = torch.nn.Module
        call = module.__call__

        def told(of: Any, *args: Any, **kwargs: Any) -> Any:
            outermost, self._depth = self._depth == 0, self._depth + 1
            try:
                if outermost:
                    self._meet(of, args, kwargs)
                return call(of, *args, **kwargs)
            finally:
                self._depth -= 1

        module.__call__ = told

    def ended(self) -> None:
        self._desk.tell("independence", called=self._call is not None, backwards=self._loop.backwards, modes={})

    def _batches(self, loader: Any, iterate: Callable[[Any], Iterator[Any]]) -> Iterator[Any]:
        for batch in iterate(loader):
            first = next((item for item in _tensors(self._torch, batch) if item.dim()), None)
            self._size = None if first is None else int(first.shape[0])
            yield batch

    def _meet(self, module: Any, args: Any, kwargs: Any) -> None:
        if not self._torch.is_grad_enabled() or next(iter(module.parameters()), None) is None:
            return
        if any(item.dim() for item in _tensors(self._torch, (args, kwargs))):
            given = copied(self._torch, (list(args), dict(kwargs)))
            self._call = (module, *given, self._desk.here(2))

    def _before_backward(self, value: Any) -> None:
        if self._call is None:
            return
        self._depth = 1  # calls of ours are not met
        with self._torch.no_grad():
            result = self._measure(*self._call)
        self._desk.tell("independence", called=True, backwards=1, **result)
        self._desk.stop()

    def _measure(self, module: Any, args: Any, kwargs: Any, place: Any) -> dict[str, Any]:
        torch = self._torch
        tensors = [item for item in _tensors(torch, (args, kwargs)) if item.dim()]
        size = self._size if self._size is not None else int(tensors[0].shape[0])
        axis = next((axis for axis in (0, 1) if tensors[0].dim() > axis and tensors[0].shape[axis] == size), None)
        found: dict[str, Any] = {
            "module": type(module).__name__,
            "call": place,
            "batch": size,
            "axis": axis,
            "modes": {},
        }
        if axis is None or size < 2:
            return found
        norms = [part for part in module.modules() if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]
        found["batch_norm"] = len(norms)
        found["instances"] = [self._desk.made_at(part) for part in norms[:1]]
        for mode in ("eval", "train"):
            module.train(mode == "train")
            for part in norms:
                part.eval()
            found["modes"][mode] = self._mixed(module, args, kwargs, size, axis)
        return found

    def _mixed(self, module: Any, args: Any, kwargs: Any, size: int, axis: int) -> dict[str, Any]:
        others = {item for tensor in _tensors(self._torch, (args, kwargs)) for item in tensor.shape}
        error = ""
        for few in [*(few for few in SIZES if few < size and few not in others), size]:
            try:
                given = self._part((args, kwargs), size, few, axis)
                return self._pairs(module, given, few, axis)
            except Exception as failed:  # a model may know the size of its batch
                error = f"{type(failed).__name__}: {failed}"
        return {"error": error[:200]}

    def _pairs(self, module: Any, given: Any, size: int, axis: int) -> dict[str, Any]:
        """Which outputs change with which samples."""
        plain, again = self._outputs(module, given), self._outputs(module, given)
        pairs: list[tuple[int, int, float]] = []
        seen = itself = 0
        first = None
        for changed in sorted({0, size // 2, size - 1})[:CHANGED]:
            other = self._changed(given, size, axis, changed)
            for before, same, after in zip(plain, again, self._outputs(module, other)):
                rows = [_rows(item, size, axis) for item in (before, same, after)]
                if rows[0] is None or rows[1] is None or rows[2] is None or rows[0].shape != rows[2].shape:
                    continue
                seen += 1
                spread = float(rows[0].std()) if rows[0].numel() > 1 else 0.0
                limit = TOLERANCE * (spread + 1e-6) + 10 * float((rows[0] - rows[1]).abs().max())
                moved = (rows[2] - rows[0]).abs().amax(1)
                itself += bool(moved[changed] > limit)
                for sample in range(size):
                    if sample != changed and (float(moved[sample]) > limit or bool(moved[sample].isnan())):
                        pairs.append((sample, changed, float(moved[sample])))
                        first = first or other
        place = self._first_that_mixes(module, given, first, size, axis) if first is not None else None
        return {
            "looked": seen,
            "pairs": pairs[:20],
            "count": len(pairs),
            "itself": itself,
            "size": size,
            "place": place,
        }

    def _outputs(self, module: Any, given: Any) -> list[Any]:
        self._torch.manual_seed(0)
        args, kwargs = copied(self._torch, given)
        outputs = module(*args, **kwargs)
        if not isinstance(outputs, self._torch.Tensor | dict | list | tuple):
            outputs = getattr(outputs, "__dict__", {})
        return [item.double() for item in _tensors(self._torch, outputs) if item.is_floating_point()]

    def _part(self, given: Any, size: int, few: int, axis: int) -> Any:
        """The first samples of what is given."""
        return self._mapped(given, size, axis, lambda tensor, along: tensor.narrow(along, 0, few))

    def _changed(self, given: Any, size: int, axis: int, sample: int) -> Any:
        """With one sample in the place of another; one like the others, where all are alike."""

        def change(tensor: Any, along: int) -> Any:
            made = tensor.clone()
            row = made.select(along, sample)
            other = next(
                (one for shift in range(1, size) if not row.equal(one := made.select(along, (sample + shift) % size))),
                None,
            )
            if other is not None:
                row.copy_(other.clone())
            elif tensor.is_floating_point():
                row.add_(1)
            return made

        return self._mapped(given, size, axis, change)

    def _mapped(self, given: Any, size: int, axis: int, change: Callable[[Any, int], Any]) -> Any:
        """A structure with each tensor that has the batch in it exchanged."""
        torch = self._torch
        if isinstance(given, torch.Tensor):
            along = next((one for one in (axis, 0, 1) if given.dim() > one and given.shape[one] == size), None)
            return given if along is None else change(given, along)
        if isinstance(given, dict):
            return type(given)({name: self._mapped(item, size, axis, change) for name, item in given.items()})
        if isinstance(given, tuple | list):
            made = [self._mapped(item, size, axis, change) for item in given]
            return type(given)(*made) if hasattr(given, "_fields") else type(given)(made)
        return given

    def _first_that_mixes(self, module: Any, given: Any, other: Any, size: int, axis: int) -> dict[str, Any] | None:
        """Where the first operator is whose result changes for another sample than the changed one."""
        changed = next(self._which(given, other, size, axis), None)
        results: list[Any] = []
        elements = 0

        def keep(function: Any, args: Any, kwargs: Any) -> Any:
            nonlocal elements
            made = function(*args, **kwargs)
            kept = None
            if type(made) is self._torch.Tensor and made.is_floating_point() and elements < MAX_ELEMENTS:
                elements += made.numel()
                kept = made.clone()
            results.append(kept)
            return made

        number, found = 0, None

        def compare(function: Any, args: Any, kwargs: Any) -> Any:
            nonlocal number, found
            made = function(*args, **kwargs)
            before = results[number] if number < len(results) else None
            number += 1
            if found is None and before is not None and type(made) is self._torch.Tensor and made.shape == before.shape:
                along = next((one for one in (axis, 0, 1) if made.dim() > one and made.shape[one] == size), None)
                if along is not None:
                    moved = (made - before).abs().transpose(0, along).reshape(size, -1).amax(1)
                    limit = TOLERANCE * (float(before.double().std()) + 1e-6)
                    if any(float(moved[row]) > limit for row in range(size) if row != changed):
                        found = self._desk.places.here(3)
            return made

        from torchsleuth.runtime.probes.nonfinite import watching

        with watching(keep):
            self._outputs(module, given)
        with watching(compare):
            self._outputs(module, other)
        return places.to_json(found)

    def _which(self, given: Any, other: Any, size: int, axis: int) -> Iterator[int]:
        """The samples in which two structures differ."""
        for before, after in zip(_tensors(self._torch, given), _tensors(self._torch, other)):
            along = next((one for one in (axis, 0, 1) if before.dim() > one and before.shape[one] == size), None)
            if along is not None:
                yield from (row for row in range(size) if not before.select(along, row).equal(after.select(along, row)))


def _tensors(torch: Any, value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(torch, item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(torch, item)


def _rows(value: Any, size: int, axis: int) -> Any:
    """An output as a row for each sample; None where it has no dimension for them."""
    for along in (axis, 0, 1):
        if value.dim() > along and value.shape[along] == size:
            return value.transpose(0, along).reshape(size, -1)
    if value.dim() and value.shape[0] % size == 0 and value.shape[0] and axis == 0:
        return value.reshape(size, -1)
    return None
