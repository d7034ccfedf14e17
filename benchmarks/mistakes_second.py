"""A second list of everyday mistakes, for `benchmarks.mistakes --second`: the way programs get calls, sizes, data and loops wrong."""

from __future__ import annotations

LINES = {
    "lstm_tuple_head": """
lstm = nn.LSTM(10, 16, batch_first=True)
head = nn.Linear(16, 3)
y = head(lstm(torch.randn(4, 7, 10)))
""",
    "lstm_hidden_batch": """
lstm = nn.LSTM(10, 16, num_layers=2, batch_first=True)
h0 = torch.zeros(2, 8, 16)
out, h = lstm(torch.randn(4, 7, 10), (h0, h0))
""",
    "gru_hidden_tuple": """
gru = nn.GRU(10, 16)
out, (h, c) = gru(torch.randn(5, 4, 10))
""",
    "bilstm_width": """
lstm = nn.LSTM(10, 16, bidirectional=True, batch_first=True)
head = nn.Linear(16, 3)
out, _ = lstm(torch.randn(4, 7, 10))
y = head(out[:, -1])
""",
    "rnncell_seq": """
cell = nn.LSTMCell(10, 16)
h, c = cell(torch.randn(4, 7, 10))
""",
    "embedding_float": """
emb = nn.Embedding(100, 8)
y = emb(torch.randn(4, 7))
""",
    "embedding_out_of_range": """
emb = nn.Embedding(10, 8)
y = emb(torch.tensor([[1, 5, 10]]))
""",
    "embedding_bag_2d_offsets": """
bag = nn.EmbeddingBag(10, 8)
y = bag(torch.zeros(3, 4, dtype=torch.long), torch.tensor([0, 2]))
""",
    "mha_embed": """
mha = nn.MultiheadAttention(30, 4)
""",
    "mha_width": """
mha = nn.MultiheadAttention(32, 4, batch_first=True)
x = torch.randn(2, 5, 30)
y, _ = mha(x, x, x)
""",
    "mha_unpack": """
mha = nn.MultiheadAttention(32, 4, batch_first=True)
x = torch.randn(2, 5, 32)
y = nn.LayerNorm(32)(mha(x, x, x))
""",
    "mha_mask_shape": """
mha = nn.MultiheadAttention(32, 4, batch_first=True)
x = torch.randn(2, 5, 32)
y, _ = mha(x, x, x, attn_mask=torch.zeros(2, 5, 5))
""",
    "mha_padding_mask": """
mha = nn.MultiheadAttention(32, 4)
x = torch.randn(5, 2, 32)
y, _ = mha(x, x, x, key_padding_mask=torch.zeros(5, 2, dtype=torch.bool))
""",
    "encoder_layer_width": """
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 8, batch_first=True), 2)
y = enc(torch.randn(4, 10, 32))
""",
    "transformer_tgt": """
t = nn.Transformer(32, 4, 1, 1, batch_first=True)
y = t(torch.randn(2, 5, 32))
""",
    "layernorm_shape": """
ln = nn.LayerNorm([10, 8])
y = ln(torch.randn(4, 8, 10))
""",
    "groupnorm_div": """
gn = nn.GroupNorm(6, 32)
""",
    "groupnorm_channels": """
gn = nn.GroupNorm(4, 32)
y = gn(torch.randn(2, 16, 8, 8))
""",
    "batchnorm1d_4d": """
bn = nn.BatchNorm1d(16)
y = bn(torch.randn(2, 16, 8, 8))
""",
    "batchnorm2d_2d": """
bn = nn.BatchNorm2d(16)
y = bn(torch.randn(8, 16))
""",
    "batchnorm_one": """
bn = nn.BatchNorm1d(16)
y = bn(torch.randn(1, 16))
""",
    "convT_channels": """
up = nn.ConvTranspose2d(32, 16, 2, stride=2)
y = up(torch.randn(1, 16, 8, 8))
""",
    "conv_groups": """
conv = nn.Conv2d(30, 32, 3, groups=4)
""",
    "conv_kernel_big": """
conv = nn.Conv2d(3, 8, 7)
y = conv(torch.randn(1, 3, 5, 5))
""",
    "conv_hwc": """
conv = nn.Conv2d(3, 8, 3)
y = conv(torch.randn(1, 32, 32, 3))
""",
    "conv1d_2d_kernel": """
conv = nn.Conv1d(3, 8, (3, 3))
y = conv(torch.randn(1, 3, 10))
""",
    "pool_padding": """
pool = nn.MaxPool2d(2, padding=2)
y = pool(torch.randn(1, 3, 8, 8))
""",
    "maxunpool": """
pool = nn.MaxPool2d(2)
un = nn.MaxUnpool2d(2)
y = pool(torch.randn(1, 3, 8, 8))
z = un(y)
""",
    "adaptive_then_linear": """
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(8, 3))
y = net(torch.randn(2, 3, 16, 16))
""",
    "flatten_all": """
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(0), nn.Linear(8 * 14 * 14, 3))
y = net(torch.randn(2, 3, 16, 16))
""",
    "upsample_concat": """
up = nn.Upsample(scale_factor=2)
a, b = torch.randn(1, 8, 15, 15), torch.randn(1, 8, 7, 7)
y = torch.cat([a, up(b)], 1)
""",
    "pixelshuffle": """
ps = nn.PixelShuffle(2)
y = ps(torch.randn(1, 6, 8, 8))
""",
    "softmax_dim_oob": """
y = nn.Softmax(dim=2)(torch.randn(4, 5))
""",
    "prelu_channels": """
y = nn.PReLU(8)(torch.randn(2, 16, 4))
""",
    "bilinear": """
b = nn.Bilinear(10, 20, 5)
y = b(torch.randn(4, 20), torch.randn(4, 10))
""",
    "cosine_dim": """
y = F.cosine_similarity(torch.randn(4, 5), torch.randn(4, 6))
""",
    "triplet": """
y = nn.TripletMarginLoss()(torch.randn(4, 5), torch.randn(4, 5))
""",
    "ctc_lengths": """
lp = torch.randn(50, 4, 20).log_softmax(2)
y = nn.CTCLoss()(lp, torch.randint(1, 20, (4, 10)), torch.full((3,), 50), torch.full((4,), 10))
""",
    "nll_onehot": """
y = F.nll_loss(F.log_softmax(torch.randn(4, 3), 1), F.one_hot(torch.tensor([0, 1, 2, 0]), 3))
""",
    "ce_float_idx": """
y = F.cross_entropy(torch.randn(4, 3), torch.tensor([0., 1., 2., 0.]))
""",
    "ce_seq": """
y = F.cross_entropy(torch.randn(4, 7, 10), torch.randint(0, 10, (4, 7)))
""",
    "ce_seg": """
y = F.cross_entropy(torch.randn(2, 5, 8, 8), torch.randint(0, 5, (2, 1, 8, 8)))
""",
    "bce_range": """
y = F.binary_cross_entropy(torch.randn(4), torch.ones(4))
""",
    "bce_shape": """
y = F.binary_cross_entropy_with_logits(torch.randn(4, 1), torch.ones(4))
""",
    "bce_long": """
y = F.binary_cross_entropy_with_logits(torch.randn(4), torch.ones(4).long())
""",
    "ce_weight_len": """
crit = nn.CrossEntropyLoss(weight=torch.tensor([1., 2.]))
y = crit(torch.randn(4, 3), torch.tensor([0, 1, 2, 0]))
""",
    "pos_weight_len": """
crit = nn.BCEWithLogitsLoss(pos_weight=torch.ones(3))
y = crit(torch.randn(4, 5), torch.ones(4, 5))
""",
    "kl_two": """
y = F.kl_div(torch.randn(4, 5).log_softmax(-1), torch.randn(4, 6).softmax(-1))
""",
    "loss_call_two": """
criterion = nn.MSELoss
loss = criterion(torch.randn(4, 1), torch.randn(4, 1))
loss.backward()
""",
    "loss_reduction_bad": """
loss = nn.MSELoss(reduction='average')(torch.randn(4), torch.randn(4))
""",
    "loss_none_backward": """
loss = nn.CrossEntropyLoss(reduction='none')(model(X), Y)
loss.backward()
""",
    "opt_params_called": """
optimizer = optim.Adam(model.parameters, lr=1e-3)
""",
    "opt_named": """
optimizer = optim.Adam(model.state_dict(), lr=1e-3)
""",
    "opt_no_lr_kw": """
optimizer = optim.Adam(model.parameters(), learning_rate=1e-3)
""",
    "opt_adam_momentum": """
optimizer = optim.Adam(model.parameters(), lr=1e-3, momentum=0.9)
""",
    "opt_group_no_params": """
optimizer = optim.SGD([{'param': model.parameters()}], lr=0.1)
""",
    "opt_dup_groups": """
optimizer = optim.SGD([{'params': model.parameters()}, {'params': model.fc1.parameters()}], lr=0.1)
""",
    "opt_neg_lr": """
optimizer = optim.SGD(model.parameters(), lr=-0.1)
""",
    "lbfgs_no_closure": """
optimizer = optim.LBFGS(model.parameters())
optimizer.step()
""",
    "sched_args": """
sch = optim.lr_scheduler.StepLR(optimizer)
""",
    "sched_plateau_step": """
sch = optim.lr_scheduler.ReduceLROnPlateau(optimizer)
sch.step()
""",
    "sched_onecycle": """
sch = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1)
""",
    "sched_before": """
sch = optim.lr_scheduler.CosineAnnealingLR(model, T_max=10)
""",
    "sched_lambda": """
sch = optim.lr_scheduler.LambdaLR(optimizer, lambda: 0.1)
""",
    "clip_named": """
loss = criterion(model(X), Y)
loss.backward()
nn.utils.clip_grad_norm_(model.parameters())
""",
    "clip_module": """
loss = criterion(model(X), Y)
loss.backward()
nn.utils.clip_grad_norm_(model, 1.0)
""",
    "loss_item_backward": """
loss = criterion(model(X), Y).item()
loss.backward()
""",
    "loss_numpy": """
loss = criterion(model(X), Y)
print(loss.numpy())
""",
    "pred_numpy": """
pred = model(X).numpy()
""",
    "second_backward": """
loss = criterion(model(X), Y)
loss.backward()
loss.backward()
""",
    "no_grad_backward": """
with torch.no_grad():
    loss = criterion(model(X), Y)
loss.backward()
""",
    "argmax_backward": """
pred = model(X).argmax(1).float()
loss = F.mse_loss(pred, Y.float())
loss.backward()
""",
    "inplace_leaf": """
w = torch.randn(3, requires_grad=True)
w += 1
""",
    "int_grad": """
w = torch.tensor([1, 2, 3], requires_grad=True)
""",
    "grad_none_item": """
w = torch.randn(3, requires_grad=True)
print(w.grad.sum())
""",
    "grad_of_nonleaf": """
x = torch.randn(3)
g = torch.autograd.grad(x.sum(), x)
""",
    "deepcopy_nonleaf": """
import copy
h = model(X)
c = copy.deepcopy(h)
""",
    "relu_inplace_saved": """
w = torch.randn(3, requires_grad=True)
y = torch.sigmoid(w)
y.add_(1)
y.sum().backward()
""",
    "state_load_strict": """
class Big(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.fc2 = nn.Linear(32, 3)
    def forward(self, x):
        return self.fc2(self.fc1(x))
Big().load_state_dict(model.state_dict())
""",
    "state_load_model": """
model.load_state_dict(model)
""",
    "state_assign": """
model = model.load_state_dict(model.state_dict())
y = model(X)
""",
    "eval_assign": """
model.eval
with torch.no_grad:
    y = model(X)
""",
    "train_call": """
model = model.train
y = model(X)
""",
    "to_none": """
model = model.apply(lambda m: None)
model.fc3(X)
""",
    "zero_grad_missing_paren": """
optimizer.zero_grad
loss = criterion(model(X), Y)
loss.backward
optimizer.step(loss)
""",
    "criterion_swapped": """
loss = criterion(Y, model(X))
""",
    "accuracy_eq": """
pred = model(X)
acc = (pred == Y).float().mean()
""",
    "max_eq": """
pred = model(X).max(1)
acc = (pred == Y).float().mean()
""",
    "pred_dim0": """
pred = model(X).argmax(0)
acc = (pred == Y).float().mean()
""",
    "loader_index": """
x, y = loader[0]
""",
    "loader_next": """
x, y = loader.next()
""",
    "loader_iter_next": """
x, y = iter(loader).next()
""",
    "loader_len_div": """
for i, x, y in enumerate(loader):
    model(x)
""",
    "loader_unpack": """
for x in loader:
    out = model(x)
""",
    "loader_three": """
for x, y, z in loader:
    out = model(x)
""",
    "ds_bad_sizes": """
bad = TensorDataset(torch.randn(10, 3), torch.zeros(9))
""",
    "ds_no_len": """
class D(Dataset):
    def __getitem__(self, i):
        return X[i], Y[i]
l = DataLoader(D(), shuffle=True)
""",
    "ds_len_range": """
class D(Dataset):
    def __len__(self):
        return 65
    def __getitem__(self, i):
        return X[i], Y[i]
for x, y in DataLoader(D(), batch_size=8):
    pass
""",
    "ds_none": """
class D(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        x = X[i]
for b in DataLoader(D(), batch_size=4):
    pass
""",
    "ds_ragged": """
class D(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return torch.zeros(i + 1)
for b in DataLoader(D(), batch_size=4):
    pass
""",
    "ds_strings": """
class D(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return X[i], 'cat'
for x, y in DataLoader(D(), batch_size=4):
    loss = F.cross_entropy(model(x), y)
""",
    "split_sum": """
a, b = torch.utils.data.random_split(ds, [40, 20])
""",
    "subset_index": """
sub = torch.utils.data.Subset(ds, [0, 1, 64])
x, y = sub[2]
""",
    "sampler_shuffle": """
s = torch.utils.data.SubsetRandomSampler([0, 1, 2])
l = DataLoader(ds, batch_size=2, sampler=s, shuffle=True)
""",
    "weighted_args": """
s = torch.utils.data.WeightedRandomSampler([0.1, 0.9])
""",
    "batch_sampler_with_bs": """
s = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(ds), 4, False)
l = DataLoader(ds, batch_sampler=s, batch_size=4)
""",
    "collate_unpack": """
def collate(batch):
    xs, ys = batch
    return torch.stack(xs), torch.stack(ys)
for x, y in DataLoader(ds, batch_size=4, collate_fn=collate):
    pass
""",
    "collate_list": """
def collate(batch):
    xs = [b[0] for b in batch]
    ys = [int(b[1]) for b in batch]
    return torch.stack(xs), torch.stack(ys)
for x, y in DataLoader(ds, batch_size=4, collate_fn=collate):
    pass
""",
    "pad_sequence_lists": """
from torch.nn.utils.rnn import pad_sequence
y = pad_sequence([[1, 2], [3]], batch_first=True)
""",
    "pack_lengths": """
from torch.nn.utils.rnn import pack_padded_sequence
y = pack_padded_sequence(torch.randn(4, 7, 10), torch.tensor([7, 5, 6, 2]), batch_first=True)
""",
    "pack_to_linear": """
from torch.nn.utils.rnn import pack_padded_sequence
p = pack_padded_sequence(torch.randn(4, 7, 10), torch.tensor([7, 6, 5, 2]), batch_first=True)
out, h = nn.GRU(10, 16, batch_first=True)(p)
y = nn.Linear(16, 3)(out)
""",
    "module_no_super": """
class M(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(10, 3)
m = M()
""",
    "module_super_typo": """
class M(nn.Module):
    def _init_(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        return self.fc(x)
m = M()
m(X)
""",
    "module_forward_typo": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def foward(self, x):
        return self.fc(x)
M()(X)
""",
    "module_no_self": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(x):
        return self.fc(x)
M()(X)
""",
    "module_no_return": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        x = self.fc(x)
loss = criterion(M()(X), Y)
""",
    "module_class_not_instance": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU
    def forward(self, x):
        return self.act(x)
y = M()(X)
y.sum()
""",
    "module_seq_list": """
net = nn.Sequential([nn.Linear(10, 5), nn.Linear(5, 3)])
""",
    "module_list_call": """
net = nn.ModuleList([nn.Linear(10, 5), nn.Linear(5, 3)])
y = net(X)
""",
    "module_seq_index": """
net = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 3))
y = net[3](X)
""",
    "module_seq_func": """
net = nn.Sequential(nn.Linear(10, 5), F.relu, nn.Linear(5, 3))
""",
    "module_seq_view": """
net = nn.Sequential(nn.Conv1d(1, 4, 3), nn.Linear(4 * 8, 3))
y = net(X.unsqueeze(1))
""",
    "param_tensor": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))
        self.w = torch.zeros(3)
