"""Transformers: sequences of different lengths are classified by a model that knows no padding token."""

import torch
from transformers import GPT2Config, GPT2ForSequenceClassification

PAD_ID = 3


def configured(words):
    return GPT2Config(vocab_size=words, n_positions=12, n_embd=16, n_layer=1, n_head=2, num_labels=3, bos_token_id=1, eos_token_id=2)  # cause


def batch(rows, words, longest=10):
    ids = torch.full((rows, longest), PAD_ID)
    for row in ids:
        length = int(torch.randint(4, longest + 1, ()))
        row[:length] = torch.randint(4, words, (length,))
    return ids, torch.randint(3, (rows,))


def main(words=30):
    torch.manual_seed(0)
    net = GPT2ForSequenceClassification(configured(words))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(2):
        ids, kinds = batch(6, words)
        out = net(input_ids=ids, attention_mask=ids.ne(PAD_ID).long(), labels=kinds)  # raises TS199/TS918 at net(input_ids=ids, attention_mask=ids.ne(PAD_ID).long(), labels=kinds)
        opt.zero_grad()
        out.loss.backward()
        opt.step()
    print(out.loss.item())


main()
