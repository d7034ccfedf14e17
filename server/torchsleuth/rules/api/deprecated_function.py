"""deprecated-function: a call of something that PyTorch keeps for old code only.

What it finds
    torch.qr, cholesky, svd, lu, norm, range, chain_matmul and others of linear algebra that live in torch.linalg now;
    functorch.*; UpsamplingNearest2d, upsample, weight_norm, sdp_kernel, assert_allclose; initialisers and clip_grad_norm
    without their underscore. What stands under a version check or an `except ImportError` is a hint only.
Why it hurts
    Each of them is documented to go away, most print a warning, and some do not do what their name says: torch.range
    includes its end.
Example
    q, r = torch.qr(a)
    index = torch.range(0, 9)
Use instead
    q, r = torch.linalg.qr(a)
    index = torch.arange(0, 10)
Fix safety
    Safe where the new function returns the same. Unsafe for range without a dtype (arange of integers makes integers),
    assert_allclose (other tolerances) and weight_norm (other names in the state dict).
References
    torch.linalg, torch.func, torch.nn.utils.parametrizations, torch.arange
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchsleuth.faults import FAULTS
from torchsleuth.messages import message
from torchsleuth.rules.evidence.replacements import Old, outdated_imports, outdated_uses, replaced
from torchsleuth.rules.evidence.uses import is_exact, operand, renamed, text, written
from torchsleuth.rules.rule import Analysis, Candidate, Finding, Rule
from torchsleuth.syntax import edits
from torchsleuth.syntax.forms import argument_of, is_binary, is_unary, literal
from torchsleuth.syntax.names import Use
from torchsleuth.tensors.dims import is_number

CODE = "TS802"


def find(analysis: Analysis) -> Iterator[Finding]:
    yield from outdated_uses(analysis, _FUNCTIONS, "deprecated.use")
    yield from outdated_imports(analysis, _FUNCTIONS, "deprecated.import")


def _qr(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
    """``some=False`` is the mode "complete"."""
    matrix, some = argument_of(call, 0, "input"), argument_of(call, 1, "some")
    if matrix is None or not is_exact(call) or not (some is None or isinstance(some, ast.Constant)):
        return
    name, imported = written(analysis, "torch.linalg.qr", use)
    mode = ', mode="complete"' if isinstance(some, ast.Constant) and not some.value else ""
    yield replaced(analysis, call, f"{name}({text(analysis, matrix)}{mode})", imported)


def _cholesky(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
    matrix, upper = argument_of(call, 0, "input"), argument_of(call, 1, "upper")
    if matrix is None or not is_exact(call) or not (upper is None or isinstance(upper, ast.Constant)):
        return
    name, imported = written(analysis, "torch.linalg.cholesky", use)
    turned = ".mH" if isinstance(upper, ast.Constant) and upper.value else ""
    yield replaced(analysis, call, f"{name}({text(analysis, matrix)}){turned}", imported)


def _chain_matmul(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
    if not call.args or any(keyword.arg != "out" for keyword in call.keywords):
        return
    name, imported = written(analysis, "torch.linalg.multi_dot", use)
    matrices = ", ".join(text(analysis, part) for part in call.args)
    rest = "".join(f", {text(analysis, keyword)}" for keyword in call.keywords)
    yield replaced(analysis, call, f"{name}([{matrices}]{rest})", imported)


def _range(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
    """arange leaves its end out: one step more. Of integers it makes integers, where range made floats."""
    if not is_exact(call) or len(call.args) > 3:
        return
    end = argument_of(call, None, "end") or (call.args[min(len(call.args), 2) - 1] if call.args else None)
    given = argument_of(call, 2, "step")
    step = 1 if given is None else _integer(given)
    if end is None or step is None or step == 0:
        return
    change = edits.replace(analysis.source, end, _one_step_more(analysis, end, step))
    title = message("fix.replace", old=text(analysis, use.node), new="torch.arange")
    typed = argument_of(call, None, "dtype") is not None
    yield Candidate(title, (*renamed(analysis, use, "torch.arange"), change), safe=typed)


def _integer(node: ast.expr) -> int | None:
    if is_unary(node, ast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    value = literal(node)
    return value if is_number(value) else None


def _one_step_more(analysis: Analysis, end: ast.expr, step: int) -> str:
    number = _integer(end)
    if number is not None:
        return str(number + step)
    if is_binary(end, ast.Sub) and step == 1 and _integer(end.right) == 1:
        return text(analysis, end.left)
    return f"{operand(analysis, end)} {'+' if step > 0 else '-'} {abs(step)}"


def _norm(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
    """A norm of numbers is vector_norm, whose order has another name; 2 for "fro"."""
    order = argument_of(call, 1, "p")
    known = order is None or _integer(order) is not None
    if not is_exact(call) or not (known or _is_frobenius(order)) or argument_of(call, None, "out") is not None:
        return
    changes = list(renamed(analysis, use, "torch.linalg.vector_norm"))
    for keyword in call.keywords:
        if keyword.arg == "p":
            changes.append(edits.replace(analysis.source, keyword, f"ord={_order(analysis, keyword.value)}"))
        elif keyword.arg == "input":
            changes.append(edits.replace(analysis.source, keyword, f"x={text(analysis, keyword.value)}"))
    if len(call.args) > 1 and _is_frobenius(order):
        changes.append(edits.replace(analysis.source, call.args[1], "2"))
    title = message("fix.replace", old=text(analysis, use.node), new="torch.linalg.vector_norm")
    yield Candidate(title, tuple(changes))


def _is_frobenius(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value in ("fro", None)


def _order(analysis: Analysis, node: ast.expr) -> str:
    return "2" if _is_frobenius(node) else text(analysis, node)


def _lu(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
    if is_exact(call) and len(call.args) == 1 and not call.keywords:
        title = message("fix.replace", old=text(analysis, use.node), new="torch.linalg.lu_factor")
        yield Candidate(title, renamed(analysis, use, "torch.linalg.lu_factor"))


def _lu_solve(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
    if is_exact(call) and len(call.args) == 3 and not call.keywords:
        right, factors, pivots = (text(analysis, part) for part in call.args)
        name, imported = written(analysis, "torch.linalg.lu_solve", use)
        yield replaced(analysis, call, f"{name}({factors}, {pivots}, {right})", imported)


def _upsampling(mode: str) -> Old:
    def rewrite(analysis: Analysis, use: Use, call: ast.Call) -> Iterator[Candidate]:
        changes = (*renamed(analysis, use, "torch.nn.Upsample"), edits.add_argument(analysis.source, call, mode))
        new = f"torch.nn.Upsample(…, {mode})"
        if is_exact(call):
            yield Candidate(message("fix.replace", old=text(analysis, use.node), new=new), changes)

    return Old(f"torch.nn.Upsample(…, {mode})", rewrite=rewrite)


_FUNCTIONS: dict[str, Old] = {
    "torch.qr": Old("torch.linalg.qr", rewrite=_qr),
    "torch.cholesky": Old("torch.linalg.cholesky", rewrite=_cholesky),
    "torch.chain_matmul": Old("torch.linalg.multi_dot", rewrite=_chain_matmul),
    "torch.ger": Old("torch.outer", moved="torch.outer"),
    "torch.norm": Old("torch.linalg.vector_norm or matrix_norm", rewrite=_norm),
    "torch.range": Old("torch.arange, which leaves its end out", rewrite=_range),
    "torch.svd": Old("torch.linalg.svd(…, full_matrices=False), whose last result is V.mH"),
    "torch.triangular_solve": Old("torch.linalg.solve_triangular, which returns the solution only"),
    "torch.lu": Old("torch.linalg.lu_factor", rewrite=_lu),
    "torch.lu_solve": Old("torch.linalg.lu_solve(LU, pivots, B)", rewrite=_lu_solve),
    "torch.nn.UpsamplingNearest2d": _upsampling('mode="nearest"'),
    "torch.nn.UpsamplingBilinear2d": _upsampling('mode="bilinear", align_corners=True'),
    "torch.nn.functional.upsample": Old("torch.nn.functional.interpolate", moved="torch.nn.functional.interpolate"),
    "torch.nn.NLLLoss2d": Old("torch.nn.NLLLoss", moved="torch.nn.NLLLoss"),
    "torch.nn.utils.weight_norm": Old(
        "torch.nn.utils.parametrizations.weight_norm", moved="torch.nn.utils.parametrizations.weight_norm", safe=False
    ),
    "torch.nn.utils.clip_grad_norm": Old("torch.nn.utils.clip_grad_norm_", moved="torch.nn.utils.clip_grad_norm_"),
    "torch.testing.assert_allclose": Old("torch.testing.assert_close", moved="torch.testing.assert_close", safe=False),
    "torch.set_default_tensor_type": Old("torch.set_default_dtype and torch.set_default_device"),
    "torch.backends.cuda.sdp_kernel": Old("torch.nn.attention.sdpa_kernel"),
    "torch.utils._pytree._register_pytree_node": Old(
        "torch.utils._pytree.register_pytree_node", moved="torch.utils._pytree.register_pytree_node"
    ),
    **{
        f"torch.nn.init.{name}": Old(f"torch.nn.init.{name}_", moved=f"torch.nn.init.{name}_")
        for name in "uniform normal constant eye dirac xavier_uniform xavier_normal kaiming_uniform kaiming_normal "
        "orthogonal sparse".split()
    },
    **{
        f"functorch.{name}": Old(f"torch.func.{name}", moved=f"torch.func.{name}")
        for name in "vmap grad vjp jvp jacrev jacfwd hessian functionalize".split()
    },
}

RULE = Rule(FAULTS[CODE], find)
