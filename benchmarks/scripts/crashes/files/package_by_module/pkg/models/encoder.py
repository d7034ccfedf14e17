from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, 2)

    def forward(self, ids, mask):
        h = self.layers(self.embed(ids), src_key_padding_mask=mask)  # raises TS111 at self.layers(self.embed(ids), src_key_padding_mask=mask), cause
        return self.out(h.mean(1))
