import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset


class CountingNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 4)
        self.val_runs = 0

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.fc(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", torch.nn.functional.cross_entropy(self.fc(x), y))

    def on_validation_epoch_end(self):
        self.val_runs += 1

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


ds = TensorDataset(torch.randn(200, 8), torch.randint(0, 4, (200,)))
model = CountingNet()
trainer = L.Trainer(max_epochs=2, val_check_interval=1, num_sanity_val_steps=0,
                    logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(model, DataLoader(ds, batch_size=10), DataLoader(ds, batch_size=50))
print(f"validated {model.val_runs} times in {trainer.current_epoch} epochs")
