import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

words = "<eos> <unk> good morning evening to you all see later".split()
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", eos_token="<eos>")

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=len(tokenizer), n_positions=64, n_embd=32, n_layer=2, n_head=2,
    bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id,
)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
lines = ["good morning to you all <eos>", "good evening to you all <eos>"]
batch = tokenizer(lines, return_tensors="pt")["input_ids"]
for step in range(100):
    optimizer.zero_grad()
    model(input_ids=batch, labels=batch).loss.backward()
    optimizer.step()

model.eval()
prompt = tokenizer("good evening", return_tensors="pt")["input_ids"]
reply = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=20, pad_token_id=0)
print(tokenizer.decode(reply[0]))
