"""Encoder-decoder over torch.nn.Transformer."""
import torch
from torch import nn

from data import PAD
from .embedding import PositionalEncoding, TokenEmbedding


class Seq2SeqTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.src_embed = TokenEmbedding(cfg.vocab_size, cfg.d_model, PAD)
        self.tgt_embed = TokenEmbedding(cfg.vocab_size, cfg.d_model, PAD)
        self.positional = PositionalEncoding(cfg.d_model, cfg.dropout, cfg.max_len)
        self.transformer = nn.Transformer(
            d_model=cfg.d_model,
            nhead=cfg.nhead,
            num_encoder_layers=cfg.num_layers,
            num_decoder_layers=cfg.num_layers,
            dim_feedforward=cfg.dim_feedforward,
            dropout=cfg.dropout,
            batch_first=True,
        )
        self.generator = nn.Linear(cfg.d_model, cfg.vocab_size)

    def forward(self, src, tgt):
        causal = torch.triu(torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool, device=tgt.device), diagonal=1)
        src_mask = src == PAD
        out = self.transformer(
            self.positional(self.src_embed(src)),
            self.positional(self.tgt_embed(tgt)),
            tgt_mask=causal,
            src_key_padding_mask=src_mask,
            tgt_key_padding_mask=tgt == PAD,
            memory_key_padding_mask=src_mask,
        )
        return self.generator(out)
