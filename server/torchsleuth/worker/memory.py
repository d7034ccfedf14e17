"""The memory that a step of a training takes, before it runs: what is recorded of a script, executed without content."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from torchsleuth.messages import message
from torchsleuth.oracle.oracle import Oracle
from torchsleuth.schema import MemoryEstimate, MemoryPart, Remedy
from torchsleuth.sifting import as_kind, of_kind
from torchsleuth.syntax.forms import by_position, is_display, is_text, nodes_in
from torchsleuth.tensors.program import Changes, Gap, Peak, Program, Step, checkpointed
from torchsleuth.worker.request import Estimate

Record = Callable[[str, Mapping[str, str], tuple[str, ...]], Program]
MAX_TRIALS = 10
"""Sizes of a batch that are tried for the largest one that fits."""
MAX_FACTOR = 1 << 16
"""The largest batch that is looked for, as a multiple of the one in the text."""
MAX_BLOCKS = 3
"""Classes of modules whose calls are tried as checkpoints."""
WORTH = 0.98
"""Part of the peak that a remedy has to leave at most to be told of."""
_IN_EIGHT_BITS = frozenset({"Adam", "AdamW", "SGD", "RMSprop", "Adagrad"})
"""Optimizers that there are with a state in eight bits."""
_BATCH = re.compile(r"batch|^bs$|^b$|^n$", re.IGNORECASE)
_SIZED = frozenset("randn rand zeros ones empty full randint normal DataLoader".split())


class Estimator:
    """The estimate for a document."""

    def __init__(self, oracle: Oracle, record: Record, asked: Estimate) -> None:
        self._oracle = oracle
        self._record = record
        self._asked = asked
        self._path = asked.path
        self._files = asked.files
        self._roots = asked.roots
        self._programs: dict[int | None, Program | Gap] = {}

    def estimate(self) -> MemoryEstimate:
        asked = self._asked
        program = self._program(asked.batch)
        if isinstance(program, Gap) or program.gap is not None:
            gap = program if isinstance(program, Gap) else program.gap
            assert gap is not None
            return self._unknown(gap)
        changes = Changes(device=asked.device)
        peak = self._oracle.replay(program, changes)
        if isinstance(peak, Gap):
            return self._unknown(peak)
        found = MemoryEstimate(
            peak.size,
            phase=peak.phase,
            path=peak.place[0],
            line=peak.place[1],
            backward=program.backward[1] if program.backward else 0,
            device=asked.device or program.device,
            batch=program.batch,
            parts=tuple(MemoryPart(block.kind, *block.place, block.size) for block in peak.blocks),
            limit=asked.limit,
        )
        if asked.remedies:
            found = replace(found, remedies=tuple(self._remedies(peak, program, changes)))
        if asked.limit is not None:
            found = replace(found, fits=self._largest(peak, program, asked.limit, changes))
        return found

    # -- remedies ----------------------------------------------------------------------------------

    def _remedies(self, peak: Peak, program: Program, changes: Changes) -> list[Remedy]:
        """Remedies that would take memory from the peak, the most effective first."""
        found = []
        for name, about, changed, how in self._possible(program, changes):
            after = as_kind(self._oracle.replay(changed, how), Peak)
            if after is not None and after.size < peak.size * WORTH:
                found.append(Remedy(name, about, after.size))
        if program.batch is not None and program.batch > 1:
            size = self._peak(-(-program.batch // 2), changes)
            if size is not None and size < peak.size * WORTH:
                found.append(Remedy("accumulation", str(-(-program.batch // 2)), size))
        best: dict[str, Remedy] = {}
        for remedy in sorted(found, key=lambda one: one.size):
            best.setdefault(remedy.name, remedy)
        return list(best.values())

    @staticmethod
    def _possible(program: Program, changes: Changes) -> Iterator[tuple[str, str, Program, Changes]]:
        """The remedies to try: their names, what they are about, and what is to be executed."""
        before = program.steps[: next(n for n, step in enumerate(program.steps) if step.kind == "backward")]
        if not any(step.casts for step in before):
            yield "autocast", "bfloat16", program, replace(changes, cast="bfloat16")
        names = [step.target for step in before if step.kind == "enter" and step.grad]
        blocks = [name for name in dict.fromkeys(names[1:]) if name != names[0] and not _is_leaf(before, name)]
        for name in sorted(blocks, key=names.count, reverse=True)[:MAX_BLOCKS]:
            yield "checkpoint", name, checkpointed(program, name), changes
        optimizers = [step for step in program.steps if step.kind == "optimizer"]
        types = {step.target[0].rpartition(".")[2] for step in optimizers}
        if types & _IN_EIGHT_BITS:
            yield "eight_bits", ", ".join(sorted(types)), program, replace(changes, small_state=True)
        if (changes.device or program.device) != "cpu":
            yield "foreach", "", program, replace(changes, foreach=False)
        trained = [step for step in before if step.kind == "call" and step.target.requires_grad]
        owned = {part.identity for step in optimizers for part in step.args}
        last = [step for step in trained if step.target.identity in owned]
        if last:
            about = str(last[-1].place[1])
            yield "freeze", about, program, replace(changes, trained=last[-1].target.identity)

    @staticmethod
    def _unknown(gap: Gap) -> MemoryEstimate:
        line = gap.place[1]
        reason = message(f"memory.unknown.{gap.reason}", name=gap.name, line=line)
        return MemoryEstimate(None, reason, path=gap.place[0], line=line)

    # -- other batches -----------------------------------------------------------------------------

    def _program(self, batch: int | None) -> Program | Gap:
        """The training with batches of this size, None for those of the text."""
        if batch not in self._programs:
            self._programs[batch] = self._recorded(batch)
        return self._programs[batch]

    def _recorded(self, batch: int | None) -> Program | Gap:
        first = self._programs.get(None)
        if first is None:
            first = self._programs[None] = self._record(self._path, self._files, self._roots)
        if batch is None or isinstance(first, Gap) or first.gap is not None or first.batch == batch:
            return first
        if first.batch is None:
            return Gap("batch", ("", 0))
        for text in changed_batch(self._files[self._path], first.batch, batch):
            program = self._record(self._path, {**self._files, self._path: text}, self._roots)
            if program.batch == batch and program.gap is None:
                return program
        return Gap("batch", ("", 0))

    def _peak(self, batch: int, changes: Changes) -> int | None:
        program = self._program(batch)
        peak = as_kind(None if isinstance(program, Gap) else self._oracle.replay(program, changes), Peak)
        return peak.size if peak is not None else None

    def _largest(self, peak: Peak, program: Program, limit: int, changes: Changes) -> int | None:
        """The largest batch that was found to fit: 0 where none does, None where it is not known."""
        if program.batch is None:
            return None
        sizes = {program.batch: peak.size}
        batch, most = program.batch * 2, program.batch * MAX_FACTOR
        for _ in range(MAX_TRIALS):
            size = self._peak(batch, changes)
            if size is None:
                # There may be fewer samples than that.
                most = batch - 1
                best = max((one for one, known in sizes.items() if known <= limit), default=0)
                batch = (best + batch) // 2
            else:
                sizes[batch] = size
                batch = self._next(sizes, limit, most)
            if batch in sizes or batch < 1:
                break
        if len(sizes) == 1:
            return None
        return max((one for one, size in sizes.items() if size <= limit), default=0)

    @staticmethod
    def _next(sizes: dict[int, int], limit: int, most: int) -> int:
        """The batch to try next: the one at which the line through the two nearest reaches the limit."""
        (one, first), (two, second) = sorted(sizes.items(), key=lambda item: abs(item[1] - limit))[:2]
        slope = (second - first) / (two - one)
        if slope <= 0:
            return one
        batch = min(max(int(one + (limit - first) / slope), 1), most)
        if batch in sizes:
            batch += 1 if sizes[batch] <= limit and batch < most else -1
        return batch


def _is_leaf(steps: list[Step], name: str) -> bool:
    """Whether the calls of modules of a class are single steps: nothing is saved in between."""
    for number, step in enumerate(steps):
        if step.kind == "enter" and step.target == name:
            rest = [one for one in steps[number + 1 : number + 6] if one.kind != "make"]
            return len(rest) > 1 and rest[1].kind == "leave" and rest[1].target == name
    return True


def changed_batch(text: str, old: int, new: int) -> Iterator[str]:
    """The text with another size of batches: where a name says that a number is one, and then where a number is the first size
    of a tensor, too. Whether that makes the batches so large is for the caller to see."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    named = [node for node in _named_sizes(tree) if node.value == old]
    sized = [node for node in _first_sizes(tree) if node.value == old]
    tried = set()
    for nodes in (named, sized, [*named, *sized]):
        places = frozenset((node.lineno, node.col_offset, node.end_col_offset or 0) for node in nodes)
        if places and places not in tried:
            tried.add(places)
            yield _with_number(text, places, new)


