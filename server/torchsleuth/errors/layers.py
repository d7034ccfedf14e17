"""Layers that got an input they were not built for: channels, features, sequence sizes, attention, normalisation."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from torchsleuth.errors.case import Case
from torchsleuth.errors.constructor import change_argument
from torchsleuth.errors.entry import entry
from torchsleuth.errors.fixes import add_argument, append, fitted, loaders, replace
from torchsleuth.explanations import BY_FAMILY
from torchsleuth.messages import message
from torchsleuth.schema import Fix
from torchsleuth.sifting import as_kind
from torchsleuth.synthesis.shapes import Way, channels_first, rotated, transposed


def _attribute(case: Case, name: str) -> int:
    value = as_kind((case.module or {}).get("attributes", {}).get(name), int)
    return value if value is not None else 0


def _entrance(case: Case) -> ast.expr | None:
    """The user's expression that reaches the failing layer unchanged."""
    return case.given[0] if case.given is not None else None


def _with_size(case: Case, wanted: object, dimension: int, way: Way) -> Iterator[Fix]:
    """The layer's input rewritten so that one of its dimensions has the size that the layer was built for."""
    yield from fitted(case.frame, _entrance(case), case.input, lambda shape: shape[dimension] == wanted, way)


def _conv_fixes(case: Case) -> Iterator[Fix]:
    """Channels-last data wants permute, images without a channel dimension unsqueeze, everything else in_channels."""
    shape = case.input["shape"] if case.input is not None else []
    wanted, node = _attribute(case, "in_channels"), _entrance(case)
    if node is not None and _channels_last(case):
        single = len(shape) == 3 and "Conv1d" not in (case.module or {}).get("type", "")
        channels = 0 if single else 1
        yield from islice(_with_size(case, wanted, channels, rotated if single else channels_first), 1)
    if node is not None and wanted == 1 and len(shape) == 3 and "2d" in (case.module or {}).get("type", ""):
        yield append(case.frame, node, ".unsqueeze(1)")
    yield from change_argument(case, int(case.match[5]), "in_channels")
    if node is not None and wanted == 3 and case.match[5] == "1" and len(shape) in (3, 4):
        yield append(case.frame, node, f".expand({'-1, ' * (len(shape) - 3)}3, -1, -1)", safe=False)


def _conv_text(case: Case) -> str:
    if case.module is None or "in_channels" not in case.module["attributes"]:
        return "error.generic"
    return "error.conv.last" if _channels_last(case) else "error.conv"


def _channels_last(case: Case) -> bool:
    """The last size is the number of channels, and not just the width of a square picture."""
    shape = case.input["shape"] if case.input is not None else []
    square = len(shape) == 4 and shape[-1] == shape[-2]
    return bool(shape and shape[-1] == _attribute(case, "in_channels") and not square)


def _conv_rank_fixes(case: Case) -> Iterator[Fix]:
    """The dimension that is missing: channels, if the layer wants one of them, else the batch."""
    node = _entrance(case)
    shape = case.input["shape"] if case.input is not None else []
    if node is None or not shape:
        return
    if _attribute(case, "in_channels") == 1:
        yield append(case.frame, node, ".unsqueeze(1)")
    if shape[0] == _attribute(case, "in_channels"):
        yield append(case.frame, node, ".unsqueeze(0)")


def _batch_norm_fixes(case: Case) -> Iterator[Fix]:
    shape = (case.input or {}).get("shape", [])
    features = _attribute(case, "num_features")
    if len(shape) == 3:
        yield from _with_size(case, features, 1, channels_first)
    if len(shape) > 1:
        yield from change_argument(case, shape[1], "num_features")


def _norm_rank_fixes(case: Case) -> Iterator[Fix]:
    """``BatchNorm2d`` for pictures, ``BatchNorm1d`` for features."""
    from torchsleuth.errors.constructor import constructor_call
    from torchsleuth.syntax import edits

    found, given = constructor_call(case), case.input
    if found is None or given is None or case.module is None:
        return
    site, call = found
    rank = {2: "1d", 3: "1d", 4: "2d", 5: "3d"}.get(len(given["shape"]))
    old = case.module["type"]
    if rank is None or not old.endswith("d") or old.endswith(rank):
        return
    text = site.source.segment(call.func)
    if text.endswith(old):
        new = text[: -len(old)] + old[:-2] + rank
        yield Fix(message("fix.replace", old=text, new=new), (edits.replace(site.source, call.func, new),))


def _layer_norm_fixes(case: Case) -> Iterator[Fix]:
    shape = (case.input or {}).get("shape", [])
    wanted = (case.module or {}).get("attributes", {}).get("normalized_shape") or []
    if shape and len(wanted) == 1:
        if len(shape) == 3:
            yield from _with_size(case, wanted[0], -1, channels_first)
        yield from change_argument(case, shape[-1], "normalized_shape")


