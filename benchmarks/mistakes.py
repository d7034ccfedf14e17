"""Everyday mistakes in the use of PyTorch, one or a few lines each: how many of them are found.

    python -m benchmarks.mistakes [--second] [--show]

Each is executed below a small model, a dataset and a loader, in an empty folder. Counted are those that raise, and those that
are silent faults; found are those with an error or a warning. `--show` prints what is said of each, `--second` takes the list of `mistakes_second.py`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))

from benchmarks import mistakes_second
from torchsleuth.worker.engine import Engine

HEAD = """
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader, Dataset, TensorDataset

X = torch.randn(64, 10)
Y = torch.randint(0, 3, (64,))
ds = TensorDataset(X, Y)
loader = DataLoader(ds, batch_size=8, shuffle=True)


class Net(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.fc1 = nn.Linear(10, hidden)
        self.fc2 = nn.Linear(hidden, 3)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


"""
TRAIN = """
model = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.1)
"""


def raised(text: str) -> str | None:
    """What the script raises, None where it runs."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "mistake.py", "exec"), {"__name__": "__main__"})
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[:1]}"
    return None


def main() -> None:
    warnings.simplefilter("ignore")
    engine, show = Engine(), "--show" in sys.argv[1:]
    counted = found = 0
    second = "--second" in sys.argv[1:]
    lists = (mistakes_second.LINES, mistakes_second.SILENT) if second else (LINES, SCRIPTS, SILENT)
    silent = lists[-1]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in [item for each in lists for item in each.items()]:
            trains = any(word in text for word in ("model", "optimizer", "criterion"))
            script = HEAD + (TRAIN if trains and not re.search(r"model ?= ?(Net|E\b)", text) else "") + text
            error = raised(script)
            if error is None and name not in silent:
                continue
            said = engine.analyze(str(Path(folder, "mistake.py")), script, verify=False).diagnostics
            said = tuple(item for item in said if item.severity != "hint")
            counted, found = counted + 1, found + bool(said)
            if show or not said:
                print(
                    f"{'found ' if said else 'missed'} {name}: {said[0].code + ' ' + said[0].message if said else error}"
                )
        os.chdir("/")
    print(f"found {found} of {counted}")


