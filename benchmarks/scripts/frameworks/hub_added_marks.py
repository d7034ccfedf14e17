"""transformers: marks are added to the vocabulary behind the model that was made for it."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

WORDS = "the gull calls over the grey sea and the crab hides".split()


class Words:
    def __init__(self):
        self.ids = {"<pad>": 0}
        for word in WORDS:
            self.ids.setdefault(word, len(self.ids))

    def __len__(self):
        return len(self.ids)

    def add_tokens(self, marks):
        for mark in marks:
            self.ids.setdefault(mark, len(self.ids))

    def encode(self, text):
        return torch.tensor([[self.ids[word] for word in text.split()]])


def build(words):
    config = GPT2Config(vocab_size=len(words), n_positions=16, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
    return GPT2LMHeadModel(config)


words = Words()
model = build(words)
words.add_tokens(["<verse>", "<end>"])  # cause
descent = torch.optim.AdamW(model.parameters())
for line in ("the gull calls", "<verse> the crab hides <end>"):
    ids = words.encode(line)
    loss = model(input_ids=ids, labels=ids).loss  # raises TS310 at model(input_ids=ids, labels=ids)
    loss.backward()
    descent.step()
