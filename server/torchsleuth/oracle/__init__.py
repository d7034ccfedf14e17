"""The operators of the installed torch as one pure, memoised function. The only analysis code that imports torch.

`Operators` is what the interpreter needs of it; `torchsleuth.oracle.oracle.Oracle` is the implementation, which
imports torch and is named only where the analysis is put together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from torchsleuth.tensors.dims import Symbol
from torchsleuth.tensors.spec import (
    Autocast,
    Failure,
    ModuleSpec,
    ObjectSpec,
    Outcome,
    Parameter,
    PartSpec,
    TensorSpec,
    Undecided,
)


class Operators(Protocol):
    """The questions that the interpreter asks about the installed libraries. `misses`: how many were new. `work`: what they cost,
    in nodes of the interpreter, whether their answers were remembered or not. `joint`: what the interpreter makes of several
    questions about one call, for as long as the answers are remembered."""

    hits: int
    misses: int
    work: int
    joint: dict[Any, Outcome | None]

    def call(
        self,
        target: str | ModuleSpec,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        fresh: Callable[[str], Symbol],
        grad: bool = True,
        cast: Autocast | None = None,
    ) -> Outcome: ...

    def count_anew(self) -> None: ...

    def __contains__(self, path: str) -> bool: ...

    def attribute(self, recipe: ModuleSpec, name: str) -> Any: ...

    def setting(self, recipe: ObjectSpec, name: str) -> Any: ...

    def parameters(self, recipe: ModuleSpec, buffers: bool = False) -> tuple[tuple[str, TensorSpec], ...]: ...

    def construct(self, recipe: ModuleSpec) -> Failure | Undecided | None: ...

    def package_of(self, path: str) -> str | None: ...

    def tree(self, recipe: ModuleSpec) -> tuple[PartSpec, ...]: ...

    def resolve(self, path: str) -> Any: ...

    def static_method(self, path: str, name: str) -> Any: ...

    def mro(self, path: str) -> tuple[str, ...]: ...

    def public_names(self, path: str) -> tuple[str, ...]: ...

    def signature(self, path: str) -> tuple[Parameter, ...] | None: ...

    def overloads(self, path: str) -> tuple[tuple[Parameter, ...], ...]: ...

    def gives_tensor(self, path: str) -> bool: ...

    def keeps_form(self, path: str) -> bool: ...

    def refusal(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Failure | None: ...

    def nearest(self, path: str, name: str) -> tuple[str, ...]: ...

    def elsewhere(self, path: str, name: str) -> tuple[str, ...]: ...

    def attributes(self, path: str) -> frozenset[str]: ...

    def told(self) -> list[str]: ...