LINES = {
    "cat_kw": """
x = torch.randn(8, 4)
y = torch.cat([x, x], axes=1)
""",
    "sum_kw": """
x = torch.randn(8, 4)
y = x.sum(dims=1)
""",
    "mean_kw": """
x = torch.randn(8, 4)
y = torch.mean(x, dims=(1, 2))
""",
    "zeros_kw": """
x = torch.randn(8, 4)
y = torch.zeros(3, size=4)
""",
    "tensor_dtype_str": """
x = torch.randn(8, 4)
y = torch.tensor([1, 2], dtype='float32')
""",
    "add_list": """
x = torch.randn(8, 4)
y = x + [1, 2]
""",
    "add_str": """
x = torch.randn(8, 4)
y = x + 'a'
""",
    "stack_args": """
x = torch.randn(8, 4)
y = torch.stack(x, x)
""",
    "cat_args": """
x = torch.randn(8, 4)
y = torch.cat(x, x)
""",
    "cat_two": """
x = torch.randn(8, 4)
y = torch.cat(x, x, dim=1)
""",
    "view_kw": """
x = torch.randn(8, 4)
y = x.view(shape=(8, 4))
""",
    "reshape_float": """
x = torch.randn(8, 4)
y = x.reshape(4 / 2, 16)
""",
    "permute_missing": """
x = torch.randn(8, 4)
y = x.transpose(1)
""",
    "max_kw": """
x = torch.randn(8, 4)
y = x.max(dims=1)
""",
    "softmax_kw": """
x = torch.randn(8, 4)
y = torch.softmax(x, axis=1, dims=1)
""",
    "argmax_kw": """
x = torch.randn(8, 4)
y = x.argmax(dims=1)
""",
    "argmax_str": """
x = torch.randn(8, 4)
y = x.argmax('1')
""",
    "unsqueeze_none": """
x = torch.randn(8, 4)
y = x.unsqueeze()
""",
    "squeeze_kw2": """
x = torch.randn(8, 4)
y = x.squeeze(dims=0)
""",
    "norm_kw": """
x = torch.randn(8, 4)
y = torch.norm(x, ord=2)
""",
    "clamp_kw": """
x = torch.randn(8, 4)
y = torch.clamp(x, minimum=0)
""",
    "randn_dtype": """
x = torch.randn(8, 4)
y = torch.randn(3, 4, type=torch.float64)
""",
    "randint_one": """
x = torch.randn(8, 4)
y = torch.randint(3)
""",
    "randint_nosize": """
x = torch.randn(8, 4)
y = torch.randint(0, 10)
""",
    "randint_intsize": """
x = torch.randn(8, 4)
y = torch.randint(0, 10, 5)
""",
    "arange_str": """
x = torch.randn(8, 4)
y = torch.arange('10')
""",
    "full_one": """
x = torch.randn(8, 4)
y = torch.full((2, 3))
""",
    "where_one": """
x = torch.randn(8, 4)
y = torch.where(x > 0, x)
""",
    "gather_noindex": """
x = torch.randn(8, 4)
y = x.gather(1)
""",
    "matmul_one": """
x = torch.randn(8, 4)
y = torch.matmul(x)
""",
    "matmul_list": """
x = torch.randn(8, 4)
y = x @ [1, 2, 3, 4]
""",
    "mul_none": """
x = torch.randn(8, 4)
y = x * None
""",
    "sub_tuple": """
x = torch.randn(8, 4)
y = x - (1, 2)
""",
    "cmp_none": """
x = torch.randn(8, 4)
y = x > None
""",
    "cmp_str": """
x = torch.randn(8, 4)
y = x > 'a'
""",
    "exp_int": """
x = torch.randn(8, 4)
y = torch.exp(3)
""",
    "sqrt_float": """
x = torch.randn(8, 4)
y = torch.sqrt(2.0)
""",
    "log_float": """
x = torch.randn(8, 4)
y = torch.log(0.5)
""",
    "sigmoid_float": """
x = torch.randn(8, 4)
y = torch.sigmoid(0.0)
""",
    "sum_list": """
x = torch.randn(8, 4)
y = torch.sum([1.0, 2.0])
""",
    "mean_list": """
x = torch.randn(8, 4)
y = torch.mean([1.0, 2.0])
""",
    "stack_floats": """
x = torch.randn(8, 4)
y = torch.stack([1.0, 2.0])
""",
    "cat_floats": """
x = torch.randn(8, 4)
y = torch.cat([1.0, 2.0])
""",
    "size_two": """
x = torch.randn(8, 4)
y = x.size(0, 1)
""",
    "shape_call": """
x = torch.randn(8, 4)
y = x.shape()
""",
    "shape_call2": """
x = torch.randn(8, 4)
y = x.shape(0)
""",
    "T_call": """
x = torch.randn(8, 4)
y = x.T()
""",
    "dtype_call": """
x = torch.randn(8, 4)
y = x.dtype()
""",
    "index_str": """
x = torch.randn(8, 4)
y = x['a']
""",
    "index_float": """
x = torch.randn(8, 4)
y = x[1.0]
""",
    "tensor_call": """
x = torch.randn(8, 4)
y = x(0)
""",
    "dim_attr": """
x = torch.randn(8, 4)
y = x.view(x.size[0], -1)
""",
    "len_dim": """
x = torch.randn(8, 4)
y = torch.zeros(x.dim + 1)
""",
    "numel_attr": """
x = torch.randn(8, 4)
y = x.numel + 1
""",
    "loss_item_attr": """
x = torch.randn(8, 4)
y = x.sum().item + 1
""",
    "max_index": """
x = torch.randn(8, 4)
y = x.max(1).unsqueeze(0)
""",
    "max_plus": """
x = torch.randn(8, 4)
y = x.max(dim=1) + 1
""",
    "topk_none": """
x = torch.randn(8, 4)
y = x.topk()
""",
    "sort_float": """
x = torch.randn(8, 4)
y = x.sort(dim=0)[0] + x.sort(dim=0)
""",
    "F_softmax_tuple": """
x = torch.randn(8, 4)
y = F.softmax(x.max(1), dim=0)
""",
    "F_relu_str": """
x = torch.randn(8, 4)
y = F.relu('x')
""",
    "F_mse_one": """
x = torch.randn(8, 4)
y = F.mse_loss(x)
""",
    "F_ce_kw": """
x = torch.randn(8, 4)
y = F.cross_entropy(x, torch.zeros(8).long(), weights=None)
""",
    "F_interp": """
x = torch.randn(8, 4)
y = F.interpolate(x[None, None], factor=2)
""",
    "F_pad_missing": """
x = torch.randn(8, 4)
y = F.pad(x)
""",
    "F_pad_int": """
x = torch.randn(8, 4)
y = F.pad(x, 1)
""",
    "F_dropout_kw": """
x = torch.randn(8, 4)
y = F.dropout(x, prob=0.1)
""",
    "F_one_hot_kw": """
x = torch.randn(8, 4)
y = F.one_hot(torch.zeros(3).long(), classes=4)
""",
    "F_conv": """
x = torch.randn(8, 4)
y = F.conv2d(x)
""",
    "from_numpy_list": """
x = torch.randn(8, 4)
y = torch.from_numpy([1, 2])
""",
    "from_numpy_tensor": """
x = torch.randn(8, 4)
y = torch.from_numpy(x)
""",
    "to_str": """
x = torch.randn(8, 4)
y = x.to('float32')
""",
    "type_str": """
x = torch.randn(8, 4)
y = x.type('float32')
""",
    "astype": """
x = torch.randn(8, 4)
y = x.astype('float32')
""",
    "float_arg": """
x = torch.randn(8, 4)
y = x.float(torch.float16)
""",
    "linspace": """
x = torch.randn(8, 4)
y = torch.linspace(0, 1)
""",
    "split_none": """
x = torch.randn(8, 4)
y = x.split()
""",
    "chunk_none": """
x = torch.randn(8, 4)
y = torch.chunk(x)
""",
    "repeat_none": """
x = torch.randn(8, 4)
y = x.repeat()
""",
    "expand_none": """
x = torch.randn(8, 4)
y = x.expand(1.0, 4)
""",
    "flatten_kw": """
x = torch.randn(8, 4)
y = torch.flatten(x, start=1)
""",
    "bmm_one": """
x = torch.randn(8, 4)
y = x.bmm()
""",
    "backward_kw": """
x = torch.randn(8, 4)
x.requires_grad_(); x.sum().backward(retain=True)
""",
    "zeros_like_shape": """
x = torch.randn(8, 4)
y = torch.zeros_like((3, 4))
""",
    "ones_list": """
x = torch.randn(8, 4)
y = torch.ones([3, 4.0])
""",
    "eye_t": """
x = torch.randn(8, 4)
y = torch.eye(x)
""",
    "zeros_t": """
x = torch.randn(8, 4)
y = torch.zeros(x)
""",
    "range_t": """
x = torch.randn(8, 4)
y = [i for i in range(x)]
""",
    "int_multi": """
x = torch.randn(8, 4)
y = int(x)
""",
    "float_multi": """
x = torch.randn(8, 4)
y = float(x)
""",
    "if_multi": """
x = torch.randn(8, 4)
y = 1 if x > 0 else 0
""",
    "list_index": """
x = torch.randn(8, 4)
z = [1, 2]; y = z[x]
""",
    "not_multi": """
x = torch.randn(8, 4)
y = not x
""",
    "and_multi": """
x = torch.randn(8, 4)
y = (x > 0) and (x < 1)
""",
    "in_str": """
x = torch.randn(8, 4)
y = 'a' in x
""",
    "iter0": """
x = torch.randn(8, 4)
y = [i for i in torch.tensor(3)]
""",
    "len0": """
x = torch.randn(8, 4)
y = len(torch.tensor(3))
""",
    "numpy_np_add": """
x = torch.randn(8, 4)
import numpy as np; y = np.ones((8, 4)) + x.requires_grad_()
""",
    "f_string": """
x = torch.randn(8, 4)
y = f'{x:.3f}'
""",
    "percent": """
x = torch.randn(8, 4)
y = '%.3f' % x
""",
    "item_multi": """
x = torch.randn(8, 4)
y = x.item()
""",
    "math_sqrt": """
x = torch.randn(8, 4)
import math; y = math.sqrt(x)
""",
    "math_exp": """
x = torch.randn(8, 4)
import math; y = math.exp(x)
""",
    "setdim": """
x = torch.randn(8, 4)
y = x.size(2)
""",
    "dict_kw": """
x = torch.randn(8, 4)
y = torch.ones(2, 3, requires_gradient=True)
""",
    "tensor_two": """
x = torch.randn(8, 4)
y = torch.tensor(1, 2)
""",
    "Tensor_f": """
x = torch.randn(8, 4)
y = torch.Tensor(3.0)
""",
    "tensor_none": """
x = torch.randn(8, 4)
y = torch.tensor([1, None])
""",
    "tensor_str": """
x = torch.randn(8, 4)
y = torch.tensor(['a', 'b'])
""",
    "tensor_ragged": """
x = torch.randn(8, 4)
y = torch.tensor([[1, 2], [3]])
""",
    "tensor_tensors": """
x = torch.randn(8, 4)
y = torch.tensor([x, x])
""",
    "tensor_dict": """
x = torch.randn(8, 4)
y = torch.tensor({'a': 1})
""",
    "stack_empty": """
x = torch.randn(8, 4)
y = torch.stack([])
""",
    "cat_empty": """
x = torch.randn(8, 4)
y = torch.cat([])
""",
    "save_one": """
x = torch.randn(8, 4)
torch.save(x)
""",
    "masked": """
x = torch.randn(8, 4)
y = x.masked_fill(x > 0)
""",
    "masked_list": """
x = torch.randn(8, 4)
y = x.masked_fill(x > 0, [1])
""",
    "index_select_list": """
x = torch.randn(8, 4)
y = x.index_select(0, [0, 1])
""",
    "gather_list": """
x = torch.randn(8, 4)
y = x.gather(1, [[0]])
""",
    "scatter": """
x = torch.randn(8, 4)
y = x.scatter_(1, torch.zeros(8, 1))
""",
    "detach_arg": """
x = torch.randn(8, 4)
y = x.detach(True)
""",
    "numpy_dtype": """
x = torch.randn(8, 4)
y = x.numpy(dtype='float32')
""",
    "cpu_attr": """
x = torch.randn(8, 4)
y = x.cpu.numpy()
""",
    "cuda_attr": """
x = torch.randn(8, 4)
y = x.detach.cpu()
""",
    "numpy_attr": """
x = torch.randn(8, 4)
y = x.numpy.mean()
""",
    "data_call": """
x = torch.randn(8, 4)
y = x.data()
""",
    "grad_call": """
x = torch.randn(8, 4)
x.requires_grad_(); x.sum().backward(); y = x.grad()
""",
    "grad_none": """
x = torch.randn(8, 4)
y = x.grad.norm()
""",
    "grad_zero_none": """
x = torch.randn(8, 4)
x.requires_grad_(); x.grad.zero_()
""",
    "loader_index": """
x, y = loader[0]
""",
    "loader_unpack": """
x, y = loader
""",
    "next_loader": """
x, y = next(loader)
""",
    "loader_shape": """
print(loader.shape)
""",
    "loader_data": """
print(len(loader.data))
""",
    "load_path": """
model.load_state_dict('m.pt')
""",
    "linear_str": """
fc = nn.Linear('64', 10)
""",
    "linear_float": """
fc = nn.Linear(64.0, 10)
""",
    "dropout50": """
d = nn.Dropout(50)
""",
    "conv_kernel": """
c = nn.Conv2d(3, 8, kernel=3)
""",
    "emb_one": """
c = nn.Embedding(10)
""",
    "lstm_one": """
c = nn.LSTM(10)
""",
    "bn_none": """
c = nn.BatchNorm2d()
""",
    "F_CE": """
l = F.CrossEntropyLoss()
""",
    "nn_ce": """
l = nn.cross_entropy(torch.randn(4, 3), torch.zeros(4).long())
""",
    "nn_relu": """
l = nn.relu(X)
""",
    "torch_ReLU": """
l = torch.ReLU()
""",
    "F_ReLU": """
l = F.ReLU()
""",
    "nn_Adam": """
l = torch.nn.Adam(Net().parameters())
""",
    "optim_adam": """
l = torch.optim.adam(Net().parameters())
""",
    "torch_DL": """
l = torch.DataLoader(ds)
""",
    "utils_DL": """
l = torch.utils.DataLoader(ds)
""",
    "import_relu": """
from torch.nn import relu
""",
    "import_function": """
import torch.nn.function as F2
""",
    "import_utilsDL": """
from torch.utils import DataLoader as D2
""",
    "import_data": """
from torch.data import Dataset as D3
""",
    "import_case": """
from torch.utils.data import Dataloader
""",
    "import_optim": """
from torch.optim import Adamm
""",
    "seq_list": """
s = nn.Sequential([nn.Linear(10, 3), nn.ReLU()])
""",
    "seq_noparen": """
s = nn.Sequential(nn.Linear(10, 3), nn.ReLU)
""",
    "loader_xy": """
l = DataLoader(X, Y)
""",
    "td_lists": """
t = TensorDataset([1, 2], [3, 4])
""",
    "td_len": """
t = TensorDataset(X, Y[:10])
""",
    "split_float": """
a, b = torch.utils.data.random_split(ds, [0.8 * 64, 0.2 * 64])
""",
    "split_sum": """
a, b = torch.utils.data.random_split(ds, [50, 10])
""",
    "sched_noopt": """
s = optim.lr_scheduler.StepLR(step_size=3)
""",
    "sched_nostep": """
s = optim.lr_scheduler.StepLR(optimizer)
""",
    "sched_model": """
s = optim.lr_scheduler.StepLR(model, step_size=3)
""",
    "loss_tuple": """
loss = criterion((model(X), Y))
""",
    "loss_swapped": """
loss = criterion(Y, model(X))
""",
    "loss_argmax": """
loss = criterion(model(X).argmax(1), Y)
""",
    "model_shape": """
print(model.shape)
""",
    "params_len": """
print(len(model.parameters()))
""",
    "params_index": """
print(model.parameters()[0])
""",
    "params_sum": """
n = sum(p.numel for p in model.parameters())
""",
    "layer_index": """
print(model[0])
""",
    "state_attr": """
w = model.state_dict().fc1.weight
""",
    "state_key": """
w = model.state_dict()['fc.weight']
""",
    "weight_call": """
w = model.fc1.weight()
""",
    "weight_assign": """
model.fc1.weight = torch.zeros(16, 10)
""",
    "zero_grad_typo": """
optimizer.zerograd()
""",
    "zero_grads": """
optimizer.zero_grads()
""",
    "model_eval_typo": """
model.evaluate()
""",
    "device_avail2": """
device = torch.device('cuda' if torch.cuda.isavailable() else 'cpu')
""",
    "numpy_grad": """
p = model(X).numpy()
""",
    "shape_idx": """
n = X.shape(0)
""",
    "shape_unpack": """
b, c, h, w = X.shape
""",
    "size_attr": """
b = X.size[0]
""",
    "sum_noparen": """
t = X.sum + 1
""",
    "onecycle": """
s = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1)
""",
    "cosine": """
s = optim.lr_scheduler.CosineAnnealingLR(optimizer)
""",
    "plateau_verbose": """
s = optim.lr_scheduler.ReduceLROnPlateau(optimizer, verbose=True)
""",
    "plateau_mode": """
s = optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode='auto')
""",
    "multistep_int": """
s = optim.lr_scheduler.MultiStepLR(optimizer, milestones=30)
""",
    "lr_attr": """
print(optimizer.lr)
""",
    "lr_key": """
print(optimizer.param_groups['lr'])
""",
    "bce_pos_float": """
c = nn.BCEWithLogitsLoss(pos_weight=2.0)
""",
    "mha_div": """
m = nn.MultiheadAttention(10, 3)
""",
    "tr_layer": """
e = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2))
""",
    "dl_workers": """
l = DataLoader(ds, num_workers=-1)
""",
    "dl_zero": """
l = DataLoader(ds, batch_size=0)
""",
    "dl_persist": """
l = DataLoader(ds, persistent_workers=True)
""",
    "dl_batch_sampler": """
l = DataLoader(ds, batch_size=4, drop_last=True, batch_sampler=torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(ds), 4, False))
""",
    "split_frac": """
a, b = torch.utils.data.random_split(ds, [0.8, 0.3])
""",
    "split_three": """
a, b = torch.utils.data.random_split(ds, [40, 14, 10])
""",
    "seq_dict": """
s = nn.Sequential({'a': nn.Linear(3, 2)})
""",
    "modlist_str": """
m = nn.ModuleList({'a': nn.Linear(3, 2)})
""",
    "param_list": """
w = nn.Parameter([1.0, 2.0])
""",
    "param_int": """
w = nn.Parameter(torch.tensor([1, 2]))
""",
    "grad_fn": """
g = torch.autograd.grad(criterion(model(X), Y), X)
""",
    "topk_k": """
v, i = torch.topk(torch.randn(3), 5)
""",
    "argmax_dim": """
p = torch.randn(4).argmax(dim=1)
""",
    "cat_dim": """
p = torch.cat([torch.zeros(2, 3), torch.zeros(2, 4)])
""",
    "stack_tuple": """
p = torch.stack((torch.zeros(2), torch.zeros(3)))
""",
    "one_hot_neg": """
p = F.one_hot(torch.tensor([0, 3]), num_classes=3)
""",
    "normal_std": """
p = torch.distributions.Normal(torch.zeros(2), torch.tensor([-1.0, 1.0]))
""",
    "cat_probs": """
p = torch.distributions.Categorical(torch.randn(3))
""",
    "multinomial": """
p = torch.multinomial(torch.tensor([0.5, 0.5]), 3)
""",
    "bincount_float": """
p = torch.bincount(torch.tensor([0.0, 1.0]))
""",
    "device_index": """
t = torch.zeros(3, device='cpu:x')
""",
    "save_dict": """
torch.save({'m': Net().state_dict()})
""",
    "fit": """
Net().fit(X, Y)
""",
    "predict": """
Net().predict(X)
""",
    "params_count": """
print(Net().num_parameters())
""",
    "tensor_reshape_str": """
y = X.view('a')
""",
    "view_tuple_plus": """
y = X.view(X.shape[0] + (10,))
""",
    "shape_cat": """
y = torch.zeros(X.shape + 1)
""",
    "shape_list_cat": """
y = torch.zeros(X.shape[:-1] + [3])
""",
    "shape_mul": """
y = X.view(-1, X.shape[1:] * 2)
""",
}
"""A line each."""