M()
""",
    "param_list_ints": """
w = nn.Parameter([1.0, 2.0])
w.sum().backward()
""",
    "register_buffer_dup": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.pe = torch.zeros(3)
        self.register_buffer('pe', torch.zeros(3))
M()
""",
    "register_buffer_number": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('scale', 2.0)
M()
""",
    "moduledict_dot": """
d = nn.ModuleDict({'layer.1': nn.Linear(3, 3)})
""",
    "attr_missing": """
print(model.fc3.weight)
""",
    "weight_shape_mm": """
y = X @ model.fc1.weight
""",
    "init_module": """
nn.init.xavier_uniform_(model.fc1)
""",
    "init_bias_xavier": """
nn.init.xavier_uniform_(model.fc1.bias)
""",
    "numpy_grad_plus": """
import numpy as np
w = torch.randn(3, requires_grad=True)
y = np.sqrt(w)
""",
    "numpy_cat": """
import numpy as np
y = torch.cat([torch.zeros(2), np.zeros(2)])
""",
    "numpy_double_linear": """
import numpy as np
x = torch.from_numpy(np.random.rand(4, 10))
y = model(x)
""",
    "numpy_int_linear": """
x = torch.tensor([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]])
y = model(x)
""",
    "np_negstride": """
import numpy as np
y = torch.from_numpy(np.zeros((3, 4))[::-1])
""",
    "device_typo": """
