import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TextNet(L.LightningModule):
    def __init__(self, vocab_size, emb_dim, num_labels):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab_size, emb_dim)
        self.out = nn.Linear(emb_dim, num_labels)

    def forward(self, tokens):
        return self.out(self.emb(tokens))

    def training_step(self, batch, batch_idx):
        tokens, labels = batch
        return nn.functional.cross_entropy(self(tokens), labels)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


tokens = torch.randint(0, 500, (96, 12))
ds = TensorDataset(tokens, tokens[:, 0] % 4)
trainer = L.Trainer(max_epochs=2, logger=False)
trainer.fit(TextNet(500, 16, 4), DataLoader(ds, batch_size=16))
trainer.save_checkpoint("textnet.ckpt")

best = TextNet.load_from_checkpoint("textnet.ckpt")
best.eval()
print(best(tokens[:3]).argmax(dim=1))
