import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
import pytorch_lightning as pl


class Classifier(pl.LightningModule):
    def __init__(self, in_dim, n_classes, lr=1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(in_dim, n_classes)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.layer(x), y)
        self.log("train_loss", loss, on_epoch=True)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams.lr)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
        return {"optimizer": optimizer, "lr_scheduler": scheduler}


data = TensorDataset(torch.randn(200, 10), torch.randint(0, 3, (200,)))
trainer = pl.Trainer(max_epochs=3, logger=False, enable_checkpointing=False)
trainer.fit(Classifier(10, 3), DataLoader(data, batch_size=20, shuffle=True))