x = torch.zeros(3, device='gpu')
""",
    "item_multi": """
y = torch.randn(3).item()
""",
    "bool_multi": """
x = torch.randn(3)
while x > 0:
    x = x - 1
""",
    "and_tensors": """
x = torch.randn(3)
m = x > 0 and x < 1
""",
    "chained_cmp": """
x = torch.randn(3)
m = 0 < x < 1
""",
    "mask_shape": """
x = torch.randn(4, 5)
m = torch.zeros(5, 4, dtype=torch.bool)
y = x[m]
""",
    "mask_fill_shape": """
s = torch.randn(2, 4, 5, 5)
m = torch.zeros(2, 5, dtype=torch.bool)
y = s.masked_fill(m, -1e9)
""",
    "mask_float_index": """
x = torch.randn(4, 5)
idx = torch.tensor([0., 1.])
y = x[idx]
""",
    "gather_dims": """
x = torch.randn(4, 5)
y = x.gather(1, torch.tensor([0, 1, 2, 3]))
""",
    "gather_int32": """
x = torch.randn(4, 5)
y = x.gather(1, torch.zeros(4, 1, dtype=torch.int32))
""",
    "scatter_value": """
y = torch.zeros(4, 3).scatter_(1, torch.tensor([0, 1, 2, 0]), 1)
""",
    "view_noncontig": """
x = torch.randn(4, 5).t()
y = x.view(-1)
""",
    "view_perm": """
x = torch.randn(2, 3, 4, 5).permute(0, 2, 3, 1)
y = x.view(2, -1, 3)
""",
    "view_size": """
x = torch.randn(8, 3, 16, 16)
y = x.view(-1, 3 * 16 * 15)
""",
    "reshape_two_minus": """
y = torch.randn(4, 6).reshape(-1, -1, 2)
""",
    "unpack_shape": """
b, c, h, w = torch.randn(4, 3, 32).shape
""",
    "unpack_split": """
a, b, c = torch.randn(4, 6).split(2)
""",
    "chunk_qkv": """
q, k, v = nn.Linear(16, 64)(torch.randn(2, 5, 16)).chunk(4, dim=-1)
""",
    "stack_diff": """
y = torch.stack([torch.zeros(3), torch.zeros(4)])
""",
    "cat_dims": """
y = torch.cat([torch.zeros(3, 4), torch.zeros(3)], dim=1)
""",
    "cat_scalars": """
y = torch.cat([torch.tensor(1.), torch.tensor(2.)])
""",
    "bmm_2d": """
y = torch.bmm(torch.randn(3, 4), torch.randn(4, 5))
""",
    "bmm_batch": """
y = torch.bmm(torch.randn(3, 4, 5), torch.randn(2, 5, 6))
""",
    "einsum_sub": """
y = torch.einsum('bij,bjk->bik', torch.randn(2, 3, 4), torch.randn(2, 5, 6))
""",
    "einsum_rank": """
y = torch.einsum('bhqd,bhkd->bhqk', torch.randn(2, 5, 8), torch.randn(2, 5, 8))
""",
    "einsum_missing": """
y = torch.einsum('ij,jk->ikl', torch.randn(2, 3), torch.randn(3, 4))
""",
    "matmul_t": """
q, k = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
y = q @ k
""",
    "matmul_T3": """
q, k = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
y = q @ k.T
""",
    "transpose_oob": """
y = torch.randn(2, 5).transpose(1, 2)
""",
    "permute_len": """
