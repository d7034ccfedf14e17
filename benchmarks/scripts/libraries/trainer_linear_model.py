import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class LinearModel(LightningModule):
    def __init__(self, n_features):
        super().__init__()
        self.linear = torch.nn.Linear(n_features, 1)

    def training_step(self, batch, _):
        x, y = batch
        return (self.linear(x).squeeze(-1) - y).abs().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


features = torch.randn(100, 6)
target = features @ torch.arange(6.0)
loader = DataLoader(TensorDataset(features, target), batch_size=10, shuffle=True)
model = LinearModel(6)
trainer = Trainer(gpus=torch.cuda.device_count(), max_epochs=2, enable_checkpointing=False, logger=False)
trainer.fit(model, loader)
