import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(1)


class SpamNet(L.LightningModule):
    def __init__(self, vocab=200):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, 16)
        self.fc = nn.Linear(16, 2)

    def training_step(self, batch, batch_idx):
        tokens, label = batch
        loss = nn.functional.cross_entropy(self.fc(self.embed(tokens)), label)
        self.log("train_loss", loss, on_epoch=True, on_step=False)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


tokens = torch.randint(0, 200, (400, 8))
label = (tokens < 30).any(dim=1).long()
trainer = L.Trainer(max_epochs=10, logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(SpamNet(), DataLoader(TensorDataset(tokens, label), batch_size=40, shuffle=True))
print(f"loss {trainer.callback_metrics['train_loss']:.3f}")
