import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForQuestionAnswering, PreTrainedTokenizerFast

contexts = [
    "the bridge over the river was finished in spring by engineer moreau",
    "after many years of careful work the museum was opened by mayor lind",
]
answers = ["moreau", "lind"]
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]"] + sorted({w for c in contexts for w in c.split()}))}
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]")

enc = tokenizer(contexts, padding=True, return_tensors="pt")
starts, ends = [], []
for i, (context, answer) in enumerate(zip(contexts, answers)):
    char_start = context.index(answer)
    char_end = char_start + len(answer)
    starts.append(char_start)
    ends.append(char_end - 1)

torch.manual_seed(0)
config = BertConfig(
    vocab_size=len(vocab), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
)
model = BertForQuestionAnswering(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(40):
    optimizer.zero_grad()
    out = model(
        input_ids=enc["input_ids"], attention_mask=enc["attention_mask"],
        start_positions=torch.tensor(starts), end_positions=torch.tensor(ends),
    )
    out.loss.backward()
    optimizer.step()
print(out.start_logits.argmax(-1), out.end_logits.argmax(-1), out.loss.item())
