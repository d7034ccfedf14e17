import pytorch_lightning as pl
import torch
import torchmetrics
from torch.utils.data import DataLoader, TensorDataset

pl.seed_everything(7)


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(6, 1)
        self.val_mae = torchmetrics.MeanAbsoluteError()

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.mse_loss(self.fc(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.val_mae.update(self.fc(x), y)

    def on_validation_epoch_end(self):
        mae = self.val_mae.compute()
        self.log("val_mae", mae)
        self.val_mae.reset()
        print(f"epoch {self.current_epoch}: MAE {mae:.3f}")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


x = torch.randn(400, 6)
y = x @ torch.arange(1.0, 7.0).unsqueeze(1)
loader = DataLoader(TensorDataset(x, y), batch_size=50)
trainer = pl.Trainer(max_epochs=6, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Net(), loader, loader)