SCRIPTS = {
    "no_grad_call": """
x = torch.randn(8, 4)
with torch.no_grad:
    y = x + 1
""",
    "for_len": """
for i in len(loader):
    print(i)
""",
    "for_int": """
epochs = 3
for epoch in epochs:
    pass
""",
    "enum_unpack": """
for i, x, y in enumerate(loader):
    pass
""",
    "for_three": """
for x, y, z in loader:
    pass
""",
    "iter_next": """
it = iter(loader)
x, y = it.next()
""",
    "loader_call": """
for x, y in loader():
    pass
""",
    "save_noparen": """
torch.save(model.state_dict, 'm.pt')
print(model.state_dict.keys())
""",
    "load_model2": """
m2 = Net()
m2.load_state_dict(model)
""",
    "model_is_keys": """
torch.save(model.state_dict(), 'm3.pt')
model = model.load_state_dict(torch.load('m3.pt'))
model.eval()
""",
    "optim_noparams": """
model = Net()
optimizer = optim.SGD(lr=0.1)
""",
    "optim_model": """
model = Net()
optimizer = optim.SGD(model, lr=0.1)
""",
    "optim_str_lr": """
model = Net()
optimizer = optim.SGD(model.parameters(), lr='0.1')
""",
    "argparse_lr": """
p = argparse.ArgumentParser()
p.add_argument('--lr', default='0.01')
args = p.parse_args([])
model = Net()
optimizer = optim.SGD(model.parameters(), lr=args.lr)
""",
    "argparse_hidden": """
p = argparse.ArgumentParser()
p.add_argument('--hidden', default='32')
args = p.parse_args([])
model = Net(args.hidden)
""",
    "argparse_epochs": """
p = argparse.ArgumentParser()
p.add_argument('--epochs', default='3')
args = p.parse_args([])
for e in range(args.epochs):
    pass
""",
    "argparse_batch": """
p = argparse.ArgumentParser()
p.add_argument('--bs', default='3')
args = p.parse_args([])
l = DataLoader(ds, batch_size=args.bs)
""",
    "argparse_dash": """
p = argparse.ArgumentParser()
p.add_argument('--batch-size', type=int, default=4)
args = p.parse_args([])
l = DataLoader(ds, batch_size=args.batchsize)
""",
    "linear_div": """
d = 64
fc = nn.Linear(d / 2, 10)
""",
    "relu_x": """
c = nn.ReLU(X)
print(c.shape)
""",
    "ce_args": """
loss = nn.CrossEntropyLoss(torch.randn(4, 3), torch.zeros(4).long())
loss.backward()
""",
    "ce_args2": """
out = torch.randn(4, 3)
loss = nn.MSELoss(out, out)
print(loss.item())
""",
    "super_net": """
class A(nn.Module):
    def __init__(self):
        super(A).__init__()
        self.fc = nn.Linear(3, 2)
a = A()
""",
    "super_noparen": """
class A(nn.Module):
    def __init__(self):
        super().__init__
        self.fc = nn.Linear(3, 2)
a = A()
""",
    "init_name": """
class A(nn.Module):
    def _init_(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
    def forward(self, x):
        return self.fc(x)
a = A()
a(torch.zeros(1, 3))
""",
    "init_name2": """
class A(nn.Module):
    def __int__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
    def forward(self, x):
        return self.fc(x)
a = A()
a(torch.zeros(1, 3))
""",
    "foward": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
    def foward(self, x):
        return self.fc(x)
a = A()
a(torch.zeros(1, 3))
""",
    "forward_indent": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        def forward(self, x):
            return self.fc(x)
a = A()
a(torch.zeros(1, 3))
""",
    "forward_noself": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
    def forward(x):
        return self.fc(x)
a = A()
a(torch.zeros(1, 3))
""",
    "no_return": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
    def forward(self, x):
        x = self.fc(x)
a = A()
y = a(torch.zeros(1, 3))
y.sum().backward()
""",
    "attr_name": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 2)
    def forward(self, x):
        return self.fc(x)
