import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator()
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(60, 3)
train_loader = DataLoader(TensorDataset(x, x.argmax(1)), batch_size=12, shuffle=True)

net, opt, train_loader = accelerator.prepare(net, opt, train_loader)

for epoch in range(2):
    net.train()
    for inputs, labels in train_loader:
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(inputs), labels)
        accelerator.backward(loss)
        opt.step()
    accelerator.print(epoch, loss.item())
