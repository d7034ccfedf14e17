import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

texts = ["rain today", "the quick brown fox jumps over the lazy dog near the river", "rain today"]
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]"] + sorted({w for t in texts for w in t.split()}))}
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")

torch.manual_seed(0)
model = BertModel(
    BertConfig(vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
).eval()


def embed(sentences):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    with torch.no_grad():
        return model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state[:, 0]


index = embed(texts[:2])
query = embed(texts[2:])
print(torch.cosine_similarity(query, index))
