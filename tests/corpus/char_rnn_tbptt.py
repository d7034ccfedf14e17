"""Character-level GRU trained by truncated backpropagation through time, then sampled from."""
import torch
from torch import nn
from torch.nn import functional as F

text = "the quick brown fox jumps over the lazy dog. " * 12
vocab = sorted(set(text))
stoi = {ch: i for i, ch in enumerate(vocab)}
itos = {i: ch for ch, i in stoi.items()}

HIDDEN = 48
LAYERS = 2
SEQ_LEN = 20
BATCH = 6


class CharRNN(nn.Module):
    def __init__(self, n_vocab, n_hidden, n_layers, dropout=0.1):
        super().__init__()
        self.n_hidden = n_hidden
        self.n_layers = n_layers
        self.embed = nn.Embedding(n_vocab, 24)
        self.gru = nn.GRU(24, n_hidden, n_layers, batch_first=True, dropout=dropout)
        self.head = nn.Linear(n_hidden, n_vocab)

    def forward(self, tokens, hidden=None):
        emb = self.embed(tokens)
        if hidden is None:
            hidden = self.init_hidden(tokens.size(0))
        out, hidden = self.gru(emb, hidden)
        return self.head(out), hidden

    def init_hidden(self, batch_size):
        weight = next(self.parameters())
        return weight.new_zeros(self.n_layers, batch_size, self.n_hidden)


def batchify(ids, batch_size):
    n = len(ids) // batch_size
    return torch.tensor(ids[: n * batch_size]).view(batch_size, n)


def chunks(data, seq_len):
    for start in range(0, data.size(1) - 1 - seq_len, seq_len):
        x = data[:, start:start + seq_len]
        y = data[:, start + 1:start + 1 + seq_len]
        yield x, y


@torch.no_grad()
def sample(model, prompt, length=30, temperature=0.8):
    model.eval()
    out = list(prompt)
    hidden = None
    tokens = torch.tensor([[stoi[c] for c in prompt]])
    for _ in range(length):
        logits, hidden = model(tokens, hidden)
        probs = F.softmax(logits[0, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1).item()
        out.append(itos[nxt])
        tokens = torch.tensor([[nxt]])
    model.train()
    return "".join(out)


torch.manual_seed(1)
ids = [stoi[c] for c in text]
data = batchify(ids, BATCH)
model = CharRNN(len(vocab), HIDDEN, LAYERS)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(2):
    h = model.init_hidden(BATCH)
    for x, y in chunks(data, SEQ_LEN):
        h = h.detach()
        logits, h = model(x, h)
        loss = F.cross_entropy(logits.reshape(-1, len(vocab)), y.reshape(-1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
print(sample(model, "the "))
