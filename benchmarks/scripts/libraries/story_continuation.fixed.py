import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(vocab_size=120, n_positions=128, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config).eval()

prompt = torch.randint(1, 120, (1, 48))
with torch.no_grad():
    story = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        do_sample=True,
        top_k=20,
        max_new_tokens=32,
        pad_token_id=0,
    )
continuation = story[0, prompt.shape[1]:]
print(continuation.tolist())