y = torch.randn(2, 3, 4, 5).permute(0, 2, 1)
""",
    "expand_bad": """
y = torch.randn(3, 4).expand(2, 3, 5)
""",
    "squeeze_unpack": """
h, w = torch.randn(1, 1, 5, 6).squeeze(0).shape
""",
    "broadcast_add": """
y = torch.randn(8, 10) + torch.randn(8)
""",
    "topk_k": """
y = torch.randn(4, 3).topk(5)
""",
    "multinomial_neg": """
y = torch.multinomial(torch.zeros(4, 2, 3), 1)
""",
    "normal_neg": """
y = torch.distributions.Normal(torch.zeros(3), -torch.ones(3))
""",
    "categorical_logits": """
d = torch.distributions.Categorical(logits=torch.randn(4, 3))
y = d.log_prob(torch.zeros(5).long())
""",
    "one_hot_float": """
y = F.one_hot(torch.tensor([0., 1.]))
""",
    "one_hot_classes": """
y = F.one_hot(torch.tensor([0, 3]), num_classes=3)
""",
    "interpolate_mode": """
y = F.interpolate(torch.randn(1, 3, 8, 8), size=(16, 16), mode='bilnear')
""",
    "interpolate_3d": """
y = F.interpolate(torch.randn(3, 8, 8), size=(16, 16), mode='bilinear')
""",
    "grid_sample": """
y = F.grid_sample(torch.randn(1, 3, 8, 8), torch.randn(1, 3, 8, 8))
""",
    "unfold_fold": """
p = F.unfold(torch.randn(1, 3, 8, 8), 2, stride=2)
y = F.fold(p, (8, 8), 2)
""",
    "pad_five": """
y = F.pad(torch.randn(1, 3, 8, 8), (1, 1, 1))
""",
    "sdpa": """
y = F.scaled_dot_product_attention(torch.randn(2, 4, 5, 8), torch.randn(2, 4, 5, 16), torch.randn(2, 4, 5, 16))
""",
    "autocast_args": """
with torch.autocast():
    y = model(X)
""",
    "amp_scaler_step": """
scaler = torch.amp.GradScaler('cpu')
scaler.scale(criterion(model(X), Y)).backward()
scaler.step()
""",
    "compile_args": """
y = torch.jit.trace(model)
""",
    "save_args": """
torch.save(model.state_dict())
""",
    "load_dict_call": """
ckpt = {'model': model.state_dict(), 'epoch': 3}
model.load_state_dict(ckpt)
""",
    "load_dict_key": """
ckpt = {'model_state': model.state_dict(), 'epoch': 3}
model.load_state_dict(ckpt['model'])
""",
    "dataparallel_attr": """
net = nn.DataParallel(model)
print(net.fc1.weight.shape)
""",
    "hook_return": """
def hook(m, i):
    print(i)
model.fc1.register_forward_hook(hook)
model(X)
""",
    "freeze_call": """
for p in model.parameters():
    p.requires_grad(False)
""",
    "freeze_named": """
for p in model.named_parameters():
    p.requires_grad = False
""",
    "param_count": """
n = sum(p.numel for p in model.parameters())
""",
    "first_param_device": """
d = model.device
""",
    "lr_attr": """
print(optimizer.lr)
""",
    "lr_get": """
print(optimizer.param_groups['lr'])
""",
    "last_lr": """
sch = optim.lr_scheduler.StepLR(optimizer, 10)
print(sch.get_last_lr().item())
""",
    "epoch_range": """
epochs = '10'
for e in range(epochs):
    pass
""",
    "arg_lr_str": """
args = argparse.ArgumentParser()
args.add_argument('--lr', default='0.1')
a = args.parse_args([])
opt = optim.SGD(model.parameters(), lr=a.lr)
""",
    "arg_hidden_float": """
args = argparse.ArgumentParser()
args.add_argument('--hidden', type=float, default=64)
a = args.parse_args([])
l = nn.Linear(10, a.hidden)
""",
    "div_size": """
h = 64
l = nn.Linear(10, h / 2)
""",
    "custom_fn_forward_self": """
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * 2
w = torch.randn(3, requires_grad=True)
Fn.apply(w, 2.0).sum().backward()
""",
    "custom_fn_call": """
class Fn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g
y = Fn(torch.randn(3))
""",
    "custom_fn_saved": """
