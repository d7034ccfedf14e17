from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForTokenClassification, DataCollatorWithPadding, PreTrainedTokenizerFast

sentences = [["anna", "lives", "in", "oslo"], ["paris", "is", "lovely"], ["call", "ben", "in", "the", "morning"]]
tags = [[1, 0, 0, 2], [2, 0, 0], [0, 1, 0, 0, 0]]

vocab = {"[PAD]": 0, "[UNK]": 1}
for sentence in sentences:
    for word in sentence:
        vocab.setdefault(word, len(vocab))
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")

features = [
    {"input_ids": tokenizer(words, is_split_into_words=True)["input_ids"], "labels": labels}
    for words, labels in zip(sentences, tags)
]
collator = DataCollatorWithPadding(tokenizer)
loader = DataLoader(features, batch_size=3, collate_fn=collator)

config = BertConfig(
    vocab_size=len(vocab), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=3
)
model = BertForTokenClassification(config)
for batch in loader:
    print(model(**batch).loss.item())
