import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
PAD, EOS = 0, 1


def make_pair():
    source = torch.randint(2, 40, (int(torch.randint(3, 12, (1,))),))
    target = torch.cat([source.flip(0), torch.tensor([EOS])])
    return source, target


def collate(pairs):
    sources, targets = zip(*pairs)
    input_ids = pad_sequence(sources, batch_first=True, padding_value=PAD)
    labels = pad_sequence(targets, batch_first=True, padding_value=-100)
    return {"input_ids": input_ids, "attention_mask": (input_ids != PAD).long(), "labels": labels}


loader = DataLoader([make_pair() for _ in range(128)], batch_size=16, shuffle=True, collate_fn=collate)
config = T5Config(
    vocab_size=40, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=PAD, pad_token_id=PAD
)
model = T5ForConditionalGeneration(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for batch in loader:
    optimizer.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
