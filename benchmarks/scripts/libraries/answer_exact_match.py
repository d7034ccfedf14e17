import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

words = ["<pad>", "<unk>", "answer:"] + [f"q{i}" for i in range(10)] + [f"a{i}" for i in range(10)]
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", pad_token="<pad>")

questions = [f"q{i} answer:" for i in range(10)]
answers = [f"a{i}" for i in range(10)]

torch.manual_seed(0)
config = GPT2Config(vocab_size=len(words), n_positions=16, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
train = tokenizer([f"{q} {a}" for q, a in zip(questions, answers)], return_tensors="pt")["input_ids"]
for step in range(120):
    optimizer.zero_grad()
    model(input_ids=train, labels=train).loss.backward()
    optimizer.step()

model.eval()
prompt = tokenizer(questions, return_tensors="pt")
generated = model.generate(prompt["input_ids"], attention_mask=prompt["attention_mask"], max_new_tokens=1, pad_token_id=0)
predictions = tokenizer.batch_decode(generated, skip_special_tokens=True)
exact_match = sum(p.strip() == a for p, a in zip(predictions, answers)) / len(answers)
print(f"exact match {exact_match:.2f}")
