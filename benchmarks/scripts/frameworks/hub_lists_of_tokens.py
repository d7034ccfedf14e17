"""transformers: the tokenizer is not told to give tensors."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

words = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "calm", "rough", "sea", "sky"])}
core = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")


class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        config = BertConfig(vocab_size=6, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
        self.body, self.head = BertModel(config), torch.nn.Linear(8, 2)

    def forward(self, batch):
        read = self.body(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])  # raises TS199/TS825 at self.body(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])
        return self.head(read.last_hidden_state[:, 0])


def batches():
    for texts, kinds in ((["calm sea", "rough sea sky"], [0, 1]), (["calm", "rough"], [0, 1])):
        yield tokenizer(texts, padding=True), torch.tensor(kinds)  # cause


reader = Reader()
descent = torch.optim.SGD(reader.parameters(), lr=0.1)
for batch, kinds in batches():
    loss = torch.nn.functional.cross_entropy(reader(batch), kinds)
    descent.zero_grad()
    loss.backward()
    descent.step()
