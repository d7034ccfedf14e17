"""The values every part exchanges: positions, edits, fixes, diagnostics and what is known about a tensor.

Lines and columns are 1-based and columns count Unicode code points; only `lsp/` converts to what the editor counts.
Everything here is a frozen dataclass with `to_json` in the shape of the machine interface.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

Severity = Literal["error", "warning", "hint"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most urgent first."""
Layer = Literal["static", "run"]
Json = dict[str, Any]
DimJson = int | str
"""A size: an integer, or the source text of a symbolic one such as ``B`` or ``8*H*W``."""


@dataclass(frozen=True, order=True)
class Position:
    """A place between two characters: 1-based line, 1-based column in code points."""

    line: int
    column: int

    def to_json(self) -> Json:
        return {"line": self.line, "column": self.column}


@dataclass(frozen=True)
class Span:
    """A stretch of one file; `end` is exclusive."""

    path: str
    start: Position
    end: Position

    def related(self, message: str, call: bool = False) -> Related:
        """The place, with what it has to do with a diagnostic."""
        return Related(self.path, self.start, self.end, message, call)

    def to_json(self) -> Json:
        return {"path": self.path, "start": self.start.to_json(), "end": self.end.to_json()}


@dataclass(frozen=True)
class Edit:
    """Replace `start`..`end` of `path` by `new_text`; an insertion has `start == end`."""

    path: str
    start: Position
    end: Position
    new_text: str

    def to_json(self) -> Json:
        return {
            "path": self.path,
            "start": self.start.to_json(),
            "end": self.end.to_json(),
            "new_text": self.new_text,
        }


