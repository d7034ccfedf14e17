import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0)


def collate(samples):
    seqs, targets = zip(*samples)
    return torch.stack(seqs, dim=1), torch.stack(targets)


class SeqModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(2, 16)
        self.head = nn.Linear(16, 1)

    def validation_step(self, batch, batch_idx):
        seq, target = batch
        out, _ = self.rnn(seq)
        loss = nn.functional.mse_loss(self.head(out[-1]), target)
        self.log("val_mse", loss, on_epoch=True, batch_size=target.size(0))


seqs = torch.randn(66, 12, 2)
targets = torch.cat([torch.zeros(64, 1), torch.full((2, 1), 5.0)])
loader = DataLoader(TensorDataset(seqs, targets), batch_size=32, collate_fn=collate)
trainer = L.Trainer(logger=False, enable_progress_bar=False, enable_checkpointing=False)
print(trainer.validate(SeqModel(), loader, verbose=False))