class Sq(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 2 * x * g
w = torch.randn(3, requires_grad=True)
Sq.apply(w).sum().backward()
""",
    "tensor_of_tensors": """
y = torch.tensor([torch.randn(3), torch.randn(3)])
""",
    "tensor_ragged": """
y = torch.tensor([[1, 2], [3]])
""",
    "tensor_none": """
y = torch.tensor([1.0, None])
""",
    "tensor_str": """
y = torch.tensor(['1', '2'])
""",
    "quantile_int": """
y = torch.tensor([1, 2, 3]).quantile(0.5)
""",
    "mean_int": """
y = torch.arange(10).mean()
""",
    "softmax_int": """
y = torch.arange(10).softmax(0)
""",
    "std_bool": """
y = (torch.randn(3) > 0).mean()
""",
    "norm_long": """
y = torch.arange(10).norm()
""",
    "half_layernorm_mix": """
y = nn.Linear(10, 3)(torch.randn(4, 10).half())
""",
    "bf16_weight": """
m = nn.Linear(10, 3).to(torch.bfloat16)
y = m(X)
""",
    "complex_relu": """
y = F.relu(torch.fft.fft(torch.randn(8)))
""",
    "inplace_view_expand": """
x = torch.zeros(3, 1).expand(3, 4)
x += torch.randn(3, 4)
""",
    "bitand_float": """
y = torch.randn(3) & torch.randn(3)
""",
    "inplace_int": """
x = torch.arange(3)
x /= 2
""",
    "inplace_add_float": """
x = torch.zeros(3, dtype=torch.long)
x += 0.5
""",
    "index_put_dtype": """
x = torch.zeros(3)
x[torch.tensor([0, 1])] = torch.tensor([1, 2])
""",
    "assign_shape": """
x = torch.zeros(3, 4)
x[0] = torch.randn(3)
""",
    "assign_oob": """
x = torch.zeros(3, 4)
x[3, 0] = 1
""",
    "sum_dim_oob": """
y = torch.zeros(3, 4).sum(dim=2)
""",
    "list_sum_backward": """
losses = []
for x, y in loader:
    losses.append(criterion(model(x), y))
losses.backward()
""",
    "mean_list_losses": """
losses = [criterion(model(x), y) for x, y in loader]
loss = torch.mean(losses)
""",
    "total_item_call": """
total = 0
for x, y in loader:
    total += criterion(model(x), y).item()
print(total.item() / len(loader))
""",
    "correct_len": """
correct = 0
for x, y in loader:
    correct += (model(x).argmax(1) == y).sum()
print(correct / loader.size)
""",
    "dataset_attr": """
print(loader.dataset.data.shape)
""",
    "scheduler_list": """
sch = optim.lr_scheduler.MultiStepLR(optimizer, 30)
""",
    "seq_sched": """
a = optim.lr_scheduler.LinearLR(optimizer)
b = optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
s = optim.lr_scheduler.SequentialLR(optimizer, [a, b])
""",
    "subset_targets": """
train, val = torch.utils.data.random_split(ds, [48, 16])
print(train.tensors[0].shape)
""",
    "batch_dict_to": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {'x': X[i], 'y': Y[i]}
for batch in DataLoader(D(), batch_size=4):
    batch = batch.to('cpu')
    loss = criterion(model(batch['x']), batch['y'])
""",
    "batch_dict_key": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {'input': X[i], 'label': Y[i]}
for batch in DataLoader(D(), batch_size=4):
    loss = criterion(model(batch['inputs']), batch['label'])
""",
    "batch_dict_unpack": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return {'x': X[i], 'y': Y[i]}
for x, y in DataLoader(D(), batch_size=4):
    loss = criterion(model(x), y)
""",
    "batch_list_to": """
for batch in loader:
    batch = batch.to('cpu')
""",
    "batch_shape": """
for batch in loader:
    print(batch.shape)
""",
    "dataset_getitem_tuple_model": """
for batch in loader:
    out = model(batch)
""",
    "ds_return_numpy_int": """
import numpy as np
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return np.random.rand(10), np.int32(i % 3)
for x, y in DataLoader(D(), batch_size=4):
    loss = criterion(model(x), y)
""",
    "ds_labels_float": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return X[i], float(i % 3)
for x, y in DataLoader(D(), batch_size=4):
    loss = criterion(model(x), y)
""",
    "ds_labels_list": """
class D(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return X[i], [i % 3]
for x, y in DataLoader(D(), batch_size=4):
    loss = criterion(model(x), y)
""",
    "ds_missing_self": """
class D(Dataset):
    def __init__(self, x):
        x = x
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i]
d = DataLoader(D(X))
for b in d: pass
""",
    "ds_super_forgot_args": """
class D(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i], self.y[i]
d = D(X)
""",
    "loader_batchsize_kw": """
l = DataLoader(ds, batchsize=8)
""",
    "loader_workers_kw": """
l = DataLoader(ds, batch_size=8, workers=2)
""",
    "loader_prefetch_no_workers": """
l = DataLoader(ds, batch_size=8, prefetch_factor=2)
""",
    "loader_len_attr": """
print(len(loader.batches))
""",
    "label_onehot_ce_long": """
y = F.one_hot(Y, 3)
loss = criterion(model(X), y)
""",
    "label_unsqueezed": """
loss = criterion(model(X), Y.unsqueeze(1))
""",
    "label_out_of_range": """
loss = criterion(model(X[:4]), torch.tensor([0, 1, 2, 3]))
""",
    "label_negative": """
loss = criterion(model(X[:4]), torch.tensor([0, 1, -1, 2]))
""",
    "output_tuple_loss": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        h = self.fc(x)
        return h, h.mean()
loss = criterion(M()(X), Y)
""",
    "output_dict_loss": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        return {'logits': self.fc(x)}
loss = criterion(M()(X), Y)
""",
    "output_dict_attr": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        return {'logits': self.fc(x)}
loss = criterion(M()(X).logits, Y)
""",
    "forward_extra_arg": """
y = model(X, Y)
""",
    "forward_missing_arg": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(self, x, mask):
        return self.fc(x)
M()(X)
""",
    "init_missing_arg": """
class M(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(10, dim)
    def forward(self, x):
        return self.fc(x)
M()(X)
""",
    "super_init_parens": """
class M(nn.Module):
    def __init__(self):
        super().__init__
        self.fc = nn.Linear(10, 3)
M()
""",
    "self_layer_typo": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(10, 3)
    def forward(self, x):
        return self.liner(x)
M()(X)
""",
    "fc_after_conv": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 28 * 28, 10)
    def forward(self, x):
        return self.fc(F.relu(self.c(x)).flatten(1))
M()(torch.randn(2, 1, 28, 28))
""",
    "conv_channels_chain": """
net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(32, 64, 3))
net(torch.randn(1, 3, 32, 32))
""",
    "bn_wrong_features": """
net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(32))
net(torch.randn(1, 3, 32, 32))
""",
    "gray_image": """
net = nn.Conv2d(3, 16, 3)
net(torch.randn(4, 1, 28, 28))
""",
    "no_batch_linear_bn": """
net = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16))
net(torch.randn(10))
""",
    "seq_first_transformer": """
enc = nn.TransformerEncoderLayer(16, 2)
mask = torch.zeros(4, 7, dtype=torch.bool)
y = enc(torch.randn(4, 7, 16), src_key_padding_mask=mask)
""",
    "causal_mask_size": """
enc = nn.TransformerEncoderLayer(16, 2, batch_first=True)
mask = nn.Transformer.generate_square_subsequent_mask(8)
y = enc(torch.randn(4, 7, 16), src_mask=mask)
""",
    "pos_embed_len": """
pos = nn.Parameter(torch.zeros(1, 16, 32))
x = torch.randn(2, 17, 32)
y = x + pos
""",
    "embedding_dim_add": """
tok, pos = nn.Embedding(100, 32), nn.Embedding(64, 16)
ids = torch.randint(0, 100, (2, 10))
y = tok(ids) + pos(torch.arange(10))
""",
    "head_split": """
x = torch.randn(2, 10, 30)
q = x.view(2, 10, 4, 8)
""",
    "attention_scale": """
q = torch.randn(2, 4, 10, 8)
att = q @ q.transpose(-2, -1) / torch.sqrt(8)
""",
    "math_sqrt_tensor": """
import math
x = torch.randn(3).abs()
y = math.sqrt(x)
""",
    "math_log_multi": """
import math
p = torch.softmax(torch.randn(4), 0)
h = -(p * math.log(p)).sum()
""",
    "round_tensor_digits": """
acc = torch.tensor(0.1234)
print('%d' % 'acc')
""",
    "fstring_multi": """
loss = torch.randn(3)
print(f'{loss:.4f}')
""",
    "format_multi": """
loss = torch.randn(3)
print('{:.4f}'.format(loss))
""",
    "percent_multi": """
loss = torch.randn(3)
print('%.4f' % loss)
""",
    "concat_str_tensor": """
loss = torch.tensor(1.0)
print('loss: ' + loss)
""",
    "append_to_tensor": """
outs = torch.zeros(0)
outs.append(torch.randn(3))
""",
    "extend_list_cat": """
outs = []
for x, y in loader:
    outs = outs.append(model(x))
""",
    "cat_list_of_lists": """
outs = []
for i in range(3):
    outs.append([torch.randn(2)])
y = torch.cat(outs)
""",
    "stack_mixed": """
outs = [torch.zeros(2), 1.0]
y = torch.stack(outs)
""",
    "np_mean_list_tensors": """
import numpy as np
losses = [criterion(model(x), y) for x, y in loader]
print(np.mean(losses))
""",
    "np_array_tensors_grad": """
import numpy as np
outs = np.array(model(X))
""",
    "plt_plot_grad": """
import numpy as np
w = torch.randn(3, requires_grad=True)
np.asarray(w)
""",
    "tensor_from_grad": """
w = torch.randn(3, requires_grad=True)
v = w.numpy()
""",
    "item_on_vector_loss": """
loss = F.mse_loss(torch.randn(3), torch.randn(3), reduction='none')
print(loss.item())
""",
    "backward_vector": """
y = model(X)
y.backward()
""",
    "backward_grad_shape": """
