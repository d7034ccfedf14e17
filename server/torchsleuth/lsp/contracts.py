"""The contracts of open documents, and of what they import from files that are not open: asked for one after the other when nothing
else is to be done, kept as long as what they depend on stays the same, and looked up for the text of now."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from torchsleuth.lsp.callers import Callers
from torchsleuth.lsp.client import Client
from torchsleuth.lsp.documents import Document
from torchsleuth.schema import Cause, Contract, ContractValue, DimJson, FileAnalysis, Position, TensorFact
from torchsleuth.syntax.dependence import Definition, definitions
from torchsleuth.syntax.referred import file_of, imported, is_called
from torchsleuth.worker.client import WorkerUnavailable

logger = logging.getLogger(__name__)

Ask = Callable[[Document, Definition | None], Awaitable[FileAnalysis | None]]

MOST_IMPORTED = 40
"""Imported definitions of a document whose contracts are found."""
MAX_PAST = 20
"""Definitions of a document's earlier texts whose contracts are kept, for who undoes an edit."""


@dataclass(frozen=True)
class Known:
    """The findings about a definition: perhaps that it has no contract. `first`, `last`: its lines then. `read`: digests of
    the other files that this depends on."""

    first: int
    last: int
    contract: Contract | None
    facts: tuple[TensorFact, ...]
    read: Mapping[str, str]

    def contract_at(self, line: int) -> Contract | None:
        """The contract of the definition, where that begins in another line now."""
        return None if self.contract is None else _moved_contract(self.contract, line - self.first, self)

    def facts_at(self, line: int) -> Iterator[TensorFact]:
        """The facts about the expressions inside, there."""
        more = line - self.first
        for fact in self.facts:
            yield replace(fact, start=_down(fact.start, more), end=_down(fact.end, more)) if more else fact


