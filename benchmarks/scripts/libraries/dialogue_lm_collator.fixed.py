from tokenizers import Tokenizer, models, pre_tokenizers
import torch
from transformers import DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

words = "<eos> <unk> hello there how are you fine thanks bye <pad>".split()
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", eos_token="<eos>")
tokenizer.pad_token = "<pad>"

replies = ["hello there <eos>", "how are you <eos>", "fine thanks bye <eos>"]
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
batch = collator([{"input_ids": tokenizer(r)["input_ids"]} for r in replies])

torch.manual_seed(0)
config = GPT2Config(vocab_size=len(words), n_positions=16, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(100):
    optimizer.zero_grad()
    model(**batch).loss.backward()
    optimizer.step()

prompt = tokenizer("how are", return_tensors="pt")["input_ids"]
out = model.eval().generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=8, pad_token_id=tokenizer.pad_token_id)
print(tokenizer.decode(out[0]))