def _group_norm_fixes(case: Case) -> Iterator[Fix]:
    shape = (case.input or {}).get("shape", [])
    if len(shape) > 1:
        yield from change_argument(case, shape[1], "num_channels")


def _group_count_fixes(case: Case) -> Iterator[Fix]:
    """The nearest number of groups (or heads) that divides."""
    total, parts = case.call_input("num_channels", "embed_dim"), case.call_input("num_groups", "num_heads")
    if total is None or parts is None or not isinstance(total.get("value"), int) or not parts.get("value"):
        return
    count, wanted = total["value"], parts["value"]
    best = min((n for n in range(1, count + 1) if count % n == 0), key=lambda n: (abs(n - wanted), n))
    names = ("num_groups", "num_heads")
    for position in (0, 1):
        node = as_kind(case.frame.argument(position, *names), ast.Constant)
        if node is not None and node.value == wanted:
            yield replace(case.frame, node, str(best))
            return


def _rnn_fixes(case: Case) -> Iterator[Fix]:
    shape = (case.input or {}).get("shape", [])
    wanted = _attribute(case, "input_size")
    if len(shape) == 3:
        yield from _with_size(case, wanted, -1, channels_first)
    yield from change_argument(case, int(case.match[2]), "input_size")


def _attention_fixes(case: Case) -> Iterator[Fix]:
    yield from change_argument(case, int(case.match[2]), "embed_dim", "d_model")


def _state_rank_fixes(case: Case) -> Iterator[Fix]:
    """A dimension of size 1 for the time steps of one step, or for the layers of a state."""
    given = case.frame.tensor_operands()
    if given and len(given[0][1]["shape"]) == 2:
        first = bool((case.module or {}).get("attributes", {}).get("batch_first"))
        yield append(case.frame, given[0][0], ".unsqueeze(1)" if first else ".unsqueeze(0)", safe=False)
    for node, tensor in given[1:]:
        if len(tensor["shape"]) == 2:
            yield append(case.frame, node, ".unsqueeze(0)", safe=False)


def _padding_fixes(case: Case) -> Iterator[Fix]:
    """A mask that is turned."""
    if case.match[1] is not None:
        wanted = int(case.match[1])
        for node, tensor in case.frame.tensor_operands():
            if len(tensor["shape"]) == 2 and tensor["shape"][0] == int(case.match[2]):
                yield from fitted(case.frame, node, tensor, lambda shape: shape[0] == wanted, transposed)


def _small_output_fixes(case: Case) -> Iterator[Fix]:
    """Padding that keeps the size, for a convolution built without."""
    from torchsleuth.errors.constructor import constructor_call

    found = constructor_call(case)
    kernel = as_kind((case.module or {}).get("attributes", {}).get("kernel_size"), list)
    if found is None or kernel is None or not kernel:
        return
    site, call = found
    if not any(keyword.arg == "padding" for keyword in call.keywords) and len(call.args) < 5:
        text = f"padding={kernel[0] // 2}"
        yield add_argument(site.source, call, text, safe=False)


def _batch_of_one_fixes(case: Case) -> Iterator[Fix]:
    """``drop_last=True`` at a loader of the script."""
    for source, call in loaders(case, "drop_last")[:2]:
        yield add_argument(source, call, "drop_last=True")


