import lightning as L
import torch
from torch.utils.data import DataLoader


class Scorer(L.LightningModule):
    def __init__(self, dim):
        super().__init__()
        self.proj = torch.nn.Linear(dim, 4)

    def forward(self, x):
        return self.proj(x)

    def predict_step(self, batch, batch_idx):
        probs = self(batch).softmax(dim=-1)
        conf, label = probs.max(dim=-1)
        return label, conf


loader = DataLoader(torch.randn(50, 9), batch_size=10)
trainer = L.Trainer(logger=False, enable_checkpointing=False)
outputs = trainer.predict(Scorer(9), loader)
labels, confs = zip(*outputs)
print("confidence", torch.cat(confs).mean())
print(torch.cat(labels).bincount(minlength=4))
