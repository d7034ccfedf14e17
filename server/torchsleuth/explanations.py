"""PyTorch's errors, for the text and for a run alike: the family that each belongs to, and in plain words what it means.

A pattern only routes. `example` raises the error on the installed torch (None where that takes more than a few lines); the
tests run it. What is told apart by the values of a crash is in `errors`, what needs the trace of the analysis in `rules`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from torchsleuth.messages import message


class Explanation(NamedTuple):
    """One error: its code, what its message has to match, the id of the message that explains it."""

    code: str | None
    expression: str
    text: str
    example: str | None = None


_FUNCTIONAL = "import torch.nn.functional as F\n"
_NUMPY = "import numpy as np\n"
_PACK = "from torch.nn.utils.rnn import pack_padded_sequence\n"
_SGD = "layer = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(layer.parameters(), lr=0.1)\n"
_SCHEDULERS = "from torch.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau, StepLR\n" + _SGD
_WEIGHT = "w = torch.ones(3, requires_grad=True)\n"

POSITIVE: dict[str, dict[str, int]] = {
    **dict.fromkeys(("Normal", "LogNormal", "Laplace", "Cauchy", "Gumbel"), {"scale": 1}),
    **dict.fromkeys(("HalfNormal", "HalfCauchy"), {"scale": 0}),
    "LogisticNormal": {"scale": 1},
    "StudentT": {"df": 0, "scale": 2},
    "LowRankMultivariateNormal": {"cov_diag": 2},
    "VonMises": {"concentration": 1},
    "Gamma": {"concentration": 0, "rate": 1},
    "InverseGamma": {"concentration": 0, "rate": 1},
    "Beta": {"concentration1": 0, "concentration0": 1},
    "Dirichlet": {"concentration": 0},
    "Exponential": {"rate": 0},
    "Weibull": {"scale": 0, "concentration": 1},
    "Pareto": {"scale": 0, "alpha": 1},
    "GeneralizedPareto": {"scale": 1},
    "Kumaraswamy": {"concentration1": 0, "concentration0": 1},
    "LKJCholesky": {"concentration": 1},
    "Chi2": {"df": 0},
    "FisherSnedecor": {"df1": 0, "df2": 1},
}
"""The parameters of torch.distributions that have to be positive (``arg_constraints``), and their places, by distribution."""

WANTS_FLOATS = (
    r"floating[ -]?point|types other than float|(?:Low precision|[Uu]nsupported|[Bb]ool) dtypes?\b|either float or double|"
    r"(?:[Bb]ool(?:ean)?|[Ii]ntegral) inputs?(?: are)? not|not support bool|received a bool input|FFT doesn't support tensors|"
    r"\b[Hh]alf,? [Ff]loat|types: Half, BFloat16|of float, double|Integer division with addc"
)
"""The words of operators that take floating point numbers, or only some of their widths (PyTorch's own lists of refused inputs)."""

BY_INDEX = ("gather", "scatter", "index_", "take")
"""How the names of operators begin that pick or fill elements by an index."""

_FAMILIES: tuple[tuple[str, str], ...] = (
    ("TS823", r"cannot assign '.*' object to (?:buffer|parameter)"),
    ("TS801", r"deprecated since version .* is now removed"),
    ("TS609", r"Expected more than 1"),
    ("TS406", r"to return a scalar Tensor, got tensor with"),
    ("TS530", r"loaded state dict (?:contains|has)"),
    ("TS105", r"view size is not compatible|Cannot view a tensor with shape"),
    ("TS312", r"(?:must be|be of type|an?) (?:tuple of )?[Ii]nt(?:eger)?s?\b.*float|received an invalid combination of arguments - got \([^)]*float"),
    ("TS113", r"Expected input batch_size|Expected target size|input and target batch or spatial sizes|weight tensor should"),
    ("TS113", r"size mismatch \(got input: .* , target: |Using a target size|Target size .* must be the same as input size"),
    ("TS113", r"only batches of spatial targets|multi-target not supported|must be of size batch_size"),
    ("TS302", r"expected target dtype to be Long|expected scalar type Long|Expected floating point type for target"),
    ("TS307", r"result type \w+ can't be cast to the desired output type Long|Found dtype Long but expected Float"),
    ("TS309", r"tensors used as indices must be|one of the following scalar types: Long, Int|[Ee]xpected.*int64 for index"),
    ("TS309", r"one_hot is only applicable to index tensor"),
    ("TS310", r"is out of bounds|index out of range in self|Class values must be"),
    ("TS301", r"same dtype|same data ?type|expected scalar type \w+ but found|but found (Double|Float|Half|Long|Int)|should be the same|input dtype"),
    ("TS301", r"must have the same scalar type|self\.dtype to be equal to src\.dtype"),
    ("TS301", WANTS_FLOATS),
    ("TS301", r"can't convert np\.ndarray of type"),
    ("TS301", r"not implemented for '\w+'|expected (?:condition|predicate) to be (?:a )?bool|only supports boolean masks"),
    ("TS301", r"value cannot be converted to type|can't be cast to the desired output type|destination dtypes match"),
    ("TS301", r"expected parameter to have scalar type|operator.* bool tensor|only implemented on integer"),
    ("TS110", r"input_size\. Expected|inconsistent input_size|Expected hidden|Expected input to be 2D or 3D|hx(?: and cx)? should also be"),
    ("TS110", r"batch_size must match|(?:Input batch size|input) .*hidden\d?|LSTM: Expected|GRU: Expected|RNN: Expected"),
    ("TS111", r"embed_dim|embedding dimension|attn_mask|key_padd|num_heads|equal to d_model|src and tgt|padding_mask|key's sequence"),
    ("TS111", r"only bool and floating types of"),
    ("TS109", r"running_mean should|running_var should|normalized_shape=|num_groups|weight to be a vector of size|match num_features"),
    ("TS112", r"Kernel size can't be greater|Output size is too small|Padding size should be less"),
    ("TS102", r"to have \d+ channels|expected weight to be at least|divisible by groups|expected input\[.*channels"),
    ("TS101", r"cannot be multiplied|size mismatch, (?:got|m1)|first two dimensions of batch2|batch2_sizes|einsum\(\)|inconsistent tensor size"),
    ("TS101", r"must have same reduction dim|same number of columns|size does not match weight size"),
    ("TS104", r"expand\(|is invalid for input of size|only one dimension can be inferred|unflatten|number of sizes provided|split_sizes to sum"),
    ("TS106", r"Sizes of tensors must match except|cannot be concatenated|stack expects each tensor|same number of dimensions: got"),
    ("TS104", r"Shape mismatch, |Could not infer sizes for|Identifiers? only on one side|Axis \w+ is not used"),
    ("TS107", r"Dimension out of range"),
    ("TS103", r"shape of the mask|must match the size of tensor|doesn't match the broadcast shape|must match the existing size|cannot broadcast|broadcast"),
    ("TS108", r"Expected \d-?D|expected \d-?D|number of dimensions|too many indices|must be a 3D tensor|must be a matrix|1D tensors expected|vector \+ matrix @"),
    ("TS108", r"dims|same number of dimensions as|3D or 4D|1D or 2D|t\(\) expects|1 or 2 dim|at least \d dimensions"),
    ("TS108", r"must have the same number of spatial|Expected a batch of 2D affine|mode needs \dD input|Wrong shape: expected|no larger than self|0-dim tensor|0-d tensor"),
)  # fmt: skip
"""The codes of the families that errors of operators belong to, by what their messages match first."""

BY_FAMILY = None
"""In the place of a code: that of the family that the message belongs to."""

EXPLANATIONS = (
    # sizes and options of operators and layers
    Explanation(
        "TS199",
        r"pad should be at most half of effective kernel size, but got pad=(\d+), kernel_size=(\d+)",
        "explain.pool_padding",
        "pool = torch.nn.MaxPool2d(2, padding=2)\npool(torch.ones(1, 1, 8, 8))",
    ),
    Explanation(
        BY_FAMILY,
        r"same number of spatial dimensions, but got input with spatial dimensions of \[(.*?)\] and output size of "
        r"([(\[].*?[)\]])",
        "explain.spatial_rank",
        _FUNCTIONAL + "F.interpolate(torch.ones(1, 3, 8), size=(4, 4), mode='bilinear')",
    ),
    Explanation(
        BY_FAMILY,
        r"Got (\d)D input, but (\w+) mode needs (\d)D input",
        "explain.interpolate_mode",
        _FUNCTIONAL + "F.interpolate(torch.ones(1, 3, 8), size=4, mode='bilinear')",
    ),
    Explanation(
        BY_FAMILY,
        r"Expected a batch of 2D affine matrices of shape Nx2x3 for size (?:torch\.Size\()?[(\[]([\d, ]*)[)\]]\)?\. Got (torch\.Size\()?[(\[]"
        r"([\d, ]*)[)\]]",
        "explain.affine",
        _FUNCTIONAL + "F.affine_grid(torch.ones(4, 6), (4, 1, 8, 8), align_corners=False)",
    ),
    Explanation(
        "TS918",
        r"Sample larger than population or is negative",
        "explain.population",
        "import random\nrandom.sample([1, 2], 3)",
    ),
    Explanation(
        "TS199",
        r"grid_sampler\(\): expected grid to have size (\d) in last dimension, but got grid with sizes \[(.*?)\]",
        "explain.grid",
        _FUNCTIONAL + "F.grid_sample(torch.ones(1, 3, 8, 8), torch.zeros(1, 2, 8, 8), align_corners=False)",
    ),
    Explanation(
        BY_FAMILY,
        r"Padding size should be less than the corresponding input dimension, but got: padding \((.*?)\) at dimension "
        r"(\d+) of input \[(.*?)\]",
        "explain.padding",
        _FUNCTIONAL + "F.pad(torch.ones(1, 1, 3, 3), (4, 4, 4, 4), mode='reflect')",
    ),
    Explanation(
        "TS199",
        r"pixel_shuffle expects .* but input\.size\(-3\)=(\d+) is not divisible by (\d+)",
        "explain.pixel_shuffle",
        "torch.nn.PixelShuffle(2)(torch.ones(1, 3, 4, 4))",
    ),
    Explanation(
        "TS199",
        r"output padding must be smaller than either stride or dilation",
        "explain.output_padding",
        "up = torch.nn.ConvTranspose2d(3, 4, 3, output_padding=1)\nup(torch.ones(1, 3, 4, 4))",
    ),
    Explanation(
        "TS199",
        r"either size or scale_factor should be defined",
        "explain.interpolate",
        _FUNCTIONAL + "F.interpolate(torch.ones(1, 3, 8, 8))",
    ),
    Explanation(
        BY_FAMILY,
        r"(LSTM|GRU|RNN): Expected input to be 2D or 3D, got (\d)D",
        "explain.rnn_rank",
        "lstm = torch.nn.LSTM(4, 8)\nlstm(torch.ones(2, 3, 4, 4))",
    ),
    Explanation(
        BY_FAMILY,
        r"Expected more than 1 spatial element when training, got input size torch\.Size\(\[(.*?)\]\)",
        "explain.one_pixel",
        "norm = torch.nn.InstanceNorm2d(4)\nnorm(torch.ones(2, 4, 1, 1))",
    ),
    Explanation(
        "TS199",
        r"offsets has to be a 1D Tensor but got None",
        "explain.offsets",
        "bag = torch.nn.EmbeddingBag(10, 3)\nbag(torch.tensor([1, 2, 4]))",
    ),
    Explanation(
        "TS199",
        r"`?lengths`? array must be sorted in decreasing order",
        "explain.lengths_sorted",
        _PACK + "pack_padded_sequence(torch.ones(2, 5, 3), torch.tensor([3, 5]), batch_first=True)",
    ),
    Explanation(
        "TS199",
        r"Length of all samples has to be greater than 0",
        "explain.lengths_zero",
        _PACK + "pack_padded_sequence(torch.ones(2, 5, 3), torch.tensor([5, 0]), batch_first=True)",
    ),
    Explanation("TS199", r"'lengths' argument should be a 1D CPU int64 tensor, but got [2-9]D", "explain.lengths_one"),
    Explanation("TS199", r"'lengths' argument should be a 1D CPU int64 tensor", "explain.lengths_cpu"),
    Explanation(
        BY_FAMILY,
        r"zero-dimensional tensor \(at position (\d+)\) cannot be concatenated",
        "explain.cat_scalars",
        "torch.cat([torch.tensor(1.0), torch.tensor(2.0)])",
    ),
    Explanation(
        "TS199",
        r"expected? a non-empty (?:list of Tensors|TensorList)|expects a non-empty TensorList",
        "explain.empty_list",
        "torch.cat([])",
    ),
    Explanation("TS199", r"selected index k out of range", "explain.topk", "x = torch.ones(3)\nx.topk(5)"),
    Explanation(
        "TS199", r"Integers to negative integer powers are not allowed", "explain.power", "torch.arange(3) ** -1"
    ),
    Explanation(
        "TS199", r"upper bound and lower bound inconsistent with step sign", "explain.arange", "torch.arange(5, 0)"
    ),
    Explanation(
        "TS199",
        r"(\w+)\(\): Expected reduction dim to be specified for input\.numel\(\) == 0",
        "explain.empty_reduction",
        "torch.ones(0).argmax()",
    ),
    Explanation(
        "TS199",
        r"cannot sample n_sample > prob_dist\.size\(-1\) samples without replacement",
        "explain.multinomial",
        "torch.multinomial(torch.ones(3), 5)",
    ),
    Explanation(
        "TS199",
        r"random_ expects 'from' to be less than 'to', but got from=(\S+) >= to=(\S+)",
        "explain.randint",
        "torch.randint(5, 5, (2,))",
    ),
    Explanation(
        "TS199",
        r"dropout probability has to be between 0 and 1, but got (\S+)",
        "explain.dropout",
        "torch.nn.Dropout(50)",
    ),
    Explanation(
        "TS199",
        r"Padding_idx must be within num_embeddings",
        "explain.padding_idx",
        "torch.nn.Embedding(4, 3, padding_idx=7)",
    ),
    Explanation(
        "TS199",
        r"label_smoothing must be between 0\.0 and 1\.0\. Got: (\S+)",
        "explain.label_smoothing",
        _FUNCTIONAL + "F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), label_smoothing=2.0)",
    ),
    Explanation(
        "TS199",
        r"Expected input_lengths to have value at most (\d+), but got value (\d+)",
        "explain.ctc_lengths",
        _FUNCTIONAL + "rows = torch.zeros(5, 1, 4).log_softmax(2)\n"
        "F.ctc_loss(rows, torch.tensor([[1, 2]]), torch.tensor([7]), torch.tensor([2]))",
    ),
    Explanation("TS199", r"X has (\d+) features, but (\w+) is expecting (\d+) features", "explain.fitted_width"),
    Explanation(
        None,
        r"non-broadcastable output operand with shape \(\S+,(\d+)\) doesn't match the broadcast shape \(\S+,(\d+)\)",
        "explain.scaled_back",
        _NUMPY + "data = np.ones((4, 1))\ndata *= np.ones(7)",
    ),
    # what tensors are made of
    Explanation(
        "TS199",
        r"Boolean value of Tensor with more than one value",
        "explain.condition",
        "x = torch.ones(3)\nif x > 0:\n    pass",
    ),
    Explanation(
        "TS199",
        r"At least one stride in the given numpy array is negative",
        "explain.negative_stride",
        _NUMPY + "rows = np.ones((3, 3))[::-1]\ntorch.from_numpy(rows)",
    ),
    Explanation(
        "TS199",
        r"given numpy array has byte order different",
        "explain.byte_order",
        _NUMPY + "torch.from_numpy(np.ones(3, dtype='>f4'))",
    ),
    Explanation(
        "TS199",
        r"expected sequence of length (\d+) at dim (\d+) \(got (\d+)\)",
        "explain.ragged_lists",
        "torch.tensor([[1, 2], [3]])",
    ),
    Explanation("TS199", r"Could not infer dtype of (\w+)", "explain.no_dtype", "torch.tensor([None, 1])"),
    Explanation(
        "TS199", r"too many dimensions 'str'|new\(\): invalid data type 'str'", "explain.text", "torch.tensor(['a'])"
    ),
    Explanation("TS199", r"expected np\.ndarray \(got (\w+)\)", "explain.from_numpy", "torch.from_numpy([1.0, 2.0])"),
    Explanation(
        "TS199",
        r"Got unsupported ScalarType BFloat16",
        "explain.bfloat16",
        "x = torch.ones(2, dtype=torch.bfloat16)\nx.numpy()",
    ),
    Explanation(
        "TS199",
        r"Cannot copy out of meta tensor",
        "explain.meta_copy",
        "layer = torch.nn.Linear(2, 2, device='meta')\nlayer.to('cpu')",
    ),
    Explanation(
        "TS199",
        r"Tensor\.item\(\) cannot be called on meta tensors",
        "explain.meta_item",
        "x = torch.ones(1, device='meta')\nx.item()",
    ),
    Explanation(
        "TS199",
        r"Object of type (Tensor|ndarray|float\d+|int\d+|bool_|Parameter) is not JSON serializable",
        "explain.json",
        "import json\njson.dumps({'loss': torch.ones(1)})",
    ),
    Explanation(
        "TS199",
        r"Seed must be between 0 and 2\*\*32 - 1",
        "explain.numpy_seed",
        _NUMPY + "np.random.seed(2**40)",
    ),
    # gradients
    Explanation(
        "TS199",
        r"save_for_backward can only save variables, but argument (\d+) is of type (\w+)",
        "explain.saved_value",
        "class Scale(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x, factor):\n"
        "        ctx.save_for_backward(x, factor)\n        return x * factor\n\n    @staticmethod\n"
        "    def backward(ctx, grad):\n        x, factor = ctx.saved_tensors\n        return grad * factor, None\n\n"
        + _WEIGHT
        + "Scale.apply(w, 2.0)",
    ),
    Explanation(
        "TS199",
        r"torch\.utils\.checkpoint: (?:A different number of tensors was saved|Recomputed values for the following tensors "
        r"have different metadata|trying to save more tensors during recomputation)",
        "explain.recomputed",
    ),
    Explanation(
        "TS199",
        r"Mismatch in shape: grad_output\[\d+\] has a shape of torch\.Size\(\[(.*?)\]\) and output\[\d+\] has a shape "
        r"of torch\.Size\(\[(.*?)\]\)",
        "explain.gradient_shape",
        _WEIGHT + "(w * 2).backward(torch.ones(2))",
    ),
    Explanation(
        "TS412",
        r"Only Tensors created explicitly by the user \(graph leaves\) support the deepcopy",
        "explain.deepcopy",
        "import copy\n" + _WEIGHT + "y = w * 2\ncopy.deepcopy(y)",
    ),
    Explanation(
        "TS199",
        r"attempting to assign a gradient of size '\[(.*?)\]' to a tensor of size '\[(.*?)\]'",
        "explain.assigned_gradient",
        _WEIGHT + "w.grad = torch.ones(4)",
    ),
    Explanation(
        "TS199",
        r"you can only change requires_grad flags of leaf variables",
        "explain.requires_grad",
        _WEIGHT + "y = w * 2\ny.requires_grad = False",
    ),
    Explanation(
        "TS199",
        r"Attempted to use an uninitialized parameter",
        "explain.lazy",
        "layer = torch.nn.LazyLinear(3)\nsum(item.numel() for item in layer.parameters())",
    ),
    Explanation(
        "TS199",
        r"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes (\[[\d, ]+\])",
        "explain.vmap_sizes",
        "from torch.func import vmap\nvmap(torch.add)(torch.ones(3), torch.ones(4))",
    ),
    Explanation("TS199", r"vmap: It looks like you're calling \.item\(\)", "explain.vmap_item"),
    # modules
    Explanation(
        "TS199",
        r"attribute '(\w+)' already exists",
        "explain.attribute_exists",
        "layer = torch.nn.Linear(2, 2)\nlayer.scale = 1\nlayer.register_buffer('scale', torch.ones(2))",
    ),
    Explanation(
        "TS199",
        r"(module|parameter|buffer) name can\\?'t contain \"\.\"(?:, got: (\S+))?",
        "explain.dotted_name",
        "heads = torch.nn.ModuleDict()\nheads['v1.5'] = torch.nn.Linear(2, 2)",
    ),
    Explanation(
        "TS544",
        r"number of schedulers provided to be one more than the number of milestone points, but got number of schedulers (\d+) "
        r"and the number of milestones to be equal to (\d+)",
        "explain.milestones",
        "from torch.optim.lr_scheduler import ConstantLR, SequentialLR\n"
        "opt = torch.optim.SGD(torch.nn.Linear(2, 2).parameters(), lr=0.1)\n"
        "SequentialLR(opt, [ConstantLR(opt), ConstantLR(opt)], milestones=[1, 2])",
    ),
    Explanation(
        BY_FAMILY,
        r"cannot assign '(.*?)' object to (buffer|parameter) '(\w+)'",
        "explain.not_a_tensor",
        "torch.nn.Linear(2, 2).register_buffer('scale', 2.0)",
    ),
    Explanation(
        "TS199",
        r"Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
        "explain.fans",
        "torch.nn.init.xavier_uniform_(torch.nn.Linear(2, 2).bias)",
    ),
    Explanation(
        "TS199",
        r"more than one element of the written-to tensor refers to a single memory location",
        "explain.shared",
        "rows = torch.zeros(3, 1).expand(3, 4)\nrows += 1",
    ),
    # optimizers, schedules, states
    Explanation(
        "TS199",
        r"Invalid (learning rate|momentum value|weight_decay value|epsilon value|beta parameter at index \d+): (\S+)",
        "explain.optimizer_option",
        "layer = torch.nn.Linear(2, 2)\ntorch.optim.SGD(layer.parameters(), lr=-0.1)",
    ),
    Explanation(
        "TS199",
        r"some parameters appear in more than one parameter group",
        "explain.two_groups",
        "layer = torch.nn.Linear(2, 2)\n"
        "torch.optim.SGD([{'params': layer.parameters()}, {'params': [layer.weight]}], lr=0.1)",
    ),
    Explanation(
        BY_FAMILY,
        r"loaded state dict (?:contains a parameter group that doesn't match the size|has a different number of "
        r"parameter groups)",
        "explain.optimizer_state",
        _SGD + "other = torch.nn.Linear(2, 2, bias=False)\n"
        "torch.optim.SGD(other.parameters(), lr=0.1).load_state_dict(optimizer.state_dict())",
    ),
    Explanation(
        "TS527",
        r"Tried to step (\d+) times\. The specified number of total steps is (\d+)",
        "explain.schedule_short",
        _SCHEDULERS + "schedule = OneCycleLR(optimizer, 0.1, total_steps=3)\n"
        "for _ in range(5):\n    optimizer.step()\n    schedule.step()",
    ),
    Explanation(
        "TS521",
        r"step\(\) missing 1 required positional argument: 'metrics'",
        "explain.plateau",
        _SCHEDULERS + "schedule = ReduceLROnPlateau(optimizer)\nschedule.step()",
    ),
    Explanation(
        "TS526",
        r"step\(\) missing 1 required positional argument: 'closure'",
        "explain.closure",
        "layer = torch.nn.Linear(2, 2)\noptimizer = torch.optim.LBFGS(layer.parameters())\noptimizer.step()",
    ),
    Explanation(
        "TS199",
        r"You must define either total_steps OR",
        "explain.one_cycle",
        _SCHEDULERS + "OneCycleLR(optimizer, 0.1)",
    ),
    Explanation(
        "TS199",
        r"param 'initial_lr' is not specified in param_groups\[(\d+)\]",
        "explain.initial_lr",
        _SCHEDULERS + "schedule = StepLR(optimizer, 1, last_epoch=3)",
    ),
    Explanation("TS815", r"^(\w+) is not an Optimizer", "explain.no_optimizer", _SCHEDULERS + "StepLR(layer, 1)"),
    Explanation(
        "TS825",
        r"Expected state_dict to be dict-like, got <class '(?:.+\.)?(\w+)'>",
        "explain.no_state",
        "layer = torch.nn.Linear(4, 2)\nlayer.load_state_dict(layer)",
    ),
    Explanation(
        "TS199",
        r"PytorchStreamReader failed|invalid load key|Ran out of input|Invalid magic number|^EOFError$",
        "explain.no_checkpoint",
        "import io\ntorch.load(io.BytesIO(b'version 1'), weights_only=False)",
    ),
    Explanation(
        "TS199",
        r"(?:Can't (?:pickle|get) local object|cannot pickle|Can't pickle <function) '?(.+?)'?(?: object| at 0x|$)",
        "explain.pickle",
        "import pickle\npickle.dumps(lambda x: x * torch.ones(1))",
    ),
    Explanation(
        "TS199",
        r"Parent directory (.+) does not exist",
        "explain.folder",
        "import tempfile\nwith tempfile.TemporaryDirectory() as root:\n    torch.save({}, root + '/runs/model.pt')",
    ),
    Explanation(
        "TS199", r"^StopIteration$", "explain.exhausted", "items = iter([torch.ones(1)])\nnext(items)\nnext(items)"
    ),
    Explanation(
        "TS815",
        r"Module \[(ModuleList|ModuleDict)\] is missing the required",
        "explain.container_called",
        "blocks = torch.nn.ModuleList([torch.nn.Linear(2, 2)])\nblocks(torch.ones(2))",
    ),
    # values
    Explanation(
        "TS920",
        r"Function '(\w+)' returned nan values in its \d+th output",
        "explain.anomaly",
        "w = torch.zeros(3, requires_grad=True)\nwith torch.autograd.set_detect_anomaly(True):\n"
        "    (torch.sqrt(w).sum() * 0).backward()",
    ),
    Explanation(
        "TS920",
        r"The total norm of order \S+ for gradients.* is non-finite",
        "explain.norm_not_finite",
        "w = torch.zeros(3, requires_grad=True)\nw.sqrt().sum().backward()\n"
        "torch.nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)",
    ),
    Explanation(
        "TS199",
        r"linalg\.(\w+): .*(?:is singular|could not be completed because the input matrix is singular)",
        "explain.singular",
        "torch.linalg.inv(torch.zeros(2, 2))",
    ),
    Explanation(
        "TS199",
        r"linalg\.(\w+): .*the input is not positive-definite",
        "explain.not_positive",
        "torch.linalg.cholesky(-torch.eye(2))",
    ),
    Explanation(
        "TS199",
        r"linalg\.(\w+): .*the input matrix contained non-finite values",
        "explain.matrix_not_finite",
        "torch.linalg.svd(torch.full((2, 2), float('nan')))",
    ),
    Explanation(
        "TS199",
        r"probability tensor contains either `inf`, `nan` or element < 0",
        "explain.probabilities",
        "chances = torch.full((3,), float('nan'))\ntorch.multinomial(chances, 1)",
    ),
    Explanation(
        "TS314",
        r"Expected parameter (\w+) \(.*?\) of distribution (\w+)\(.*to satisfy the constraint "
        r"(?:IndependentConstraint\()?GreaterThan\(lower_bound=0\.0\).*, but found invalid values:(?!.*\bnan\b)",
        "explain.positive",
        "torch.distributions.Normal(torch.zeros(2), -torch.ones(2))",
    ),
    Explanation(
        "TS199",
        r"Expected parameter (\w+) \(.*?\) of distribution (\w+)\(.*to satisfy the constraint (\w+)",
        "explain.distribution",
        "torch.distributions.Bernoulli(torch.full((2,), 3.0))",
    ),
    # processes and devices
    Explanation(
        "TS199",
        r"Default process group has not been initialized",
        "explain.no_group",
        "import torch.distributed as dist\ndist.get_rank()",
    ),
    Explanation("TS199", r"environment variable (\w+) expected, but not set", "explain.torchrun"),
    Explanation("TS199", r"trying to initialize the default process group twice", "explain.group_twice"),
    Explanation("TS199", r"Expected to have finished reduction in the prior iteration", "explain.unused_parameters"),
    Explanation("TS199", r"Distributed package doesn't have NCCL", "explain.no_nccl"),
    Explanation("TS199", r"Address already in use|EADDRINUSE", "explain.port"),
    Explanation(
        "TS199", r"attempt has been made to start a new process before the current process", "explain.main_guard"
    ),
    Explanation("TS199", r"Too many open files|received 0 items of ancdata", "explain.open_files"),
    Explanation("TS199", r"Cannot re-initialize CUDA in forked subprocess", "explain.cuda_fork"),
    Explanation("TS199", r"no kernel image is available", "explain.no_kernel"),
    Explanation(
        "TS199", r"(\w+) does not have a deterministic implementation, but you set", "explain.not_deterministic"
    ),
)


def family(error: str) -> str | None:
    """The code of the family that an error of an operator belongs to, None for one of none."""
    return next((code for code, pattern in _FAMILIES if _compiled(pattern, 0).search(error)), None)


def explained(error: str) -> str | None:
    """The meaning of an error of PyTorch's, None where it says so itself."""
    for item in EXPLANATIONS:
        found = _compiled(item.expression).search(error)
        if found is not None:
            return message(item.text, **{f"g{number}": value for number, value in enumerate(found.groups(), 1)})
    return None


@cache
def _compiled(expression: str, flags: int = re.DOTALL) -> re.Pattern[str]:
    return re.compile(expression, flags)