@dataclass(frozen=True)
class Fix:
    """A repair. `safe`: behaviour is what the author evidently meant. `verified`: applied in memory and
    re-analysed (or re-run), the diagnostic is gone and nothing appeared that the repair may have caused."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True
    verified: bool = False
    at_cause: bool = field(default=False, compare=False)
    """Whether it changes what is known to be the cause of a crash, rather than the line that failed."""

    def to_json(self) -> Json:
        return {
            "title": self.title,
            "safe": self.safe,
            "verified": self.verified,
            "edits": [edit.to_json() for edit in self.edits],
        }


@dataclass(frozen=True)
class Related:
    """Another place that explains a diagnostic, such as the constructor of the layer that failed. `call`: it is a call that
    leads to where the diagnostic is."""

    path: str
    start: Position
    end: Position
    message: str
    call: bool = False

    @property
    def span(self) -> Span:
        return Span(self.path, self.start, self.end)

    def to_json(self) -> Json:
        return {
            "path": self.path,
            "line": self.start.line,
            "column": self.start.column,
            "end": self.end.to_json(),
            "message": self.message,
            **({"call": True} if self.call else {}),
        }


@dataclass(frozen=True)
class Diagnostic:
    """One finding, from the analysis (`layer="static"`) or from a run (`layer="run"`). `operands`: the tensors of the failing
    expression as a run saw them, such as ``x [64, 400]``."""

    path: str
    code: str
    name: str
    severity: Severity
    message: str
    start: Position
    end: Position
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    layer: Layer = "static"
    operands: tuple[str, ...] = ()

    def with_fixes(self, fixes: tuple[Fix, ...]) -> Diagnostic:
        return replace(self, fixes=fixes)

    def to_json(self) -> Json:
        return {
            "path": self.path,
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "start": self.start.to_json(),
            "end": self.end.to_json(),
            "related": [related.to_json() for related in self.related],
            "fixes": [fix.to_json() for fix in self.fixes],
            "layer": self.layer,
            "operands": list(self.operands),
        }


@dataclass(frozen=True)
class Cause:
    """One link of the chain that says why an expression is unknown: a sentence, and the place that it is about.

    `reason`: one of a closed list (`values.Reason`). `name`: what it is about, such as ``yaml.safe_load``.
    """

    path: str
    start: Position
    end: Position
    text: str
    reason: str
    name: str

    def to_json(self) -> Json:
        return {
            "path": self.path,
            "start": self.start.to_json(),
            "end": self.end.to_json(),
            "text": self.text,
            "reason": self.reason,
            "name": self.name,
        }


@dataclass(frozen=True)
class Sample:
    """The values of a tensor at one time: range and mean of the finite elements, None where there are none, and how many are not
    finite."""

    low: float | None
    high: float | None
    mean: float | None
    bad: int

    def to_json(self) -> Json:
        return {"low": self.low, "high": self.high, "mean": self.mean, "bad": self.bad}


@dataclass(frozen=True)
class Values:
    """The values at one place of a run, as far as they were looked at: `count` times. `low` and `high`: of all of these; `bad`:
    the most elements that were not finite at one time."""

    count: int
    first: Sample
    last: Sample
    low: float | None
    high: float | None
    bad: int

    def to_json(self) -> Json:
        return {
            "count": self.count,
            "first": self.first.to_json(),
            "last": self.last.to_json(),
            "low": self.low,
            "high": self.high,
            "bad": self.bad,
        }


@dataclass(frozen=True)
class RunLine:
    """A line that a run has reached, or certainly has not."""

    path: str
    start: Position
    end: Position
    reached: bool


@dataclass(frozen=True)
class TensorFact:
    """Knowledge about the tensor value of one expression, statically or from a run.

    `shape` is None when the rank is unknown; a size is an int or the text of a symbolic one; a size of
    ``"?"`` is unknown. `binding` is the variable or attribute that the expression binds (an assignment
    target, a parameter, a loop variable): those become inlay hints. A fact about a container of tensors
    (a tuple of two batches, say) is several facts. A fact from a run has the shape of the first execution;
    `later` is the last shape of that run that differed from it. A static fact has the shape that all executions
    have in common; `variants` are the shapes of the single ones, where they differ, `dtypes` theirs, and `calls` the calls of the
    function around it that gave each. It is `supposed`
    where nothing calls the code: so it is with arguments such as the code declares, or its first layers are made for; behind
    a layer that does not fit, with its stated sizes; and where sizes, those of the dimensions `demanded`, are nothing but what
    something executed later needs. The `device` is ``cuda?`` where it is the accelerator if the machine has one. `causes`: why the
    shape or a size is not known, as in an `Explanation`. `values`: those that a run looked at. `contract`: the class or function by
    whose contract sizes are known, in the contract's names. `names`: for each size what sized it, where the author has a name
    for that; empty where there is none. `given`: the values that the contract holds for.
    `uncalled`: nothing in its file calls the code.
    """

    path: str
    start: Position
    end: Position
    expression: str
    shape: tuple[DimJson, ...] | None
    dtype: str | None = None
    device: str | None = None
    requires_grad: bool | None = None
    binding: str | None = None
    layer: Layer = "static"
    later: tuple[DimJson, ...] | None = None
    variants: tuple[tuple[DimJson, ...], ...] = ()
    supposed: bool = False
    dtypes: tuple[str | None, ...] = ()
    demanded: tuple[int, ...] = ()
    causes: tuple[Cause, ...] = ()
    values: Values | None = None
    contract: str = ""
    calls: tuple[tuple[Span, ...], ...] = ()
    names: tuple[str, ...] = ()
    given: str = ""
    uncalled: bool = False

    def to_json(self) -> Json:
        later: Json = {} if self.later is None else {"later": list(self.later)}
        if self.values is not None:
            later["values"] = self.values.to_json()
        if self.variants:
            later["variants"] = [list(shape) for shape in self.variants]
            later["dtypes"] = list(self.dtypes)
        if any(self.calls):
            later["calls"] = [[span.to_json() for span in spans] for spans in self.calls]
        if self.supposed:
            later["supposed"] = True
        if self.uncalled:
            later["uncalled"] = True
        if self.contract:
            later["contract"] = self.contract
        if any(self.names):
            later["names"] = list(self.names)
        if self.demanded:
            later["demanded"] = list(self.demanded)
        if self.causes:
            later["causes"] = [cause.to_json() for cause in self.causes]
        return {
            "path": self.path,
            "start": self.start.to_json(),
            "end": self.end.to_json(),
            "expression": self.expression,
            "shape": None if self.shape is None else list(self.shape),
            "dtype": self.dtype,
            "device": self.device,
            "requires_grad": self.requires_grad,
            "binding": self.binding,
            "layer": self.layer,
            **later,
        }

    def sizes(self) -> str:
        """``[batch_size=64, 3, 32, 32]``; with a question mark where a size is only demanded."""
        if self.shape is None:
            return "[…]"
        marks = ("?" if axis in self.demanded else "" for axis in range(len(self.shape)))
        names = (f"{name}=" if name else "" for name in self.names or ("",) * len(self.shape))
        return f"[{', '.join(f'{name}{size}{mark}' for name, size, mark in zip(names, self.shape, marks))}]"

    def describe(self, devices: bool = True) -> str:
        """Compact text of a hint: ``[64, 3, 32, 32] float32 cuda``; with a question mark where it is supposed. `devices`: also
        that it is on the CPU."""
        shape = "scalar" if self.shape == () else self.sizes()
        device = self.device if devices or self.device != "cpu" else None
        mark = "?" if self.supposed and not self.demanded else None
        return " ".join(part for part in (shape, self.dtype, device, mark) if part)


@dataclass(frozen=True)
class Explanation:
    """Knowledge about an expression. `known`: its value in a few words, several where executions differ. `causes`: why it is
    unknown, or its shape: the nearest first, the first cause last; empty for what is known."""

    path: str
    start: Position
    end: Position
    expression: str
    known: tuple[str, ...]
    causes: tuple[Cause, ...] = ()

    def to_json(self) -> Json:
        return {
            "path": self.path,
            "start": self.start.to_json(),
            "end": self.end.to_json(),
            "expression": self.expression,
            "known": list(self.known),
            "causes": [cause.to_json() for cause in self.causes],
        }


@dataclass(frozen=True)
class ContractValue:
    """A value in a contract. `kind`: tensor, tuple, list, dict, record, value or unknown. Of a tensor, `sizes` are the texts of
    its sizes, "?" for one that is not known, None where the rank is not; of a dict, a named tuple or a record, `names` are those
    of its `parts`; `text` is a plain value, or the class of a record. `causes`: why it is unknown."""

    kind: str
    sizes: tuple[str, ...] | None = None
    dtype: str | None = None
    parts: tuple[ContractValue, ...] = ()
    names: tuple[str, ...] = ()
    text: str = ""
    causes: tuple[Cause, ...] = ()

    def to_json(self) -> Json:
        found: Json = {"kind": self.kind}
        if self.kind == "tensor":
            found |= {"sizes": None if self.sizes is None else list(self.sizes), "dtype": self.dtype}
        if self.kind in ("value", "record"):
            found["text"] = self.text
        if self.names:
            found["names"] = list(self.names)
        if self.parts:
            found["parts"] = [part.to_json() for part in self.parts]
        if self.causes:
            found["causes"] = [cause.to_json() for cause in self.causes]
        return found

    def tensors(self) -> Iterator[ContractValue]:
        """The tensors in it."""
        if self.kind == "tensor":
            yield self
        for part in self.parts:
            yield from part.tensors()

    @property
    def ranked(self) -> bool:
        """Whether it is known what it is, and the ranks of all the tensors in it."""
        known = self.kind != "unknown" and (self.kind != "tensor" or self.sizes is not None)
        return known and all(part.ranked for part in self.parts)

    @property
    def sized(self) -> bool:
        """Whether, besides, every size has a number or a name."""
        return self.ranked and all("?" not in size for part in self.tensors() for size in part.sizes or ())

    def describe(self) -> str:
        """The value as a line of a contract has it."""
        if self.kind == "tensor":
            return "?" if self.sizes is None else f"[{', '.join(self.sizes)}]"
        if self.kind in ("value", "unknown"):
            return self.text or "?"
        shown = [part.describe() for part in self.parts]
        if self.kind == "dict":
            return f"{{{', '.join(f'{name!r}: {part}' for name, part in zip(self.names, shown))}}}"
        if self.kind == "record":
            return f"{self.text}({', '.join(f'{name}={part}' for name, part in zip(self.names, shown))})"
        if self.kind == "list":
            return f"[{', '.join(shown)}]"
        return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"


@dataclass(frozen=True)
class ContractInput:
    """A tensor that whoever calls passes, by the name of the parameter."""

    name: str
    value: ContractValue

    def to_json(self) -> Json:
        return {"name": self.name, "value": self.value.to_json()}


MOST_SHOWN = 40
"""Characters of what is passed for a parameter that a heading shows."""


@dataclass(frozen=True)
class ContractSetting:
    """An integer that whoever calls chooses: a parameter of the constructor or the function, or the field of a configuration.
    `value`: the contract holds for this number of it only. `default`: its own. `called`: of a module, it is passed with the inputs.
    `text`: what a call in the project passes for it, where it is no integer. `maker`: the class or function that chooses it,
    where the contract is for modules as that makes them. `varied`: some call in the text passes something else."""

    name: str
    value: int | None = None
    default: int | None = None
    called: bool = False
    text: str = ""
    maker: str = ""
    varied: bool = False

    def to_json(self) -> Json:
        known = {"name": self.name, "value": self.value, "default": self.default, "called": self.called}
        return {**known, "text": self.text, "maker": self.maker, "varied": self.varied}

    @property
    def fixed(self) -> str:
        """The values that the contract holds for; empty where they may be any."""
        return self.text or ("" if self.value is None else str(self.value))

    def describe(self) -> str:
        if self.text:
            return f"{self.name}={self.text if len(self.text) <= MOST_SHOWN else self.text[:MOST_SHOWN] + '…'}"
        number = self.default if self.value is None else self.value
        return self.name if number is None else f"{self.name}={number}"


@dataclass(frozen=True)
class Contract:
    """The demands of a module or a function on its inputs, and its results, for whatever numbers its names stand for.

    `owner`: the class, None for a function. `start`, `end`: of the name of what was looked at, `class_start`: of the class.
    `conditions`: what has to hold. `training`: what has to hold besides, in training mode. `open`: what is not certain, in
    sentences; where there is something, the conditions may not be all there are. `examples`: how many choices of numbers it has been held against.
    """

    path: str
    start: Position
    end: Position
    owner: str | None
    name: str
    settings: tuple[ContractSetting, ...]
    inputs: tuple[ContractInput, ...]
    result: ContractValue
    conditions: tuple[str, ...] = ()
    training: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    examples: int = 0
    class_start: Position | None = None

    def to_json(self) -> Json:
        return {
            "path": self.path,
            "start": self.start.to_json(),
            "end": self.end.to_json(),
            "owner": self.owner,
            "name": self.name,
            "settings": [setting.to_json() for setting in self.settings],
            "inputs": [one.to_json() for one in self.inputs],
            "result": self.result.to_json(),
            "conditions": list(self.conditions),
            "training": list(self.training),
            "open": list(self.open),
            "examples": self.examples,
            "class_start": None if self.class_start is None else self.class_start.to_json(),
        }

    @property
    def ranked(self) -> bool:
        """Whether all ranks are known."""
        return self.result.ranked and all(one.value.ranked for one in self.inputs)

    @property
    def sized(self) -> bool:
        """Whether every size is known."""
        return self.result.sized and all(one.value.sized for one in self.inputs)

    @property
    def given(self) -> str:
        """The values that it holds for: ``stride = 1, mode = None``."""
        return ", ".join(f"{setting.name} = {setting.fixed}" for setting in self.settings if setting.fixed)

    @property
    def varied(self) -> bool:
        """Whether calls in the text make it otherwise than the contract has it."""
        return any(setting.varied for setting in self.settings)

    @property
    def told(self) -> bool:
        """Whether anything is known of what comes back, or of what is passed."""
        known = [one.value for one in self.inputs if one.value.sizes is not None]
        return bool(known) or self.result.ranked

    def heading(self) -> str:
        """``class Down(i, o)``, or the name of a function. Of a configuration, only the fields that matter."""
        if self.owner is None:
            return f"def {self.name}"
        made = (one for one in self.settings if not one.called and (one.text or not one.maker))
        shown = (one.describe() for one in made if "." not in one.name or self.is_about(one.name))
        return f"class {self.owner}({', '.join(shown)})"

    def is_about(self, name: str) -> bool:
        """Whether a setting is in the sizes or the conditions."""
        texts = [self.signature(), *self.conditions, *self.training]
        return any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text) for text in texts)

    def brief(self, text: str) -> str:
        """A text of the contract with the fields of configurations by their own names, as far as these tell them apart."""
        names = [one.name for one in self.settings]
        lasts = [name.rpartition(".")[2] for name in names]
        for name, last in zip(names, lasts):
            if "." in name and lasts.count(last) == 1:
                text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", last, text)
        return text

    def short(self) -> str:
        """``[N, i, H, W] → [N, o, H//2, W//2]``, with names where there are several inputs."""
        given = [one.value.describe() for one in self.inputs]
        if len(given) != 1:
            given = [f"({', '.join(f'{one.name}: {text}' for one, text in zip(self.inputs, given))})"]
        return self.brief(f"{given[0]} → {self.result.describe()}")

    def signature(self) -> str:
        """``forward(x: [N, i, H, W]) -> [N, o, H//2, W//2]``."""
        given = [f"{one.name}: {one.value.describe()}" for one in self.inputs]
        given += [setting.describe() for setting in self.settings if setting.called or self.owner is None]
        return f"{self.name}({', '.join(given)}) -> {self.result.describe()}"


@dataclass(frozen=True)
class MemoryPart:
    """Bytes that are there at the peak, by the line that made them. kind: parameter, buffer, gradient, optimizer, data, activation,
    temporary."""

    kind: str
    path: str
    line: int
    size: int

    def to_json(self) -> Json:
        return {"kind": self.kind, "path": self.path, "line": self.line, "size": self.size}


@dataclass(frozen=True)
class Remedy:
    """Something that takes memory from the peak: its name, what it is done to, and the peak with it."""

    name: str
    about: str
    size: int

    def to_json(self) -> Json:
        return {"name": self.name, "about": self.about, "size": self.size}


@dataclass(frozen=True)
class MemoryEstimate:
    """The most memory that a step of a training takes, in bytes. phase: forward, backward or step, in which the peak is, at a `line`.

    `size` is None where it is not known, and `reason` says why. `backward`: the line of the first ``backward()``. `device`: the kind
    that it is counted on. `batch`: the size of a batch. `fits`: the largest batch that was found to fit, None where none was asked
    for or none is known. `beside`: what is not counted in it.
    """

    size: int | None
    reason: str = ""
    phase: str = ""
    path: str = ""
    line: int = 0
    backward: int = 0
    device: str = "cpu"
    batch: int | None = None
    parts: tuple[MemoryPart, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    limit: int | None = None
    fits: int | None = None
    beside: tuple[str, ...] = ()

    def sums(self) -> dict[str, int]:
        """Bytes by kind, the most first."""
        found: dict[str, int] = {}
        for part in self.parts:
            found[part.kind] = found.get(part.kind, 0) + part.size
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def to_json(self) -> Json:
        return {
            "size": self.size,
            "reason": self.reason,
            "phase": self.phase,
            "path": self.path,
            "line": self.line,
            "backward": self.backward,
            "device": self.device,
            "batch": self.batch,
            "parts": [part.to_json() for part in self.parts],
            "remedies": [remedy.to_json() for remedy in self.remedies],
            "limit": self.limit,
            "fits": self.fits,
            "beside": list(self.beside),
        }


@dataclass(frozen=True)
class FileAnalysis:
    """Everything the analysis of one document says."""

    path: str
    diagnostics: tuple[Diagnostic, ...] = ()
    facts: tuple[TensorFact, ...] = ()
    stats: Json = field(default_factory=dict)
    """Timings in milliseconds, counts, and `incomplete`: why the analysis stopped early, or None."""
    memory: MemoryEstimate | None = None
    """The memory of a step of its training, where that was asked for."""
    explanations: tuple[Explanation, ...] = ()
    """Of the expressions that were asked about, in the order of the text, the outer before the inner ones."""
    contracts: tuple[Contract, ...] = ()
    """Of the modules and functions, where they were asked for."""

    def to_json(self) -> Json:
        return {
            "path": self.path,
            "diagnostics": [diagnostic.to_json() for diagnostic in self.diagnostics],
            "facts": [fact.to_json() for fact in self.facts],
            "stats": self.stats,
            "memory": None if self.memory is None else self.memory.to_json(),
            "explanations": [explanation.to_json() for explanation in self.explanations],
            **({"contracts": [contract.to_json() for contract in self.contracts]} if self.contracts else {}),
        }
