import torch
from transformers import BertConfig, EncoderDecoderConfig, EncoderDecoderModel

PAD, CLS, SEP = 0, 1, 2
tiny = dict(vocab_size=120, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
config = EncoderDecoderConfig.from_encoder_decoder_configs(BertConfig(**tiny), BertConfig(**tiny))
model = EncoderDecoderModel(config=config)
model.config.pad_token_id = PAD
model.config.eos_token_id = SEP

articles = torch.randint(3, 120, (4, 24))
headlines = torch.randint(3, 120, (4, 8))
headlines[:, -1] = SEP

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    optimizer.zero_grad()
    loss = model(input_ids=articles, attention_mask=torch.ones_like(articles), labels=headlines).loss
    loss.backward()
    optimizer.step()
    print(step, loss.item())
