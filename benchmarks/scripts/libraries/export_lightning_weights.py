import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0)


def build_model():
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))


class Wrapper(L.LightningModule):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.model(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


x = torch.randn(300, 6)
y = x[:, :3].argmax(1)
trainer = L.Trainer(max_epochs=15, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Wrapper(build_model()), DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True))
trainer.save_checkpoint("classifier.ckpt")

net = build_model()
state = torch.load("classifier.ckpt", weights_only=False)["state_dict"]
net.load_state_dict(state, strict=False)
net.eval()
print("accuracy:", (net(x).argmax(1) == y).float().mean().item())
