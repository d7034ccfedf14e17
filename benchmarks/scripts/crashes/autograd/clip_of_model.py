"""The norm of gradients is clipped for the model, not for its parameters."""
import torch
from torch import nn

def step(model, opt, loss, clip):
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model, clip)  # raises TS815 at nn.utils.clip_grad_norm_(model, clip), cause
    opt.step()

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.fc = nn.GRU(5, 8, batch_first=True), nn.Linear(8, 1)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])

model = Net()
opt = torch.optim.Adam(model.parameters())
for _ in range(3):
    x = torch.randn(4, 9, 5)
    step(model, opt, nn.functional.mse_loss(model(x), x.sum((1, 2))[:, None]), 1.0)