ENTRIES = (
    entry(
        BY_FAMILY,
        r"Given (?:groups=(\d+)|transposed=(\d+)), (?:expected )?weight of size \[(.+?)\], expected input\[(.+?)\] to have \d+ channels, but got (\d+) channels",
        _conv_text,
        _conv_fixes,
        example="from torch import nn\nconv = nn.Conv2d(3, 8, 3)\nx = torch.zeros(2, 1, 8, 8)\nconv(x)",
    ),
    entry(
        BY_FAMILY,
        r"Expected \dD \(unbatched\) or \dD \(batched\) input to (\w+), but got input of size: \[(.*?)\]",
        "error.rank.layer",
        _conv_rank_fixes,
        example="from torch import nn\nconv = nn.Conv1d(1, 8, 3)\nx = torch.zeros(20)\nconv(x)",
    ),
    entry(
        BY_FAMILY,
        r"Calculated padded input size per channel: \((.+?)\)\. Kernel size: \((.+?)\)",
        "error.kernel",
        _small_output_fixes,
        example="from torch import nn\nconv = nn.Conv2d(3, 8, 5)\nx = torch.zeros(2, 3, 3, 3)\nconv(x)",
    ),
    entry(
        BY_FAMILY,
        r"Given input size: \((.+?)\)\. Calculated output size: \((.+?)\)\. Output size is too small",
        "error.pool",
        example="from torch import nn\npool = nn.MaxPool2d(4)\nx = torch.zeros(2, 3, 3, 3)\npool(x)",
    ),
    entry(
        BY_FAMILY,
        r"non-empty 3D or 4D \(batch mode\) tensor expected for input|expected (?:\dD(?:, | or ))*\dD input \(got (\d)D input\)|Expected input to be 2D or 3D, got (\d)D",
        "error.rank.layer",
        _norm_rank_fixes,
        example="from torch import nn\nnorm = nn.BatchNorm1d(3)\nx = torch.zeros(2, 3, 4, 4)\nnorm(x)",
    ),
    entry(
        BY_FAMILY,
        r"running_(?:mean|var) should contain (\d+) elements not (\d+)",
        "error.batch_norm",
        _batch_norm_fixes,
        example="from torch import nn\nnorm = nn.BatchNorm2d(3)\nx = torch.zeros(2, 5, 4, 4)\nnorm(x)",
    ),
    entry(
        BY_FAMILY,
        r"Expected more than 1 value per channel when training, got input size torch\.Size\(\[(.+?)\]\)",
        "error.batch_of_one",
        _batch_of_one_fixes,
        example="from torch import nn\nnorm = nn.BatchNorm1d(3)\nx = torch.zeros(1, 3)\nnorm(x)",
    ),
    entry(
        BY_FAMILY,
        r"Given normalized_shape=\[(.+?)\], expected input with shape \[(?:\*, )?(.+?)\], but got input of size ?(?:torch\.Size\()?\[(.+?)\]",
        "error.layer_norm",
        _layer_norm_fixes,
        example="from torch import nn\nnorm = nn.LayerNorm(8)\nx = torch.zeros(2, 6)\nnorm(x)",
    ),
    entry(
        BY_FAMILY,
        r"Expected weight to be a vector of size equal to the number of channels in input",
        "error.group_norm",
        _group_norm_fixes,
        example="from torch import nn\nnorm = nn.GroupNorm(2, 4)\nx = torch.zeros(2, 6, 3)\nnorm(x)",
    ),
    entry(
        BY_FAMILY,
        r"num_channels \(?(?:\d+)?\)?.*must be divisible by num_groups|Expected number of channels in input to be divisible by num_groups",
        "error.groups",
        _group_count_fixes,
        example="from torch import nn\nnn.GroupNorm(3, 8)",
    ),
    entry(
        BY_FAMILY,
        r"(in_channels|out_channels) must be divisible by groups",
        "error.conv_groups",
        example="from torch import nn\nnn.Conv2d(3, 8, 3, groups=2)",
    ),
    entry(
        BY_FAMILY,
        r"input\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)",
        "error.rnn",
        _rnn_fixes,
        example="from torch import nn\nrnn = nn.LSTM(8, 4)\nx = torch.zeros(5, 2, 6)\nrnn(x)",
    ),
    entry(
        BY_FAMILY,
        r"Expected hidden(?:\[\d\])? size \((.+?)\), got \[(.+?)\]",
        "error.hidden",
        example="from torch import nn\nrnn = nn.GRU(8, 4)\nx, h = torch.zeros(5, 2, 8), torch.zeros(1, 3, 4)\nrnn(x, h)",
    ),
    entry(
        BY_FAMILY,
        r"For (?:unbatched 2|batched 3)-D input, hx(?: and cx)? should also be [23]-D but got \(?([123])-D",
        "error.rnn_state_rank",
        _state_rank_fixes,
        example="from torch import nn\nrnn = nn.GRU(8, 4)\nx, h = torch.zeros(2, 8), torch.zeros(1, 2, 4)\nrnn(x, h)",
    ),
    entry(
        BY_FAMILY,
        r"embed_dim must be divisible by num_heads",
        "error.heads",
        _group_count_fixes,
        example="from torch import nn\nnn.MultiheadAttention(10, 4)",
    ),
    entry(
        BY_FAMILY,
        r"was expecting embedding dimension of (\d+), but got (\d+)",
        "error.attention",
        _attention_fixes,
        example="from torch import nn\nattend = nn.MultiheadAttention(8, 2)\nx = torch.zeros(5, 2, 6)\nattend(x, x, x)",
    ),
    entry(
        BY_FAMILY,
        r"The shape of the \dD attn_mask is torch\.Size\(\[(.+?)\]\), but should be \((.+?)\)",
        "error.attention_mask",
        example="from torch import nn\nattend = nn.MultiheadAttention(8, 2)\nx = torch.zeros(5, 2, 8)\n"
        "attend(x, x, x, attn_mask=torch.zeros(2, 2))",
    ),
    entry(
        BY_FAMILY,
        r"Expected key_padd(?:ed|ing)_mask\.shape\[0\] to be (\d+), but got (\d+)|feature number of src and tgt must be equal to d_model|batch number of src and tgt must be equal",
        "error.attention_batch",
        _padding_fixes,
        example="from torch import nn\nmodel = nn.Transformer(8, 2, 1, 1, 16)\nmodel(torch.zeros(5, 2, 6), torch.zeros(5, 2, 6))",
    ),
)
