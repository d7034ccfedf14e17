"""Language model on characters; clipping comes too late."""
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

text = "the quick brown fox jumps over the lazy dog " * 20
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
torch.manual_seed(0)
embed, rnn, out = nn.Embedding(len(chars), 16), nn.GRU(16, 32, batch_first=True), nn.Linear(32, len(chars))
params = [*embed.parameters(), *rnn.parameters(), *out.parameters()]
opt = torch.optim.Adam(params, lr=5e-3)
for step in range(60):
    starts = torch.randint(0, len(ids) - 17, (16,))
    window = torch.stack([ids[s : s + 17] for s in starts])
    hidden, _ = rnn(embed(window[:, :-1]))
    loss = nn.functional.cross_entropy(out(hidden).transpose(1, 2), window[:, 1:])
    opt.zero_grad()
    loss.backward()
    # fixed: clip_grad_norm_(params, 1.0)
    opt.step()
    clip_grad_norm_(params, 1.0)  # fault: TS509 | fixed: pass
    if step % 20 == 0:
        print(step, loss.item())