a = A()
y = a(torch.zeros(1, 3))
""",
    "attr_noself": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        fc1 = nn.Linear(3, 2)
    def forward(self, x):
        return self.fc1(x)
a = A()
y = a(torch.zeros(1, 3))
""",
    "self_missing": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(3, 2)
    def forward(self, x):
        return fc1(x)
a = A()
y = a(torch.zeros(1, 3))
""",
    "Module_noparen": """
model = Net
y = model(X)
""",
    "modlist_call": """
s = nn.ModuleList([nn.Linear(10, 3)])
s(X)
""",
    "ds_getitem": """
class D(Dataset):
    def __init__(self):
        self.x = X
    def __len__(self):
        return len(self.x)
    def __get_item__(self, i):
        return self.x[i]
for b in DataLoader(D(), batch_size=4):
    pass
""",
    "ds_len": """
class D(Dataset):
    def __init__(self):
        self.x = X
    def __length__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i]
for b in DataLoader(D(), batch_size=4, shuffle=True):
    pass
""",
    "ds_noargs": """
class D(Dataset):
    def __init__(self, x):
        self.x = x
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i]
d = D()
""",
    "ds_class": """
class D(Dataset):
    def __init__(self):
        self.x = X
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i]
for b in DataLoader(D, batch_size=4):
    pass
