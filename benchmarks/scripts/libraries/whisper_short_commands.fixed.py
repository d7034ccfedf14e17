import numpy as np
import torch
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

rng = np.random.default_rng(0)
clips = [rng.standard_normal(16000 * s).astype(np.float32) * 0.1 for s in (1, 2, 3)]

extractor = WhisperFeatureExtractor(feature_size=80)
config = WhisperConfig(
    vocab_size=100, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
    decoder_attention_heads=2, encoder_ffn_dim=64, decoder_ffn_dim=64, pad_token_id=0, bos_token_id=1,
    eos_token_id=2, decoder_start_token_id=1, begin_suppress_tokens=None,
)
model = WhisperForConditionalGeneration(config)

features = extractor(clips, sampling_rate=16000, padding="max_length", return_tensors="pt")
labels = torch.randint(3, 100, (3, 6))
loss = model(input_features=features["input_features"], labels=labels).loss
loss.backward()
print(loss.item())
