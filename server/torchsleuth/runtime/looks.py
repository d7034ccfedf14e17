"""Looks at the graph of a loss for what is wrong in its form: operands that are broadcast, targets out of reach, operators one by one.

Each look counts an event at a place, with the numbers that it saw. `verdicts/` says what several of them mean.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from torchsleuth.runtime import graphs, statistics

_CLOSE = 0.3
"""Between the highest and the lowest logarithm of a probability of one sample: one class is at most a third likelier than another."""
_LEFT_OUT = 1e3
"""Logarithms of probabilities below minus that are of classes that a mask leaves out."""
_BOUNDS = {
    "SigmoidBackward0": ("sigmoid", 0.0, 1.0),
    "SoftmaxBackward0": ("softmax", 0.0, 1.0),
    "TanhBackward0": ("tanh", -1.0, 1.0),
    "ReluBackward0": ("relu", 0.0, math.inf),
}
"""Functions whose results have bounds, by the name of their node."""
_ROOM = 0.05
"""Of the range between the bounds, how far a target may lie beside it."""
_SOFTMAX = ("SoftmaxBackward0", "LogSoftmaxBackward0")
_BY_ELEMENT = tuple(f"{name}Backward0" for name in "Clamp ClampMin ClampMax Log Pow Neg Add".split()) + (
    "RsubBackward1",
)
"""Functions whose result has the classes where their operand has them."""
_DISTANCES = ("mse", "smooth_l1", "huber")
_MANY_TERMS = 6
_LARGE_TARGETS = 30.0
"""Standard deviation of targets that are not scaled."""
_APART = 3000.0
"""Times that one term of a loss is larger than another one, of which nothing is left beside it."""
_NEAR = 60
"""Functions of a graph, from its end, among which the form of a loss is looked for."""
_ENOUGH_WORDS = 8
"""Of a sequence, for its targets to tell which of its words they are."""
MANY_FUNCTIONS = 200
"""Of a graph in which one expression is looked for that made most of them."""


Place = Any
"""A place as JSON, or None."""


class GraphLooks:
    """`count`: takes the kind of an event, a place, and numbers by name. `place_of`: the place of a function by its sequence number,
    `site_place`: that of a site. `sites`: sequence numbers and sites of this step. `readable`: whether a tensor may be looked at."""

    def __init__(
        self,
        torch: Callable[[], Any],
        count: Callable[..., None],
        place_of: Callable[[int], Place],
        site_place: Callable[[int], Place],
        sites: Iterable[tuple[int, int]],
        readable: Callable[[Any], bool],
    ) -> None:
        self._torch, self._count, self._place_of = torch, count, place_of
        self._site_place, self._sites, self._may_look_at = site_place, sites, readable

    def scores_too_close(self, scaling: graphs.Node, predicted: Any) -> None:
        """Scores that a constant factor makes so small that the likeliest class is hardly likelier than another one."""
        factor = (
            graphs.saved(scaling, "other") if scaling.name == "MulBackward0" and None in scaling.inputs[1:] else None
        )
        if factor is None or factor.numel() != 1 or predicted.dim() != 2 or not self._may_look_at(predicted):
            return
        lowest = predicted.masked_fill(predicted < -_LEFT_OUT, math.inf).amin(1)
        value, apart = statistics.numbers(self._torch(), [factor, predicted.amax(1).sub(lowest).amax()])
        if 0 < abs(value) <= 0.5 and apart <= _CLOSE:
            self._count("scores-too-close", self._place_of(scaling.number), factor=value, apart=apart)

    def targets_out_of_reach(self, kind: str, layer: str, target: Any, place: Any) -> None:
        """Targets that no output can be, since the last function of the network has bounds, or that the loss does not take."""
        function, low, high = (kind, 0.0, 1.0) if kind == "bce_with_logits" else _BOUNDS.get(layer, ("", 0.0, 0.0))
        if not function:
            return
        value, room = target.detach().float(), _ROOM * (high - low if high - low < math.inf else 1.0)
        outside = ((value < low - room) | (value > high + room)).float().mean()
        share, least, most = statistics.numbers(self._torch(), [outside, value.min(), value.max()])
        if share:
            self._count("out-of-reach", place, function=function, share=share, low=least, high=most)

    def shifted_targets(self, words: Any, target: Any, place: Any) -> None:
        """How many places the targets of a sequence of words are behind the words at which they are to be said: all of them one, or
        two."""
        flat = words.dim() == 2 and words.shape[0] > 0 and not target.is_floating_point()
        if (
            not flat
            or target.numel() % words.shape[0]
            or target.device != words.device
            or not self._may_look_at(target)
        ):
            return
        rows = target.detach().reshape(words.shape[0], -1)
        length = min(rows.shape[1], words.shape[1] - 2)
        if length < _ENOUGH_WORDS or rows.shape[1] > words.shape[1]:
            return
        known = rows[:, :length] >= 0  # others are left out
        alike = [((rows[:, :length] == words[:, by : by + length]) & known).sum() / known.sum() for by in (0, 1, 2)]
        same, following, second = statistics.numbers(self._torch(), alike)
        if following == 1 and second < 1:
            self._count("targets-follow", place)
        elif second == 1 and max(same, following) < 1:
            self._count("targets-shifted", place, length=length)

    def transcripts(self, graph: graphs.Graph) -> None:
        """Transcripts with more labels than there are frames to say them in, and labels that are the blank, by connectionist temporal
        classification."""
        for node in graph.nodes[:200]:
            if not node.name.startswith("CtcLossBackward"):
                continue
            frames, labels = (graphs.numbers(node, f"{name}_lengths") for name in ("input", "target"))
            if frames and labels and len(frames) == len(labels):
                short = sum(length < count for length, count in zip(frames, labels))
                if short:
                    values = {"short": short, "count": len(labels), "frames": max(frames), "labels": max(labels)}
                    self._count("frames-too-few", self._place_of(node.number), **values)
            self._blank_labels(node, labels or [])
            return

    def _blank_labels(self, node: graphs.Node, lengths: list[int]) -> None:
        """The labels of transcripts of these lengths that are the blank."""
        targets, blank = graphs.saved(node, "targets"), getattr(node.function, "_saved_blank", None)
        if targets is None or not isinstance(blank, int) or not self._may_look_at(targets):
            return
        if targets.dim() == 1:
            blanks = targets[: sum(lengths)] == blank
        else:
            torch = self._torch()
            places = torch.arange(targets.shape[1], device=targets.device)
            within = places < torch.tensor(lengths, device=targets.device)[:, None]
            blanks = within & (targets == blank)
        (count,) = statistics.numbers(self._torch(), [blanks.sum()])
        if count:
            self._count("blank-labels", self._place_of(node.number), blank=blank, labels=int(count), whole=sum(lengths))

    def repeated_operators(self, graph: graphs.Graph) -> None:
        """A line that was evaluated many times in this step, and made most of its graph."""
        if len(graph.nodes) < MANY_FUNCTIONS or not self._sites:
            return
        sites = sorted(self._sites, key=lambda pair: pair[0])  # a value that gets a name is recorded once more
        made = [number for number, _ in sites]
        functions = Counter(sites[at][1] for node in graph.nodes if (at := bisect_left(made, node.number)) < len(made))
        times = Counter(site for _, site in sites)
        of_lines: Counter[tuple[str, int]] = Counter()
        outermost: dict[tuple[str, int], int] = {}
        for site, count in functions.items():
            place = self._site_place(site)
            if place is not None and times[site] >= MANY_FUNCTIONS // 2:
                line = (place["path"], place["line"])
                of_lines[line] += count
                outermost[line] = max(site, outermost.get(line, site))
        line, count = max(of_lines.items(), key=lambda item: item[1], default=(("", 0), 0))
        if 2 * count >= len(graph.nodes):
            site, share = outermost[line], count / len(graph.nodes)
            self._count("repeated-operators", self._site_place(site), times=times[site], count=count, share=share)

    def broadcast(self, predicted: Any, target: Any, place: Any) -> None:
        """Both are views in which elements are repeated: (N, 1) and (N,) became (N, N)."""
        if predicted.shape != target.shape or predicted.dim() < 2:
            return
        stretched = [
            {dim for dim in range(value.dim()) if value.stride(dim) == 0 and value.shape[dim] > 1}
            for value in (predicted, target)
        ]
        if stretched[0] and stretched[1] and stretched[0] != stretched[1]:
            self._count("loss-broadcast", place, shape=list(predicted.shape))

    def difference(self, graph: graphs.Graph, entering: Any) -> None:
        """A loss written by hand, the mean of differences, in which (N, 1) and (N,) became (N, N). A prediction of shape (N,)
        counts where N is the number of samples that went in."""
        for node in graph.differences():
            shape = graphs.made_shape(node)
            if shape is None or len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
                continue
            operands = [graph.operand(node, index, ("ExpandBackward0",)) for index in (0, 1)]
            shapes = [graphs.made_shape(one) if one is not None else None for one in operands]
            known = [one for one in shapes if one is not None]
            flat = entering is not None and entering.shape[0] == shape[0] and known == [(shape[0],)]
            if flat or known == [(shape[0], 1)]:
                self._count("loss-broadcast", self._place_of(node.number), shape=list(shape))

    def terms_apart(self, graph: graphs.Graph, looked: int) -> None:
        """A loss of distances to large targets beside another one that has not been learned, of the same parameters."""
        terms = graph.terms()
        if not 2 <= len(terms) <= _MANY_TERMS:
            return
        known = [(node, measured) for node, factor in terms if (measured := self._measured(node, factor)) is not None]
        for node, (value, size, _) in known:
            others = [(one, other) for one, (other, _, open_) in known if one is not node and open_]
            if size < _LARGE_TARGETS or graphs.LOSSES[node.name] not in _DISTANCES or not others:
                continue
            one, small = min(others, key=lambda pair: pair[1])
            if small > 0 and value >= _APART * small and graph.reaches(node) & graph.reaches(one):
                kind = graphs.LOSSES[one.name]
                place = self._place_of(node.number)
                self._count("terms-apart", place, value=value, small=small, size=size, other=kind, looked=looked)
                return

    def _measured(self, node: graphs.Node, factor: float) -> tuple[float, float, bool] | None:
        """The mean that a loss adds, the deviation of its targets, and whether there is much left to learn."""
        functional, kind = self._torch().nn.functional, graphs.LOSSES[node.name]
        predicted, target = graphs.saved(node, "self"), graphs.saved(node, "target")
        if predicted is None or target is None or not self._may_look_at(predicted) or not self._may_look_at(target):
            return None
        predicted, wanted = predicted.detach().float(), target.detach()
        if kind in _DISTANCES:
            away = predicted - wanted
            values = [away.square().mean() if kind == "mse" else away.abs().mean(), wanted.float().std(correction=0)]
            value, deviation = statistics.numbers(self._torch(), values)
            return abs(factor) * value, deviation, value >= 0.2 * (deviation**2 if kind == "mse" else deviation) > 0
        if kind == "bce_with_logits":
            mean = functional.binary_cross_entropy_with_logits(predicted, wanted.float())
        elif kind == "nll":
            mean = functional.nll_loss(predicted, wanted, ignore_index=graphs.number(node, "ignore_index") or -100)
        else:
            return None
        (value,) = statistics.numbers(self._torch(), [mean])
        return abs(factor) * value, 1.0, value >= 0.1

    def terms_of_zero(self, graph: graphs.Graph, looked: int) -> None:
        """A term of the loss that is multiplied with the number 0."""
        for node in graph.factors():
            factor = graphs.saved(node, "other")
            if factor is not None and factor.numel() == 1 and factor.is_cpu and not float(factor):
                self._count("term-of-zero", self._place_of(node.number), looked=looked)

    def masked_extremes(self, graph: graphs.Graph) -> None:
        """The smallest or largest of numbers that are multiplied with a mask, where each one is what the mask has made 0."""
        for node in graph.nodes[:_NEAR]:
            if node.name not in ("MinBackward0", "MaxBackward0"):
                continue
            product, indices, dim = graph.operand(node), graphs.saved(node, "indices"), graphs.number(node, "dim")
            if product is None or product.name != "MulBackward0" or len(product.inputs) != 2 or dim is None:
                continue
            mask = graphs.saved(product, "other" if product.inputs[1] is None else "self")
            if mask is None or indices is None or not self._may_look_at(indices) or mask.dim() < 2:
                continue
            if mask.requires_grad or mask.dim() not in (indices.dim(), indices.dim() + 1):
                continue
            at = indices if indices.dim() == mask.dim() else indices.unsqueeze(dim)
            plain, chosen = ((mask == 0) | (mask == 1)).all(), mask.gather(dim, at)
            if statistics.numbers(self._torch(), [plain.float(), chosen.float().abs().amax(), mask.float().amax()]) == [
                1.0,
                0.0,
                1.0,
            ]:
                kind = "min" if node.name == "MinBackward0" else "max"
                self._count("extreme-of-masked", self._place_of(node.number), function=kind, rows=indices.numel())

    def softmax_beside_classes(self, graph: graphs.Graph) -> None:
        """Probabilities that are multiplied with a target which is one-hot along another dimension than the softmax goes, and
        their logarithms for a loss that takes dimension 1 for the classes."""
        for node in graph.nodes[:_NEAR]:
            if node.name == "NllLoss2DBackward0":
                softmax = graph.operand(node)
                result = None if softmax is None else graphs.saved(softmax, "result")
                if softmax is not None and softmax.name == "LogSoftmaxBackward0" and result is not None:
                    self._beside(softmax, result, 1)
            elif node.name == "MulBackward0" and len(node.inputs) == 2:
                for index, name in ((0, "other"), (1, "self")):
                    softmax, target = graph.operand(node, index, _BY_ELEMENT), graphs.saved(node, name)
                    if softmax is None or target is None or softmax.name not in _SOFTMAX or target.requires_grad:
                        continue
                    result = graphs.saved(softmax, "result")
                    if result is not None and result.dim() > 2 and result.shape == target.shape:
                        axis = self._one_hot_along(target)
                        if axis is not None:
                            self._beside(softmax, result, axis)

    def _beside(self, softmax: graphs.Node, result: Any, axis: int) -> None:
        dim = graphs.number(softmax, "dim")
        if dim is not None and dim % result.dim() != axis:
            shape = list(result.shape)
            self._count("softmax-beside-classes", self._place_of(softmax.number), dim=dim, axis=axis, shape=shape)

    def _one_hot_along(self, target: Any) -> int | None:
        """The only dimension along which exactly one number is 1, and all others are 0."""
        if not self._may_look_at(target):
            return None
        value = target.detach().float()
        checks = [((value == 0) | (value == 1)).all(), *((value.sum(dim) == 1).all() for dim in range(value.dim()))]
        plain, *along = statistics.numbers(self._torch(), checks)
        found = [dim for dim, holds in enumerate(along) if holds]
        return found[0] if plain and len(found) == 1 else None

    def softmax_over_batch(self, graph: graphs.Graph) -> None:
        """A softmax over dimension 0 of a matrix of scores."""
        for node in graph.nodes[:200]:
            if node.name not in ("SoftmaxBackward0", "LogSoftmaxBackward0"):
                continue
            result, dim = graphs.saved(node, "result"), graphs.number(node, "dim")
            if result is not None and dim in (0, -result.dim()) and result.dim() == 2 and result.shape[0] > 1:
                self._count("softmax-over-batch", self._place_of(node.number), shape=list(result.shape))