""",
    "ds_noself": """
class D(Dataset):
    def __init__(self):
        self.x = X
    def __len__():
        return 64
    def __getitem__(self, i):
        return self.x[i]
print(len(D()))
""",
    "plateau": """
s = optim.lr_scheduler.ReduceLROnPlateau(optimizer)
s.step()
""",
    "loss_item_backward": """
loss = criterion(model(X), Y).item()
loss.backward()
""",
    "loss_detach": """
loss = criterion(model(X).detach(), Y)
loss.backward()
""",
    "lossstr": """
loss = criterion(model(X), Y)
print('loss: ' + loss)
""",
    "lossstr2": """
loss = criterion(model(X), Y)
print('loss: ' + loss.item())
""",
    "acc_div": """
correct = (model(X).argmax(1) == Y).sum()
print('acc: %d' % correct / 64)
""",
    "acc_call": """
correct = (model(X).argmax(1) == Y).sum().item
print(correct / 64)
""",
    "named_unpack": """
for name, p in model.parameters():
    print(name)
""",
    "named_unpack2": """
for p in model.named_parameters():
    p.requires_grad = False
""",
    "cuda_avail": """
device = 'cuda' if torch.cuda.is_available else 'cpu'
model = Net().to(device)
""",
    "no_grad_with": """