def _with_number(text: str, places: frozenset[tuple[int, int, int]], number: int) -> str:
    lines = text.splitlines(keepends=True)
    for row, start, end in sorted(places, reverse=True):
        raw = lines[row - 1].encode()
        lines[row - 1] = (raw[:start] + str(number).encode() + raw[end:]).decode()
    return "".join(lines)


def _named_sizes(tree: ast.AST) -> Iterator[ast.Constant]:
    """The numbers that are given a name of a size of batches: variables, arguments, defaults, entries, options."""
    for node in ast.walk(tree):
        pairs: list[tuple[str, ast.AST | None]] = []
        match node:
            case ast.Assign():
                pairs = [(_name(target), node.value) for target in node.targets]
                for target in of_kind(node.targets, ast.Tuple):
                    if isinstance(node.value, ast.Tuple):
                        pairs += [(_name(one), value) for one, value in zip(target.elts, node.value.elts)]
            case ast.AnnAssign():
                pairs = [(_name(node.target), node.value)]
            case ast.keyword():
                pairs = [(node.arg or "", node.value)]
            case ast.Dict():
                pairs = [(_name(key), value) for key, value in zip(node.keys, node.values)]
            case ast.arguments():
                places = by_position(node)
                pairs = [
                    (one.arg, value) for one, value in zip(places[len(places) - len(node.defaults) :], node.defaults)
                ]
                pairs += [(one.arg, value) for one, value in zip(node.kwonlyargs, node.kw_defaults)]
            case ast.Call() if _name(node.func) == "add_argument":
                names = [_name(argument) for argument in node.args]
                name = next((one for one in names if _BATCH.search(one.strip("-"))), "")
                pairs = [(name.strip("-"), item.value) for item in node.keywords if item.arg == "default"]
        for name, value in pairs:
            if _BATCH.search(name) and isinstance(value, ast.Constant) and type(value.value) is int:
                yield value


def _first_sizes(tree: ast.AST) -> Iterator[ast.Constant]:
    """The numbers that are the first size of a tensor that is made, or the second argument of a loader."""
    for node in nodes_in(tree, ast.Call):
        if _name(node.func) not in _SIZED:
            continue
        given = [item.value for item in node.keywords if item.arg in ("size", "shape")]
        given += node.args[1:2] if _name(node.func) == "DataLoader" else node.args[:1]
        given += of_kind(node.args, ast.Tuple, ast.List)
        for value in given:
            first = as_kind(value.elts[0] if is_display(value) and value.elts else value, ast.Constant)
            if first is not None and type(first.value) is int:
                yield first


def _name(node: ast.AST | None) -> str:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
    return node.value if is_text(node) else ""


__all__ = ["Estimator", "Remedy", "changed_batch"]
