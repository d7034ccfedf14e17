import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=60, n_positions=256, n_embd=48, n_layer=2, n_head=4, initializer_range=0.3, bos_token_id=0, eos_token_id=0
)
model = GPT2LMHeadModel(config).eval()

prompt = torch.tensor([[12, 33, 4, 50]])
generated = prompt
next_input, past = prompt, None
with torch.no_grad():
    for _ in range(10):
        out = model(input_ids=next_input, past_key_values=past, use_cache=True)
        past = out.past_key_values
        token = out.logits[:, -1].argmax(-1, keepdim=True)
        generated = torch.cat([generated, token], dim=1)
        next_input = token
print(generated[0, prompt.shape[1]:].tolist())