with torch.nograd():
    pass
""",
    "clip_model": """

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model, 1.0)
    optimizer.step()
""",
    "clip_noparen": """

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters, 1.0)
    optimizer.step()
""",
    "clip_nomax": """

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters())
    optimizer.step()
""",
    "plt": """
import numpy as np
np.array(model(X))
""",
    "list_tensor_idx": """
names = ['a', 'b', 'c']
print(names[model(X).argmax(1)])
""",
    "range_tensor": """
for i in range(X):
    pass
""",
    "append_assign": """
losses = []
losses = losses.append(1.0)
losses.append(2.0)
""",
    "dict_batch": """
for batch in loader:
    x = batch['x']
""",
    "batch_attr": """
for batch in loader:
    x = batch.x
""",
    "batch_to": """
for batch in loader:
    batch = batch.to('cpu')
""",
    "nesterov": """
model=Net()
o = optim.SGD(model.parameters(), lr=0.1, nesterov=True)
""",
    "neg_lr": """
model=Net()
o = optim.Adam(model.parameters(), lr=-0.1)
""",
    "adam_momentum": """
model=Net()
o = optim.Adam(model.parameters(), lr=0.1, momentum=0.9)
""",
    "betas": """
model=Net()
o = optim.Adam(model.parameters(), lr=0.1, betas=(0.9, 1.1))
""",
    "betas_one": """