y = model(X)
y.backward(torch.ones(3))
""",
    "grad_create": """
w = torch.randn(3, requires_grad=True)
g = torch.autograd.grad((w ** 2).sum(), w)
h = torch.autograd.grad(g[0].sum(), w)
""",
    "hessian_detached": """
x = torch.randn(3, requires_grad=True)
y = (x ** 2).sum()
y.backward()
z = x.grad * 2
z.sum().backward()
""",
    "step_no_backward_none": """
optimizer.step()
print(model.fc1.weight.grad.norm())
""",
    "grad_clip_none": """
for p in model.parameters():
    p.grad.clamp_(-1, 1)
""",
    "inplace_param": """
for p in model.parameters():
    p -= 0.1
""",
    "inplace_param_data_shape": """
model.fc1.weight.data = torch.zeros(3, 3)
model(X)
""",
    "weight_assign_tensor": """
model.fc1.weight = torch.zeros(16, 10)
""",
    "copy_wrong_shape": """
with torch.no_grad():
    model.fc1.weight.copy_(torch.zeros(10, 16))
""",
    "replace_head_features": """
model.fc2 = nn.Linear(32, 5)
model(X)
""",
    "tie_weights_shape": """
a, b = nn.Embedding(100, 32), nn.Linear(32, 50, bias=False)
b.weight = a.weight
loss = F.cross_entropy(b(torch.randn(4, 32)), torch.randint(0, 50, (4,)))
c = nn.Linear(16, 100)
c.weight = a.weight
c(torch.randn(2, 16))
""",
    "ema_keys": """
ema = {k: v.clone() for k, v in model.state_dict().items()}
for name, p in model.named_parameters():
    ema['module.' + name].mul_(0.9)
""",
    "load_prefix": """
state = {'module.' + k: v for k, v in model.state_dict().items()}
model.load_state_dict(state)
""",
    "load_pop": """
state = model.state_dict()
state.pop('fc2.weight')
model.load_state_dict(state)
""",
    "opt_load_model_state": """
optimizer.load_state_dict(model.state_dict())
""",
    "sched_optimizer_missing": """
sch = optim.lr_scheduler.StepLR(step_size=10)
""",
    "sched_gamma_list": """
sch = optim.lr_scheduler.MultiStepLR(optimizer, milestones=30)
""",
    "cosine_args": """
sch = optim.lr_scheduler.CosineAnnealingLR(optimizer)
""",
    "onecycle_too_many": """
sch = optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=4)
for epoch in range(2):
    for x, y in loader:
        optimizer.step()
        sch.step()
""",
    "warmup_div": """
sch = optim.lr_scheduler.LambdaLR(optimizer, lambda e: 1 / e)
""",
    "adam_betas": """
o = optim.Adam(model.parameters(), betas=0.9)
""",
    "adam_betas_range": """
o = optim.Adam(model.parameters(), betas=(0.9, 1.1))
""",
    "sgd_nesterov": """
o = optim.SGD(model.parameters(), lr=0.1, nesterov=True)
""",
    "opt_str_lr": """
o = optim.Adam(model.parameters(), lr='1e-3')
""",
    "opt_empty": """
o = optim.Adam([], lr=1e-3)
""",
    "opt_frozen_filter": """
for p in model.parameters():
    p.requires_grad = False
o = optim.Adam(filter(lambda p: p.requires_grad, model.parameters()))
""",
    "opt_tuple_params": """
o = optim.Adam((model.fc1.parameters(), model.fc2.parameters()))
""",
    "opt_tensor": """
z = torch.randn(3, requires_grad=True)
o = optim.Adam(z, lr=0.1)
""",
    "opt_nonleaf": """
z = torch.randn(3, requires_grad=True) * 2
o = optim.Adam([z], lr=0.1)
""",
    "unfold_args": """
x = torch.randn(1, 1, 8)
y = x.unfold(2, 9, 1)
""",
    "as_strided_oob": """
x = torch.randn(4)
y = x.as_strided((3, 3), (1, 1))
""",
    "narrow_oob": """
x = torch.randn(4, 5)
y = x.narrow(1, 3, 3)
""",
    "select_oob": """
x = torch.randn(4, 5)
y = x.select(0, 4)
""",
    "index_select_float": """
x = torch.randn(4, 5)
y = x.index_select(0, torch.tensor([0., 1.]))
""",
    "take_along": """
x = torch.randn(4, 5)
y = torch.take_along_dim(x, x.argsort(1), 2)
""",
    "cumsum_missing": """
y = torch.cumsum(torch.randn(3))
""",
    "flip_missing": """
y = torch.flip(torch.randn(3))
""",
    "roll_dims": """
y = torch.roll(torch.randn(3, 4), shifts=(1, 1), dims=(0,))
""",
    "tile_neg": """
y = torch.randn(3).repeat(2, -1)
""",
    "meshgrid_stack": """
a, b = torch.meshgrid(torch.arange(3), torch.arange(4), indexing='ij')
y = torch.stack([a, b.t()])
""",
    "outer_2d": """
y = torch.outer(torch.randn(3, 2), torch.randn(4))
""",
    "dot_2d": """
y = torch.dot(torch.randn(3, 2), torch.randn(3, 2))
""",
    "mv_shape": """
y = torch.mv(torch.randn(3, 4), torch.randn(3))
""",
    "cross_dim": """
y = torch.linalg.cross(torch.randn(4, 2), torch.randn(4, 2))
""",
    "inverse_nonsquare": """
y = torch.inverse(torch.randn(3, 4))
""",
    "cholesky_nonsquare": """
y = torch.linalg.cholesky(torch.randn(3, 4))
""",
    "solve_shape": """
y = torch.linalg.solve(torch.randn(3, 3), torch.randn(4))
""",
    "lstsq": """
y = torch.linalg.lstsq(torch.randn(5, 3), torch.randn(4, 1))
""",
    "diag_embed": """
y = torch.diag(torch.randn(2, 3, 3))
""",
    "cdist": """
y = torch.cdist(torch.randn(4, 3), torch.randn(5, 2))
""",
    "bincount_float": """
y = torch.bincount(torch.tensor([0., 1., 2.]))
""",
    "histc_int": """
y = torch.randn(3).histc(bins='10')
""",
    "scatter_add_dtype": """
y = torch.zeros(4).scatter_add_(0, torch.tensor([0, 1]), torch.tensor([1, 2]))
""",
    "scatter_oob": """
y = torch.zeros(3).scatter_(0, torch.tensor([0, 3]), 1.0)
""",
    "one_hot_negative": """
y = F.one_hot(torch.tensor([0, -1]))
""",
    "cross_entropy_label_smoothing": """
loss = nn.CrossEntropyLoss(label_smoothing=1.5)(model(X), Y)
""",
    "dropout_p": """
d = nn.Dropout(1.5)
""",
    "gumbel_args": """
y = F.gumbel_softmax(torch.randn(3, 4), temperature=0.5)
""",
    "normalize_dim": """
y = F.normalize(torch.randn(5), dim=1)
""",
    "layer_norm_fn": """
y = F.layer_norm(torch.randn(2, 5), 10)
""",
    "conv_fn_weight": """
y = F.conv2d(torch.randn(1, 3, 8, 8), torch.randn(8, 1, 3, 3))
""",
    "linear_fn_weight": """
