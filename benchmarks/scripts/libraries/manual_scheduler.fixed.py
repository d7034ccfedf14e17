import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ManualNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        opt = self.optimizers()
        loss = nn.functional.mse_loss(self.net(x), y)
        opt.zero_grad()
        self.manual_backward(loss)
        opt.step()
        self.log("lr", opt.param_groups[0]["lr"])

    def on_train_epoch_end(self):
        self.lr_schedulers().step()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.1)
        return [optimizer], [scheduler]


x = torch.randn(128, 5)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=32)
trainer = L.Trainer(max_epochs=6, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(ManualNet(), loader)
print("final lr:", trainer.optimizers[0].param_groups[0]["lr"])
