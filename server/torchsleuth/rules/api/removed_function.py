"""removed-function: a call of something that PyTorch no longer has.

What it finds
    torch.symeig, solve, lstsq, eig, matrix_rank, the functions rfft, irfft, ifft and fft, and older ones such as gels or
    potrf; torch._six. What stands under a version check or an `except ImportError` is a hint only.
Why it hurts
    The line raises RuntimeError, AttributeError or ImportError as soon as it is reached.
Example
    values, vectors = torch.symeig(matrix, eigenvectors=True)
Use instead
    values, vectors = torch.linalg.eigh(matrix)
Fix safety
    Safe where the new function returns the same; where it returns something else, no fix is offered.
References
    torch.linalg, torch.fft
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.operators import failures
from torchsleuth.rules.evidence.replacements import Old, Rewrite, outdated_imports, outdated_uses, replaced
from torchsleuth.rules.evidence.uses import is_exact, text, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.sifting import of_kind
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_assignment, is_attribute, is_literal, literal, loads, nodes_in
from torchsleuth.syntax.names import Use

CODE = "TS801"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from outdated_uses(analysis, _FUNCTIONS, "removed.use")
    # Of some the names are still there, to say what became of them: only the call raises.
    yield from outdated_imports(analysis, {path: _FUNCTIONS[path] for path in _STUBS}, "removed.import", "hint")
    gone = {path: old for path, old in _FUNCTIONS.items() if path not in (*_STUBS, "torch.fft")}
    yield from outdated_imports(analysis, {**gone, **_MODULES}, "removed.import")
    for failure in failures(analysis, CODE):
        old = failure.operation.target
        if old.startswith("Tensor."):
            new = _INSTEAD.get(old.rpartition(".")[2], "torch.linalg")
            yield Finding(failure.operation.site.span, message("removed.use", old=old, new=new))


def is_removed(path: str) -> bool:
    """Whether this rule knows a name that PyTorch had once."""
    return path in _FUNCTIONS or path in _MODULES


def _symeig(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
    """With eigenvectors; without, the second result was empty."""
    matrix, vectors = argument_of(call, 0, "input"), argument_of(call, 1, "eigenvectors")
    if is_exact(call) and matrix is not None and is_literal(vectors, True):
        name, imported = written(analysis, "torch.linalg.eigh", use)
        yield replaced(analysis, call, f"{name}({text(analysis, matrix)})", imported)


def _moved(new: str) -> Rewrite:
    """A function with another name and the same one argument."""

    def rewrite(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
        matrix = argument_of(call, 0, "input")
        if is_exact(call) and matrix is not None and len(call.args) + len(call.keywords) == 1:
            name, imported = written(analysis, new, use)
            yield replaced(analysis, call, f"{name}({text(analysis, matrix)})", imported)

    return rewrite


def _solved(new: str, attribute: str = "") -> Rewrite:
    """``X, LU = torch.solve(B, A)``, where only the first of the two results is used."""

    def rewrite(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
        right, left = argument_of(call, 0, "input"), argument_of(call, 1, "A")
        if not is_exact(call) or right is None or left is None or len(call.args) + len(call.keywords) != 2:
            return
        name, imported = written(analysis, new, use)
        solution = f"{name}({text(analysis, left)}, {text(analysis, right)}){attribute}"
        around = analysis.trail(analysis.source.path, call)[-2]
        if isinstance(around, ast.Subscript) and literal(around.slice) == 0 or is_attribute(around, "solution"):
            yield replaced(analysis, around, solution, imported)
        elif is_assignment(around) and isinstance(around.targets[0], ast.Tuple):
            first, *rest = around.targets[0].elts
            unused = [part.id for part in of_kind(rest, ast.Name) if not _is_read(analysis, part.id)]
            if len(rest) == len(unused) == 1 and isinstance(first, ast.Name):
                target = edits.replace(analysis.source, around.targets[0], first.id)
                yield replaced(analysis, call, solution, (*imported, target))

    return rewrite


def _is_read(analysis: Analysis, name: str) -> bool:
    names = nodes_in(analysis.tree(analysis.source.path), ast.Name)
    return any(part.id == name and loads(part) for part in names)


_INSTEAD = {
    "symeig": "torch.linalg.eigh",
    "solve": "torch.linalg.solve(A, B), which returns the solution only",
    "lstsq": "torch.linalg.lstsq(A, B)",
    "eig": "torch.linalg.eig, which returns complex tensors",
    "matrix_rank": "torch.linalg.matrix_rank",
    "rfft": "torch.fft.rfft",
    "irfft": "torch.fft.irfft",
    "ifft": "torch.fft.ifft",
    "fft": "torch.fft.fft",
    "gels": "torch.linalg.lstsq(A, B)",
    "gesv": "torch.linalg.solve(A, B)",
    "potrf": "torch.linalg.cholesky",
    "potri": "torch.cholesky_inverse",
    "potrs": "torch.cholesky_solve",
    "trtrs": "torch.linalg.solve_triangular",
    "btrifact": "torch.linalg.lu_factor",
    "btrisolve": "torch.linalg.lu_solve",
    "pstrf": "torch.linalg.cholesky",
}
_REWRITES = {
    "symeig": _symeig,
    "matrix_rank": _moved("torch.linalg.matrix_rank"),
    "potrf": _moved("torch.linalg.cholesky"),
    "potri": _moved("torch.cholesky_inverse"),
    "solve": _solved("torch.linalg.solve"),
    "gesv": _solved("torch.linalg.solve"),
    "lstsq": _solved("torch.linalg.lstsq", ".solution"),
    "gels": _solved("torch.linalg.lstsq", ".solution"),
}
_FUNCTIONS = {f"torch.{name}": Old(instead, rewrite=_REWRITES.get(name)) for name, instead in _INSTEAD.items()}
_STUBS = tuple(f"torch.{name}" for name in ("symeig", "solve", "lstsq", "eig", "matrix_rank"))
_MODULES = {
    "torch._six": Old("plain Python 3"),
    "torch._six.with_metaclass": Old("class C(metaclass=…)"),
    "torch._six.string_classes": Old("str", "builtins.str"),
    "torch._six.int_classes": Old("int", "builtins.int"),
    "torch._six.container_abcs": Old("collections.abc", "collections.abc"),
    "torch._six.inf": Old("torch.inf", "torch.inf"),
    "torch._six.nan": Old("torch.nan", "torch.nan"),
}

RULE = Rule(FAULTS[CODE], find)
