import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator()
model = torch.nn.Linear(10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
dataset = TensorDataset(torch.randn(50, 10), torch.randint(0, 2, (50,)))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(dataset, batch_size=10))

for x, y in loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()

accelerator.save_state("checkpoint_last")
checkpoint = torch.load("checkpoint_last")
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
print("resumed")
