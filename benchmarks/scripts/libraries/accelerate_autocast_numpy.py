import numpy as np
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(mixed_precision="bf16", cpu=True)
encoder = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU())
projection = torch.nn.Linear(32, 4)
loader = DataLoader(TensorDataset(torch.randn(48, 16)), batch_size=16)
encoder, loader = accelerator.prepare(encoder, loader)
encoder.eval()

embeddings = []
with torch.no_grad(), accelerator.autocast():
    for (batch,) in loader:
        z = projection(encoder(batch))
        embeddings.append(z.cpu().numpy())
print(np.concatenate(embeddings).shape)
