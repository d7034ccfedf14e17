import lightning as L
import torch
from torch import nn
from torch.nn.utils import get_total_norm
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(0)


class RNNRegressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(1, 32, batch_first=True)
        self.out = nn.Linear(32, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        h, _ = self.rnn(x)
        return nn.functional.mse_loss(self.out(h[:, -1]), y)

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        norm = get_total_norm(p.grad for p in self.parameters() if p.grad is not None)
        self.log("grad_norm", norm)

    def on_before_zero_grad(self, optimizer):
        grads = [p.grad for p in self.parameters() if p.grad is not None]
        if grads:
            self.log("applied_norm", get_total_norm(grads))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-3)


x = torch.randn(96, 20, 1)
loader = DataLoader(TensorDataset(x, 50 * x.sum(1)), batch_size=16)
trainer = L.Trainer(max_epochs=2, gradient_clip_val=1.0, logger=False,
                    enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(RNNRegressor(), loader)
print("norm of the gradients used:", trainer.callback_metrics["applied_norm"])
