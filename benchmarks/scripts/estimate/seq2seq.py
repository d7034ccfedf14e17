"""nn.Transformer from sequence to sequence, with masks."""

import torch
from torch import nn


class Seq2Seq(nn.Module):
    def __init__(self, src_vocab=800, tgt_vocab=900, d=64):
        super().__init__()
        self.src = nn.Embedding(src_vocab, d, padding_idx=0)
        self.tgt = nn.Embedding(tgt_vocab, d, padding_idx=0)
        self.transformer = nn.Transformer(d, nhead=4, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=128, batch_first=True)
        self.generator = nn.Linear(d, tgt_vocab)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        hidden = self.transformer(self.src(src), self.tgt(tgt), tgt_mask=mask)
        return self.generator(hidden)


net = Seq2Seq()
opt = torch.optim.Adam(net.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
ce = nn.CrossEntropyLoss(ignore_index=0)
for step in range(3):
    src = torch.randint(1, 800, (8, 30))
    tgt = torch.randint(1, 900, (8, 25))
    logits = net(src, tgt[:, :-1])
    loss = ce(logits.reshape(-1, logits.shape[-1]), tgt[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
