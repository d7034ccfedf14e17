import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

words = ["<pad>", "<unk>"] + [f"n{i}" for i in range(20)]
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>", padding_side="left"
)

torch.manual_seed(0)
config = GPT2Config(vocab_size=22, n_positions=32, n_embd=48, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(200):
    batch = (torch.randint(0, 20, (32, 1)) + torch.arange(12)) % 20 + 2
    loss = model(input_ids=batch, labels=batch).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
prompts = ["n4 n5", "n9 n10 n11 n12 n13 n14"]
batch = tokenizer(prompts, padding=True, return_tensors="pt")
out = model.generate(
    input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=4, do_sample=False, pad_token_id=0
)
for text in tokenizer.batch_decode(out, skip_special_tokens=True):
    print(text)