class Contracts:
    """Those of all open documents. `idle`: waits until nothing else is to be done; `ask`: asks for those of one definition, or for
    the facts of the calls in other files, None where nobody can be asked; `found`: is told when there are more."""

    def __init__(
        self, client: Client, idle: Callable[[], Awaitable[None]], ask: Ask, found: Callable[[], None]
    ) -> None:
        self._client = client
        self._idle = idle
        self._ask = ask
        self._found = found
        self.callers = Callers(self._digest)
        self._known: dict[tuple[str, str], Known] = {}
        """By path and digest."""
        self._waiting: dict[str, None] = {}
        """Documents whose contracts are wanted; the one that was asked for last is the last."""
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """How many definitions are known, with those of earlier texts."""
        return len(self._known)

    @property
    def busy(self) -> bool:
        """Whether more are to be found."""
        return self._task is not None and not self._task.done()

    def request(self, path: str) -> None:
        """Find those of a document that are not known, when there is time."""
        for one in (*self.callers.of(path), path):
            self._waiting.pop(one, None)
            self._waiting[one] = None
        if not self.busy:
            self._task = asyncio.get_running_loop().create_task(self._work())

    def postpone(self, path: str) -> None:
        """Those of a document are not wanted before they are asked for again: its text is being changed."""
        self._waiting.pop(path, None)

    def check(self, path: str) -> None:
        """Forget what depends on files that are others now."""
        for key, known in list(self._known.items()):
            if key[0] == path and any(self._digest(other) != digest for other, digest in known.read.items()):
                del self._known[key]

    def forget(self, path: str) -> None:
        """The document was closed."""
        self._waiting.pop(path, None)
        self.callers.forget(path)
        documents = self._client.documents
        for key in list(self._known):
            if documents.at(key[0]) is None and not documents.importing(key[0]):
                del self._known[key]

    def clear(self) -> None:
        """Forget everything: it will be found by somebody else."""
        self._waiting.clear()
        self._known.clear()
        self.callers.clear()

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def of(self, document: Document) -> list[tuple[Definition, Contract]]:
        """The contracts that are known of the text of now, and what they are of."""
        found: list[tuple[Definition, Contract]] = []
        for definition in definitions(document.source):
            known = self._known.get((document.path, definition.digest))
            contract = known.contract_at(definition.first) if known is not None else None
            if contract is not None:
                found.append((definition, contract))
        return found

    def documents_of(self, module: str, document: Document) -> list[Document]:
        """Documents that a module may be which a document imports: open ones, or a file of the workspace that is not open."""
        opened = [other for other in self._client.documents if is_called(other.path, module)]
        path = None if opened else file_of(module, document.path, self._client.roots())
        return opened if path is None else [self._closed(path)]

    def _closed(self, path: str) -> Document:
        documents = self._client.documents
        return documents.at(path) or Document(documents.uri(path), path, 0, documents.source(path))

    def facts(self, document: Document) -> list[TensorFact]:
        """The facts about the expressions inside, in the short form of their names."""
        found: list[TensorFact] = []
        for definition in definitions(document.source):
            known = self._known.get((document.path, definition.digest))
            if known is not None and known.contract is not None:
                words = _words(document.source.segment(definition.node))
                found += (_brief(fact, known.contract, words) for fact in known.facts_at(definition.first))
        return found

    def varied(self, document: Document) -> set[str]:
        """The classes of which the text makes some otherwise than their contracts have them."""
        return {contract.owner or contract.name for _, contract in self.of(document) if contract.varied}

    async def _work(self) -> None:
        while self._waiting:
            await self._idle()
            path = next(reversed(self._waiting), None)
            document = self._client.documents.at(path) if path is not None else None
            if path is None or document is None or not self._client.settings_of(path).contracts:
                self._waiting.pop(path or "", None)
                continue
            found = (document, None) if self.callers.lacks(document) else self._next(document)
            if found is None:
                del self._waiting[path]
                continue
            try:
                answer = await self._ask(*found)
            except WorkerUnavailable as error:
                logger.info("no contracts: %s", error)
                answer = None
            if answer is None:
                self._waiting.pop(path, None)  # after the next analysis
            elif not answer.stats.get("withdrawn"):
                self._keep(*found, answer)

    def _next(self, document: Document) -> tuple[Document, Definition | None] | None:
        """A definition whose contract is not known: of a document, then of the files that it imports from."""
        return next((one for one in self._wanted(document) if (one[0].path, one[1].digest) not in self._known), None)

    def _wanted(self, document: Document) -> Iterator[tuple[Document, Definition]]:
        yield from ((document, one) for one in definitions(document.source))
        names: dict[str, set[str]] = {}
        for one in imported(document.source):
            path = file_of(one.module or "", document.path, self._client.roots())
            if path is not None and path != document.path:
                names.setdefault(path, set()).add(one.name)
        places = [(self._closed(path), wanted) for path, wanted in names.items()]
        found = (
            (place, one) for place, wanted in places for one in definitions(place.source) if one.node.name in wanted
        )
        yield from itertools.islice(found, MOST_IMPORTED)

    def _keep(self, document: Document, definition: Definition | None, answer: FileAnalysis) -> None:
        if definition is None:
            self.callers.keep(document, answer)
            if answer.facts:
                self._found()
            return
        read = {other: self._digest(other) for other in answer.stats.get("read") or ()}
        mine = [one for one in answer.contracts if _is_of(one, definition)]
        known = Known(definition.first, definition.last, mine[0] if mine else None, answer.facts, read)
        self._known[document.path, definition.digest] = known
        current = {one.digest for one in definitions(document.source)}
        past = [key for key in self._known if key[0] == document.path and key[1] not in current]
        for key in past[:-MAX_PAST]:
            del self._known[key]
        if mine:
            self._found()

    def _digest(self, path: str) -> str:
        text = self._client.documents.source(path).text
        return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def completed(
    facts: Sequence[TensorFact], of_contracts: Iterable[TensorFact], varied: Set[str] = frozenset()
) -> list[TensorFact]:
    """The facts of a document; where they lack sizes, those that contracts tell. What is known of the calls stays. `varied`: contracts
    that do not hold of all calls."""
    told = {(fact.start, fact.end): fact for fact in of_contracts}
    mixed = _mixed(facts, told)
    told = {
        place: other for place, other in told.items() if other.contract not in mixed or "..." not in (other.shape or ())
    }
    found: list[TensorFact] = []
    for fact in facts:
        other = told.get((fact.start, fact.end))
        if fact.layer == "static":
            told.pop((fact.start, fact.end), None)
            holds = other is not None and (fact.supposed or other.contract not in varied)
            fact = _completed(fact, other) if other is not None and holds else fact
        found.append(fact)
    # Beside a name there is nothing more to tell.
    found += (replace(other, names=()) for other in told.values())
    return sorted(found, key=lambda fact: (fact.start, fact.end, fact.layer))