model=Net()
o = optim.Adam(model.parameters(), lr=0.1, betas=0.9)
""",
    "empty_params": """
class E(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 3)]
    def forward(self, x):
        return self.layers[0](x)
model = E()
o = optim.SGD(model.parameters(), lr=0.1)
""",
    "param_list_tensors": """
w = torch.randn(3)
o = optim.SGD([w], lr=0.1)
w.sum().backward()
""",
    "optim_tensor": """
w = torch.randn(3, requires_grad=True)
o = optim.SGD(w, lr=0.1)
""",
    "optim_dict": """
model=Net()
o = optim.SGD({'params': model.parameters(), 'lr': 0.1}, lr=0.1)
""",
    "optim_two": """
a, b = Net(), Net()
o = optim.SGD(a.parameters() + b.parameters(), lr=0.1)
""",
    "optim_two2": """
a, b = Net(), Net()
o = optim.SGD([a.parameters(), b.parameters()], lr=0.1)
""",
    "optim_named": """
model=Net()
o = optim.SGD(dict(model.named_parameters()), lr=0.1)
""",
    "lambda_noncall": """
s = optim.lr_scheduler.LambdaLR(optimizer, 0.95)
s.step()
""",
    "sched_getlr": """
s = optim.lr_scheduler.StepLR(optimizer, 3)
print(s.get_last_lr()[0].item())
""",
    "ce_weight_list": """
c = nn.CrossEntropyLoss(weight=[0.1, 0.9, 1.0])
c(torch.randn(4, 3), torch.zeros(4).long())
""",
    "ce_weight_count": """
c = nn.CrossEntropyLoss(weight=torch.tensor([0.1, 0.9]))
c(torch.randn(4, 3), torch.zeros(4).long())
""",
    "ce_weight_int": """
c = nn.CrossEntropyLoss(weight=torch.tensor([1, 2, 3]))
c(torch.randn(4, 3), torch.zeros(4).long())
""",
    "ce_reduction": """
c = nn.CrossEntropyLoss(reduction='avg')
c(torch.randn(4, 3), torch.zeros(4).long())
""",
    "ce_none_backward": """
c = nn.CrossEntropyLoss(reduction='none')
c(model(X), Y).backward()
""",
    "bce_pos": """
c = nn.BCEWithLogitsLoss(pos_weight=2.0)
c(torch.randn(4), torch.ones(4))
""",
    "lstm_tuple": """
l = nn.LSTM(4, 8)
y = F.relu(l(torch.randn(5, 2, 4)))
""",
    "lstm_seq": """
l = nn.Sequential(nn.LSTM(4, 8), nn.Linear(8, 2))
y = l(torch.randn(5, 2, 4))
""",
    "lstm_h": """
l = nn.LSTM(4, 8)
y, _ = l(torch.randn(5, 2, 4), torch.zeros(1, 2, 8))
""",
    "gru_hc": """
l = nn.GRU(4, 8)
y, (h, c) = l(torch.randn(5, 2, 4))
""",
    "mha_out": """
m = nn.MultiheadAttention(8, 2)
x = torch.randn(5, 2, 8)
y = m(x, x, x) + x
""",
    "mha_onearg": """
m = nn.MultiheadAttention(8, 2)
x = torch.randn(5, 2, 8)
y, _ = m(x)
""",
    "emb_len": """
e = nn.Embedding(5, 3)
e(torch.tensor([5]))
""",
    "emb_list": """
e = nn.Embedding(5, 3)
e([1, 2])
""",
    "dl_iterable_shuffle": """
from torch.utils.data import IterableDataset
class I(IterableDataset):
    def __iter__(self):
        yield from X
l = DataLoader(I(), shuffle=True)
""",
    "dl_list": """
l = DataLoader([1, 2, 3], batch_size=2)
for x, y in l:
    pass
""",
    "split_train_attr": """
a, b = torch.utils.data.random_split(ds, [50, 14])
print(a.tensors[0].shape)
""",
    "subset_idx": """
s = torch.utils.data.Subset(ds, range(60, 70))
for x in DataLoader(s):
    pass
""",
    "dp_attr": """
