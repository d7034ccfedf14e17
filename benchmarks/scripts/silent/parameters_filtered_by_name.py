"""Parameter groups by name: one name pattern matches nothing that it should."""
import torch
from torch import nn

torch.manual_seed(0)


class Tagger(nn.Module):
    def __init__(self, vocabulary=50, tags=5):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, 16)
        self.rnn = nn.GRU(16, 24, batch_first=True)
        self.out = nn.Linear(24, tags)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.out(hidden)


def groups(model, decay):
    named = list(model.named_parameters())
    wanted = [(n, p) for n, p in named if n.startswith(("embedding", "rnn", "out"))]  # fixed: wanted = named
    return [
        {"params": [p for n, p in wanted if "bias" not in n], "weight_decay": decay},
        {"params": [p for n, p in wanted if "bias" in n], "weight_decay": 0.0},
    ]


model = Tagger()
optimizer = torch.optim.AdamW(groups(model, 0.01), lr=1e-2)  # fault: TS512
for step in range(60):
    ids = torch.randint(0, 50, (16, 12))
    logits = model(ids)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), (ids % 5).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
