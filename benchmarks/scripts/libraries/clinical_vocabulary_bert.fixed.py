import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

vocab = {w: i for i, w in enumerate("[PAD] [UNK] [CLS] [SEP] patient shows signs of no acute".split())}
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")

config = BertConfig(
    vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
)
model = BertForSequenceClassification(config)

new_terms = ["tachycardia", "hypoxia", "edema"]
tokenizer.add_tokens(new_terms)
model.resize_token_embeddings(len(tokenizer))

notes = ["patient shows signs of hypoxia", "no acute edema"]
batch = tokenizer(notes, padding=True, return_tensors="pt")
outputs = model(
    input_ids=batch["input_ids"],
    attention_mask=batch["attention_mask"],
    labels=torch.tensor([1, 0]),
)
print(outputs.loss.item())
