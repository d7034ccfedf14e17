import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Ema:
    def __init__(self, model, decay=0.9):
        self.decay = decay
        self.shadow = {k: v.clone() for k, v in model.state_dict().items()}

    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].lerp_(v, 1 - self.decay)

    def state_dict(self):
        return {"shadow": self.shadow}

    def load_state_dict(self, state):
        self.shadow = state["shadow"]


torch.manual_seed(0)
accelerator = Accelerator()
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(100, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=10)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
ema = Ema(model)
accelerator.register_for_checkpointing(ema)
for inputs, target in loader:
    accelerator.backward(nn.functional.mse_loss(model(inputs), target))
    optimizer.step()
    optimizer.zero_grad()
    ema.update(model)
accelerator.save_state("state")
ema.shadow = {k: torch.zeros_like(v) for k, v in ema.shadow.items()}
accelerator.load_state("state")
print(ema.shadow["weight"])