def _mixed(facts: Sequence[TensorFact], told: Mapping[tuple[Position, Position], TensorFact]) -> set[str]:
    """The contracts for any number of dimensions that do not hold of what is passed: there ``...`` stands for different numbers of
    them."""
    counts: dict[str, set[int]] = {}
    for fact in facts:
        other = told.get((fact.start, fact.end))
        sizes = other.shape if other is not None else None
        if other is not None and sizes is not None and "..." in sizes and fact.layer == "static":
            shapes = fact.variants if fact.shape is None else (fact.shape,)
            counts.setdefault(other.contract, set()).update(len(shape) - len(sizes) for shape in shapes)
    return {name for name, found in counts.items() if len(found) > 1}


def _completed(fact: TensorFact, other: TensorFact) -> TensorFact:
    """One fact with the sizes of a contract for those that it lacks, and the author's names beside the numbers; as it is where
    the two contradict one another."""
    uncalled = fact.supposed and not fact.demanded
    if other.shape is None:
        return fact
    if fact.shape is None:
        return fact if fact.variants else replace(other, dtype=fact.dtype or other.dtype, device=fact.device, names=())
    sizes = _aligned(other.shape, len(fact.shape))
    if sizes is None or fact.dtype != (other.dtype or fact.dtype):
        return fact
    if any(isinstance(mine, int) and isinstance(size, int) and mine != size for mine, size in zip(fact.shape, sizes)):
        return fact
    # Where nothing calls the code, the names of the contract are as good as others, and fit together.
    own = tuple(size if _is_open(mine) or (uncalled and size != "?") else mine for mine, size in zip(fact.shape, sizes))
    names = tuple(_name(mine, size, other.names) for mine, size in zip(own, sizes))
    if own == fact.shape:
        return replace(fact, names=names if any(names) else ())
    causes = fact.causes if any(map(_is_open, own)) else ()
    found = replace(fact, shape=own, supposed=True, causes=causes, names=names)
    return replace(found, contract=other.contract, given=other.given)


def _is_open(size: DimJson) -> bool:
    """Whether a size is not known, but for what it is a multiple of at most."""
    return isinstance(size, str) and size.endswith("?")


def _name(mine: DimJson, size: DimJson, names: Sequence[str]) -> str:
    """The author's name for a size of which the number is known."""
    return str(size) if isinstance(mine, int) and size in names else ""


def _aligned(sizes: tuple[DimJson, ...], rank: int) -> tuple[DimJson, ...] | None:
    """The sizes for a number of dimensions, with unknown ones where there may be any; None where it is another."""
    if "..." not in sizes:
        return sizes if len(sizes) == rank else None
    at, lacking = sizes.index("..."), rank - len(sizes) + 1
    return (*sizes[:at], *("?",) * lacking, *sizes[at + 1 :]) if lacking >= 0 else None


def _is_of(contract: Contract, definition: Definition) -> bool:
    begins = contract.class_start.line if contract.class_start is not None else contract.start.line
    return begins == definition.first


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def _brief(fact: TensorFact, contract: Contract, words: Set[str]) -> TensorFact:
    """A fact in the short form of its names. `words`: those of the text, in which the names of the author are."""
    sizes = tuple(contract.brief(size) if isinstance(size, str) else size for size in fact.shape or ())
    names = tuple(size if isinstance(size, str) and size in words else "" for size in sizes)
    return replace(fact, shape=sizes, names=names, given=contract.given)


def _down(position: Position, lines: int) -> Position:
    return Position(position.line + lines, position.column)


def _moved_contract(contract: Contract, lines: int, known: Known) -> Contract:
    """The contract so many lines further down. Reasons that lie elsewhere may have moved otherwise: they are left out."""
    if not lines:
        return contract

    def cause(one: Cause) -> Cause | None:
        inside = one.path == contract.path and known.first <= one.start.line <= known.last
        return replace(one, start=_down(one.start, lines), end=_down(one.end, lines)) if inside else None

    def value(one: ContractValue) -> ContractValue:
        causes = tuple(moved for before in one.causes if (moved := cause(before)) is not None)
        return replace(one, causes=causes, parts=tuple(map(value, one.parts)))

    start = None if contract.class_start is None else _down(contract.class_start, lines)
    return replace(
        contract,
        start=_down(contract.start, lines),
        end=_down(contract.end, lines),
        class_start=start,
        result=value(contract.result),
    )
