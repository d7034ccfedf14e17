import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

sentences = [["dogs", "chase", "cats"], ["birds", "sing", "songs"], ["cats", "sing", "songs"]]
tags = [[0, 1, 0], [0, 1, 0], [0, 1, 0]]

vocab = {t: i for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + sorted({w for s in sentences for w in s}))}
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")

enc = tokenizer(sentences, is_split_into_words=True, padding=True, return_tensors="pt")
labels = torch.full_like(enc["input_ids"], -100)
for i, word_tags in enumerate(tags):
    for position, word in enumerate(enc.word_ids(i)):
        if word is not None:
            labels[i, position] = word_tags[word]

torch.manual_seed(0)
config = BertConfig(
    vocab_size=len(vocab), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=2
)
model = BertForTokenClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(60):
    optimizer.zero_grad()
    out = model(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"], labels=labels)
    out.loss.backward()
    optimizer.step()
print(out.loss.item())
