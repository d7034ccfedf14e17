from tokenizers import Tokenizer, models, pre_tokenizers
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

tweets = ["good morning world", "so tired of rain", "best coffee in town", "rain again"]
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]"] + sorted({w for t in tweets for w in t.split()}))}
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")


class TweetDataset(Dataset):
    def __len__(self):
        return len(tweets)

    def __getitem__(self, i):
        enc = tokenizer(tweets[i], padding="max_length", max_length=8, truncation=True, return_tensors="pt")
        return enc["input_ids"].squeeze(0), enc["attention_mask"].squeeze(0)


config = BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
model = BertModel(config).eval()
for input_ids, attention_mask in DataLoader(TweetDataset(), batch_size=2):
    with torch.no_grad():
        print(model(input_ids=input_ids, attention_mask=attention_mask).pooler_output.shape)
