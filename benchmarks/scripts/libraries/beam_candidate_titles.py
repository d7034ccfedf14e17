import torch
from transformers import BartConfig, BartForConditionalGeneration

torch.manual_seed(1)
config = BartConfig(
    vocab_size=90, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64,
    forced_eos_token_id=None,
)
model = BartForConditionalGeneration(config).eval()

document = torch.randint(4, 90, (1, 30))
with torch.no_grad():
    titles = model.generate(
        document,
        attention_mask=torch.ones_like(document),
        max_new_tokens=8,
        num_beams=4,
        num_return_sequences=5,
        early_stopping=True,
    )
for title in titles:
    print(title.tolist())