y = F.linear(torch.randn(4, 10), torch.randn(10, 5))
""",
    "pixel_unshuffle": """
y = nn.PixelUnshuffle(3)(torch.randn(1, 3, 8, 8))
""",
    "avgpool_str": """
y = nn.AvgPool2d('2')(torch.randn(1, 3, 8, 8))
""",
    "adaptive_3": """
y = nn.AdaptiveAvgPool2d((1, 1, 1))(torch.randn(1, 3, 8, 8))
""",
    "zeropad": """
y = nn.ZeroPad2d((1, 1, 1))(torch.randn(1, 3, 8, 8))
""",
    "upsample_both": """
y = nn.Upsample(size=4, scale_factor=2)(torch.randn(1, 3, 8, 8))
""",
    "identity_unknown": """
act = {'relu': nn.ReLU, 'gelu': nn.GELU}['selu']
""",
    "getattr_optim": """
o = getattr(optim, 'adam')(model.parameters())
""",
    "act_inplace_arg": """
y = nn.ReLU(X)
z = y + 1
""",
    "sigmoid_class": """
y = nn.Sigmoid(model(X))
print(y.shape)
""",
    "torch_relu_inplace": """
y = torch.relu(X, inplace=True)
""",
    "softmax_no_dim_kw": """
y = X.softmax()
""",
    "clip_value_missing": """
nn.utils.clip_grad_value_(model.parameters())
""",
    "vector_to_params": """
nn.utils.vector_to_parameters(torch.zeros(5), model.parameters())
""",
    "set_device_str": """
d = torch.device('cuda:x')
""",
    "cuda_index_str": """
x = torch.zeros(3).to('cpu:0:1')
""",
    "manual_seed_str": """
torch.manual_seed('42')
""",
    "arange_args": """
y = torch.arange(0, 10, 0)
""",
    "arange_neg": """
y = torch.arange(10, 0)
""",
    "linspace_neg": """
y = torch.linspace(0, 1, -5)
""",
    "randperm_float": """
y = torch.randperm(10.0)
""",
    "randint_rev": """
y = torch.randint(10, 0, (3,))
""",
    "bernoulli_range": """
y = torch.bernoulli(torch.tensor([0.5, 1.5]))
""",
    "empty_neg": """
y = torch.zeros(3, -1)
""",
    "tensor_kw": """
y = torch.Tensor([1, 2], dtype=torch.float32)
""",
    "from_numpy_str": """
import numpy as np
y = torch.from_numpy(np.array(['a', 'b']))
""",
    "from_numpy_obj": """
import numpy as np
y = torch.tensor(np.array([1, None]))
""",
    "numpy_index_tensor": """
import numpy as np
a = np.zeros((4, 5))
y = torch.cat([torch.tensor(a), torch.zeros(3, 5)], 1)
""",
    "where_dtype_cond": """
y = torch.where(torch.tensor([1, 0]), torch.ones(2), torch.zeros(2))
""",
    "masked_select_shape": """
y = torch.masked_select(torch.randn(3, 4), torch.ones(4, 3).bool())
""",
    "argmax_dim_oob": """
y = torch.randn(4).argmax(dim=1)
""",
    "max_two_outputs": """
v, i = torch.randn(4, 5).max()
""",
    "topk_unpack": """
a, b, c = torch.randn(4, 5).topk(2)
""",
    "sort_index": """
s = torch.randn(5).sort()
y = s[2]
""",
    "unique_unpack": """
u, c = torch.tensor([1, 1, 2]).unique()
""",
    "nonzero_tuple": """
r, c = torch.eye(3).nonzero()
""",
    "size_unpack": """
h, w, c = torch.randn(8, 3, 32, 32).size()
""",
    "shape_index": """
c = torch.randn(8, 3).shape[2]
""",
    "len_scalar": """
n = len(torch.tensor(3.0))
""",
    "iter_scalar": """
for v in torch.tensor(3.0):
    print(v)
""",
    "index_scalar": """
v = torch.tensor(3.0)[0]
""",
    "too_many_idx": """
v = torch.randn(3, 4)[0, 0, 0]
""",
    "neg_step": """
v = torch.randn(5)[::-1]
""",
    "slice_float": """
v = torch.randn(10)[: 10 / 2]
""",
    "int_div_range": """
for i in range(len(X) / 8):
    pass
""",
    "list_mul_float": """
xs = [0] * (10 / 2)
""",
}
SILENT = {
    "dropout_functional_eval": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        return self.fc(F.dropout(x, 0.5))
m = M()
m.eval()
with torch.no_grad():
    p = m(X)
""",
    "softmax_ce": """
net = nn.Sequential(nn.Linear(10, 3), nn.Softmax(dim=1))
opt = optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    loss = nn.CrossEntropyLoss()(net(x), y)
    loss.backward()
    opt.step()
""",
    "sigmoid_bcelogits": """
net = nn.Sequential(nn.Linear(10, 1), nn.Sigmoid())
loss = nn.BCEWithLogitsLoss()(net(X), (Y > 0).float().unsqueeze(1))
loss.backward()
""",
    "mse_broadcast": """
net = nn.Linear(10, 1)
loss = F.mse_loss(net(X), Y.float())
loss.backward()
""",
    "zero_grad_never": """
for epoch in range(3):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
""",
    "step_never": """
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
""",
    "step_in_outer": """
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
    optimizer.step()
""",
    "no_eval_val": """
net = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
opt = optim.Adam(net.parameters())
for epoch in range(2):
    net.train()
    for x, y in loader:
        opt.zero_grad()
        F.cross_entropy(net(x), y).backward()
        opt.step()
    with torch.no_grad():
        correct = 0
        for x, y in loader:
            correct += (net(x).argmax(1) == y).sum().item()
""",
    "loss_graph_kept": """
total = 0
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss
""",
    "opt_other_model": """
other = Net()
opt = optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    criterion(other(x), y).backward()
    opt.step()
""",
    "list_layers": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(10, 10) for _ in range(3)]
        self.head = nn.Linear(10, 3)
    def forward(self, x):
        for l in self.layers:
            x = F.relu(l(x))
        return self.head(x)
