import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

vocab = {w: i for i, w in enumerate("[PAD] [UNK] a claim comprising first second element wherein the device".split())}
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=backend, unk_token="[UNK]", pad_token="[PAD]", model_max_length=64
)
config = BertConfig(
    vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=64, max_position_embeddings=64,
)
model = BertModel(config).eval()

documents = ["a claim comprising the device", "wherein the first element and second element " * 20]
batch = tokenizer(documents, padding=True, return_tensors="pt")
with torch.no_grad():
    vectors = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).pooler_output
print(torch.cosine_similarity(vectors[0], vectors[1], dim=0))