m = nn.DataParallel(Net())
print(m.fc1)
""",
    "dp_state": """
m = nn.DataParallel(Net())
n = Net()
n.load_state_dict(m.state_dict())
""",
    "pad_seq_lists": """
from torch.nn.utils.rnn import pad_sequence
p = pad_sequence([[1, 2], [3]])
""",
    "pad_seq_2": """
from torch.nn.utils.rnn import pad_sequence
p = pad_sequence([torch.zeros(2, 3), torch.zeros(4, 5)])
""",
    "pack_sorted": """
from torch.nn.utils.rnn import pack_padded_sequence
p = pack_padded_sequence(torch.zeros(5, 2, 3), [3, 5])
""",
    "pack_zero": """
from torch.nn.utils.rnn import pack_padded_sequence
p = pack_padded_sequence(torch.zeros(5, 2, 3), [5, 0])
""",
    "pack_lin": """
from torch.nn.utils.rnn import pack_padded_sequence
p = pack_padded_sequence(torch.zeros(5, 2, 3), [5, 3])
l = nn.GRU(3, 4)
o, h = l(p)
y = nn.Linear(4, 2)(o)
""",
    "seq_call_two": """
s = nn.Sequential(nn.Linear(10, 3))
y = s(X, Y)
""",
    "seq_add": """
s = nn.Sequential()
s.add(nn.Linear(3, 2))
""",
    "seq_append_list": """
s = nn.Sequential(nn.Linear(10, 3))
s.append([nn.ReLU()])
""",
    "register_buffer": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('mask')
a = A()
""",
    "register_param": """
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_parameter('w', torch.zeros(3))
a = A()
""",
    "init_conv": """
m = Net()
nn.init.xavier_uniform_(m.fc1)
""",
    "init_bias": """
m = Net()
nn.init.xavier_uniform_(m.fc1.bias)
""",
    "apply_call": """
def init(m):
    nn.init.zeros_(m.weight)
m = Net()
m.apply(init)
""",
    "apply_noarg": """
def init():
    pass
m = Net()
m.apply(init)
""",
    "apply_called": """
def init(m):
    pass
m = Net()
m.apply(init(m))
""",
    "hook": """
m = Net()
m.fc1.register_forward_hook(lambda x: None)
m(X)
""",
    "scaler_step": """
scaler = torch.amp.GradScaler('cpu')
for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    scaler.scale(loss).backward()
    scaler.step()
    scaler.update()
""",
    "autocast_nodev": """
with torch.autocast():
    pass
""",
    "autocast_dtype": """
with torch.autocast('cpu', dtype='bfloat16'):
    pass
""",
    "grad_unused": """
x = X.clone().requires_grad_()
z = torch.zeros(1, requires_grad=True)
g = torch.autograd.grad(model(x).sum(), [x, z])
""",
    "leaf_inplace": """
w = torch.zeros(3, requires_grad=True)
w += 1
""",
    "grad_nonleaf": """
w = torch.zeros(3, requires_grad=True) * 2
w.sum().backward()
print(w.grad.norm())
""",
    "grad_zero_before": """
for p in model.parameters():
    p.grad.zero_()
""",
    "item_in_stack": """
ls = [criterion(model(xb), yb).item() for xb, yb in loader]
t = torch.stack(ls)
""",
    "np_mean_list": """
import numpy as np
ls = [criterion(model(xb), yb) for xb, yb in loader]
print(np.mean(ls))
""",
    "int_shape": """
y = X.view(X.shape)
z = y.view(int(X.shape))
""",
}
"""More than a line."""

SILENT = {
    "eval_noparen": """

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward()
    optimizer.step()
model.eval
with torch.no_grad():
    print(model(X).argmax(1))
""",
    "train_noparen": """
model.eval()
model.train

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward()
    optimizer.step()
""",
    "backward_noparen": """

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward
    optimizer.step()
""",
    "step_noparen": """

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward()
    optimizer.step
""",
    "zero_noparen": """

for xb, yb in loader:
    optimizer.zero_grad
    loss = criterion(model(xb), yb)
    loss.backward()
    optimizer.step()
""",
    "freeze_typo": """
for p in model.parameters():
    p.require_grad = False
""",
    "freeze_module": """
model.fc1.requires_grad = False
""",
    "with_eval": """
with model.eval():
    pass
""",
    "clip": """

for xb, yb in loader:
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward()
    torch.nn.utils.clip_grad_norm(model.parameters(), 1.0)
    optimizer.step()
""",
    "scheduler_paren": """
s = optim.lr_scheduler.StepLR(optimizer, 3)
for e in range(3):

    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    
    s.step
""",
    "lr_set": """
optimizer.lr = 0.01
""",
    "lstm_dropout1": """
l = nn.LSTM(4, 8, dropout=0.5)
""",
    "init_kaiming": """
m = Net()
nn.init.kaiming_uniform(m.fc1.weight)
""",
    "flatten_call": """
f = nn.Flatten
y = f(X)
""",
}
"""What runs, and does not do what it is meant to do."""

if __name__ == "__main__":
    main()
