"""The causal mask is made for the target before its last token is cut."""
import torch
from torch import nn

class Translator(nn.Module):
    def __init__(self, vocab=40, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.body = nn.Transformer(dim, 4, 1, 1, 64, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def forward(self, src, tgt, mask):
        return self.head(self.body(self.embed(src), self.embed(tgt), tgt_mask=mask))  # raises TS111 at self.body(self.embed(src), self.embed(tgt), tgt_mask=mask)

model = Translator()
opt = torch.optim.Adam(model.parameters())
for _ in range(2):
    src, tgt = torch.randint(0, 40, (4, 9)), torch.randint(0, 40, (4, 7))
    mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))  # cause
    out = model(src, tgt[:, :-1], mask)
    loss = nn.functional.cross_entropy(out.flatten(0, 1), tgt[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
