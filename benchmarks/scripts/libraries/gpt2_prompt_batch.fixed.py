import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

words = "<|endoftext|> <unk> the weather today is sunny and warm tell me a story about dragons".split()
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=backend, unk_token="<unk>", eos_token="<|endoftext|>", padding_side="left"
)
tokenizer.pad_token = tokenizer.eos_token

config = GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, eos_token_id=0, bos_token_id=0)
model = GPT2LMHeadModel(config).eval()

prompts = ["the weather today is", "tell me a story about"]
batch = tokenizer(prompts, padding=True, return_tensors="pt")
with torch.no_grad():
    output = model.generate(**batch, max_new_tokens=5, pad_token_id=0)
print(tokenizer.batch_decode(output))
