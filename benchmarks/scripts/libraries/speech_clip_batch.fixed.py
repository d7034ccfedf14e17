import numpy as np
import torch
from transformers import Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2ForSequenceClassification

rng = np.random.default_rng(3)
recordings = [rng.standard_normal(n).astype(np.float32) for n in (4000, 6400, 5200)]
speakers = torch.tensor([0, 1, 0])

extractor = Wav2Vec2FeatureExtractor(sampling_rate=16000, return_attention_mask=True)
config = Wav2Vec2Config(
    hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, num_labels=2,
    conv_dim=(16, 16, 16), conv_stride=(5, 4, 4), conv_kernel=(10, 8, 8), num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=2, classifier_proj_size=16,
)
model = Wav2Vec2ForSequenceClassification(config)

inputs = extractor(recordings, sampling_rate=16000, padding=True, return_tensors="pt")
outputs = model(input_values=inputs["input_values"], attention_mask=inputs["attention_mask"], labels=speakers)
outputs.loss.backward()
print(outputs.loss.item())
