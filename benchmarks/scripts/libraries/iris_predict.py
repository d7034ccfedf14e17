import torch
import lightning as L
from torch.utils.data import DataLoader, TensorDataset


class IrisNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc1 = torch.nn.Linear(4, 16)
        self.fc2 = torch.nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.cross_entropy(self(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


x, y = torch.rand(150, 4), torch.arange(150) % 3
train_loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
test_loader = DataLoader(TensorDataset(x, y), batch_size=30)
model = IrisNet()
trainer = L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False)
trainer.fit(model, train_loader)
preds = torch.cat(trainer.predict(model, test_loader))
print(preds.argmax(dim=1))
