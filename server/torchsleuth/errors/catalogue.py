"""One entry per runtime error: message pattern → code, name, explanation, and how the fix is built.

Patterns only route; every number comes from the frames of the crash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchsleuth.errors.fixes import (
    FixBuilder,
    append_to_first_argument,
    append_to_target,
    append_to_tensor,
    constructor_argument,
    detach_none,
    reshape_instead_of_view,
    size_of_view,
)


@dataclass(frozen=True)
class ErrorEntry:
    """`explanation` is one line: cause first, then what to do."""

    code: str
    name: str
    pattern: re.Pattern[str]
    explanation: str
    fix: FixBuilder = detach_none


def _entry(code: str, name: str, pattern: str, explanation: str, fix: FixBuilder = detach_none) -> ErrorEntry:
    return ErrorEntry(code, name, re.compile(pattern), explanation, fix)


CATALOGUE: tuple[ErrorEntry, ...] = (
    _entry("TS101", "matmul-shape-mismatch", r"mat1 and mat2 shapes cannot be multiplied|size mismatch, m1",
           "the last size of the input is not the layer's in_features", constructor_argument("in_features", 0, -1)),
    _entry("TS101", "matmul-shape-mismatch", r"first two dimensions of batch2|einsum\(\)|inconsistent tensor size|size mismatch, got",
           "the inner sizes of the product differ: transpose one operand or fix its size"),
    _entry("TS102", "conv-channel-mismatch", r"to have \d+ channels, but got \d+ channels",
           "the input has another number of channels than the layer's in_channels", constructor_argument("in_channels", 0, 1)),
    _entry("TS105", "view-not-contiguous", r"view size is not compatible with input tensor's size and stride",
           "the tensor is not contiguous here: use reshape", reshape_instead_of_view),
    _entry("TS104", "reshape-size-mismatch", r"shape '\[.*\]' is invalid for input of size|only one dimension can be inferred",
           "the sizes do not multiply to the number of elements", size_of_view),
    _entry("TS109", "norm-features-mismatch", r"running_(mean|var) should contain \d+ elements",
           "num_features is not the number of channels", constructor_argument("num_features", 0, 1)),
    _entry("TS109", "norm-features-mismatch", r"Given normalized_shape=", "normalized_shape is not the last size of the input",
           constructor_argument("normalized_shape", 0, -1)),
    _entry("TS109", "norm-features-mismatch", r"num_groups|weight to be a vector of size",
           "num_channels is not the number of channels", constructor_argument("num_channels", 1, 1)),
    _entry("TS110", "rnn-size-mismatch", r"input\.size\(-1\) must be equal to input_size",
           "input_size is not the last size of the input", constructor_argument("input_size", 0, -1)),
    _entry("TS110", "rnn-size-mismatch", r"Expected hidden|Expected input to be 2D or 3D|batch_first",
           "the hidden state or the rank of the input does not fit the recurrent layer"),
    _entry("TS111", "attention-size-mismatch", r"embed_dim|embedding dimension|attn_mask|key_padd|equal to d_model|src and tgt",
           "the sizes of the attention do not fit"),
    _entry("TS112", "output-too-small", r"Kernel size can't be greater|Output size is too small",
           "nothing is left after this layer: pool less or add padding"),
    _entry("TS113", "loss-shape-mismatch", r"Expected input batch_size|Expected target size|Using a target size|multi-target not supported|only batches of spatial targets",
           "prediction and target of the loss do not have the shapes it compares"),
    _entry("TS106", "cat-mismatch", r"Sizes of tensors must match except|stack expects each tensor to be equal size|same number of dimensions: got",
           "the tensors differ in more than the dimension they are joined along"),
    _entry("TS107", "dim-out-of-range", r"Dimension out of range", "the tensor has fewer dimensions than this dim asks for"),
    _entry("TS201", "device-mismatch", r"[Ee]xpected all tensors to be on the same device|should be the same.*cuda|Input type \(torch\.cuda|weight type \(torch\.cuda",
           "two operands are on different devices: move one with .to(device)"),
    _entry("TS307", "binary-target-dtype", r"result type \w+ can't be cast to the desired output type Long|Found dtype Long but expected Float",
           "the target of this loss has to be floating point", append_to_target(".float()")),
    _entry("TS302", "class-target-dtype", r"expected target dtype to be Long|expected scalar type Long|nll_loss.*not implemented for|floating point type for target",
           "class indices have to be int64", append_to_target(".long()")),
    _entry("TS309", "index-dtype", r"tensors used as indices must be|following scalar types: Long, Int|int(32/int)?64 for index",
           "indices have to be integers", append_to_first_argument(".long()")),
    _entry("TS301", "dtype-mismatch", r"must have the same dtype|scalar type \w+ but found|should be the same|does not match weight dtype|same data ?type",
           "the operands have different dtypes: convert the input", append_to_first_argument(".float()")),
    _entry("TS301", "dtype-mismatch", r"could not infer output dtype|only support floating point",
           "this operator wants floating point values", append_to_tensor(".float()")),
    _entry("TS103", "broadcast-mismatch", r"must match the size of tensor|doesn't match the broadcast shape|must match the existing size",
           "the sizes do not broadcast"),
    _entry("TS310", "index-out-of-range", r"index out of range in self|is out of bounds|out of bounds for dimension",
           "an index or class number is beyond the size of the table"),
    _entry("TS401", "backward-without-graph", r"does not require grad and does not have a grad_fn|'float' object has no attribute 'backward'",
           "the value has no path to a parameter: something between (no_grad, detach, item, numpy) cut the graph"),
    _entry("TS403", "inplace-on-saved", r"modified by an inplace operation", "a value that backward needs was changed in place: use the out-of-place form"),
    _entry("TS404", "inplace-on-leaf", r"leaf Variable that requires grad", "a parameter is changed in place outside torch.no_grad()"),
    _entry("TS405", "backward-twice", r"backward through the graph a second time",
           "this graph was freed by an earlier backward(): detach what is reused, or sum the losses"),
    _entry("TS406", "backward-on-non-scalar", r"grad can be implicitly created only for scalar outputs",
           "the loss is not a scalar: reduce it first", append_to_tensor(".mean()")),
    _entry("TS409", "numpy-on-grad", r"Can't call numpy\(\) on Tensor that requires grad", "detach before numpy()", append_to_tensor(".detach()")),
    _entry("TS605", "shuffle-with-sampler", r"sampler option is mutually exclusive with shuffle", "drop shuffle=True: the sampler decides the order"),
    _entry("TS602", "sample-type", r"default_collate: batch must contain|found <class 'NoneType'>", "__getitem__ returned something that cannot be batched"),
    _entry("TS914", "out-of-memory", r"out of memory", "the device ran out of memory: smaller batch, no_grad in evaluation, checkpointing"),
    _entry("TS108", "rank-mismatch", r"Expected \d+D|expected \d+D|too many indices|must be a 3D tensor|number of dimensions|1D tensors expected",
           "the tensor has the wrong number of dimensions"),
)  # fmt: skip

FALLBACK = ErrorEntry("TS199", "operator-error", re.compile(""), "the script stopped here")


def lookup(message: str) -> ErrorEntry:
    """The entry for an error message; the fallback for one that no entry knows."""
    return next((entry for entry in CATALOGUE if entry.pattern.search(message)), FALLBACK)
