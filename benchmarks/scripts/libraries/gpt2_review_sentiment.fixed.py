import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2ForSequenceClassification, PreTrainedTokenizerFast

words = "<pad> <unk> i loved this film it was dull and far too long what a joy".split()
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(dict.fromkeys(words))}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>")

reviews = ["i loved this film", "it was dull and far too long", "what a joy"]
labels = torch.tensor([1, 0, 1])
enc = tokenizer(reviews, padding=True, return_tensors="pt")

config = GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, num_labels=2)
model = GPT2ForSequenceClassification(config)
model.config.pad_token_id = tokenizer.pad_token_id
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

for epoch in range(3):
    out = model(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"], labels=labels)
    out.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(epoch, out.loss.item())
