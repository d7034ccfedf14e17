import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


def fit(precision):
    accelerator = Accelerator(mixed_precision=precision, cpu=True)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(64, 4)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for inputs, target in loader:
        loss = torch.nn.functional.mse_loss(model(inputs), target)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


for precision in ["no", "bf16"]:
    print(precision, fit(precision))