m = M()
opt = optim.SGD(m.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    criterion(m(x), y).backward()
    opt.step()
""",
    "layer_in_forward": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 8)
    def forward(self, x):
        return nn.Linear(8, 3)(F.relu(self.fc(x)))
m = M()
opt = optim.SGD(m.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    criterion(m(x), y).backward()
    opt.step()
""",
    "detached_loss": """
for x, y in loader:
    optimizer.zero_grad()
    out = model(x).detach().requires_grad_()
    criterion(out, y).backward()
    optimizer.step()
""",
    "tensor_rewrap": """
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.tensor(criterion(model(x), y).item(), requires_grad=True)
    loss.backward()
    optimizer.step()
""",
    "sched_order": """
sch = optim.lr_scheduler.StepLR(optimizer, 1)
for epoch in range(3):
    sch.step()
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
""",
    "softmax_dim0": """
p = F.softmax(model(X), dim=0)
pred = p.argmax(1)
""",
    "log_softmax_softmax_nll": """
loss = F.nll_loss(F.softmax(model(X), dim=1), Y)
loss.backward()
""",
    "kl_no_log": """
loss = F.kl_div(F.softmax(model(X), 1), F.softmax(torch.randn(64, 3), 1), reduction='batchmean')
loss.backward()
""",
    "shuffle_false_train": """
train_loader = DataLoader(ds, batch_size=8)
for epoch in range(3):
    for x, y in train_loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
""",
    "no_grad_whole_train": """
for x, y in loader:
    optimizer.zero_grad()
    with torch.no_grad():
        feats = model.fc1(x)
    criterion(model.fc2(feats), y).backward()
    optimizer.step()
""",
    "clip_after_step": """
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
""",
    "hidden_forever": """
rnn, head = nn.LSTM(10, 16, batch_first=True), nn.Linear(16, 3)
opt = optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
h = None
for x, y in loader:
    opt.zero_grad()
    out, h = rnn(x.unsqueeze(1), h)
    criterion(head(out[:, -1]), y).backward(retain_graph=True)
    opt.step()
""",
    "view_instead_of_permute": """
img = torch.randn(4, 32, 32, 3)
y = nn.Conv2d(3, 8, 3)(img.view(4, 3, 32, 32))
""",
    "reshape_seq_batch": """
seq = torch.randn(7, 4, 10)
x = seq.reshape(4, 7, 10)
out, h = nn.LSTM(10, 16, batch_first=True)(x)
""",
    "require_grad_typo": """
for p in model.fc1.parameters():
    p.require_grad = False
""",
    "lr_assign": """
for epoch in range(3):
    optimizer.lr = 0.01
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
""",
    "target_net_alias": """
target = model
for x, y in loader:
    optimizer.zero_grad()
    with torch.no_grad():
        t = target(x)
    F.mse_loss(model(x), t).backward()
    optimizer.step()
""",
    "best_state_alias": """
best = model.state_dict()
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
model.load_state_dict(best)
""",
    "to_not_assigned": """
x = torch.randn(3)
x.to(torch.float64)
y = x + 1
""",
    "detach_no_assign": """
h = model(X)
h.detach()
z = h * 2
""",
    "seed_in_loop": """
for epoch in range(3):
    torch.manual_seed(0)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
""",
    "grad_accum_no_div": """
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
""",
    "optimizer_in_loop": """
for epoch in range(3):
    for x, y in loader:
        opt = optim.Adam(model.parameters(), lr=1e-3)
        opt.zero_grad()
        criterion(model(x), y).backward()
        opt.step()
""",
    "train_never_back": """
net = nn.Sequential(nn.Linear(10, 32), nn.Dropout(0.5), nn.Linear(32, 3))
opt = optim.Adam(net.parameters())
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        criterion(net(x), y).backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        net(X)
""",
    "eval_then_no_train_fn": """
def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(ds)
net = nn.Sequential(nn.Linear(10, 32), nn.Dropout(0.5), nn.Linear(32, 3))
opt = optim.Adam(net.parameters())
net.train()
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad()
        criterion(net(x), y).backward()
        opt.step()
    evaluate(net, loader)
""",
    "val_loop_steps": """
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
    model.eval()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    model.train()
""",
    "frozen_but_trained_wrong_attr": """
model.fc1.requires_grad = False
for x, y in loader:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
""",
    "criterion_on_argmax": """
for x, y in loader:
    optimizer.zero_grad()
    loss = F.l1_loss(model(x).argmax(1).float(), y.float())
    loss.requires_grad = True
    loss.backward()
    optimizer.step()
""",
    "new_head_after_optimizer": """
opt = optim.SGD(model.parameters(), lr=0.1)
model.fc2 = nn.Linear(16, 3)
for x, y in loader:
    opt.zero_grad()
    criterion(model(x), y).backward()
    opt.step()
""",
    "relu_output_ce": """
net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3), nn.ReLU())
opt = optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    criterion(net(x), y).backward()
    opt.step()
""",
    "scheduler_per_batch": """
sch = optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)
for epoch in range(90):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
        sch.step()
""",
    "acc_divided_by_batches": """
correct = 0
for x, y in loader:
    correct += (model(x).argmax(1) == y).sum().item()
print(correct / len(loader))
""",
    "loss_sum_by_dataset": """
total = 0
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    total += loss.item()
print(total / len(loader.dataset))
""",
    "dropout_2d_eval_functional": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        return self.fc(F.dropout(F.relu(x), p=0.2))
net = M()
opt = optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    criterion(net(x), y).backward()
    opt.step()
net.eval()
with torch.no_grad():
    net(X)
""",
    "tensor_not_buffer_cuda": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(10)
        self.fc = nn.Linear(10, 3)
    def forward(self, x):
        return self.fc(x * self.scale)
device = 'cuda' if torch.cuda.is_available() else 'cpu'
net = M().to(device)
out = net(X.to(device))
""",
    "bce_on_logits_no_sigmoid": """
net = nn.Linear(10, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    opt.zero_grad()
    p = net(x).squeeze(1)
    loss = ((p - y.float()) ** 2).mean() + F.binary_cross_entropy_with_logits(torch.sigmoid(p), (y > 0).float())
    loss.backward()
    opt.step()
""",
    "gan_fake_not_detached": """
G, D = nn.Linear(4, 10), nn.Linear(10, 1)
og, od = optim.Adam(G.parameters()), optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for x, y in loader:
    z = torch.randn(8, 4)
    fake = G(z).detach()
    od.zero_grad()
    (bce(D(x), torch.ones(8, 1)) + bce(D(fake), torch.zeros(8, 1))).backward()
    od.step()
    og.zero_grad()
    bce(D(fake), torch.ones(8, 1)).backward()
    og.step()
""",
    "vae_mean_kl_dim": """
mu, logvar = torch.randn(8, 4, requires_grad=True), torch.randn(8, 4, requires_grad=True)
kld = 0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
loss = F.mse_loss(torch.zeros(8, 4), mu) + kld
loss.backward()
""",
    "policy_loss_sign": """
probs = F.softmax(model(X), 1)
dist = torch.distributions.Categorical(probs)
a = dist.sample()
r = torch.randn(64)
loss = (dist.log_prob(a) * r).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
""",
    "attention_softmax_dim": """
q, k, v = torch.randn(2, 4, 10, 8), torch.randn(2, 4, 10, 8), torch.randn(2, 4, 10, 8)
att = torch.softmax(q @ k.transpose(-2, -1), dim=1)
y = att @ v
""",
    "mask_after_softmax": """
s = torch.randn(2, 10, 10)
mask = torch.tril(torch.ones(10, 10))
a = torch.softmax(s, -1).masked_fill(mask == 0, float('-inf'))
y = a @ torch.randn(2, 10, 8)
""",
    "gradient_clip_before_backward": """
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss.backward()
    optimizer.step()
""",
    "zero_grad_between": """
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
""",
    "repeat_module_list": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(10, 10)] * 4)
        self.head = nn.Linear(10, 3)
    def forward(self, x):
        for l in self.layers:
            x = torch.relu(l(x))
        return self.head(x)
m = M()
""",
    "test_uses_train_loader_shuffle": """
test_loader = DataLoader(ds, batch_size=8, shuffle=True)
preds = []
with torch.no_grad():
    for x, _ in test_loader:
        preds.append(model(x).argmax(1))
acc = (torch.cat(preds) == Y).float().mean()
""",
}
