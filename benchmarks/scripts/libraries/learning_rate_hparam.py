import argparse
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Perceptron(L.LightningModule):
    def __init__(self, hidden: int = 32, learning_rate: float = 1e-2, weight_decay: float = 1e-4):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(9, hidden), nn.SiLU(), nn.Linear(hidden, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), weight_decay=self.hparams.weight_decay)


parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, default=0.02)
args = parser.parse_args([])
x = torch.randn(256, 9)
loader = DataLoader(TensorDataset(x, x.norm(dim=1, keepdim=True)), batch_size=32)
trainer = L.Trainer(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Perceptron(learning_rate=args.learning_rate), loader)
print("lr in use:", trainer.optimizers[0].param_groups[0]["lr"])
